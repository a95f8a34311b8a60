#include "common/guide/try_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "common/guide/builder.h"
#include "common/guide/command.h"
#include "common/guide/compile_commands.h"
#include "common/guide/try_build.h"
#include "common/guide/try_messages.h"
#include "common/helpers/json.h"
#include "common/lesson/refusal.h"
#include "common/lesson/suggest.h"
#include "common/model/model.h"

namespace guide {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int not_built = 2;
constexpr int first_signal_status = 128;

// ---- what the reader typed -------------------------------------------------------------------------------

bool is_one_of(const std::string& text, std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(), [&](const char* word) { return text == word; });
}

fs::path absolute_to(const fs::path& folder, const fs::path& path) { return (folder / path).lexically_normal(); }

/// As a shell takes it for one word.
std::string shell_word(const std::string& text) {
    constexpr std::string_view plain = "/._-+,@%=:";
    const auto is_plain = [&](unsigned char c) {
        return c >= 0x80 || std::isalnum(c) != 0 || plain.find(static_cast<char>(c)) != std::string_view::npos;
    };
    if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return text;
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
}

std::string try_command(const Project& project, const TryOptions& options, const std::string& more) {
    std::string command = fmt::format("{} try {}", project.typed, more);
    if (!more.empty()) command += ' ';
    command += shell_word(options.file.string());
    for (const fs::path& file : options.more_files) command += ' ' + shell_word(file.string());
    return command;
}

/// The CUDA files in the folder of a file that is not there.
std::vector<std::string> sources_beside(const fs::path& file) {
    std::vector<std::string> names;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(file.parent_path(), error)) {
        if (entry.path().extension() == ".cu") names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

bool is_below(const fs::path& file, const fs::path& folder) {
    const fs::path relative = file.lexically_relative(folder);
    return !relative.empty() && *relative.begin() != "..";
}

/// Parts of Warpwise have no main(), and commands of their own. Empty for other files.
std::string command_of_own_file(const Project& project, const fs::path& file) {
    if (is_below(file, project.root / "exercises") || is_below(file, project.root / "solutions")) {
        return fmt::format("{} grade {}", project.typed, file.parent_path().filename().string());
    }
    if (is_below(file, project.root / "chapters")) {
        const std::string folder = file.parent_path().filename().string();
        return fmt::format("{} run {} {}", project.typed, folder.substr(0, folder.find('_')), file.stem().string());
    }
    return {};
}

/// The absolute path of a file to try. Throws Refusal.
fs::path find_source(const Project& project, const fs::path& given) {
    const std::string shown = given.string();
    if (given.empty()) {
        throw Refusal(fmt::format("which program? For example: {} try add.cu", project.typed));
    }
    const fs::path file = absolute_to(project.caller, given);
    std::error_code error;
    if (!fs::exists(file, error)) {
        const std::vector<std::string> near = warpwise::suggest(file.filename().string(), sources_beside(file));
        if (near.empty()) throw Refusal(fmt::format("{}: there is no such file", shown));
        const std::string suggestion = (given.parent_path() / near.front()).string();
        throw Refusal(fmt::format("{}: there is no such file; did you mean {}?", shown, suggestion));
    }
    if (!fs::is_regular_file(file, error)) {
        throw Refusal(fmt::format("{} is no file; 'try' takes CUDA source files: {} try add.cu", shown, project.typed));
    }
    if (access(file.c_str(), R_OK) != 0) throw Refusal(fmt::format("{}: {}", shown, std::strerror(errno)));
    const std::string extension = file.extension().string();
    if (extension == ".c") {
        throw Refusal(fmt::format("{0} is C, and CUDA is C++: copy it, and try the copy: cp {1} {2}", shown,
                                  shell_word(shown), shell_word(fs::path(shown).replace_extension(".cu").string())));
    }
    if (is_one_of(extension, {".h", ".hpp", ".hh", ".cuh", ".inl"})) {
        throw Refusal(fmt::format("{} is a header; 'try' takes the .cu file that includes it", shown));
    }
    if (!is_one_of(extension, {".cu", ".cpp", ".cc", ".cxx"})) {
        throw Refusal(fmt::format("{} does not look like a CUDA program: its name should end in .cu", shown));
    }
    return file;
}

/// Throws Refusal for what stands among the program's files and was meant for the program: "1000".
void require_no_argument(const Project& project, const fs::path& program, const fs::path& word) {
    std::error_code error;
    if (word.has_extension() || fs::exists(absolute_to(project.caller, word), error)) return;
    throw Refusal(fmt::format("{0}: there is no such file. If it is an argument of the program: {1} try {2} -- {0}",
                              word.string(), project.typed, shell_word(program.string())));
}

void say(const std::string& text) {
    std::fflush(stdout);
    fmt::print(stderr, "{}", text);
    std::fflush(stderr);
}

/// What takes a while is named on a terminal for as long as it takes.
class Progress {
public:
    ~Progress() { end(); }

    void show(const std::string& text) {
        if (isatty(STDERR_FILENO) == 0) return;
        say("\r\033[2K" + text);
        shown_ = true;
    }
    void end() {
        if (std::exchange(shown_, false)) say("\r\033[2K");
    }

private:
    bool shown_ = false;
};

/// The folders of -I as absolute paths, and those of NVIDIA's samples where `file` is one of them. The CPU device has
/// CUDA headers of its own, which the toolkit's must not replace.
std::vector<fs::path> include_folders(const Project& project, const TryOptions& options, const fs::path& file) {
    std::vector<fs::path> folders;
    for (const std::string& folder : options.include_folders) {
        const fs::path path = absolute_to(project.caller, folder);
        std::error_code error;
        if (!fs::is_directory(path, error)) throw Refusal(fmt::format("-I {}: there is no such folder", folder));
        if (!options.gpu && is_toolkit_folder(path)) {
            say(fmt::format("-I {} is left out: the CPU device has CUDA headers of its own.\n", folder));
        } else {
            folders.push_back(path);
        }
    }
    if (const fs::path samples = find_samples_headers(file); !samples.empty()) folders.push_back(samples);
    return folders;
}

// ---- where the pieces go ---------------------------------------------------------------------------------

/// The folder for rewritten source and program: the reader's, or one that is gone in the end.
class Workshop {
public:
    Workshop(const Project& project, const TryOptions& options, const fs::path& file) {
        if (options.keep) {
            kept_ = true;
            folder_ = options.keep->empty() ? file.parent_path() : absolute_to(project.caller, *options.keep);
            std::error_code error;
            fs::create_directories(folder_, error);
            if (error || access(folder_.c_str(), W_OK) != 0) {
                throw Refusal(
                    fmt::format("--keep: cannot write into {}; --keep=FOLDER names another folder", folder_.string()));
            }
        }
        std::string name = (fs::temp_directory_path() / "warpwise-try-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) {
            throw Refusal(fmt::format("cannot make a folder in {}: {}; TMPDIR names another place",
                                      fs::temp_directory_path().string(), std::strerror(errno)));
        }
        temporary_ = name;
        if (!kept_) folder_ = temporary_;
    }
    ~Workshop() {
        std::error_code error;
        fs::remove_all(temporary_, error);
    }
    Workshop(const Workshop&) = delete;
    Workshop& operator=(const Workshop&) = delete;

    bool kept() const { return kept_; }
    const fs::path& folder() const { return folder_; }
    const fs::path& temporary() const { return temporary_; }

private:
    fs::path folder_;
    fs::path temporary_;
    bool kept_ = false;
};

/// Notes signals that would end the guide, so that it can clean up first; programs that it starts get them as ever.
class SignalsNoted {
public:
    SignalsNoted() {
        noted = 0;
        struct sigaction action {};
        action.sa_handler = [](int signal) { noted = signal; };
        action.sa_flags = SA_RESTART;
        sigemptyset(&action.sa_mask);
        for (std::size_t i = 0; i < signals.size(); ++i) {
            sigaction(signals[i], nullptr, &before_[i]);
            if (before_[i].sa_handler != SIG_IGN) sigaction(signals[i], &action, nullptr);
        }
    }
    ~SignalsNoted() {
        for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
    }
    SignalsNoted(const SignalsNoted&) = delete;
    SignalsNoted& operator=(const SignalsNoted&) = delete;

    /// 0 when there was none.
    static int last() { return noted; }

private:
    static constexpr std::array<int, 4> signals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    static inline volatile std::sig_atomic_t noted = 0;
    std::array<struct sigaction, 4> before_{};
};

// ---- building --------------------------------------------------------------------------------------------

std::string text_of_file(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

struct Built {
    bool succeeded = false;
    std::string message;  ///< why not
};

class Attempt {
public:
    Attempt(const Project& project, const TryOptions& options)
        : project_(project),
          options_(options),
          file_(find_source(project, options.file)),
          shown_(options.file.string()),
          source_{file_, include_folders(project, options, file_), options.definitions, options.colors},
          workshop_(project, options, file_) {
        try {
            if (!options.gpu_model.empty()) warpwise::model::load_gpu(options.gpu_model);
        } catch (const std::runtime_error& error) {
            throw Refusal(fmt::format("--gpu-model: {}", error.what()));
        }
        source_.libraries = options.libraries;
        if (!options.compile_commands.empty()) add_compile_commands();
        if (!options.gpu) source_.cccl = find_cccl();
        for (const fs::path& file : options.more_files) {
            require_no_argument(project, options.file, file);
            source_.more_files.push_back(find_source(project, file));
        }
        source_.uses_openmp = includes_openmp(text_of_file(file_));
        for (const fs::path& file : source_.more_files) {
            source_.uses_openmp = source_.uses_openmp || includes_openmp(text_of_file(file));
        }
        if (!options.trace_file.empty()) {
            if (!options.counters) throw Refusal("--trace needs the counters");
            trace_file_ = absolute_to(project.caller, options.trace_file);
            if (!std::ofstream(trace_file_, std::ios::app)) {
                throw Refusal(fmt::format("--trace {}: cannot write this file", options.trace_file.string()));
            }
        }
        if (options.json_file.empty() || options.json_file == "-") return;
        json_file_ = absolute_to(project.caller, options.json_file);
        if (!std::ofstream(json_file_, std::ios::app)) {
            throw Refusal(fmt::format("--json {}: cannot write this file", options.json_file.string()));
        }
    }

    int run();

private:
    void add_compile_commands();
    Built build_for_cpu_device();
    Built compile(const TryTools& tools, const TrySource& source, const TryParts& parts) const;
    Built build_for_gpu();
    CommandResult command(const std::vector<std::string>& arguments) const;
    Built failure(const std::string& output, BuildMessage message) const;
    MessagePlaces places() const;
    void require_no_counters_wanted() const;
    std::string kept_name(const char* ending) const { return file_.stem().string() + ending; }

    CommandResult run_program() const;
    std::string comment_on(const CommandResult& result, bool ended_by_itself) const;
    void write_json(int status, const Json& report, const std::string& error) const;

    const Project& project_;
    const TryOptions& options_;
    fs::path file_;
    std::string shown_;
    TrySource source_;
    Workshop workshop_;
    fs::path json_file_;
    fs::path trace_file_;  ///< empty where no trace is asked for
    fs::path program_;
    std::vector<std::string> headers_;  ///< the CPU device's
    mutable Progress progress_;
};

/// Adds what a build system says of the program's first file. The reader's own options count more: folders that come
/// first, and definitions that come last.
void Attempt::add_compile_commands() {
    const CompileOptions found = read_compile_commands(absolute_to(project_.caller, options_.compile_commands), file_);
    for (const fs::path& folder : found.include_folders) {
        if (options_.gpu || !is_toolkit_folder(folder)) source_.include_folders.push_back(folder);
    }
    source_.definitions.insert(source_.definitions.begin(), found.definitions.begin(), found.definitions.end());
}

CommandResult Attempt::command(const std::vector<std::string>& arguments) const {
    CommandOptions options;
    options.folder = project_.caller;
    options.variables = {{"LC_ALL", "C"}};  // what they say is read here
    return run_command(arguments, options);
}

MessagePlaces Attempt::places() const {
    return {file_.string(), shown_, project_.caller.lexically_normal().string(), headers_};
}

/// Adds what to do next; the tool's whole output goes where the rest is kept.
Built Attempt::failure(const std::string& output, BuildMessage message) const {
    Built built;
    built.message = std::move(message.text);
    if (!built.message.empty() && built.message.back() != '\n') built.message += '\n';
    if (message.needs_gpu) {
        built.message +=
            fmt::format("On a machine with an NVIDIA GPU and nvcc: {}\n", try_command(project_, options_, "--gpu"));
    }
    if (workshop_.kept()) {
        const fs::path log = workshop_.folder() / kept_name(".build.txt");
        std::ofstream(log) << without_colors(output);
        built.message += fmt::format("All that the compiler said: {}\n", with_shown_paths(log.string(), places()));
    } else if (message.shortened) {
        built.message += fmt::format("All that the compiler says: {}\n", try_command(project_, options_, "--keep"));
    }
    return built;
}

Built Attempt::build_for_cpu_device() {
    Project cpu = project_;
    cpu.device = "cpu";
    Builder builder(cpu);
    progress_.show("Getting the CPU device ready");
    const BuildResult ready = builder.build({"cuda_to_cpp", "try_support"}, [&](int done, int of) {
        progress_.show(fmt::format("Getting the CPU device ready: {} of {}", done, of));
    });
    if (!ready.succeeded) return {false, "The CPU device could not be built:\n" + ready.output};
    const TryTools tools = read_try_tools(cpu.build_folder() / "try.json");
    headers_ = tools.cpu_device_headers;

    progress_.show("Compiling " + shown_);
    const fs::path& folder = workshop_.folder();
    TryParts parts;
    parts.rewritten = folder / kept_name(".cpu.cpp");
    parts.headers = folder / kept_name(".cpu.include");
    parts.object = workshop_.temporary() / "program.o";
    parts.program = folder / kept_name(workshop_.kept() ? ".cpu" : "");
    program_ = parts.program;
    if (Built built = compile(tools, source_, parts); !built.succeeded) return built;
    for (std::size_t i = 0; i < source_.more_files.size(); ++i) {
        TrySource source = source_;
        source.file = source_.more_files[i];
        TryParts part = parts;
        part.rewritten = folder / (source.file.stem().string() + fmt::format(".{}.cpu.cpp", i + 2));
        part.object = workshop_.temporary() / fmt::format("program_{}.o", i + 2);
        progress_.show("Compiling " + options_.more_files[i].string());
        if (Built built = compile(tools, source, part); !built.succeeded) return built;
        parts.more_objects.push_back(part.object);
    }
    CommandResult linked = command(link_command(tools, source_, parts));
    if (linked.status != 0 && wants_toolkit_libraries(linked.output)) {
        const BuildResult libraries = builder.build({"toolkit_libraries"}, [&](int done, int of) {
            progress_.show(fmt::format("Getting the CPU device's cuBLAS, cuFFT, and cuRAND ready: {} of {}", done, of));
        });
        if (!libraries.succeeded) return {false, "cuBLAS, cuFFT, and cuRAND could not be built:\n" + libraries.output};
        parts.toolkit_libraries = true;
        linked = command(link_command(tools, source_, parts));
    }
    if (linked.status != 0) {
        Built built = failure(linked.output, explain_linker(linked.output, places()));
        const std::string own = command_of_own_file(project_, file_);
        if (!own.empty()) built.message += fmt::format("It is a part of Warpwise: {}\n", own);
        return built;
    }
    return {true, {}};
}

/// One file of the program, up to its object.
Built Attempt::compile(const TryTools& tools, const TrySource& source, const TryParts& parts) const {
    const CommandResult rewritten = command(rewrite_command(tools, source, parts));
    if (rewritten.status != 0) return failure(rewritten.output, explain_rewriter(rewritten.output, places()));
    const CommandResult compiled = command(compile_command(tools, source, parts));
    if (compiled.status != 0) return failure(compiled.output, explain_compiler(compiled.output, places()));
    return {true, {}};
}

/// nvcc's path; empty when there is none.
std::string find_nvcc() {
    const char* chosen = std::getenv("CUDACXX");
    if (chosen != nullptr && *chosen != '\0') return chosen;
    if (has_program("nvcc")) return "nvcc";
    for (const char* path : {"/usr/local/cuda/bin/nvcc", "/opt/cuda/bin/nvcc"}) {
        if (has_program(path)) return path;
    }
    return {};
}

bool has_gpu() {
    std::error_code error;
    return fs::exists("/dev/nvidiactl", error) || fs::exists("/dev/nvidia0", error) || fs::exists("/dev/dxg", error);
}

/// Counters are of the CPU device. Says with what a GPU's are read where somebody asked for them.
void Attempt::require_no_counters_wanted() const {
    const char* asked = nullptr;
    if (options_.lines) asked = "--lines";
    if (options_.all_blocks) asked = "--all-blocks";
    if (options_.registers) asked = "--registers";
    if (!options_.trace_file.empty()) asked = "--trace";
    if (asked == nullptr) return;
    throw Refusal(fmt::format(
        "{} goes with the CPU device's counters, and not with --gpu. A GPU's counters are read with Nsight Compute: "
        "{}, then ncu --set full ./{}",
        asked, try_command(project_, options_, "--gpu --keep"), kept_name(".gpu")));
}

Built Attempt::build_for_gpu() {
    require_no_counters_wanted();
    const std::string nvcc = find_nvcc();
    const std::string without =
        fmt::format("without --gpu it runs on the CPU device: {}", try_command(project_, options_, ""));
    if (nvcc.empty()) {
        throw Refusal("--gpu needs nvcc, of the CUDA Toolkit, and it is neither in PATH nor in /usr/local/cuda/bin; " +
                      without);
    }
    if (!has_gpu()) throw Refusal("--gpu needs an NVIDIA GPU with its driver, and there is none here; " + without);
    progress_.show("Compiling " + shown_ + " with nvcc");
    program_ = workshop_.folder() / kept_name(workshop_.kept() ? ".gpu" : "");
    const std::string text = text_of_file(file_);
    CommandResult compiled = command(nvcc_command(nvcc, source_, text, false, program_));
    if (compiled.status != 0 && wants_separate_compilation(compiled.output)) {
        compiled = command(nvcc_command(nvcc, source_, text, true, program_));
    }
    if (compiled.status == 0) return {true, {}};
    return failure(compiled.output, {with_shown_paths(compiled.output, places()), false, false});
}

// ---- running ---------------------------------------------------------------------------------------------

/// What try_support reads when the program starts; see common/guide/try_support/start.cpp.
std::vector<std::pair<std::string, std::string>> variables_for(const TryOptions& options, const fs::path& report) {
    std::vector<std::pair<std::string, std::string>> variables;
    if (!options.colors) variables.emplace_back("NO_COLOR", "1");
    std::string words = options.counters ? "table" : "";
    if (options.counters && options.lines) words += ",lines";
    if (options.counters && !options.json_file.empty()) words += ",launches";
    if (options.counters && options.each_launch) words += ",each-launch";
    if (options.json_file == "-") words += ",output-to-stderr";
    variables.emplace_back("WARPWISE_TRY", words);
    if (options.gpu) return variables;
    variables.emplace_back("WARPWISE_TRY_REPORT", report.string());
    std::string instrumented = options.counters ? "counters" : "";
    if (options.diagnose || options.leaks) instrumented += instrumented.empty() ? "diagnostics" : ",diagnostics";
    if (options.leaks) instrumented += ",leaks";
    variables.emplace_back("CPU_DEVICE_INSTRUMENT", instrumented.empty() ? "nothing" : instrumented);
    if (options.all_blocks) variables.emplace_back("CPU_DEVICE_INSTRUMENT_BLOCKS", "all");
    if (options.counters && !options.gpu_model.empty()) variables.emplace_back("WARPWISE_TRY_GPU", options.gpu_model);
    if (options.registers) variables.emplace_back("WARPWISE_TRY_REGISTERS", std::to_string(*options.registers));
    if (options.limit_seconds > 0)
        variables.emplace_back("CPU_DEVICE_TIMEOUT", fmt::format("{:g}", options.limit_seconds));
    return variables;
}

CommandResult Attempt::run_program() const {
    std::vector<std::string> arguments = {program_.string()};
    // Nothing of ours is in a program for a GPU: a shell turns its output aside.
    if (options_.gpu && options_.json_file == "-")
        arguments = {"/bin/sh", "-c", "exec \"$0\" \"$@\" >&2", program_.string()};
    arguments.insert(arguments.end(), options_.arguments.begin(), options_.arguments.end());
    CommandOptions options;
    options.folder = project_.caller;
    options.owns_terminal = true;
    options.variables = variables_for(options_, workshop_.temporary() / "report.json");
    if (!trace_file_.empty()) options.variables.emplace_back("WARPWISE_TRY_TRACE", trace_file_.string());
    return run_command(arguments, options);
}

std::string meaning_of(int signal) {
    switch (signal) {
        case SIGSEGV:
        case SIGBUS:
            return "host code used memory that is not there, or that only kernels can reach";
        case SIGABRT:
            return "host code called abort(): a failed assert(), or an exception that nothing caught";
        case SIGFPE:
            return "host code divided an integer by zero";
        case SIGKILL:
            return "somebody killed it; or there was not enough memory";
        default:
            return {};
    }
}

/// What the reader should know of how the program ended; empty when it speaks for itself.
std::string Attempt::comment_on(const CommandResult& result, bool ended_by_itself) const {
    if (ended_by_itself) return {};
    const int signal = result.status - first_signal_status;
    if (signal > 0 && signal <= SIGRTMAX) {
        const std::string meaning = meaning_of(signal);
        if (meaning.empty()) return {};
        std::string text =
            fmt::format("{} was ended by signal {} ({}): {}.\n", shown_, signal, strsignal(signal), meaning);
        if (!options_.gpu && options_.counters) text += "So there are no counters.\n";
        if (signal == SIGSEGV && !workshop_.kept()) {
            text += fmt::format("To look at it in a debugger: {}, then gdb ./{}\n",
                                try_command(project_, options_, "--keep"), kept_name(options_.gpu ? ".gpu" : ".cpu"));
        }
        return text;
    }
    if (options_.gpu) return {};
    return fmt::format("{} ended by _exit() or quick_exit(), so there are no counters.\n", shown_);
}

void Attempt::write_json(int status, const Json& report, const std::string& error) const {
    if (options_.json_file.empty()) return;
    Json document = {{"warpwise", 1},
                     {"program", shown_},
                     {"arguments", options_.arguments},
                     {"device", options_.gpu ? "cuda" : "cpu"},
                     {"status", status},
                     {"error", error.empty() ? Json(nullptr) : Json(without_colors(error))},
                     {"launches", report.value("launches", Json::array())},
                     {"diagnostics", report.value("diagnostics", Json::array())}};
    const std::string text = warpwise::json_text(document, 2) + "\n";
    if (options_.json_file == "-") {
        fmt::print(stdout, "{}", text);
        std::fflush(stdout);
        return;
    }
    std::ofstream stream(json_file_);
    stream << text;
    stream.close();
    if (!stream) throw Refusal(fmt::format("--json {}: cannot write this file", options_.json_file.string()));
}

/// What try_support wrote when the program ended; nothing when the program never came to its end.
Json read_report(const fs::path& file) {
    std::ifstream stream(file);
    if (!stream) return nullptr;
    return warpwise::json_or_discarded<Json>(stream);
}

/// A program that found no arguments ends before it has done anything. Empty where that is not what happened.
std::string advice_on_arguments(const Project& project, const TryOptions& options, const std::string& source,
                                const CommandResult& result, const Json& report) {
    const bool ran_kernels = !report.is_object() || report.value("ran_kernels", true);
    if (result.status == 0 || ran_kernels || !options.arguments.empty()) return {};
    if (source.find("argv") == std::string::npos) return {};
    return fmt::format(
        "{} ended with status {} before it launched a kernel, and it was given no arguments although it reads some "
        "(argv). What it printed above may say which. Arguments go after two dashes: {} -- ARGUMENT ...\n",
        options.file.string(), result.status, try_command(project, options, ""));
}

bool has_unsupported(const Json& report) {
    const Json diagnostics = report.is_object() ? report.value("diagnostics", Json::array()) : Json::array();
    return std::any_of(diagnostics.begin(), diagnostics.end(),
                       [](const Json& diagnostic) { return diagnostic.value("kind", "") == "unsupported"; });
}

int Attempt::run() {
    const SignalsNoted signals;
    const Built built = options_.gpu ? build_for_gpu() : build_for_cpu_device();
    progress_.end();
    if (SignalsNoted::last() != 0) return first_signal_status + SignalsNoted::last();
    if (!built.succeeded) {
        say(built.message);
        write_json(not_built, Json::object(), built.message);
        return not_built;
    }
    const CommandResult result = run_program();
    const Json report = read_report(workshop_.temporary() / "report.json");
    if (!result.output.empty()) say(result.output);  // why it could not be started
    // A status above 128 tells of a signal, unless the program is known to have come to its end.
    const bool ended_by_itself = report.is_object() || (options_.gpu && result.status <= first_signal_status);
    say(comment_on(result, ended_by_itself));
    if (ended_by_itself) say(advice_on_arguments(project_, options_, text_of_file(file_), result, report));
    if (has_unsupported(report)) {
        say(fmt::format("On a machine with an NVIDIA GPU and nvcc: {}\n", try_command(project_, options_, "--gpu")));
    }
    if (workshop_.kept()) {
        std::string kept = with_shown_paths(program_.string(), places());
        if (!options_.gpu) {
            kept += " and " + with_shown_paths((workshop_.folder() / kept_name(".cpu.cpp")).string(), places());
        }
        say(fmt::format("Kept: {}\n", kept));
    }
    write_json(result.status, report.is_object() ? report : Json::object(), {});
    return result.status;
}

}  // namespace

int try_program(const Project& project, const TryOptions& options) { return Attempt(project, options).run(); }

}  // namespace guide

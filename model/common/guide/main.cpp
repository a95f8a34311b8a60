// The guide: everything that `./warpwise` does after it has set up what is missing. See `./warpwise --help`.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "common/guide/command_table.h"
#include "common/guide/commands.h"
#include "common/guide/completion.h"
#include "common/lesson/refusal.h"
#include "common/lesson/suggest.h"
#include "common/lesson/terminal.h"

namespace guide {
namespace {

#ifdef WARPWISE_VERSION
constexpr const char* version = WARPWISE_VERSION;  // the project's, from CMake
#else
constexpr const char* version = "(of an unknown version)";
#endif

constexpr const char* exit_statuses =
    "Exit status: 0 all right; 1 something was wrong (a step, a test, an answer); 2 the request could not be met;\n"
    "130 stopped with Ctrl-C.\n";

/// May stand before the command and after it.
std::vector<OptionWords> global_options() {
    return {{{"--device"}, "cpu, cuda, or auto", true, Wants::device},
            {{"--yes", "-y"}, "without asking"},
            {{"--no-color"}, "plain text"},
            {{"--help", "-h"}, "what there is"},
            {{"--version"}, "of Warpwise"}};
}

Words names_of(const std::vector<Command>& commands) {
    Words names;
    for (const Command& command : commands) names.push_back(command.name);
    return names;
}

// ---- help ----------------------------------------------------------------------------------------------------------

std::string overview(const std::vector<Command>& commands, const std::string& typed) {
    constexpr int width = 26;
    std::string text = fmt::format(
        "Warpwise: CUDA C++ step by step, with or without a GPU.\n\nusage: {} [options] [command]\n\ncommands\n",
        typed);
    text += fmt::format("  {:<{}}{}\n", "(none)", width, "go on from where you are");
    for (const Command& command : commands) {
        text += fmt::format("  {:<{}}{}\n", command.name + " " + command.arguments, width, command.help);
    }
    text += "\noptions\n";
    const auto option = [&](const char* name, const char* help) {
        text += fmt::format("  {:<{}}{}\n", name, width, help);
    };
    option("--device DEVICE", "cpu (the CPU device), cuda (a GPU), or auto (the default): a GPU where");
    option("", "there are one and nvcc");
    option("--yes", "install packages without asking, and reset without asking");
    option("--no-color", "plain text; so does NO_COLOR in the environment");
    option("--version", "the version of Warpwise");
    option("--help", fmt::format("this text; '{} help COMMAND' shows that of a command", typed).c_str());
    text += fmt::format(
        "\nCommands and names may be shortened as long as it is clear what is meant: '{0} gr grid'.\n\nexamples\n"
        "  {0} run 1 pi --size 1Mi\n  {0} grade grid_stride\n  {0} try my.cu --lines\n\n{1}",
        typed, exit_statuses);
    return text;
}

void prepare(CLI::App& app, const Command& command, Values& values, const std::string& typed) {
    app.name(fmt::format("{} {}", typed, command.name));
    app.set_help_flag("-h,--help", "this text");
    if (command.configure) command.configure(app, values);
    std::string footer = "Examples:\n";
    for (const std::string& example : command.examples) footer += fmt::format("  {} {}\n", typed, example);
    app.footer(footer + "\n" + exit_statuses);
}

std::string help_of(const Command& command, const std::string& typed) {
    std::string description = command.help;
    description.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(description.front())));
    description += ".";
    if (!command.more.empty()) description += "\n\n" + warpwise::wrap(command.more, 100);
    CLI::App app(description);
    Values values;
    prepare(app, command, values, typed);
    // The commands that hand their arguments on have none of their own to show.
    std::string text = app.help();
    if (!command.configure) {
        const std::size_t usage = text.find("[OPTIONS]");
        if (usage != std::string::npos) text.replace(usage, 9, command.arguments);
    }
    const std::string mark_of_negative_flags = "{false}";
    for (std::size_t at = 0; (at = text.find(mark_of_negative_flags)) != std::string::npos;) {
        text.erase(at, mark_of_negative_flags.size());
    }
    const std::size_t begin = std::min(text.find_first_not_of('\n'), text.size());
    return text.substr(begin, text.find_last_not_of('\n') + 1 - begin) + "\n";
}

// ---- reading the command line --------------------------------------------------------------------------------------

struct Request {
    std::string command;  ///< as typed; empty: none
    Words arguments;      ///< of the command, without the options below
    std::string device;   ///< empty: not said
    bool yes = false;
    bool no_color = false;
    bool help = false;
    bool version = false;
};

Words long_names(const std::vector<OptionWords>& options) {
    Words names;
    for (const OptionWords& option : options) {
        for (const std::string& name : option.names) {
            if (name.compare(0, 2, "--") == 0) names.push_back(name);
        }
    }
    return names;
}

[[noreturn]] void refuse_option(const std::string& option, const Words& known, const std::string& help) {
    const Words near = warpwise::suggest(option, known);
    throw Refusal(near.empty() || option.size() < 4
                      ? fmt::format("unknown option '{}'; {} lists all options", option, help)
                      : fmt::format("unknown option '{}'; did you mean {}?", option, fmt::join(near, " or ")));
}

/// Takes the options that may stand everywhere; those of the command stay.
Request read_words(const Words& words, const std::string& typed) {
    Request request;
    bool is_open = true;  // until "--"
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        const bool before_command = request.command.empty();
        if (word == "--") is_open = false;
        if (is_open && word == "--device") {
            if (i + 1 == words.size()) throw Refusal("--device needs a value: cpu, cuda or auto");
            request.device = words[++i];
        } else if (is_open && word.compare(0, 9, "--device=") == 0) {
            request.device = word.substr(9);
        } else if (is_open && word == "--no-color") {
            request.no_color = true;
        } else if (is_open && (word == "--yes" || word == "-y")) {
            request.yes = true;
        } else if (is_open && word == "--version") {
            request.version = true;
        } else if (!before_command) {
            request.arguments.push_back(word);
        } else if (word == "--help" || word == "-h") {
            request.help = true;
        } else if (!word.empty() && word.front() == '-') {
            refuse_option(word, long_names(global_options()), typed + " --help");
        } else if (word.empty()) {
            throw Refusal(fmt::format("a command cannot be empty; {} --help lists all commands", typed));
        } else {
            request.command = word;
        }
    }
    const bool is_known =
        request.device.empty() || request.device == "auto" || request.device == "cpu" || request.device == "cuda";
    if (!is_known) throw Refusal(fmt::format("--device is cpu, cuda or auto, not '{}'", request.device));
    return request;
}

bool asks_for_help(const Command& command, const Words& arguments) {
    const auto is_help = [](const std::string& word) { return word == "--help" || word == "-h"; };
    // `run 1 --help` is for the chapter's program.
    const bool has_program = command.argument == Wants::chapter_or_lesson;
    if (has_program) return !arguments.empty() && is_help(arguments.front());
    const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
    return std::any_of(arguments.begin(), dashes, is_help);
}

/// Throws Refusal.
Values read_arguments(const Command& command, Words arguments, bool yes, const std::string& typed) {
    Values values;
    values.yes = yes;
    if (!command.configure) {
        values.untouched = std::move(arguments);
        return values;
    }
    const std::string help = fmt::format("{} {} --help", typed, command.name);
    const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
    if (command.takes_dashes && dashes != arguments.end()) {
        values.after_dashes = Words(dashes + 1, arguments.end());
        arguments.erase(dashes, arguments.end());
    }
    CLI::App app;
    prepare(app, command, values, typed);
    app.allow_extras();
    try {
        std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
        app.parse(arguments);
    } catch (const CLI::ParseError& error) {
        throw Refusal(fmt::format("{} ({} shows how to call it)", error.what(), help));
    }
    for (const std::string& word : app.remaining()) {
        if (word.size() < 2 || word.front() != '-') {
            throw Refusal(fmt::format("'{}' is one argument too many ({} shows how to call it)", word, help));
        }
        Words known = long_names(global_options());
        for (const CLI::Option* option : app.get_options()) {
            for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
        }
        refuse_option(word, known, help);
    }
    return values;
}

// ---- completion ----------------------------------------------------------------------------------------------------

Wants value_of(const std::string& command, const std::string& option) {
    if (option == "--level") return Wants::hint_level;
    if (option == "--lesson") return Wants::lesson;
    const bool is_file = option == "-o" || option == "--output" || option == "-I" || option == "--json" ||
                         (command == "try" && option == "--keep");
    return is_file ? Wants::file : Wants::nothing;
}

/// From the same description that reads the command line.
CommandWords words_of(const Command& command) {
    CommandWords words{command.name, command.help, {}, command.argument};
    if (!command.configure) return words;
    CLI::App app;
    Values values;
    command.configure(app, values);
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_positional() || option->check_name("--help") || option->get_group().empty()) continue;
        Words names;
        for (const std::string& name : option->get_snames()) names.push_back("-" + name);
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
        const bool takes_value = option->get_items_expected_max() > 0;
        words.options.push_back({names, option->get_description(), takes_value, value_of(command.name, names.back())});
    }
    return words;
}

/// For the shells' scripts, in which every complaint would be in the way.
int answer_completion(Words words, const std::vector<Command>& commands) {
    const auto dashes = std::find(words.begin(), words.end(), "--");
    if (dashes != words.end()) words.erase(words.begin(), dashes + 1);
    std::optional<Catalog> catalog;
    try {
        catalog = Catalog::load(Project::find());
    } catch (const std::exception&) {
        // Commands and options can be completed without it.
    }
    std::vector<CommandWords> known;
    for (const Command& command : commands) known.push_back(words_of(command));
    fmt::print("{}",
               candidate_lines(complete(std::move(words), known, global_options(), catalog ? &*catalog : nullptr)));
    return all_right;
}

// ---- running a command ---------------------------------------------------------------------------------------------

/// What the reader types to start the guide.
std::string typed_name() {
    const char* typed = std::getenv("WARPWISE_TYPED");
    return typed != nullptr && *typed != '\0' ? typed : "";
}

Project find_project(const Request& request) {
    Project project = Project::find();
    if (const std::string typed = typed_name(); !typed.empty()) project.typed = typed;
    if (request.device.empty() || request.device == "auto" || request.device == project.device) return project;
    project.device = request.device;
    const std::string device_option = " --device " + request.device;
    std::error_code error;
    if (!std::filesystem::exists(project.build_folder() / "catalog.json", error)) {
        throw Refusal(fmt::format("build/{} is not set up yet. This command sets it up: {}{} {}", project.device,
                                  project.typed, device_option, request.command));
    }
    project.typed += device_option;
    return project;
}

/// The command, or Refusal, which says so when the word is an exercise or a chapter.
const Command& find_command(const std::string& word, const std::vector<Command>& commands, const std::string& typed) {
    std::string name;
    for (const Command& command : commands) {
        if (command.old_name.empty() || word.size() < 2 || !command.old_name.starts_with(word)) continue;
        fmt::print(stderr, "note: '{}' is called '{}' now\n", command.old_name, command.name);
        return command;
    }
    try {
        name = resolve_command(word, names_of(commands), typed);
    } catch (const Refusal& refusal) {
        const auto refuse = [&](const std::string& what, const std::string& command) {
            throw Refusal(fmt::format("'{}' is {}, not a command: {} {} {}", word, what, typed, command, word));
        };
        std::optional<Catalog> catalog;
        try {
            catalog = Catalog::load(Project::find());
        } catch (const Refusal&) {
            throw refusal;
        }
        for (const Chapter& chapter : catalog->chapters()) {
            if (std::to_string(chapter.number) == word || chapter.program == word) refuse("a chapter", "run");
            for (const Exercise& exercise : chapter.exercises) {
                if (exercise.name == word) refuse("an exercise", "grade");
            }
            for (const Lesson& lesson : chapter.lessons) {
                if (lesson.name == word) refuse("a lesson", "run");
            }
        }
        throw;
    }
    return *std::find_if(commands.begin(), commands.end(),
                         [&](const Command& command) { return command.name == name; });
}

int run_in_session(const Request& request, const std::function<int(Session&)>& run) {
    const Project project = find_project(request);
    Session session(project, real_tools(project), warpwise::Terminal::detect(!request.no_color), is_interactive());
    const auto tell = [&] {
        const std::string message = session.take_message();
        std::fflush(stdout);
        if (!message.empty()) fmt::print(stderr, "warpwise: {}\n", message);
    };
    try {
        const int status = run(session);
        tell();
        return status;
    } catch (...) {
        tell();
        throw;
    }
}

int run(const Words& words) {
    const std::string typed = typed_name().empty() ? "./warpwise" : typed_name();
    const std::vector<Command> commands = make_commands();
    if (!words.empty() && words.front() == "complete")
        return answer_completion({words.begin() + 1, words.end()}, commands);

    const Request request = read_words(words, typed);
    if (request.no_color) setenv("NO_COLOR", "1", 1);  // for chapters and graders, too
    if (request.version) {
        fmt::print("warpwise {}\n", version);
        return all_right;
    }
    if (request.command.empty() && !request.help) return run_in_session(request, start);
    if (request.command.empty()) {
        fmt::print("{}", overview(commands, typed));
        return all_right;
    }
    const Command& command = find_command(request.command, commands, typed);
    if (request.help || asks_for_help(command, request.arguments)) {
        fmt::print("{}", help_of(command, typed));
        return all_right;
    }
    const Values values = read_arguments(command, request.arguments, request.yes, typed);
    if (command.run) return run_in_session(request, [&](Session& session) { return command.run(session, values); });
    if (command.name == "completion") {
        fmt::print("{}", completion_script(values.word));
    } else if (values.word.empty()) {
        fmt::print("{}", overview(commands, typed));
    } else {
        fmt::print("{}", help_of(find_command(values.word, commands, typed), typed));
    }
    return all_right;
}

int complain(const char* text) {
    std::fflush(stdout);
    fmt::print(stderr, "warpwise: {}\n", text);
    return request_not_met;
}

}  // namespace
}  // namespace guide

int main(int argc, char** argv) {
    int status = guide::all_right;
    try {
        status = guide::run({argv + std::min(argc, 1), argv + argc});
    } catch (const std::exception& error) {
        status = guide::complain(error.what());
    }
    // A full disk shows here at the latest.
    const bool was_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (!was_written && status == guide::all_right) status = guide::complain("cannot write the output");
    return status;
}

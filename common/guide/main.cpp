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

#include "common/guide/book.h"
#include "common/guide/commands.h"
#include "common/guide/completion.h"
#include "common/guide/doctor.h"
#include "common/guide/new_files.h"
#include "common/guide/refusal.h"
#include "common/guide/report.h"
#include "common/guide/try_program.h"
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

using Words = std::vector<std::string>;

/// What the options and arguments of a command say.
struct Values {
    std::string word;  ///< the one argument of many commands
    bool json = false;
    bool yes = false;
    std::optional<int> level;
    ReportOptions report;
    BookOptions book;
    bool no_run = false;
    TryOptions program;
    NewItem item;
    std::string keep;
    Words untouched;                    ///< of a command that hands its arguments on
    std::optional<Words> after_dashes;  ///< what follows "--"
};

struct Command {
    std::string name;
    std::string arguments;  ///< in the overview: "CHAPTER [LESSON..]"
    std::string help;
    Wants argument = Wants::nothing;
    std::function<void(CLI::App&, Values&)> configure;  ///< null: its arguments are handed on untouched
    std::function<int(Session&, const Values&)> run;    ///< null: it needs no project (help, completion)
    Words examples;                                     ///< without the guide's own name
    std::string more = {};                              ///< a paragraph for its help
    bool takes_dashes = false;                          ///< "-- options for another program" may follow
};

// ---- the commands --------------------------------------------------------------------------------------------------

void add_json(CLI::App& app, Values& values) { app.add_flag("--json", values.json, "for programs to read"); }

void add_yes(CLI::App& app, Values& values) { app.add_flag("-y,--yes", values.yes, "without asking"); }

void add_word(CLI::App& app, Values& values, const std::string& name, const std::string& help) {
    app.add_option(name, values.word, help)->type_name("");
}

constexpr const char* exercise_help = "name or a part of it; without one, the first that is not passed";

void configure_report(CLI::App& app, Values& values) {
    app.add_option("-o,--output", values.report.output, "the page to write; without it build/report.html")
        ->type_name("FILE");
    CLI::Option* no_run = app.add_flag("--no-run", values.no_run, "only what was run already");
    app.add_flag("--run-all", values.report.run_all, "run all chapters anew")->excludes(no_run);
}

int report(Session& session, const Values& values) {
    ReportOptions options = values.report;
    options.run_missing = !values.no_run;
    options.colors = session.terminal().colors;
    return write_report(session.project(), session.catalog(), session.progress(), options);
}

void configure_try(CLI::App& app, Values& values) {
    TryOptions& options = values.program;
    app.add_option("FILE", options.file, "a CUDA program of one file")->required()->type_name("");
    app.add_flag("--gpu", options.gpu, "build it with nvcc and run it on a GPU");
    app.add_flag("--counters,!--no-counters", options.counters, "count what each kernel does (it does; CPU device)");
    app.add_flag("--check,!--no-check", options.check, "look for mistakes in kernels (it does; CPU device)");
    app.add_flag("--leaks", options.leaks, "memory that is never freed is an error, not only a note (CPU device)");
    app.add_flag("--lines", options.lines, "the kernels' source with the counts of each line");
    app.add_flag("--all-blocks", options.all_blocks, "watch all blocks of a launch, not a sample");
    app.add_option("--registers", options.registers, "registers a thread, for the theoretical occupancy")
        ->check(CLI::Range(1, 255))
        ->type_name("N");
    app.add_option("-I", options.include_folders, "folder with headers; may be repeated")
        ->allow_extra_args(false)
        ->type_name("DIR");
    app.add_option("-D", options.definitions, "NAME or NAME=VALUE; may be repeated")
        ->allow_extra_args(false)
        ->type_name("NAME");
    app.add_flag("--keep", values.keep,
                 "keep the rewritten source and the program beside FILE; --keep=DIR: in that folder");
    app.add_option("--json", options.json_file, "counters and findings to this file; - is stdout")->type_name("FILE");
    app.add_option("--trace", options.trace_file, "what each warp of the first block did, to this file (CPU device)")
        ->type_name("FILE");
    app.add_option("--limit", options.limit_seconds, "longest time for one kernel, in seconds")
        ->check(CLI::PositiveNumber)
        ->type_name("SECONDS");
}

int try_file(Session& session, const Values& values) {
    TryOptions options = values.program;
    options.arguments = values.after_dashes.value_or(Words());
    // A flag without a value reads as "true".
    if (!values.keep.empty()) options.keep = std::filesystem::path(values.keep == "true" ? "" : values.keep);
    options.colors = session.terminal().colors;
    return try_program(session.project(), options);
}

void configure_new(CLI::App& app, Values& values) {
    NewItem& item = values.item;
    app.add_option("WHAT", item.what, "lesson or exercise")->required()->type_name("");
    app.add_option("NAME", item.name, "its name, as in prefix_sum")->required()->type_name("");
    app.add_option("--chapter", item.chapter, "its number or name; without it the last chapter")->type_name("CHAPTER");
    app.add_option("--after", item.after, "the lesson or exercise it follows; without it the chapter's last one")
        ->type_name("NAME");
    app.add_option("--kind", item.kind, "of an exercise: fill (the default), fix, or speed")->type_name("KIND");
    app.add_option("--about", item.about, "of a lesson: the line that lists show")->type_name("TEXT");
}

int create_files(Session& session, const Values& values) {
    const Project& project = session.project();
    const NewItem& item = values.item;
    const NewFiles files = create(project, item);
    for (const std::filesystem::path& file : files.created) fmt::print("created  {}\n", project.shown(file));
    fmt::print("changed  {}\n\n", project.shown(files.list));
    if (!files.stamped) {
        fmt::print(
            "There is no sha256sum here, so the Chinese page has to be stamped: node docs/scripts/check_book.mjs "
            "--stamp {}\n\n",
            project.shown(*std::find_if(files.created.rbegin(), files.created.rend(),
                                        [](const auto& file) { return file.extension() == ".md"; })));
    }
    if (item.what == "lesson") {
        fmt::print("It runs as it is: {}. Now replace its problem by yours; docs/add_a_lesson.md says how.\n",
                   session.typed(fmt::format("run {} {}", files.chapter, item.name)));
    } else {
        fmt::print("Its tests pass as they are: {}. Now replace its task by yours; docs/add_a_lesson.md says how.\n",
                   session.typed(fmt::format("test -R '{}:'", item.name)));
    }
    return all_right;
}

std::vector<Command> make_commands() {
    return {
        {.name = "list",
         .arguments = "[WORD]",
         .help = "the chapters with their lessons, and the exercises",
         .argument = Wants::catalog_word,
         .configure =
             [](CLI::App& app, Values& values) {
                 add_word(app, values, "WORD", "only what has to do with it: a chapter, a part of a name, a kind");
                 add_json(app, values);
             },
         .run = [](Session& session,
                   const Values& values) { return list(session, {.word = values.word, .json = values.json}); },
         .examples = {"list", "list grid", "list fix", "list --json"}},
        {.name = "run",
         .arguments = "CHAPTER [LESSON..]",
         .help = "run a chapter, or some of its lessons; options of the chapter's program may follow",
         .argument = Wants::chapter,
         .configure = nullptr,
         .run = [](Session& session, const Values& values) { return run_chapter(session, values.untouched); },
         .examples = {"run 1", "run 1 pi", "run 1 pi --size 1Mi --lines", "run 1 --json results.json", "run 1 --help"},
         .more = "Names of chapters and lessons may be shortened. The results of a whole chapter are kept in "
                 "build/results, for 'report'. 'run 1 --help' shows the options of the chapter's program."},
        {.name = "check",
         .arguments = "[EXERCISE|all]",
         .help = "build your answer and grade it",
         .argument = Wants::exercise_or_all,
         .configure =
             [](CLI::App& app, Values& values) {
                 add_word(app, values, "EXERCISE", std::string(exercise_help) + "; 'all': a table of all");
                 add_json(app, values);
             },
         .run =
             [](Session& session, const Values& values) {
                 return check_exercise(
                     session, {.exercise = values.word, .json = values.json, .grader_options = values.after_dashes});
             },
         .examples = {"check", "check grid_stride", "check all", "check grid -- -x 1000", "check grid -- --list-tests"},
         .more =
             "What follows '--' goes to the grader, which then only runs: nothing is marked. -x 1000 shows all failed "
             "checks, not only the first.",
         .takes_dashes = true},
        {.name = "watch",
         .arguments = "[EXERCISE]",
         .help = "build and grade your answer whenever you save it",
         .argument = Wants::exercise,
         .configure = [](CLI::App& app, Values& values) { add_word(app, values, "EXERCISE", exercise_help); },
         .run = [](Session& session, const Values& values) { return watch_exercise(session, values.word); },
         .examples = {"watch", "watch grid_stride"}},
        {.name = "hint",
         .arguments = "[EXERCISE]",
         .help = "the next hint",
         .argument = Wants::exercise,
         .configure =
             [](CLI::App& app, Values& values) {
                 add_word(app, values, "EXERCISE", exercise_help);
                 app.add_option("--level", values.level, "this hint: 1 is the first")->type_name("N");
                 add_json(app, values);
             },
         .run =
             [](Session& session, const Values& values) {
                 return show_hint(session, {.exercise = values.word, .level = values.level, .json = values.json});
             },
         .examples = {"hint", "hint grid_stride", "hint grid_stride --level 1"}},
        {.name = "task",
         .arguments = "[EXERCISE]",
         .help = "what an exercise asks for",
         .argument = Wants::exercise,
         .configure = [](CLI::App& app, Values& values) { add_word(app, values, "EXERCISE", exercise_help); },
         .run = [](Session& session, const Values& values) { return show_task(session, values.word); },
         .examples = {"task", "task grid_stride"}},
        {.name = "reset",
         .arguments = "EXERCISE",
         .help = "put your answer back to what was handed out; yours is kept beside it",
         .argument = Wants::exercise,
         .configure =
             [](CLI::App& app, Values& values) {
                 add_word(app, values, "EXERCISE", "name or a part of it");
                 add_yes(app, values);
             },
         .run = [](Session& session, const Values& values) { return reset_answer(session, values.word, values.yes); },
         .examples = {"reset grid_stride", "reset grid_stride --yes"}},
        {.name = "solution",
         .arguments = "[EXERCISE]",
         .help = "the model answer, and how yours differs from it",
         .argument = Wants::exercise,
         .configure =
             [](CLI::App& app, Values& values) {
                 add_word(app, values, "EXERCISE", exercise_help);
                 add_yes(app, values);
             },
         .run = [](Session& session, const Values& values) { return show_solution(session, values.word, values.yes); },
         .examples = {"solution grid_stride", "solution grid_stride --yes"}},
        {.name = "try",
         .arguments = "FILE.cu [-- ARG..]",
         .help = "run any CUDA program of one file: counters, and a search for mistakes",
         .argument = Wants::file,
         .configure = configure_try,
         .run = try_file,
         .examples = {"try my.cu", "try my.cu --lines -- 1000 fast", "try my.cu --gpu", "try my.cu --json counts.json"},
         .takes_dashes = true},
        {.name = "report",
         .arguments = "",
         .help = "all that was run and done, as one HTML page",
         .argument = Wants::nothing,
         .configure = configure_report,
         .run = report,
         .examples = {"report", "report -o results.html", "report --run-all"}},
        {.name = "docs",
         .arguments = "",
         .help = "the book as a web site on this machine (needs Node.js)",
         .argument = Wants::nothing,
         .configure =
             [](CLI::App& app, Values& values) {
                 app.add_flag("--build", values.book.build_only, "write the site, and do not serve it");
                 app.add_flag("--live", values.book.live, "for writers: show every change at once");
                 app.add_option("--port", values.book.port, "of the server")
                     ->check(CLI::Range(1, 65535))
                     ->type_name("N");
             },
         .run = [](Session& session,
                   const Values& values) { return show_book(session.project(), values.book, session.terminal()); },
         .examples = {"docs", "docs --live", "docs --build"}},
        {.name = "doctor",
         .arguments = "",
         .help = "what this machine has, what it lacks, and how to put that right",
         .argument = Wants::nothing,
         .configure = add_json,
         .run =
             [](Session& session, const Values& values) {
                 return doctor(session.project(), real_system(), session.terminal(), values.json);
             },
         .examples = {"doctor", "doctor --json"}},
        {.name = "test",
         .arguments = "[CTEST OPTION..]",
         .help = "build everything and pass the tests",
         .argument = Wants::nothing,
         .configure = nullptr,
         .run = [](Session& session, const Values& values) { return run_tests(session, values.untouched); },
         .examples = {"test", "test -R grid_stride", "test -L exercise"}},
        {.name = "new",
         .arguments = "lesson|exercise NAME",
         .help = "for writers: the files of a new lesson or exercise, with their tests",
         .argument = Wants::nothing,
         .configure = configure_new,
         .run = create_files,
         .examples = {"new lesson prefix_sum --chapter 4", "new exercise scan_in_a_warp --kind fix --after prefix_sum"},
         .more = "What it creates builds, runs, and passes its tests. It also adds the name to the chapter's list, "
                 "chapters/N_name/chapter.json."},
        {.name = "setup",
         .arguments = "",
         .help = "install what is missing, and stop there",
         .argument = Wants::nothing,
         .configure = [](CLI::App&, Values&) {},
         .run =
             [](Session&, const Values&) {
                 fmt::print("Everything that is needed is here.\n");  // the script has seen to it
                 return static_cast<int>(all_right);
             },
         .examples = {"setup"}},
        {.name = "completion",
         .arguments = "SHELL",
         .help = "a script that completes this command line: bash, zsh or fish",
         .argument = Wants::shell,
         .configure =
             [](CLI::App& app, Values& values) {
                 app.add_option("SHELL", values.word, "bash, zsh or fish")->required()->type_name("");
             },
         .run = nullptr,
         .examples = {"completion bash", "completion zsh", "completion fish"},
         .more = "For this terminal: source <(./warpwise completion bash). The script says how to keep it."},
        {.name = "help",
         .arguments = "[COMMAND]",
         .help = "this text, or that of a command",
         .argument = Wants::command,
         .configure = [](CLI::App& app, Values& values) { add_word(app, values, "COMMAND", "a command"); },
         .run = nullptr,
         .examples = {"help check"}},
    };
}

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
        "\nCommands and names may be shortened as long as it is clear what is meant: '{0} ch grid'.\n\nexamples\n"
        "  {0} run 1 pi --size 1Mi\n  {0} check grid_stride\n  {0} try my.cu --lines\n\n{1}",
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
                      ? fmt::format("unknown option '{}'; {} shows what there is", option, help)
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
        } else if (!before_command) {
            request.arguments.push_back(word);
        } else if (word == "--yes" || word == "-y") {
            request.yes = true;
        } else if (word == "--help" || word == "-h") {
            request.help = true;
        } else if (word == "--version") {
            request.version = true;
        } else if (!word.empty() && word.front() == '-') {
            refuse_option(word, long_names(global_options()), typed + " --help");
        } else if (word.empty()) {
            throw Refusal(fmt::format("a command cannot be empty; {} --help shows what there is", typed));
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
    if (!command.configure) return !arguments.empty() && is_help(arguments.front());
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
        throw Refusal(fmt::format("{} ({} shows what there is)", error.what(), help));
    }
    for (const std::string& word : app.remaining()) {
        if (word.size() < 2 || word.front() != '-') {
            throw Refusal(fmt::format("'{}' is one argument too many ({} shows what there is)", word, help));
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
        if (option->get_positional() || option->check_name("--help")) continue;
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
        throw Refusal(fmt::format("build/{} is not set up yet; say it first: {}{} {}", project.device, project.typed,
                                  device_option, request.command));
    }
    project.typed += device_option;
    return project;
}

/// The command, or Refusal, which says so when the word is an exercise or a chapter.
const Command& find_command(const std::string& word, const std::vector<Command>& commands, const std::string& typed) {
    std::string name;
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
                if (exercise.name == word) refuse("an exercise", "check");
            }
            for (const Lesson& lesson : chapter.lessons) {
                if (lesson.name == word) refuse("a lesson", fmt::format("run {}", chapter.number));
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

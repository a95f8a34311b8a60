#include "common/guide/command_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "common/guide/doctor.h"
#include "common/lesson/old_flag.h"
#include "common/lesson/terminal.h"

namespace guide {
namespace {

// ---- options that several commands have ----------------------------------------------------------------------------

void add_json(CLI::App& app, Values& values) { app.add_flag("--json", values.json, "for programs to read"); }

void add_yes(CLI::App& app, Values& values) { app.add_flag("-y,--yes", values.yes, "without asking"); }

void add_word(CLI::App& app, Values& values, const std::string& name, const std::string& help) {
    app.add_option(name, values.word, help)->type_name("");
}

constexpr const char* exercise_help = "name or a part of it; without one, the first that is not passed";

// ---- the commands --------------------------------------------------------------------------------------------------

Command list_command() {
    return {.name = "list",
            .arguments = "[WORD]",
            .help = "all lessons and exercises, in the order of the path",
            .argument = Wants::catalog_word,
            .configure =
                [](CLI::App& app, Values& values) {
                    add_word(app, values, "WORD",
                             "show only these: a chapter's number, a part of a name, an idea, or a kind of exercise "
                             "(fill, fix)");
                    add_json(app, values);
                },
            .run = [](Session& session,
                      const Values& values) { return list(session, {.word = values.word, .json = values.json}); },
            .examples = {"list", "list grid", "list fix", "list --json"}};
}

Command map_command() {
    return {.name = "map",
            .arguments = "[CHAPTER]",
            .help = "the path: what is done, which ideas are mastered, and which are shaky",
            .argument = Wants::chapter,
            .configure =
                [](CLI::App& app, Values& values) {
                    add_word(app, values, "CHAPTER", "show only this chapter");
                    app.add_flag("--all", values.all, "the ideas of all chapters, also of those not begun");
                    add_json(app, values);
                },
            .run =
                [](Session& session, const Values& values) {
                    return show_map(session, {.chapter = values.word, .all = values.all, .json = values.json});
                },
            .examples = {"map", "map 2", "map --all", "map --json"},
            .more =
                "An idea is shaky when fewer than two thirds of its predictions are right, when an exercise about it "
                "took five wrong answers or more, or when its solution was seen before it passed. The map says which "
                "lesson to run again."};
}

Command review_command() {
    return {.name = "review",
            .arguments = "",
            .help = "make predictions again that you made days ago",
            .argument = Wants::nothing,
            .configure =
                [](CLI::App& app, Values& values) {
                    app.add_flag("--all", values.all, "all of them, whether they are due or not");
                    app.add_option("--lesson", values.word, "only those of this lesson")->type_name("LESSON");
                },
            .run = [](Session& session,
                      const Values& values) { return review(session, {.lesson = values.word, .all = values.all}); },
            .examples = {"review", "review --all", "review --lesson coalescing"},
            .more =
                "A prediction that was wrong is due after 1 day, then 3, then 7; one that was right after 7 days, then "
                "21, then 60. Without a terminal, answers are read from standard input, one per line."};
}

Command run_command() {
    return {.name = "run",
            .arguments = "[CHAPTER] [LESSON..]",
            .help = "run a chapter, or some of its lessons; options of the chapter's program may follow",
            .argument = Wants::chapter_or_lesson,
            .configure = nullptr,
            .run = [](Session& session, const Values& values) { return run_chapter(session, values.untouched); },
            .examples = {"run 1", "run pi", "run 1 pi --size 1Mi --lines", "run 1 --json results.json", "run 1 --help"},
            .more =
                "Names of chapters and lessons may be shortened. The results of a whole chapter are kept in "
                "build/results, for 'report'. 'run 1 --help' shows the options of the chapter's program."};
}

Command grade_command() {
    return {
        .name = "grade",
        .arguments = "[EXERCISE|all]",
        .help = "build your answer and grade it",
        .argument = Wants::exercise_or_all,
        .configure =
            [](CLI::App& app, Values& values) {
                add_word(app, values, "EXERCISE", std::string(exercise_help) + "; 'all': a table of all");
                add_json(app, values);
                app.add_flag("--catch2", values.catch2,
                             "show what is wrong in full: Catch2's own output, or all messages of the compiler");
            },
        .run =
            [](Session& session, const Values& values) {
                return grade_exercise(session, {.exercise = values.word,
                                                .json = values.json,
                                                .catch2 = values.catch2,
                                                .grader_options = values.after_dashes});
            },
        .examples = {"grade", "grade grid_stride", "grade all", "grade grid --catch2", "grade grid -- -x 1000",
                     "grade grid -- --list-tests"},
        .more =
            "What follows '--' goes to the grader, which then only runs: nothing is marked. -x 1000 shows all failed "
            "checks, not only the first.",
        .takes_dashes = true,
        .old_name = "check"};
}

Command watch_command() {
    return {.name = "watch",
            .arguments = "[EXERCISE]",
            .help = "build and grade your answer whenever you save it",
            .argument = Wants::exercise,
            .configure = [](CLI::App& app, Values& values) { add_word(app, values, "EXERCISE", exercise_help); },
            .run = [](Session& session, const Values& values) { return watch_exercise(session, values.word); },
            .examples = {"watch", "watch grid_stride"}};
}

Command hint_command() {
    return {.name = "hint",
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
            .examples = {"hint", "hint grid_stride", "hint grid_stride --level 1"}};
}

Command task_command() {
    return {.name = "task",
            .arguments = "[EXERCISE]",
            .help = "what an exercise asks for",
            .argument = Wants::exercise,
            .configure = [](CLI::App& app, Values& values) { add_word(app, values, "EXERCISE", exercise_help); },
            .run = [](Session& session, const Values& values) { return show_task(session, values.word); },
            .examples = {"task", "task grid_stride"}};
}

Command reset_command() {
    return {
        .name = "reset",
        .arguments = "EXERCISE",
        .help = "put your answer back to what was handed out; yours is kept beside it",
        .argument = Wants::exercise,
        .configure =
            [](CLI::App& app, Values& values) {
                add_word(app, values, "EXERCISE", "name or a part of it");
                add_yes(app, values);
            },
        .run = [](Session& session, const Values& values) { return reset_answer(session, values.word, values.yes); },
        .examples = {"reset grid_stride", "reset grid_stride --yes"}};
}

Command solution_command() {
    return {
        .name = "solution",
        .arguments = "[EXERCISE]",
        .help = "the model answer, and how yours differs from it",
        .argument = Wants::exercise,
        .configure =
            [](CLI::App& app, Values& values) {
                add_word(app, values, "EXERCISE", exercise_help);
                add_yes(app, values);
            },
        .run = [](Session& session, const Values& values) { return show_solution(session, values.word, values.yes); },
        .examples = {"solution grid_stride", "solution grid_stride --yes"}};
}

void configure_try(CLI::App& app, Values& values) {
    TryOptions& options = values.program;
    app.add_option("FILE", values.files, "the files of a CUDA program, most often one")->required()->type_name("");
    app.add_flag("--gpu", options.gpu, "build it with nvcc and run it on a GPU");
    app.add_flag("--counters,!--no-counters", options.counters,
                 "count what each kernel does; on unless you say --no-counters (CPU device only)");
    app.add_flag("--diagnose,!--no-diagnose", options.diagnose,
                 "look for errors in kernels; on unless you say --no-diagnose (CPU device only)");
    warpwise::add_old_flag(app, "check", "diagnose", options.diagnose);
    app.add_flag("--leaks", options.leaks, "memory that is never freed is an error, not only a note (CPU device)");
    app.add_flag("--lines", options.lines, "the kernels' source with the counts of each line");
    app.add_flag("--all-blocks", options.all_blocks, "instrument all blocks of a launch, not a sample");
    app.add_flag("--each-launch", options.each_launch, "a row for each launch, in their order, not for each kernel");
    app.add_option("--gpu-model", options.gpu_model,
                   "estimate the times of this GPU, and what limits them (CPU device)")
        ->type_name("GPU");
    app.add_option("--registers", options.registers, "registers per thread, for the theoretical occupancy")
        ->check(CLI::Range(1, 255))
        ->type_name("N");
    app.add_option("-I", options.include_folders, "folder with headers; may be repeated")
        ->allow_extra_args(false)
        ->type_name("DIR");
    app.add_option("-D", options.definitions, "NAME or NAME=VALUE; may be repeated")
        ->allow_extra_args(false)
        ->type_name("NAME");
    app.add_option("-l", options.libraries, "library to link; may be repeated")
        ->allow_extra_args(false)
        ->type_name("NAME");
    app.add_option("--compile-commands", options.compile_commands,
                   "a compile_commands.json, whose folders and definitions count for FILE")
        ->type_name("FILE");
    app.add_flag("--keep", values.keep,
                 "keep the rewritten source and the program beside FILE; --keep=DIR: in that folder");
    app.add_option("--json", options.json_file, "counters and diagnostics to this file; - is stdout")
        ->type_name("FILE");
    app.add_option("--trace", options.trace_file, "what each warp of the first block did, to this file (CPU device)")
        ->type_name("FILE");
    app.add_option("--limit", options.limit_seconds, "longest time for one kernel, in seconds")
        ->check(CLI::PositiveNumber)
        ->type_name("SECONDS");
}

int try_file(Session& session, const Values& values) {
    TryOptions options = values.program;
    if (!values.files.empty()) options.file = values.files.front();
    for (std::size_t i = 1; i < values.files.size(); ++i) options.more_files.emplace_back(values.files[i]);
    options.arguments = values.after_dashes.value_or(Words());
    // A flag without a value reads as "true".
    if (!values.keep.empty()) options.keep = std::filesystem::path(values.keep == "true" ? "" : values.keep);
    options.colors = session.terminal().colors;
    return try_program(session.project(), options);
}

Command try_command() {
    return {
        .name = "try",
        .arguments = "FILE.cu.. [-- ARG..]",
        .help = "run any CUDA program: counters, and diagnostics",
        .argument = Wants::file,
        .configure = configure_try,
        .run = try_file,
        .examples = {"try my.cu", "try my.cu --lines -- 1000 fast", "try my.cu --gpu", "try my.cu --json counts.json"},
        .takes_dashes = true};
}

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

Command report_command() {
    return {.name = "report",
            .arguments = "",
            .help = "all that was run and done, as one HTML page",
            .argument = Wants::nothing,
            .configure = configure_report,
            .run = report,
            .examples = {"report", "report -o results.html", "report --run-all"}};
}

Command docs_command() {
    return {.name = "docs",
            .arguments = "[PAGE]",
            .help = "a page of the book in the terminal; without PAGE, the book as a web site (needs Node.js)",
            .argument = Wants::nothing,
            .configure =
                [](CLI::App& app, Values& values) {
                    app.add_option("PAGE", values.book.page, "a page to show here, for example thread_hierarchy")
                        ->type_name("");
                    app.add_flag("--build", values.book.build_only, "write the site, and do not serve it");
                    app.add_flag("--live", values.book.live, "for writers: show every change at once");
                    app.add_option("--port", values.book.port, "of the server")
                        ->check(CLI::Range(1, 65535))
                        ->type_name("N");
                    app.add_flag("--markdown", values.book.markdown,
                                 "write plain Markdown with all code and tables instead of the site");
                    app.add_option("-o,--output", values.book.folder, "with --markdown: where to; else build/markdown")
                        ->type_name("DIR")
                        ->needs("--markdown");
                },
            .run =
                [](Session& session, const Values& values) {
                    if (!values.book.page.empty()) return show_page_of_book(session, values.book.page);
                    return show_book(session.project(), values.book, session.terminal());
                },
            .examples = {"docs thread_hierarchy", "docs", "docs --live", "docs --markdown -o book"}};
}

Command doctor_command() {
    return {.name = "doctor",
            .arguments = "",
            .help = "what this machine has, what it lacks, and how to put that right",
            .argument = Wants::nothing,
            .configure = add_json,
            .run =
                [](Session& session, const Values& values) {
                    return doctor(session.project(), real_system(), session.terminal(), values.json);
                },
            .examples = {"doctor", "doctor --json"}};
}

Command test_command() {
    return {.name = "test",
            .arguments = "[CTEST OPTION..]",
            .help = "build everything and pass the tests",
            .argument = Wants::nothing,
            .configure = nullptr,
            .run = [](Session& session, const Values& values) { return run_tests(session, values.untouched); },
            .examples = {"test", "test -R grid_stride", "test -L exercise"}};
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

Command new_command() {
    return {
        .name = "new",
        .arguments = "lesson|exercise NAME",
        .help = "for writers: the files of a new lesson or exercise, with their tests",
        .argument = Wants::nothing,
        .configure = configure_new,
        .run = create_files,
        .examples = {"new lesson prefix_sum --chapter 4", "new exercise scan_in_a_warp --kind fix --after prefix_sum"},
        .more =
            "What it creates builds, runs, and passes its tests. It also adds the name to the chapter's list, "
            "chapters/N_name/chapter.json."};
}

Command setup_command() {
    return {.name = "setup",
            .arguments = "",
            .help = "install what is missing, and stop there",
            .argument = Wants::nothing,
            .configure = [](CLI::App&, Values&) {},
            .run =
                [](Session&, const Values&) {
                    fmt::print("Everything that is needed is here.\n");  // the script has seen to it
                    return static_cast<int>(all_right);
                },
            .examples = {"setup"}};
}

Command completion_command() {
    return {.name = "completion",
            .arguments = "SHELL",
            .help = "a script that completes this command line: bash, zsh or fish",
            .argument = Wants::shell,
            .configure =
                [](CLI::App& app, Values& values) {
                    app.add_option("SHELL", values.word, "bash, zsh or fish")->required()->type_name("");
                },
            .run = nullptr,
            .examples = {"completion bash", "completion zsh", "completion fish"},
            .more = "For this terminal: source <(./warpwise completion bash). The script says how to keep it."};
}

Command help_command() {
    return {.name = "help",
            .arguments = "[COMMAND]",
            .help = "this text, or that of a command",
            .argument = Wants::command,
            .configure = [](CLI::App& app, Values& values) { add_word(app, values, "COMMAND", "a command"); },
            .run = nullptr,
            .examples = {"help grade"}};
}

}  // namespace

std::vector<Command> make_commands() {
    return {map_command(),  list_command(),   run_command(),        grade_command(),  watch_command(),
            hint_command(), task_command(),   reset_command(),      review_command(), solution_command(),
            try_command(),  report_command(), docs_command(),       doctor_command(), test_command(),
            new_command(),  setup_command(),  completion_command(), help_command()};
}

}  // namespace guide

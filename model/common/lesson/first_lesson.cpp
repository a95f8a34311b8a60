#include "common/lesson/first_lesson.h"

#include <fmt/format.h>

#include <string>

#include "common/helpers/freed_memory.h"
#include "common/helpers/instrument.h"
#include "common/lesson/reader.h"
#include "common/lesson/refusal.h"
#include "common/lesson/run_lesson.h"
#include "common/lesson/terminal.h"

namespace warpwise {
namespace {

/// Returns whether colors are wanted. Throws Refusal.
bool parse_first_options(int argc, char** argv, Lesson::Options& options) {
    bool colors = true;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--device" && i + 1 < argc) {
            ++i;  // there is one
        } else if (word == "--diagnose") {
            options.diagnose = true;
        } else if (word == "--no-counters") {
            options.counters = false;
        } else if (word == "--no-color") {
            colors = false;
        } else if (word.starts_with('-')) {
            throw Refusal(fmt::format("the first lesson alone has no option {}: ./warpwise run 1 has", word));
        }
    }
    return colors;
}

}  // namespace

int run_first_lesson(int argc, char** argv, const Chapter& chapter) {
    return status_of(argv, [&]() -> int {
        name_sources_from("chapters/" + chapter.folder);
        Lesson::Options options;
        add_chapter(options, chapter, "", argv[0]);
        const Terminal terminal = Terminal::detect(parse_first_options(argc, argv, options));
        if (Lesson::on_gpu()) keep_freed_memory();
        if (terminal.colors) reset_colors_on_interrupt();
        Lesson::Output output(terminal, query_device(), Reader(Reader::at_terminal()));
        output.print(chapter_heading(chapter, output));
        const Instrumentation instrumenting({.diagnostics = options.diagnose, .count = options.count_options()});
        LessonRunner runner(chapter, options, output);
        const LessonResult result = runner.run(chapter.lessons.front());
        if (runner.interrupted()) end_as_interrupted();
        return result.passed() ? all_right : step_wrong;
    });
}

}  // namespace warpwise

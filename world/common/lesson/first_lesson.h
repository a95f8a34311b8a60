// The main function of the program that is a chapter's first lesson alone. A learner waits for it (warpwise), so it is
// made without the command line, the JSON files, and the counters' tables of run_chapter. CMake writes it as chapter.h
// shows.
#pragma once

#include "common/lesson/chapter.h"

namespace warpwise {

/// Runs the chapter's first lesson on the device that this program was built for, and returns the exit status of
/// run_chapter. Of its options it knows those that `warpwise` and SecondProcess pass: --device with this device,
/// --diagnose, --no-counters, and --no-color. Other words name the lesson.
int run_first_lesson(int argc, char** argv, const Chapter& chapter);

}  // namespace warpwise

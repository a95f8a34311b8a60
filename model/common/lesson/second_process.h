// A lesson that makes a mistake on purpose, in a process of its own, so that the first process stays healthy: after
// some errors nothing that a process asks of its GPU succeeds any more.
//
//     warpwise::SecondProcess second("error_handling", "WARPWISE_MISTAKE", "null_pointer");
//     for (const std::string& line : second.wait()) ...
//
// The second process runs the same lesson of the same program. The lesson sees by the environment variable that it is
// the second one, makes its mistake, prints what it learned, and ends.
#pragma once

#include <string>
#include <vector>

#include "common/helpers/child_process.h"
#include "common/helpers/instrument.h"
#include "common/helpers/lines.h"
#include "common/lesson/lesson.h"

namespace warpwise {

class SecondProcess {
public:
    /// Starts the process and returns at once. It looks for errors where the CPU device can, and its launches are
    /// asynchronous, whatever CUDA_LAUNCH_BLOCKING says to the first one.
    SecondProcess(const std::string& lesson, const std::string& variable, const std::string& value)
        : process_({own_program(), lesson, "--device", Lesson::on_gpu() ? "cuda" : "cpu",
                    can_instrument() ? "--diagnose" : "--no-counters", "--no-color"},
                   {{variable, value}, {"CUDA_LAUNCH_BLOCKING", "0"}}, output_.path()) {}

    /// Waits until it has ended, and returns the lines that it printed.
    std::vector<std::string> wait() {
        process_.wait();
        return file_lines(output_.path());
    }

private:
    TemporaryFile output_;
    ChildProcess process_;
};

}  // namespace warpwise

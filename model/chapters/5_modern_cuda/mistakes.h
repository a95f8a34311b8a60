// Programs with a mistake each, and what the CPU device's search for errors says of them.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "chapters/2_memory_model/provoked.h"
#include "common/helpers/check.h"
#include "common/helpers/instrument.h"
#include "common/lesson/lesson.h"

namespace modern_cuda {

struct Mistake {
    std::string name;           // of the kernel or function that has it
    std::string what;           // in a few words
    std::function<void()> run;  // allocates its memory itself, and waits for its kernels
    std::string kind;  // of the diagnostic that has to come first, such as data_race
};

/// A table of what is found, and after it the whole text of one. The lesson fails where
/// something else is found, or nothing. On a GPU nothing is run.
///
/// `called`: what the names in the first column are ("kernel").
inline void show_mistakes(warpwise::Lesson& lesson, const std::string& called,
                          const std::vector<Mistake>& mistakes,
                          const std::string& in_full) {
    if (!warpwise::can_instrument()) return;
    std::vector<std::vector<std::string>> rows;
    std::string text;
    for (const Mistake& mistake : mistakes) {
        const std::vector<warpwise::Diagnostic> found =
            ::memory_model::provoked_diagnostics(mistake.run);
        // A kernel that has been stopped leaves an error behind until the device is reset.
        if (cudaDeviceSynchronize() != cudaSuccess) warpwise::check(cudaDeviceReset());
        (void)cudaGetLastError();  // which is still that of the kernel
        const bool right = !found.empty() && found.front().kind == mistake.kind;
        lesson.expect(right, mistake.name + ": its mistake is found");
        std::string reported = right ? mistake.kind : "nothing";
        std::replace(reported.begin(), reported.end(), '_', ' ');
        rows.push_back({mistake.name, mistake.what, reported});
        if (right && mistake.name == in_full)
            text = ::memory_model::as_printed(found.front());
    }
    lesson.table({"mistakes", "What the search for errors finds"},
                 {called, "mistake", "reported"}, rows);
    if (!text.empty()) lesson.text("Of " + in_full + ", --diagnose says:\n\n" + text);
}

}  // namespace modern_cuda

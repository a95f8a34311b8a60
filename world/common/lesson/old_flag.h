// Flags of a command line that have another name today.
//
//     app.add_flag("--diagnose,!--no-diagnose", options.diagnose, "look for errors in kernels");
//     add_old_flag(app, "check", "diagnose", options.diagnose);
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <string>

namespace warpwise {

/// `--OLD` and `--no-OLD` go on doing what `--TODAY` and `--no-TODAY` do, and a note on stderr tells the name of today.
/// Help and completion leave them out.
inline void add_old_flag(CLI::App& app, const std::string& old, const std::string& today, bool& value) {
    app.add_flag_function("--" + old + ",!--no-" + old,
                          [old, today, &value](std::int64_t count) {
                              value = count > 0;
                              const char* const no = value ? "" : "no-";
                              std::fprintf(stderr, "note: --%s%s is called --%s%s now\n", no, old.c_str(), no,
                                           today.c_str());
                          })
        ->group("");
}

}  // namespace warpwise

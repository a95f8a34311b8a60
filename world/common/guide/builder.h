// Builds what a command needs, in the build's folder that `./warpwise` has configured.
//
//     Builder builder(project);
//     const BuildResult built = builder.build({"grid_stride_cpu"});
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/guide/command.h"
#include "common/guide/project.h"

namespace guide {

struct BuildResult {
    bool succeeded = false;
    bool cancelled = false;
    std::string output;  ///< of the compiler, untouched: without ninja's own lines; empty when all is well
    double seconds = 0;
};

class Builder {
public:
    explicit Builder(const Project& project) : project_(project) {}

    /// Configures the build's folder first when it is not yet. `progress(done, of)` is called as ninja goes on. Only
    /// one build runs in a folder at a time, since two would overwrite each other's files: waits while another
    /// ./warpwise builds there, and says so on stderr where the caller has no `cancelled` (and thus no screen).
    BuildResult build(const std::vector<std::string>& targets,
                      const std::function<void(int done, int of)>& progress = {},
                      const std::function<bool()>& cancelled = {});

private:
    const Project& project_;
};

}  // namespace guide

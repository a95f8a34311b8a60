// Starts the program for mpirun, and reads what it prints.
//
//     const Ended ended = run_ranks(4, {"--largest", "4096"}, 60);
//     if (ended.status == 0) for (const auto& cells : ended.rows("size")) ...
#pragma once

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/helpers/child_process.h"
#include "common/helpers/timer.h"

namespace several_gpus {
namespace {

struct Ended {
    std::optional<int> status;  // nothing: it did not end in time, and was killed
    double seconds = 0;
    std::string output;

    // The cells of the lines that begin with `kind`, without that word.
    std::vector<std::vector<std::string>> rows(const std::string& kind) const {
        std::vector<std::vector<std::string>> found;
        std::istringstream lines(output);
        for (std::string line; std::getline(lines, line);) {
            if (!line.starts_with(kind + "\t")) continue;
            std::istringstream cells(line.substr(kind.size() + 1));
            std::vector<std::string>& row = found.emplace_back();
            for (std::string cell; std::getline(cells, cell, '\t');) row.push_back(cell);
        }
        return found;
    }

    // What the failing rank has said, or mpirun of it.
    std::string message() const {
        std::istringstream lines(output);
        std::string of_mpirun;
        for (std::string line; std::getline(lines, line);) {
            const std::size_t own = line.find("several_gpus_mpi: rank ");
            if (own != std::string::npos) return line.substr(own + 18);
            if (line.find("exited on signal") != std::string::npos ||
                line.find("error while loading shared libraries") != std::string::npos)
                of_mpirun = line;
        }
        return of_mpirun;
    }
};

// Beside this program, or in the folder above, where the plain program has it.
inline std::string program_of_ranks() {
    const std::filesystem::path own = warpwise::own_program();
    for (const std::filesystem::path& folder :
         {own.parent_path(), own.parent_path().parent_path()})
        if (std::filesystem::exists(folder / "several_gpus_mpi"))
            return folder / "several_gpus_mpi";
    return {};
}

inline bool has_mpirun() {
    return warpwise::output_of({"mpirun", "--version"}).value_or("").find("Open MPI") !=
           std::string::npos;
}

// mpirun -np RANKS several_gpus_mpi --rows OPTIONS...
inline Ended run_ranks(int ranks, const std::vector<std::string>& more,
                       double most_seconds) {
    std::vector<std::string> command = {
        "/usr/bin/env",        "mpirun",           "--oversubscribe", "-np",
        std::to_string(ranks), program_of_ranks(), "--rows"};
    command.insert(command.end(), more.begin(), more.end());
    std::vector<std::pair<std::string, std::string>> variables;
    if (geteuid() == 0)  // in a container, say
        variables = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                     {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
    const warpwise::TemporaryFile output;
    const warpwise::HostTimer timer;
    Ended ended;
    {
        warpwise::ChildProcess child(command, variables, output.path());
        ended.status = child.wait_at_most(most_seconds);
    }
    ended.seconds = timer.seconds();
    ended.output = output.read();
    return ended;
}

}  // namespace
}  // namespace several_gpus

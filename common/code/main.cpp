// What nvcc made of kernels, without a GPU and without cuobjdump or nvdisasm.
//
//     nvcc -cubin -arch=sm_90 -lineinfo x.cu
//     facts_of_code x.cubin                      a row per kernel
//     facts_of_code x.cubin --lines              besides, a row per basic block and source line
//     facts_of_code *.cubin --record x.json --root FOLDER --compiler "nvcc 13.0, sm_90"
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/code/json.h"
#include "common/code/kernel_code.h"

namespace {

using namespace warpwise::code;

/// "12 fp32, 3 load_global"; with `names`, each instruction: "12 FFMA, 3 LDG.128".
std::string text_of(const std::vector<Count>& counts, bool names) {
    std::map<std::string, unsigned> sums;
    for (const Count& count : counts) {
        const OperationRow& row = operation_of(count.code);
        std::string name = operation_names[static_cast<std::size_t>(row.operation)];
        if (names) {
            name = row.name == std::string("?") ? fmt::format("?{:03x}", count.code) : row.name;
            if (count.bytes != 0) name += fmt::format(".{}", 8 * count.bytes);
        }
        sums[name] += count.times;
    }
    std::string text;
    for (const auto& [name, times] : sums) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", times, name);
    return text;
}

constexpr const char* why_not_followed = "calls functions, or jumps through a table";

void print(const KernelCode& kernel, bool lines) {
    std::vector<Count> all;
    for (const Block& block : kernel.blocks) all.insert(all.end(), block.counts.begin(), block.counts.end());
    fmt::print("{}\n  {} registers, {} bytes of stack, {} bytes of shared memory, {} basic blocks{}\n  {}\n",
               kernel.name, kernel.registers, kernel.stack_bytes, kernel.shared_bytes, kernel.blocks.size(),
               kernel.is_followed ? "" : fmt::format(", and others: it {}", why_not_followed), text_of(all, false));
    if (!lines) return;
    for (std::size_t i = 0; i < kernel.blocks.size(); ++i) {
        const Block& block = kernel.blocks[i];
        fmt::print("  block {}{}{}, then {}\n", i, block.may_end ? ", may end" : "", block.is_rare ? ", rare" : "",
                   block.next.empty() ? "nothing" : fmt::format("{}", fmt::join(block.next, " or ")));
        std::map<unsigned, std::vector<Count>> by_line;
        for (const Count& count : block.counts) by_line[count.line].push_back(count);
        for (const auto& [line, counts] : by_line) {
            const std::string place = line < kernel.lines.size()
                                          ? fmt::format("{}:{}", kernel.lines[line].file, kernel.lines[line].line)
                                          : "no line";
            fmt::print("    {:<60} {}\n", place, text_of(counts, true));
        }
    }
}

/// CUB's and Thrust's kernels: the CPU device has others in their place. (Where a function of the toolkit was compiled
/// into a kernel, the kernel's own line counts.)
bool is_of_toolkit(const KernelCode& kernel) {
    return std::any_of(kernel.lines.begin(), kernel.lines.end(),
                       [](const SourceLine& line) { return is_in_toolkit(line.file); });
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> files;
    std::string record;
    std::string root = ".";
    std::string compiler;
    bool lines = false;
    CLI::App app("What nvcc made of kernels.");
    app.add_option("cubins", files, "made by nvcc -cubin -lineinfo")->required();
    app.add_flag("--lines", lines, "each basic block and source line");
    app.add_option("--record", record, "write a file for machines without nvcc");
    app.add_option("--root", root, "folder that the recorded names of source files begin at");
    app.add_option("--compiler", compiler, "what made them, for the file");
    CLI11_PARSE(app, argc, argv);
    try {
        std::vector<KernelCode> kernels;
        for (const std::string& file : files) {
            for (const Kernel& kernel : read_cubin(std::filesystem::path(file))) {
                if (!kernel.is_entry) continue;
                KernelCode code = code_of(kernel);
                if (!record.empty() && is_of_toolkit(code)) continue;
                if (!record.empty() && !code.is_followed) {
                    fmt::print("not recorded: {} {}\n", code.name, why_not_followed);
                } else {
                    kernels.push_back(std::move(code));
                }
            }
        }
        if (record.empty()) {
            for (const KernelCode& kernel : kernels) print(kernel, lines);
            return 0;
        }
        std::ofstream stream(record);
        const auto json = record_of(std::move(kernels), std::filesystem::canonical(root), compiler);
        // A line for each kernel, so that changes of one can be seen.
        stream << "{\n \"compiler\": " << json.at("compiler").dump() << ",\n \"files\": " << json.at("files").dump()
               << ",\n \"kernels\": [";
        const char* between = "\n  ";
        for (const auto& kernel : json.at("kernels")) {
            stream << between << kernel.dump();
            between = ",\n  ";
        }
        stream << "\n ]\n}\n";
        stream.close();
        if (!stream) throw std::runtime_error("cannot write " + record);
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 2;
    }
}

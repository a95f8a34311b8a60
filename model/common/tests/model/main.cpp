// Runs the kernels that validate the time model.
//
//     model_kernels                       launches every case once and checks its output
//     model_kernels empty_1_block         one case; several names are possible
//     model_kernels --family transposes   the cases of one family
//     model_kernels --every 5             cases 0, 5, 10, and so on
//     model_kernels --list                names, families, and parts, separated by tabs, in the order of the launches
//     model_kernels --json FILE           GPU: measures the time of every case
//
// `--once` says explicitly what the program does anyway without `--json`: exactly one launch per case, in the order of
// `--list`, and no other kernel. Nsight Compute's figures are assigned to cases by this order.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/helpers/check.h"
#include "common/tests/model/cases.h"
#ifndef __CPU_DEVICE__
#include "common/tests/model/timing.h"
#endif

namespace {

using model_kernels::Case;
using model_kernels::Family;
using model_kernels::Part;
using model_kernels::Prepared;

struct Chosen {
    const Family* family;
    const Case* chosen;
};

struct Options {
    std::vector<std::string> names;
    std::vector<std::string> families;
    std::size_t every = 1;
    bool list = false;
    std::string json = {};
};

Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--list") {
            options.list = true;
        } else if (argument == "--once") {
            options.json.clear();
        } else if (argument == "--json" || argument == "--family" || argument == "--every") {
            if (i + 1 == argc) throw std::runtime_error(std::string(argument) + " needs a value");
            ++i;
            if (argument == "--json") options.json = argv[i];
            if (argument == "--family") options.families.emplace_back(argv[i]);
            if (argument == "--every") options.every = std::stoul(argv[i]);
        } else if (argument.starts_with("-")) {
            throw std::runtime_error("unknown option " + std::string(argument) +
                                     "; known are --list, --once, --every N, --family NAME, and --json FILE");
        } else {
            options.names.emplace_back(argument);
        }
    }
    if (options.every == 0) throw std::runtime_error("--every needs a positive number");
    return options;
}

std::vector<Chosen> all_cases(std::size_t every) {
    std::vector<Chosen> all;
    std::size_t number = 0;
    for (const Family& family : model_kernels::families()) {
        for (const Case& listed : family.cases) {
            if (number++ % every == 0) all.push_back({&family, &listed});
        }
    }
    return all;
}

std::vector<Chosen> choose(const Options& options) {
    const std::vector<Chosen> all = all_cases(options.every);
    if (options.names.empty() && options.families.empty()) return all;
    std::vector<Chosen> chosen;
    for (const std::string& name : options.families) {
        const std::size_t before = chosen.size();
        for (const Chosen& one : all) {
            if (one.family->name == name) chosen.push_back(one);
        }
        if (chosen.size() == before) throw std::runtime_error("no family has the name \"" + name + "\"");
    }
    for (const std::string& name : options.names) {
        const auto found =
            std::find_if(all.begin(), all.end(), [&](const Chosen& one) { return one.chosen->name == name; });
        if (found == all.end()) throw std::runtime_error("no case has the name \"" + name + "\"; --list shows all");
        chosen.push_back(*found);
    }
    return chosen;
}

const char* name_of(Part part) { return part == Part::train ? "train" : "test"; }

void list(const std::vector<Chosen>& cases) {
    for (const Chosen& one : cases) {
        std::printf("%s\t%s\t%s\n", one.chosen->name.c_str(), one.family->name.c_str(), name_of(one.chosen->part));
    }
}

/// Launches the case once and checks its output.
void run_once(const Case& running) {
    const Prepared kernel = running.prepare();
    kernel.launch();
    warpwise::check_finished();
    kernel.check();
}

int run(const std::vector<Chosen>& cases) {
    int failures = 0;
    for (const Chosen& one : cases) {
        const auto start = std::chrono::steady_clock::now();
        try {
            run_once(*one.chosen);
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
            std::printf("%s: right (%.2f s with preparation and check)\n", one.chosen->name.c_str(), took.count());
        } catch (const warpwise::CudaError& error) {
            // After an error inside of a kernel, no later launch of this process can succeed.
            std::printf("%s: WRONG: %s\n", one.chosen->name.c_str(), error.what());
            std::printf("stopped after this error of the device\n");
            return 1;
        } catch (const std::exception& error) {
            std::printf("%s: WRONG: %s\n", one.chosen->name.c_str(), error.what());
            ++failures;
        }
        std::fflush(stdout);
    }
    std::printf("%zu cases, %d wrong\n", cases.size(), failures);
    return failures == 0 ? 0 : 1;
}

#ifndef __CPU_DEVICE__
std::string today() {
    const std::time_t now = std::time(nullptr);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
    return text;
}

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

void print_times(std::FILE* file, const char* key, const model_kernels::Times& times) {
    std::fprintf(file, ", \"%s\": %.4g, \"%s_p10\": %.4g, \"%s_p90\": %.4g", key, times.median, key, times.p10, key,
                 times.p90);
}

/// Measures all cases and writes the JSON file. One case per line.
int measure(const std::vector<Chosen>& cases, const std::string& path) {
    cudaDeviceProp properties{};
    int runtime = 0;
    int driver = 0;
    warpwise::check(cudaGetDeviceProperties(&properties, 0));
    warpwise::check(cudaRuntimeGetVersion(&runtime));
    warpwise::check(cudaDriverGetVersion(&driver));
    model_kernels::Stopwatch stopwatch;

    std::FILE* const file = std::fopen(path.c_str(), "w");
    if (file == nullptr) throw std::runtime_error("cannot write " + path);
    std::fprintf(file,
                 "{\n \"gpu\": \"%s\",\n \"sms\": %d,\n \"l2_bytes\": %d,\n \"cuda_runtime\": \"%s\",\n"
                 " \"cuda_driver\": \"%s\",\n \"date\": \"%s\",\n \"samples\": %d,\n"
                 " \"event_pair\": %.4g,\n \"kernels\": [\n",
                 properties.name, properties.multiProcessorCount, properties.l2CacheSize, version_text(runtime).c_str(),
                 version_text(driver).c_str(), today().c_str(), model_kernels::kSamples, stopwatch.of_nothing().median);
    int failures = 0;
    bool first = true;
    for (const Chosen& one : cases) {
        const Case& measured = *one.chosen;
        try {
            const Prepared kernel = measured.prepare();
            kernel.launch();
            warpwise::check_finished();
            kernel.check();
            const model_kernels::Timing timing = stopwatch.of(kernel);
            const model_kernels::Shape& shape = kernel.shape;
            std::fprintf(file,
                         "%s  {\"name\": \"%s\", \"family\": \"%s\", \"part\": \"%s\", \"grid\": [%u, %u, %u], "
                         "\"block\": [%u, %u, %u], \"shared_bytes\": %u",
                         first ? "" : ",\n", measured.name.c_str(), one.family->name.c_str(), name_of(measured.part),
                         shape.grid.x, shape.grid.y, shape.grid.z, shape.block.x, shape.block.y, shape.block.z,
                         shape.shared_bytes);
            print_times(file, "seconds", timing.cold);
            print_times(file, "after_writes", timing.after_writes);
            print_times(file, "hot", timing.hot);
            std::fprintf(file, "}");
            first = false;
            std::printf("%-40s %9.2f us cold, %9.2f us after writes, %9.2f us hot\n", measured.name.c_str(),
                        1e6 * timing.cold.median, 1e6 * timing.after_writes.median, 1e6 * timing.hot.median);
        } catch (const warpwise::CudaError& error) {
            std::printf("%s: WRONG: %s\nstopped after this error of the device\n", measured.name.c_str(), error.what());
            ++failures;
            break;
        } catch (const std::exception& error) {
            std::printf("%s: WRONG: %s\n", measured.name.c_str(), error.what());
            ++failures;
        }
        std::fflush(stdout);
    }
    std::fprintf(file, "\n ]\n}\n");
    if (std::fclose(file) != 0) throw std::runtime_error("cannot write " + path);
    std::printf("%zu cases, %d wrong\n", cases.size(), failures);
    return failures == 0 ? 0 : 1;
}
#endif

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::vector<std::string> errors = model_kernels::registry_errors();
        for (const std::string& error : errors) std::fprintf(stderr, "%s\n", error.c_str());
        if (!errors.empty()) return 1;
        const Options options = parse(argc, argv);
        const std::vector<Chosen> cases = choose(options);
        if (options.list) {
            list(cases);
            return 0;
        }
        if (options.json.empty()) return run(cases);
#ifdef __CPU_DEVICE__
        throw std::runtime_error("the CPU device has no times to measure");
#else
        return measure(cases, options.json);
#endif
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}

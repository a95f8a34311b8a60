// Runs the kernels of the ground truth, on a GPU under Nsight Compute (measure.sh) or on the CPU device.
//
//     ground_truth                                every case, each checked
//     ground_truth load_stride_2                  one case
//     ground_truth --list                         their names, with remarks
//     ground_truth --counters [h200.json]         CPU device: what it counts, beside what was measured, as a Markdown
//     table
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "common/tests/ground_truth/cases.h"
#ifdef __CPU_DEVICE__
#include "common/tests/ground_truth/comparison.h"
#endif

namespace {

using ground_truth::Case;

std::vector<Case> chosen_cases(const std::vector<std::string>& names) {
    std::vector<Case> cases;
    for (const std::string& name : names) cases.push_back(ground_truth::find_case(name));
    if (!names.empty()) return cases;
    for (const ground_truth::Group& group : ground_truth::groups()) {
        cases.insert(cases.end(), group.cases().begin(), group.cases().end());
    }
    return cases;
}

void list(const std::vector<Case>& cases) {
    for (const Case& listed : cases) {
        fmt::print("{}{}{}\n", listed.name, *listed.remark == '\0' ? "" : "  # ", listed.remark);
    }
}

int run(const std::vector<Case>& cases) {
    int failures = 0;
    for (const Case& running : cases) {
        try {
            running.run();
            fmt::print("{}: right\n", running.name);
        } catch (const std::exception& error) {
            fmt::print("{}: WRONG: {}\n", running.name, error.what());
            ++failures;
        }
    }
    fmt::print("{} cases, {} wrong\n", cases.size(), failures);
    return failures == 0 ? 0 : 1;
}

#ifdef __CPU_DEVICE__
/// "+1.50 %", "same".
std::string difference(const ground_truth::Figure& figure) {
    if (figure.cpu_device == figure.gpu) return "same";
    if (figure.gpu == 0) return fmt::format("{:+}", figure.cpu_device);
    return fmt::format("{:+.2f} %", 100 * (figure.cpu_device / figure.gpu - 1));
}

void print_counted(const std::vector<Case>& cases) {
    fmt::print("| case | figure | CPU device |\n|---|---|---:|\n");
    for (const Case& counted : cases) {
        for (const auto& figure : ground_truth::figures_of(ground_truth::count(counted))) {
            if (figure.cpu_device != 0) {
                fmt::print("| {} | {} | {:.10g} |\n", counted.name, figure.name, figure.cpu_device);
            }
        }
    }
}

void print_compared(const std::vector<Case>& cases, const ground_truth::Measurement& measurement) {
    fmt::print("GPU: {}\n\n", measurement.provenance());
    fmt::print("| case | figure | CPU device | GPU | difference | remark |\n|---|---|---:|---:|---:|---|\n");
    for (const Case& counted : cases) {
        for (const auto& figure : ground_truth::compare(counted, measurement)) {
            if (figure.both_zero()) continue;
            const std::string remark = figure.exception.empty() ? counted.remark : figure.exception;
            fmt::print("| {} | {} | {:.10g} | {:.10g} | {} | {} |\n", counted.name, figure.name, figure.cpu_device,
                       figure.gpu, difference(figure), figure.agree() ? "" : remark);
        }
    }
}
#endif

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Kernels whose counters are known");
    std::vector<std::string> names;
    bool only_list = false;
    app.add_option("cases", names, "names of cases; all when none is given");
    app.add_flag("--list", only_list, "list them instead of running them");
#ifdef __CPU_DEVICE__
    std::string measurement;
    CLI::Option* counters = app.add_option("--counters", measurement,
                                           "print what the CPU device counts, beside what this file says of a GPU");
    counters->expected(0, 1);
#endif
    CLI11_PARSE(app, argc, argv);
    try {
        const std::vector<Case> cases = chosen_cases(names);
        if (only_list) {
            list(cases);
            return 0;
        }
#ifdef __CPU_DEVICE__
        if (counters->count() != 0) {
            if (measurement.empty()) {
                print_counted(cases);
            } else {
                print_compared(cases, ground_truth::Measurement(measurement));
            }
            return 0;
        }
#endif
        return run(cases);
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}

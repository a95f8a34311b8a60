// Runs the kernels of the ground truth, on a GPU under Nsight Compute (measure.sh) or on the CPU device.
//
//     ground_truth                                every case, each checked
//     ground_truth load_stride_2                  one case
//     ground_truth --list                         their names, with remarks
//     ground_truth --counters [h200.json]         CPU device: what it counts, beside what was measured, as a Markdown
//     table
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <map>
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

/// How well one figure agrees over all kernels in which it is not zero.
struct Agreement {
    int kernels = 0;
    int same = 0;
    int near = 0;        ///< within 2 %
    int exceptions = 0;  ///< known to differ, for a reason
    double largest = 0;  ///< difference of the others, relative
};

/// A summary by figure, and every row that is not the same on both sides.
void print_compared(const std::vector<Case>& cases, const ground_truth::Measurement& measurement) {
    std::vector<std::string> order;
    std::map<std::string, Agreement> by_figure;
    std::string rows;
    for (const Case& counted : cases) {
        for (const auto& figure : ground_truth::compare(counted, measurement)) {
            Agreement& agreement = by_figure[figure.name];
            if (agreement.kernels == 0 && std::find(order.begin(), order.end(), figure.name) == order.end()) {
                order.push_back(figure.name);
            }
            if (figure.both_zero()) continue;
            ++agreement.kernels;
            if (figure.cpu_device == figure.gpu) {
                ++agreement.same;
                continue;
            }
            const double relative = figure.gpu == 0 ? 1 : std::fabs(figure.cpu_device / figure.gpu - 1);
            if (!figure.exception.empty() && !figure.agree()) {
                ++agreement.exceptions;
            } else {
                agreement.near += relative <= 0.02;
                agreement.largest = std::max(agreement.largest, relative);
            }
            const std::string remark = figure.exception.empty() ? counted.remark : figure.exception;
            rows += fmt::format("| {} | {} | {:.10g} | {:.10g} | {} | {} |\n", counted.name, figure.name,
                                figure.cpu_device, figure.gpu, difference(figure), figure.agree() ? "" : remark);
        }
    }
    fmt::print("GPU: {}. {} kernels.\n\n", measurement.provenance(), cases.size());
    fmt::print(
        "| figure | kernels that have it | the same | within 2 % | known to differ | largest other difference |\n");
    fmt::print("|---|---:|---:|---:|---:|---:|\n");
    for (const std::string& name : order) {
        const Agreement& all = by_figure[name];
        fmt::print("| {} | {} | {} | {} | {} | {:.1f} % |\n", name, all.kernels, all.same, all.near, all.exceptions,
                   100 * all.largest);
    }
    fmt::print("\nEvery figure that is not the same:\n\n");
    fmt::print("| kernel | figure | CPU device | GPU | difference | why |\n|---|---|---:|---:|---:|---|\n{}", rows);
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

#include "common/grading/schedules.h"

#include <cstdlib>
#include <memory>
#include <random>

#include "common/grading/facts.h"
#include "common/grading/inputs.h"
#include "common/grading/supervisor.h"
#include "common/helpers/child_process.h"

namespace grading {
namespace {

constexpr const char* order_variable = "CPU_DEVICE_SEED";

struct Run {
    Run(const std::vector<std::string>& arguments, const Variables& variables_)
        : variables(variables_), process(arguments, with_mark(variables_, facts.path()), output.path()) {}

    static Variables with_mark(Variables variables, const std::string& facts) {
        variables.emplace_back(further_run_variable, "1");
        variables.emplace_back(facts_variable, facts);
        return variables;
    }

    Variables variables;
    warpwise::TemporaryFile output;
    warpwise::TemporaryFile facts;
    warpwise::ChildProcess process;
};

}  // namespace

bool can_try_other_orders() {
#ifdef __CPU_DEVICE__
    return std::getenv(order_variable) == nullptr;
#else
    return false;
#endif
}

std::vector<Variables> further_runs() {
    // Five digits are enough, and can be typed.
    std::random_device random;
    const auto drawn = [&] { return std::to_string(std::uniform_int_distribution<int>(2, 99999)(random)); };
    std::vector<Variables> runs;
    if (can_try_other_orders()) {
        for (const char* order : {"1", "2"}) runs.push_back({{order_variable, order}});
    } else if (!seed_is_given()) {
        runs.emplace_back();
    }
    if (seed_is_given()) return runs;
    for (Variables& variables : runs) variables.insert(variables.begin(), {grading_seed_variable, drawn()});
    return runs;
}

std::optional<FailingRun> first_failing_run(const std::vector<std::string>& arguments,
                                            const std::vector<Variables>& runs) {
    std::vector<std::unique_ptr<Run>> all;
    for (const Variables& variables : runs) all.push_back(std::make_unique<Run>(arguments, variables));
    std::optional<FailingRun> failing;
    for (const std::unique_ptr<Run>& run : all) {
        const int status = run->process.wait();
        if (status != 0 && !failing) failing = {run->variables, run->output.read(), run->facts.read()};
    }
    return failing;
}

}  // namespace grading

// The template Lesson::steps: hides the lesson's problem type from the lesson runner. Included by lesson.h.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/lesson/lesson.h"

namespace warpwise {

/// A problem as the lesson runner sees it; see Step for what the functions do.
struct Lesson::ErasedProblem {
    virtual ~ErasedProblem() = default;
    virtual void poison() = 0;
    virtual Comparison compare() = 0;
    virtual Work work() const = 0;
    virtual std::vector<Figure> figures() = 0;
};

struct Lesson::ErasedStep {
    std::string name;
    std::string change;
    std::function<void(ErasedProblem&)> run;
    StepKind kind;
};

template <class Problem>
void Lesson::steps(const Sizes& sizes, const std::vector<Step<Problem>>& steps) {
    struct Holder final : ErasedProblem {
        explicit Holder(const Size& size) : problem(size) {}
        void poison() override { problem.poison(); }
        Comparison compare() override { return problem.compare(); }
        Work work() const override { return problem.work(); }
        std::vector<Figure> figures() override {
            if constexpr (requires { problem.figures(); }) {
                return problem.figures();
            } else {
                return {};
            }
        }
        Problem problem;
    };
    static_assert(!std::is_abstract_v<Holder> && std::is_constructible_v<Problem, const Size&>);

    std::vector<ErasedStep> erased;
    for (const Step<Problem>& step : steps) {
        erased.push_back({step.name, step.change,
                          [run = step.run](ErasedProblem& holder) { run(static_cast<Holder&>(holder).problem); },
                          step.kind});
    }
    run_steps(
        sizes, [](const Size& size) { return std::size_t{Problem::device_bytes(size)}; },
        [](const Size& size) -> std::unique_ptr<ErasedProblem> { return std::make_unique<Holder>(size); }, erased);
}

}  // namespace warpwise

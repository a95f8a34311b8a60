#include "common/lesson/lesson.h"

#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <fmt/format.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <new>
#include <optional>
#include <stdexcept>

#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/instrument.h"
#include "common/helpers/timer.h"
#include "common/lesson/counter_columns.h"
#include "common/lesson/memory.h"
#include "common/lesson/options.h"
#include "common/lesson/output.h"
#include "common/lesson/plain_program.h"
#include "common/lesson/recorded_columns.h"
#include "common/lesson/results.h"
#include "common/lesson/source_listing.h"
#include "common/lesson/step_table.h"

namespace warpwise {
namespace {

/// False once a kernel has died: then every call fails. Forgets an error that is not of that kind.
bool device_is_usable() {
    (void)cudaGetLastError();
    return cudaDeviceSynchronize() == cudaSuccess;
}

/// Throws when a step left an error behind that it did not look at itself.
void require_success(cudaError_t status, std::string_view what) {
    if (status == cudaErrorMemoryAllocation) check(status);
    if (status == cudaSuccess) return;
    throw std::runtime_error(fmt::format("{}: {}: {}", what, cudaGetErrorName(status), cudaGetErrorString(status)));
}

/// What was found when a step was run once and compared.
struct Compared {
    Comparison comparison;
    std::string failure;  ///< message of what the step threw
    bool passed() const { return failure.empty() && comparison.passed; }
};

/// Runs `body`, which returns a comparison, and turns what it throws into a failure. No memory is not the step's
/// fault: that goes on to the caller.
template <class Body>
Compared guarded(const Body& body) {
    try {
        return {body(), {}};
    } catch (const CudaError& error) {
        if (error.code() == cudaErrorMemoryAllocation) throw;
        return {{}, error.what()};
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const Refusal&) {
        throw;
    } catch (const std::exception& error) {
        return {{}, error.what()};
    }
}

void record(StepResult& step, const Size& size, const Compared& compared) {
    ++step.sizes_compared;
    if (!compared.passed()) step.wrong.push_back({size, compared.comparison, compared.failure});
}

/// A step that threw is not run again.
bool has_thrown(const StepResult& step) {
    return std::any_of(step.wrong.begin(), step.wrong.end(), [](const WrongAtSize& w) { return !w.failure.empty(); });
}

/// The copy that the steps are compared with: half of the bytes are read, half are written.
class RoofCopy {
public:
    /// As large as the lesson's own work, or as free memory allows.
    explicit RoofCopy(double bytes)
        : half_(static_cast<std::size_t>(std::min(bytes / 2, 0.4 * static_cast<double>(free_device_bytes())))),
          from_(half_),
          to_(half_) {
        from_.fill_bytes(1);
    }

    void run() { check(cudaMemcpyAsync(to_.data(), from_.data(), half_, cudaMemcpyDeviceToDevice, nullptr)); }

    double bytes() const { return 2.0 * static_cast<double>(half_); }

private:
    std::size_t half_;
    DeviceBuffer<unsigned char> from_;
    DeviceBuffer<unsigned char> to_;
};

/// While it lives, `ncu --profile-from-start off` and `nsys --capture-range=cudaProfilerApi` look at what runs, and
/// find it in an NVTX range of this name.
class ForProfilers {
public:
    ForProfilers(bool wanted, const std::string& name) : wanted_(wanted && Lesson::on_gpu()) {
        if (!wanted_) return;
        check(cudaProfilerStart());
        nvtxRangePushA(name.c_str());
    }
    ~ForProfilers() {
        if (!wanted_) return;
        (void)cudaDeviceSynchronize();
        nvtxRangePop();
        (void)cudaProfilerStop();
    }
    ForProfilers(const ForProfilers&) = delete;
    ForProfilers& operator=(const ForProfilers&) = delete;

private:
    bool wanted_;
};

/// Adds those that are not among them yet: a step has the same errors at every size.
void add_diagnostics(std::vector<Diagnostic>& diagnostics, const std::vector<Diagnostic>& more) {
    for (const Diagnostic& diagnostic : more) {
        const auto same = [&](const Diagnostic& known) {
            return known.kind == diagnostic.kind && known.site == diagnostic.site;
        };
        if (std::none_of(diagnostics.begin(), diagnostics.end(), same)) diagnostics.push_back(diagnostic);
    }
}

/// Columns beside the table, or tables below it where the terminal is too narrow. What only was recorded has its rows
/// where the recorded columns are.
void print_steps(const StepTable& steps, const RecordedColumns& recorded, const std::vector<CounterColumn>& counters,
                 Lesson::Output& output) {
    std::vector<CounterColumn> columns = recorded.columns;
    columns.insert(columns.end(), counters.begin(), counters.end());
    StepTable table = steps;
    add_rows(table, recorded);
    const bool beside = fits(table, columns, output.terminal());
    if (beside) append(table, columns);
    const StepTable& first = beside ? table : steps;
    output.print(format_table(first.header, first.rows, output.terminal()) + "\n");
    if (beside) return;
    for (const StepTable& below : counter_tables(table, columns, output.terminal())) {
        output.print(format_table(below.header, below.rows, output.terminal()) + "\n");
    }
}

/// What the columns mean, each the first time that it is shown.
void print_legends(const std::vector<CounterColumn>& columns, Lesson::Output& output) {
    std::string legends;
    for (const CounterColumn& column : columns) {
        if (output.explain_column(column.header)) legends += wrap(column.legend(), output.terminal().width);
    }
    if (!legends.empty()) output.print(output.terminal().paint(Style::faint, legends) + "\n");
}

std::string text_of(StepKind kind) { return kind == StepKind::vendor ? "vendor routine" : "step"; }

}  // namespace

/// Checks, counts and times the steps of one list, and prints the table.
class Lesson::StepRunner {
public:
    using DeviceBytes = std::size_t (*)(const Size&);
    using MakeProblem = std::function<std::unique_ptr<ErasedProblem>(const Size&)>;

    StepRunner(Lesson& lesson, const Sizes& sizes, DeviceBytes device_bytes, const MakeProblem& make)
        : lesson_(lesson),
          options_(lesson.options_),
          output_(lesson.output_),
          sizes_(sizes),
          device_bytes_(device_bytes),
          make_(make) {}

    void run(const std::vector<ErasedStep>& steps) {
        if (!choose_steps(steps)) return;
        choose_size();
        make_results();
        // Small sizes come first, then the main one. The vendor's routine meets the main size first, as in a user's
        // program: cub::DeviceTransform fits itself to the first call, and after a tiny one stayed at two thirds of its
        // speed (H200, CUDA 13.0).
        compare_awkward_sizes(Which::own);
        run_main_size();
        compare_awkward_sizes(Which::vendor);
        time_host_code_in_plain_program();
        print_results();
        keep_results();
    }

private:
    /// Which of the chosen steps are meant: the lesson's own, the vendor's routines, or all of them.
    enum class Which { own, vendor, all };

    bool is_meant(std::size_t i, Which which) const {
        const bool is_vendor = chosen_[i]->kind == StepKind::vendor;
        return which == Which::all || is_vendor == (which == Which::vendor);
    }

    // ---- which steps, and at which size

    /// False where none of the steps is asked for.
    bool choose_steps(const std::vector<ErasedStep>& steps) {
        std::vector<std::string> names;
        for (const ErasedStep& step : steps) names.push_back(step.name);
        output_.offer_steps(names);
        const auto is_asked_for = [&](const ErasedStep& step) {
            return options_.steps.empty() ||
                   std::any_of(options_.steps.begin(), options_.steps.end(),
                               [&](const std::string& pattern) { return chooses_step(pattern, step.name, names); });
        };
        if (std::none_of(steps.begin(), steps.end(), is_asked_for)) return false;
        int number = 0;
        for (const ErasedStep& step : steps) {
            const bool vendor = step.kind == StepKind::vendor;
            if (!vendor) ++number;
            // The vendor's routine is what the others are measured against: it stays.
            if (!is_asked_for(step) && !(on_gpu() && vendor)) continue;
            chosen_.push_back(&step);
            numbers_.push_back(vendor ? std::nullopt : std::optional(number));
        }
        return true;
    }

    /// Halves the usual size until it fits. Throws Refusal where that or the size that was asked for does not.
    void choose_size() {
        wanted_size_ = lesson_.size(sizes_.gpu, sizes_.cpu);
        const std::size_t free_device = free_device_bytes();
        const std::size_t free_host = free_host_bytes();
        const auto why_not = [&](const Size& candidate) {
            return why_it_does_not_fit(device_bytes_(candidate), free_device, free_host, !on_gpu());
        };
        why_not_wanted_size_ = why_not(wanted_size_);
        if (options_.size && !why_not_wanted_size_.empty()) {
            throw Refusal(fmt::format("{}: size {} {}", lesson_.name_, wanted_size_.text(), why_not_wanted_size_));
        }
        main_size_ = halve_until(wanted_size_, [&](const Size& candidate) { return why_not(candidate).empty(); });
        if (!why_not(main_size_).empty()) {
            throw Refusal(fmt::format("{}: even size {} {}", lesson_.name_, main_size_.text(), why_not(main_size_)));
        }
    }

    void make_results() {
        for (std::size_t i = 0; i < chosen_.size(); ++i) {
            StepResult& result = results_.emplace_back();
            result.number = numbers_[i];
            result.name = chosen_[i]->name;
            result.change = chosen_[i]->change;
            result.kind = chosen_[i]->kind;
            result.size = main_size_;
        }
    }

    // ---- compare

    void compare_awkward_sizes(Which which) {
        bool any = false;
        for (std::size_t i = 0; i < chosen_.size(); ++i) any = any || is_meant(i, which);
        if (!any) return;  // no problem to prepare
        for (const Size& size : sizes_.awkward) {
            if (device_lost_ || options_.once) break;
            const std::unique_ptr<ErasedProblem> problem = make_(size);
            compare_all(size, *problem, which, false);
        }
    }

    void run_main_size() {
        if (device_lost_) return;
        const std::unique_ptr<ErasedProblem> problem = make_(main_size_);
        for (StepResult& result : results_) result.work = problem->work();
        compare_all(main_size_, *problem, Which::all, true);
        count_right_steps(*problem);
        time_passed_steps(*problem);
    }

    /// Runs and compares each of `which` steps that has not failed yet once at the size of `problem`.
    void compare_all(const Size& size, ErasedProblem& problem, Which which, bool is_main) {
        for (std::size_t i = 0; i < chosen_.size() && !device_lost_; ++i) {
            StepResult& result = results_[i];
            if (has_thrown(result) || !is_meant(i, which)) continue;
            if (!is_main && !result.diagnostics.empty()) continue;  // one size is enough to show them
            show_progress(fmt::format("comparing {} {} of {} at size {} ...", text_of(result.kind), i + 1,
                                      chosen_.size(), size.text()));
            const Compared compared = run_and_compare(i, problem);
            record(result, size, compared);
            if (!compared.failure.empty()) device_lost_ = !device_is_usable();
            if (is_main && compared.failure.empty()) {
                result.comparison = compared.comparison;
                result.figures = problem.figures();
            }
        }
    }

    Compared run_and_compare(std::size_t i, ErasedProblem& problem) {
        return attempt(i, problem, [&] {
            run_step(*chosen_[i], problem);
            return problem.compare();
        });
    }

    /// Poisons the output, does `body` for step `i`, and keeps the diagnostics of it.
    Compared attempt(std::size_t i, ErasedProblem& problem, const std::function<Comparison()>& body) {
        Compared compared = guarded([&] {
            problem.poison();
            check_finished();
            add_diagnostics(output_.lesson().diagnostics, take_diagnostics());  // of what came before
            return body();
        });
        add_diagnostics(results_[i].diagnostics, take_diagnostics());
        return compared;
    }

    void run_step(const ErasedStep& step, ErasedProblem& problem) const {
        const ForProfilers range(options_.once && step.kind != StepKind::vendor, step.name);
        step.run(problem);
        require_success(cudaGetLastError(), "a call or launch of this step failed");
        require_success(cudaDeviceSynchronize(), "a kernel of this step failed");
    }

    // ---- count

    void count_right_steps(ErasedProblem& problem) {
        for (std::size_t i = 0; i < chosen_.size() && lesson_.counts_kernels() && !device_lost_; ++i) {
            if (chosen_[i]->kind != StepKind::device || !results_[i].right()) continue;
            show_progress(fmt::format("counting {} ...", results_[i].name));
            const Instrumentation not_for_mistakes({});  // once was enough
            const Compared counted = attempt(i, problem, [&] {
                const CountOptions options = options_.count_options();
                results_[i].launches = count_launches([&] { run_step(*chosen_[i], problem); }, options);
                return Comparison{};
            });
            if (counted.failure.empty()) continue;
            record(results_[i], main_size_, counted);
            device_lost_ = !device_is_usable();
        }
    }

    // ---- time

    /// Times all of the steps on a GPU, host code only on the CPU device. A program whose kernels can be instrumented
    /// leaves that to the plain one.
    void time_passed_steps(ErasedProblem& problem) {
        const std::vector<std::size_t> timed = steps_to_time();
        if (timed.empty() || device_lost_) return;
        std::vector<Candidate> candidates;
        for (const std::size_t i : timed) {
            const ErasedStep& step = *chosen_[i];
            candidates.push_back({[&] { step.run(problem); }, step.kind == StepKind::host});
        }
        std::optional<RoofCopy> copy;
        const double bytes = problem.work().bytes;
        if (on_gpu() && bytes >= 2) {
            copy.emplace(bytes);
            candidates.push_back({[&] { copy->run(); }, false});
        }
        std::vector<Timing> timings;
        const Compared measured = guarded([&] {
            timings = measure(candidates);
            return Comparison{};
        });
        if (measured.failure.empty()) {
            for (std::size_t k = 0; k < timed.size(); ++k) results_[timed[k]].timing = timings[k];
            if (copy) {
                const double rate = copy->bytes() / timings.back().median * 1e-9;
                roof_ = Roof{"copy", copy->bytes(), timings.back(), rate};
            }
        } else {
            // Every candidate was right before, and one has failed now. The comparison below tells which one, if it
            // can.
            device_lost_ = !device_is_usable();
            output_.lesson().failure = "while measuring: " + measured.failure;
        }
        compare_again(timed, problem);
    }

    std::vector<std::size_t> steps_to_time() const {
        std::vector<std::size_t> timed;
        for (std::size_t i = 0; i < chosen_.size(); ++i) {
            const bool can_be_timed = on_gpu() || chosen_[i]->kind == StepKind::host;
            if (results_[i].passed() && times_here_ && !options_.once && can_be_timed) timed.push_back(i);
        }
        return timed;
    }

    std::vector<Timing> measure(const std::vector<Candidate>& candidates) const {
        BenchmarkOptions options;
        if (!on_gpu()) options.seconds = 0.2;
        if (options_.repeat) options.samples = options.samples_when_slow = *options_.repeat;
        constexpr double cold_anyway = 4;  // data so many times larger than the cache leaves nothing useful in it
        options.flush_l2 = static_cast<double>(device_bytes_(main_size_)) <=
                           cold_anyway * static_cast<double>(output_.device().l2_bytes);
        HostTimer since_progress;
        options.progress = [&](int round) {
            constexpr double interval = 0.1;
            if (round != 0 && since_progress.seconds() < interval) return;
            show_progress(fmt::format("measuring {} candidates in turn, round {} ...", candidates.size(), round + 1));
            since_progress.start();
        };
        return measure_in_turn(candidates, options);
    }

    /// A step that leaves something behind may be wrong by now. Host code is not asked again: it may be slow.
    void compare_again(const std::vector<std::size_t>& timed, ErasedProblem& problem) {
        for (const std::size_t i : timed) {
            if (device_lost_ || chosen_[i]->kind == StepKind::host) continue;
            show_progress(fmt::format("comparing {} again ...", results_[i].name));
            const Compared compared = run_and_compare(i, problem);
            if (compared.passed()) continue;
            record(results_[i], main_size_, compared);
            results_[i].timing.reset();
            if (!compared.failure.empty()) device_lost_ = !device_is_usable();
        }
    }

    void time_host_code_in_plain_program() {
        if (times_here_ || options_.once) return;
        HostSteps host{options_.plain_program, lesson_.name_, main_size_, {}, options_.repeat};
        for (const StepResult& result : results_) {
            if (result.kind == StepKind::host && result.passed()) host.steps.push_back(result.name);
        }
        if (host.steps.empty()) return;
        if (host.program.empty()) return;
        show_progress("timing host code ...");
        const HostTimes times = time_in_plain_program(host);
        for (StepResult& result : results_) {
            const auto time = times.by_step.find(result.name);
            if (time != times.by_step.end()) result.timing = time->second;
        }
        if (!times.failure.empty()) why_no_host_times_ = "Host code is not timed: " + times.failure;
    }

    // ---- say and keep what was found

    void show_progress(const std::string& text) const {
        if (!options_.diagnose) output_.progress(text);  // the CPU device prints what it finds in between
    }

    void print_results() {
        derive_rates(results_, roof_);
        add_recorded();
        print_table();
        for (const StepResult& result : results_) print_mismatches(result);
        for (const StepResult& result : results_) print_lines(result);
    }

    /// What a GPU took for these steps, where this device has no times.
    void add_recorded() {
        const Record& record = lesson_.recorded();
        std::vector<std::string> names;
        for (const StepResult& result : results_) names.push_back(result.name);
        const std::vector<RecordedStep> list = record.list_with(names);
        if (on_gpu() || list.empty()) return;
        for (StepResult& result : results_) {
            const auto same = [&](const RecordedStep& step) { return !step.is_vendor && step.name == result.name; };
            const auto step = std::find_if(list.begin(), list.end(), same);
            if (step != list.end()) result.recorded = *step;
        }
        Recording& recording = recording_.emplace();
        recording.label = record.label();
        recording.device = record.device();
        recording.cuda = record.cuda();
        recording.date = record.date();
        recording.file = record.file();
        recording.size = Size(record.size());
        if (list.front().name == record.steps().front().name) recording.copy = record.copy();
        std::copy_if(list.begin(), list.end(), std::back_inserter(recording.vendors),
                     [](const RecordedStep& step) { return step.is_vendor; });
    }

    void print_table() {
        const StepTable table = make_step_table(results_, roof_, on_gpu());
        const RecordedColumns recorded = recorded_columns(results_, recording_, main_size_);
        const std::vector<CounterColumn> counters = counter_columns(results_);
        std::string title = fmt::format("Size {}", main_size_.text());
        if (!(main_size_ == wanted_size_)) {
            title += fmt::format(" (not {}: it {})", wanted_size_.text(), why_not_wanted_size_);
        }
        output_.print_heading(title);
        print_steps(table, recorded, counters, output_);
        if (!recorded.note.empty()) {
            output_.print_paragraphs(recorded.note, Style::faint);
            if (!lesson_.note_on_edits().empty()) output_.print_paragraphs(lesson_.note_on_edits());
        }
        for (const std::string& footnote : table.footnotes) output_.print_paragraphs(footnote, Style::faint);
        if (!why_no_host_times_.empty()) output_.print_paragraphs(why_no_host_times_, Style::faint);
        print_legends(counters, output_);
        const std::string sample = sample_note(results_);
        if (!sample.empty()) output_.print_paragraphs(sample, Style::faint);
    }

    void print_mismatches(const StepResult& result) {
        const std::vector<std::string> lines = describe_mismatches(result);
        if (lines.empty()) return;
        output_.print(output_.terminal().paint(Style::bad, result.name) + "\n");
        for (const std::string& line : lines) output_.print("    " + line + "\n");
        output_.print("\n");
    }

    void print_lines(const StepResult& result) {
        if (!options_.list_lines || !result.launches || result.launches->empty()) return;
        output_.print(output_.terminal().paint(Style::title, "Lines of step " + result.name) + "\n\n");
        output_.print(list_source(*result.launches, output_.terminal()));
        if (output_.explain_column("--lines")) {
            const std::string legend =
                "Beside a line, `requests` are those to global, shared, and constant memory, and `lanes` is the "
                "average over all that the line does: the condition of an if counts for each warp that evaluates it.";
            output_.print(output_.terminal().paint(Style::faint, wrap(legend, output_.terminal().width)) + "\n");
        }
    }

    /// Throws where nothing more can run.
    void keep_results() {
        LessonResult& lesson = output_.lesson();
        if (roof_ && !lesson.roof) lesson.roof = roof_;
        if (recording_ && !lesson.recording) lesson.recording = recording_;
        lesson.steps.insert(lesson.steps.end(), results_.begin(), results_.end());
        if (device_lost_) throw DeviceLost("a kernel died and took the device with it; nothing more can run");
        if (!lesson.failure.empty()) throw std::runtime_error(lesson.failure);
    }

    Lesson& lesson_;
    const Options& options_;
    Output& output_;
    const Sizes& sizes_;
    const DeviceBytes device_bytes_;
    const MakeProblem& make_;
    const bool times_here_ = on_gpu() || !can_instrument();

    std::vector<const ErasedStep*> chosen_;
    std::vector<std::optional<int>> numbers_;  ///< of each of them, as in the table
    std::vector<StepResult> results_;          ///< of each of them
    Size wanted_size_;
    std::string why_not_wanted_size_;  ///< why it does not fit; empty when it does
    Size main_size_;
    std::optional<Roof> roof_;
    std::optional<Recording> recording_;
    std::string why_no_host_times_;
    bool device_lost_ = false;  ///< nothing more can run
};

void Lesson::run_steps(const Sizes& sizes, std::size_t (*device_bytes)(const Size&),
                       const std::function<std::unique_ptr<ErasedProblem>(const Size&)>& make,
                       const std::vector<ErasedStep>& steps) {
    shown_since_ = true;
    StepRunner(*this, sizes, device_bytes, make).run(steps);
}

}  // namespace warpwise

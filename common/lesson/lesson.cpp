#include "common/lesson/lesson.h"

#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>

#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/timer.h"
#include "common/helpers/watch.h"
#include "common/lesson/counter_columns.h"
#include "common/lesson/memory.h"
#include "common/lesson/options.h"
#include "common/lesson/output.h"
#include "common/lesson/plain_program.h"
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
struct Checked {
    Comparison comparison;
    std::string failure;  ///< message of what the step threw
    bool passed() const { return failure.empty() && comparison.passed; }
};

/// Runs `body`, which returns a comparison, and turns what it throws into a failure. No memory is not the step's
/// fault: that goes on to the caller.
template <class Body>
Checked guarded(const Body& body) {
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

void record(StepResult& step, const Size& size, const Checked& checked) {
    ++step.sizes_checked;
    if (!checked.passed()) step.wrong.push_back({size, checked.comparison, checked.failure});
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

/// While it lives, `ncu --profile-from-start off` and `nsys --capture-range=cudaProfilerApi` look at what runs.
class ForProfilers {
public:
    explicit ForProfilers(bool wanted) : wanted_(wanted && Lesson::on_gpu()) {
        if (wanted_) check(cudaProfilerStart());
    }
    ~ForProfilers() {
        if (!wanted_) return;
        (void)cudaDeviceSynchronize();
        (void)cudaProfilerStop();
    }
    ForProfilers(const ForProfilers&) = delete;
    ForProfilers& operator=(const ForProfilers&) = delete;

private:
    bool wanted_;
};

/// Adds those that are not among them yet: a step makes the same mistake at every size.
void add_mistakes(std::vector<Mistake>& mistakes, const std::vector<Mistake>& more) {
    for (const Mistake& mistake : more) {
        const auto same = [&](const Mistake& known) {
            return known.kind == mistake.kind && known.site == mistake.site;
        };
        if (std::none_of(mistakes.begin(), mistakes.end(), same)) mistakes.push_back(mistake);
    }
}

/// Columns beside the table, or tables below it where the terminal is too narrow.
void print_steps(const StepTable& steps, const std::vector<CounterColumn>& columns, Lesson::Output& output) {
    StepTable table = steps;
    const bool beside = fits(table, columns, output.terminal());
    if (beside) append(table, columns);
    output.print(format_table(table.header, table.rows, output.terminal()) + "\n");
    if (beside) return;
    for (const StepTable& counters : counter_tables(steps, columns, output.terminal())) {
        output.print(format_table(counters.header, counters.rows, output.terminal()) + "\n");
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

Lesson::Lesson(std::string name, const Options& options, Output& output)
    : name_(std::move(name)), options_(options), output_(output) {}

void Lesson::text(std::string_view paragraphs) {
    output_.lesson().texts.emplace_back(paragraphs);
    output_.print_paragraphs(with_typed_command(paragraphs, options_.program, options_.typed));
}

bool Lesson::on_gpu() {
#ifdef __CPU_DEVICE__
    return false;
#else
    return true;
#endif
}

bool Lesson::measures() const { return on_gpu() && !options_.once; }

const Record& Lesson::recorded() const {
    if (!recorded_) recorded_ = measures() ? Record() : Record::read(options_.recorded_file, name_);
    return *recorded_;
}

void Lesson::table(const std::string& title, const std::vector<std::string>& header,
                   const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::vector<Cell>> cells;
    for (const std::vector<std::string>& row : rows) {
        if (row.size() != header.size())
            throw std::invalid_argument("Lesson::table: a row is not as long as the header");
        cells.emplace_back();
        for (const std::string& text : row) cells.back().push_back({text});
    }
    output_.lesson().tables.push_back({title, header, rows});
    if (!title.empty()) output_.print(output_.terminal().paint(Style::heading, title) + "\n");
    output_.print(format_table(header, cells, output_.terminal()) + "\n");
}

void Lesson::expect(bool passed, const std::string& what) {
    output_.lesson().expectations.push_back({what, passed});
    if (!passed) output_.print_paragraphs("WRONG: " + what, Style::bad);
}

bool Lesson::counts_kernels() const { return options_.counters && can_watch(); }

void Lesson::show_recorded(const std::string& title) {
    if (const RecordedTable* const recorded_table = recorded().table(title)) {
        table(recorded_table->title + ", " + recorded().where(), recorded_table->header, recorded_table->rows);
    }
}

void Lesson::show_recorded_steps(const std::string& title, const std::vector<std::string>& steps,
                                 const std::string& column, std::string (*text_of_step)(const RecordedStep&)) {
    std::vector<std::vector<std::string>> rows;
    for (const std::string& name : steps) {
        if (const RecordedStep* const step = recorded().step(name)) rows.push_back({name, text_of_step(*step)});
    }
    if (!rows.empty()) table(title + ", " + recorded().where(), {"step", column}, rows);
}

std::optional<Counts> Lesson::count(const std::function<void()>& launches) const {
    if (!counts_kernels()) {
        launches();
        return std::nullopt;
    }
    CountOptions options = options_.count_options();
    options.lines = false;
    const std::vector<LaunchCounts> counted = count_launches(launches, options);
    if (options_.trace) {
        std::vector<LaunchCounts>& traced = output_.lesson().traced;
        traced.insert(traced.end(), counted.begin(), counted.end());
    }
    return sum_of(counted);
}

Size Lesson::size(const Size& gpu, const Size& cpu) const {
    const Size& usual = on_gpu() ? gpu : cpu;
    if (!options_.size) return usual;
    if (options_.size->dimensions() != usual.dimensions()) {
        throw Refusal(fmt::format("{} takes sizes like {}, not {}", name_, usual.text(), options_.size->text()));
    }
    return *options_.size;
}

void Lesson::run_steps(const Sizes& sizes, std::size_t (*device_bytes)(const Size&),
                       const std::function<std::unique_ptr<ErasedProblem>(const Size&)>& make,
                       const std::vector<ErasedStep>& steps) {
    // Which steps.
    std::vector<std::string> names;
    for (const ErasedStep& step : steps) names.push_back(step.name);
    output_.offer_steps(names);
    const auto is_chosen = [&](const ErasedStep& step) {
        return options_.steps.empty() ||
               std::any_of(options_.steps.begin(), options_.steps.end(),
                           [&](const std::string& pattern) { return chooses_step(pattern, step.name, names); });
    };
    if (std::none_of(steps.begin(), steps.end(), is_chosen)) return;

    // Which size.
    const Size wanted = size(sizes.gpu, sizes.cpu);
    const std::size_t free_device = free_device_bytes();
    const std::size_t free_host = free_host_bytes();
    const auto why_not = [&](const Size& candidate) {
        return why_it_does_not_fit(device_bytes(candidate), free_device, free_host, !on_gpu());
    };
    if (options_.size && !why_not(wanted).empty()) {
        throw Refusal(fmt::format("{}: size {} {}", name_, wanted.text(), why_not(wanted)));
    }
    const Size main_size = halve_until(wanted, [&](const Size& candidate) { return why_not(candidate).empty(); });
    if (!why_not(main_size).empty()) {
        throw Refusal(fmt::format("{}: even size {} {}", name_, main_size.text(), why_not(main_size)));
    }

    std::vector<StepResult> results;
    std::vector<const ErasedStep*> chosen;
    int number = 0;
    for (const ErasedStep& step : steps) {
        if (step.kind != StepKind::vendor) ++number;
        // The vendor's routine is what the others are measured against: it stays.
        if (!is_chosen(step) && !(on_gpu() && step.kind == StepKind::vendor)) continue;
        chosen.push_back(&step);
        StepResult& result = results.emplace_back();
        if (step.kind != StepKind::vendor) result.number = number;
        result.name = step.name;
        result.change = step.change;
        result.kind = step.kind;
        result.size = main_size;
    }

    LessonResult& lesson = output_.lesson();
    const auto run = [&](const ErasedStep& step, ErasedProblem& problem) {
        const ForProfilers range(options_.once && step.kind != StepKind::vendor);
        step.run(problem);
        require_success(cudaGetLastError(), "a call or launch of this step failed");
        require_success(cudaDeviceSynchronize(), "a kernel of this step failed");
    };
    /// Poisons, does `body` for step `i`, and keeps the mistakes that were found in it.
    const auto attempt = [&](std::size_t i, ErasedProblem& problem, const std::function<Comparison()>& body) {
        const Checked checked = guarded([&] {
            problem.poison();
            check_finished();
            add_mistakes(lesson.mistakes, take_mistakes());  // of what came before
            return body();
        });
        add_mistakes(results[i].mistakes, take_mistakes());
        return checked;
    };
    const auto run_once = [&](std::size_t i, ErasedProblem& problem) {
        return attempt(i, problem, [&] {
            run(*chosen[i], problem);
            return problem.compare();
        });
    };
    const auto progress = [&](const std::string& text) {
        if (!options_.check) output_.progress(text);  // the CPU device prints what it finds in between
    };

    bool device_lost = false;
    const bool times_here = on_gpu() || !can_watch();
    const auto is_vendor = [&](std::size_t i) { return chosen[i]->kind == StepKind::vendor; };
    const auto is_own = [&](std::size_t i) { return !is_vendor(i); };
    const auto any = [](std::size_t) { return true; };
    /// Runs and compares each of `which` steps that has not failed yet once at the size of `problem`.
    const auto check_all = [&](const Size& size, ErasedProblem& problem, const std::function<bool(std::size_t)>& which,
                               bool is_main) {
        for (std::size_t i = 0; i < chosen.size() && !device_lost; ++i) {
            if (has_thrown(results[i]) || !which(i)) continue;
            if (!is_main && !results[i].mistakes.empty()) continue;  // one size is enough to show them
            progress(fmt::format("checking {} {} of {} at size {} ...", text_of(results[i].kind), i + 1, chosen.size(),
                                 size.text()));
            const Checked checked = run_once(i, problem);
            record(results[i], size, checked);
            if (!checked.failure.empty()) device_lost = !device_is_usable();
            if (is_main && checked.failure.empty()) {
                results[i].check = checked.comparison;
                results[i].figures = problem.figures();
            }
        }
    };

    const auto check_awkward_sizes = [&](const std::function<bool(std::size_t)>& which) {
        for (const Size& size : sizes.awkward) {
            if (device_lost || options_.once) break;
            const std::unique_ptr<ErasedProblem> problem = make(size);
            check_all(size, *problem, which, false);
        }
    };

    // Check first: small sizes, then the main one. The vendor's routine meets the main size first, as in a user's
    // program: cub::DeviceTransform fits itself to the first call, and after a tiny one stayed at two thirds of its
    // speed (H200, CUDA 13.0).
    check_awkward_sizes(is_own);
    std::optional<Roof> roof;
    if (!device_lost) {
        const std::unique_ptr<ErasedProblem> problem = make(main_size);
        for (StepResult& result : results) result.work = problem->work();
        check_all(main_size, *problem, any, true);

        // Then count what is right ...
        for (std::size_t i = 0; i < chosen.size() && counts_kernels() && !device_lost; ++i) {
            if (chosen[i]->kind != StepKind::device || !results[i].right()) continue;
            progress(fmt::format("counting {} ...", results[i].name));
            const Watching not_for_mistakes({});  // once was enough
            const Checked counted = attempt(i, *problem, [&] {
                const CountOptions options = options_.count_options();
                results[i].launches = count_launches([&] { run(*chosen[i], *problem); }, options);
                return Comparison{};
            });
            if (counted.failure.empty()) continue;
            record(results[i], main_size, counted);
            device_lost = !device_is_usable();
        }

        // ... and time it: all of it on a GPU, host code only on the CPU device. A program whose kernels can be watched
        // leaves that to the plain one, see below.
        std::vector<Candidate> candidates;
        std::vector<std::size_t> timed;
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            const bool on_host = chosen[i]->kind == StepKind::host;
            if (!results[i].passed() || !times_here || options_.once || (!on_gpu() && !on_host)) continue;
            candidates.push_back({[&, i] { chosen[i]->run(*problem); }, on_host});
            timed.push_back(i);
        }
        std::optional<RoofCopy> copy;
        const double bytes = problem->work().bytes;
        if (on_gpu() && bytes >= 2 && !timed.empty() && !device_lost) {
            copy.emplace(bytes);
            candidates.push_back({[&] { copy->run(); }, false});
        }
        if (!timed.empty() && !device_lost) {
            BenchmarkOptions options;
            if (!on_gpu()) options.seconds = 0.2;
            if (options_.repeat) options.samples = options.samples_when_slow = *options_.repeat;
            constexpr double cold_anyway = 4;  // data so many times larger than the cache leaves nothing useful in it
            options.flush_l2 = static_cast<double>(device_bytes(main_size)) <=
                               cold_anyway * static_cast<double>(output_.device().l2_bytes);
            HostTimer since_progress;
            options.progress = [&](int round) {
                constexpr double interval = 0.1;
                if (round != 0 && since_progress.seconds() < interval) return;
                progress(fmt::format("measuring {} candidates in turn, round {} ...", candidates.size(), round + 1));
                since_progress.start();
            };
            std::vector<Timing> timings;
            const Checked measured = guarded([&] {
                timings = measure_in_turn(candidates, options);
                return Comparison{};
            });
            if (measured.failure.empty()) {
                for (std::size_t k = 0; k < timed.size(); ++k) results[timed[k]].timing = timings[k];
                if (copy) {
                    const double rate = copy->bytes() / timings.back().median * 1e-9;
                    roof = Roof{"roof C", copy->bytes(), timings.back(), rate};
                }
            } else {
                // Every candidate passed its check and one failed now: which one, the check below tells if it can.
                device_lost = !device_is_usable();
                lesson.failure = "while measuring: " + measured.failure;
            }
            // A step that leaves something behind may be wrong by now. Host code is not asked again: it may be slow.
            for (const std::size_t i : timed) {
                if (device_lost || chosen[i]->kind == StepKind::host) continue;
                progress(fmt::format("checking {} again ...", results[i].name));
                const Checked checked = run_once(i, *problem);
                if (checked.passed()) continue;
                record(results[i], main_size, checked);
                results[i].timing.reset();
                if (!checked.failure.empty()) device_lost = !device_is_usable();
            }
        }
    }

    if (std::any_of(chosen.begin(), chosen.end(),
                    [](const ErasedStep* step) { return step->kind == StepKind::vendor; })) {
        check_awkward_sizes(is_vendor);
    }

    std::string why_no_host_times;
    if (!times_here && !options_.once) {
        HostSteps host{options_.plain_program, name_, main_size, {}, options_.repeat};
        for (const StepResult& result : results) {
            if (result.kind == StepKind::host && result.passed()) host.steps.push_back(result.name);
        }
        if (!host.steps.empty() && host.program.empty()) {
            why_no_host_times = "Host code is not timed: the plain program that does it is not built.";
        } else if (!host.steps.empty()) {
            progress("timing host code ...");
            const HostTimes times = time_in_plain_program(host);
            for (StepResult& result : results) {
                const auto time = times.by_step.find(result.name);
                if (time != times.by_step.end()) result.timing = time->second;
            }
            if (!times.failure.empty()) why_no_host_times = "Host code is not timed: " + times.failure;
        }
    }

    // The table.
    derive_rates(results, roof);
    const StepTable table = make_step_table(results, roof, on_gpu());
    const std::vector<CounterColumn> columns = counter_columns(results);
    std::string title = fmt::format("Size {}", main_size.text());
    if (!(main_size == wanted)) title += fmt::format(" (not {}: it {})", wanted.text(), why_not(wanted));
    output_.print(output_.terminal().paint(Style::heading, title) + "\n");
    print_steps(table, columns, output_);
    for (const std::string& footnote : table.footnotes) output_.print_paragraphs(footnote, Style::faint);
    if (!why_no_host_times.empty()) output_.print_paragraphs(why_no_host_times, Style::faint);
    print_legends(columns, output_);
    const std::string sample = sample_note(results);
    if (!sample.empty()) output_.print_paragraphs(sample, Style::faint);
    for (const StepResult& result : results) {
        const std::vector<std::string> lines = describe_misses(result);
        if (lines.empty()) continue;
        output_.print(output_.terminal().paint(Style::bad, result.name) + "\n");
        for (const std::string& line : lines) output_.print("    " + line + "\n");
        output_.print("\n");
    }

    for (const StepResult& result : results) {
        if (!options_.list_lines || !result.launches || result.launches->empty()) continue;
        output_.print(output_.terminal().paint(Style::title, "Lines of step " + result.name) + "\n\n");
        output_.print(list_source(*result.launches, output_.terminal()));
    }

    if (roof && !lesson.roof) lesson.roof = roof;
    lesson.steps.insert(lesson.steps.end(), results.begin(), results.end());
    if (device_lost) throw DeviceLost("a kernel died and took the device with it; nothing more can run");
    if (!lesson.failure.empty()) throw std::runtime_error(lesson.failure);
}

}  // namespace warpwise

// From a launch to its blocks: checks its shape, spreads blocks over the host's cores, watches over endless
// kernels.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "activity_log.h"
#include "api_call.h"
#include "block.h"
#include "broken_restrict.h"
#include "capture.h"
#include "child_launches.h"
#include "cpu_device/device_model.h"
#include "cpu_device/diagnostics.h"
#include "cpu_device/error_state.h"
#include "cpu_device/execution.h"
#include "cpu_device/progress.h"
#include "device_output.h"
#include "device_races.h"
#include "device_work.h"
#include "devices.h"
#include "faults.h"
#include "instrumented_code.h"
#include "kernel_names.h"
#include "stream_order.h"
#include "streams.h"

namespace cpu_device {

std::string text_of(const dim3& shape) {
    return std::to_string(shape.x) + " x " + std::to_string(shape.y) + " x " + std::to_string(shape.z);
}

namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kMostCores = 24;                   // stacks with guard pages for that many blocks of 1024 threads
constexpr std::uint64_t kThreadsWorthAHelper = 2048;  // a smaller grid is done before a second core has woken up
constexpr std::size_t kMostSpinningBlocks = 256;
constexpr std::size_t kMostSpinningBeside = 4096;  // of a launch that may wait for one of another device
constexpr auto kWatchdogPeriod = std::chrono::milliseconds(50);

double number_from_environment(const char* name, double otherwise) {
    const char* text = std::getenv(name);
    if (text == nullptr || *text == '\0') return otherwise;
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    if (*end != '\0' || value < 0) {
        std::fprintf(stderr, "CPU device: %s=%s is not a number; ignored\n", name, text);
        return otherwise;
    }
    return value;
}

struct LaunchSettings {
    std::atomic<std::uint64_t> seed{static_cast<std::uint64_t>(number_from_environment("CPU_DEVICE_SEED", 0))};
    std::atomic<double> watchdog_seconds{number_from_environment("CPU_DEVICE_TIMEOUT", 20)};
    std::atomic<unsigned> cores{0};
};

LaunchSettings& launch_settings() {
    static LaunchSettings all;
    return all;
}

[[noreturn]] void fiber_entry(boost::context::detail::transfer_t from) {
    *static_cast<boost::context::detail::fcontext_t*>(from.data) = from.fctx;
    for (;;) current_thread.block->run_until_idle();
}

/// What one host thread needs to run blocks.
class Worker {
public:
    Worker() : fibers_(fiber_entry) { give_signal_stack(); }

    void run(Launch& launch) {
        if (launch.cluster_blocks > 1) {
            cluster_support->run(launch, fibers_, tally_);
        } else {
            launch.cooperative ? run_together(launch) : run_one_by_one(launch);
        }
        if (!launch.instrument.counters) return;
        std::lock_guard lock(launch.mutex);
        launch.tally.add(tally_);
        tally_.clear();
    }

private:
    Block& block(std::size_t i) {
        while (blocks_.size() <= i) blocks_.push_back(std::make_unique<Block>(fibers_));
        return *blocks_[i];
    }

    /// Blocks in ascending order (or the seed's), each to its end. One that only spins is set aside for others.
    void run_one_by_one(Launch& launch) {
        std::vector<std::size_t> spinning;
        std::vector<std::size_t> spare;
        std::size_t used = 0;
        const std::size_t most_spinning = launch.park ? kMostSpinningBeside : kMostSpinningBlocks;
        const std::uint64_t chunk = std::clamp<std::uint64_t>(launch.blocks / 256, 1, 64);
        for (;;) {
            const std::uint64_t first = launch.next_block.fetch_add(chunk, std::memory_order_relaxed);
            if (first >= launch.blocks) break;
            const std::uint64_t end = std::min(first + chunk, launch.blocks);
            for (std::uint64_t i = first; i < end; ++i) {
                std::size_t slot = used;
                if (spare.empty()) {
                    ++used;
                } else {
                    slot = spare.back();
                    spare.pop_back();
                }
                block(slot).begin(launch, shuffled_block(launch, i), tally_);
                if (block(slot).run() == Block::State::done) {
                    finished(launch);
                    spare.push_back(slot);
                } else {
                    spinning.push_back(slot);
                }
                if (failed(launch)) break;
                if (!spinning.empty()) turn(launch, spinning, spare);
                while (spinning.size() >= most_spinning && !failed(launch)) turn(launch, spinning, spare);
            }
            if (failed(launch)) break;
        }
        while (!spinning.empty()) {  // a failed launch ends each at once
            const std::size_t before = spinning.size();
            turn(launch, spinning, spare);
            if (launch.park && spinning.size() == before && !failed(launch)) launch.park();
        }
    }

    void turn(Launch& launch, std::vector<std::size_t>& spinning, std::vector<std::size_t>& spare) {
        std::erase_if(spinning, [&](std::size_t slot) {
            if (block(slot).run() != Block::State::done) return false;
            finished(launch);
            spare.push_back(slot);
            return true;
        });
    }

    /// A cooperative grid: all blocks alive at once, from one grid barrier to the next.
    void run_together(Launch& launch) {
        const auto blocks = static_cast<std::size_t>(launch.blocks);
        std::vector<Block::State> state(blocks, Block::State::running);
        for (std::size_t i = 0; i < blocks; ++i) block(i).begin(launch, shuffled_block(launch, i), tally_);
        std::size_t done = 0;
        std::size_t stopped = 0;  // blocks that are done or wait at the barrier of the grid
        while (done < blocks) {
            std::size_t waiting = 0;
            for (std::size_t i = 0; i < blocks; ++i) {
                if (state[i] == Block::State::done) continue;
                if (state[i] != Block::State::at_grid_barrier || failed(launch)) state[i] = block(i).run();
                if (state[i] == Block::State::done) {
                    ++done;
                    finished(launch);
                }
                waiting += state[i] == Block::State::at_grid_barrier;
            }
            const std::size_t stopped_before = std::exchange(stopped, waiting + done);
            if (waiting == 0 || stopped < blocks) {
                if (launch.park && stopped < blocks && stopped == stopped_before && !failed(launch)) launch.park();
                continue;
            }
            if (done > 0 && !failed(launch)) {
                Diagnostic found{};
                found.kind = DiagnosticKind::divergent_barrier;
                found.kernel = launch.site.kernel;
                found.site = launch.site.site;
                found.message = "grid.sync() was reached by " + std::to_string(waiting) + " of " +
                                std::to_string(blocks) + " blocks; the others have returned";
                found.hint = "every block of the grid has to reach grid.sync(): do not return before it";
                report(std::move(found));
                launch.fail(cudaErrorLaunchTimeout);
            }
            if (launch.diagnoser && !failed(launch)) launch.diagnoser->grid_barrier();
            for (std::size_t i = 0; i < blocks; ++i) {
                if (state[i] != Block::State::at_grid_barrier) continue;
                if (!failed(launch)) block(i).leave_grid_barrier();
                state[i] = Block::State::running;
            }
        }
        blocks_.resize(std::min<std::size_t>(blocks_.size(), 4));
    }

    static bool failed(const Launch& launch) { return launch.failure.load(std::memory_order_relaxed) != cudaSuccess; }
    static void finished(Launch& launch) { launch.finished_blocks.fetch_add(1, std::memory_order_relaxed); }

    static std::uint64_t shuffled_block(const Launch& launch, std::uint64_t i) {
        if (launch.seed == 0 || launch.blocks < 3) return i;
        // i -> (multiplier * i + shift) mod blocks visits every block once when the two have no common factor.
        std::uint64_t multiplier = launch.seed % launch.blocks | 1;
        while (std::gcd(multiplier, launch.blocks) != 1) multiplier += 2;
        const auto product = static_cast<unsigned __int128>(multiplier) * i + launch.seed;
        return static_cast<std::uint64_t>(product % launch.blocks);
    }

    FiberPool fibers_;
    std::vector<std::unique_ptr<Block>> blocks_;
    Tally tally_;
};

Worker& this_worker() {
    thread_local Worker worker;
    return worker;
}

/// Host threads that help with a launch, and the one that watches over it. Kept until the process ends.
class Crew {
public:
    static Crew& instance() {
        static Crew* crew = new Crew;  // never destroyed: its threads outlive main
        return *crew;
    }

    void run(Launch& launch) {
        std::unique_lock one_launch_at_a_time(launching_);
        Worker& worker = this_worker();
        std::optional<FaultHandlers> handlers(std::in_place);
        if (launch.park) {
            launch.park = [&, set_aside = std::move(launch.park)] {
                if (*launch.overdue) return;  // the watchdog ends it
                pause();
                handlers.reset();
                one_launch_at_a_time.unlock();
                set_aside();
                one_launch_at_a_time.lock();
                handlers.emplace();
                go_on(launch, 0);
            };
        }
        const unsigned cores = cores_in_use();
        const bool alone = cores == 1 || launch.cooperative || launch.diagnoser || launch.park || launch.blocks < 2 ||
                           launch.blocks * launch.threads < kThreadsWorthAHelper;
        const unsigned helpers =
            alone ? 0 : static_cast<unsigned>(std::min<std::uint64_t>(cores - 1, launch.blocks - 1));
        start_watchdog();
        go_on(launch, helpers);
        worker.run(launch);
        if (launch.twin.is_copy()) launch.twin.end_copy(launch.failure);
        std::unique_lock lock(mutex_);
        wanted_ = 0;  // whoever has not begun need not
        idle_.wait(lock, [this] { return busy_.empty(); });
        launch_ = nullptr;
        active_.store(false, std::memory_order_release);
    }

    std::optional<RunningKernel> running() {
        std::lock_guard lock(mutex_);
        if (launch_ == nullptr) return std::nullopt;
        return RunningKernel{launch_->site.kernel, launch_->finished_blocks.load(std::memory_order_relaxed),
                             launch_->blocks, launch_->threads, launch_->id};
    }

private:
    void go_on(Launch& launch, unsigned helpers) {
        {
            std::lock_guard lock(mutex_);
            for (; helpers_ < helpers; ++helpers_) std::thread([this] { help(); }).detach();
            launch_ = &launch;
            wanted_ = helpers;
            owner_ = pthread_self();
            ++generation_;
        }
        if (helpers > 0) wake_.notify_all();
        active_.store(true, std::memory_order_release);
    }

    void pause() {
        std::lock_guard lock(mutex_);
        launch_ = nullptr;
        active_.store(false, std::memory_order_release);
    }

    static unsigned cores_in_use() {
        std::atomic<unsigned>& chosen = launch_settings().cores;
        if (chosen == 0) {
            const unsigned host = std::max(1u, std::thread::hardware_concurrency());
            chosen =
                std::clamp(static_cast<unsigned>(number_from_environment("CPU_DEVICE_CORES", host)), 1u, kMostCores);
        }
        return chosen;
    }

    void help() {
        std::unique_lock lock(mutex_);
        std::uint64_t seen = 0;
        for (;;) {
            wake_.wait(lock, [&] { return generation_ != seen && wanted_ > 0; });
            seen = generation_;
            --wanted_;
            busy_.push_back(pthread_self());
            Launch& launch = *launch_;
            lock.unlock();
            current_device = launch.device;
            this_worker().run(launch);
            lock.lock();
            std::erase_if(busy_, [](pthread_t thread) { return pthread_equal(thread, pthread_self()); });
            if (busy_.empty()) idle_.notify_all();
        }
    }

    void start_watchdog() {
        if (watching_) return;
        watching_ = true;
        std::thread([this] { watch(); }).detach();
    }

    void watch() {
        std::uint64_t generation = 0;
        std::uint64_t finished = 0;
        Clock::time_point progress = Clock::now();
        for (;;) {
            std::this_thread::sleep_for(kWatchdogPeriod);
            if (!active_.load(std::memory_order_acquire)) continue;
            std::lock_guard lock(mutex_);
            if (launch_ == nullptr) continue;
            const std::uint64_t now_finished = launch_->finished_blocks.load(std::memory_order_relaxed);
            if (generation != generation_ || finished != now_finished) {
                generation = generation_;
                finished = now_finished;
                progress = Clock::now();
                continue;
            }
            const double limit = launch_settings().watchdog_seconds;
            const std::chrono::duration<double> quiet = Clock::now() - progress;
            const bool is_overdue = launch_->overdue != nullptr && *launch_->overdue;
            if (limit == 0 || (quiet.count() < limit && !is_overdue)) continue;
            // Interrupts whoever still runs a device thread; asked again until all have stopped.
            interrupt_device_threads(limit, owner_, busy_);
        }
    }

    std::mutex launching_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable idle_;
    unsigned helpers_ = 0;  ///< host threads that wait to help, beside the one that launches
    std::vector<pthread_t> busy_;
    Launch* launch_ = nullptr;
    pthread_t owner_{};
    unsigned wanted_ = 0;
    std::uint64_t generation_ = 0;
    std::atomic<bool> active_{false};
    bool watching_ = false;
};

/// Why a GPU refuses a launch of this shape; empty when it does not.
std::string why_refused(const LaunchConfig& config) {
    const dim3& g = config.grid;
    const dim3& b = config.block;
    if (g.x == 0 || g.y == 0 || g.z == 0) return "a grid of " + text_of(g) + " blocks has no block";
    if (b.x == 0 || b.y == 0 || b.z == 0) return "a block of " + text_of(b) + " threads has no thread";
    if (g.x > 0x7FFFFFFFu || g.y > 65535 || g.z > 65535) {
        return "a grid of " + text_of(g) + " blocks: at most 2147483647 x 65535 x 65535";
    }
    if (b.x > 1024 || b.y > 1024 || b.z > 64) {
        return "a block of " + text_of(b) + " threads: at most 1024 x 1024 x 64, and 1024 altogether";
    }
    const std::uint64_t threads = static_cast<std::uint64_t>(b.x) * b.y * b.z;
    if (threads > kMaxThreadsPerBlock) {
        return "a block of " + text_of(b) + " = " + std::to_string(threads) + " threads: a block has at most 1024";
    }
    const std::size_t limit = dynamic_shared_limit(config.kernel);
    if (config.shared_bytes > limit) {
        return std::to_string(config.shared_bytes) +
               " bytes of dynamic shared memory: a block of this kernel gets at most " + std::to_string(limit) +
               " (more, up to 232448, after cudaFuncSetAttribute)";
    }
    return "";
}

std::atomic<std::uint64_t> launches{0};

constexpr unsigned kDeepestLaunch = 24;  // of kernels that kernels launch

/// How many kernels are above those that this host thread runs.
thread_local unsigned launch_depth = 0;

}  // namespace

std::uint64_t Launch::cluster_of(std::uint64_t linear_index) const {
    const std::uint64_t x = linear_index % grid.x / cluster.x;
    const std::uint64_t y = linear_index / grid.x % grid.y / cluster.y;
    const std::uint64_t z = linear_index / grid.x / grid.y / cluster.z;
    return x + grid.x / cluster.x * (y + grid.y / cluster.y * z);
}

bool Launch::instruments(std::uint64_t linear_index) const {
    if (!sampled) return true;
    if (cluster_blocks == 1) return samples(linear_index, blocks, instrument.blocks);
    return samples(cluster_of(linear_index), blocks / cluster_blocks,
                   std::max<std::uint64_t>(2, instrument.blocks / cluster_blocks));
}

bool Launch::samples(std::uint64_t linear_index, std::uint64_t all, std::uint64_t wanted) const {
    if (all <= wanted || linear_index == 0 || linear_index == all - 1) return true;
    if (linear_index < instrument.traced_blocks) return true;
    if (wanted < 2) return false;
    // One block of each stretch of the grid. Not always the same one of each: equal strides would meet the same
    // columns.
    const std::uint64_t stretches = wanted - 2;
    const std::uint64_t inner = all - 2;
    const auto start = [&](std::uint64_t k) {
        return static_cast<std::uint64_t>(static_cast<unsigned __int128>(k) * inner / stretches);
    };
    if (stretches == 0) return false;
    std::uint64_t stretch =
        static_cast<std::uint64_t>(static_cast<unsigned __int128>(linear_index - 1) * stretches / inner);
    while (stretch + 1 < stretches && start(stretch + 1) <= linear_index - 1) ++stretch;
    const std::uint64_t first = start(stretch);
    const std::uint64_t length = start(stretch + 1) - first;
    return linear_index - 1 == first + (stretch * 0x9E3779B97F4A7C15u >> 32) % length;
}

std::vector<Launch::Parameter> Launch::parameters() const {
    std::vector<Parameter> all;
    std::string_view names = site.parameters;
    for (std::size_t i = 0; i < code.arguments && !names.empty(); ++i) {
        const std::size_t comma = names.find(',');
        std::string_view name = names.substr(0, comma);
        names = comma == names.npos ? "" : names.substr(comma + 1);
        const bool is_restrict = name.ends_with('!');
        if (is_restrict) name.remove_suffix(1);
        all.push_back({std::string(name), is_restrict, reinterpret_cast<std::uintptr_t>(code.pointers[i])});
    }
    return all;
}

std::string Launch::parameter_in(std::uintptr_t begin, std::uintptr_t end) const {
    for (const Parameter& parameter : parameters()) {
        if (!parameter.name.empty() && parameter.address >= begin && parameter.address < end) return parameter.name;
    }
    return "";
}

std::optional<RunningKernel> running_kernel() { return Crew::instance().running(); }

void set_schedule_seed(std::uint64_t seed) { launch_settings().seed = seed; }
std::uint64_t schedule_seed() { return launch_settings().seed; }
void set_watchdog_seconds(double seconds) { launch_settings().watchdog_seconds = seconds; }
double watchdog_seconds() { return launch_settings().watchdog_seconds; }
void set_cores(unsigned cores) { launch_settings().cores = std::clamp(cores, 1u, kMostCores); }

namespace {

/// A launch that the device does not refuse. `park`: see Launch.
void run_launch(const LaunchSite& site, const LaunchConfig& config, const ErasedLaunch& code, bool cooperative,
                const dim3& cluster, const std::function<void()>& park, std::atomic<bool>* overdue) {
    const bool instrumented = can_instrument() && (instrumenting().counters || instrumenting().diagnostics);
    const LaunchSite named = instrumented ? with_kernel_name(site) : site;
    Launch launch(named);
    launch.id = ++launches;
    launch.depth = launch_depth;
    if (logs_activity()) log_launch(config.stream, config.in_graph);
    launch.grid = config.grid;
    launch.block = config.block;
    launch.threads = config.block.x * config.block.y * config.block.z;
    launch.dynamic_bytes = config.shared_bytes;
    launch.opted_in = dynamic_shared_limit(config.kernel) > kStaticSharedLimit;
    launch.code = code;
    launch.cooperative = cooperative;
    launch.cluster = cluster;
    launch.cluster_blocks = cluster.x * cluster.y * cluster.z;
    launch.blocks = static_cast<std::uint64_t>(config.grid.x) * config.grid.y * config.grid.z;
    launch.seed = launch_settings().seed;
    launch.stream = config.stream;
    launch.device = current_device;
    launch.park = park;
    launch.overdue = overdue;
    launch.programmatic = config.programmatic;
    launch.shared_bytes = (config.shared_bytes + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
    if (can_instrument()) {
        launch.instrument = instrumenting();
        if (launch.instrument.diagnostics) launch.shared_bytes += kSharedAlignment;
        launch.sampled = launch.instrument.blocks != 0 && launch.blocks > launch.instrument.blocks;
        if (launch.instrument.counters) {
            launch.arrays = std::make_unique<ArrayMap>(launch);
            for (std::uint64_t third : {1, 2}) {
                std::uint64_t& recorded = launch.recorded_blocks[third - 1];
                recorded = launch.blocks / 3 * third;
                while (recorded + 1 < launch.blocks && !launch.instruments(recorded)) ++recorded;
            }
        }
        if (launch.instrument.diagnostics) {
            launch.diagnoser = std::make_unique<LaunchDiagnoser>(launch);
        } else {
            note_unseen_launch();
        }
    }
    Crew::instance().run(launch);
    end_device_output(launch.failure != cudaSuccess);
    if (launch.instrument.counters) keep_counters(launch, launch.tally);
    if (launch.diagnoser) {
        launch.report_undefined_shuffles();
        note_coverage(launch);
    }
    const bool looked_for_errors = launch.diagnoser != nullptr;
    launch.diagnoser.reset();
    publish_diagnostics();
    if (looked_for_errors) report_broken_restrict(launch);  // after a race, which says more
    const int failure = launch.failure;
    if (failure != cudaSuccess) return kernel_failed(static_cast<cudaError_t>(failure), site);
    ++launch_depth;
    for (const ChildLaunch& child : launch.children.take()) {
        if (!device_is_lost())
            run_launch(child.site, child.config, child.kept->launch, false, child.cluster, {}, nullptr);
        child.kept->destroy(child.kept);
    }
    --launch_depth;
}

/// A launch by the running thread of a kernel.
void launch_from_kernel(const LaunchSite& site, const LaunchConfig& config, const ErasedLaunch& code,
                        bool cooperative) {
    const Uninstrumented now;
    Block& parent = *current_thread.block;
    if (cooperative) {
        abort_kernel(cudaErrorNotSupported, "a kernel launches kernel %s cooperatively: CUDA has no such launch",
                     site.kernel);
    }
    const std::string refused = why_refused(config);
    if (!refused.empty()) return launch_refused(cudaErrorInvalidConfiguration, site, refused);
    if (parent.launch().depth + 1 == kDeepestLaunch) {
        return launch_refused(
            cudaErrorLaunchMaxDepthExceeded, site,
            "kernels that launch kernels are nested at most " + std::to_string(kDeepestLaunch) + " deep");
    }
    dim3 cluster = {1, 1, 1};
    if (cluster_support != nullptr) {
        std::string why;
        const cudaError_t error = cluster_support->shape_of(config, cluster, why);
        if (error != cudaSuccess) return launch_refused(error, site, why);
    }
    KeptLaunch* const kept = code.keep == nullptr ? nullptr : code.keep(code.keeper);
    if (kept == nullptr) {
        abort_kernel(cudaErrorNotSupported,
                     "a kernel launches kernel %s with something that cannot be kept until the kernel has ended",
                     site.kernel);
    }
    ChildLaunch child{parent.linear_index(), config.stream == cudaStreamTailLaunch, site, config, cluster, kept};
    child.config.stream = parent.launch().stream;  // its own may be destroyed before it runs
    parent.launch().children.add(child);
}

}  // namespace

void launch_erased(const LaunchSite& site, const LaunchConfig& config, const ErasedLaunch& code, bool cooperative) {
    if (in_kernel()) return launch_from_kernel(site, config, code, cooperative);
    flush_device_output();
    if (device_is_lost()) {
        note_skipped_launch();
        return launch_refused(device_status(false), site);
    }
    if (!stream_exists(config.stream)) {
        return launch_refused(cudaErrorInvalidResourceHandle, site, "the stream does not exist");
    }
    if (const int of = device_of_stream(config.stream); of != current_device && !config.in_graph) {
        const std::string device = std::to_string(current_device);
        report_misuse(DiagnosticKind::wrong_device, {"a launch", site.site},
                      std::string("of ") + site.kernel + " on device " + device +
                          ", the current one, names a stream of device " + std::to_string(of),
                      "call cudaSetDevice with the device of the stream before the launch");
        return launch_refused(
            cudaErrorInvalidResourceHandle, site,
            "the stream is one of device " + std::to_string(of) + ", and device " + device + " is the current one");
    }
    // CUDA 13 calls it an invalid value; up to CUDA 12 a bad shape was cudaErrorInvalidConfiguration.
    const std::string refused = why_refused(config);
    if (!refused.empty()) return launch_refused(cudaErrorInvalidValue, site, refused);
    if (StreamCapture* const capture = stream_capture()) {
        if (const auto captured = capture->launch(site, config, code, cooperative)) {
            return launch_refused(*captured, site, "a stream is being captured");
        }
    }

    dim3 cluster = {1, 1, 1};
    if (cluster_support != nullptr) {
        std::string why;
        const cudaError_t error = cluster_support->shape_of(config, cluster, why);
        if (error != cudaSuccess) return launch_refused(error, site, why);
        if (cooperative && cluster.x * cluster.y * cluster.z > 1) {
            const cudaError_t refused = unsupported("a cooperative launch of thread block clusters", site.site);
            return launch_refused(refused, site, "it is cooperative, and has clusters");
        }
    }

    note_order(OrderStep::work, config.stream);
    const bool is_step = note_device_step != nullptr && device_work() != nullptr && !config.in_graph;
    const InDeviceStep step(
        is_step ? note_device_step(std::string("kernel ") + site.kernel, config.stream, {"a launch", site.site}) : 0);
    DeviceWork* const work = config.in_graph ? nullptr : device_work();
    KeptLaunch* const kept = work != nullptr && code.keep != nullptr ? code.keep(code.keeper) : nullptr;
    if (kept == nullptr) {
        if (!config.in_graph) (void)finish_stream(config.stream);
        const DeviceWork::Lock alone = enter_device();
        return run_launch(site, config, code, cooperative, cluster, {}, nullptr);
    }
    work->launch(config.stream, [=](const std::function<void()>& park, std::atomic<bool>& overdue) {
        if (!device_is_lost()) run_launch(site, config, kept->launch, cooperative, cluster, park, &overdue);
        kept->destroy(kept);
    });
}

void* SharedVariable::address() {
    Block& block = running_block("a __shared__ variable is used");
    Launch& running = block.launch();
    if (__atomic_load_n(&launch, __ATOMIC_ACQUIRE) != running.id) {
        const Uninstrumented now;
        std::unique_lock lock(running.mutex);
        const auto known = running.places_of_shared.find(this);
        if (known != running.places_of_shared.end()) {  // a launch on another device has used the variable since
            offset = known->second;
            __atomic_store_n(&launch, running.id, __ATOMIC_RELEASE);
        } else if (launch != running.id) {
            const std::size_t total = running.static_bytes + bytes;
            if (total > kStaticSharedLimit) {
                lock.unlock();
                abort_kernel(
                    cudaErrorInvalidValue,
                    "the kernel's __shared__ variables take %zu bytes with '%s'; a block has %zu (ask for more "
                    "with extern __shared__ and cudaFuncSetAttribute)",
                    total, name, kStaticSharedLimit);
            }
            const std::size_t limit =
                running.opted_in ? std::size_t{model::shared_bytes_per_block_opt_in} : kStaticSharedLimit;
            if (total + running.dynamic_bytes > limit) {
                lock.unlock();
                abort_kernel(cudaErrorInvalidValue,
                             "%zu bytes of __shared__ variables and %zu bytes of dynamic shared memory are more than "
                             "the %zu that a block has; a GPU refuses the launch",
                             total, running.dynamic_bytes, limit);
            }
            running.static_bytes += bytes;
            std::size_t rows = (bytes + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
            if (running.diagnoser) rows += kSharedAlignment;  // nobody's: whoever runs past the end lands there
            if (running.is_instrumented()) running.shared_variables.push_back(this);
            const std::size_t multiple = std::max(alignment, kSharedAlignment);
            const std::size_t used = running.shared_bytes.load(std::memory_order_relaxed);
            offset = (used + multiple - 1) / multiple * multiple;
            running.shared_bytes.store(offset + rows, std::memory_order_relaxed);
            if (running.park) running.places_of_shared.emplace(this, offset);
            __atomic_store_n(&launch, running.id, __ATOMIC_RELEASE);
        }
    }
    return block.shared_address(offset, bytes);
}

void* dynamic_shared_memory() {
    Block& block = running_block("extern __shared__ memory is used");
    return block.shared_address(0, block.launch().dynamic_bytes);
}

std::size_t dynamic_shared_bytes() { return running_block("dynamic shared memory is used").launch().dynamic_bytes; }

void yield_thread() {
    if (in_kernel()) current_thread.block->yield();
}

void abort_kernel(cudaError_t error, const char* format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!in_kernel()) {
        std::fprintf(stderr, "CPU device: %s (outside of a kernel)\n", text);
        std::abort();
    }
    Block& block = *current_thread.block;
    const Uninstrumented now;
    const DiagnosticKind kind =
        error == cudaErrorNotSupported ? DiagnosticKind::unsupported : DiagnosticKind::kernel_trap;
    if (block.launch().is_first_diagnostic(kind, 0)) {
        Diagnostic found = block.diagnostic(kind, block.launch().site.site);
        found.code = __builtin_return_address(0);
        found.message = text;
        report(std::move(found));
    }
    block.launch().fail(error);
    block.abandon();
}

}  // namespace cpu_device

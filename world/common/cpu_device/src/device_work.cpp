#include "device_work.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "allocations.h"
#include "api_call.h"
#include "cpu_device/runtime_api.h"
#include "device_races.h"
#include "devices.h"
#include "streams.h"

namespace cpu_device {
namespace {

using Clock = std::chrono::steady_clock;

/// A thread that carries out one job after the other, and can stop in the middle of one. It runs only while `resume`
/// waits for it: so the order of all that happens is always the same.
class SideThread {
public:
    SideThread() {
        std::thread([this] { work(); }).detach();
    }
    SideThread(const SideThread&) = delete;
    SideThread& operator=(const SideThread&) = delete;

    void begin(std::function<void()> job) { job_ = std::move(job); }

    /// Until the job has ended (true) or is set aside.
    bool resume() {
        std::unique_lock lock(mutex_);
        is_its_turn_ = true;
        turn_.notify_all();
        turn_.wait(lock, [this] { return !is_its_turn_; });
        return job_ == nullptr;
    }

    /// Called by the job: somebody else goes on until the next `resume`.
    void set_aside() {
        std::unique_lock lock(mutex_);
        is_its_turn_ = false;
        turn_.notify_all();
        turn_.wait(lock, [this] { return is_its_turn_; });
    }

private:
    void work() {
        for (;;) {
            {
                std::unique_lock lock(mutex_);
                turn_.wait(lock, [this] { return is_its_turn_; });
            }
            job_();
            const std::lock_guard lock(mutex_);
            job_ = nullptr;
            is_its_turn_ = false;
            turn_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable turn_;
    bool is_its_turn_ = false;
    std::function<void()> job_;
};

/// Variables of the device have one place in memory, which holds the values of one device at a time. Everything that
/// works with them does so in turn.
class DeviceVariables {
public:
    void load(int device) {
        if (!has_begun_) begin();
        if (device == loaded_ || variables_.empty()) return;
        std::size_t at = 0;
        for (const Allocation& variable : variables_) {
            std::memcpy(values_of(loaded_).data() + at, variable.address, variable.bytes);
            // What is constant is the same everywhere, and may not be written.
            const std::byte* const values = values_of(device).data() + at;
            if (std::memcmp(variable.address, values, variable.bytes) != 0) {
                std::memcpy(variable.address, values, variable.bytes);
            }
            at += variable.bytes;
        }
        loaded_ = device;
    }

    /// cudaDeviceReset: as at the start of the program.
    void reset(int device) {
        if (!has_begun_) return;
        load(device == 0 ? 1 % device_count() : 0);
        if (loaded_ != device) values_of(device) = first_values_;
    }

private:
    std::vector<std::byte>& values_of(int device) { return values_[static_cast<std::size_t>(device)]; }

    void begin() {
        has_begun_ = true;
        if (device_count() == 1) return;
        for (Allocation& variable : live_allocations()) {
            if (variable.kind != MemoryKind::symbol || variable.is_managed || variable.name.empty()) continue;
            first_values_.insert(first_values_.end(), variable.address, variable.address + variable.bytes);
            variables_.push_back(std::move(variable));
        }
        for (int device = 0; device < device_count(); ++device) values_of(device) = first_values_;
    }

    bool has_begun_ = false;
    int loaded_ = 0;
    std::vector<Allocation> variables_;
    std::vector<std::byte> first_values_;
    std::array<std::vector<std::byte>, kMostDevices> values_;
};

struct Work {
    int device = 0;
    cudaStream_t stream = nullptr;
    std::vector<std::shared_ptr<Work>> after;
    DeviceWork::Step step;
    DeviceStep number = 0;  ///< for races between devices
    bool done = false;
};

class Scheduler final : public DeviceWork {
public:
    Lock enter() override {
        Lock lock(mutex_);
        variables_.load(current_device);
        return lock;
    }

    bool is_busy(cudaStream_t stream) override {
        const Lock lock(mutex_);
        return std::any_of(waiting_.begin(), waiting_.end(),
                           [&](const auto& work) { return waits_for(stream, *work); });
    }

    void add(cudaStream_t stream, Step step) override {
        const Lock lock(mutex_);
        (void)give(stream, std::move(step));
    }

    void launch(cudaStream_t stream,
                std::function<void(const std::function<void()>&, std::atomic<bool>&)> run) override {
        struct Running {
            SideThread* thread = nullptr;
            std::atomic<bool> overdue = false;
        };
        auto running = std::make_shared<Running>();
        const int device = device_of_stream(stream);
        const Lock lock(mutex_);
        (void)give(stream, [this, device, running, run = std::move(run)](bool overdue) {
            if (overdue) running->overdue = true;
            if (running->thread == nullptr) {
                running->thread = take_thread();
                running->thread->begin([running, device, &run] {
                    current_device = device;
                    const auto park = [&running] {
                        if (!running->overdue) running->thread->set_aside();
                    };
                    run(park, running->overdue);
                });
            }
            if (!running->thread->resume()) return false;
            idle_threads_.push_back(running->thread);
            return true;
        });
    }

    void record(cudaEvent_t event, cudaStream_t stream, std::function<void()> note_time) override {
        const Lock lock(mutex_);
        const std::shared_ptr<Work> work = give(stream, [note = std::move(note_time)](bool) {
            note();
            return true;
        });
        if (work->done) {
            events_.erase(event);
        } else {
            events_[event] = work;
        }
    }

    void wait(cudaStream_t stream, cudaEvent_t event) override {
        const Lock lock(mutex_);
        const auto recorded = events_.find(event);
        if (recorded == events_.end() || recorded->second->done) return;
        (void)give(
            stream, [](bool) { return true; }, recorded->second);
    }

    bool is_done(cudaEvent_t event) override {
        const Lock lock(mutex_);
        const auto recorded = events_.find(event);
        return recorded == events_.end() || recorded->second->done;
    }

    cudaError_t finish(cudaStream_t stream) override {
        return finish_all(device_of_stream(stream), [&](const Work& work) { return waits_for(stream, work); });
    }

    cudaError_t finish(cudaEvent_t event) override {
        std::shared_ptr<Work> recorded;
        {
            const Lock lock(mutex_);
            const auto found = events_.find(event);
            if (found == events_.end()) return cudaSuccess;
            recorded = found->second;
        }
        return finish_all(recorded->device, [&](const Work& work) { return &work == recorded.get(); });
    }

    cudaError_t finish_device() override {
        const int device = current_device;
        return finish_all(device, [device](const Work& work) { return work.device == device; });
    }

    void progress() override {
        const Lock lock(mutex_);
        (void)go_on(false);
    }

    void fail(int device, cudaError_t error) override {
        const Lock lock(mutex_);
        errors_[static_cast<std::size_t>(device)] = error;
    }

    void reset_device() override {
        const Lock lock(mutex_);
        // A kernel that was set aside keeps its thread.
        for (const auto& work : waiting_) work->done = work->done || work->device == current_device;
        forget_done();
        errors_[static_cast<std::size_t>(current_device)] = cudaSuccess;
        variables_.reset(current_device);
    }

private:
    /// Whether what the stream is given now comes after that work.
    static bool waits_for(cudaStream_t stream, const Work& work) {
        if (work.device != device_of_stream(stream)) return false;
        const auto plain = [](cudaStream_t one) { return one == cudaStreamLegacy ? nullptr : one; };
        if (plain(work.stream) == plain(stream)) return true;
        return (is_legacy(stream) && stream_is_blocking(work.stream)) ||
               (is_legacy(work.stream) && stream_is_blocking(stream));
    }

    std::shared_ptr<Work> give(cudaStream_t stream, Step step, const std::shared_ptr<Work>& also_after = nullptr) {
        auto work = std::make_shared<Work>();
        work->device = device_of_stream(stream);
        work->stream = stream;
        work->step = std::move(step);
        work->number = present_device_step;
        for (const auto& other : waiting_) {
            if (waits_for(stream, *other)) work->after.push_back(other);
        }
        if (also_after != nullptr) work->after.push_back(also_after);
        if (is_ready(*work) && carry_out(*work, false)) return work;
        waiting_.push_back(work);
        return work;
    }

    static bool is_ready(const Work& work) {
        return std::all_of(work.after.begin(), work.after.end(), [](const auto& one) { return one->done; });
    }

    bool carry_out(Work& work, bool overdue) {
        const OnDevice device(work.device);
        const InDeviceStep in(work.number);
        variables_.load(work.device);
        run_device_step(work.number);
        work.done = work.step(overdue);
        run_device_step(0);
        if (work.done) {
            last_end_ = Clock::now();
            work.step = nullptr;
            work.after.clear();
        }
        return work.done;
    }

    /// Each piece of work that can go on does so. True if any has ended.
    bool go_on(bool overdue) {
        bool some_ended = false;
        for (std::size_t i = 0; i < waiting_.size(); ++i) {  // a step may add more
            const std::shared_ptr<Work> work = waiting_[i];
            if (!work->done && is_ready(*work)) some_ended = carry_out(*work, overdue) || some_ended;
        }
        forget_done();
        return some_ended;
    }

    void forget_done() {
        std::erase_if(waiting_, [](const auto& work) { return work->done; });
    }

    template <class Wanted>
    cudaError_t finish_all(int device, const Wanted& wanted) {
        const OnDevice on(device);
        Lock lock(mutex_);
        const auto is_open = [&] {
            return std::any_of(waiting_.begin(), waiting_.end(), [&](const auto& work) { return wanted(*work); });
        };
        if (is_open()) {
            last_end_ = Clock::now();
            for (unsigned turns = 0;; ++turns) {
                const std::chrono::duration<double> quiet = Clock::now() - last_end_;
                const bool overdue = watchdog_seconds() > 0 && quiet.count() > watchdog_seconds();
                const bool some_ended = go_on(overdue);
                if (!is_open()) break;
                if (some_ended) continue;
                // What is waited for may come from another thread, or from another process.
                lock.unlock();
                if (turns >= 4) std::this_thread::sleep_for(std::chrono::microseconds(turns < 1000 ? 20 : 200));
                lock.lock();
            }
        }
        const cudaError_t error = std::exchange(errors_[static_cast<std::size_t>(device)], cudaSuccess);
        const cudaError_t status = device_status(true);
        return status != cudaSuccess ? status : error;
    }

    SideThread* take_thread() {
        if (idle_threads_.empty()) return new SideThread;  // it lives as long as the process
        SideThread* const thread = idle_threads_.back();
        idle_threads_.pop_back();
        return thread;
    }

    std::recursive_mutex mutex_;
    std::vector<std::shared_ptr<Work>> waiting_;  ///< in the order in which it was given
    std::map<cudaEvent_t, std::shared_ptr<Work>> events_;
    std::vector<SideThread*> idle_threads_;
    std::array<cudaError_t, kMostDevices> errors_{};
    DeviceVariables variables_;
    Clock::time_point last_end_ = Clock::now();
};

}  // namespace

void enable_device_work() {
    static Scheduler* const scheduler = new Scheduler;  // still needed when the process exits
    present_device_work = scheduler;
}

namespace {

// This file is linked by programs that call cudaSetDevice, or use NCCL.
[[maybe_unused]] const bool is_enabled = [] {
    if (device_count() > 1) enable_device_work();
    return device_count() > 1;
}();

}  // namespace

}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaSetDevice(int device) {
    if (!device_exists(device)) return api_result(cudaErrorInvalidDevice);
    current_device = device;
    return cudaSuccess;
}

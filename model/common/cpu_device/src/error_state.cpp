#include "cpu_device/error_state.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "api_call.h"
#include "cpu_device/diagnostics.h"
#include "cpu_device/instrument.h"
#include "cpu_device/runtime_api.h"
#include "device_output.h"
#include "devices.h"
#include "diagnoser.h"
#include "source_lines.h"

namespace cpu_device {
namespace {

constinit thread_local cudaError_t last_error = cudaSuccess;

std::string name_and_text(cudaError_t error) {
    return std::string(cudaGetErrorName(error)) + ", \"" + cudaGetErrorString(error) + "\"";
}

/// An error that a call returned to nobody.
struct UnseenCall {
    DroppedCall call;
    cudaError_t error = cudaSuccess;
    std::uint64_t count = 0;
};

/// Those of one thread, one for each line and error, in order. Only as many as anybody reads.
struct UnseenCalls {
    static constexpr std::size_t kMost = 100;
    std::vector<UnseenCall> all;

    UnseenCalls() = default;
    UnseenCalls(const UnseenCalls&) = delete;
    UnseenCalls& operator=(const UnseenCalls&) = delete;
    ~UnseenCalls() { report_them(); }  // the thread ends: nobody can look any more

    void add(const DroppedCall& call, cudaError_t error) {
        const auto known = std::find_if(all.begin(), all.end(), [&](const UnseenCall& one) {
            return one.error == error && one.call.site.line == call.site.line &&
                   std::string_view(one.call.function) == call.function;
        });
        if (known != all.end()) {
            ++known->count;
        } else if (all.size() < kMost) {
            all.push_back({call, error, 1});
        }
    }

    void report_them() {
        for (const UnseenCall& unseen : std::exchange(all, {})) {
            Diagnostic found{};
            found.count = unseen.count;
            found.kind = DiagnosticKind::unseen_error;
            found.message =
                std::string(unseen.call.function) + " returned " + name_and_text(unseen.error) +
                ", and the program never checked for this error: it went on as if the call had done its work";
            found.site = unseen.call.site;
            found.hint = "compare what the call returns with cudaSuccess, or ask cudaGetLastError() afterwards";
            report(std::move(found));
        }
    }
};

thread_local UnseenCalls unseen_calls;

/// What is wrong with the present call was reported in more detail.
constinit thread_local bool misuse_was_reported = false;

/// A launch whose error the program has not looked at.
struct UnseenLaunch {
    cudaError_t error = cudaSuccess;
    std::string kernel;
    std::string reason;
    Site site;
    std::uint64_t count = 0;  ///< how often in a row

    UnseenLaunch() = default;
    UnseenLaunch(const UnseenLaunch&) = delete;
    UnseenLaunch& operator=(const UnseenLaunch&) = delete;
    ~UnseenLaunch() { report_it(); }  // the thread ends: nobody can look any more

    void report_it() {
        if (count == 0) return;
        Diagnostic found{};
        found.count = std::exchange(count, 0);
        found.kind = DiagnosticKind::unseen_error;
        found.message = "the launch of " + kernel + " was refused with " + name_and_text(error) +
                        ", and the program never checked for this error: the kernel did not run";
        if (!reason.empty()) found.message += " (" + reason + ")";
        found.site = site;
        found.hint = "check cudaGetLastError() right after every launch";
        report(std::move(found));
    }
};

thread_local UnseenLaunch unseen_launch;

thread_local std::string last_refusal;

/// A call that returned an error of its own.
struct NotedCall {
    ApiCall call;
    cudaError_t error;
};
constexpr std::size_t kNotedCalls = 32;  // the first ones: what fails later mostly follows from them
thread_local std::vector<NotedCall> noted_calls;

/// These answer a question, or return an error that is an earlier call's.
bool answers_a_question(std::string_view function) {
    static constexpr std::array<std::string_view, 8> answers = {"cudaGetLastError",
                                                                "cudaPeekAtLastError",
                                                                "cudaStreamQuery",
                                                                "cudaEventQuery",
                                                                "cudaDeviceCanAccessPeer",
                                                                "cudaDeviceEnablePeerAccess",
                                                                "cudaDeviceDisablePeerAccess",
                                                                "cudaPointerGetAttributes"};
    return std::find(answers.begin(), answers.end(), function) != answers.end();
}

/// What the first kernel of a device that failed died of, and whether any call has waited for the device since.
struct Failure {
    std::atomic<cudaError_t> error = cudaSuccess;
    std::atomic<bool> seen = false;
};
constinit std::array<Failure, kMostDevices> failures{};

Failure& failure_of(int device) { return failures[static_cast<std::size_t>(device)]; }

/// The launches of those kernels. Guarded by the mutex.
struct FailedLaunch {
    std::string kernel;
    Site site;
};
struct FailedLaunches {
    std::mutex mutex;
    std::array<FailedLaunch, kMostDevices> of_device;
};

FailedLaunches& failed_launches() {
    static auto* launches = new FailedLaunches;  // still needed when the process exits
    return *launches;
}

void report_unseen_failure(int device) {
    const cudaError_t error = failure_of(device).error;
    if (error == cudaSuccess || failure_of(device).seen.exchange(true)) return;
    Diagnostic found{};
    found.kind = DiagnosticKind::unseen_error;
    found.hint = "check what cudaDeviceSynchronize() returns before the program ends";
    {
        FailedLaunches& all = failed_launches();
        std::lock_guard lock(all.mutex);
        const FailedLaunch& launch = all.of_device[static_cast<std::size_t>(device)];
        found.message =
            "kernel " + launch.kernel + " failed with " + name_and_text(error) + ", and no later call waited for it";
        found.site = launch.site;
    }
    report(std::move(found));
}

void report_unseen_failures() {
    for (int device = 0; device < device_count(); ++device) report_unseen_failure(device);
}

void unseen_errors_at_exit(int, void*) {
    flush_unseen_output();
    if (instrumenting().diagnostics) report_unseen_failures();
}

// The number is a place among all that runs before main: behind diagnostics.cpp, whose handler therefore runs after
// this one, and ahead of the program's own variables.
__attribute__((constructor(102))) void register_unseen_errors() { on_exit(unseen_errors_at_exit, nullptr); }

}  // namespace

cudaError_t api_result(cudaError_t error) {
    if (error != cudaSuccess) last_error = error;
    return error;
}

void launch_refused(cudaError_t error, const LaunchSite& launch, const std::string& reason) {
    if (error == cudaSuccess) return;
    api_result(error);
    if (!reason.empty()) {
        last_refusal = "the launch of " + std::string(launch.kernel) + " at " + short_name(launch.site.file) + ":" +
                       std::to_string(launch.site.line) + " was refused: " + reason;
    }
    if (!instrumenting().diagnostics || device_is_lost()) return;
    UnseenLaunch& last = unseen_launch;
    const bool again = last.count > 0 && last.site.line == launch.site.line && last.kernel == launch.kernel;
    if (!again) {
        last.report_it();
        last.error = error;
        last.kernel = launch.kernel;
        last.reason = reason;
        last.site = launch.site;
    }
    ++last.count;
}

std::string take_refused_launch() { return std::exchange(last_refusal, {}); }

void forget_refused_launch() { unseen_launch.count = 0; }

DroppedCall dropped(const char* function, Site site) {
    misuse_was_reported = false;
    return {function, site};
}

void note_dropped_error(const DroppedCall& call, cudaError_t error) {
    // After a kernel has failed, every call returns its error: that kernel is what the program has to hear of.
    if (!instrumenting().diagnostics || device_is_lost() || misuse_was_reported) return;
    if (answers_a_question(call.function)) return;
    if (error == cudaErrorHostMemoryAlreadyRegistered || error == cudaErrorHostMemoryNotRegistered) return;
    unseen_calls.add(call, error);
}

void note_failed_call(const ApiCall& call, cudaError_t error) {
    if (!instrumenting().diagnostics || device_is_lost() || answers_a_question(call.function)) return;
    if (noted_calls.size() < kNotedCalls) noted_calls.push_back({call, error});
}

std::optional<FailedCall> take_failed_call(cudaError_t error) {
    const std::vector<NotedCall> noted = std::exchange(noted_calls, {});
    const auto found = std::find_if(noted.begin(), noted.end(), [&](const NotedCall& one) {
        return one.error == error && std::string_view(one.call.function).starts_with("cuda");
    });
    if (found == noted.end()) return std::nullopt;
    const Site site = place_of(found->call);
    // A function of the runtime that shares its body with others may only know its own line.
    const bool is_ours = site.line > 0 && std::string_view(site.file).find("/common/cpu_device/") != std::string::npos;
    return FailedCall{found->call.function, is_ours ? Site{} : site};
}

void kernel_failed(cudaError_t error, const LaunchSite& launch) {
    cudaError_t none = cudaSuccess;
    if (!failure_of(current_device).error.compare_exchange_strong(none, error)) return;
    FailedLaunches& all = failed_launches();
    std::lock_guard lock(all.mutex);
    all.of_device[static_cast<std::size_t>(current_device)] = {launch.kernel, launch.site};
}

cudaError_t device_status(bool waits) {
    if (waits) {
        flush_device_output();
        nothing_overlaps();
    }
    Failure& failure = failure_of(current_device);
    const cudaError_t error = failure.error.load(std::memory_order_acquire);
    if (error == cudaSuccess) return cudaSuccess;
    if (waits) failure.seen = true;
    return failure.seen ? error : cudaSuccess;
}

bool device_is_lost() { return failure_of(current_device).error.load(std::memory_order_acquire) != cudaSuccess; }

void report_unseen_errors() {
    flush_unseen_output();
    if (!instrumenting().diagnostics) return;
    unseen_calls.report_them();
    unseen_launch.report_it();
    report_unseen_failures();
}

cudaError_t exchange_last_error(cudaError_t next) { return std::exchange(last_error, next); }

void forget_kernel_failure() {
    failure_of(current_device).seen = false;
    failure_of(current_device).error = cudaSuccess;
}

std::vector<Site> sites_of_code(const std::vector<const void*>& code) {
    static std::mutex mutex;
    static auto* files = new std::set<std::string>;  // sites point to their names for as long as the process lives
    std::vector<Site> sites;
    const std::vector<SourceLine> lines = source_lines(code);
    std::lock_guard lock(mutex);
    for (const SourceLine& line : lines) {
        sites.push_back(line.line > 0 ? Site{files->insert(line.file).first->c_str(), line.line} : Site{});
    }
    return sites;
}

Site site_of_code(const void* code) { return code == nullptr ? Site{} : sites_of_code({code}).front(); }

Site place_of(const ApiCall& call) { return call.site.line > 0 ? call.site : site_of_code(call.code); }

void report_misuse(DiagnosticKind kind, const ApiCall& call, const std::string& message, const char* hint,
                   const std::string& array, const std::optional<OtherSide>& other) {
    if (!instrumenting().diagnostics) return;
    Diagnostic found{};
    found.kind = kind;
    found.message = std::string(call.function) + " " + message;
    found.site = place_of(call);
    found.hint = hint;
    found.array = array;
    found.other = other;
    report(std::move(found));
    misuse_was_reported = true;
}

cudaError_t unsupported(const char* feature, Site site, const char* hint) {
    Diagnostic found{};
    found.kind = DiagnosticKind::unsupported;
    found.message = std::string("the program uses ") + feature;
    found.site = site;
    found.hint = hint;
    report(std::move(found));
    misuse_was_reported = true;
    return cudaErrorNotSupported;
}

}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaGetLastError() {
    forget_refused_launch();
    unseen_calls.all.clear();
    return exchange_last_error(cudaSuccess);
}

cudaError_t cudaPeekAtLastError() {
    forget_refused_launch();
    unseen_calls.all.clear();
    return last_error;
}

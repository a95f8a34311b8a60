// Marks and ranges of NVTX: kept for the log (cpu_device/range_log.h), and to report those that are never ended.
#include "nvtx3/nvToolsExt.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "activity_log.h"
#include "cpu_device/activity_log.h"
#include "cpu_device/range_log.h"
#include "live_objects.h"

// Tools give these to programs as handles.
struct nvtxDomainRegistration_st {
    std::string name;
};
struct nvtxStringRegistration_st {
    std::string text;
};

namespace cpu_device {
namespace {

constexpr std::size_t kNotLogged = ~std::size_t{0};

struct OpenRange {
    std::uint64_t id = 0;            ///< of all ranges, from 1
    std::uint64_t log = 0;           ///< the number of the log that has it
    std::size_t place = kNotLogged;  ///< in that log
    nvtxDomainHandle_t domain = nullptr;
};

struct Ranges {
    std::mutex mutex;
    std::uint64_t last_id = 0;
    std::uint64_t log = 1;  ///< another number after each forget_ranges()
    std::vector<LoggedRange> logged;
    std::map<nvtxRangeId_t, OpenRange> of_process;
    // Never freed: programs keep the handles.
    std::vector<std::unique_ptr<nvtxDomainRegistration_st>> domains;
    std::vector<std::unique_ptr<nvtxStringRegistration_st>> strings;
};

Ranges& all_ranges() {
    static auto* all = new Ranges;  // still needed when the process exits
    return *all;
}

/// The ranges that this thread has pushed, the innermost last.
std::vector<OpenRange>& pushed_ranges() {
    thread_local std::vector<OpenRange> stack;
    return stack;
}

std::string message_text(const char* message) { return message == nullptr ? std::string() : message; }

/// Letters outside of ASCII become question marks: names are for tables.
std::string message_text(const wchar_t* message) {
    std::string text;
    for (; message != nullptr && *message != 0; ++message) {
        text += *message > 0 && *message < 128 ? static_cast<char>(*message) : '?';
    }
    return text;
}

std::string message_text(const nvtxEventAttributes_t* attributes) {
    if (attributes == nullptr) return {};
    switch (attributes->messageType) {
        case NVTX_MESSAGE_TYPE_ASCII:
            return message_text(attributes->message.ascii);
        case NVTX_MESSAGE_TYPE_UNICODE:
            return message_text(attributes->message.unicode);
        case NVTX_MESSAGE_TYPE_REGISTERED:
            return attributes->message.registered == nullptr ? std::string() : attributes->message.registered->text;
        default:
            return {};
    }
}

const void* handle_of_range(std::uint64_t id) { return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(id)); }

OpenRange begin_range(LoggedRange range, nvtxDomainHandle_t domain, const void* code) {
    Ranges& all = all_ranges();
    const std::size_t call = logs_activity() ? logged_calls().size() : 0;
    const std::lock_guard lock(all.mutex);
    OpenRange open{++all.last_id, all.log, kNotLogged, domain};
    if (logs_activity()) {
        if (domain != nullptr) range.domain = domain->name;
        range.first_call = range.end_call = call;
        open.place = all.logged.size();
        all.logged.push_back(std::move(range));
    }
    note_created(ObjectKind::profiler_range, handle_of_range(open.id), code);
    return open;
}

void end_range(const OpenRange& open) {
    note_destroyed(ObjectKind::profiler_range, handle_of_range(open.id));
    const std::size_t call = logs_activity() ? logged_calls().size() : 0;
    Ranges& all = all_ranges();
    const std::lock_guard lock(all.mutex);
    if (open.place == kNotLogged || open.log != all.log) return;
    LoggedRange& range = all.logged[open.place];
    range.has_ended = true;
    if (logs_activity()) range.end_call = call;
}

int push_range(std::string name, nvtxDomainHandle_t domain, const void* code) {
    std::vector<OpenRange>& stack = pushed_ranges();
    const auto is_of_domain = [&](const OpenRange& open) { return open.domain == domain; };
    const auto level = static_cast<int>(std::count_if(stack.begin(), stack.end(), is_of_domain));
    stack.push_back(begin_range({.name = std::move(name), .level = level}, domain, code));
    return logs_activity() ? level : NVTX_NO_PUSH_POP_TRACKING;
}

/// The innermost range of this domain: each has ranges of its own.
int pop_range(nvtxDomainHandle_t domain) {
    std::vector<OpenRange>& stack = pushed_ranges();
    const auto innermost =
        std::find_if(stack.rbegin(), stack.rend(), [&](const OpenRange& open) { return open.domain == domain; });
    if (innermost == stack.rend()) return NVTX_NO_PUSH_POP_TRACKING;
    const OpenRange open = *innermost;
    stack.erase(std::next(innermost).base());
    end_range(open);
    const auto is_of_domain = [&](const OpenRange& other) { return other.domain == domain; };
    const auto level = static_cast<int>(std::count_if(stack.begin(), stack.end(), is_of_domain));
    return logs_activity() ? level : NVTX_NO_PUSH_POP_TRACKING;
}

nvtxRangeId_t start_range(std::string name, nvtxDomainHandle_t domain, const void* code) {
    const OpenRange open = begin_range({.name = std::move(name), .is_of_process = true}, domain, code);
    Ranges& all = all_ranges();
    const std::lock_guard lock(all.mutex);
    all.of_process[open.id] = open;
    return open.id;
}

void end_of_process(nvtxRangeId_t id) {
    Ranges& all = all_ranges();
    OpenRange open;
    {
        const std::lock_guard lock(all.mutex);
        const auto found = all.of_process.find(id);
        if (found == all.of_process.end()) return;
        open = found->second;
        all.of_process.erase(found);
    }
    end_range(open);
}

void add_mark(std::string name, nvtxDomainHandle_t domain) {
    if (!logs_activity()) return;
    const std::size_t call = logged_calls().size();
    Ranges& all = all_ranges();
    const std::lock_guard lock(all.mutex);
    all.logged.push_back({.name = std::move(name),
                          .domain = domain == nullptr ? std::string() : domain->name,
                          .first_call = call,
                          .end_call = call,
                          .is_mark = true,
                          .has_ended = true});
}

nvtxDomainHandle_t make_domain(std::string name) {
    Ranges& all = all_ranges();
    const std::lock_guard lock(all.mutex);
    return all.domains.emplace_back(new nvtxDomainRegistration_st{std::move(name)}).get();
}

nvtxStringHandle_t make_string(std::string text) {
    Ranges& all = all_ranges();
    const std::lock_guard lock(all.mutex);
    return all.strings.emplace_back(new nvtxStringRegistration_st{std::move(text)}).get();
}

}  // namespace

void forget_ranges() {
    Ranges& all = all_ranges();
    const std::lock_guard lock(all.mutex);
    all.logged.clear();
    ++all.log;
}

std::vector<LoggedRange> logged_ranges() {
    const std::size_t calls = logged_calls().size();
    Ranges& all = all_ranges();
    const std::lock_guard lock(all.mutex);
    std::vector<LoggedRange> result = all.logged;
    for (LoggedRange& range : result) {
        if (!range.has_ended) range.end_call = calls;
    }
    return result;
}

}  // namespace cpu_device

using namespace cpu_device;

void nvtxMarkA(const char* message) { add_mark(message_text(message), nullptr); }
void nvtxMarkW(const wchar_t* message) { add_mark(message_text(message), nullptr); }
void nvtxMarkEx(const nvtxEventAttributes_t* attributes) { add_mark(message_text(attributes), nullptr); }

int nvtxRangePushA(const char* message) {
    return push_range(message_text(message), nullptr, __builtin_return_address(0));
}
int nvtxRangePushW(const wchar_t* message) {
    return push_range(message_text(message), nullptr, __builtin_return_address(0));
}
int nvtxRangePushEx(const nvtxEventAttributes_t* attributes) {
    return push_range(message_text(attributes), nullptr, __builtin_return_address(0));
}
int nvtxRangePop() { return pop_range(nullptr); }

nvtxRangeId_t nvtxRangeStartA(const char* message) {
    return start_range(message_text(message), nullptr, __builtin_return_address(0));
}
nvtxRangeId_t nvtxRangeStartW(const wchar_t* message) {
    return start_range(message_text(message), nullptr, __builtin_return_address(0));
}
nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t* attributes) {
    return start_range(message_text(attributes), nullptr, __builtin_return_address(0));
}
void nvtxRangeEnd(nvtxRangeId_t range) { end_of_process(range); }

nvtxDomainHandle_t nvtxDomainCreateA(const char* name) { return make_domain(message_text(name)); }
nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t* name) { return make_domain(message_text(name)); }
nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t /*domain*/, const char* string) {
    return make_string(message_text(string));
}
nvtxStringHandle_t nvtxDomainRegisterStringW(nvtxDomainHandle_t /*domain*/, const wchar_t* string) {
    return make_string(message_text(string));
}
void nvtxDomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
    add_mark(message_text(attributes), domain);
}
int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
    return push_range(message_text(attributes), domain, __builtin_return_address(0));
}
int nvtxDomainRangePop(nvtxDomainHandle_t domain) { return pop_range(domain); }
nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
    return start_range(message_text(attributes), domain, __builtin_return_address(0));
}
void nvtxDomainRangeEnd(nvtxDomainHandle_t /*domain*/, nvtxRangeId_t range) { end_of_process(range); }

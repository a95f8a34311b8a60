// Managed memory, and what programs tell of memory without changing what is in it: where pages should be, and what the
// L2 cache should keep. All of that is checked and remembered; it has no effect here, because all memory is the host's
// and no cache is modelled. What shows is whether host code uses managed memory before it has waited for a kernel.
#include <algorithm>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "access_policy.h"
#include "allocations.h"
#include "api_call.h"
#include "capture.h"
#include "cpu_device/device_model.h"
#include "cpu_device/runtime_api.h"
#include "devices.h"
#include "instrumented_code.h"
#include "shadow_memory.h"
#include "stream_order.h"
#include "streams.h"

namespace cpu_device {
namespace {

constexpr std::size_t advice_page_bytes = 4096;
constexpr cudaMemLocation nowhere = {cudaMemLocationTypeInvalid, cudaInvalidDeviceId};

bool same_place(const cudaMemLocation& a, const cudaMemLocation& b) {
    return a.type == b.type && (a.type != cudaMemLocationTypeDevice || a.id == b.id);
}

/// What a program has said of a page of managed memory.
struct PageAdvice {
    bool read_mostly = false;
    bool accessed_by_device = false;
    bool accessed_by_host = false;
    cudaMemLocation preferred = nowhere;
    cudaMemLocation prefetched_to = nowhere;
};

struct ManagedAdvice {
    std::mutex mutex;
    std::map<const std::byte*, std::vector<PageAdvice>> pages;  ///< by allocation; only of those that were spoken of
};

ManagedAdvice& managed_advice() {
    static auto* all = new ManagedAdvice;  // still needed when the process exits
    return *all;
}

/// The managed memory that holds these bytes.
std::optional<Allocation> find_managed(const void* pointer, std::size_t bytes) {
    auto allocation = find_for_host(pointer);
    const bool good =
        bytes > 0 && allocation && allocation->kind == MemoryKind::managed && allocation->holds(pointer, bytes);
    if (!good) allocation.reset();
    return allocation;
}

/// Calls `visit(page)` for each page of which the bytes are a part; cudaErrorInvalidValue for other memory.
template <class Visit>
cudaError_t for_pages(const void* pointer, std::size_t bytes, const Visit& visit) {
    const auto allocation = find_managed(pointer, bytes);
    if (!allocation) return cudaErrorInvalidValue;
    ManagedAdvice& all = managed_advice();
    const RuntimeLock lock(all.mutex);
    std::vector<PageAdvice>& pages = all.pages[allocation->address];
    pages.resize((allocation->bytes + advice_page_bytes - 1) / advice_page_bytes);
    const auto first = static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - allocation->address);
    for (std::size_t page = first / advice_page_bytes; page <= (first + bytes - 1) / advice_page_bytes; ++page)
        visit(pages[page]);
    return cudaSuccess;
}

cudaError_t check_location(cudaMemLocation location) {
    switch (location.type) {
        case cudaMemLocationTypeDevice:
            return device_exists(location.id) ? cudaSuccess : cudaErrorInvalidDevice;
        case cudaMemLocationTypeHost:
        case cudaMemLocationTypeHostNuma:
        case cudaMemLocationTypeHostNumaCurrent:
            return cudaSuccess;
        case cudaMemLocationTypeInvalid:
            break;
    }
    return cudaErrorInvalidValue;
}

cudaMemLocation location_of(int device) {
    if (device == cudaCpuDeviceId) return {cudaMemLocationTypeHost, 0};
    return {cudaMemLocationTypeDevice, device};
}

void advise(PageAdvice& page, cudaMemoryAdvise advice, cudaMemLocation location) {
    bool& accessed = location.type == cudaMemLocationTypeDevice ? page.accessed_by_device : page.accessed_by_host;
    switch (advice) {
        case cudaMemAdviseSetReadMostly:
        case cudaMemAdviseUnsetReadMostly:
            page.read_mostly = advice == cudaMemAdviseSetReadMostly;
            break;
        case cudaMemAdviseSetPreferredLocation:
            page.preferred = location;
            break;
        case cudaMemAdviseUnsetPreferredLocation:
            page.preferred = nowhere;
            break;
        case cudaMemAdviseSetAccessedBy:
        case cudaMemAdviseUnsetAccessedBy:
            accessed = advice == cudaMemAdviseSetAccessedBy;
            break;
    }
}

/// What all pages of a range have in common.
struct CommonAdvice {
    PageAdvice all;
    bool is_first = true;

    void add(const PageAdvice& page) {
        if (std::exchange(is_first, false)) {
            all = page;
            return;
        }
        all.read_mostly = all.read_mostly && page.read_mostly;
        all.accessed_by_device = all.accessed_by_device && page.accessed_by_device;
        all.accessed_by_host = all.accessed_by_host && page.accessed_by_host;
        if (!same_place(all.preferred, page.preferred)) all.preferred = nowhere;
        if (!same_place(all.prefetched_to, page.prefetched_to)) all.prefetched_to = nowhere;
    }
};

/// A location as older programs know it: a device, cudaCpuDeviceId, or cudaInvalidDeviceId.
int device_of(const cudaMemLocation& location) {
    if (location.type == cudaMemLocationTypeDevice) return location.id;
    return location.type == cudaMemLocationTypeInvalid ? cudaInvalidDeviceId : cudaCpuDeviceId;
}

cudaError_t range_attribute(void* data, std::size_t bytes, cudaMemRangeAttribute attribute, const void* pointer,
                            std::size_t count) {
    const bool is_list = attribute == cudaMemRangeAttributeAccessedBy;
    const bool right_size = is_list ? bytes > 0 && bytes % sizeof(int) == 0 : bytes == sizeof(int);
    if (data == nullptr || !right_size) return cudaErrorInvalidValue;
    CommonAdvice common;
    const cudaError_t error = for_pages(pointer, count, [&](const PageAdvice& page) { common.add(page); });
    if (error != cudaSuccess) return error;
    const PageAdvice& all = common.all;
    const auto answer = [&](int value) {
        std::memcpy(data, &value, sizeof value);
        return cudaSuccess;
    };
    switch (attribute) {
        case cudaMemRangeAttributeReadMostly:
            return answer(all.read_mostly ? 1 : 0);
        case cudaMemRangeAttributePreferredLocation:
            return answer(device_of(all.preferred));
        case cudaMemRangeAttributeLastPrefetchLocation:
            return answer(device_of(all.prefetched_to));
        case cudaMemRangeAttributePreferredLocationType:
            return answer(all.preferred.type);
        case cudaMemRangeAttributePreferredLocationId:
            return answer(all.preferred.id);
        case cudaMemRangeAttributeLastPrefetchLocationType:
            return answer(all.prefetched_to.type);
        case cudaMemRangeAttributeLastPrefetchLocationId:
            return answer(all.prefetched_to.id);
        case cudaMemRangeAttributeAccessedBy: {
            std::vector<int> devices;
            if (all.accessed_by_device) devices.push_back(0);
            if (all.accessed_by_host) devices.push_back(cudaCpuDeviceId);
            devices.resize(bytes / sizeof(int), cudaInvalidDeviceId);
            std::memcpy(data, devices.data(), bytes);
            return cudaSuccess;
        }
    }
    return cudaErrorInvalidValue;
}

// ---- managed memory that the host uses too early ----------------------------------------------------------------

/// A launch that uses managed memory.
struct ManagedLaunch {
    Stamp first = 0;  ///< of its blocks; those of the next launch are later
    WorkStamp work;
    std::string kernel;
    Site site;
    bool is_done = false;  ///< the host has looked at what the kernel says by a relaxed write, and may know more
};

struct ManagedLaunches {
    static constexpr std::size_t most = 256;
    std::mutex mutex;
    std::deque<ManagedLaunch> all;   ///< the last ones, in their order
    std::set<const void*> reported;  ///< code of the host

    /// The launch that an access of a kernel belongs to.
    ManagedLaunch* of(Stamp access) {
        const auto next = std::upper_bound(all.begin(), all.end(), access,
                                           [](Stamp a, const ManagedLaunch& launch) { return a < launch.first; });
        return next == all.begin() ? nullptr : &*std::prev(next);
    }
};

ManagedLaunches& managed_launches() {
    static auto* all = new ManagedLaunches;  // still needed when the process exits
    return *all;
}

/// The launch that has used what the cell stands for, and that the host has not waited for.
ManagedLaunch* unfinished(ManagedLaunches& launches, const Cell& cell, bool host_writes) {
    const auto look = [&](Stamp access, Mark mark) -> ManagedLaunch* {
        ManagedLaunch* launch = access == 0 ? nullptr : launches.of(access);
        if (launch == nullptr || launch->is_done || host_knows(launch->work)) return nullptr;
        if ((mark & kRelaxed) == 0) return launch;
        launch->is_done = true;
        return nullptr;
    };
    ManagedLaunch* found = look(cell.write, cell.mark(Cell::kWrite));
    for (unsigned i = 0; host_writes && found == nullptr && i < 2; ++i)
        found = look(cell.read[i], cell.mark(Cell::kRead + i));
    return found;
}

// ---- attributes of streams -----------------------------------------------------------------------------------

struct StreamAttributes {
    cudaAccessPolicyWindow window = {nullptr, 0, 0.0f, cudaAccessPropertyNormal, cudaAccessPropertyNormal};
    cudaSynchronizationPolicy sync_policy = cudaSyncPolicyAuto;
    cudaLaunchMemSyncDomain domain = cudaLaunchMemSyncDomainDefault;
    cudaLaunchMemSyncDomainMap domains = {0, 1};
};

struct AllStreamAttributes {
    std::mutex mutex;
    std::map<cudaStream_t, StreamAttributes> of;  ///< a handle is never used twice
};

AllStreamAttributes& all_stream_attributes() {
    static auto* all = new AllStreamAttributes;  // still needed when the process exits
    return *all;
}

cudaError_t set_attribute(cudaStream_t stream, cudaLaunchAttributeID id, const cudaLaunchAttributeValue& value) {
    AllStreamAttributes& all = all_stream_attributes();
    const RuntimeLock lock(all.mutex);
    StreamAttributes& attributes = all.of[stream];
    switch (id) {
        case cudaLaunchAttributeAccessPolicyWindow:
            if (!is_allowed(value.accessPolicyWindow)) return cudaErrorInvalidValue;
            attributes.window = value.accessPolicyWindow;
            return cudaSuccess;
        case cudaLaunchAttributeSynchronizationPolicy:
            if (value.syncPolicy < cudaSyncPolicyAuto || value.syncPolicy > cudaSyncPolicyBlockingSync)
                return cudaErrorInvalidValue;
            attributes.sync_policy = value.syncPolicy;
            return cudaSuccess;
        case cudaLaunchAttributeMemSyncDomain:
            attributes.domain = value.memSyncDomain;
            return cudaSuccess;
        case cudaLaunchAttributeMemSyncDomainMap:
            attributes.domains = value.memSyncDomainMap;
            return cudaSuccess;
        case cudaLaunchAttributePriority:
            set_stream_priority(stream, value.priority);
            return cudaSuccess;
        default:
            return cudaErrorInvalidValue;
    }
}

cudaError_t get_attribute(cudaStream_t stream, cudaLaunchAttributeID id, cudaLaunchAttributeValue& value) {
    AllStreamAttributes& all = all_stream_attributes();
    const RuntimeLock lock(all.mutex);
    const StreamAttributes& attributes = all.of[stream];
    switch (id) {
        case cudaLaunchAttributeAccessPolicyWindow:
            value.accessPolicyWindow = attributes.window;
            return cudaSuccess;
        case cudaLaunchAttributeSynchronizationPolicy:
            value.syncPolicy = attributes.sync_policy;
            return cudaSuccess;
        case cudaLaunchAttributeMemSyncDomain:
            value.memSyncDomain = attributes.domain;
            return cudaSuccess;
        case cudaLaunchAttributeMemSyncDomainMap:
            value.memSyncDomainMap = attributes.domains;
            return cudaSuccess;
        case cudaLaunchAttributePriority:
            value.priority = stream_priority(stream);
            return cudaSuccess;
        default:
            return cudaErrorInvalidValue;
    }
}

}  // namespace

void note_managed_launch(const std::string& kernel, Site site, Stamp first, cudaStream_t stream) {
    const WorkStamp work = last_work(stream);
    ManagedLaunches& launches = managed_launches();
    const RuntimeLock lock(launches.mutex);
    // Numbers of blocks begin anew once in a very long while.
    while (!launches.all.empty() && launches.all.back().first >= first) launches.all.pop_back();
    launches.all.push_back({first, work, kernel, site, false});
    if (launches.all.size() > ManagedLaunches::most) launches.all.pop_front();
}

void look_at_host_access(const Allocation& allocation, const void* memory, std::size_t bytes, bool writes,
                         const void* code) {
    if (in_host_function()) return;
    AllocationShadow* const shadow = known_shadow(allocation.address);
    if (shadow == nullptr || !shadow->cells.exists()) return;
    std::string kernel;
    Site site;
    {
        ManagedLaunches& launches = managed_launches();
        const RuntimeLock lock(launches.mutex);
        if (launches.all.empty()) return;
        const ManagedLaunch* found = nullptr;
        const std::uintptr_t first = number_of(memory), end = first + bytes;
        for (std::uintptr_t word = first / 4 * 4; word < end && found == nullptr; word += 4) {
            const Cell& cell = shadow->cells.word(word - shadow->first_word);
            if (const Cell* of_bytes = ShadowMemory::bytes_of(cell, 1)) {
                for (std::uintptr_t byte = std::max(word, first); byte < std::min(word + 4, end); ++byte) {
                    if (found == nullptr) found = unfinished(launches, of_bytes[byte - word], writes);
                }
            } else if (!cell.is_split()) {
                found = unfinished(launches, cell, writes);
            }
        }
        if (found == nullptr || !launches.reported.insert(code).second) return;
        kernel = found->kernel;
        site = found->site;
    }
    Diagnostic early{};
    early.kind = DiagnosticKind::missing_order;
    early.message = std::string("host code ") + (writes ? "writes " : "reads ") + std::to_string(bytes) + " bytes of " +
                    describe(allocation) + ", while kernel " + kernel + " may still use them";
    early.code = code;
    early.array = allocation.display_name();
    early.other = OtherSide{site, {}, {}, "launched here, and the host has not waited for it"};
    early.hint =
        "call cudaDeviceSynchronize, or cudaStreamSynchronize for the stream of the launch, before host code "
        "uses managed memory that a kernel has used";
    report(std::move(early));
}

void forget_advice(const void* address) {
    ManagedAdvice& all = managed_advice();
    const RuntimeLock lock(all.mutex);
    all.pages.erase(static_cast<const std::byte*>(address));
}

void forget_stream_attributes() {
    AllStreamAttributes& all = all_stream_attributes();
    const RuntimeLock lock(all.mutex);
    all.of.clear();
}

}  // namespace cpu_device

using namespace cpu_device;

// Here, so that programs with managed memory keep the order of streams and host.
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags, Site site) {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return api_result(cudaErrorInvalidValue);
    return api_call(
        Waits::no,
        [&]() -> cudaError_t {
            return pointer == nullptr ? cudaErrorInvalidValue : allocate(MemoryKind::managed, bytes, 0, pointer, site);
        },
        ApiCall{"cudaMallocManaged", site, nullptr});
}

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy) return cudaErrorInvalidValue;
        const bool needs_location = advice == cudaMemAdviseSetPreferredLocation || advice >= cudaMemAdviseSetAccessedBy;
        const cudaError_t wrong_place = needs_location ? check_location(location) : cudaSuccess;
        if (wrong_place != cudaSuccess) return wrong_place;
        return for_pages(pointer, bytes, [&](PageAdvice& page) { advise(page, advice, location); });
    });
}

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, int device) {
    return cudaMemAdvise(pointer, bytes, advice, location_of(device));
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation location, unsigned flags,
                                 cudaStream_t stream) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (logs_activity()) log_stream(stream);
        if (flags != 0) return cudaErrorInvalidValue;
        if (!stream_exists(stream)) return cudaErrorInvalidResourceHandle;
        if (StreamCapture* const capture = stream_capture()) {
            if (const auto refused = capture->refuse(stream)) return *refused;
        }
        const cudaError_t wrong_place = check_location(location);
        if (wrong_place != cudaSuccess) return wrong_place;
        note_order(OrderStep::work, stream);
        return for_pages(pointer, bytes, [&](PageAdvice& page) { page.prefetched_to = location; });
    });
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device, cudaStream_t stream) {
    return cudaMemPrefetchAsync(pointer, bytes, location_of(device), 0, stream);
}

cudaError_t cudaMemRangeGetAttribute(void* data, size_t bytes, cudaMemRangeAttribute attribute, const void* pointer,
                                     size_t count) {
    return api_call(Waits::no, [&] { return range_attribute(data, bytes, attribute, pointer, count); });
}

cudaError_t cudaMemRangeGetAttributes(void** data, size_t* bytes, cudaMemRangeAttribute* attributes,
                                      size_t attribute_count, const void* pointer, size_t count) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (data == nullptr || bytes == nullptr || attributes == nullptr || attribute_count == 0)
            return cudaErrorInvalidValue;
        for (size_t i = 0; i < attribute_count; ++i) {
            const cudaError_t error = range_attribute(data[i], bytes[i], attributes[i], pointer, count);
            if (error != cudaSuccess) return error;
        }
        return cudaSuccess;
    });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t bytes, unsigned flags) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle) {
            return cudaErrorInvalidValue;
        }
        if (!stream_exists(stream)) return cudaErrorInvalidResourceHandle;
        if (flags == cudaMemAttachSingle && stream == nullptr) return cudaErrorInvalidValue;
        return find_managed(pointer, std::max<size_t>(bytes, 1)) ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   const cudaLaunchAttributeValue* value) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (value == nullptr) return cudaErrorInvalidValue;
        if (!stream_exists(stream)) return cudaErrorInvalidResourceHandle;
        return set_attribute(stream, attribute, *value);
    });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   cudaLaunchAttributeValue* value) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (value == nullptr) return cudaErrorInvalidValue;
        if (!stream_exists(stream)) return cudaErrorInvalidResourceHandle;
        return get_attribute(stream, attribute, *value);
    });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (!stream_exists(to) || !stream_exists(from)) return cudaErrorInvalidResourceHandle;
        AllStreamAttributes& all = all_stream_attributes();
        const RuntimeLock lock(all.mutex);
        const StreamAttributes attributes = all.of[from];
        all.of[to] = attributes;
        return cudaSuccess;
    });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
    return api_call(Waits::no, [] { return cudaSuccess; });
}

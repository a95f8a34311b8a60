// Ranges of NVTX that begin and end as they should, also where it does not look like it.
#include <cuda_runtime.h>

#include <nvtx3/nvtx3.hpp>
#include <stdexcept>
#include <thread>

#include "common/tests/corpus/correct/expect.h"

namespace corpus {
namespace {

constexpr int kCount = 64;

__global__ void add_to_each(int* values, int amount) { values[threadIdx.x] += amount; }

struct Library {
    static constexpr const char* name = "library";
};

void nested_scopes() {
    DeviceBuffer<int> values(sequence<int>(kCount, [](int i) { return i; }));
    const nvtx3::scoped_range whole("whole", nvtx3::rgb(255, 128, 0));
    for (int step = 0; step < 3; ++step) {
        const nvtx3::scoped_range range("step");
        const nvtx3::scoped_range_in<Library> inside("add");
        add_to_each<<<1, kCount>>>(values.data(), step);
        nvtx3::mark("launched");
    }
    check_finished();
    expect_equal(values.download()[5], 5 + 0 + 1 + 2);
}

void left_by_an_exception() {
    try {
        const nvtx3::scoped_range range("fails");
        throw std::runtime_error("on purpose");
    } catch (const std::runtime_error&) {
        nvtx3::mark("caught");
    }
}

void ended_by_another_thread() {
    const nvtxRangeId_t range = nvtxRangeStartA("from thread to thread");
    std::thread([range] { nvtxRangeEnd(range); }).join();
}

void domains_in_any_order() {
    const nvtxDomainHandle_t library = nvtxDomainCreateA("library");
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = "sort";
    nvtxRangePushA("program");
    nvtxDomainRangePushEx(library, &attributes);
    nvtxRangePop();  // that of the program: the library's stays
    nvtxDomainRangePop(library);
    nvtxDomainDestroy(library);
}

}  // namespace

CaseList correct_ranges() {
    return {__FILE__,
            {{"nested_scopes", "objects that end their ranges", nested_scopes},
             {"left_by_an_exception", "the object ends the range then, too", left_by_an_exception},
             {"ended_by_another_thread", "nvtxRangeStart and nvtxRangeEnd", ended_by_another_thread},
             {"domains_in_any_order", "ranges of two domains are not inside one another", domains_in_any_order}}};
}

}  // namespace corpus

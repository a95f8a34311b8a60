// Ranges of NVTX that nobody ends.
#include <nvtx3/nvToolsExt.h>

#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

constexpr int kCount = 64;

__global__ void double_each(float* values) { values[threadIdx.x] *= 2; }

void early_return_before_the_pop() {
    DeviceBuffer<float> values(std::vector<float>(kCount, 1.0f));
    nvtxRangePushA("compute");  // MISTAKE(memory_leak): the function returns before the pop
    double_each<<<1, kCount>>>(values.data());
    check_finished();
    if (values.download()[0] > 1) return;
    nvtxRangePop();
}

void pops_of_another_domain() {
    const nvtxDomainHandle_t library = nvtxDomainCreateA("library");
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = "sort";
    nvtxDomainRangePushEx(library, &attributes);  // MISTAKE(memory_leak): the pop is of the default domain
    nvtxRangePop();
}

void started_and_lost() {
    for (const char* const name : {"first step", "second step"}) {
        nvtxRangeStartA(name);  // MISTAKE(memory_leak): nobody keeps the id, which nvtxRangeEnd needs
    }
}

}  // namespace

namespace corpus {

CaseList ranges_of_nvtx() {
    return {__FILE__,
            {{"early_return_before_the_pop", "nvtxRangePop is skipped", early_return_before_the_pop},
             {"pops_of_another_domain", "each domain has ranges of its own", pops_of_another_domain},
             {"started_and_lost", "nvtxRangeStart without nvtxRangeEnd", started_and_lost}}};
}

}  // namespace corpus

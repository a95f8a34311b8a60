#include "cpu_device/address_space.h"

#include "allocations.h"
#include "block.h"
#include "cpu_device/ptx.h"
#include "instrumented_code.h"

namespace cpu_device {

std::byte* ptx::start_of_shared_memory() {
    const Uninstrumented uninstrumented;
    return running_block("an address of shared memory is asked for (__cvta_generic_to_shared ...)").shared_memory();
}

AddressSpace address_space_of(const void* address) {
    const Uninstrumented uninstrumented;
    const Block& block = running_block("the memory of an address is asked for (__isShared ...)");
    if (block.is_shared_memory(address)) return AddressSpace::shared;
    if (block.is_on_stack(address)) return AddressSpace::local;
    const auto allocation = find_allocation(address);
    return allocation && allocation->constant ? AddressSpace::constant : AddressSpace::global;
}

}  // namespace cpu_device

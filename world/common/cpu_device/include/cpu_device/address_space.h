// Which memory an address of a kernel belongs to: "Address Space Predicate Functions" of the CUDA C++ Programming
// Guide.
#pragma once

namespace cpu_device {

enum class AddressSpace : unsigned char { global, shared, local, constant };

/// Of an address that the running device thread uses. As on a GPU, everything that is nothing else is global: host
/// memory that kernels reach, and null.
AddressSpace address_space_of(const void* address);

}  // namespace cpu_device

/// 1 if the address belongs to that memory, else 0.
inline unsigned int __isGlobal(const void* address) {
    return cpu_device::address_space_of(address) == cpu_device::AddressSpace::global;
}
inline unsigned int __isShared(const void* address) {
    return cpu_device::address_space_of(address) == cpu_device::AddressSpace::shared;
}
inline unsigned int __isLocal(const void* address) {
    return cpu_device::address_space_of(address) == cpu_device::AddressSpace::local;
}
inline unsigned int __isConstant(const void* address) {
    return cpu_device::address_space_of(address) == cpu_device::AddressSpace::constant;
}

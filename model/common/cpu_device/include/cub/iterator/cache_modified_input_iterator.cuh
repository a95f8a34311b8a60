// Loads through a cache that the program chooses.
#pragma once

#include "cpu_device/cub_iterator.h"
#include "cub/thread/thread_load.cuh"

namespace cub {

template <CacheLoadModifier modifier, class T, class Offset = std::ptrdiff_t>
class CacheModifiedInputIterator
    : public cpu_device::cub_parts::InputIterator<CacheModifiedInputIterator<modifier, T, Offset>, T, Offset> {
public:
    T* ptr;

    template <class Qualified>
    CacheModifiedInputIterator(Qualified* pointer_)  // NOLINT: implicit in CUB too
        : ptr(const_cast<std::remove_cv_t<Qualified>*>(pointer_)) {}
    T operator*() const { return ThreadLoad<modifier>(ptr); }
    T*& place() { return ptr; }
    T* const& place() const { return ptr; }
};

}  // namespace cub

// Stores with a cache modifier, which changes nothing but the caches.
#pragma once

#include "cub/util_type.cuh"

namespace cub {

enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };

template <CacheStoreModifier, class Iterator, class T>
CPU_DEVICE_INLINE void ThreadStore(Iterator to, T value) {
    *to = value;
}

}  // namespace cub

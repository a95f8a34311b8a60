// Loads with a cache modifier, which changes nothing but the caches.
#pragma once

#include "cub/util_type.cuh"

namespace cub {

enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };

template <CacheLoadModifier, class Iterator>
CPU_DEVICE_INLINE auto ThreadLoad(Iterator from) -> std::remove_cvref_t<decltype(*from)> {
    return *from;
}

}  // namespace cub

// Which windows of memory a stream or a launch may name for the L2 cache.
#pragma once

#include "cpu_device/device_model.h"
#include "cpu_device/types.h"

namespace cpu_device {

/// Not the window itself: like the real runtime, nothing asks what lies there.
inline bool is_allowed(const cudaAccessPolicyWindow& window) {
    const auto is_property = [](cudaAccessProperty property) {
        return property >= cudaAccessPropertyNormal && property <= cudaAccessPropertyPersisting;
    };
    // Written so that NaN is no share.
    const bool is_share = window.hitRatio >= 0.0f && window.hitRatio <= 1.0f;
    return window.num_bytes <= model::access_policy_window_bytes && is_share && is_property(window.hitProp) &&
           is_property(window.missProp) && window.missProp != cudaAccessPropertyPersisting;
}

}  // namespace cpu_device

#include "reduce_ranks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace cpu_device::nccl {
namespace {

template <class Value>
Value load(const std::byte* from) {
    Value value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <class Number>
Number combine(Number a, Number b, ncclRedOp_t op) {
    // Sums of integers go round, as on a GPU.
    using Whole =
        std::conditional_t<std::is_integral_v<Number>, std::make_unsigned<Number>, std::type_identity<Number>>;
    using Wide =
        std::conditional_t<(sizeof(Number) < 4 && std::is_integral_v<Number>), std::uint32_t, typename Whole::type>;
    if constexpr (std::is_floating_point_v<Number>) {
        if (op == ncclMax) return std::fmax(a, b);
        if (op == ncclMin) return std::fmin(a, b);
    }
    switch (op) {
        case ncclProd:
            return static_cast<Number>(static_cast<Wide>(a) * static_cast<Wide>(b));
        case ncclMax:
            return std::max(a, b);
        case ncclMin:
            return std::min(a, b);
        default:
            return static_cast<Number>(static_cast<Wide>(a) + static_cast<Wide>(b));
    }
}

/// `Number`: in which values of this type are added up.
template <class Value, class Number = Value>
void reduce_as(const std::vector<const std::byte*>& parts, std::byte* result, std::size_t count, ncclRedOp_t op) {
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = i * sizeof(Value);
        auto sum = static_cast<Number>(load<Value>(parts.front() + at));
        for (std::size_t part = 1; part < parts.size(); ++part) {
            sum = combine(sum, static_cast<Number>(load<Value>(parts[part] + at)), op);
        }
        if (op == ncclAvg) sum = static_cast<Number>(sum / static_cast<Number>(parts.size()));
        const auto value = static_cast<Value>(sum);
        std::memcpy(result + at, &value, sizeof value);
    }
}

}  // namespace

std::size_t bytes_of(ncclDataType_t type) {
    constexpr std::size_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
    return bytes[type];
}

void reduce(const std::vector<const std::byte*>& parts, std::byte* result, std::size_t count, ncclDataType_t type,
            ncclRedOp_t op) {
    switch (type) {
        case ncclInt8:
            return reduce_as<std::int8_t>(parts, result, count, op);
        case ncclUint8:
            return reduce_as<std::uint8_t>(parts, result, count, op);
        case ncclInt32:
            return reduce_as<std::int32_t>(parts, result, count, op);
        case ncclUint32:
            return reduce_as<std::uint32_t>(parts, result, count, op);
        case ncclInt64:
            return reduce_as<std::int64_t>(parts, result, count, op);
        case ncclUint64:
            return reduce_as<std::uint64_t>(parts, result, count, op);
        case ncclFloat16:
            return reduce_as<__half, float>(parts, result, count, op);
        case ncclFloat32:
            return reduce_as<float>(parts, result, count, op);
        case ncclFloat64:
            return reduce_as<double>(parts, result, count, op);
        case ncclBfloat16:
            return reduce_as<__nv_bfloat16, float>(parts, result, count, op);
        default:
            return;
    }
}

}  // namespace cpu_device::nccl

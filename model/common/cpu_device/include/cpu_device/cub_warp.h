// What CUB's warp-wide primitives are made of. After the reference of CUB; the algorithms are the CPU device's own, so
// that results are the same as NVIDIA's and counts are not.
//
// All lanes of a logical warp exchange their values at once, unseen, as by shuffles. Only the program's own operators
// are seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cpu_device/warp.h"

namespace cpu_device::cub_parts {

/// Neighboring lanes that work together: up to `Size` of one warp, fewer where the block ends.
template <int Size>
struct LogicalWarp {
    static_assert(Size >= 1 && Size <= 32, "a logical warp of CUB has 1 to 32 threads");

    unsigned first = lane_id() / Size * Size;
    unsigned rank = lane_id() - first;
    unsigned lanes;  ///< that the block has
    std::uint32_t mask;

    CPU_DEVICE_UNSEEN LogicalWarp() {
        const unsigned of_block = threads_per_block() - warp_id() * 32;
        const unsigned end = first + Size < 32 ? first + Size : 32;
        lanes = (end < of_block ? end : of_block) - first;
        mask = (lanes == 32 ? ~0u : (1u << lanes) - 1) << first;
    }
};

/// The values of a logical warp by rank.
template <class T, int Size>
class WarpValues {
public:
    CPU_DEVICE_UNSEEN WarpValues(const LogicalWarp<Size>& warp, const T& value, Site site)
        : warp_(warp), site_(site), all_(gather(Collective::group, warp.mask, value, site)) {}

    CPU_DEVICE_UNSEEN T operator[](unsigned rank) const { return all_[warp_.first + rank]; }

    /// Ranks `begin` to `end` - 1 combined, at least one: neighbors first, then pairs of neighbors, as a warp does it.
    template <class Op>
    CPU_DEVICE_UNSEEN T reduce(unsigned begin, unsigned end, Op& op) {
        expect_all(begin, end);
        for (unsigned distance = 1; distance < end - begin; distance *= 2) {
            for (unsigned rank = begin; rank + distance < end; rank += 2 * distance) {
                set(rank, op((*this)[rank], (*this)[rank + distance]));
            }
        }
        return (*this)[begin];
    }

    /// Ranks 0 to `last` combined in this order.
    template <class Op>
    CPU_DEVICE_UNSEEN T prefix(unsigned last, Op& op) {
        expect_all(0, last + 1);
        T result = (*this)[0];
        for (unsigned rank = 1; rank <= last; ++rank) result = op(result, (*this)[rank]);
        return result;
    }

    /// What a lane holds for which the result is undefined.
    CPU_DEVICE_UNSEEN static T nothing() {
        alignas(T) unsigned char bytes[sizeof(T)];
        std::memset(bytes, 0xFF, sizeof bytes);
        return *reinterpret_cast<const T*>(bytes);
    }

private:
    CPU_DEVICE_UNSEEN void set(unsigned rank, const T& value) {
        std::memcpy(all_.bytes[warp_.first + rank], static_cast<const void*>(&value), sizeof(T));
    }
    /// Lanes that did not come although their values are needed have returned. Whether the program uses what comes of
    /// that is found out by note_shuffle.
    CPU_DEVICE_UNSEEN void expect_all(unsigned begin, unsigned end) {
        for (unsigned lane = warp_.first + begin; lane < warp_.first + end; ++lane) {
            if ((all_.mask >> lane & 1) != 0) continue;
            const std::uint64_t missing = note_shuffle(warp_.mask, all_.mask, lane, site_);
            for (std::size_t i = 0; i < sizeof(T); ++i)
                all_.bytes[lane][i] = static_cast<unsigned char>(missing >> i % 8 * 8);
        }
    }

    const LogicalWarp<Size>& warp_;
    Site site_;
    Gathered<T> all_;
};

}  // namespace cpu_device::cub_parts

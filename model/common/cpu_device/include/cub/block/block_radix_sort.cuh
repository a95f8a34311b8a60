// Sorts the keys of a block, digit by digit from the lowest: in each pass the threads count their digits in shared
// memory, scan the counts, and move the keys to the places that follow from them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cpu_device/cub_block.h"
#include "cpu_device/cub_keys.h"
#include "cub/block/block_exchange.cuh"
#include "cub/block/block_scan.cuh"
#include "cub/config.cuh"

namespace cub {

template <class Key, int BlockDimX, int ItemsPerThread, class Value = NullType, int RadixBits = 4,
          bool MemoizeOuterScan = true, BlockScanAlgorithm InnerScan = BLOCK_SCAN_WARP_SCANS,
          cudaSharedMemConfig SmemConfig = cudaSharedMemBankSizeFourByte, int BlockDimY = 1, int BlockDimZ = 1>
class BlockRadixSort {
    static constexpr int kThreads = BlockDimX * BlockDimY * BlockDimZ;
    static constexpr int kDigits = 1 << RadixBits;
    static constexpr bool kHasValues = !std::is_same_v<Value, NullType>;
    using Scan = cpu_device::cub_parts::BlockValues<unsigned, kThreads>;
    using Keys = cpu_device::cub_parts::BlockExchanger<Key, kThreads, ItemsPerThread>;
    using Values = cpu_device::cub_parts::BlockExchanger<Value, kThreads, ItemsPerThread>;

public:
    struct TempStorage {
        typename Scan::Storage scan;
        union {
            unsigned counts[kDigits * kThreads];
            typename Keys::Storage keys;
            typename Values::Storage values;
        };
    };

    CPU_DEVICE_INLINE BlockRadixSort() : BlockRadixSort(cpu_device::cub_parts::private_storage<TempStorage>()) {}
    CPU_DEVICE_INLINE explicit BlockRadixSort(TempStorage& temp_storage) : storage_(temp_storage) {
        cpu_device::cub_parts::check_block("cub::BlockRadixSort", kThreads);
    }

    // Blocked before and after.
    CPU_DEVICE_INLINE void Sort(Key (&keys)[ItemsPerThread], int begin_bit = 0, int end_bit = kKeyBits,
                                CPU_DEVICE_CALL_SITE) {
        sort(keys, no_values_, false, false, begin_bit, end_bit, site);
    }
    CPU_DEVICE_INLINE void Sort(Key (&keys)[ItemsPerThread], Value (&values)[ItemsPerThread], int begin_bit = 0,
                                int end_bit = kKeyBits, CPU_DEVICE_CALL_SITE) {
        sort(keys, values, false, false, begin_bit, end_bit, site);
    }
    CPU_DEVICE_INLINE void SortDescending(Key (&keys)[ItemsPerThread], int begin_bit = 0, int end_bit = kKeyBits,
                                          CPU_DEVICE_CALL_SITE) {
        sort(keys, no_values_, true, false, begin_bit, end_bit, site);
    }
    CPU_DEVICE_INLINE void SortDescending(Key (&keys)[ItemsPerThread], Value (&values)[ItemsPerThread],
                                          int begin_bit = 0, int end_bit = kKeyBits, CPU_DEVICE_CALL_SITE) {
        sort(keys, values, true, false, begin_bit, end_bit, site);
    }
    // Blocked before and striped after.
    CPU_DEVICE_INLINE void SortBlockedToStriped(Key (&keys)[ItemsPerThread], int begin_bit = 0, int end_bit = kKeyBits,
                                                CPU_DEVICE_CALL_SITE) {
        sort(keys, no_values_, false, true, begin_bit, end_bit, site);
    }
    CPU_DEVICE_INLINE void SortBlockedToStriped(Key (&keys)[ItemsPerThread], Value (&values)[ItemsPerThread],
                                                int begin_bit = 0, int end_bit = kKeyBits, CPU_DEVICE_CALL_SITE) {
        sort(keys, values, false, true, begin_bit, end_bit, site);
    }
    CPU_DEVICE_INLINE void SortDescendingBlockedToStriped(Key (&keys)[ItemsPerThread], int begin_bit = 0,
                                                          int end_bit = kKeyBits, CPU_DEVICE_CALL_SITE) {
        sort(keys, no_values_, true, true, begin_bit, end_bit, site);
    }
    CPU_DEVICE_INLINE void SortDescendingBlockedToStriped(Key (&keys)[ItemsPerThread], Value (&values)[ItemsPerThread],
                                                          int begin_bit = 0, int end_bit = kKeyBits,
                                                          CPU_DEVICE_CALL_SITE) {
        sort(keys, values, true, true, begin_bit, end_bit, site);
    }

private:
    static constexpr int kKeyBits = 8 * static_cast<int>(sizeof(Key));

    template <class V>
    CPU_DEVICE_INLINE void sort(Key (&keys)[ItemsPerThread], V& values, bool descending, bool to_striped, int begin_bit,
                                int end_bit, cpu_device::Site site) {
        const int thread = cpu_device::cub_parts::linear_thread();
        for (int begin = begin_bit;; begin += RadixBits) {
            const int end = begin + RadixBits < end_bit ? begin + RadixBits : end_bit;
            const bool is_last = end >= end_bit;
            int ranks[ItemsPerThread];
            rank(keys, ranks, descending, begin, end, thread, site);
            move(Keys(storage_.keys), keys, ranks, is_last && to_striped, site);
            if constexpr (!std::is_same_v<V, NullType>) {
                cpu_device::block_barrier(0, site);
                move(Values(storage_.values), values, ranks, is_last && to_striped, site);
            }
            if (is_last) break;
            cpu_device::block_barrier(0, site);
        }
    }

    /// Places of the keys after a stable sort by one digit. A count for each digit and thread, the digits of one kind
    /// side by side: what comes before a count in this order comes before its keys.
    CPU_DEVICE_INLINE void rank(const Key (&keys)[ItemsPerThread], int (&ranks)[ItemsPerThread], bool descending,
                                int begin, int end, int thread, cpu_device::Site site) {
        int digits[ItemsPerThread];
        for (int digit = 0; digit < kDigits; ++digit) storage_.counts[digit * kThreads + thread] = 0;
        for (int i = 0; i < ItemsPerThread; ++i) {
            digits[i] = static_cast<int>(
                cpu_device::cub_parts::digit_of(cpu_device::cub_parts::bits_of_key(keys[i], descending), begin, end));
            const int at = digits[i] * kThreads + thread;
            ranks[i] = static_cast<int>(storage_.counts[at]);
            storage_.counts[at] = storage_.counts[at] + 1;
        }
        cpu_device::block_barrier(0, site);
        unsigned sum = 0;
        for (int k = 0; k < kDigits; ++k) sum += storage_.counts[thread * kDigits + k];
        unsigned before = 0, all = 0;
        Scan(storage_.scan, site).scan(sum, cuda::std::plus<>(), before, all);
        for (int k = 0; k < kDigits; ++k) {
            const unsigned count = storage_.counts[thread * kDigits + k];
            storage_.counts[thread * kDigits + k] = before;
            before += count;
        }
        cpu_device::block_barrier(0, site);
        for (int i = 0; i < ItemsPerThread; ++i)
            ranks[i] += static_cast<int>(storage_.counts[digits[i] * kThreads + thread]);
        cpu_device::block_barrier(0, site);
    }

    template <class Exchanger, class T>
    CPU_DEVICE_INLINE static void move(Exchanger exchanger, T (&items)[ItemsPerThread],
                                       const int (&ranks)[ItemsPerThread], bool to_striped, cpu_device::Site site) {
        exchanger.exchange(
            items, items, [&](int i) { return ranks[i]; },
            [&](int i) { return to_striped ? Exchanger::striped(i) : Exchanger::blocked(i); }, false, site);
    }

    TempStorage& storage_;
    NullType no_values_{};
};

}  // namespace cub

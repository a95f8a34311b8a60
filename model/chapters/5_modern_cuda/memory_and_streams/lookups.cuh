// Group C of the lesson memory_and_streams: a long array is added up, 16 floats at a time,
// and to each sum comes an entry of a table. The array is too long for the L2 cache; the
// table is not, and each of its entries is needed often. What stays in the cache?
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cfloat>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "chapters/5_modern_cuda/memory_and_streams/kernels.cuh"
#include "chapters/5_modern_cuda/memory_and_streams/pools.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"

namespace modern_cuda {
namespace {

using warpwise::DeviceBuffer;

int attribute_of_device(cudaDeviceAttr attribute) {
    int device = 0, value = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&value, attribute, device));
    return value;
}

// Devices before compute capability 8.0 have no window.
bool has_windows() {
    return attribute_of_device(cudaDevAttrMaxPersistingL2CacheSize) > 0 &&
           attribute_of_device(cudaDevAttrMaxAccessPolicyWindowSize) > 0;
}

constexpr std::size_t kMiB = std::size_t{1} << 20;
struct Lookups {
    std::size_t count;
    std::uint32_t entries;
    std::vector<float> values, table;
    DeviceBuffer<float> d_values, d_table, d_sums;
    Stream stream;

    Lookups(std::size_t floats, std::size_t table_bytes)
        : count(floats),
          entries(static_cast<std::uint32_t>(table_bytes / sizeof(float))),
          values(warpwise::uniform<float>(count, 7)),
          table(warpwise::uniform<float>(entries, 8)),
          d_values(values),
          d_table(table),
          d_sums(32 * parts_of(count)) {}

    double expected(std::size_t j) const {
        const std::size_t first = j / 32 * kPart + j % 32;
        double sum = table[entry_of(static_cast<std::uint32_t>(j), entries)];
        for (std::size_t i = first; i < std::min(first + kPart, count); i += 32)
            sum += values[i];
        return sum;
    }

    void poison() {
        d_sums.fill_bytes(0xFF);
        warpwise::check_finished();  // the steps' stream does not wait for this one
    }
    // Sums of 17 floats of magnitude 1.
    warpwise::Comparison compare() {
        warpwise::check_finished();
        return warpwise::compare_each(d_sums.download(), d_sums.size(),
                                      [&](std::size_t j) { return expected(j); },
                                      {.absolute = 17 * 4 * FLT_EPSILON});
    }
    // The array once, the sums once. The table is not counted: it is to be in the cache.
    double bytes() const {
        return sizeof(float) * static_cast<double>(count + d_sums.size());
    }

    unsigned blocks() const {
        return std::max(1u, warpwise::blocks_for(d_sums.size(), kThreads));
    }
    void run_plain() {
        add_entries<<<blocks(), kThreads, 0, stream>>>(
            d_values.data(), count, d_table.data(), entries, d_sums.data());
        warpwise::check_launch();
    }
    void run_streaming() {
        add_entries_streaming<<<blocks(), kThreads, 0, stream>>>(
            d_values.data(), count, d_table.data(), entries, d_sums.data());
        warpwise::check_launch();
    }
};

// ---- what the cache is told -------------------------------------------------------------

// Sets a part of the L2 cache aside for lines of the table, for as long as it lives, and
// makes accesses of the stream to the table bring such lines in.
class PersistingTable {
public:
    PersistingTable(cudaStream_t stream, void* table, std::size_t bytes) : stream_(stream) {
        const auto most = static_cast<std::size_t>(
            attribute_of_device(cudaDevAttrMaxPersistingL2CacheSize));
        const auto widest = static_cast<std::size_t>(
            attribute_of_device(cudaDevAttrMaxAccessPolicyWindowSize));
        const std::size_t window = std::min(bytes, widest);
        const std::size_t set_aside = std::min(bytes, most);
        check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, set_aside));
        cudaStreamAttrValue value = {};
        value.accessPolicyWindow.base_ptr = table;
        value.accessPolicyWindow.num_bytes = window;
        // The share of the lines that persist. With more of them than are set aside, they
        // would evict each other.
        value.accessPolicyWindow.hitRatio = static_cast<float>(
            std::min(1.0, static_cast<double>(set_aside) / static_cast<double>(window)));
        value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
        value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
        check(
            cudaStreamSetAttribute(stream_, cudaStreamAttributeAccessPolicyWindow, &value));
    }
    // Without the reset, lines of the table could keep their places for a long time, while
    // others need the cache.
    ~PersistingTable() {
        cudaStreamAttrValue none = {};
        (void)cudaStreamSetAttribute(stream_, cudaStreamAttributeAccessPolicyWindow, &none);
        (void)cudaCtxResetPersistingL2Cache();
        (void)cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0);
    }
    PersistingTable(const PersistingTable&) = delete;
    PersistingTable& operator=(const PersistingTable&) = delete;

private:
    cudaStream_t stream_;
};

}  // namespace
}  // namespace modern_cuda

// Histograms of arrays, and of the channels of images.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "cpu_device/cub_host.h"
#include "cub/config.cuh"
#include "cuda/std/array"

namespace cub {

struct DeviceHistogram {
    /// num_levels - 1 bins of equal width from `lower_level` on; what is outside of them is not counted.
    template <class Samples, class Counter, class Level, class Offset>
    static cudaError_t HistogramEven(void* d_temp_storage, std::size_t& temp_storage_bytes, Samples d_samples,
                                     Counter* d_histogram, int num_levels, Level lower_level, Level upper_level,
                                     Offset num_samples, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return even<1, 1>("cub::DeviceHistogram::HistogramEven", site, d_temp_storage, temp_storage_bytes, d_samples,
                          &d_histogram, &num_levels, &lower_level, &upper_level, packed<Samples, 1>(num_samples),
                          stream);
    }
    /// Of rows that begin row_stride_bytes apart.
    template <class Samples, class Counter, class Level, class Offset>
    static cudaError_t HistogramEven(void* d_temp_storage, std::size_t& temp_storage_bytes, Samples d_samples,
                                     Counter* d_histogram, int num_levels, Level lower_level, Level upper_level,
                                     Offset num_row_samples, Offset num_rows, std::size_t row_stride_bytes,
                                     cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return even<1, 1>("cub::DeviceHistogram::HistogramEven", site, d_temp_storage, temp_storage_bytes, d_samples,
                          &d_histogram, &num_levels, &lower_level, &upper_level,
                          rows<Samples>(num_row_samples, num_rows, row_stride_bytes), stream);
    }
    /// Bin b counts what lies from d_levels[b] to below d_levels[b + 1].
    template <class Samples, class Counter, class Level, class Offset>
    static cudaError_t HistogramRange(void* d_temp_storage, std::size_t& temp_storage_bytes, Samples d_samples,
                                      Counter* d_histogram, int num_levels, const Level* d_levels, Offset num_samples,
                                      cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return range<1, 1>("cub::DeviceHistogram::HistogramRange", site, d_temp_storage, temp_storage_bytes, d_samples,
                           &d_histogram, &num_levels, &d_levels, packed<Samples, 1>(num_samples), stream);
    }
    template <class Samples, class Counter, class Level, class Offset>
    static cudaError_t HistogramRange(void* d_temp_storage, std::size_t& temp_storage_bytes, Samples d_samples,
                                      Counter* d_histogram, int num_levels, const Level* d_levels,
                                      Offset num_row_samples, Offset num_rows, std::size_t row_stride_bytes,
                                      cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return range<1, 1>("cub::DeviceHistogram::HistogramRange", site, d_temp_storage, temp_storage_bytes, d_samples,
                           &d_histogram, &num_levels, &d_levels,
                           rows<Samples>(num_row_samples, num_rows, row_stride_bytes), stream);
    }

    // Pixels of several channels, of which the first ones are counted. The histograms, levels and bounds are arrays
    // with an element for each of these.
    template <int Channels, int ActiveChannels, class Samples, class Histograms, class NumLevels, class Levels,
              class Offset>
    static cudaError_t MultiHistogramEven(void* d_temp_storage, std::size_t& temp_storage_bytes, Samples d_samples,
                                          const Histograms& d_histogram, const NumLevels& num_levels,
                                          const Levels& lower_level, const Levels& upper_level, Offset num_pixels,
                                          cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return even<Channels, ActiveChannels>("cub::DeviceHistogram::MultiHistogramEven", site, d_temp_storage,
                                              temp_storage_bytes, d_samples, d_histogram, num_levels, lower_level,
                                              upper_level, packed<Samples, Channels>(num_pixels), stream);
    }
    template <int Channels, int ActiveChannels, class Samples, class Histograms, class NumLevels, class Levels,
              class Offset>
    static cudaError_t MultiHistogramRange(void* d_temp_storage, std::size_t& temp_storage_bytes, Samples d_samples,
                                           const Histograms& d_histogram, const NumLevels& num_levels,
                                           const Levels& d_levels, Offset num_pixels, cudaStream_t stream = nullptr,
                                           CPU_DEVICE_CALL_SITE) {
        return range<Channels, ActiveChannels>("cub::DeviceHistogram::MultiHistogramRange", site, d_temp_storage,
                                               temp_storage_bytes, d_samples, d_histogram, num_levels, d_levels,
                                               packed<Samples, Channels>(num_pixels), stream);
    }

private:
    /// Rows of pixels.
    struct Shape {
        std::size_t pixels, rows;
        std::size_t row_stride;  ///< in samples
    };
    template <class Samples, int Channels, class Offset>
    static Shape packed(Offset pixels) {
        const auto count = static_cast<std::size_t>(pixels);
        return {count, 1, count * Channels};
    }
    template <class Samples, class Offset>
    static Shape rows(Offset pixels, Offset rows, std::size_t stride_bytes) {
        return {static_cast<std::size_t>(pixels), static_cast<std::size_t>(rows),
                stride_bytes / sizeof(cpu_device::cub_parts::value_of<Samples>)};
    }

    template <class Sample, class Level>
    static int bin_of(Sample sample, Level lower, Level upper, int bins) {
        using Common = std::common_type_t<Sample, Level>;
        const Common value = static_cast<Common>(sample), first = static_cast<Common>(lower),
                     end = static_cast<Common>(upper);
        if (!(value >= first && value < end)) return -1;
        if constexpr (std::is_integral_v<Common>) {
            const auto offset = static_cast<unsigned __int128>(value - first);
            return static_cast<int>(offset * static_cast<unsigned>(bins) / static_cast<unsigned __int128>(end - first));
        } else {
            const int bin = static_cast<int>((value - first) * (static_cast<Common>(bins) / (end - first)));
            return bin < bins ? bin : bins - 1;
        }
    }

    template <int Channels, int ActiveChannels, class Samples, class Histograms, class NumLevels, class Levels>
    static cudaError_t even(const char* name, cpu_device::Site site, void* storage, std::size_t& bytes, Samples samples,
                            const Histograms& histograms, const NumLevels& num_levels, const Levels& lower,
                            const Levels& upper, Shape shape, cudaStream_t stream) {
        return count<Channels, ActiveChannels>(name, site, storage, bytes, samples, histograms, num_levels, {}, shape,
                                               stream, [&](int channel, const auto& sample) {
                                                   return bin_of(sample, lower[channel], upper[channel],
                                                                 num_levels[channel] - 1);
                                               });
    }
    template <int Channels, int ActiveChannels, class Samples, class Histograms, class NumLevels, class Levels>
    static cudaError_t range(const char* name, cpu_device::Site site, void* storage, std::size_t& bytes,
                             Samples samples, const Histograms& histograms, const NumLevels& num_levels,
                             const Levels& levels, Shape shape, cudaStream_t stream) {
        return count<Channels, ActiveChannels>(
            name, site, storage, bytes, samples, histograms, num_levels,
            cpu_device::cub_parts::operand("d_levels", levels[0], static_cast<std::size_t>(num_levels[0])), shape,
            stream, [&](int channel, const auto& sample) {
                const auto* begin = levels[channel];
                const auto* end = begin + num_levels[channel];
                const auto found = std::upper_bound(begin, end, sample);
                return found == begin || found == end ? -1 : static_cast<int>(found - begin) - 1;
            });
    }

    template <int Channels, int ActiveChannels, class Samples, class Histograms, class NumLevels, class Bin>
    static cudaError_t count(const char* name, cpu_device::Site site, void* storage, std::size_t& bytes,
                             Samples samples, const Histograms& histograms, const NumLevels& num_levels,
                             const cpu_device::AlgorithmOperand& levels, Shape shape, cudaStream_t stream, Bin bin_of) {
        namespace parts = cpu_device::cub_parts;
        using Sample = parts::value_of<Samples>;
        using Counter = std::remove_cvref_t<decltype(histograms[0][0])>;
        std::size_t used = 0, bins = 0;
        for (int channel = 0; channel < ActiveChannels; ++channel)
            bins += static_cast<std::size_t>(num_levels[channel] > 1 ? num_levels[channel] - 1 : 0);
        if (shape.pixels > 0 && shape.rows > 0) used = (shape.rows - 1) * shape.row_stride + shape.pixels * Channels;
        return parts::in_two_phases(
            name, site, storage, bytes, parts::storage_of(bins * sizeof(Counter)), stream,
            {parts::operand("d_samples", samples, used), levels}, [&](const cpu_device::AlgorithmCall& call) {
                for (int channel = 0; channel < ActiveChannels; ++channel) {
                    const auto size = static_cast<std::size_t>(num_levels[channel] - 1);
                    if (!is_usable(call, parts::operand("d_histogram", histograms[channel], size))) return false;
                    for (std::size_t bin = 0; bin < size; ++bin) histograms[channel][bin] = 0;
                }
                for (std::size_t row = 0; row < shape.rows; ++row) {
                    for (std::size_t pixel = 0; pixel < shape.pixels; ++pixel) {
                        for (int channel = 0; channel < ActiveChannels; ++channel) {
                            const Sample sample =
                                samples[row * shape.row_stride + pixel * Channels + static_cast<std::size_t>(channel)];
                            const int bin = bin_of(channel, sample);
                            if (bin >= 0) ++histograms[channel][bin];
                        }
                    }
                }
                return true;
            });
    }
};

}  // namespace cub

// An array in strips of rows, one strip per device, and what an iteration needs.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "chapters/6_several_gpus/device_arrays.h"
#include "chapters/6_several_gpus/devices.h"
#include "chapters/6_several_gpus/halo_exchange/kernels.cuh"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/launch_shape.h"
#include "common/lesson/lesson.h"

namespace several_gpus {
namespace {

// sin(pi w (i + 1) / (n + 1)): 0 at both places past the edges. An iteration multiplies it
// by a cosine, which is what `factor` becomes.
inline std::vector<double> wave_of(std::size_t n, double share, double& factor) {
    const double pi = std::acos(-1.0);
    const double halves = std::max(1.0, std::round(share * static_cast<double>(n + 1)));
    const double angle = pi * halves / static_cast<double>(n + 1);
    std::vector<double> wave(n);
    for (std::size_t i = 0; i < n; ++i)
        wave[i] = std::sin(std::fmod(angle * static_cast<double>(i + 1), 2 * pi));
    factor = std::cos(angle);
    return wave;
}

struct Strips {
    std::size_t rows, cols;
    int iterations;   // even, so that the result is where the start was
    Devices devices;  // as many as have a row
    double row_factor = 0, col_factor = 0;
    std::vector<double> row_wave, col_wave;
    std::array<DeviceArrays<float>, 2> d_strips;
    std::array<DeviceArrays<float>, 2> d_whole;  // of step 2, when it is first run
    DeviceArrays<double> d_row_wave, d_col_wave;
    std::vector<std::unique_ptr<Stream>> urgent;
    // Of each device, and of an even and an odd iteration: an event must not be recorded
    // anew before all have been told to wait for it.
    std::array<std::vector<std::unique_ptr<Event>>, 2> edges, interior, sent;

    Strips(std::size_t all_rows, std::size_t all_cols, int count)
        : rows(all_rows),
          cols(all_cols),
          iterations(warpwise::Lesson::on_gpu() ? 20 : 4),
          devices(static_cast<int>(std::max<std::size_t>(
              1, std::min<std::size_t>(all_rows, std::size_t(count))))),
          row_wave(wave_of(rows, 0.1, row_factor)),
          col_wave(wave_of(cols, 0.18, col_factor)) {
        const auto floats = [&](int d) { return (strip(d).size() + 2) * cols; };
        for (DeviceArrays<float>& arrays : d_strips)
            arrays = DeviceArrays<float>(devices, floats);
        d_row_wave = DeviceArrays<double>(devices, [&](int) { return rows; });
        d_col_wave = DeviceArrays<double>(devices, [&](int) { return cols; });
        for (int d = 0; d < devices.count(); ++d) {
            copy_to_device(d, row_wave, d_row_wave);
            copy_to_device(d, col_wave, d_col_wave);
            urgent.push_back(std::make_unique<Stream>(d, true));
            for (std::size_t parity = 0; parity < 2; ++parity) {
                for (auto* events : {&edges, &interior, &sent})
                    (*events)[parity].push_back(std::make_unique<Event>(d));
            }
        }
        poison();
    }
    explicit Strips(const warpwise::Size& size)
        : Strips(size[0], size[1], device_count()) {}

    Part strip(int device) const { return part_of(rows, devices.count(), device); }
    cudaStream_t urgent_stream(int d) const { return urgent[std::size_t(d)]->get(); }

    // Back to the start. The host waits for it.
    void poison() {
        for (int d = 0; d < devices.count(); ++d) {
            const OnDevice current(d);
            start<<<1024, 256>>>(d_row_wave.data(d), d_col_wave.data(d), rows, cols,
                                 strip(d).begin, strip(d).size(), d_strips[0].data(d),
                                 d_strips[1].data(d));
            warpwise::check_launch();
            warpwise::check_finished();
        }
    }

    warpwise::Comparison compare() {
        std::vector<float> all;
        all.reserve(rows * cols);
        for (int d = 0; d < devices.count(); ++d) {
            const std::vector<float> strip_of_d = d_strips[0].download(d);
            all.insert(all.end(), strip_of_d.begin() + std::ptrdiff_t(cols),
                       strip_of_d.end() - std::ptrdiff_t(cols));
        }
        const double shrunk = std::pow((row_factor + col_factor) / 2, iterations);
        return warpwise::compare_each(
            all, rows * cols,
            [&](std::size_t i) { return shrunk * row_wave[i / cols] * col_wave[i % cols]; },
            {.absolute = 6e-8 * (iterations + 2)});
    }
    warpwise::Work work() const {
        const double points = static_cast<double>(rows * cols) * iterations;
        return {.bytes = 2 * sizeof(float) * points, .operations = 4 * points};
    }
    // Of the device that has all of it.
    static std::size_t device_bytes(const warpwise::Size& size) {
        return 4 * (size[0] + 2) * size[1] * sizeof(float) + 16 * (size[0] + size[1]) +
               4096;
    }

    // Rows `first` ... of the strip of device d become those of the next iteration.
    void launch_relax(int d, int iteration, std::size_t first, std::size_t count,
                      cudaStream_t stream) {
        launch_relax_of(d, d_strips[std::size_t(iteration) % 2].data(d),
                        d_strips[std::size_t(iteration + 1) % 2].data(d), first, count,
                        stream);
    }
    void launch_relax_of(int d, const float* from, float* to, std::size_t first,
                         std::size_t count, cudaStream_t stream) {
        if (count == 0) return;
        const OnDevice current(d);
        const std::size_t groups = warpwise::ceil_div(count, kRowsPerThread);
        const dim3 grid(warpwise::blocks_for(cols, kColumns),
                        static_cast<unsigned>(std::min<std::size_t>(groups, 32768)));
        relax<<<grid, kColumns, 0, stream>>>(from, to, cols, first, count);
        warpwise::check_launch();
    }
    // The edges of the strip; `stores`: also into the halos of the neighbors.
    void launch_edges(int d, int iteration, bool stores, cudaStream_t stream) {
        const OnDevice current(d);
        const dim3 grid(warpwise::blocks_for(cols, kColumns), strip(d).size() > 1 ? 2 : 1);
        relax_edges<<<grid, kColumns, 0, stream>>>(
            d_strips[std::size_t(iteration) % 2].data(d),
            d_strips[std::size_t(iteration + 1) % 2].data(d), cols, strip(d).size(),
            stores ? halo_above(d, iteration + 1) : nullptr,
            stores ? halo_below(d, iteration + 1) : nullptr);
        warpwise::check_launch();
    }

    // Where the first row of device d has to go, and the last one; null at the edges.
    float* halo_above(int d, int iteration) {
        if (d == 0) return nullptr;
        return d_strips[std::size_t(iteration) % 2].data(d - 1) +
               (strip(d - 1).size() + 1) * cols;
    }
    float* halo_below(int d, int iteration) {
        if (d + 1 == devices.count()) return nullptr;
        return d_strips[std::size_t(iteration) % 2].data(d + 1);
    }
    const float* row_of(int d, int iteration, std::size_t row) {
        return d_strips[std::size_t(iteration) % 2].data(d) + row * cols;
    }

    // The edges of device d, as they are after `iteration`, go to its neighbors.
    void send_edges(int d, int iteration, cudaStream_t stream) {
        const std::size_t bytes = cols * sizeof(float);
        if (float* const to = halo_above(d, iteration + 1))
            warpwise::check(cudaMemcpyPeerAsync(to, d - 1, row_of(d, iteration + 1, 1), d,
                                                bytes, stream));
        if (float* const to = halo_below(d, iteration + 1))
            warpwise::check(cudaMemcpyPeerAsync(
                to, d + 1, row_of(d, iteration + 1, strip(d).size()), d, bytes, stream));
    }

    Event& event_of(std::array<std::vector<std::unique_ptr<Event>>, 2>& events, int d,
                    int iteration) {
        return *events[std::size_t(iteration) % 2][std::size_t(d)];
    }
    // `stream` waits for what the neighbors of d have sent after `iteration`.
    void wait_for_neighbors(int d, int iteration, cudaStream_t stream) {
        if (d > 0) event_of(sent, d - 1, iteration).wait_in(stream);
        if (d + 1 < devices.count()) event_of(sent, d + 1, iteration).wait_in(stream);
    }

private:
    static void copy_to_device(int d, const std::vector<double>& values,
                               DeviceArrays<double>& arrays) {
        if (values.empty()) return;
        const OnDevice current(d);
        warpwise::check(cudaMemcpy(arrays.data(d), values.data(),
                                   values.size() * sizeof(double), cudaMemcpyHostToDevice));
    }
};

}  // namespace
}  // namespace several_gpus

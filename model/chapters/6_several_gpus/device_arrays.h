// An array on each of several devices.
//
//     DeviceArrays<float> d_in(devices, [&](int device) { return part_of(...).size(); });
//     kernel<<<..., devices.stream(d)>>>(d_in.data(d), d_in.size(d));
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

#include "chapters/6_several_gpus/devices.h"
#include "common/helpers/device_buffer.h"

namespace several_gpus {
namespace {

template <class T>
class DeviceArrays {
public:
    DeviceArrays() = default;

    // `size(device)`: elements of its array.
    template <class Size>
    DeviceArrays(const Devices& devices, const Size& size) {
        for (int device = 0; device < devices.count(); ++device) {
            const OnDevice current(device);
            arrays_.emplace_back(size(device));
        }
    }

    bool empty() const { return arrays_.empty(); }
    T* data(int device) { return arrays_[static_cast<std::size_t>(device)].data(); }
    std::size_t size(int device) const {
        return arrays_[static_cast<std::size_t>(device)].size();
    }

    std::vector<T> download(int device) const {
        const OnDevice current(device);
        return arrays_[static_cast<std::size_t>(device)].download();
    }

    // Sets every byte of every array, and waits: a NaN in each float for 0xFF.
    void fill_bytes(unsigned char byte) {
        for (std::size_t device = 0; device < arrays_.size(); ++device) {
            const OnDevice current(static_cast<int>(device));
            arrays_[device].fill_bytes(byte);
            warpwise::check_finished();
        }
    }

private:
    std::vector<warpwise::DeviceBuffer<T>> arrays_;
};

}  // namespace
}  // namespace several_gpus

#include "common/lesson/device_choice.h"

#include <cuda_runtime.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "common/helpers/child_process.h"
#include "common/lesson/lesson.h"

namespace warpwise {
namespace {

constexpr const char* handed_over_variable = "WARPWISE_HANDED_OVER";

/// A program hands over at most from the CPU device to CUDA and back; more would be a loop.
constexpr int most_hand_overs = 2;

int hand_overs_so_far() {
    const char* value = std::getenv(handed_over_variable);
    return value == nullptr ? 0 : std::atoi(value);
}

bool gpu_usable() {
    if (!Lesson::on_gpu()) {
        // Without the CUDA runtime: the device files of the driver.
        return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/nvidia0", F_OK) == 0;
    }
    int count = 0;
    const bool usable = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
    (void)cudaGetLastError();
    return usable;
}

std::string why_no_gpu() {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    (void)cudaGetLastError();
    return status == cudaSuccess ? "no CUDA-capable device is detected" : cudaGetErrorString(status);
}

std::filesystem::path sibling_program() {
    const std::filesystem::path own = own_program();
    std::filesystem::path folder = own.parent_path();
    if (folder.filename() == plain_folder) folder = folder.parent_path();
    return folder.parent_path() / (Lesson::on_gpu() ? "cpu" : "cuda") / own.filename();
}

}  // namespace

DeviceChoice choose_device(const DeviceSituation& situation) {
    const bool can_hand_over = situation.sibling_exists && situation.handed_over < most_hand_overs;
    const DeviceChoice other_or_not_built = can_hand_over ? DeviceChoice::hand_over : DeviceChoice::not_built;
    switch (situation.wanted) {
        case WantedDevice::cpu:
            return situation.built_for_gpu ? other_or_not_built : DeviceChoice::stay;
        case WantedDevice::cuda:
            if (!situation.built_for_gpu) return other_or_not_built;
            return situation.gpu_usable ? DeviceChoice::stay : DeviceChoice::no_gpu;
        case WantedDevice::automatic:
            break;
    }
    if (situation.built_for_gpu) {
        if (situation.gpu_usable) return DeviceChoice::stay;
        return can_hand_over ? DeviceChoice::hand_over : DeviceChoice::no_gpu;
    }
    // A program that was handed over to has been told that there is no usable GPU.
    const bool try_gpu = situation.gpu_usable && can_hand_over && situation.handed_over == 0;
    return try_gpu ? DeviceChoice::hand_over : DeviceChoice::stay;
}

void settle_device(WantedDevice wanted, char** argv) {
    const std::filesystem::path sibling = sibling_program();
    const int handed_over = hand_overs_so_far();
    const DeviceChoice choice = choose_device({.wanted = wanted,
                                               .built_for_gpu = Lesson::on_gpu(),
                                               .gpu_usable = gpu_usable(),
                                               .sibling_exists = access(sibling.c_str(), X_OK) == 0,
                                               .handed_over = handed_over});
    const char* other = Lesson::on_gpu() ? "cpu" : "cuda";
    switch (choice) {
        case DeviceChoice::stay:
            unsetenv(handed_over_variable);
            return;
        case DeviceChoice::not_built:
            throw Refusal(
                fmt::format("--device {0}: {1} is not built; build it with 'cmake --preset {0}' and "
                            "'cmake --build --preset {0}'",
                            other, sibling.string()));
        case DeviceChoice::no_gpu:
            throw Refusal(
                fmt::format("no usable GPU: {}; the CPU device needs none: build it with 'cmake --preset "
                            "cpu' and 'cmake --build --preset cpu'",
                            why_no_gpu()));
        case DeviceChoice::hand_over:
            break;
    }
    setenv(handed_over_variable, std::to_string(handed_over + 1).c_str(), 1);
    execv(sibling.c_str(), argv);
    throw Refusal(fmt::format("cannot run {}: {}", sibling.string(), std::strerror(errno)));
}

void hold_device_choice() { setenv(handed_over_variable, std::to_string(most_hand_overs).c_str(), 1); }

}  // namespace warpwise

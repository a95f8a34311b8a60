// Which of the two programs runs: the one built for a GPU or the one built for the CPU device.
//
//     settle_device(WantedDevice::automatic, argv);    // may replace this process by the other program
//
// A chapter is built as bin/cuda/NAME and bin/cpu/NAME below the build folder, and again without instrumenting as
// bin/cpu/plain/NAME (see plain_program.h).
#pragma once

#include <string>

namespace warpwise {

/// Below bin/cpu: what is built without instrumenting.
constexpr const char* plain_folder = "plain";

enum class WantedDevice { automatic, cpu, cuda };

/// What the choice depends on.
struct DeviceSituation {
    WantedDevice wanted = WantedDevice::automatic;
    bool built_for_gpu = false;   ///< this program
    bool gpu_usable = false;      ///< as far as this program can know: the CPU device's sees the driver's files only
    bool sibling_exists = false;  ///< the program built for the other device
    int handed_over = 0;          ///< how often a program has already given way to its sibling
};

enum class DeviceChoice { stay, hand_over, not_built, no_gpu };

/// `automatic` takes a GPU where one is usable, else the CPU device, and is content with what is built.
DeviceChoice choose_device(const DeviceSituation& situation);

/// Returns when this program is the right one; otherwise runs its sibling in its place with the same arguments.
/// Throws Refusal when the wanted device is not to be had.
void settle_device(WantedDevice wanted, char** argv);

/// A program that this one runs in its place from now on keeps to the device that was settled on.
void hold_device_choice();

}  // namespace warpwise

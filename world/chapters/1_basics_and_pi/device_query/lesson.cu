// Problem: know the machine before you write a kernel. How many processors does the device
// have, how wide are they, how much memory of each kind is there, which launches are
// refused, and what are the best rates that a program can reach?
//
// The runtime answers with cudaGetDeviceProperties (one large structure) and
// cudaDeviceGetAttribute (one number). The structure has had no clock rates since CUDA 13,
// so this lesson asks for the numbers one by one.
#include <cuda_runtime.h>
#include <array>

#include <cmath>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "chapters/1_basics_and_pi/device_query/kernels.cuh"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/text.h"
#include "common/lesson/beside_record.h"
#include "common/lesson/lesson.h"
#include "common/lesson/roofline.h"

namespace basics_and_pi {
namespace {

using warpwise::check;
using warpwise::DeviceBuffer;
using warpwise::text_of;

/// A number with four digits and its unit; `-` for what the device does not know.
std::string show(std::optional<double> value, const char* unit) {
    if (!value) return "-";
    const bool whole = std::abs(*value - std::round(*value)) < 1e-9;
    return text_of(whole ? "%.0f" : "%.4g", *value) + (*unit ? " " : "") + unit;
}

std::string show_bytes(std::optional<double> bytes) {
    if (!bytes) return "-";
    if (*bytes >= 1 << 30) return show(*bytes / (1 << 30), "GiB");
    if (*bytes >= 1 << 20) return show(*bytes / (1 << 20), "MiB");
    return *bytes >= 1 << 10 ? show(*bytes / (1 << 10), "KiB") : show(*bytes, "B");
}

std::string show_count(std::optional<double> value) { return show(value, ""); }
std::string show_kilohertz(std::optional<double> value) {
    return show(value ? *value / 1e3 : value, "MHz");
}
std::string show_yes_no(std::optional<double> value) {
    return !value ? "-" : *value != 0 ? "yes" : "no";
}

/// One attribute of the device; nothing where the device does not know it. A rate or a
/// width of 0 is unknown as well, and so are those of the CPU device, which mean nothing.
std::optional<double> attribute(cudaDeviceAttr which, int device) {
    int value = 0;
    if (cudaDeviceGetAttribute(&value, which, device) != cudaSuccess) {
        // The question was refused, and nothing else went wrong: forget the error.
        (void)cudaGetLastError();
        return std::nullopt;
    }
    const bool zero_is_unknown =
        which == cudaDevAttrClockRate || which == cudaDevAttrMemoryClockRate ||
        which == cudaDevAttrGlobalMemoryBusWidth || which == cudaDevAttrL2CacheSize ||
        which == cudaDevAttrSingleToDoublePrecisionPerfRatio;
    const bool is_unknown =
        value == 0 || (!warpwise::Lesson::on_gpu() &&
                       which != cudaDevAttrSingleToDoublePrecisionPerfRatio);
    if (zero_is_unknown && is_unknown) return std::nullopt;
    return value;
}

/// One row of a table: an attribute, how to show it, and what it means for somebody who
/// writes a kernel.
struct Property {
    const char* what;
    cudaDeviceAttr which;
    std::string (*show)(std::optional<double>);
    const char* meaning;
};

std::vector<std::vector<std::string>> rows_of(const std::vector<Property>& properties,
                                              int device) {
    std::vector<std::vector<std::string>> rows;
    for (const Property& p : properties)
        rows.push_back({p.what, p.show(attribute(p.which, device)), p.meaning});
    return rows;
}

const std::vector<std::string> kHeader = {"what", "value", "what it means for you"};

const std::vector<Property> kProcessors = {
    {"multiprocessors (SM)", cudaDevAttrMultiProcessorCount, show_count,
     "launch at least this many blocks"},
    {"warp size", cudaDevAttrWarpSize, show_count,
     "threads that share one instruction; block sizes are multiples"},
    {"threads per SM", cudaDevAttrMaxThreadsPerMultiProcessor, show_count,
     "more warps to switch to hide more waiting"},
    {"blocks per SM", cudaDevAttrMaxBlocksPerMultiprocessor, show_count,
     "tiny blocks meet this limit first"},
    {"registers per SM (32 bit)", cudaDevAttrMaxRegistersPerMultiprocessor, show_count,
     "shared out to its threads"},
    {"SM clock", cudaDevAttrClockRate, show_kilohertz,
     "the highest; power and heat may lower it"},
    {"FP32 rate : FP64 rate", cudaDevAttrSingleToDoublePrecisionPerfRatio, show_count,
     "the price of `double`"},
    {"kernels side by side", cudaDevAttrConcurrentKernels, show_yes_no,
     "launches in different streams may overlap"},
    {"copy engines", cudaDevAttrAsyncEngineCount, show_count,
     "copies that can run beside kernels"},
};

const std::vector<Property> kMemories = {
    {"L2 cache", cudaDevAttrL2CacheSize, show_bytes,
     "what fits here is read again for much less"},
    {"constant memory", cudaDevAttrTotalConstantMemory, show_bytes,
     "`__constant__`: fast if a warp reads one address"},
    {"shared memory per block", cudaDevAttrMaxSharedMemoryPerBlock, show_bytes,
     "`__shared__`, without asking"},
    {"... on request", cudaDevAttrMaxSharedMemoryPerBlockOptin, show_bytes,
     "with cudaFuncSetAttribute"},
    {"shared memory per SM", cudaDevAttrMaxSharedMemoryPerMultiprocessor, show_bytes,
     "shared out to its blocks"},
    {"registers per block", cudaDevAttrMaxRegistersPerBlock, show_count,
     "threads x registers per thread must fit"},
    {"memory clock", cudaDevAttrMemoryClockRate, show_kilohertz, "two transfers per clock"},
    {"memory bus", cudaDevAttrGlobalMemoryBusWidth,
     [](std::optional<double> bits) { return show(bits, "bit"); },
     "bits moved by one transfer"},
    {"maps host memory", cudaDevAttrCanMapHostMemory, show_yes_no,
     "kernels can read prepared host memory"},
    {"managed memory", cudaDevAttrManagedMemory, show_yes_no,
     "one pointer for host and device"},
};

const std::vector<Property> kLimits = {
    {"threads per block", cudaDevAttrMaxThreadsPerBlock, show_count,
     "product of the three block extents"},
    {"block extent x", cudaDevAttrMaxBlockDimX, show_count, "blockDim.x"},
    {"block extent y", cudaDevAttrMaxBlockDimY, show_count, "blockDim.y"},
    {"block extent z", cudaDevAttrMaxBlockDimZ, show_count, "blockDim.z: the small one"},
    {"grid extent x", cudaDevAttrMaxGridDimX, show_count,
     "gridDim.x: put the long direction here"},
    {"grid extent y", cudaDevAttrMaxGridDimY, show_count,
     "gridDim.y: too short for one block per row"},
    {"grid extent z", cudaDevAttrMaxGridDimZ, show_count, "gridDim.z"},
};

std::string version(int number) {  // 13020 is 13.2
    return number == 0
               ? "-"
               : std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

void list_devices(warpwise::Lesson& lesson, int current) {
    int devices = 0, driver = 0, runtime = 0;
    check(cudaGetDeviceCount(&devices));
    check(cudaDriverGetVersion(&driver));
    check(cudaRuntimeGetVersion(&runtime));
    std::vector<std::vector<std::string>> rows;
    for (int device = 0; device < devices; ++device) {
        cudaDeviceProp properties{};
        check(cudaGetDeviceProperties(&properties, device));
        rows.push_back(
            {std::to_string(device) + (device == current ? " *" : ""), properties.name,
             std::to_string(properties.major) + "." + std::to_string(properties.minor),
             std::to_string(properties.multiProcessorCount),
             show_bytes(static_cast<double>(properties.totalGlobalMem))});
    }
    lesson.table({"devices", "Devices of this machine (* the one in use)"},
                 {"device", "name", "compute capability", "SMs", "memory"}, rows);
    lesson.table({"host", "Around them"}, {"what", "value"},
                 {{"host threads", show_count(std::thread::hardware_concurrency())},
                  {"CUDA version that the driver supports", version(driver)},
                  {"CUDA version of this program", version(runtime)}});
}

void derive_rates(warpwise::Lesson& lesson, int device, const cudaDeviceProp& properties) {
    using Rate = std::optional<double>;
    // The CPU device has the limits of a GPU, but not its units.
    const bool is_gpu = warpwise::Lesson::on_gpu();
    const int known_units = warpwise::fp32_lanes(properties.major, properties.minor);
    const Rate units = is_gpu && known_units > 0 ? Rate(known_units) : std::nullopt;
    const Rate clock = attribute(cudaDevAttrClockRate, device);                 // kHz
    const Rate memory_clock = attribute(cudaDevAttrMemoryClockRate, device);    // kHz
    const Rate bus_width = attribute(cudaDevAttrGlobalMemoryBusWidth, device);  // bits
    const double sms = properties.multiProcessorCount;
    const Rate fp64_ratio = attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio, device);

    Rate bandwidth, flops, flops64, balance, add_share;
    if (memory_clock && bus_width) bandwidth = 2 * (*memory_clock * 1e3) * (*bus_width / 8);
    if (units && clock) flops = sms * *units * 2 * (*clock * 1e3);
    if (flops && fp64_ratio) flops64 = *flops / *fp64_ratio;
    if (bandwidth && flops) balance = *flops / *bandwidth;
    if (balance) add_share = 100 * (1.0 / 12) / *balance;
    warpwise::table_beside_record(
        lesson, {"derived", "Derived from them"}, {"what", "formula", "value"},
        {{"resident threads", "SMs x threads per SM",
          show_count(sms * properties.maxThreadsPerMultiProcessor)},
         {"FP32 units", "SMs x FP32 units per SM",
          show_count(units ? Rate(sms * *units) : units)},
         {"peak bandwidth", "2 x memory clock x bus width / 8",
          show(bandwidth ? Rate(*bandwidth / 1e9) : bandwidth, "GB/s")},
         {"peak FP32 rate", "FP32 units x 2 x SM clock",
          show(flops ? Rate(*flops / 1e12) : flops, "Tflop/s")},
         {"peak FP64 rate", "FP32 rate / (FP32 rate : FP64 rate)",
          show(flops64 ? Rate(*flops64 / 1e12) : flops64, "Tflop/s")},
         {"balance", "FP32 rate / bandwidth", show(balance, "flop per byte")},
         {"share of it that a vector addition can use", "(1 flop / 12 bytes) / balance",
          show(add_share, "%")}},
        "value");

    std::vector<std::vector<std::string>> rows;
    constexpr std::array<std::array<int, 2>, 12> capabilities = {{{7, 0},
                                                                  {7, 5},
                                                                  {8, 0},
                                                                  {8, 6},
                                                                  {8, 7},
                                                                  {8, 9},
                                                                  {9, 0},
                                                                  {10, 0},
                                                                  {10, 3},
                                                                  {11, 0},
                                                                  {12, 0},
                                                                  {12, 1}}};
    for (const auto& [major, minor] : capabilities) {
        const bool here = is_gpu && major == properties.major && minor == properties.minor;
        rows.push_back({std::to_string(major) + "." + std::to_string(minor),
                        std::to_string(warpwise::fp32_lanes(major, minor)),
                        here ? "this device" : ""});
    }
    lesson.table({"lanes", "FP32 units per SM"}, {"compute capability", "units", ""}, rows);
}

void try_the_limits(warpwise::Lesson& lesson, const cudaDeviceProp& properties) {
    const auto shared_bytes = static_cast<unsigned>(properties.sharedMemPerBlock);
    DeviceBuffer<unsigned> d_seen(3);
    d_seen.fill_bytes(0xFF);
    largest_block<<<1, properties.maxThreadsPerBlock, shared_bytes>>>(shared_bytes,
                                                                      d_seen.data());
    warpwise::check_launch();
    warpwise::check_finished();
    const std::vector<unsigned> seen = d_seen.download();
    lesson.expect(seen[0] == static_cast<unsigned>(properties.warpSize),
                  "a kernel sees the promised warp size");
    lesson.expect(seen[1] == static_cast<unsigned>(properties.maxThreadsPerBlock),
                  "the largest block runs complete");
    lesson.expect(seen[2] == 42, "the last byte of a block's shared memory can be used");
    lesson.table(
        {"tried", "Tried with one kernel: the largest block"},
        {"what", "promised", "seen by the kernel"},
        {{"warp size", std::to_string(properties.warpSize), std::to_string(seen[0])},
         {"threads per block", std::to_string(properties.maxThreadsPerBlock),
          std::to_string(seen[1])},
         {"shared memory per block", show_bytes(shared_bytes),
          seen[2] == 42 ? "all of it" : "less"}});
}

}  // namespace

void device_query(warpwise::Lesson& lesson) {
    int device = 0;
    check(cudaGetDevice(&device));
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device));
    std::size_t free_bytes = 0, total_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &total_bytes));

    lesson.question(
        R"(How many processors does this machine have, how much memory of each kind, and
which launches will be refused? Every value below comes from the runtime, or from such
values by the formula beside it. A program should ask for these values and not contain
them, so that it also fits the next chip. In the tables, FP32 stands for float and FP64
for double.)");
    list_devices(lesson, device);
    const int sms = properties.multiProcessorCount;
    const int threads = properties.maxThreadsPerMultiProcessor;
    lesson.predict(
        {.question = "This device has " + std::to_string(sms) +
                     R"( SMs, and each of them can
keep )" + std::to_string(threads) +
                     R"( threads resident. Into how many warps does the hardware
divide the threads that are resident on the whole device at once?)",
         .answer = warpwise::Number{.value = double(sms) * threads / 32, .unit = "warps"},
         .because =
             R"(A warp has 32 threads. There are many more warps than can compute in
one clock cycle, because while some of them wait for memory, others compute.)"});
    warpwise::table_beside_record(lesson, {"processors", "Processors"}, kHeader,
                                  rows_of(kProcessors, device), "value");

    lesson.predict(
        {.question = R"(A launch asks for blocks of dim3(32, 64) threads. Does the kernel
run?)",
         .answer = warpwise::Choice{{"yes, because each extent is small enough",
                                     "yes, but only 1024 threads of each block",
                                     "no, the launch is refused"},
                                    2},
         .because = R"(These are 2048 threads, and a block has at most 1024, whatever its
extents are.)"});
    auto memories = rows_of(kMemories, device);
    memories.insert(memories.begin(),
                    {{"global memory", show_bytes(static_cast<double>(total_bytes)),
                      "cudaMalloc takes from here"},
                     {"... free now", show_bytes(static_cast<double>(free_bytes)),
                      "others may be using the device too"}});
    warpwise::table_beside_record(lesson, {"memories", "Memories"}, kHeader, memories,
                                  "value");
    lesson.table({"limits", "What a launch may ask for"}, kHeader,
                 rows_of(kLimits, device));
    lesson.conclusion(
        R"(A launch that exceeds any of these limits is refused, and the kernel does not run
at all.)");

    lesson.question(
        R"(How fast can a program be at best, by these values? The FP32 units of an SM do
its arithmetic with floats. Each of them can finish one multiply-add per clock, which
counts as two operations. 1 Tflop/s is 10^12 operations with floats or doubles per
second.)");
    lesson.predict(
        {.question = R"(A vector addition does one addition for each 12 bytes. What share of
a GPU's arithmetic can it use, if memory delivers these bytes as fast as it can?)",
         .answer = warpwise::Choice{{"nearly all of it", "about half", "about a tenth",
                                     "less than a fiftieth"},
                                    3},
         .because = R"(GPUs do ten operations and more in the time in which memory delivers
one byte.)"});
    derive_rates(lesson, device, properties);
    try_the_limits(lesson, properties);

    lesson.conclusion(
        warpwise::Lesson::on_gpu()
            ? R"(While some of the resident warps wait for memory, the others compute.
The balance is the number to remember: a kernel with fewer operations per byte is
memory-bound, and faster arithmetic does not make it faster. Most lessons of this
chapter are of that kind. No program exceeds the peak rates; a plain copy typically
reaches 80 to 90 % of the bandwidth.)"
            : R"(While some of the resident warps wait for memory, the others compute.
The CPU device has the limits of a GPU, so a launch that this GPU refuses is refused
here too. It has no FP32 units, no clock rate, and no memory bus: the host computes. What
depends on them is shown as `-`, and no lesson shows a time of the CPU device as if it were
the time of a GPU.)");
}

}  // namespace basics_and_pi

#include "common/lesson/memory.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <vector>

#include "common/helpers/check.h"
#include "common/lesson/terminal.h"

namespace warpwise {
namespace {

constexpr double usable_share = 0.8;  // of free memory

std::optional<std::size_t> number_in(const char* file) {
    std::ifstream stream(file);
    std::size_t number = 0;
    if (stream >> number) return number;
    return std::nullopt;
}

std::optional<std::size_t> available_memory() {
    std::ifstream stream("/proc/meminfo");
    std::string name;
    std::size_t kibibytes = 0;
    std::string unit;
    while (stream >> name >> kibibytes) {
        if (name == "MemAvailable:") return kibibytes * 1024;
        std::getline(stream, unit);
    }
    return std::nullopt;
}

}  // namespace

std::size_t free_device_bytes() {
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total));
    return free;
}

std::size_t free_host_bytes() {
    std::size_t free = available_memory().value_or(std::numeric_limits<std::size_t>::max());
    // The limit of the control group that a container runs in, version 2.
    const std::optional<std::size_t> limit = number_in("/sys/fs/cgroup/memory.max");
    const std::optional<std::size_t> used = number_in("/sys/fs/cgroup/memory.current");
    if (limit && used) free = std::min(free, *limit - std::min(*limit, *used));
    return free;
}

std::string bytes_text(double bytes) {
    constexpr double kibi = 1024;
    if (bytes >= kibi * kibi * kibi) return three_digits(bytes / (kibi * kibi * kibi)) + " GiB";
    if (bytes >= kibi * kibi) return three_digits(bytes / (kibi * kibi)) + " MiB";
    if (bytes >= kibi) return three_digits(bytes / kibi) + " KiB";
    return fmt::format("{} bytes", bytes);
}

std::string why_it_does_not_fit(std::size_t device_bytes, std::size_t free_device, std::size_t free_host,
                                bool device_is_host) {
    const double needed = static_cast<double>(device_bytes);
    if (needed > usable_share * static_cast<double>(free_device)) {
        return fmt::format("needs {} of device memory, {} are free", bytes_text(needed),
                           bytes_text(static_cast<double>(free_device)));
    }
    const double on_host = needed * (device_is_host ? 3 : 2);
    if (on_host > usable_share * static_cast<double>(free_host)) {
        return fmt::format("needs about {} of host memory, {} are free", bytes_text(on_host),
                           bytes_text(static_cast<double>(free_host)));
    }
    return {};
}

std::size_t halve_to_fit(std::size_t largest, std::size_t least,
                         const std::function<std::size_t(std::size_t)>& bytes_of) {
    const std::size_t free = free_device_bytes();
    std::size_t count = largest;
    while (count > least && bytes_of(count) > free / 2) count /= 2;
    return count;
}

Size halve_until(Size size, const std::function<bool(const Size&)>& fits) {
    while (!fits(size)) {
        std::vector<std::size_t> extents;
        for (std::size_t i = 0; i < size.dimensions(); ++i) extents.push_back(size[i]);
        const auto largest = std::max_element(extents.begin(), extents.end());
        if (largest == extents.end() || *largest <= 1) break;
        *largest /= 2;
        size = Size(std::move(extents));
    }
    return size;
}

}  // namespace warpwise

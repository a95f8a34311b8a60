#include "common/helpers/counts.h"

#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

namespace warpwise {
namespace {

constexpr double bytes_of_a_sector = 32;
constexpr double bytes_of_a_wavefront = 128;  // 32 banks of 4 bytes

double ratio(double part, double whole) { return whole == 0 ? 0 : part / whole; }

/// Three digits and the prefix that fits: 1.05, 10.5, 105.
std::string with_prefix(double value, const char* unit) {
    const char* prefix = "";
    for (const char* next : {"k", "M", "G", "T"}) {
        if (value < 999.5) break;
        value /= 1000;
        prefix = next;
    }
    char text[64];
    const bool whole = *prefix == '\0' && value == std::floor(value);
    const int decimals = whole || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    std::snprintf(text, sizeof text, "%.*f %s%s", decimals, value, prefix, unit);
    return text;
}

}  // namespace

double RequestCounts::sectors_per_request() const { return ratio(sectors, requests); }
double RequestCounts::wavefronts_per_request() const { return ratio(wavefronts, requests); }
double RequestCounts::lanes_per_request() const { return ratio(lanes, requests); }
double RequestCounts::sector_efficiency() const { return sectors == 0 ? 1 : needed_sectors / sectors; }
double RequestCounts::bytes_moved() const { return sectors * bytes_of_a_sector; }
double RequestCounts::conflicts() const { return wavefronts - least_wavefronts; }

RequestCounts& RequestCounts::operator+=(const RequestCounts& other) {
    requests += other.requests;
    lanes += other.lanes;
    bytes += other.bytes;
    sectors += other.sectors;
    needed_sectors += other.needed_sectors;
    wavefronts += other.wavefronts;
    least_wavefronts += other.least_wavefronts;
    same_address += other.same_address;
    remote_lanes += other.remote_lanes;
    return *this;
}

RequestCounts& RequestCounts::operator*=(double factor) {
    requests *= factor;
    lanes *= factor;
    bytes *= factor;
    sectors *= factor;
    needed_sectors *= factor;
    wavefronts *= factor;
    least_wavefronts *= factor;
    same_address *= factor;
    remote_lanes *= factor;
    return *this;
}

double Counts::active_lanes_per_step() const { return ratio(active_lanes, steps); }

RequestCounts Counts::global() const {
    RequestCounts sum = global_load;
    sum += global_store;
    return sum += global_atomic;
}

RequestCounts Counts::shared() const {
    RequestCounts sum = shared_load;
    sum += shared_store;
    return sum += shared_atomic;
}

double Counts::cost() const {
    return global().bytes_moved() + bytes_of_a_wavefront * (shared().wavefronts + constant_load.wavefronts) +
           bytes_of_a_sector * (global_atomic.same_address + shared_atomic.same_address);
}

Counts& Counts::operator+=(const Counts& other) {
    for (const MemoryOperation& operation : memory_operations) this->*operation.counts += other.*operation.counts;
    barriers += other.barriers;
    steps += other.steps;
    active_lanes += other.active_lanes;
    return *this;
}

Counts& Counts::operator*=(double factor) {
    for (const MemoryOperation& operation : memory_operations) this->*operation.counts *= factor;
    barriers *= factor;
    steps *= factor;
    active_lanes *= factor;
    return *this;
}

double LaunchCounts::scale() const {
    return instrumented_blocks == 0 ? 1 : static_cast<double>(blocks) / static_cast<double>(instrumented_blocks);
}

double LaunchCounts::barriers_per_warp() const {
    const double threads = static_cast<double>(block[0]) * block[1] * block[2];
    return ratio(total.barriers, static_cast<double>(instrumented_blocks) * std::ceil(threads / 32));
}

Counts sum_of(const std::vector<LaunchCounts>& launches) {
    Counts sum;
    for (const LaunchCounts& launch : launches) {
        Counts scaled = launch.total;
        sum += scaled *= launch.scale();
    }
    return sum;
}

std::vector<LineCounts> lines_of(const std::vector<LaunchCounts>& launches) {
    std::map<std::pair<std::string, int>, Counts> sums;
    for (const LaunchCounts& launch : launches) {
        for (const LineCounts& line : launch.lines) {
            Counts scaled = line.counts;
            sums[{line.file, line.line}] += scaled *= launch.scale();
        }
    }
    std::vector<LineCounts> lines;
    for (const auto& [place, counts] : sums) lines.push_back({place.first, place.second, counts});
    return lines;
}

std::optional<Counts> array_of(const std::vector<LaunchCounts>& launches, const std::string& name) {
    std::optional<Counts> sum;
    for (const LaunchCounts& launch : launches) {
        for (const ArrayCounts& array : launch.arrays) {
            if (array.name != name) continue;
            if (!sum) sum.emplace();
            Counts scaled = array.counts;
            *sum += scaled *= launch.scale();
        }
    }
    return sum;
}

std::string count_text(double count) {
    if (count >= 999999.5) return with_prefix(count, "");
    char text[32];
    std::snprintf(text, sizeof text, "%.0f", count);
    return text;
}

std::string bytes_moved_text(double bytes) { return with_prefix(bytes, "B"); }

std::string ratio_text(double ratio) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.2f", ratio);
    std::string text = buffer;
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
}

}  // namespace warpwise

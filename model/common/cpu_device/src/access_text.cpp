#include "access_text.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace cpu_device {
namespace {

template <class T>
T load(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

/// Small integers, and -1, have bit patterns that are no sensible floating-point numbers.
bool looks_sensible(double value) {
    const double size = std::fabs(value);
    return size >= 1e-9 && size <= 1e9;
}

/// The bits of -1 and of a NaN, and what the CPU device fills memory with that nobody has written.
bool is_all_ones(const std::byte* value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
        if (value[i] != std::byte{0xff}) return false;
    }
    return true;
}

std::string number_text(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%g", value);
    return text;
}

const char* verb(AccessKind kind, bool past) {
    switch (kind) {
        case AccessKind::read:
        case AccessKind::volatile_read:
            return past ? "read" : "reads";
        case AccessKind::write:
        case AccessKind::volatile_write:
            return past ? "wrote" : "writes";
        case AccessKind::atomic:
            return past ? "atomically updated" : "atomically updates";
        case AccessKind::atomic_read:
            return past ? "atomically read" : "atomically reads";
        case AccessKind::atomic_write:
            return past ? "atomically wrote" : "atomically writes";
    }
    return past ? "touched" : "touches";
}

std::string start_of_text(AccessKind kind, std::size_t bytes, bool past) {
    return std::string(verb(kind, past)) + " " + std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

}  // namespace

std::string value_text(const std::byte* value, std::size_t bytes) {
    if ((bytes == 4 || bytes == 8) && is_all_ones(value, bytes)) return "-1 or nan";
    switch (bytes) {
        case 1:
            return std::to_string(load<std::uint8_t>(value));
        case 2:
            return std::to_string(load<std::int16_t>(value));
        case 4:
            if (looks_sensible(load<float>(value))) return number_text(load<float>(value));
            return std::to_string(load<std::int32_t>(value));
        case 8:
            if (looks_sensible(load<double>(value))) return number_text(load<double>(value));
            return std::to_string(load<std::int64_t>(value));
        default:
            return "";
    }
}

std::string present_text(AccessKind kind, std::size_t bytes, const std::byte* before, const std::byte* after) {
    std::string text = start_of_text(kind, bytes, false);
    const std::string old = before == nullptr ? "" : value_text(before, bytes);
    if (old.empty()) return text;
    if (!writes(kind)) return text + " (" + old + ")";
    return after == nullptr ? text : text + " (" + old + " -> " + value_text(after, bytes) + ")";
}

std::string past_text(AccessKind kind, std::size_t bytes, const std::byte* value) {
    const std::string now = value == nullptr ? "" : value_text(value, bytes);
    return start_of_text(kind, bytes, true) + (now.empty() ? "" : " (" + now + ")");
}

}  // namespace cpu_device

// printf of kernels: prints like the C library's, and returns what a GPU's returns.
#include <cstdarg>
#include <cstdio>
#include <string_view>

#include "cpu_device/execution.h"
#include "watched_code.h"

namespace cpu_device {
namespace {

/// Length of the part of `text` that consists of `characters`.
std::size_t span_of(std::string_view text, std::string_view characters) {
    const std::size_t end = text.find_first_not_of(characters);
    return end == std::string_view::npos ? text.size() : end;
}

/// How many arguments a GPU's printf takes from the program for `format`: one for each conversion, another one for each
/// width `*`. Conversions that it does not know (`%zu`, `%.*f`) take none ("Formatted Output", CUDA C++ Programming
/// Guide; seen on an H200).
int count_arguments(std::string_view format) {
    int arguments = 0;
    for (;;) {
        const std::size_t percent = format.find('%');
        if (percent == std::string_view::npos) return arguments;
        format.remove_prefix(percent + 1);
        if (format.starts_with('%')) {
            format.remove_prefix(1);
            continue;
        }
        format.remove_prefix(span_of(format, "-+ #0"));
        const bool width_is_an_argument = format.starts_with('*');
        format.remove_prefix(width_is_an_argument ? 1 : span_of(format, "0123456789"));
        if (format.starts_with('.')) {
            format.remove_prefix(1);
            format.remove_prefix(span_of(format, "0123456789"));
        }
        format.remove_prefix(format.starts_with("ll") ? 2 : format.starts_with('l') || format.starts_with('h') ? 1 : 0);
        if (span_of(format.substr(0, 1), "cdiouxXpeEfFgGaAs") == 1) {
            format.remove_prefix(1);
            arguments += width_is_an_argument ? 2 : 1;
        }
    }
}

int print(const char* format, std::va_list arguments) {
    const Unwatched unwatched;
    if (!in_kernel()) return std::vprintf(format, arguments);
    if (format == nullptr) return -1;
    return std::vprintf(format, arguments) < 0 ? -2 : count_arguments(format);
}

}  // namespace
}  // namespace cpu_device

// printf of code that includes cuda_runtime.h (see watched.h).
extern "C" __attribute__((format(printf, 1, 2))) int cpu_device_printf(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const int result = cpu_device::print(format, arguments);
    va_end(arguments);
    return result;
}

extern "C" __attribute__((format(printf, 2, 3))) int cpu_device_printf_chk(int /*flag*/, const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const int result = cpu_device::print(format, arguments);
    va_end(arguments);
    return result;
}

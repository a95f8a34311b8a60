// printf of kernels: prints like the C library's, and returns what a GPU's returns.
#include "device_printf.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "cpu_device/execution.h"
#include "device_output.h"
#include "instrumented_code.h"

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

std::atomic<bool> line_is_open{false};

/// Formats for a kernel. False when the C library cannot.
bool format_text(std::string& text, const char* format, std::va_list arguments) {
    char few[256];
    std::va_list again;
    va_copy(again, arguments);
    const int length = std::vsnprintf(few, sizeof few, format, arguments);
    if (length >= 0 && static_cast<std::size_t>(length) < sizeof few) {
        text.assign(few, static_cast<std::size_t>(length));
    } else if (length >= 0) {
        text.resize(static_cast<std::size_t>(length) + 1);
        std::vsnprintf(text.data(), text.size(), format, again);
        text.pop_back();
    }
    va_end(again);
    return length >= 0;
}

int print(const void* code, const char* format, std::va_list arguments) {
    const Uninstrumented uninstrumented;
    if (!in_kernel()) {
        note_printed(format);
        return std::vprintf(format, arguments);
    }
    if (format == nullptr) return -1;
    std::string text;
    if (!format_text(text, format, arguments)) return -2;
    print_later(code, format, std::move(text));
    return count_arguments(format);
}

}  // namespace

void note_printed(std::string_view text) {
    if (!text.empty()) line_is_open = !text.ends_with('\n');
}

bool printf_left_line_open() { return line_is_open; }
void forget_open_line() { line_is_open = false; }

}  // namespace cpu_device

// printf of code that includes cuda_runtime.h (see instrumented.h).
extern "C" __attribute__((format(printf, 1, 2))) int cpu_device_printf(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const int result = cpu_device::print(__builtin_return_address(0), format, arguments);
    va_end(arguments);
    return result;
}

extern "C" __attribute__((format(printf, 2, 3))) int cpu_device_printf_chk(int /*flag*/, const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const int result = cpu_device::print(__builtin_return_address(0), format, arguments);
    va_end(arguments);
    return result;
}

// Set by the linker: the program begins and ends here.
extern "C" const char __executable_start;
extern "C" const char _end;

namespace cpu_device {
namespace {

/// For each character an address that no format has.
constexpr char characters[256] = {};

/// True for a string literal.
bool is_of_the_program(const char* text) { return text >= &__executable_start && text < &_end; }

}  // namespace
}  // namespace cpu_device

// What compilers make of printf("text\n"), printf("%s\n", text), and printf("%c", c).
extern "C" int cpu_device_puts(const char* text) {
    const cpu_device::Uninstrumented uninstrumented;
    if (!cpu_device::in_kernel()) return std::puts(text);
    const char* format = cpu_device::is_of_the_program(text) ? text : nullptr;
    cpu_device::print_later(__builtin_return_address(0), format, std::string(text) + "\n");
    return 0;
}

extern "C" int cpu_device_putchar(int character) {
    const cpu_device::Uninstrumented uninstrumented;
    if (!cpu_device::in_kernel()) return std::putchar(character);
    cpu_device::print_later(__builtin_return_address(0), &cpu_device::characters[static_cast<unsigned char>(character)],
                            std::string(1, static_cast<char>(character)));
    return character;
}

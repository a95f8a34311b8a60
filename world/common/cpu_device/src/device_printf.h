// Whether the program's output has come to the end of a line.
#pragma once

#include <string_view>

namespace cpu_device {

/// Code that includes cuda_runtime.h prints this.
void note_printed(std::string_view text);

/// True if the last printf of code that includes cuda_runtime.h ended without a newline.
bool printf_left_line_open();

/// Somebody has ended the line.
void forget_open_line();

}  // namespace cpu_device

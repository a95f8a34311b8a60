// Which kernel a launch through a variable means, in the program's own words.
#pragma once

#include <string_view>

#include "cpu_device/execution.h"

namespace cpu_device {

/// `site` with the kernel's name and parameters filled in, if it says which function is launched, the program has its
/// symbol, and the kernel is among those that the site names. The texts live as long as the program.
LaunchSite with_kernel_name(const LaunchSite& site);

/// As `LaunchSite::kernels`: the kernel may be any, and only its name is to be found.
constexpr const char* kAnyKernel = "*";

/// Parts of a function's demangled name: "scale" and "scale<float, 4>" of "void (anonymous namespace)::scale<float,
/// 4>(float*)". Empty when it has another form.
struct FunctionName {
    std::string_view name;
    std::string_view with_arguments;
};
FunctionName function_name(std::string_view demangled);

/// "in,out" of "scale" in "copy(a,b);scale(in,out)"; empty when it is not there.
std::string_view parameters_in(std::string_view kernels, std::string_view name);

}  // namespace cpu_device

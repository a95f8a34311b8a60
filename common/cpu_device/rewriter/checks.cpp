#include "checks.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "host_library.h"
#include "rewriter.h"
#include "status_functions.h"

namespace cpu_device::rewriter {
namespace {

/// Functions of the C library that device code does not have, and objects of the C++ library.
constexpr std::array<std::string_view, 25> host_only{
    "rand",  "srand",  "time",    "sprintf", "snprintf", "fprintf", "puts", "putchar", "exit",
    "abort", "strcmp", "qsort",   "scanf",   "sscanf",   "getenv",  "atoi", "atof",    "fflush",
    "fopen", "fclose", "strncmp", "system",  "getchar",  "cout",    "cerr"};

/// Names that CUDA itself gives to device functions, too: a program's own function of the name is one more overload.
constexpr std::array<std::string_view, 22> of_cuda_as_well{
    "min",  "max",   "abs",  "fabs", "sqrt", "pow",   "exp",  "log",   "sin",   "cos",   "tan",
    "ceil", "round", "fmin", "fmax", "fma",  "rsqrt", "norm", "floor", "hypot", "clock", "printf"};

/// Functions of the runtime API that kernels may call, too.
constexpr std::array<std::string_view, 14> of_the_device_runtime{
    "cudaDeviceGetAttribute",
    "cudaDeviceGetCacheConfig",
    "cudaDeviceGetLimit",
    "cudaDeviceGetSharedMemConfig",
    "cudaFree",
    "cudaFuncGetAttributes",
    "cudaGetDevice",
    "cudaGetDeviceCount",
    "cudaMalloc",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaRuntimeGetVersion",
    "cudaStreamCreateWithFlags",
    "cudaStreamDestroy",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags"};

/// The same, of those that the CPU device lacks: they would have to come after kernels that have not run yet.
constexpr std::array<std::string_view, 12> missing_in_kernels{
    "cudaEventCreateWithFlags", "cudaEventDestroy",  "cudaEventRecord",   "cudaEventRecordWithFlags",
    "cudaGraphLaunch",          "cudaMemcpy2DAsync", "cudaMemcpy3DAsync", "cudaMemcpyAsync",
    "cudaMemset2DAsync",        "cudaMemset3DAsync", "cudaMemsetAsync",   "cudaStreamWaitEvent"};

template <std::size_t n>
bool is_one_of(std::string_view text, const std::array<std::string_view, n>& words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

std::string counted(std::size_t number, const char* what) {
    return std::to_string(number) + ' ' + what + (number == 1 ? "" : "s");
}

/// "add takes 3 arguments, 2 were given"; nothing where one of the kernels takes this number.
std::optional<std::string> wrong_number(const NamedLaunch& launch,
                                        const std::vector<const KernelDeclaration*>& kernels) {
    if (!launch.arguments || !launch.arguments_are_clear) return std::nullopt;
    const std::size_t given = *launch.arguments;
    std::map<std::size_t, std::size_t> least;  // of each number of parameters, how many of them have to be given
    for (const KernelDeclaration* kernel : kernels) {
        if (kernel->takes_pack || !kernel->is_clear) return std::nullopt;
        const auto has_default = [](const KernelParameter& parameter) { return parameter.has_default; };
        const auto defaults = std::count_if(kernel->parameters.begin(), kernel->parameters.end(), has_default);
        const std::size_t number = kernel->parameters.size();
        const std::size_t needed = number - static_cast<std::size_t>(defaults);
        const auto [place, is_new] = least.emplace(number, needed);
        if (!is_new) place->second = std::min(place->second, needed);
    }
    std::string takes;
    for (const auto& [number, needed] : least) {
        if (needed <= given && given <= number) return std::nullopt;
        if (!takes.empty()) takes += " or ";
        if (needed < number) takes += std::to_string(needed) + " to ";
        takes += &number == &least.rbegin()->first ? counted(number, "argument") : std::to_string(number);
    }
    return launch.kernel + " takes " + takes + ", " + std::to_string(given) + (given == 1 ? " was" : " were") +
           " given";
}

/// Why device code cannot call this function of the runtime API; empty where it can.
std::string refusal_of_runtime_function(const std::string& name) {
    if (!returns_status(name) || is_one_of(name, of_the_device_runtime)) return {};
    if (name == "cudaDeviceSynchronize")
        return name +
               " left device code with CUDA 12: a kernel cannot wait for kernels that it has launched. What needs "
               "their "
               "results is launched into the stream cudaStreamTailLaunch";
    if (is_one_of(name, missing_in_kernels)) return name + " in device code is not supported on the CPU device";
    return name + " is a host function, and device code cannot call it";
}

}  // namespace

void check_uses(const Analysis& file, const std::vector<const Analysis*>& visible,
                const std::vector<const Analysis*>& program) {
    std::map<std::string_view, std::vector<const KernelDeclaration*>> kernels;
    std::map<std::string_view, std::vector<const OtherFunction*>> functions;
    std::set<std::string_view> kernels_anywhere, members;
    for (const Analysis* one : program) {
        for (const KernelDeclaration& kernel : one->kernels) kernels_anywhere.insert(kernel.name);
        members.insert(one->members.begin(), one->members.end());
    }
    for (const Analysis* one : visible) {
        for (const KernelDeclaration& kernel : one->kernels) kernels[kernel.name].push_back(&kernel);
        for (const OtherFunction& function : one->functions) functions[function.name].push_back(&function);
    }
    int first_line = std::numeric_limits<int>::max();
    std::string first_message;
    const auto report = [&](int line, const std::string& message) {
        if (line >= first_line) return;
        first_line = line;
        first_message = message;
    };
    const bool relaxed =
        std::any_of(visible.begin(), visible.end(), [](const Analysis* one) { return one->names_relaxed_constexpr; });
    /// Whether all functions of the name are known to run on these sides, and there is one.
    const auto all_run_on = [&](std::string_view name, std::uint8_t sides) {
        const auto found = functions.find(name);
        return found != functions.end() && kernels_anywhere.count(name) == 0 && members.count(name) == 0 &&
               std::all_of(found->second.begin(), found->second.end(), [&](const OtherFunction* function) {
                   return function->is_clear && (sides == both_sides || function->sides == sides);
               });
    };

    std::vector<Refusal> wrong_launches;
    for (const NamedLaunch& launch : file.launches) {
        if (launch.through_variable) continue;
        const auto found = kernels.find(launch.kernel);
        if (found == kernels.end()) {
            if (all_run_on(launch.kernel, both_sides))
                report(launch.line, launch.kernel + " is launched but is not a kernel: declare it with __global__");
            continue;
        }
        if (functions.count(launch.kernel) != 0 || members.count(launch.kernel) != 0) continue;
        if (const auto message = wrong_number(launch, found->second)) wrong_launches.push_back({launch.line, *message});
    }
    // Where `__global__` is missing, all that the function may not do as one of the host is only a consequence.
    if (!first_message.empty()) throw Error(first_message, file.file_name, first_line);
    for (const Refusal& refusal : wrong_launches) report(refusal.line, refusal.message);
    for (const Refusal& refusal : file.refusals) report(refusal.line, refusal.message);
    for (const NamedCall& call : file.calls) {
        const bool is_function = functions.count(call.name) != 0;
        if (!call.is_in_std && !is_function && kernels.count(call.name) != 0 && members.count(call.name) == 0) {
            report(call.line,
                   call.name + " is a kernel, so it has to be launched: " + call.name + "<<<grid, block>>>(...)");
        } else if (call.sides == device_side && !call.is_in_std && !is_one_of(call.name, of_cuda_as_well) &&
                   all_run_on(call.name, host_side)) {
            report(call.line, call.name +
                                  " is a host function, and device code cannot call it: declare it with "
                                  "__device__, or with __host__ __device__ for both");
        } else if (call.sides == device_side && is_one_of(call.name, host_only) && !is_function &&
                   members.count(call.name) == 0) {
            report(call.line, (call.is_in_std ? "std::" : "") + call.name +
                                  " is for host code only: kernels and "
                                  "__device__ functions do not have it");
        } else if (call.sides == device_side && !call.is_in_std && !is_function && members.count(call.name) == 0 &&
                   !refusal_of_runtime_function(call.name).empty()) {
            report(call.line, refusal_of_runtime_function(call.name));
        } else if (call.sides == device_side && call.is_in_std &&
                   !refusal_of_std_function(call.name, relaxed).empty()) {
            report(call.line, refusal_of_std_function(call.name, relaxed));
        } else if (call.sides == host_side && !call.is_in_std && !is_one_of(call.name, of_cuda_as_well) &&
                   all_run_on(call.name, device_side)) {
            report(call.line, call.name +
                                  " is a __device__ function, and host code cannot call it: launch a kernel that "
                                  "does, or declare it with __host__ __device__");
        }
    }
    for (const NamedUse& use : file.uses_in_device_code) {
        const bool means_something_else =
            members.count(use.name) != 0 || std::any_of(visible.begin(), visible.end(), [&](const Analysis* one) {
                return std::any_of(one->device_variables.begin(), one->device_variables.end(),
                                   [&](const DeviceVariableName& variable) { return variable.name == use.name; });
            });
        if (means_something_else) continue;
        report(use.line, use.name +
                             " is a variable of the host, and device code cannot use it: declare it with __device__ or "
                             "__constant__, or pass its value as an argument");
    }
    for (const NamedWrite& write : file.writes_in_device_code) {
        bool is_known = false, is_certain = members.count(write.name) == 0;
        for (const Analysis* one : visible)
            for (const DeviceVariableName& variable : one->device_variables) {
                if (variable.name != write.name) continue;
                is_known = true;
                is_certain = is_certain && variable.is_constant && variable.is_scalar && variable.dimensions == 0 &&
                             (write.scope.empty() || variable.namespaces.count(write.scope) != 0);
            }
        if (!is_known || !is_certain) continue;
        report(write.line,
               write.name +
                   " is a __constant__ variable, and kernels can only read it: what they change is declared "
                   "with __device__");
    }
    if (!first_message.empty()) throw Error(first_message, file.file_name, first_line);
}

}  // namespace cpu_device::rewriter

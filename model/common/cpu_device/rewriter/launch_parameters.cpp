#include "launch_parameters.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace cpu_device::rewriter {
namespace {

using Kernels = std::vector<const KernelDeclaration*>;
using KernelsByName = std::map<std::string_view, Kernels>;

/// Whether `launch` can mean only one function, whose parameters have certain types. `kernels` are all of its name.
bool is_certain(const NamedLaunch& launch, const Kernels& kernels) {
    const KernelDeclaration& first = *kernels.front();
    const auto is_definition = [](const KernelDeclaration* kernel) { return kernel->is_definition; };
    if (std::count_if(kernels.begin(), kernels.end(), is_definition) > 1) return false;
    return std::all_of(kernels.begin(), kernels.end(), [&](const KernelDeclaration* kernel) {
        return kernel->is_template == first.is_template && !kernel->takes_pack && kernel->template_arguments &&
               *kernel->template_arguments <= launch.template_arguments &&
               kernel->parameters.size() == first.parameters.size() &&
               (!launch.arguments || *launch.arguments == first.parameters.size());
    });
}

/// The parameters of the kernel that `launch` calls, as far as `kernels`, all of its name, agree on them. Only those
/// that the launcher gets arguments for.
std::vector<KernelParameter> parameters_of(const NamedLaunch& launch, Kernels kernels, bool certain) {
    const auto prefer = [&](const auto& better) {
        if (std::any_of(kernels.begin(), kernels.end(), better))
            kernels.erase(std::remove_if(kernels.begin(), kernels.end(), [&](const auto* k) { return !better(k); }),
                          kernels.end());
    };
    if (launch.arguments)
        prefer([&](const KernelDeclaration* kernel) {
            const std::size_t parameters = kernel->parameters.size();
            return kernel->takes_pack ? *launch.arguments + 1 >= parameters : *launch.arguments == parameters;
        });
    prefer([](const KernelDeclaration* kernel) { return kernel->is_definition; });
    for (const KernelDeclaration* kernel : kernels)
        if (kernel->parameters != kernels.front()->parameters || kernel->takes_pack != kernels.front()->takes_pack)
            return {};
    std::vector<KernelParameter> parameters = kernels.front()->parameters;
    const bool any_number = kernels.front()->takes_pack && !launch.arguments;
    if (kernels.front()->takes_pack && launch.arguments) parameters.resize(*launch.arguments, parameters.back());
    if (certain) return parameters;
    for (std::size_t i = launch.not_passed.size(); i-- > 0;)
        if (launch.not_passed[i] + (any_number ? 1 : 0) < parameters.size())
            parameters.erase(parameters.begin() + static_cast<std::ptrdiff_t>(launch.not_passed[i]));
    return parameters;
}

/// "in!,out,n", with a mark behind those that are `__restrict__`; empty when no parameter has a name.
std::string names_of(const std::vector<KernelParameter>& parameters) {
    std::string names;
    for (const KernelParameter& parameter : parameters) {
        names += ',' + parameter.name;
        if (parameter.is_restrict && !parameter.name.empty()) names += '!';
    }
    return names.find_first_not_of(',') == std::string::npos ? "" : names.substr(1);
}

/// "copy(in,out);scale(x)": all kernels that a launch through a variable may mean, as far as their parameters are
/// known.
std::string kernels_with_names(const NamedLaunch& launch, const KernelsByName& by_name) {
    std::string all;
    for (const auto& [name, kernels] : by_name) {
        const std::string names = names_of(parameters_of(launch, kernels, false));
        if (!names.empty()) all += (all.empty() ? "" : ";") + std::string(name) + '(' + names + ')';
    }
    return all;
}

/// The function to which a variable points. What looks like a variable may be the name of several functions.
std::string function_in(const std::string& variable) {
    const std::string call = "cpu_device_function(" + variable + ")";
    return "[&](auto cpu_device_function) -> const void* { if constexpr (requires { " + call + "; }) return " + call +
           "; else return nullptr; }(::cpu_device::FunctionOf())";
}

/// A bit for each parameter that is a reference; the last bit stands for all that follow, too.
std::uint64_t reference_bits(const std::vector<KernelParameter>& parameters) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i)
        if (parameters[i].is_reference) bits |= std::uint64_t{1} << std::min<std::size_t>(i, 63);
    return bits;
}

}  // namespace

std::vector<Edit> complete_launches(const Analysis& analysis, const std::vector<const Analysis*>& visible) {
    KernelsByName by_name;
    for (const Analysis* file : visible)
        for (const KernelDeclaration& kernel : file->kernels) by_name[kernel.name].push_back(&kernel);
    std::vector<Edit> edits = analysis.edits;
    for (const NamedLaunch& launch : analysis.launches) {
        if (launch.through_variable) {
            const std::string kernels = kernels_with_names(launch, by_name);
            if (!kernels.empty())
                edits[launch.names_edit].text =
                    ", \"\", " + as_string_literal(kernels) + ", " + function_in(launch.kernel);
            continue;
        }
        const auto found = by_name.find(launch.kernel);
        if (found == by_name.end()) continue;
        const bool overloaded = std::any_of(visible.begin(), visible.end(), [&](const Analysis* file) {
            return file->other_functions.count(launch.kernel) != 0;
        });
        const bool certain = !overloaded && is_certain(launch, found->second);
        const std::vector<KernelParameter> parameters = parameters_of(launch, found->second, certain);
        const std::string names = names_of(parameters);
        if (!names.empty()) edits[launch.names_edit].text = ", " + as_string_literal(names);
        if (certain && launch.arguments) edits[launch.call_edit].text = ".run";
        if (certain) {
            for (const auto& [edit, instead] : launch.when_certain) edits[edit] = instead;
        } else if (const std::uint64_t bits = reference_bits(parameters)) {
            edits[launch.references_edit].text = '<' + std::to_string(bits) + "u>";
        }
    }
    return edits;
}

}  // namespace cpu_device::rewriter

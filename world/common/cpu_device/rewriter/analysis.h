// Finds what has to change in one CUDA source file.
//
// analysis.cpp goes over the tokens of the file (token_sequence.h), follows where it is (scopes.h), and hands each
// construct to the file that is named after it:
//     launches            kernel<<<grid, block>>>(arguments); launch_syntax reads them
//     kernels             definitions and declarations; parameters reads what they take
//     shared_variables    __shared__; shared_syntax reads the declarations
//     device_variables    __device__, __constant__, __managed__
//     device_versions     what depends on __CUDA_ARCH__
//     functions           other functions and calls, for checks
//     host_uses           device variables that host code uses by their names, and the other way round
//     host_library        functions and classes of the host's library in device code
//     runtime_calls       cudaLaunchKernel, and calls whose status is dropped
//     unsupported         inline PTX and texture references
// launch_parameters then adds to each launch what the included files say about its kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "architecture.h"
#include "edits.h"

namespace cpu_device::rewriter {

struct KernelParameter {
    std::string name;  ///< empty for one that has none
    bool is_reference = false;
    bool is_restrict = false;  ///< a pointer by which alone its memory is reached: `__restrict__`
    bool has_default = false;

    bool operator==(const KernelParameter& other) const {
        return name == other.name && is_reference == other.is_reference;
    }
};

/// What one declaration or definition of a `__global__` function says about its parameters.
struct KernelDeclaration {
    std::string name;  ///< without namespaces
    std::vector<KernelParameter> parameters;
    bool takes_pack = false;  ///< the last parameter is a parameter pack
    bool is_clear = true;     ///< no macro stands where a parameter should
    bool is_definition = false;
    bool is_template = false;
    /// Template arguments that a launch has to give so that none is deduced; nothing where that cannot be told.
    std::optional<std::size_t> template_arguments;
};

/// A launch of a kernel by its name, or through a variable.
struct NamedLaunch {
    int line = 0;
    std::size_t names_edit = 0;            ///< index in `Analysis::edits` of the room for the parameters' names
    std::size_t references_edit = 0;       ///< and of the room for which parameters are references
    std::size_t call_edit = 0;             ///< and of the room in front of the arguments
    std::string kernel;                    ///< without namespaces and template arguments; or the variable
    bool through_variable = false;         ///< which kernel it is turns out when the program runs
    std::size_t template_arguments = 0;    ///< how many are given
    std::optional<std::size_t> arguments;  ///< how many; nothing when one of them may be any number of arguments
    bool arguments_are_clear = true;       ///< no `<` among them, which may open template arguments or be an operator
    std::vector<std::size_t> not_passed;   ///< positions of those that stay in the call of the kernel
    /// Edits that take the place of others, with their indices, when it is certain which function is launched: then
    /// all arguments are passed.
    std::vector<std::pair<std::size_t, Edit>> when_certain;
};

/// A declaration or definition of a function at namespace scope that is no kernel.
struct OtherFunction {
    std::string name;
    std::uint8_t sides;  ///< where it may run
    bool is_clear;       ///< surely a function, and no macro hides a qualifier
};

/// A call of a function by its name, in a function.
struct NamedCall {
    std::string name;
    int line;
    std::uint8_t sides;  ///< where it runs; no side when that is not certain
    bool is_in_std;      ///< std::name
};

/// A `__device__`, `__constant__` or `__managed__` variable at namespace scope.
struct DeviceVariableName {
    std::string name;
    std::size_t dimensions;  ///< of an array; 0 for any other variable
    bool is_for_host;        ///< host code may use it: it is `__managed__` or constant
    bool is_constant;        ///< `__constant__`
    bool is_scalar;          ///< surely a number or a pointer
    std::set<std::string> namespaces;
};

/// A name that host code surely reads or writes, if it is a variable's.
struct HostUse {
    std::string name;        ///< without namespaces
    std::string scope;       ///< the one right in front of it; may be empty
    std::size_t begin, end;  ///< offsets of the name with its namespaces
    std::string site;
    std::size_t subscripts;  ///< right behind the name
    bool writes;
};

/// A name that device code surely uses, if it is a variable's.
struct NamedUse {
    std::string name;
    int line;
};

/// A name to which device code surely assigns, if it is a variable's: not to an element or a member.
struct NamedWrite {
    std::string name;   ///< without namespaces
    std::string scope;  ///< the one right in front of it; may be empty
    int line;
};

/// What nvcc refuses, whatever other files say.
struct Refusal {
    int line;
    std::string message;
};

struct Analysis {
    std::string file_name;
    std::vector<Edit> edits;  ///< none of them removes a line end; those that add some set the line's number, too
    std::vector<TwoVersions> two_versions;  ///< none inside another
    std::vector<KernelDeclaration> kernels;
    std::vector<NamedLaunch> launches;
    std::set<std::string> other_functions;  ///< names of functions at namespace scope that are no kernels
    std::vector<OtherFunction> functions;   ///< the same with what is known about each declaration
    std::set<std::string> members;          ///< names of functions of classes
    std::vector<NamedCall> calls;
    std::vector<DeviceVariableName> device_variables;
    std::vector<HostUse> host_uses;
    std::set<std::string, std::less<>> host_variables;  ///< names of variables at namespace scope that are only for
                                                        ///< host code, and not constant
    std::vector<NamedUse> uses_in_device_code;          ///< of these names
    std::vector<NamedWrite> writes_in_device_code;      ///< of any names
    std::vector<Refusal> refusals;
    bool may_hold_unregistered_variables = false;  ///< of the device: a template's, for example, or a macro's
    bool names_relaxed_constexpr = false;          ///< nvcc's option --expt-relaxed-constexpr, or its macro
};

/// Throws Error for what cannot be read or is not supported; `file_name` is used in messages only.
/// `groups` are those of the files that this one includes.
Analysis analyze(std::string_view source, const std::string& file_name, const FileFacts& facts,
                 const ProgramFacts& program, const std::vector<const MacroGroup*>& groups);

}  // namespace cpu_device::rewriter

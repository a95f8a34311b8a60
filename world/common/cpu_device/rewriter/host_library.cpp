#include "host_library.h"

#include <algorithm>
#include <array>

#include "words.h"

namespace cpu_device::rewriter {
namespace {

struct Function {
    std::string_view name;
    std::string_view instead;  ///< what device code has; may be empty
    bool is_constexpr;         ///< in C++20
};

/// Not those of <cmath>, which CUDA overloads for device code, and not std::move and std::forward, which nvcc accepts.
constexpr std::array<Function, 52> functions{{
    {"min", "min", true},
    {"max", "max", true},
    {"clamp", "min(max(value, low), high)", true},
    {"swap", "a third variable", true},
    {"exchange", "a third variable", true},
    {"popcount", "__popc", true},
    {"countl_zero", "__clz", true},
    {"countr_zero", "__ffs(value) - 1", true},
    {"rotl", "__funnelshift_l(value, value, bits)", true},
    {"rotr", "__funnelshift_r(value, value, bits)", true},
    {"bit_cast", "__float_as_uint and its kin", true},
    {"has_single_bit", "__popc(value) == 1", true},
    {"bit_ceil", "", true},
    {"bit_floor", "", true},
    {"bit_width", "32 - __clz(value)", true},
    {"gcd", "a loop", true},
    {"lcm", "a loop", true},
    {"midpoint", "", true},
    {"minmax", "min and max", true},
    {"min_element", "a loop", true},
    {"max_element", "a loop", true},
    {"fill", "a loop", true},
    {"fill_n", "a loop", true},
    {"copy", "a loop", true},
    {"copy_n", "a loop", true},
    {"transform", "a loop", true},
    {"for_each", "a loop", true},
    {"accumulate", "a loop", true},
    {"reduce", "a loop", true},
    {"inner_product", "a loop", true},
    {"partial_sum", "a loop", true},
    {"iota", "a loop", true},
    {"reverse", "a loop", true},
    {"rotate", "a loop", true},
    {"count", "a loop", true},
    {"count_if", "a loop", true},
    {"find", "a loop", true},
    {"find_if", "a loop", true},
    {"all_of", "a loop", true},
    {"any_of", "a loop", true},
    {"none_of", "a loop", true},
    {"equal", "a loop", true},
    {"sort", "a loop", true},
    {"lower_bound", "a loop", true},
    {"upper_bound", "a loop", true},
    {"binary_search", "a loop", true},
    {"stable_sort", "a loop", false},
    {"to_string", "printf", false},
    {"atomic_fetch_add", "atomicAdd", false},
    {"atomic_fetch_sub", "atomicSub", false},
    {"atomic_thread_fence", "__threadfence", false},
    {"make_unique", "", false},
}};

constexpr std::array<std::string_view, 22> classes{
    "atomic",     "atomic_ref",  "atomic_flag",  "vector",        "string",        "map",
    "set",        "deque",       "list",         "unordered_map", "unordered_set", "mutex",
    "lock_guard", "unique_lock", "scoped_lock",  "shared_mutex",  "thread",        "function",
    "unique_ptr", "shared_ptr",  "stringstream", "ostringstream"};

std::string refusal_of_class(std::string_view name) {
    const std::string text = "std::" + std::string(name) + " is for host code only: ";
    if (name.substr(0, 6) == "atomic")
        return text +
               "device code calls atomicAdd and its kin with the address of a plain variable, or takes "
               "cuda::atomic_ref "
               "from <cuda/atomic>";
    if (name == "mutex" || name == "shared_mutex" || name == "lock_guard" || name == "unique_lock" ||
        name == "scoped_lock")
        return text + "device code has atomic operations, and __syncthreads() for the threads of a block";
    return text + "kernels and __device__ functions have plain arrays and pointers";
}

/// The token behind the name of a class at `i` and its template arguments.
std::size_t behind_class(std::size_t i, const TokenSequence& tokens) {
    if (!tokens.is(i + 1, "<")) return i + 1;
    const std::size_t close = tokens.closing_angle(i + 1, tokens.size());
    return close == none ? none : close + 1;
}

}  // namespace

bool is_in_std(std::size_t i, const TokenSequence& tokens) {
    if (i < 2 || !tokens.is(i - 1, "::") || !tokens.is(i - 2, "std")) return false;
    return !(i >= 4 && tokens.is(i - 3, "::") && tokens.identifier_at(i - 4) &&
             !one_of(tokens[i - 4].text, expression_keywords));
}

std::string refusal_of_std_function(std::string_view name, bool relaxed) {
    const auto found = std::find_if(functions.begin(), functions.end(),
                                    [&](const Function& function) { return function.name == name; });
    if (found == functions.end() || (found->is_constexpr && relaxed)) return {};
    return "std::" + std::string(name) + " is a host function, and device code cannot call it" +
           (found->instead.empty() ? "" : ": there it is " + std::string(found->instead)) +
           (found->is_constexpr ? " (nvcc accepts it with --expt-relaxed-constexpr only)" : "");
}

void note_class_of_host(std::size_t i, const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis) {
    const std::string_view name = tokens[i].text;
    if (!one_of(name, classes) || !is_in_std(i, tokens) || scopes.scope() != Scope::code) return;
    if (scopes.certain_sides(i) != device_side || scopes.is_unevaluated()) return;
    const std::size_t behind = behind_class(i, tokens);
    if (behind == none) return;
    const bool is_pointer = tokens.is(behind, "*") || tokens.is(behind, "&");
    const bool has_object = tokens.identifier_at(behind) || tokens.is(behind, "(") || tokens.is(behind, "{") ||
                            (is_pointer && name.substr(0, 6) == "atomic");
    if (has_object) analysis.refusals.push_back({tokens[i].line, refusal_of_class(name)});
}

void note_class_of_variable(std::size_t name, const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis) {
    for (std::size_t i = scopes.head(); i < name; ++i)
        if (one_of(tokens[i].text, classes) && is_in_std(i, tokens) && behind_class(i, tokens) == name)
            analysis.refusals.push_back({tokens[i].line, refusal_of_class(tokens[i].text)});
}

}  // namespace cpu_device::rewriter

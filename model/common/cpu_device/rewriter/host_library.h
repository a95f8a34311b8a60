// Functions and classes of the host's library that device code does not have.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "analysis.h"
#include "scopes.h"
#include "token_sequence.h"

namespace cpu_device::rewriter {

/// Whether the name at `i` has `std::` in front of it, and not `cuda::std::`.
bool is_in_std(std::size_t i, const TokenSequence& tokens);

/// Why device code cannot call `std::name`, and what it calls instead; empty where nvcc accepts the call, or where that
/// is not certain. `relaxed`: nvcc gets --expt-relaxed-constexpr, with which it accepts constexpr functions.
std::string refusal_of_std_function(std::string_view name, bool relaxed);

/// At the name at `i`: keeps what nvcc refuses of a class of the host's library, where device code surely has an object
/// of it.
void note_class_of_host(std::size_t i, const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis);

/// The same for the type of the device variables that are defined between the head of their declaration and `name`.
void note_class_of_variable(std::size_t name, const TokenSequence& tokens, const Scopes& scopes, Analysis& analysis);

}  // namespace cpu_device::rewriter

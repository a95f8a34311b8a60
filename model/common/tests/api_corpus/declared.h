// Which functions the CPU device's headers declare for programs.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace api_corpus {

/// Names of the functions that preprocessed headers declare outside of the namespace `cpu_device`, and of the friends
/// of its classes, which programs find by their arguments. Only lines of files whose path contains `folder` count.
/// Operators, members, and static assertions are no functions.
std::set<std::string> declared_functions(std::string_view preprocessed, std::string_view folder);

/// All identifiers in the code of a source file, without comments and strings.
std::set<std::string> identifiers(std::string_view source);

}  // namespace api_corpus

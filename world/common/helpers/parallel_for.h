// A loop over all host cores.
//
//     parallel_for(values.size(), [&](std::size_t begin, std::size_t end) {
//         for (std::size_t i = begin; i < end; ++i) values[i] = f(i);
//     });
#pragma once

#include <cstddef>
#include <functional>

namespace warpwise {

/// Number of parts that parallel_for cuts `count` elements into: 1 when they are too few to be worth a thread, else at
/// most one a core.
std::size_t parallel_parts(std::size_t count);

/// Calls `body(begin, end)` for parts that together cover [0, count), each on a thread of its own, and waits for all.
/// Nothing is called for a count of 0. The first exception of a body is thrown again here.
void parallel_for(std::size_t count, const std::function<void(std::size_t begin, std::size_t end)>& body);

/// The same with exactly `parts` parts, and the number of the part.
void parallel_for_parts(std::size_t count, std::size_t parts,
                        const std::function<void(std::size_t part, std::size_t begin, std::size_t end)>& body);

}  // namespace warpwise

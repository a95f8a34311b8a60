// What the correct cases of the corpus share: inputs, and checks of results against the host's.
#pragma once

#include <cmath>
#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "common/tests/corpus/corpus.h"

namespace corpus {

/// `function(0)`, `function(1)` ... `function(count - 1)`.
template <class T, class Function>
std::vector<T> sequence(int count, Function function) {
    std::vector<T> values(count);
    for (int i = 0; i < count; ++i) values[i] = static_cast<T>(function(i));
    return values;
}

/// Whole numbers from 0 to `below` - 1 without visible order, the same ones every time.
template <class T = int>
std::vector<T> scrambled(int count, int below) {
    unsigned state = 12345;
    return sequence<T>(count, [&](int) {
        state = 1664525u * state + 1013904223u;
        return (state >> 16) % below;
    });
}

/// Throws unless `got` is `wanted`, give or take `tolerance`.
template <class T>
void expect_equal(const T& got, const T& wanted, double tolerance = 0) {
    if (std::abs(static_cast<double>(got) - static_cast<double>(wanted)) <= tolerance) return;
    std::ostringstream message;
    message << "got " << +got << " instead of " << +wanted;
    throw std::runtime_error(message.str());
}

/// Throws unless `got` holds the `wanted` values in their order, each give or take `tolerance`.
template <class T>
void expect_equal(const std::vector<T>& got, const std::vector<T>& wanted, double tolerance = 0) {
    expect_equal(got.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (std::abs(static_cast<double>(got[i]) - static_cast<double>(wanted[i])) <= tolerance) continue;
        std::ostringstream message;
        message << "element " << i << ": got " << +got[i] << " instead of " << +wanted[i];
        throw std::runtime_error(message.str());
    }
}

}  // namespace corpus

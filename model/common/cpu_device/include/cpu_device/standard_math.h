// <cmath> and <math.h>, without the one name by which C++20 gets in the way of programs.
//
// C++20 has std::lerp, and libstdc++'s <math.h> brings it into the global namespace, where programs like to have a lerp
// of their own (helper_math.h). nvcc compiles those as C++17. So the library's functions get another name, and
// std::lerp is a template, which gives way to any function that fits as well, also after `using namespace std`.
#pragma once

#include <cstddef>  // tells which library this is

#if defined(__GLIBCXX__) && !defined(_GLIBCXX_CMATH) && !defined(_GLIBCXX_MATH_H)

#define lerp cpu_device_lerp
#include <cmath>

#include <math.h>
#undef lerp

namespace std {

/// a + t (b - a).
template <class A, class B, class T>
constexpr auto lerp(A a, B b, T t) noexcept -> decltype(cpu_device_lerp(a, b, t)) {
    return cpu_device_lerp(a, b, t);
}

}  // namespace std

#else

#include <math.h>

#include <cmath>

#endif

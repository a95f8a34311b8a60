// Names of functions, as the linker and the compiler write them.
#include "common/cpu_device/src/kernel_names.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

using cpu_device::function_name;
using cpu_device::parameters_in;

TEST_CASE("a kernel's name is found in what the compiler makes of it") {
    const auto is = [](const std::string& demangled, const std::string& name, const std::string& with_arguments) {
        CHECK(function_name(demangled).name == name);
        CHECK(function_name(demangled).with_arguments == with_arguments);
    };
    is("copy(float const*, float*)", "copy", "copy");
    is("(anonymous namespace)::copy(float*)", "copy", "copy");
    is("tiles::(anonymous namespace)::copy(void (*)(int))", "copy", "copy");
    is("void scale<float, 4>(float*)", "scale", "scale<float, 4>");
    is("void n::scale<(anonymous namespace)::Pair<int, 2>, (bool)1>(float*, int)", "scale",
       "scale<(anonymous namespace)::Pair<int, 2>, (bool)1>");
    is("void n::Outer<int>::scale<3>(float*)", "scale", "scale<3>");
    is("copy", "copy", "copy");
    is("", "", "");
}

TEST_CASE("the parameters of a kernel are found in the list of all") {
    const char* all = "copy(in,out);scale(x,,n);scale_all(y)";
    CHECK(parameters_in(all, "copy") == "in,out");
    CHECK(parameters_in(all, "scale") == "x,,n");
    CHECK(parameters_in(all, "scale_all") == "y");
    CHECK(parameters_in(all, "scal") == "");
    CHECK(parameters_in("", "copy") == "");
}

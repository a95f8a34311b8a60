// The source rewriter's text: what it changes, what it leaves alone, and what it refuses.
// That the rewritten programs do the right thing is shown by device/launch_syntax_test.cu.
#include "common/cpu_device/rewriter/rewriter.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using cpu_device::rewriter::Error;

namespace {

/// The rewritten source without the first line.
std::string rewritten(const std::string& source) {
    const std::string text = cpu_device::rewriter::rewrite(source, "/home/me/program.cu");
    return text.substr(text.find('\n') + 1);
}

std::string in_function(const std::string& statement) {
    const std::string text = rewritten("void f() { " + statement + " }");
    return text.substr(11, text.size() - 13);
}

/// The registration behind the definition of a kernel.
std::string known(const std::string& name, const std::string& types) {
    return " static_assert(::cpu_device::known_kernel<(void (*)(" + types + "))" + name + ">);";
}

std::string in_kernel(const std::string& statement) {
    const std::string head = "__global__ void k() { ";
    const std::string text = rewritten(head + statement + " }");
    return text.substr(head.size(), text.size() - head.size() - 2 - known("k", "").size());
}

/// What `K<<<config>>>` becomes, followed by `rest`.
std::string launch(const std::string& name, const std::string& config, const std::string& rest) {
    return "::cpu_device::launcher({\"" + name + "\", {__FILE__, 1}}, ::cpu_device::LaunchConfig(" + config + "), " +
           rest;
}

/// What tells a launcher of the kernel's type, and calls it.
std::string typed(const std::string& name) {
    return "[&](auto cpu_device_type) { if constexpr (requires { cpu_device_type(" + name +
           "); }) return cpu_device_type(" + name + "); }, [&](auto&... cpu_device_arguments) CPU_DEVICE_UNSEEN { " +
           name + "(cpu_device_arguments...); })";
}

/// What `K<<<config>>>(arguments)` becomes when all arguments are passed on.
std::string plain_launch(const std::string& name, const std::string& config, const std::string& arguments) {
    return launch(name, config, typed(name) + "(" + arguments + ")");
}

std::string shared_variable(const std::string& name, const std::string& type, int line = 1) {
    const std::string alias = "cpu_device_type_" + name;
    const std::string variable = "cpu_device_shared_" + name;
    return "using " + alias + " = " + type + "; static constinit ::cpu_device::SharedVariable " + variable + "{\"" +
           name + "\", sizeof(" + alias + "), alignof(" + alias + "), {__FILE__, " + std::to_string(line) +
           "}}; [[maybe_unused]] auto& " + name + " = ::cpu_device::shared<" + alias + ">(" + variable + ");";
}

std::string dynamic_shared(const std::string& name, const std::string& type) {
    const std::string alias = "cpu_device_type_" + name;
    return "using " + alias + " = " + type + "; [[maybe_unused]] auto& " + name + " = *static_cast<" + alias +
           "*>(::cpu_device::dynamic_shared_memory());";
}

/// The object behind the definition of a device variable.
std::string registered(const std::string& name, int line = 1, const std::string& is_constant = "false",
                       bool is_managed = false) {
    return " [[maybe_unused]] static const ::cpu_device::DeviceVariable cpu_device_variable_" + name + "{\"" + name +
           "\", (const void*)__builtin_addressof(" + name + "), sizeof(" + name + "), " + is_constant +
           ", {__FILE__, " + std::to_string(line) + "}" + (is_managed ? ", true" : "") + "};";
}

/// What the first launch in `text` says about the parameters of its kernel; "none" when it says nothing.
std::string parameters_in(const std::string& text) {
    const std::size_t call = text.find("::cpu_device::launcher");
    REQUIRE(call != std::string::npos);
    const std::size_t site = text.find("{__FILE__, ", call);
    const std::size_t behind = text.find('}', site) + 1;
    if (text[behind] == '}') return "none";
    REQUIRE(text.substr(behind, 3) == ", \"");
    return text.substr(behind + 3, text.find('"', behind + 3) - behind - 3);
}

/// What the launch in a function behind `declarations` says about the parameters of its kernel.
std::string parameters_of_launch(const std::string& declarations, const std::string& launch = "k<<<1, 2>>>(a);") {
    return parameters_in(rewritten(declarations + "\nvoid f() { " + launch + " }"));
}

/// The names that the rewriter finds in the parameter list of a kernel.
std::string names_in(const std::string& parameters) {
    return parameters_of_launch("__global__ void k(" + parameters + ") {}", "k<<<1, 2>>>(a...);");
}

/// What the rewriter makes of a name that host code uses.
std::string host_copy(const std::string& name, bool writes, bool is_array = false, int line = 1) {
    return std::string("::cpu_device::host_copy<") + (is_array ? "true" : "false") + ">(" + name + ", " +
           (writes ? "true" : "false") + ", {__FILE__, " + std::to_string(line) + "})";
}

/// Variables of the device: `v` is a number, `p` a pointer, `s` has members, `a` and `b` are arrays of one and two
/// dimensions, and `w` is in a namespace.
const std::string device_variables =
    "__device__ int v; __device__ float* p; __constant__ S s; __device__ float a[9], b[2][3]; "
    "namespace n { __device__ int w; } ";

/// What becomes of `statements` in a host function, with `<v>` for each variable that is read, and `<v=>` for each that
/// is written.
std::string host_uses(const std::string& statements, const std::string& head = "void f()") {
    const std::string before = rewritten(device_variables) + head + " { ";
    std::string text = rewritten(device_variables + head + " { " + statements + " }");
    REQUIRE(text.substr(0, before.size()) == before);
    text = text.substr(before.size(), text.size() - before.size() - 2);
    for (const char* name : {"v", "p", "s", "a", "b", "n::w", "::n::w", "::v"})
        for (const bool writes : {false, true})
            for (const bool is_array : {false, true}) {
                const std::string call = host_copy(name, writes, is_array);
                for (std::size_t at; (at = text.find(call)) != std::string::npos;)
                    text.replace(at, call.size(), std::string("<") + name + (writes ? "=>" : ">"));
            }
    return text;
}

/// What stands at the end of a file that may define device variables of which the runtime is not told.
const std::string unregistered =
    "\nstatic const ::cpu_device::UnregisteredVariables cpu_device_unregistered_variables;";

struct Refusal {
    int line;
    std::string message;
};

/// What the rewriter says about a source that it must not accept.
Refusal refusal(const std::string& source) {
    try {
        cpu_device::rewriter::rewrite(source, "/home/me/program.cu");
    } catch (const Error& error) {
        CHECK(error.file == "/home/me/program.cu");
        return {error.line, error.what()};
    }
    FAIL("accepted: " << source);
    return {};
}

bool unchanged(const std::string& source) { return rewritten(source) == source; }

/// A folder that is gone at the end of the test.
class TemporaryFolder {
public:
    TemporaryFolder() {
        static int count = 0;
        path_ =
            fs::temp_directory_path() / ("rewriter test " + std::to_string(getpid()) + " " + std::to_string(++count));
        fs::create_directories(path_);
    }
    ~TemporaryFolder() { fs::remove_all(path_); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    fs::path write(const std::string& name, const std::string& text) const {
        fs::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name, std::ios::binary) << text;
        return path_ / name;
    }
    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<fs::path> files_in(const fs::path& folder) {
    std::vector<fs::path> files;
    if (fs::exists(folder))
        for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace

// ---- what stays as it is ---------------------------------------------------------------------------------

TEST_CASE("the output names the original file and starts with its first line") {
    CHECK(cpu_device::rewriter::rewrite("int a;\n", "/a \"b\"/c.cu") == "#line 1 \"/a \\\"b\\\"/c.cu\"\nint a;\n");
    CHECK(cpu_device::rewriter::rewrite("", "/c.cu") == "#line 1 \"/c.cu\"\n");
}

TEST_CASE("a byte order mark is dropped") { CHECK(rewritten("\xEF\xBB\xBFint a;") == "int a;"); }

TEST_CASE("text without CUDA syntax is not touched") {
    CHECK(unchanged("#include <vector>\r\n\tint main() { return 1 << 2 >> 1; }  // no line end"));
    CHECK(unchanged("std::vector<std::vector<std::vector<int>>> a(3); a < b; a << b << c; x >>= 2; y <<= 1;"));
    CHECK(unchanged(
        "std::ostream& operator<<<T>(std::ostream&, T); friend S& operator<< <>(S&, int); f(&operator<<<T>);"));
    CHECK(unchanged("auto n = 1'000'000 + 0x1'F; char c = '<'; wchar_t w = L'\\''; auto s = u8\"a\\\"<<<\"_x;"));
    CHECK(unchanged("bool b = x<y<(z); auto t = a<b<c>>(d); auto o = a<=>b;"));
}

TEST_CASE("strings, raw strings, characters and comments are not touched") {
    CHECK(unchanged("auto s = \"k<<<1, 2>>>(x); __shared__ int a = 1;\";"));
    CHECK(unchanged("auto s = R\"(k<<<1>>> \" __shared__)\" R\"xy()\" k<<<1>>> )xy\";"));
    CHECK(unchanged("// k<<<1>>>; \\\n __shared__ int a = 1;\n/* asm(\"mov.u32 %0, %laneid;\") \n k<<<>>> */"));
    CHECK(unchanged("auto s = \"a\\\n<<<\";"));
    CHECK(unchanged("#error don't write k<<<1>>>\n#pragma message(\"x\")\n"));
}

TEST_CASE("parts that the preprocessor certainly leaves out are neither touched nor refused") {
    CHECK(unchanged("#if 0\nk<<<1>>>; don't asm(\"mov.u32 %0, %laneid;\")\n#endif\n"));
    CHECK(unchanged("void f() {\n#ifdef __CUDA_ARCH__\nasm(\"mov.u32 %0, 1;\");\n#endif\n}\n"));
    CHECK(unchanged(
        "void f() {\n#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800\nasm(\"cp.async.ca 1;\");\n#endif\n}"));
    CHECK(unchanged(
        "void f() {\n#if __CUDA_ARCH__ >= 900 || 0\n#if FOO\n#else\nasm(\"wgmma.x;\");\n#endif\n#endif\n}\n"));
    CHECK_THAT(rewritten("__global__ void f() {\n#ifndef __CUDA_ARCH__\nasm(\"mov.u32 %0, 1;\");\n#endif\n}\n"),
               ContainsSubstring("asm"));
    CHECK(unchanged("#ifndef __CUDACC__\n__shared__ x\n#elif 1\nint a;\n#else\n__shared__ y\n#endif\n"));
    CHECK(unchanged("#ifdef __CPU_DEVICE__\nint a;\n#else\nasm(\"mov.u32 %0, 1;\");\n#endif\n"));
    CHECK(refusal("#if FOO\nint a;\n#else\nk<<<1>>>();\n#endif\n").line == 4);
    CHECK(refusal("#if !defined(__CUDA_ARCH__)\nk<<<1>>>();\n#endif\n").line == 2);
}

TEST_CASE("every line stays on its line") {
    const std::string source =
        "#define L(k, n) \\\n  k<<<n, \\\n   1>>>( \\\n   n); int after_macro\n"
        "__global__ void other() {\n  __shared__ int a[2],\n    b; int after_shared;\n"
        "  __shared__ struct {\n    int x;\n  }\n  s; int after_class;\n}\n"
        "void f() {\n  k // the kernel\n  <<<1,\n  2>>>\n  ({1,\n 2},\n 0, x\n ); int after_launch; }\n";
    const std::string text = rewritten(source);
    const auto line_of = [](const std::string& in, const std::string& what) {
        const std::size_t at = in.find(what);
        REQUIRE(at != std::string::npos);
        return std::count(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    };
    for (const char* mark : {"after_macro", "after_shared", "int x", "after_class", "after_launch"})
        CHECK(line_of(text, mark) == line_of(source, mark));
    CHECK(std::count(text.begin(), text.end(), '\n') == std::count(source.begin(), source.end(), '\n'));
    CHECK_THAT(text, ContainsSubstring("{\"k\", {__FILE__, 14}}"));
}

// ---- __CUDA_ARCH__ ---------------------------------------------------------------------------------------
// That the right code runs is shown by device/architecture_test.cu.

TEST_CASE("what depends on __CUDA_ARCH__ and is for the device has the macro around it") {
    const std::string begin = "\n#define __CUDA_ARCH__ 900\n#line ";
    const std::string end = "\n#undef __CUDA_ARCH__\n#line ";
    const std::string file = " \"/home/me/program.cu\"\n";
    CHECK(rewritten("int a; __device__ int f() {\nreturn __CUDA_ARCH__;\n}\nint b;") ==
          "int a; " + begin + "1" + file + "       __device__ int f() {\nreturn __CUDA_ARCH__;\n}" + end + "3" + file +
              " \nint b;");
    // Nothing for others, whatever the rest of the file holds.
    const std::string others = "__device__ int f() { return 1; }\n__host__ __device__ int g() { return 2; }\n";
    const std::string host = "int h() {\n#ifdef __CUDA_ARCH__\n return 1;\n#endif\n}\n";
    CHECK(unchanged(others + host + "auto l = [] {\n#ifdef __CUDA_ARCH__\n#endif\n};\n"));
    CHECK(unchanged(
        "#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600\n#else\n__device__ double f(double);\n#endif\n"));
    CHECK(unchanged("#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 300\n#error \"too old\"\n#endif\n"));
    CHECK(unchanged("#ifndef __CUDA_ARCH__\n#include <vector>\nstruct A { int a; };\nvoid f();\n#endif\n"));
    CHECK(unchanged("#ifdef __CUDA_ARCH__\n#define SIDE 2\n#else\n#define SIDE 1\n#endif\nint f() { return SIDE; }\n"));
}

TEST_CASE("a program's own files see that nvcc compiles them") {
    CHECK(
        rewritten(
            "#ifdef __NVCC__\nint a;\n#elif defined(__NVCC__) && A\n#endif\n#if !defined __NVCC__\nint b;\n#endif\n") ==
        "#ifdef __CUDACC__\nint a;\n#elif defined(__CUDACC__) && A\n#endif\n#if !defined __CUDACC__\nint b;\n#endif\n");
    CHECK_NOTHROW(
        rewritten("#ifdef __NVCC__\n#define HD __host__ __device__\n#else\n#define HD\n#endif\n"
                  "HD int f() { return 1; }\n__global__ void k(int* x) { *x = f(); }\n"));
    CHECK_NOTHROW(rewritten("#ifndef __NVCC__\nk<<<1>>>();\n#endif\n"));
}

TEST_CASE("what cannot be told apart by __CUDA_ARCH__ is refused with its line") {
    const auto choice = [](const std::string& source, int line) {
        const Refusal found = refusal(source);
        CHECK(found.line == line);
        CHECK_THAT(found.message,
                   StartsWith("not supported on the CPU device: ") && ContainsSubstring("__CUDA_ARCH__"));
    };
    choice("int a;\n#ifdef __CUDA_ARCH__\nconstexpr int n = 2;\n#else\nconstexpr int n = 1;\n#endif\n", 2);
    choice("\n\n#if __CUDA_ARCH__ >= 300\nstruct A { int a; };\n#endif\n", 3);
    choice("struct A {\n#ifdef __CUDA_ARCH__\nint a;\n#else\nfloat a;\n#endif\n};\n", 2);
    choice("#ifdef __CUDA_ARCH__\n__device__ int f() { return 1; }\n#else\nint f() { return 2; }\n#endif\n", 1);
    choice("#if FOO || defined(__CUDA_ARCH__)\n__host__ __device__ int f() { return 1; }\n#endif\n", 1);
    choice("#ifdef __CUDA_ARCH__\n#define N 2\n__device__ int f();\n#endif\n", 1);
    choice("#ifdef __CUDA_ARCH__\n#define N 2\n#include \"a.h\"\n#endif\n", 1);
    const std::string side = "#ifdef __CUDA_ARCH__\n#define SIDE 2\n#else\n#define SIDE 1\n#endif\n";
    choice(side + "int a[SIDE];\n", 6);
    choice(side + "#define TWICE (2 * SIDE)\n\nconstexpr int n = TWICE;\n", 8);
    choice(side + "struct A {\n int a[SIDE];\n};\n", 7);
    choice(side + "__constant__ int a[] = {1,\n SIDE};\n", 7);
    choice("__host__ __device__ void f() {\n#ifdef __CUDA_ARCH__\n#endif\na: goto a;\n}\n", 4);
    CHECK_NOTHROW(rewritten(side + "int f(int a = SIDE) { return SIDE; }\n"));
    CHECK_NOTHROW(rewritten(side + "__global__ void __launch_bounds__(SIDE) k();\n"));
    CHECK_NOTHROW(
        rewritten("#ifdef __CUDA_ARCH__\n#define CONSTANT __constant__\n#else\n#define CONSTANT\n#endif\n"
                  "CONSTANT int a[] = {1};\n"));
}

TEST_CASE("PTX is refused only where the device compiles it") {
    const auto in_branch = [](const std::string& condition, const std::string& around) {
        return around + "void f() {\n" + condition +
               "\nasm(\"vote.sync.any.pred %0, 1, 1;\" : \"=r\"(i));\n#endif\n}\n";
    };
    CHECK_NOTHROW(rewritten(in_branch("#ifdef __CUDA_ARCH__", "")));
    CHECK_NOTHROW(rewritten(in_branch("#ifndef __CUDA_ARCH__", "__device__ ")));
    CHECK_NOTHROW(rewritten(in_branch("#if __CUDA_ARCH__ < 700", "__global__ ")));
    CHECK(refusal(in_branch("#if __CUDA_ARCH__ >= 700", "__global__ ")).line == 3);
    CHECK(refusal(in_branch("#ifdef __CUDA_ARCH__", "__host__ __device__ ")).line == 3);
    CHECK(refusal(in_branch("#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ + 0) / 100 == 9", "__device__ ")).line == 3);
}

// ---- launches --------------------------------------------------------------------------------------------

TEST_CASE("a launch becomes a call") {
    CHECK(in_function("add<<<1, 32>>>(x, y);") == plain_launch("add", "1, 32", "x, y") + ";");
    CHECK(in_function("add<<<g, b, n, s>>>();") == plain_launch("add", "g, b, n, s", "") + ";");
    CHECK(in_function("add << <1, 32>> >(x);") == plain_launch("add", "1, 32", "x") + ";");
    CHECK(in_function("add<< < 1, 32> > > (x);") == plain_launch("add", " 1, 32", "x") + ";");
}

TEST_CASE("finds the kernel through templates, namespaces and qualified names") {
    for (const char* name :
         {"ns::kernel<float, 4>", "::kernel", "::a::b::kernel", "k<A<B<int>>>", "k<(a > b)>", "k<(1 << 2)>",
          "Type<T>::template run<U>", "A<int>::B<2>::run", "decltype(x)::run", "k<&A::b>", "k<'>'>", "k<a->b>"}) {
        CHECK(in_function(std::string(name) + "<<<1, 2>>>(x);") == plain_launch(name, "1, 2", "x") + ";");
        CHECK(in_function("return " + std::string(name) + "<<<1, 2>>>(x);") ==
              "return " + plain_launch(name, "1, 2", "x") + ";");
    }
}

TEST_CASE("an expression that yields the kernel is evaluated once") {
    for (const char* expression : {"table[i]", "object.kernel", "p->kernel", "this->kernel", "(choose(x))", "choose(x)",
                                   "pick<int>(1)", "a.b[2].c(3)", "(*f)", "f(1)(2)"})
        CHECK(in_function(std::string(expression) + "<<<1, 2>>>(x);") ==
              launch(expression, "1, 2", std::string(expression) + ")(x);"));
    CHECK(in_function("(kernel)<<<1, 2>>>(x);") == plain_launch("(kernel)", "1, 2", "x") + ";");
    CHECK(in_function("(ns::k<int>)<<<1, 2>>>(x);") == plain_launch("(ns::k<int>)", "1, 2", "x") + ";");
}

TEST_CASE("what stands before a launch is left alone") {
    CHECK(in_function("if (a(b)) (k)<<<1, 2>>>(x);") == "if (a(b)) " + plain_launch("(k)", "1, 2", "x") + ";");
    CHECK(in_function("if (a) k<<<1, 2>>>(x); else k<<<1, 2>>>(y);") ==
          "if (a) " + plain_launch("k", "1, 2", "x") + "; else " + plain_launch("k", "1, 2", "y") + ";");
    CHECK(in_function("c ? k<<<1, 2>>>(x) : l<<<1, 2>>>(y);") ==
          "c ? " + plain_launch("k", "1, 2", "x") + " : " + plain_launch("l", "1, 2", "y") + ";");
    CHECK(in_function("i++, k<<<1, 2>>>(x);") == "i++, " + plain_launch("k", "1, 2", "x") + ";");
    CHECK(in_function("(void)k<<<1, 2>>>(x);") == "(void)" + plain_launch("k", "1, 2", "x") + ";");
    CHECK(in_function("case 1: k<<<1, 2>>>(x);") == "case 1: " + plain_launch("k", "1, 2", "x") + ";");
    CHECK(in_function("do k<<<1, 2>>>(x); while (0);") == "do " + plain_launch("k", "1, 2", "x") + "; while (0);");
}

TEST_CASE("handles several launches on one line") {
    CHECK(in_function("a<<<1, 2>>>(x); b<<<3, 4>>>(y);c<<<5, 6>>>(z);") == plain_launch("a", "1, 2", "x") + "; " +
                                                                               plain_launch("b", "3, 4", "y") + ";" +
                                                                               plain_launch("c", "5, 6", "z") + ";");
}

TEST_CASE("finds the end of the configuration past nested brackets, shifts and templates") {
    for (const char* config :
         {"(n + 255) / 256, dim3(16, 16)", "{1, 2}, {3, 4}", "g, b, sizeof(float) * (n >> 2), s", "n < 5 ? 1 : 2, b",
          "f<A<B<int>>>(x), 2", "1, f<A<B<int>>>(x)", "1, f<int, 3>(x), 4", "a << 2, b << 1", "f<a, b>(), A<1, 2>::n",
          "g, [] { return a > b; }(), 0", "dim3{(n >> 1), 2}, 3", "a < b, 7", "x[i >> 2], y", "n < m >> 2, 4"})
        CHECK(in_function("k<<<" + std::string(config) + ">>>(x);") == plain_launch("k", config, "x") + ";");
    CHECK(in_function("k<<<1, v<A<int>>>>>(x);") == plain_launch("k", "1, v<A<int>>", "x") + ";");
    CHECK(in_function("k<<<1, v<int> >>>(x);") == plain_launch("k", "1, v<int> ", "x") + ";");
}

TEST_CASE("arguments are passed on as they are written") {
    for (const char* arguments : {"a >> 2, b << 1", "foo<a, b>(x), y", "a < b, c > (d)", "[=](int i) { return i, 2; }",
                                  "args...", "a, std::forward<T>(args)...", "(a, b), c", "\")\", ')'",
                                  "f<A<B<int>>>(x)", "foo<a, 0, b>(x)", "-1, 1.5f", "T{}, {{}} + 1", "0 + x"})
        CHECK(in_function("k<<<1, 2>>>(" + std::string(arguments) + ");") ==
              plain_launch("k", "1, 2", arguments) + ";");
}

TEST_CASE("null pointer literals and braces stay in the call of the kernel") {
    const std::string one = "[&](auto& cpu_device_argument_0) CPU_DEVICE_UNSEEN { k(";
    CHECK(in_function("k<<<1, 2>>>(0);") == launch("k", "1, 2", "[&]() CPU_DEVICE_UNSEEN { k(0); })();"));
    for (const char* literal : {"0", "NULL", "nullptr", "(0)", "0x0u", "0L", "{}", "{1, f<2, 3>(4)}"}) {
        CHECK_THAT(in_function("k<<<1, 2>>>(a, " + std::string(literal) + ");"),
                   StartsWith(launch("k", "1, 2", one + "cpu_device_argument_0, " + literal + "); })(a")));
        CHECK_THAT(in_function("k<<<1, 2>>>(" + std::string(literal) + ", f<1, 0>(a));"),
                   StartsWith(launch("k", "1, 2", one + literal + ", cpu_device_argument_0); })(")) &&
                       EndsWith(" f<1, 0>(a));"));
    }
    CHECK_THAT(in_function("k<<<1, 2>>>(a, 0, args...);"),
               ContainsSubstring("[&](auto& cpu_device_argument_0, auto&... cpu_device_argument_1) CPU_DEVICE_UNSEEN { "
                                 "k(cpu_device_argument_0, 0, cpu_device_argument_1...); }"));
    CHECK(in_function("k<<<1, 2>>>((float*)0, 10, 0.0);") == plain_launch("k", "1, 2", "(float*)0, 10, 0.0") + ";");
}

TEST_CASE("handles launches inside the arguments and the configuration of launches") {
    const std::string inner = plain_launch("in", "3, 4", "y");
    CHECK(in_function("out<<<1, 2>>>([&] { in<<<3, 4>>>(y); });") ==
          plain_launch("out", "1, 2", "[&] { " + inner + "; }") + ";");
    CHECK(in_function("out<<<[&] { in<<<3, 4>>>(y); return 1; }(), 2>>>(x);") ==
          plain_launch("out", "[&] { " + inner + "; return 1; }(), 2", "x") + ";");
}

TEST_CASE("handles launches in templates, lambdas and class members") {
    const std::string call = plain_launch("k<T>", "1, 2", "x");
    for (const char* around :
         {"template <class T> void f() { @; }", "auto f = [](auto x) { @; };",
          "template <class T> struct A { A() : a{1}, b(2) { @; } };",
          "namespace a { struct B { static void f() { for (;;) @; } }; }",
          "int main() { each([=](int x) mutable -> void { @; }); }", "__host__ __device__ void f() { @; }"}) {
        std::string source = around, expected = around;
        source.replace(source.find('@'), 1, "k<T><<<1, 2>>>(x)");
        expected.replace(expected.find('@'), 1, call);
        CHECK(rewritten(source) == expected);
    }
}

TEST_CASE("accepts comments and line ends inside a launch") {
    CHECK(in_function("k/*a*/<<</*b*/1,//c\n2/*>>>*/>>>/*d*/(x/*)*/);") ==
          launch("k", "/*b*/1,//c\n2/*>>>*/", typed("k") + "(x/*)*/);"));
}

TEST_CASE("rewrites launches in macros on their own lines") {
    CHECK(rewritten("#define RUN(k, T, n, ...) ns::k<T><<<n, 1>>>(__VA_ARGS__)") ==
          "#define RUN(k, T, n, ...) ::cpu_device::launcher({\"ns::\" #k \"<\" #T \">\", {__FILE__, __LINE__}}, "
          "::cpu_device::LaunchConfig(n, 1), " +
              typed("ns::k<T>") + "(__VA_ARGS__)");
    CHECK(rewritten("#define RUN(n) name_##n<<<n, 1>>>(n)") ==
          "#define RUN(n) ::cpu_device::launcher({\"name_\" #n, {__FILE__, __LINE__}}, "
          "::cpu_device::LaunchConfig(n, 1), " +
              typed("name_##n") + "(n)");
    CHECK(rewritten("#define CONFIG 1, 2\nvoid f() { k<<<CONFIG>>>(x); }") ==
          "#define CONFIG 1, 2\nvoid f() { ::cpu_device::launcher({\"k\", {__FILE__, 2}}, "
          "::cpu_device::LaunchConfig(CONFIG), " +
              typed("k") + "(x); }");
    CHECK(in_function("CHECKED(k<<<1, 2>>>(x));") == "CHECKED(" + plain_launch("k", "1, 2", "x") + ");");
}

TEST_CASE("accepts a macro that stands for the configuration") {
    CHECK(rewritten("#define SHAPE(g, b) <<<g, b>>>\nvoid f() { ns::k<int> SHAPE(1, (2))(x); }") ==
          "#define SHAPE(g, b) ::cpu_device::LaunchConfig(g, b)\n"
          "void f() { ::cpu_device::launcher({\"ns::k<int>\", {__FILE__, 2}}, SHAPE(1, (2)), " +
              typed("ns::k<int>") + "(x); }");
}

TEST_CASE("accepts a macro that leaves the arguments to its use") {
    CHECK(rewritten("#define CALL(name) name##_k<<<1, 32>>>\nvoid f() { CALL(square)(x, n); }") ==
          "#define CALL(name) ::cpu_device::launcher({#name \"_k\", {__FILE__, __LINE__}}, "
          "::cpu_device::LaunchConfig(1, 32), " +
              typed("name##_k") + "\nvoid f() { CALL(square)(x, n); }");
    CHECK(rewritten("#define ADD add<int><<<n, v<A<int>>>>> // all\n") ==
          "#define ADD ::cpu_device::launcher({\"add<int>\", {__FILE__, __LINE__}}, "
          "::cpu_device::LaunchConfig(n, v<A<int>>), " +
              typed("add<int>") + " // all\n");
    CHECK(rewritten("#define ADD (*f)<<<1, \\\n 2>>>") ==
          "#define ADD ::cpu_device::launcher({\"(*f)\", {__FILE__, __LINE__}}, ::cpu_device::LaunchConfig(1, \\\n 2), "
          "(*f))");
    CHECK(parameters_in(rewritten("#define ADD k<<<1, 2>>>\n__global__ void k(int a, int b) {}")) == "a,b");
}

TEST_CASE("literals are passed where it is certain which kernel is launched") {
    const auto passed = [](const std::string& kernel, const std::string& name, const std::string& arguments) {
        const std::string source = kernel + " void f() { " + name + "<<<1, 2>>>" + arguments + "; }";
        const std::string text = rewritten(source);
        const bool all = text.find(typed(name) + ".run" + arguments + ";") != std::string::npos;
        CHECK(all == (text.find("cpu_device_argument_0") == std::string::npos));
        return all;
    };
    const std::string kernel = "__global__ void k(int* a, P p, int n) {}";
    CHECK(passed(kernel, "k", "(0, {1, f<2, 3>(4)}, x)"));
    CHECK(passed(kernel, "ns::k", "(x, {}, 0)"));
    CHECK(passed("__global__ void k(int*, P, int); " + kernel, "k", "(NULL, x, nullptr)"));
    CHECK(passed("template <class T, int n = 1, class... > struct A; template <class T, int n = 2> " + kernel, "k<int>",
                 "(0, {}, x)"));
    CHECK(passed("void k2(int); struct A { void k(int); }; " + kernel, "k", "(0, {}, x)"));
    for (const std::string& uncertain :
         {"template <class T> " + kernel, "template <class... T> " + kernel, kernel + " __global__ void k(float) {}",
          kernel + " __global__ void k(float, P, int) {}", kernel + " int* k(P* p);",
          "static inline void k(int); " + kernel, std::string("__global__ void k(int* a, P p, int n, int m = 1) {}"),
          std::string("void g();")})
        CHECK_FALSE(passed(uncertain, "k", "(0, {}, x)"));
    CHECK_FALSE(passed("template <class T, class U> " + kernel, "k<int>", "(0, {}, x)"));
    CHECK_FALSE(passed("template <class T> " + kernel + " template <> " + kernel, "k<int>", "(0, {}, x)"));
    CHECK(in_function("table[i]<<<1, 2>>>(0, {}, x);") == launch("table[i]", "1, 2", "table[i])(0, {}, x);"));
}

TEST_CASE("a launch says which parameters of a kernel template are references") {
    const auto bits = [](const std::string& parameters, const std::string& arguments) {
        const std::string text = rewritten("template <class T> __global__ void k(" + parameters +
                                           ") {} void f() { k<<<1, 2>>>" + arguments + "; }");
        const std::size_t at = text.find("::cpu_device::launcher") + 22;
        return text.substr(at, text.find('(', at) - at);
    };
    CHECK(bits("T* a, T b", "(x, y)").empty());
    CHECK(bits("T& a, T b, const A<T&>& c", "(x, y, z)") == "<5u>");
    CHECK(bits("T (&a)[4], T (*b)(T&), T a = f(x & y)", "(x, y, z)") == "<1u>");
    CHECK(bits("T* a, T b, T& c", "(x, 0, y)") == "<2u>");
    CHECK(bits("T a, T&... b", "(x, y, z)") == "<6u>");
    CHECK(rewritten("__global__ void k(int& a) {} void f() { k<<<1, 2>>>(x); }").find("launcher<") ==
          std::string::npos);
}

// ---- kernels that are launched by their address ----------------------------------------------------------

TEST_CASE("the definition of a kernel makes it known") {
    const std::string types = "const float* __restrict__ in, A<int, 2> a, int (*f)(int), int n";
    for (const char* head :
         {"__global__ void", "static __global__ void", "__global__ __launch_bounds__(256, 2) void", "void __global__",
          "extern \"C\" __global__ void", "__global__ void __launch_bounds__(256)", "[[gnu::cold]] __global__ void"}) {
        const std::string kernel = std::string(head) + " k(" + types + ") { if (a) { b; } }";
        CHECK(rewritten(kernel + " int after;") == kernel + known("k", types) + " int after;");
        CHECK(rewritten("namespace a { namespace { " + kernel + " } }") ==
              "namespace a { namespace { " + kernel + known("k", types) + " } }");
    }
    CHECK(rewritten("__global__ void k() {}") == "__global__ void k() {}" + known("k", ""));
    CHECK(rewritten("__global__ auto k(int) -> void {}") == "__global__ auto k(int) -> void {}" + known("k", "int"));
    CHECK(rewritten("__global__ void (k)(int) {}") == "__global__ void (k)(int) {}" + known("(k)", "int"));
    const std::string defaults = "__global__ void k(int a = f(1, 2), // why\n A<1, 2> b = {}) {}";
    CHECK(rewritten(defaults) == defaults + known("k", "int a, A<1, 2> b"));
    const std::string conditional = "__global__ void k(int a) {\n#if A\n b;\n#else\n c;\n#endif\n}";
    CHECK(rewritten("#if B\n" + conditional + "\n#endif\n") ==
          "#if B\n" + conditional + known("k", "int a") + "\n#endif\n");
}

TEST_CASE("macros make the kernels known that they define") {
    for (const std::string name : {"name", "CONCAT(scale_, name)", "scale_##name", "name##_k", "a_##name##_b"}) {
        const std::string macro = "#define DEFINE(name, T) __global__ void " + name + "(T* x, T s) { f(x, s); }";
        CHECK(rewritten(macro + "\nDEFINE(a, int)\n") == macro + known(name, "T* x, T s") + "\nDEFINE(a, int)\n");
        CHECK(unchanged(macro + "\ntemplate <class T> DEFINE(a, T)\n"));
    }
    CHECK(rewritten("#define KERNEL extern \"C\" __global__ void\nKERNEL k(int a) {}") ==
          "#define KERNEL extern \"C\" __global__ void\nKERNEL k(int a) {}" + known("k", "int a"));
    CHECK(parameters_of_launch("#define KERNEL __global__ void\nKERNEL k(int a) {}") == "a");
    CHECK(
        unchanged("#define DEFINE(T) template <> __global__ void k<T>(T x) {}\n#define KERNEL(n) __global__ void n()\n"
                  "KERNEL(k) {}\n#define TEMPLATE template <class T> __global__ void\nTEMPLATE k(T a) {}"));
}

TEST_CASE("kernels that an address does not tell apart are not made known") {
    for (const char* source : {"__global__ void k(int a);", "template <class T> __global__ void k(T a) {}",
                               "template <> __global__ void k<int>(int a) {}", "__global__ void k(auto a) {}",
                               "__global__ void a::k(A b) {}", "struct A { friend __global__ void k(A a) {} };",
                               "__global__ void k(\n#if A\nint\n#else\nfloat\n#endif\na) {}",
                               "#if A\n__global__ void k(int a) {\n#else\n__global__ void k(float a) {\n#endif\n}",
                               "#if A\nstatic\n#endif\n__global__ void k(int a) {\n#if B\n}\n#endif\n"})
        CHECK(unchanged(source));
}

TEST_CASE("a cast to a void pointer makes an instance of a kernel template known") {
    CHECK(in_function("void* p = (void*)k<int>;") == "void* p = (void*)::cpu_device::known(k<int>);");
    CHECK(in_function("f((const void *)&ns::k<A<int>, 2>, x);") ==
          "f((const void *)::cpu_device::known(&ns::k<A<int>, 2>), x);");
    CHECK(in_function("p = {(void const*)(k<T>), reinterpret_cast<void*>(&k<T>)};") ==
          "p = {(void const*)(::cpu_device::known(k<T>)), reinterpret_cast<void*>(::cpu_device::known(&k<T>))};");
    for (const char* source : {"f((void*)k, (void*)&p, (void*)(p));", "p = (void*)f<int>(x);", "p = (void**)v<int>;",
                               "p = (void*)A<int>::v;", "p = (char*)v<int>;", "p = (void*)a < b;"})
        CHECK(in_function(source) == source);
}

// ---- names of kernels' parameters ------------------------------------------------------------------------

TEST_CASE("a launch names the parameters of the kernel") {
    CHECK(rewritten("__global__ void add(float* out, int n) {} void f() { add<<<1, 2>>>(x, y); }") ==
          "__global__ void add(float* out, int n) {}" + known("add", "float* out, int n") +
              " void f() { ::cpu_device::launcher({\"add\", {__FILE__, 1}, \"out,n\"}, "
              "::cpu_device::LaunchConfig(1, 2), " +
              typed("add") + ".run(x, y); }");
    CHECK(parameters_of_launch("void f() { k<<<1, 2>>>(a); } __global__ void k(int late) {}") == "late");
    CHECK(parameters_of_launch("__global__ void k() {}", "k<<<1, 2>>>();") == "none");
    CHECK(parameters_of_launch("__global__ void k(void) {}", "k<<<1, 2>>>();") == "none");
    CHECK(parameters_of_launch("__global__ void other(int a) {}") == "none");
    CHECK(parameters_of_launch("UNKNOWN_MACRO void k(int perhaps_no_kernel) {}") == "none");
}

TEST_CASE("parameter names are found behind types of every kind") {
    CHECK(names_in("const float* in, float *const out, unsigned long long n") == "in,out,n");
    CHECK(names_in("T a, ns::T b, typename A<T>::type c, struct P d, ::Q e, unsigned f") == "a,b,c,d,e,f");
    CHECK(names_in("std::map<int, float> a, A<B<C<int>>, 2>* b, A<(1 > 2)> c, decltype(f(1, 2)) d") == "a,b,c,d");
    CHECK(names_in("float a[4], float b[][33], float (&c)[2], int (*d)(int x, int y), int (*const e[2])(int), "
                   "void (A::*f)(int), int (*(*g)(int))[3], int h(int)") == "a,b,c,d,e,f,g,h");
    CHECK(names_in("int a = 1, float b = f(1, 2), P c = {1, 2}, int d = sizeof(A<1, 2>), bool e = 1 < 2, int f = 3") ==
          "a,b,c,d,e,f");
    CHECK(names_in("const __grid_constant__ P p, [[maybe_unused]] int q, __align__(8) float r, int s [[maybe_unused]], "
                   "T const volatile& t, T&& u") == "p,q,r,s,t,u");
    CHECK(names_in("int a /* first, of all */, // second\n int b") == "a,b");
}

TEST_CASE("a parameter that is __restrict__ has a mark behind its name") {
    CHECK(names_in("const float* __restrict__ in, float* const __restrict out, T* restrict rest, int n") ==
          "in!,out!,rest!,n");
}

TEST_CASE("a parameter without a name leaves its place empty") {
    CHECK(names_in("int*, int n") == ",n");
    CHECK(
        names_in("const T, ns::T, unsigned, A<int, 2>, int (*)(int), float (&)[2], const float* __restrict__, int z") ==
        ",,,,,,,z");
    CHECK(names_in("int, float*") == "none");
    CHECK(parameters_of_launch("#define RESTRICT __restrict__\n#define REAL float\n"
                               "__global__ void k(float* RESTRICT a, float* RESTRICT, REAL b, REAL, OF(int) c) {}") ==
          "a,,b,,c");
}

TEST_CASE("kernels are recognized by their declarations") {
    for (const char* declaration :
         {"__global__ void k(int a);", "static __global__ void k(int a) {}", "void __global__ k(int a) {}",
          "__global__ __launch_bounds__(256, 2) void k(int a) {}", "__global__ void __launch_bounds__(256) k(int a) {}",
          "__global__ void BOUNDS(256) k(int a) {}", "template <class T, int n> __global__ void k(T a) {}",
          "extern \"C\" __global__ void k(int a) {}", "namespace n { namespace { __global__ void k(int a) {} } }",
          "__global__ void __attribute__((noinline)) k(int a) {}", "__global__ auto k(int a) -> void {}",
          "template <class T> __global__ void k(T a) requires (sizeof(T) > 2) {}", "__global__ void (k)(int a) {}"})
        CHECK(parameters_of_launch(declaration) == "a");
    for (const char* called : {"ns::k<float, 4>", "::k", "A<T>::template k<U>", "(k)", "(ns::k<(a > b)>)"})
        CHECK(parameters_of_launch("template <class T> __global__ void k(T a) {}",
                                   std::string(called) + "<<<1, 2>>>(x);") == "a");
}

TEST_CASE("overloads are told apart by their number of parameters") {
    const std::string overloads =
        "__global__ void k(int a) {} __global__ void k(int b, int c) {} __global__ void k(int d, int e, int f) {}";
    CHECK(parameters_of_launch(overloads, "k<<<1, 2>>>(x);") == "a");
    CHECK(parameters_of_launch(overloads, "k<<<1, 2>>>(x, f<1, 2>(3));") == "b,c");
    CHECK(parameters_of_launch(overloads, "k<<<1, 2>>>(x, y, z);") == "d,e,f");
    CHECK(parameters_of_launch(overloads, "k<<<1, 2>>>(x...);") == "none");
    CHECK(parameters_of_launch("__global__ void k(int a) {} __global__ void k(float b) {}") == "none");
    CHECK(parameters_of_launch("__global__ void k(int a) {} namespace n { __global__ void k(float a) {} }") == "a");
    CHECK(parameters_of_launch("__global__ void k(int a, int n = 1) {}") == "a,n");
}

TEST_CASE("a kernel's definition wins over its declarations") {
    const std::string declaration = "__global__ void k(int declared);";
    CHECK(parameters_of_launch(declaration + "__global__ void k(int);") == "none");
    CHECK(parameters_of_launch(declaration + "__global__ void k(int defined) {}") == "defined");
    CHECK(parameters_of_launch("__global__ void k(int defined) {} template __global__ void k<float>(int);") ==
          "defined");
}

TEST_CASE("the name of a parameter pack stands for each of its arguments") {
    const std::string kernel = "template <class... T> __global__ void k(int n, T*... rest) {}";
    CHECK(parameters_of_launch(kernel, "k<<<1, 2>>>(1);") == "n");
    CHECK(parameters_of_launch(kernel, "k<<<1, 2>>>(1, a, b);") == "n,rest,rest");
    CHECK(parameters_of_launch(kernel, "k<<<1, 2>>>(1, a...);") == "n,rest");
    CHECK(parameters_of_launch(kernel, "k<<<1, 2>>>(1, 0, a...);") == "n,rest");
}

TEST_CASE("arguments that stay in the call of the kernel are not named") {
    const std::string kernel = "template <class T> __global__ void k(int* a, P b, T c) {}";
    CHECK(parameters_of_launch(kernel, "k<<<1, 2>>>(x, {1, 2}, y);") == "a,c");
    CHECK(parameters_of_launch(kernel, "k<int><<<1, 2>>>(x, {1, 2}, y);") == "a,b,c");
    CHECK(parameters_of_launch("__global__ void k(int* a, P b) {}", "k<<<1, 2>>>(0, {1, 2});") == "a,b");
    CHECK(parameters_of_launch(kernel, "k<<<1, 2>>>(0, x, y);") == "b,c");
    CHECK(parameters_of_launch(kernel, "k<<<1, 2>>>(nullptr, {}, 0);") == "none");
    CHECK(parameters_of_launch(kernel, "k<<<1, 2>>>(0, x...);") == "b,c");
    CHECK(parameters_of_launch(kernel, "k<<<1, 2>>>(x..., 0);") == "none");
}

TEST_CASE("a launch through a variable lists the kernels that it may mean") {
    const auto kernels_of = [](const std::string& declarations, const std::string& launch) {
        const std::string text = rewritten(declarations + " template <class K> void f(K kernel) { " + launch + " }");
        const std::size_t begin = text.find(", \"\", \"");
        const std::size_t end = text.find("\", [&](auto cpu_device_function)", begin);
        return begin == std::string::npos || end == std::string::npos ? "none"
                                                                      : text.substr(begin + 7, end - begin - 7);
    };
    const std::string copy = "__global__ void copy(const float* in, float* out) {} ";
    const std::string scale = "template <class T> __global__ void scale(T* x, T factor) {} ";
    CHECK(kernels_of(scale + copy, "kernel<<<1, 2>>>(a, b);") == "copy(in,out);scale(x,factor)");
    CHECK(kernels_of(copy, "kernel<<<1, 2>>>(a, nullptr);") == "copy(in)");
    CHECK(kernels_of(copy, "kernel<<<1, 2>>>(a...);") == "copy(in,out)");
    CHECK(kernels_of(copy + "__global__ void copy(int* other) {} ", "kernel<<<1, 2>>>(a...);") == "none");
    CHECK(kernels_of("__global__ void k(float*, int) {} ", "kernel<<<1, 2>>>(a, b);") == "none");
    CHECK(kernels_of("", "kernel<<<1, 2>>>(a);") == "none");
    CHECK(kernels_of(copy, "kernels[i++]<<<1, 2>>>(a, b);") == "none");
}

TEST_CASE("a pointer to a kernel is not taken for a kernel of the same name") {
    const std::string kernel = "__global__ void k(int* a) {} ";
    for (const char* function :
         {"void f(void (*k)(int*)) { @; }", "template <class K> void f(K k) { @; }",
          "template <auto k> void f() { @; }", "void f() { auto k = choose(); @; }",
          "void f() { for (auto& k : kernels) @; }", "void f(K&& k) { @; }",
          "void f() { for (const auto& [name, k] : kernels) @; }", "void f() { g([](auto k) { @; }); }",
          "void f() { g([k = h()] { @; }); }", "struct S { void f() { @; } void (*k)(int*); };",
          "void f(std::function<void()> k) { @; }", "void f(void (&k)(int*)) { @; }"}) {
        std::string source = kernel + function;
        source.replace(source.find('@'), 1, "k<<<1, 2>>>(x)");
        CHECK(parameters_in(rewritten(source)).empty());
        CHECK_THAT(rewritten(source), ContainsSubstring(", \"\", \"k(a)\", [&](auto cpu_device_function) "));
    }
    for (const char* function : {"void f() { @; }", "void f() { set(k, 1); set(&k); set(x, &k); if (a) @; else @; }",
                                 "void f(void (*p)(int*) = k) { @; }", "void g(void (*k)(int*)) {} void f() { @; }",
                                 "void f() { run<k>(1); run<1, k>(); return @; }"}) {
        std::string source = kernel + function;
        for (std::size_t at; (at = source.find('@')) != std::string::npos;) source.replace(at, 1, "k<<<1, 2>>>(x)");
        CHECK(parameters_in(rewritten(source)) == "a");
    }
    for (const char* expression : {"table[k]", "object.k", "p->k", "choose(k)", "(*k)"})
        CHECK(parameters_of_launch(kernel, std::string(expression) + "<<<1, 2>>>(x);") == "none");
}

TEST_CASE("launches in macros name the parameters where the kernel is certain") {
    const std::string kernel = "__global__ void k(int a, int b) {}\n";
    CHECK(parameters_in(rewritten(kernel + "#define RUN(n) k<<<n, 1>>>(n, 1)")) == "a,b");
    CHECK(parameters_in(rewritten(kernel + "#define RUN(...) k<<<1, 1>>>(__VA_ARGS__)")) == "a,b");
    CHECK(parameters_in(rewritten(kernel + "#define RUN(k) k<<<1, 1>>>(1, 2)")) == "none");
    CHECK(parameters_in(rewritten(kernel + "#define RUN(n) k##n<<<1, 1>>>(1, 2)")) == "none");
    CHECK(parameters_of_launch("#define SHAPE(g, b) <<<g, b>>>\n" + kernel, "k SHAPE(1, 2)(x, y);") == "a,b");
    CHECK(parameters_of_launch("#define KERNEL(name) __global__ void name(int m)\nKERNEL(k) {}") == "none");
}

// ---- device variables ------------------------------------------------------------------------------------

TEST_CASE("device variables are made known behind their definition") {
    for (const char* definition : {"__device__ float v[256];",
                                   "__device__ int v;",
                                   "__device__ int v = 3;",
                                   "__device__ int v{3};",
                                   "__device__ P v = {1, {2, 3}};",
                                   "static __device__ unsigned long long int v = 0ull;",
                                   "int static __device__ v;",
                                   "inline __device__ A<int, 4> v;",
                                   "__device__ volatile ns::T v[2][3] = {};",
                                   "__device__ __managed__ int* v = nullptr;",
                                   "const __device__ float* const v = f(1, 2);",
                                   "__device__ auto v = A<1, 2>::value;",
                                   "__device__ decltype(f()) v = f();",
                                   "__device__ op_t v = add;",
                                   "__device__ float (*v)(float) = add;",
                                   "__device__ float (*const v[2])(float) = {add, add};",
                                   "__device__ int (*v)[3];",
                                   "__device__ __align__(16) float v[4];",
                                   "__device__ float v alignas(8);",
                                   "__device__ alignas(16) float __attribute__((used)) v[3];",
                                   "[[maybe_unused]] __device__ int v;",
                                   "__device__ MACRO float v;",
                                   "__device__ struct P v = {1};",
                                   "__managed__ int v;",
                                   "__device__ ::T v;"})
        CHECK(rewritten(definition) ==
              definition +
                  registered("v", 1, "false", std::string(definition).find("__managed__") != std::string::npos));
    CHECK(rewritten("__constant__ float v[4] = {1}; // why") ==
          "__constant__ float v[4] = {1};" + registered("v", 1, "true") + " // why");
    CHECK(rewritten("__device__ const int __constant__ v = 1;") ==
          "__device__ const int __constant__ v = 1;" + registered("v", 1, "true"));
}

TEST_CASE("each declarator of a device variable is made known, on its line") {
    CHECK(rewritten("__device__ int a = x < 3, *b = f(1, 2),\n c[2] = {1, 2}, d{4}\n; int after;") ==
          "__device__ int a = x < 3, *b = f(1, 2),\n c[2] = {1, 2}, d{4}\n;" + registered("a") + registered("b") +
              registered("c", 2) + registered("d", 2) + " int after;");
    CHECK(rewritten("__device__ int a = A<1, 2>(), b = A<int, (3)>::n;") ==
          "__device__ int a = A<1, 2>(), b = A<int, (3)>::n;" + registered("a") + registered("b"));
}

TEST_CASE("device variables are known in namespaces and not elsewhere") {
    for (const char* around :
         {"namespace a { @ }", "namespace a::b { namespace { @ } }", "extern \"C\" { @ }", "MACRO(a) namespace { @ }",
          "MACRO(a)\nextern \"C\" { @ }", "void f() { if (x) { } } @", "struct A { int x; }; @", "int a[] = {1, 2}; @",
          "#if A\n@\n#endif", "#if A\nint x;\n#else\n@\n#endif", "#define A __host__ __device__\n@"}) {
        std::string source = around, expected = around;
        const int line = static_cast<int>(std::count(source.begin(), source.begin() + source.find('@'), '\n')) + 1;
        source.replace(source.find('@'), 1, "__device__ int v;");
        expected.replace(expected.find('@'), 1, "__device__ int v;" + registered("v", line));
        CHECK(rewritten(source) == expected);
    }
    const std::string branches = rewritten("#if A\n__device__ int v;\n#else\n__device__ float v;\n#endif\n");
    CHECK(branches == "#if A\n__device__ int v;" + registered("v", 2) + "\n#else\n__device__ float v;" +
                          registered("v", 4) + "\n#endif\n");
    for (const char* around : {"struct A { @ };", "template <class T> struct A { static @ };", "WRAP(@)"}) {
        std::string source = around;
        source.replace(source.find('@'), 1, "__device__ int v;");
        CHECK(rewritten(source) == source + unregistered);
    }
    CHECK(unchanged("__device__ void f() { { static __device__ int v; } }"));
}

TEST_CASE("what is no definition of a device variable is left alone") {
    for (const char* source : {"__device__ int f(int);",
                               "__device__ int f(int a) { return a; }",
                               "__device__ int (f)(int);",
                               "__device__ float (*f(int))(float);",
                               "__device__ operator int();",
                               "__device__ bool operator==(A, B) { return true; }",
                               "__device__ auto f(int) -> int;",
                               "__host__ __device__ int f(int n = 3);",
                               "template <class T> __device__ T f(T) { return 1; }",
                               "struct A { __device__ A() : x(1) {} __device__ int f() const; int x; };",
                               "__global__ void k();",
                               "extern __device__ int v;",
                               "extern \"C\" __device__ int v;",
                               "struct __device__ A;",
                               "struct __device__ A { int x; };",
                               "__device__ typedef int T;",
                               "using T = int; typedef __device__ int U;",
                               "__device__ T MACRO(v);",
                               "__device__ int",
                               "__device__ int v",
                               "__device__ T v, f(int);",
                               "#define HD __host__ __device__\nHD int f(int);",
                               "#define SMALL __device__ __forceinline__\nSMALL int f(int);",
                               "#define SQUARE(name) __device__ float name(float x) { return x * x; }\nSQUARE(f)",
                               "// __device__ int v;\n\"__device__ int v;\""})
        CHECK(unchanged(source));
}

TEST_CASE("a device variable that cannot be read is not made known, and the runtime is told so") {
    for (const char* source : {"__device__ Foo bar(3);",
                               "template <class T> __device__ T v = T(0);",
                               "template <> __device__ int v<int> = 3;",
                               "__device__ constexpr int v = 3;",
                               "constexpr __device__ int v = 3;",
                               "thread_local __device__ int v;",
                               "__device__ int& v = w;",
                               "__device__ T&& v = f();",
                               "__device__ int A::v = 3;",
                               "__device__ auto v = [](int i) { return i; };",
                               "__device__ auto [v, w] = f();",
                               "__device__ struct S { int a; } v;",
                               "__device__ int v UNUSED;",
                               "__device__ MACRO T v;",
                               "#define V w\n__device__ int V;",
                               "#define NAME(v) v##_\n__device__ T NAME(v);",
                               "__device__ int\n#if A\nv\n#else\nw\n#endif\n;",
                               "#define DEVICE __device__\nDEVICE int v;",
                               "#define CONSTANT(name) __constant__ float name[4]\nCONSTANT(v);",
                               "#define DEFINE(name) __device__ int name = 3\nDEFINE(v);"}) {
        INFO(source);
        CHECK(rewritten(source) == source + unregistered);
    }
}

TEST_CASE("a device variable in a function is refused, unless it is a static one in device code") {
    const auto at = [](const std::string& source, int line, const std::string& message) {
        const Refusal found = refusal(source);
        CHECK(found.line == line);
        CHECK(found.message == message);
    };
    at("void f() {\n __device__ int v;\n}", 2,
       "v is a __device__ variable in a function of the host: declare it outside of all functions");
    at("unsigned f(int n) {\n if (n > 0) {\n static __constant__ float v[2] = {1, 2};\n }\n return 0; }", 3,
       "v is a __constant__ variable in a function of the host: declare it outside of all functions");
    at("__global__ void k(int* x) {\n int a;\n __device__ unsigned v = 0;\n}", 3,
       "v is a __device__ variable in a function of the device, and not static: declare it outside of all functions");
    at("__device__ int f() {\n const __constant__ int v = 3;\n return v; }", 2,
       "v is a __constant__ variable in a function of the device, and not static: declare it outside of all functions");
    for (const char* fine :
         {"__global__ void k() { static __device__ int v; ++v; }",
          "__device__ int f() { __device__ static int v = 1; }", "void f() { extern __device__ int v; }",
          "void f() { __device__ int g(int); }", "void f() { auto g = [=] __device__ (int i) { return i; }; }",
          "void f() { h([] __device__ { return 1; }); }", "UNKNOWN void f() { __device__ int v; }",
          "void f() { struct A { __device__ int g() { return 1; } }; }"}) {
        INFO(fine);
        CHECK_NOTHROW(rewritten(fine));
    }
}

TEST_CASE("a variable with __global__ is refused") {
    const auto name_at = [](const std::string& source, int line, const std::string& name) {
        const Refusal found = refusal(source);
        CHECK(found.line == line);
        CHECK_THAT(found.message, StartsWith(name + " is a variable, and __global__ is for kernels"));
    };
    name_at("int a;\n__global__ unsigned v;", 2, "v");
    name_at("__global__ float v[2];", 1, "v");
    name_at("static __global__ Limits v = {1, 2};", 1, "v");
    name_at("namespace n {\nunsigned __global__ v = 0;\n}", 2, "v");
    name_at("__global__ std::array<float, 2> v;", 1, "v");
    name_at("void f() {\n __global__ int* v;\n}", 2, "v");
    for (const char* fine :
         {"__global__ void k();", "template <class T> __global__ void k(T) {}",
          "#define KERNEL __global__ void\nKERNEL k() {}", "__global__ KERNEL_OF(k) {}",
          "void f() { extern __global__ void k(int); }", "struct A { friend __global__ void k(A); };",
          "__launch_bounds__(256) __global__ void k() {}", "__global__ void k [[maybe_unused]] () {}"}) {
        INFO(fine);
        CHECK_NOTHROW(rewritten(fine));
    }
}

TEST_CASE("device code that assigns to a __constant__ variable is refused") {
    const std::string variables =
        "__constant__ int c; __constant__ float a[4]; __constant__ Limits s; __constant__ float* p; "
        "__device__ int d; namespace n { __constant__ int w; }\n";
    const auto name_at = [&](const std::string& statement, const std::string& name) {
        const Refusal found = refusal(variables + "__global__ void k(int i) {\n " + statement + "\n}");
        CHECK(found.line == 3);
        CHECK(found.message ==
              name +
                  " is a __constant__ variable, and kernels can only read it: what they change is declared with "
                  "__device__");
    };
    name_at("c = 3;", "c");
    name_at("if (i) ++c;", "c");
    name_at("c += i;", "c");
    name_at("n::w = 1;", "w");
    name_at("p = 0;", "p");
    CHECK(refusal(variables + "__device__ void f() {\n c = 1; }").line == 3);
    // nvcc only warns of what follows, and the runtime reports it.
    for (const char* fine :
         {"a[i] = 2; s.low = 1; s = {1, 2}; atomicAdd(&c, 1); *&c = 2;",
          "int b = c + a[i]; d = s.low; atomicAdd(&d, c);", "p[0] = 1; *p = 2; p->x = 3;", "int c = 1; c = 2;",
          "for (int c = 0; c < 3; ++c) {}", "x.c = 1; y->a[1] = 2; m::w = 3;", "i = c == 1;", "s.p[1] = 1;"}) {
        INFO(fine);
        CHECK_NOTHROW(rewritten(variables + "__global__ void k(int i) { " + fine + " }"));
    }
    CHECK_NOTHROW(rewritten(variables + "__global__ void k(int c) { c = 1; }"));
    CHECK_NOTHROW(rewritten(variables + "void f() { c = 1; }"));  // of the host, where it is reported when it runs
    CHECK_NOTHROW(rewritten("__constant__ int c; struct A { int c; __device__ void f() { c = 1; } };"));
    CHECK_NOTHROW(
        rewritten("namespace a { __constant__ int c; } namespace b { __device__ int c; __global__ void k() { c = "
                  "1; } }"));
}

TEST_CASE("functions and classes of the host's library are refused in device code") {
    const auto refused = [](const std::string& statement) {
        const Refusal found = refusal("__global__ void k(float* x, int n) {\n " + statement + "\n}");
        CHECK(found.line == 2);
        return found.message;
    };
    CHECK(refused("x[0] = std::min(x[0], 1.f);") ==
          "std::min is a host function, and device code cannot call it: there it is min (nvcc accepts it with "
          "--expt-relaxed-constexpr only)");
    CHECK_THAT(refused("x[0] = std::clamp(x[0], 0.f, 1.f);"), ContainsSubstring("it is min(max(value, low), high)"));
    CHECK_THAT(refused("x[0] = ::std::max<float>(x[0], 1);"), StartsWith("std::max is a host function"));
    CHECK_THAT(refused("std::sort(x, x + n);"), StartsWith("std::sort is a host function"));
    CHECK_THAT(refused("std::swap(x[0], x[1]);"), ContainsSubstring("a third variable"));
    CHECK_THAT(refused("std::atomic<int> counter(0);"), ContainsSubstring("atomicAdd"));
    CHECK_THAT(refused("std::atomic_ref<float>(x[0]).fetch_add(1);"), StartsWith("std::atomic_ref is for host code"));
    CHECK_THAT(refused("auto* c = reinterpret_cast<std::atomic<int>*>(x); std::atomic<int>* d = c;"),
               StartsWith("std::atomic is for host code only"));
    CHECK_THAT(refused("std::vector<float> y(n);"), ContainsSubstring("plain arrays"));
    CHECK_THAT(refused("std::lock_guard guard(lock);"), ContainsSubstring("__syncthreads()"));
    CHECK_THAT(refusal("__device__ std::atomic<unsigned> counter;").message,
               StartsWith("std::atomic is for host code"));
    for (const char* fine :
         {"x[0] = min(x[0], 1.f); x[1] = fmaxf(x[0], 2);",
          "x[0] = std::sqrt(x[0]) + std::abs(x[1]) + std::pow(x[0], 2);", "x[0] = std::numeric_limits<float>::max();",
          "T y = std::move(z); f(std::forward<T>(y));", "x[0] = cuda::std::min(x[0], 1.f); cuda::std::atomic<int> c;",
          "using T = std::vector<float>::value_type;", "static_assert(sizeof(std::vector<int>(3)) > 0);",
          "x[0] = thrust::min(x[0], 1.f);"}) {
        INFO(fine);
        CHECK_NOTHROW(
            rewritten(std::string("template <class T> __global__ void k(float* x, int n, T z) { ") + fine + " }"));
    }
    for (const char* head : {"void f", "__host__ __device__ void f", "constexpr void f", "UNKNOWN void f"})
        CHECK_NOTHROW(rewritten(std::string(head) + "(float* x) { x[0] = std::min(x[0], 1.f); std::vector<int> v; }"));
    // A program for nvcc's option says so, and then constexpr functions are fine.
    CHECK_NOTHROW(
        rewritten("// nvcc --expt-relaxed-constexpr a.cu\n__global__ void k(int* x) { *x = std::min(*x, 1); }"));
    CHECK_THROWS(rewritten("// nvcc --expt-relaxed-constexpr a.cu\n__global__ void k(int* x) { std::atomic<int> y; }"));
    CHECK_NOTHROW(rewritten("__device__ std::vector<int>* v; __device__ std::array<int, 3> a;"));
}

TEST_CASE("a missing __global__ is named before all that follows from it") {
    const std::string main = "int main() { add<<<1, 2>>>(x); }";
    const std::string message = "add is launched but is not a kernel: declare it with __global__";
    const std::string helper = "__device__ int twice(int x) { return 2 * x; }\n";
    for (const char* body : {"*x = twice(*x);", "__shared__ int y[2]; *x = y[0];", "__device__ int v;",
                             "__shared__ int y[2]; *x = twice(y[0]);"}) {
        const Refusal found = refusal(helper + "void add(int* x) {\n " + body + "\n}\n" + main);
        CHECK(found.line == 5);
        CHECK(found.message == message);
    }
}

// ---- device variables in host code ---------------------------------------------------------------------

TEST_CASE("a device variable that host code writes becomes the host's copy") {
    CHECK(rewritten("__device__ int v;\nvoid f(int i) {\n  v = i;\n}") ==
          "__device__ int v;" + registered("v") + "\nvoid f(int i) {\n  " + host_copy("v", true, false, 3) +
              " = i;\n}");
    CHECK(host_uses("v = 0; v += 1; v <<= 2; v >>= 2; v++; --v;") ==
          "<v=> = 0; <v=> += 1; <v=> <<= 2; <v=> >>= 2; <v=>++; --<v=>;");
    CHECK(host_uses("a[i + 1] = 2; b[1][j] *= 3; p[2] = 1; s.low = 1; s.at[3].x++; s = {1, 2};") ==
          "<a=>[i + 1] = 2; <b=>[1][j] *= 3; <p=>[2] = 1; <s=>.low = 1; <s=>.at[3].x++; <s=> = {1, 2};");
    CHECK(host_uses("n::w = 1; ::n::w++; ::v = 2;") == "<n::w=> = 1; <::n::w=>++; <::v=> = 2;");
    CHECK(host_uses("if (x) v = 1; else v = 2; for (v = 0; i < 3; ++v) {} switch (i) { case 1: v = 1; }") ==
          "if (x) <v=> = 1; else <v=> = 2; for (<v=> = 0; i < 3; ++<v=>) {} switch (i) { case 1: <v=> = 1; }");
    CHECK(host_uses("*p = 1; if (x) *p = 2; else *p = 3;") ==
          "*<p> = 1; if (x) *<p> = 2; else *<p> = 3;");  // the pointer is read
    CHECK(host_uses("x = v = 0; while ((v = g())) {}") == "x = <v=> = 0; while ((<v=> = g())) {}");
}

TEST_CASE("a device variable that host code reads becomes the host's copy") {
    CHECK(host_uses("int x = v, y = n * v + 1; x = v; auto z = a[2] - b[0][1]; const S t = s; float* q = p;") ==
          "int x = <v>, y = n * <v> + 1; x = <v>; auto z = <a>[2] - <b>[0][1]; const S t = <s>; float* q = <p>;");
    CHECK(host_uses("int x(v); int y{v}; float u = float(v), t = (float)v, w = static_cast<float>(v);") ==
          "int x(<v>); int y{<v>}; float u = float(<v>), t = (float)<v>, w = static_cast<float>(<v>);");
    CHECK(host_uses("if (v) g(); while (!v && x && v) g(); if (v > 3 || 2 < v) g(); x = v ? 1 : 2; y = z[v];") ==
          "if (<v>) g(); while (!<v> && x && <v>) g(); if (<v> > 3 || 2 < <v>) g(); x = <v> ? 1 : 2; y = z[<v>];");
    CHECK(host_uses("printf(\"%d %g\", v, a[1]); std::printf(\"%d\", v); std::cout << v << a[0] << std::endl;") ==
          "printf(\"%d %g\", <v>, <a>[1]); std::printf(\"%d\", <v>); std::cout << <v> << <a>[0] << std::endl;");
    CHECK(host_uses("g(v + 1, v == 2); assert(v == 3);") == "g(<v> + 1, <v> == 2); assert(<v> == 3);");
    CHECK(host_uses("return v;", "unsigned f()") == "return <v>;");
    const std::string kernel = "__device__ int v; __global__ void k(int n) {} ";
    CHECK_THAT(rewritten(kernel + "void f() { k<<<v / 2, 1>>>(v); }"),
               ContainsSubstring("LaunchConfig(" + host_copy("v", false) + " / 2, 1)") &&
                   EndsWith(".run(" + host_copy("v", false) + "); }"));
    // Where it is not certain which kernel is launched, arguments move.
    CHECK_THAT(rewritten("__device__ int v; void f() { k<<<1, v>>>(v, nullptr, v + 1); }"),
               ContainsSubstring("(" + host_copy("v", false)) && ContainsSubstring(host_copy("v", false) + " + 1)"));
}

TEST_CASE("a device variable whose address or a reference to which may be meant is left alone") {
    for (const char* statements : {"cudaMemcpyToSymbol(v, &x, sizeof v);",
                                   "cudaMemcpyToSymbol(v, &x, sizeof(v), 0, cudaMemcpyHostToDevice);",
                                   "cudaMemcpyFromSymbol(&x, a[1], sizeof x);",
                                   "cudaMemcpyFromSymbol(&x, s.low, 4);",
                                   "cudaGetSymbolAddress((void**)&d, a);",
                                   "check(cudaMemcpyToSymbolAsync(v, p, 4, 0, k));",
                                   "copy_to(v, x); set<int>(v, 1); object.put(v); new T(v); T t(v); T u{v};",
                                   "int* x = &v; x = &a[1];",
                                   "auto& x = v; const int& y = v, & z = v; int&& u = std::move(v); auto& [i, j] = s;",
                                   "float* x = a;",
                                   "float* x = a + 1; float (*y)[3] = b; float* z = b[1];",
                                   "x = sizeof v / 2 + sizeof(v + 1) + sizeof *p;",
                                   "decltype(v + 1) x; static_assert(noexcept(v = 1));",
                                   "T<v> x; g<v>(); g<1, v>();",
                                   "for (float x : a) {}",
                                   "(void)v; v; (v);",
                                   "x = y ? v : z; return y ? v : z;",
                                   "std::cin >> v; v.store(1); s.f(2);",
                                   "auto x = [](int i) { v = i; return v; }; auto y = [&v = v] {};",
                                   "T x{.v = 1}; T y{.x = v, .y = 1};",
                                   "x.v = 1; x->v++; x.y.v += x.v + 1; X::v = 1; goto v; v: g();",
                                   "asm_(\"v = 1\"); /* v = 1 */"}) {
        const std::string dropped = "::cpu_device::dropped(";
        std::string text = host_uses(statements);
        for (std::size_t at; (at = text.find(dropped)) != std::string::npos;)
            text.erase(at, text.find(", ", text.find('}', at)) + 2 - at);
        CHECK(text == statements);
    }
    CHECK(host_uses("return v;", "const int& f()") == "return v;");
    CHECK(host_uses("return v;", "auto f()") == "return v;");
}

TEST_CASE("a local name that hides a device variable is left alone") {
    for (const char* statements : {"int v = 1; v = 2; ++v;",
                                   "int x = 1, v = 2; v = x;",
                                   "int x, v; v = 1;",
                                   "T* v = 0; v++;",
                                   "std::vector<int> v(3); v[1] = 2;",
                                   "auto [x, v] = g(); v = x;",
                                   "auto& [v, x] = g(); v = x;",
                                   "for (int v = 0; v < 3; ++v) {}",
                                   "for (int i = 0, v = 1; v < 3; ++v) {}",
                                   "for (auto& v : x) v = 1;",
                                   "g([](int v) { return v + 1; }); v = 1;",
                                   "g([v = 1] {}); v = 1;",
                                   "enum { u, v }; x = v + 1;",
                                   "enum E : int { v }; x = v + 1;",
                                   "struct T { int v; }; v = 1;",
                                   "try {} catch (T& v) { v = 1; }",
                                   "const n::T& v = x; y = v + 1;",
                                   "int x, *v; v++;",
                                   "unsigned long x = g(y), *const *v, w; *v = x;",
                                   "n::T<3> x, &v = y; v.z = 1;",
                                   "int T::*v = 0; v = 0;",
                                   "decltype(x)* v = x; *v = 1;"})
        CHECK(host_uses(statements) == statements);
    CHECK(host_uses("v = 1; w = v + 1;", "void f(int v, T& w)") == "v = 1; w = v + 1;");
    CHECK(host_uses("v = 1;", "void T::f()") == "v = 1;");
    CHECK(host_uses("x = 2 * v; y = v < 3; z = x > v;") == "x = 2 * <v>; y = <v> < 3; z = x > <v>;");
    CHECK_THAT(rewritten(device_variables + "struct T { int v; void f() { v = 1; } };"), EndsWith("{ v = 1; } };"));
}

TEST_CASE("a device variable is left alone where its own memory is meant, or that is not certain") {
    for (const char* head : {"__device__ void f()", "__host__ __device__ void f()", "constexpr void f()",
                             "template <class T> void f()", "UNKNOWN void f()"})
        CHECK(host_uses("v = 1; x = v + 1;", head) == "v = 1; x = v + 1;");
    for (const char* variable :
         {"__managed__ int v;", "__device__ __managed__ int v;", "__managed__ __device__ int v;",
          "__device__ const int v = 3;", "const __device__ int v = 3;", "__device__ int* const v = 0;"}) {
        const std::string source = std::string(variable) + " void f() { v = 1; x = v + 1; }";
        CHECK_THAT(rewritten(source), EndsWith(" void f() { v = 1; x = v + 1; }"));
    }
    CHECK_THAT(rewritten("__device__ const int* v; void f() { v++; }"), EndsWith(host_copy("v", true) + "++; }"));
    for (const char* source :
         {"__device__ int v;\n#define SET(x) x = 1\nvoid f() { SET(v); SET(v = 2); }",
          "__device__ int v;\n#define SET v = 1\nvoid f() { SET; }",
          "__device__ int v;\n#define v (x.v)\nvoid f() { v = 1; }",
          "__device__ int v;\nint x = v + 1;\nint y[] = {v};\n", "int v;\nvoid f() { v = 1; x = v + 1; }"})
        CHECK_THAT(rewritten(source), !ContainsSubstring("host_copy"));
}

// ---- __shared__ ------------------------------------------------------------------------------------------

TEST_CASE("a shared variable becomes a reference") {
    CHECK(in_kernel("__shared__ float tile[32][33];") == shared_variable("tile", "float [32][33]"));
    CHECK(in_kernel("__shared__ int n;") == shared_variable("n", "int"));
}

TEST_CASE("handles several declarators in one shared declaration") {
    CHECK(in_kernel("__shared__ float a[4], b, *p, *q[2], (*r)[8];") ==
          shared_variable("a", "float [4]") + " " + shared_variable("b", "float") + " " +
              shared_variable("p", "float *") + " " + shared_variable("q", "float *[2]") + " " +
              shared_variable("r", "float (*)[8]"));
}

TEST_CASE("accepts specifiers in any order around __shared__") {
    CHECK(in_kernel("static __shared__ int a;") == shared_variable("a", "int"));
    CHECK(in_kernel("volatile __shared__ int a;") == shared_variable("a", "volatile int"));
    CHECK(in_kernel("__shared__ volatile int a;") == shared_variable("a", "volatile int"));
    CHECK(in_kernel("unsigned __shared__ int a[2];") == shared_variable("a", "unsigned int [2]"));
    CHECK(in_kernel("float4 __shared__ a;") == shared_variable("a", "float4"));
    CHECK(in_kernel("ns::A<int, 2> __shared__ a;") == shared_variable("a", "ns::A<int, 2>"));
    CHECK(in_kernel("typename T::type __shared__ a;") == shared_variable("a", "typename T::type"));
    CHECK(in_kernel("const unsigned long long static __shared__ a;") ==
          shared_variable("a", "const unsigned long long"));
    CHECK(in_kernel("f(); __shared__ T a;") == "f(); " + shared_variable("a", "T"));
    CHECK(in_kernel("{ x; } __shared__ T a;") == "{ x; } " + shared_variable("a", "T"));
}

TEST_CASE("accepts types that contain commas, brackets and comparisons") {
    for (const char* type : {"std::array<float, 4>", "A<B<C<int>>, 2>", "typename A<T>::template B<2>::type",
                             "decltype(f(1, 2))", "A<(1 > 2)>", "::ns::T", "struct Point"})
        CHECK(in_kernel("__shared__ " + std::string(type) + " a[n > 4 ? 1 : 2];") ==
              shared_variable("a", std::string(type) + " [n > 4 ? 1 : 2]"));
}

TEST_CASE("keeps the alignment that is asked for") {
    for (const char* source : {"__shared__ alignas(16) float a[3];", "alignas(16) __shared__ float a[3];",
                               "__shared__ float alignas(16) a[3];"})
        CHECK_THAT(in_kernel(source),
                   ContainsSubstring("struct cpu_device_alignment_a { alignas(16) cpu_device_type_a value; };") &&
                       ContainsSubstring("alignof(cpu_device_alignment_a)"));
    CHECK_THAT(in_kernel("__shared__ __align__(8) __align__(16) char a[3];"),
               ContainsSubstring("{ __align__(8) __align__(16) cpu_device_type_a value; }"));
    CHECK_THAT(in_kernel("__shared__ float a __attribute__((aligned(32)));"),
               ContainsSubstring("{ __attribute__((aligned(32))) cpu_device_type_a value; }"));
    CHECK_THAT(in_kernel("__shared__ ALIGNED float a;"), ContainsSubstring("{ ALIGNED cpu_device_type_a value; }"));
}

TEST_CASE("a class defined in a shared declaration gets a name") {
    CHECK(in_kernel("__shared__ struct { int x, y; } a, b[2];") ==
          "struct cpu_device_struct_a { int x, y; }; " + shared_variable("a", "cpu_device_struct_a") + " " +
              shared_variable("b", "cpu_device_struct_a [2]"));
    CHECK(in_kernel("struct { int x; } __shared__ a;") ==
          "struct cpu_device_struct_a { int x; }; " + shared_variable("a", "cpu_device_struct_a"));
    CHECK(in_kernel("__shared__ union U { int x; } a;") == "union U { int x; }; " + shared_variable("a", "U"));
}

TEST_CASE("dynamic shared memory of different types may have one name") {
    CHECK(in_kernel("extern __shared__ float data[];") == dynamic_shared("data", "float []"));
    CHECK(in_kernel("extern volatile __shared__ T data[];") == dynamic_shared("data", "volatile T []"));
    CHECK(in_kernel("extern __shared__ __align__(16) unsigned char data[];") ==
          dynamic_shared("data", "unsigned char []"));
    CHECK(in_kernel("__shared__ extern float rows[][32];") == dynamic_shared("rows", "float [][32]"));
    const std::string kernel = "template <class T> __global__ void k(T) { extern __shared__ T data[]; }";
    CHECK(rewritten(kernel) == "template <class T> __global__ void k(T) { " + dynamic_shared("data", "T []") + " }");
}

TEST_CASE("shared variables at namespace scope become objects that stand for them") {
    for (const char* around : {"@", "namespace a { @ }", "extern \"C\" { @ }", "namespace a::b { struct C {}; @ }",
                               "void f() { if (x) { } } @", "int a[] = {1, 2}; @"}) {
        std::string source = around;
        source.replace(source.find('@'), 1, "__shared__ int n[4];");
        CHECK_THAT(rewritten(source),
                   ContainsSubstring("using cpu_device_type_n = int [4]; [[maybe_unused]] static const "
                                     "::cpu_device::NamespaceShared<cpu_device_type_n> n{\"n\", {__FILE__, 1}};"));
    }
    CHECK_THAT(rewritten("extern __shared__ float data[];"),
               ContainsSubstring("static thread_local std::remove_extent_t<cpu_device_type_data>* data = nullptr; "
                                 "static const ::cpu_device::NamespaceDynamicShared cpu_device_dynamic_data("));
}

TEST_CASE("knows functions from namespaces and classes") {
    const std::string local = shared_variable("n", "int");
    for (const char* around :
         {"__device__ int f() { @ }", "struct A { __device__ int f() const { @ } };",
          "namespace a { template <class T> struct A : B<(f())> { __device__ void f(T t = {}) { @ } }; }",
          "__global__ void __launch_bounds__(256) k() { @ }", "__device__ void f() { { for (;;) { @ } } }",
          "#if A\n__global__ void k(int) {\n#else\n__global__ void k(float) {\n#endif\n@ }",
          "struct A { enum class E { a, b }; __device__ A() : x{1}, y{2} { @ } };",
          "__device__ auto f = [](int) { @ };",
          "template <class T> requires (sizeof(T) > 2) __device__ void f() { @ }"}) {
        std::string source = around, expected = around;
        source.replace(source.find('@'), 1, "__shared__ int n;");
        const auto line = static_cast<int>(std::count(source.begin(), source.end(), '\n')) + 1;
        expected.replace(expected.find('@'), 1, shared_variable("n", "int", line));
        CHECK_THAT(rewritten(source), StartsWith(expected));
    }
}

TEST_CASE("macros may declare shared variables") {
    const std::string text = rewritten("#define TILE(T, name, n) __shared__ T name[n], name##_2");
    CHECK_THAT(text, StartsWith("#define TILE(T, name, n) using cpu_device_type_##name = T [n]; "
                                "static constinit ::cpu_device::SharedVariable cpu_device_shared_##name{#name, ") &&
                         ContainsSubstring("{__FILE__, __LINE__}") && ContainsSubstring("{#name \"_2\", ") &&
                         ContainsSubstring("auto& name##_2 = ::cpu_device::shared<cpu_device_type_##name##_2>"));
    CHECK(rewritten("#define SHARED __shared__\n__device__ void f() { SHARED int a; }") ==
          "#define SHARED __shared__\n__device__ void f() { " + shared_variable("a", "int", 2) + " }");
    CHECK(unchanged("#define __shared__\n#ifdef __shared__\n#undef __shared__\n#endif\n"));
}

TEST_CASE("lambdas capture the shared variables they use") {
    const std::string before = "__shared__ int a; ";
    const auto lambda = [&](const std::string& source) {
        const std::string text = in_kernel(before + source);
        return text.substr(shared_variable("a", "int").size() + 1);
    };
    CHECK(lambda("[] { return a; };") == "[&a] { return a; };");
    CHECK(lambda("[=](int i) { return a; };") == "[=, &a](int i) { return a; };");
    CHECK(lambda("[x] { [y] { a; }; };") == "[x, &a] { [y, &a] { a; }; };");
    CHECK(lambda("[&] { return a; };") == "[&] { return a; };");
    CHECK(lambda("[](int a) { return a; };") == "[](int a) { return a; };");
    CHECK(lambda("[] { return x.a; };") == "[] { return x.a; };");
    CHECK(lambda("x[i] = y[a];") == "x[i] = y[a];");
    CHECK(rewritten("__device__ void f() { { __shared__ int b; } [] { b; }; }").find("[] { b; }") != std::string::npos);
}

TEST_CASE("__noinline__ becomes an attribute unless it is in one") {
    CHECK(rewritten("__noinline__ void f();") == "__attribute__((noinline)) void f();");
    CHECK(unchanged("__attribute__((__noinline__)) void f(); [[gnu::__noinline__]] void g();"));
    CHECK(unchanged("__attribute__((cold, __noinline__)) void f();"));
}

TEST_CASE("a kernel keeps its type where a program casts it to a void pointer to launch it") {
    CHECK(in_function("e = cudaLaunchKernel((void*)k, g, b, a);") == "e = cudaLaunchKernel(k, g, b, a);");
    CHECK(in_function("e = cudaLaunchCooperativeKernel((const void *)k<int>, g, b, a);") ==
          "e = cudaLaunchCooperativeKernel(k<int>, g, b, a);");
    CHECK(in_function("e = cudaLaunchKernel(reinterpret_cast<const void*>(&k), g, b, a);") ==
          "e = cudaLaunchKernel((&k), g, b, a);");
    CHECK(unchanged("void f() { e = cudaLaunchKernel(k, g, b, (void**)a); e = cudaLaunchKernel((k), g, b, a); }"));
}

TEST_CASE("a call whose status a statement drops is marked") {
    const auto marked = [](const std::string& call) {
        return "::cpu_device::dropped(\"" + call.substr(0, call.find('(')) + "\", {__FILE__, 1}), " + call;
    };
    for (const std::string before :
         {"", "{ } ", "; ", "if (x) ", "else ", "do ", "while (x) ", "for (;;) ", "if constexpr (x) "}) {
        CAPTURE(before);
        CHECK(in_function(before + "cudaFree(p);") == before + marked("cudaFree(p);"));
    }
    CHECK(in_function("cudaMemcpy(a, b, f(c, {1, 2}), k);") == marked("cudaMemcpy(a, b, f(c, {1, 2}), k);"));
    CHECK(in_function("[&] { cudaFree(p); }();") == "[&] { " + marked("cudaFree(p);") + " }();");
    CHECK(rewritten("#define CLEAN_UP(p) { cudaFree(p); }") ==
          "#define CLEAN_UP(p) { ::cpu_device::dropped(\"cudaFree\", {__FILE__, __LINE__}), cudaFree(p); }");
    // Not where the status goes somewhere, where it is dropped on purpose, or where nothing tells a statement's begin.
    for (const std::string statement :
         {"e = cudaFree(p);", "return cudaFree(p);", "(void)cudaFree(p);", "check(cudaFree(p));", "f(), cudaFree(p);",
          "if (cudaFree(p)) return;", "cudaFree(p), f();", "cudaFree(p) == cudaSuccess || f();",
          "cudaError_t cudaFree(int);", "cudaEvent_t(e);", "x ? y : cudaFree(p);", "for (; i < n; cudaFree(p)) f();",
          "cudaGraph.f();", "CHECK_IF(x) cudaFree(p);", "cudaCheck(cudaFree(p));", "cudaGetLastError();",
          "cudaGetErrorString(e);"}) {
        CAPTURE(statement);
        CHECK(in_function(statement) == statement);
    }
    CHECK(unchanged("#define FREE(p) cudaFree(p)\n#define FREE_IT(p) cudaFree(p);"));
    CHECK(unchanged("cudaError_t cudaFree(void*); struct S { cudaError_t cudaFree(void*); };"));
}

// ---- refusals --------------------------------------------------------------------------------------------

TEST_CASE("a launch that cannot be read is refused with its line") {
    CHECK(refusal("void f() {\n k<<<1>>>(x); }").line == 2);
    CHECK_THAT(refusal("void f() { k<<<1>>>(x); }").message, ContainsSubstring("at least two"));
    CHECK_THAT(refusal("void f() { k<<<>>>(x); }").message, ContainsSubstring("at least two"));
    CHECK_THAT(refusal("void f() { k<<<1, 2, 3, 4, 5>>>(x); }").message, ContainsSubstring("at most four"));
    CHECK_THAT(refusal("void f() { k<<<1, 2>>>; }").message, ContainsSubstring("expected '('"));
    CHECK_THAT(refusal("void f() { k<<<1, (2>>>(x); }").message, ContainsSubstring("'(' is never closed"));
    CHECK_THAT(refusal("void f() { k<<<1, 2; }").message, ContainsSubstring("no '>>>'"));
    CHECK_THAT(refusal("void f() { k<<<1, 2>>>(x; }").message, ContainsSubstring("'(' is never closed"));
    CHECK_THAT(refusal("void f() { = <<<1, 2>>>(x); }").message, ContainsSubstring("name of a kernel"));
    CHECK_THAT(refusal("void f() { return <<<1, 2>>>(x); }").message, ContainsSubstring("name of a kernel"));
    CHECK_THAT(refusal("<<<1, 2>>>(x);").message, ContainsSubstring("name of a kernel"));
    CHECK(refusal("#define A \\\n k<<<1>>>(x)\n").line == 2);
    CHECK(refusal("void f() {\nk\n#if A\n<<<1, 2>>>(x);\n#endif\n}").line == 3);
}

TEST_CASE("a bracket that nothing closes is named at its own line") {
    const std::string unclosed_brace = "this '{' is never closed: a '}' is missing";
    const auto at = [](const std::string& source, int line, const std::string& message) {
        const Refusal found = refusal(source);
        CHECK(found.line == line);
        CHECK(found.message == message);
    };
    const std::string rest =
        "__global__ void twice(int* x) {\n    x[0] *= 2;\n}\nint main() {\n    twice<<<1, 2>>>(x);\n}\n";
    // The indentation tells which brace it is.
    at("__global__ void k(int* x) {\n    if (x) {\n        x[0] = 1;\n}\n" + rest, 2, unclosed_brace);
    at("__global__ void k(int* x)\n{\n    if (x)\n    {\n        x[0] = 1;\n}\n" + rest, 4, unclosed_brace);
    at("__global__ void k(int* x) {\n\tfor (;;) {\n\t\tif (x) {\n\t\t\tx[0] = 1;\n\t}\n}\n" + rest, 3, unclosed_brace);
    at("void f(int a,\n       int b) {\n    g();\n}\n__global__ void k(int* x) {\n    x[0] = 1;\n" + rest, 5,
       unclosed_brace);
    at("namespace a {\n" + rest, 1, unclosed_brace);
    at("void f() { if (a) { b(); }\n", 1, unclosed_brace);
    // Too many.
    const std::string extra = "this '}' closes nothing: a '{' is missing, or it is one '}' too many";
    at("__global__ void k(int* x) {\n    x[0] = 1;\n    }\n}\n" + rest, 3, extra);
    at("void f() {\n}\n}\n", 3, extra);
    at("if (x)\n  {\n    y();\n  }\n}\n", 5, extra);
    // Parentheses.
    at("void f() {\n    g(a,\n      b;\n    h();\n}\n", 2, "this '(' is never closed: a ')' is missing");
    at("void f() {\n    if ((a < b) {\n        c();\n    }\n}\n", 2, "this '(' is never closed: a ')' is missing");
    at("void f() {\n    g(a));\n}\n", 2, "this ')' closes nothing: there is no '(' for it");
    at("void f() {\n    x[i = 2;\n}\n", 2, "this '[' is never closed: a ']' is missing");
    at("void f() {\n    printf(\"a);\n}\n", 2, "this \" is never closed: another \" is missing");
}

TEST_CASE("brackets that a condition or a macro may close are left to the compiler") {
    CHECK(unchanged("#ifdef A\nvoid f() {\n#else\nvoid f(int) {\n#endif\n}\n"));
    CHECK(unchanged("#if A\nextern \"C\" {\n#endif\nint a;\n#if A\n}\n#endif\n"));
    CHECK(unchanged("#ifdef __cplusplus\nextern \"C\" {\n#endif\nint a;\n#ifdef __cplusplus\n}\n#endif\n"));
    CHECK(unchanged("#define BEGIN namespace a {\n#define END }\nBEGIN int b; }\n"));
    CHECK(unchanged("#if 0\nvoid f() {\n#endif\n"));
    CHECK(refusal("#ifdef __cplusplus\nvoid f() {\n#endif\n").line == 2);
}

TEST_CASE("a launch of what is no kernel is refused") {
    for (const char* function : {"void add_one(int* x) {}", "__device__ void add_one(int* x) {}", "void add_one(int*);",
                                 "template <class T> static inline void add_one(T* x) {}",
                                 "namespace n { void add_one(int* x) {} } using namespace n;"}) {
        const Refusal found = refusal(std::string(function) + "\nint main() {\n  add_one<<<1, 2>>>(x);\n}");
        CHECK(found.line == 3);
        CHECK(found.message == "add_one is launched but is not a kernel: declare it with __global__");
    }
    // What may be a kernel: it comes from a macro, a variable, a template parameter, or another file.
    const std::string launch = "\nint main() { add_one<<<1, 2>>>(x); }";
    for (const char* before :
         {"", "KERNEL void add_one(int* x) {}", "#define KERNEL __global__\nKERNEL void add_one(int* x) {}",
          "void (*add_one)(int*);", "auto add_one = other;", "void add_one(int); __global__ void add_one(int* x);",
          "struct A { void add_one(int* x) {} };"})
        CHECK_NOTHROW(rewritten(before + launch));
    CHECK_NOTHROW(rewritten("void add_one(int* x) {}\nvoid run(void (*add_one)(int*)) { add_one<<<1, 2>>>(x); }"));
    CHECK_NOTHROW(rewritten("void f(int* x) {}\ntemplate <void (*f)(int*)> void run() { f<<<1, 2>>>(x); }"));
}

TEST_CASE("a kernel that is called is refused") {
    const std::string kernel = "__global__ void add_one(int* x) {}\n";
    for (const char* call : {"add_one(x);", "if (a) add_one(x);", "return add_one(x);", "(void)0, add_one(x);"}) {
        const Refusal found = refusal(kernel + "int main() {\n " + call + " }");
        CHECK(found.line == 3);
        CHECK(found.message == "add_one is a kernel, so it has to be launched: add_one<<<grid, block>>>(...)");
    }
    CHECK(refusal(kernel + "__global__ void k(int* x) {\n add_one(x); }").line == 3);
    CHECK(refusal("template <class T> " + kernel + "int main() {\n add_one<int>(x); }").line == 3);
    for (const char* other :
         {"void f() { a.add_one(x); }", "void f() { b::add_one(x); }", "void f() { int add_one(3); }",
          "void f(int (*add_one)(int)) { add_one(3); }", "struct A { void add_one(int); void g() { add_one(3); } };",
          "void add_one(float); void f() { add_one(1.f); }", "void f() { auto add_one = [](int) {}; add_one(3); }",
          "void f() { using T = decltype(add_one(x)); }"})
        CHECK_NOTHROW(rewritten(kernel + other));
}

TEST_CASE("a launch with the wrong number of arguments is refused") {
    const auto message = [](const std::string& kernels, const std::string& arguments) {
        const Refusal found = refusal(kernels + "\nint main() {\n  k<<<1, 2>>>(" + arguments + ");\n}");
        CHECK(found.line == 3);
        return found.message;
    };
    CHECK(message("__global__ void k(int* a, int b, int c) {}", "x, y") == "k takes 3 arguments, 2 were given");
    CHECK(message("__global__ void k(int* a) {}", "") == "k takes 1 argument, 0 were given");
    CHECK(message("__global__ void k() {}", "x") == "k takes 0 arguments, 1 was given");
    CHECK(message("template <class T> __global__ void k(T* a, T b) {}", "x, y, z") ==
          "k takes 2 arguments, 3 were given");
    CHECK(message("__global__ void k(int a, int b = 1) {}", "") == "k takes 1 to 2 arguments, 0 were given");
    CHECK(message("__global__ void k(int a) {} __global__ void k(int a, int b, int c) {}", "x, y") ==
          "k takes 1 or 3 arguments, 2 were given");
    CHECK(message("__global__ void k(A<int, 2> a) {}", "f(x, y), z") == "k takes 1 argument, 2 were given");
    for (const auto& [kernels, arguments] : std::vector<std::pair<const char*, const char*>>{
             {"__global__ void k(int a, int b = 1) {}", "x"},
             {"__global__ void k(int a, int b = 1); __global__ void k(int a, int b) {}", "x"},
             {"template <class... T> __global__ void k(T... a) {}", "x, y, z"},
             {"__global__ void k(int a) {} __global__ void k(int a, int b) {}", "x"},
             {"#define TWO int a, int b\n__global__ void k(TWO) {}", "x, y"},
             {"#define BOTH x, y\n__global__ void k(int a, int b) {}", "BOTH"},
             {"__global__ void k(bool a) {}", "A<x, y>::b"},
             {"__global__ void k(int a) {} void k(int a, int b);", "x, y"},
             {"__global__ void k(int a, int b) {}", "z..."}})
        CHECK_NOTHROW(rewritten(std::string(kernels) + "\nint main() { k<<<1, 2>>>(" + arguments + "); }"));
}

TEST_CASE("a variable of the host in device code is refused") {
    const auto line = [](const std::string& source, const std::string& name) {
        const Refusal found = refusal(source);
        CHECK_THAT(found.message,
                   ContainsSubstring(name + " is a variable of the host, and device code cannot use it"));
        return found.line;
    };
    CHECK(line("unsigned counter = 0;\n__global__ void k() {\n atomicAdd(&counter, 1u); }", "counter") == 3);
    CHECK(line("float limits[2];\n__global__ void k(float* x) { *x = limits[0]; }", "limits") == 2);
    CHECK(line("namespace {\nint first, second{2};\n__device__ int f() { return second; } }", "second") == 3);
    CHECK(line("static volatile int flag;\n__global__ void k() { while (::flag == 0) {} }", "flag") == 2);
    CHECK(line("std::vector<int> v;\n__global__ void k(int* x) { *x = v[0]; }", "v") == 2);
    for (const std::string& fine : std::vector<std::string>{
             "const int n = 3; constexpr float f = 2; __global__ void k(float* x) { *x = n * f; }",
             "__device__ int n; __constant__ float f; __managed__ int m; __global__ void k(float* x) { *x = n * f + m; "
             "}",
             "int n; __global__ void k(int n) { n = 2; }", "int n; __global__ void k(int* x) { int n = 2; *x = n; }",
             "int n; __global__ void k(int* x) { for (int n = 0; n < 3; ++n) *x = n; }",
             "int n; __global__ void k(int* x) { *x = sizeof(n) + sizeof n; }",
             "int n; __global__ void k(A a, int* x) { *x = a.n + a.b->n + A::n; }",
             "int n; void f() { n = 3; } __host__ __device__ int g() { return 1; }",
             "int n; struct A { int n; __device__ int f() { return n; } };",
             "int n; __device__ int A::f() { return n; }",
             "#define COUNT(x) 0\nint n; __global__ void k(int* x) { *x = COUNT(n); }",
             "#ifndef __CUDA_ARCH__\nint n;\n#endif\n__global__ void k(int* x) { *x = 1; }",
             "extern int n; int f(int n); __global__ void k(int* x) { *x = 1; }",
             "int f(int n), g; __global__ void k(int* x) { *x = 1; }",
             "namespace a { int n; } namespace b { __device__ int n; __global__ void k(int* x) { *x = n; } }",
             "int n; void f() { int n = 2; h([=] __device__ (int i) { return n + i; }); }",
             "int n; template <class n> __global__ void k(n* x) { *x = n(1); }"}) {
        INFO(fine);
        CHECK_NOTHROW(rewritten(fine));
    }
}

TEST_CASE("calls between host and device that CUDA does not have are refused") {
    const auto line = [](const std::string& source, const std::string& part) {
        const Refusal found = refusal(source);
        CHECK_THAT(found.message, ContainsSubstring(part));
        return found.line;
    };
    const std::string host = "int f(int x) { return x; }\n";
    const std::string device = "__device__ int f(int x) { return x; }\n";
    CHECK(line("float clamp(float x) { return x; }\n__global__ void k(float* x) {\n *x = clamp(1); }",
               "clamp is a host function") == 3);
    CHECK(line(host + "__global__ void k(int* x) {\n *x = f(1); }", "f is a host function") == 3);
    CHECK(line(host + "__device__ int g(int x) {\n return 2 * f(x); }", "f is a host function") == 3);
    CHECK(line("template <class T> " + host + "__global__ void k(int* x) {\n *x = f<int>(1); }", "host function") == 3);
    CHECK(line(host + "void g() { h([=] __device__ (int i) {\n return f(i); }); }", "f is a host function") == 3);
    CHECK(line(device + "int main() {\n return f(1); }", "f is a __device__ function") == 3);
    CHECK(line("__global__ void k(int* x) {\n *x = rand(); }", "rand is for host code only") == 2);
    CHECK(line("__global__ void k(int* x) {\n std::cout << 1; }", "std::cout is for host code only") == 2);
    for (const std::string& fine : std::vector<std::string>{
             "__host__ __device__ " + host + "__global__ void k(int* x) { *x = f(1); } void g() { f(1); }",
             "constexpr " + host + "__global__ void k(int* x) { *x = f(1); }",
             "#define HD __host__ __device__\nHD " + host + "__global__ void k(int* x) { *x = f(1); }",
             "UNKNOWN " + host + "__global__ void k(int* x) { *x = f(1); }",
             "__device__ int f(int x);\n" + host + "__global__ void k(int* x) { *x = f(1); }",
             host + device + "__global__ void k(int* x) { *x = f(1); }",
             host + "struct A { __device__ int f(int); __device__ int g() { return f(1); } };",
             host + "__global__ void k(int (*f)(int)) { f(1); }",
             host + "__global__ void k(A a) { a.f(1); b::f(2); }",
             host + "__global__ void k() { using T = decltype(f(1)); }",
             host + "__host__ __device__ int g() { return f(1); }",
             host + "__global__ void k() {\n#ifndef __CUDA_ARCH__\nf(1);\n#endif\n}",
             "void max(int a, int b) {}\n__global__ void k() { max(1, 2); }",
             device + "void g() { h([] __device__ { return f(1); }); h([] { return f(1); }); }",
             device + "template <class T> int g(T) { return f(1); }",
             device + "template <class T> struct A { int g() { return f(1); } };",
             device + "UNKNOWN int g() { return f(1); }",
             device + "constexpr int g() { return f(1); }",
             device + "CASES(sin)\nCASES(cos)\nstruct A { __device__ int operator()(int x) const { return f(x); } };",
             ("__device__ float rand();\n__global__ void k(float* x) { *x = rand(); }"),
             ("__global__ void k(int rand) { int time = 3; A a; a.exit(); }")})
        CHECK_NOTHROW(rewritten(fine));
}

TEST_CASE("kernels that CUDA does not have are refused") {
    CHECK_THAT(refusal("__global__ int k() {}").message, ContainsSubstring("has to return void"));
    CHECK(refusal("template <class T>\n__global__ unsigned long k() {}").line == 2);
    CHECK_THAT(refusal("struct A {\n __global__ void k() {} };").message, ContainsSubstring("member of a class"));
    CHECK(refusal("struct A {\n static __global__ void k(); };").line == 2);
    CHECK_NOTHROW(rewritten("__global__ auto k() -> void {} __global__ VOID k2() {} __global__ T k3() {}"));
    CHECK_NOTHROW(rewritten("__global__ void __launch_bounds__(int(3)) k() {} void __global__ k2() {}"));
    CHECK(refusal("void f() {\n __shared__ int a; }").line == 2);
    CHECK_NOTHROW(rewritten("UNKNOWN void f() { __shared__ int a; } constexpr int g() { __shared__ int a; }"));
}

TEST_CASE("a launch in device code becomes a launch like any other") {
    for (const char* source :
         {"__global__ void k() {\n k<<<1, 2>>>(); }", "__device__ void f() {\n { k<<<1, 2>>>(); } }",
          "struct A { static __device__ int f(int a) const {\n k<<<1, 2>>>(); } };",
          "void f() { g([=] __device__ (int i) mutable {\n k<<<1, 2>>>(); }); }"}) {
        CHECK_THAT(rewritten(source), ContainsSubstring("::cpu_device::launcher"));
    }
}

TEST_CASE("calls of the runtime that device code does not have are refused") {
    const Refusal wait = refusal("__global__ void k() {\n cudaDeviceSynchronize(); }");
    CHECK(wait.line == 2);
    CHECK_THAT(wait.message, ContainsSubstring("cudaStreamTailLaunch"));
    CHECK_THAT(refusal("__device__ void f(int* a, int* b) {\n cudaMemcpyAsync(a, b, 4, x); }").message,
               ContainsSubstring("not supported on the CPU device"));
    CHECK_THAT(refusal("__global__ void k() {\n cudaDeviceReset(); }").message, ContainsSubstring("host function"));
    CHECK_NOTHROW(rewritten("__global__ void k(int** p) { cudaMalloc(p, 4); cudaFree(*p); cudaGetLastError(); }"));
    CHECK_NOTHROW(rewritten("__host__ __device__ void f() { cudaDeviceSynchronize(); }"));
}

TEST_CASE("shared declarations that CUDA does not have are refused") {
    CHECK_THAT(refusal("__global__ void k() {\n __shared__ int a = 0; }").message, ContainsSubstring("initializer"));
    CHECK(refusal("__global__ void k() {\n __shared__ int a = 0; }").line == 2);
    CHECK_THAT(refusal("__device__ void k() { __shared__ int a[2] {1, 2}; }").message,
               ContainsSubstring("initializer"));
    CHECK_THAT(refusal("__device__ void k() { __shared__ A a(3); }").message, ContainsSubstring("initializer"));
    CHECK_THAT(refusal("__device__ void k() { __shared__ int b, &a; }").message, ContainsSubstring("reference"));
    CHECK_THAT(refusal("__device__ void k() { extern __shared__ int a; }").message,
               ContainsSubstring("without a size"));
    CHECK_THAT(refusal("struct A { __shared__ int a; };").message, ContainsSubstring("class"));
    CHECK_THAT(refusal("__device__ void k() { __shared__ ; }").message, ContainsSubstring("cannot read"));
    CHECK_THAT(refusal("__device__ void k() { __shared__ int a }").message, ContainsSubstring("no ';'"));
}

TEST_CASE("inline PTX is refused by the feature it uses") {
    const auto message = [](const std::string& code) {
        const Refusal found = refusal("__device__ void f() {\n asm volatile(" + code + "); }");
        CHECK(found.line == 2);
        CHECK_THAT(found.message, StartsWith("inline PTX is not supported on the CPU device: "));
        return found.message;
    };
    CHECK_THAT(message("\"mov.u32 %0, %%cluster_ctaid.x;\" : \"=r\"(x)"), EndsWith("mov.u32"));
    CHECK_THAT(message("\"{ .reg .pred p; \\n\\t\" \"setp.eq.u32 p, 1, 2; vote.sync.any.pred p, p, 1; }\""),
               EndsWith(": vote.sync.any.pred"));
    CHECK_THAT(message("\"cp.async.mbarrier.arrive.shared.b64 [%0];\" :: \"r\"(a)"),
               EndsWith("cp.async.mbarrier.arrive.shared.b64"));
    CHECK_THAT(message("\"cp.async.bulk.tensor.2d.shared::cluster.global x;\""),
               ContainsSubstring("tensor memory accelerator"));
    CHECK_THAT(message("\"wgmma.mma_async.sync.aligned x;\""), ContainsSubstring("wgmma"));
    CHECK_THAT(message("\"mma.sync.aligned.m16n8k16 x;\""), ContainsSubstring("mma (warp matrix multiply)"));
    CHECK_THAT(message("R\"(exit;)\""), EndsWith("exit"));
    CHECK_THAT(message("\"bar.sync 1, 64;\""), EndsWith("bar.sync"));
    CHECK_THAT(message("\"ld.acquire.gpu.global.u32 %0, [%1];\" : \"=r\"(x) : \"l\"(p)"),
               EndsWith("ld.acquire.gpu.global.u32"));
    CHECK_THAT(message("\"something else;\""), EndsWith("asm in device code"));
    CHECK_THAT(message("\"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0}, {%1}, {%2}, {%3};\""),
               ContainsSubstring("mma (warp matrix multiply)"));
    // A macro that nobody uses does no harm: its refusal comes when a kernel gets there.
    CHECK_THAT(rewritten("#define ANY(x) __asm__(\"vote.sync.any.pred %0, 1, 1;\" : \"=r\"(x))"),
               ContainsSubstring("abort_kernel(::cudaErrorNotSupported, ") &&
                   ContainsSubstring("inline PTX is not supported on the CPU device: vote.sync.any.pred"));
}

TEST_CASE("inline PTX that has a counterpart in C++ is written as that, in one statement") {
    const auto translated = [](const std::string& code) { return in_function("asm volatile(" + code + ");"); };
    CHECK(translated("\"mov.u32 %0, %%laneid;\" : \"=r\"(x)") ==
          "do { { ::cpu_device::ptx::set<unsigned int>((x), "
          "::cpu_device::ptx::bits_as<unsigned int>(::cpu_device::lane_id())); } } while (0);");
    CHECK(translated("\"bar.sync 0;\" ::: \"memory\"") == "do { { ::__syncthreads(); } } while (0);");
    CHECK_THAT(
        translated("\"cp.async.cg.shared.global.L2::128B [%0], [%1], %2;\\n\" :: \"r\"(to), \"l\"(from), \"n\"(16)"),
        ContainsSubstring("copy_async(::cpu_device::ptx::shared_memory(") && ContainsSubstring("(from)"));
    CHECK_THAT(translated("\"{ .reg .pred p; setp.ne.b32 p, %0, 0; @!p trap; }\" :: \"r\"(x)"),
               ContainsSubstring("bool ptx_p = {}; ") && ContainsSubstring("if (!ptx_p) { ::__trap(); }"));
    CHECK_THAT(translated("\"ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4 + 16];\" : \"=f\"(a.x), "
                          "\"=f\"(a.y), \"=f\"(a.z), \"=f\"(a.w) : \"l\"(p)"),
               ContainsSubstring("Elements<float, 4>") && ContainsSubstring("static_cast<unsigned long long>(16)"));
    CHECK_THAT(rewritten("#define LANE(x) __asm__(\"mov.u32 %0, %laneid;\" : \"=r\"(x))\n"),
               ContainsSubstring("::cpu_device::lane_id()"));
    CHECK_THAT(translated("\"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2 + 64];\" : \"=r\"(a), "
                          "\"=r\"(b) : \"r\"(from)"),
               ContainsSubstring("ptx::load_matrices(ptx_words, ::cpu_device::ptx::bits_as<unsigned int>((from)) + ") &&
                   ContainsSubstring("true); ::cpu_device::ptx::set<unsigned int>((a), ptx_words[0]);"));
    CHECK_THAT(translated("\"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                          "{%8, %9}, {%0, %1, %2, %3};\" : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3]) : "
                          "\"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1])"),
               ContainsSubstring("float ptx_sums[] = {") &&
                   ContainsSubstring("ptx::multiply_matrices(8, ptx_number::tf32, ptx_number::f32, false, ptx_sums, "
                                     "ptx_a, ptx_b)"));
}

TEST_CASE("assembly that is not PTX is left alone") {
    CHECK(unchanged("__device__ void f() { asm volatile(\"\" ::: \"memory\"); asm(\"\" : \"+r\"(x)); }"));
    CHECK(unchanged("void pause() { asm volatile(\"rdtsc\" : \"=a\"(l)); __asm__(\"pause; lock; incl %0\"); }"));
    CHECK(unchanged("void f() { asm(\".section .text.foo\\n movq %%rbx, %0\"); }"));
}

TEST_CASE("texture references and clusters of templates are refused") {
    const Refusal texture = refusal("\nstatic texture<float, 2, cudaReadModeElementType> image;");
    CHECK(texture.line == 2);
    CHECK(texture.message == "texture references left CUDA with version 12; use texture objects");
    CHECK(unchanged("template <class T> struct texture { T t; };\ntexture<int> t; ns::texture<int> u;"));
    const Refusal cluster = refusal("\n\ntemplate <int n> __global__ void __cluster_dims__(2, 1, 1) k() {}");
    CHECK(cluster.line == 3);
    CHECK_THAT(cluster.message, ContainsSubstring("cudaLaunchAttributeClusterDimension"));
}

TEST_CASE("the cluster that a kernel is declared with is made known") {
    const auto shape = [](const std::string& head) { return rewritten(head + " k(int a) {}"); };
    CHECK_THAT(shape("__global__ void __cluster_dims__(2, 1, 1)"),
               ContainsSubstring("clustered_kernel<(void (*)(int a))k, 2, 1, 1>"));
    CHECK_THAT(shape("__cluster_dims__(4) __global__ void __launch_bounds__(64)"),
               ContainsSubstring("clustered_kernel<(void (*)(int a))k, 4>"));
    CHECK_THAT(shape("__global__ void"), !ContainsSubstring("clustered_kernel"));
}

// ---- files -----------------------------------------------------------------------------------------------

TEST_CASE("included files that need it are rewritten, others are named where they are") {
    const TemporaryFolder folder;
    const fs::path main_file =
        folder.write("src/main.cu",
                     "#include <vector>\n#include \"kernels.h\"\n#  include \"plain/plain.h\" // why\n"
                     "#include \"missing.h\"\n#if 0\n#include \"unused.cuh\"\n#endif\n");
    const fs::path kernels = folder.write("src/kernels.h", "#pragma once\n#include \"../deep/deep.h\"\n");
    const fs::path deep =
        folder.write("deep/deep.h", "__global__ void k() { __shared__ int a; }\n#include \"other.h\"\n");
    const fs::path other = folder.write("deep/other.h", "int other;\n");
    const fs::path plain = folder.write("src/plain/plain.h", "int plain;\n");
    folder.write("src/unused.cuh", "k<<<1>>>\n");
    const fs::path out = folder.path() / "out";

    const auto result = cpu_device::rewriter::rewrite_file(main_file, out);
    const std::vector<fs::path> written = files_in(out);
    REQUIRE(written.size() == 2);
    CHECK_THAT(written[0].filename().string(), StartsWith("deep.") && EndsWith(".h"));
    CHECK(result.text == "#line 1 \"" + main_file.string() + "\"\n#include <vector>\n#include \"" +
                             written[1].string() + "\"\n#  include \"" + plain.string() +
                             "\" // why\n#include \"missing.h\"\n#if 0\n#include \"unused.cuh\"\n#endif\n");
    CHECK(read(written[1]) ==
          "#line 1 \"" + kernels.string() + "\"\n#pragma once\n#include \"" + written[0].string() + "\"\n");
    CHECK_THAT(read(written[0]), StartsWith("#line 1 \"" + deep.string() + "\"\n__global__ void k() { using") &&
                                     EndsWith("#include \"" + other.string() + "\"\n"));
    std::vector<std::string> read_files = result.dependencies;
    CHECK(read_files.at(0) == main_file.string());
    std::sort(read_files.begin(), read_files.end());
    CHECK(read_files == std::vector<std::string>{deep.string(), other.string(), kernels.string(), main_file.string(),
                                                 plain.string()});
}

TEST_CASE("files that include each other are rewritten once") {
    const TemporaryFolder folder;
    const fs::path main_file = folder.write("a.cu", "#include \"b.h\"\n");
    folder.write("b.h", "#pragma once\n#include \"c.cuh\"\n");
    folder.write("c.cuh", "#pragma once\n#include \"b.h\"\n");
    cpu_device::rewriter::rewrite_file(main_file, folder.path() / "out");
    CHECK(files_in(folder.path() / "out").size() == 2);
}

TEST_CASE("files of one name in different folders stay apart") {
    const TemporaryFolder folder;
    const fs::path main_file = folder.write("a.cu", "#include \"x/k.cuh\"\n#include \"y/k.cuh\"\n");
    folder.write("x/k.cuh", "int x;\n");
    folder.write("y/k.cuh", "int y;\n");
    cpu_device::rewriter::rewrite_file(main_file, folder.path() / "out");
    CHECK(files_in(folder.path() / "out").size() == 2);
}

TEST_CASE("search folders are looked at for files that need rewriting") {
    const TemporaryFolder folder;
    const fs::path main_file = folder.write("src/a.cu", "#include \"lib/k.h\"\n#include <lib/plain.h>\n");
    folder.write("root/lib/k.h", "void f() { k<<<1, 2>>>(); }\n");
    const fs::path plain = folder.write("root/lib/plain.h", "int plain;\n");
    const auto result = cpu_device::rewriter::rewrite_file(main_file, folder.path() / "out", {folder.path() / "root"});
    const std::vector<fs::path> written = files_in(folder.path() / "out");
    REQUIRE(written.size() == 1);
    CHECK_THAT(result.text, EndsWith("#include \"" + written[0].string() + "\"\n#include <lib/plain.h>\n"));
    CHECK(result.dependencies.size() == 3);
}

TEST_CASE("the parameters of kernels in included files are known, but not those of includers") {
    const TemporaryFolder folder;
    const fs::path main_file =
        folder.write("a.cu", "#include \"b.cuh\"\n__global__ void own(int mine) {}\nvoid f() { far<<<1, 2>>>(x); }\n");
    folder.write("b.cuh", "#include \"c.h\"\nvoid g() { own<<<1, 2>>>(x); far<<<1, 2>>>(x); }\n");
    folder.write("c.h", "#include \"b.cuh\"\n__global__ void far(int out);\n");
    const auto result = cpu_device::rewriter::rewrite_file(main_file, folder.path() / "out");
    CHECK(parameters_in(result.text) == "out");
    const std::string header = read(files_in(folder.path() / "out").at(0));
    CHECK_THAT(header,
               ContainsSubstring("{\"own\", {__FILE__, 2}}") && ContainsSubstring("{\"far\", {__FILE__, 2}, \"out\"}"));
}

TEST_CASE("included files with device variables are rewritten") {
    const TemporaryFolder folder;
    const fs::path main_file = folder.write("a.cu", "#include \"b.h\"\n");
    folder.write("b.h", "#pragma once\ninline __device__ int v = 3;\n");
    cpu_device::rewriter::rewrite_file(main_file, folder.path() / "out");
    CHECK_THAT(read(files_in(folder.path() / "out").at(0)),
               EndsWith("#pragma once\ninline __device__ int v = 3;" + registered("v", 2) + "\n"));
}

TEST_CASE("host code that uses device variables of included files gets the host's copy, but not of includers") {
    const TemporaryFolder folder;
    const fs::path main_file = folder.write("a.cu", "#include \"b.h\"\n__device__ int own;\nvoid f() { far = 1; }\n");
    folder.write("b.h", "#pragma once\n#include \"c.h\"\ninline void g() { own = 1; ++far; }\n");
    folder.write("c.h", "#pragma once\ninline __device__ int far;\n");
    const auto result = cpu_device::rewriter::rewrite_file(main_file, folder.path() / "out");
    CHECK_THAT(result.text, EndsWith("void f() { " + host_copy("far", true, false, 3) + " = 1; }\n"));
    for (const fs::path& file : files_in(folder.path() / "out"))
        if (file.filename().string()[0] == 'b')
            CHECK_THAT(read(file), EndsWith("{ own = 1; ++" + host_copy("far", true, false, 3) + "; }\n"));
}

TEST_CASE("an error in an included file names that file") {
    const TemporaryFolder folder;
    const fs::path main_file = folder.write("a.cu", "#include \"b.h\"\n");
    const fs::path included = folder.write("b.h", "\nvoid f() { k<<<1>>>(); }\n");
    try {
        cpu_device::rewriter::rewrite_file(main_file, folder.path());
        FAIL("accepted");
    } catch (const Error& error) {
        CHECK(error.file == included.string());
        CHECK(error.line == 2);
    }
    CHECK_THROWS_AS(cpu_device::rewriter::rewrite_file(folder.path() / "none.cu", folder.path()), Error);
}

TEST_CASE("a rewritten include that has not changed is not written again") {
    const TemporaryFolder folder;
    const fs::path main_file = folder.write("a.cu", "#include \"b.cuh\"\n");
    folder.write("b.cuh", "int b;\n");
    const fs::path out = folder.path() / "out";
    cpu_device::rewriter::rewrite_file(main_file, out);
    const auto before = fs::last_write_time(files_in(out).at(0)) - std::chrono::hours(1);
    fs::last_write_time(files_in(out).at(0), before);
    cpu_device::rewriter::rewrite_file(main_file, out);
    CHECK(fs::last_write_time(files_in(out).at(0)) == before);
}

TEST_CASE("the dependency file escapes what make would misread") {
    CHECK(cpu_device::rewriter::depfile("out dir/a.cpp", {"/x/a.cu", "/my $files/b#1.h"}) ==
          "out\\ dir/a.cpp: \\\n  /x/a.cu \\\n  /my\\ $$files/b\\#1.h\n");
}

TEST_CASE("the time for a source grows with its length, and no faster") {
    const auto seconds_for = [](std::size_t bytes) {
        std::string source;
        for (int i = 0; source.size() < bytes; ++i)
            source += "template <class T> __global__ void k" + std::to_string(i) +
                      "(T* a) { __shared__ T tile[32][33], sum; auto f = [](int i) { return tile[i][i]; }; }\n"
                      "__device__ int v" +
                      std::to_string(i) + "[3] = {1, 2, 3}; void f" + std::to_string(i) +
                      "(float* a, int n) { k<float><<<(n + 255) / 256, 256>>>(a, n, 0); }\n";
        double least = std::numeric_limits<double>::infinity();
        for (int round = 0; round < 3; ++round) {
            const auto start = std::chrono::steady_clock::now();
            CHECK(rewritten(source).size() > source.size());
            const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
            least = std::min(least, seconds.count());
        }
        return least;
    };
    // Time that grows with the square would be 64 times as long.
    CHECK(seconds_for(800'000) < 24 * seconds_for(100'000));
}

// Where time or stack grew with more than the length, these would end in a timeout or a crash.
TEST_CASE("sources that nobody writes take little time and little stack") {
    const auto repeated = [](const std::string& text, int times) {
        std::string result;
        for (int i = 0; i < times; ++i) result += text;
        return result;
    };
    for (const char* part : {"(", "!", "1 ? ", "-~"}) {
        const std::string condition = "#if " + repeated(part, 100'000) + "\n__device__ int v;\n#endif\n";
        CHECK_THAT(rewritten(condition), ContainsSubstring(registered("v", 2)));
    }
    CHECK(refusal("void f() { k<<<" + repeated("a<", 90) + repeated(">>>+", 25) + "; }").line == 1);
    CHECK(refusal("void f() { k<<<" + repeated("a<", 90) + repeated(">>>b ", 25) + "; }").line == 1);
    const std::string definitions = repeated("__device__ int x = a<", 10'000);
    CHECK(rewritten(definitions) == definitions + unregistered);
    for (const char* part : {"namespace a<", "__global__ a ", "__device__ ", "f(1)", "a<"})
        CHECK(unchanged(repeated(part, 10'000)));
    for (const char* part : {"__global__ void k(a<", "int (*", "{", "{ (", "#if A\n{", "}", "\"\n("})
        CHECK(refusal(repeated(part, 10'000)).line >= 1);
    CHECK_THAT(rewritten("void f() { k" + repeated("(1)", 5'000) + "<<<1, 2>>>(x); }"), ContainsSubstring("(1))(x)"));
    const std::string pointer = "__global__ void k(int (" + repeated("*(", 50'000) + "a" + repeated(")", 50'001) + ");";
    CHECK(parameters_of_launch(pointer) == "a");
}

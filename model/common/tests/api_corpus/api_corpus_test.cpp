// Every function that the CPU device declares is called by a case of the corpus, or stands among the exceptions with a
// reason; and what the cases return is what a GPU returned.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/cpu_device/rewriter/status_functions.h"
#include "common/helpers/child_process.h"
#include "common/helpers/json.h"
#include "common/tests/api_corpus/declared.h"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string read(const fs::path& file) {
    std::ifstream stream(file);
    INFO(file);
    REQUIRE(stream);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::set<std::string> declared() {
    return api_corpus::declared_functions(read(DECLARED), "/common/cpu_device/include/");
}

std::set<std::string> called() {
    std::set<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(CASES)) {
        if (entry.path().extension() == ".cu") names.merge(api_corpus::identifiers(read(entry.path())));
    }
    return names;
}

/// By name the reason.
std::map<std::string, std::string> exceptions() {
    std::map<std::string, std::string> all;
    std::istringstream lines(read(fs::path(CASES) / "exceptions.txt"));
    for (std::string line; std::getline(lines, line);) {
        const std::size_t colon = line.find(": ");
        if (line.empty() || line.front() == '#') continue;
        INFO(line);
        REQUIRE(colon != std::string::npos);
        REQUIRE(all.emplace(line.substr(0, colon), line.substr(colon + 2)).second);
    }
    return all;
}

std::string list_of(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += " " + name;
    return text;
}

/// The lines of the program, by case.
std::map<std::string, json> by_case(const std::string& lines) {
    std::map<std::string, json> all;
    std::istringstream stream(lines);
    for (std::string line; std::getline(stream, line);) {
        INFO(line);
        const json parsed = warpwise::json_or_discarded<json>(line);
        REQUIRE(parsed.is_object());
        REQUIRE(all.emplace(parsed.at("case").get<std::string>(), parsed).second);
    }
    return all;
}

/// Text is a list; numbers stand in one string, those that repeat once: "3*0000 3f80".
std::vector<std::string> results_of(const json& one) {
    const json& results = one.at("results");
    if (results.is_array()) return results.get<std::vector<std::string>>();
    std::vector<std::string> all;
    std::istringstream words(results.get<std::string>());
    for (std::string word; words >> word;) {
        const std::size_t star = word.find('*');
        const std::size_t count = star == std::string::npos ? 1 : std::stoul(word);
        all.insert(all.end(), count, star == std::string::npos ? word : word.substr(star + 1));
    }
    return all;
}

std::string run_corpus() {
    const warpwise::TemporaryFile output;
    const std::string program = fs::path(warpwise::own_program()).replace_filename("api_corpus");
    REQUIRE(warpwise::ChildProcess({program}, {}, output.path()).wait() == 0);
    return output.read();
}

double number_of(const std::string& bits, const std::string& type) {
    const std::uint64_t whole = std::stoull(bits, nullptr, 16);
    if (type == "f64") {
        double value;
        std::memcpy(&value, &whole, sizeof value);
        return value;
    }
    const auto single = static_cast<std::uint32_t>(type == "bf16" ? whole << 16 : whole);
    if (type == "f32" || type == "bf16") {
        float value;
        std::memcpy(&value, &single, sizeof value);
        return value;
    }
    const int exponent = static_cast<int>(whole >> 10 & 31);
    const double fraction = static_cast<double>(whole & 1023) / 1024;
    const double size = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                        : exponent == 0 ? std::ldexp(fraction, -14)
                                        : std::ldexp(1 + fraction, exponent - 15);
    return (whole & 0x8000u) != 0 ? -size : size;
}

/// The place of a floating-point number among all of its type, so that neighbors differ by 1.
double place_of(const std::string& bits) {
    const std::uint64_t whole = std::stoull(bits, nullptr, 16);
    const std::uint64_t sign = std::uint64_t{1} << (bits.size() * 4 - 1);
    const auto size = static_cast<double>(whole & (sign - 1));
    return (whole & sign) != 0 ? -size : size;
}

bool agree(const std::string& ours, const std::string& theirs, const json& one) {
    if (ours == theirs) return true;
    const std::string type = one.at("type");
    if (type == "text" || type == "bits" || ours == "nan" || theirs == "nan") return false;
    if (std::abs(place_of(ours) - place_of(theirs)) <= one.at("ulp").get<double>()) return true;
    return std::abs(number_of(ours, type) - number_of(theirs, type)) <= one.at("absolute").get<double>();
}

}  // namespace

TEST_CASE("declarations are read from preprocessed headers") {
    const std::string text =
        "# 1 \"/usr/include/math.h\"\ndouble sin(double);\n# 1 \"/here/api.h\" 2\n"
        "int f(int a, double (*b)(int));\ninline int g() { return h(); }\nnamespace a { void in_a(); }\n"
        "namespace cpu_device { void hidden(); template <class N> struct S { friend N seen(N x) { return other(x); } "
        "void member(); friend bool operator==(S, S); }; }\n"
        "extern \"C\" { int in_c(); }\ntemplate <class T, class = decltype(k(1))> __attribute__((always_inline)) T "
        "t(T);\n"
        "using u = int(int); static_assert(v(1)); int w = x(); struct Y { void member(); }; enum class E { e };\n";
    CHECK(api_corpus::declared_functions(text, "/here/") ==
          std::set<std::string>{"f", "g", "in_a", "seen", "in_c", "t"});
}

TEST_CASE("every function that the CPU device declares is called by a case, or is an exception with a reason") {
    const std::set<std::string> functions = declared(), names = called();
    const std::map<std::string, std::string> excused = exceptions();
    CHECK(functions.size() > 900);
    std::vector<std::string> missing, called_exceptions, unknown;
    for (const std::string& name : functions) {
        if (names.count(name) == 0 && excused.count(name) == 0) missing.push_back(name);
    }
    for (const auto& [name, reason] : excused) {
        CHECK(reason.size() > 5);
        if (names.count(name) != 0) called_exceptions.push_back(name);
        if (functions.count(name) == 0) unknown.push_back(name);
    }
    INFO("without a case:" << list_of(missing));
    INFO("exceptions that have a case:" << list_of(called_exceptions));
    INFO("exceptions that nobody declares:" << list_of(unknown));
    CHECK(missing.empty());
    CHECK(called_exceptions.empty());
    CHECK(unknown.empty());
}

TEST_CASE("the rewriter knows every declared function that returns a status") {
    // These return something else, or the status of an earlier call.
    const std::set<std::string> others = {"cudaGetErrorName",
                                          "cudaGetErrorString",
                                          "cudaGetLastError",
                                          "cudaPeekAtLastError",
                                          "cudaGraphSetConditional",
                                          "cudaGridDependencySynchronize",
                                          "cudaTriggerProgrammaticLaunchCompletion"};
    for (const std::string& name : declared()) {
        const bool is_of_the_runtime =
            name.size() > 4 && name.substr(0, 4) == "cuda" && name[4] >= 'A' && name[4] <= 'Z';
        const bool returns_status =
            is_of_the_runtime && others.count(name) == 0 && name.find("cudaCreateChannelDesc") == std::string::npos;
        INFO(name);
        CHECK(cpu_device::rewriter::returns_status(name) == returns_status);
    }
}

TEST_CASE("every case runs, and gives the same results again") {
    const std::string first = run_corpus();
    CHECK(by_case(first).size() > 500);
    CHECK(first == run_corpus());
}

TEST_CASE("every case returns what an H200 returned") {
    const fs::path recorded = fs::path(CASES) / "h200.jsonl";
    if (!fs::exists(recorded))
        SKIP("not recorded yet: common/tests/api_corpus/record.sh does it on a machine with a GPU");
    const std::map<std::string, json> ours = by_case(run_corpus()), theirs = by_case(read(recorded));
    for (const auto& [name, one] : ours) {
        const auto found = theirs.find(name);
        INFO(name);
        REQUIRE(found != theirs.end());
        const std::vector<std::string> results = results_of(one), expected = results_of(found->second);
        REQUIRE(results.size() == expected.size());
        for (std::size_t i = 0; i < results.size(); ++i) {
            INFO("result " << i << ": " << results[i] << ", on the H200 " << expected[i]);
            CHECK(agree(results[i], expected[i], one));
        }
    }
    for (const auto& [name, one] : theirs) {
        INFO(name);
        CHECK(ours.count(name) == 1);
    }
}

TEST_CASE("results that repeat are unfolded") {
    CHECK(results_of({{"results", "3*0000 3f80 nan"}}) ==
          std::vector<std::string>{"0000", "0000", "0000", "3f80", "nan"});
    CHECK(results_of({{"results", {"2*3", "last: cudaSuccess"}}}) ==
          std::vector<std::string>{"2*3", "last: cudaSuccess"});
    CHECK(results_of({{"results", ""}}).empty());
}

TEST_CASE("results agree within their bounds") {
    const json exact = {{"type", "f32"}, {"ulp", 0}, {"absolute", 0}};
    const json near = {{"type", "f32"}, {"ulp", 2}, {"absolute", 0}};
    const json close = {{"type", "f32"}, {"ulp", 0}, {"absolute", 0.01}};
    CHECK(agree("3f800000", "3f800000", exact));
    CHECK_FALSE(agree("3f800000", "3f800001", exact));
    CHECK(agree("3f800000", "3f800002", near));
    CHECK(agree("3f800001", "3f7fffff", near));
    CHECK_FALSE(agree("3f800000", "3f800003", near));
    CHECK(agree("80000001", "00000001", near));
    CHECK_FALSE(agree("nan", "3f800000", close));
    CHECK(agree("3f800000", "3f810000", close));
    CHECK_FALSE(agree("3f800000", "3f820000", close));
    CHECK_FALSE(agree("cudaSuccess", "cudaErrorInvalidValue", {{"type", "text"}, {"ulp", 9}, {"absolute", 9}}));
    CHECK(number_of("3c00", "f16") == 1.0);
    CHECK(number_of("c100", "f16") == -2.5);
    CHECK(number_of("0001", "f16") == std::ldexp(1.0, -24));
    CHECK(number_of("4049", "bf16") == 3.140625);
    CHECK(number_of("4009000000000000", "f64") == 3.125);
}

// Fuzzes the source rewriter: whatever a file holds, it is rewritten or refused with an Error, in little time.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/cpu_device/rewriter/rewriter.h"

namespace {

constexpr std::string_view kPrologue = "#line 1 \"fuzzed.cu\"\n";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

void require(bool good, const char* what) {
    if (good) return;
    std::fprintf(stderr, "rewriter_fuzzer: %s\n", what);
    std::abort();
}

/// The number of the last line, where `#line N "fuzzed.cu"` gives the next line the number N.
long last_line(std::string_view text) {
    constexpr std::string_view directive = "#line ";
    long line = 1;
    while (true) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) return line;
        ++line;
        if (text.substr(0, directive.size()) == directive) {
            line = 0;
            for (std::size_t i = directive.size(); i < end && std::isdigit(static_cast<unsigned char>(text[i])) != 0;
                 ++i)
                line = 10 * line + (text[i] - '0');
        }
        text.remove_prefix(end + 1);
    }
}

/// True only if the text holds nothing that the rewriter acts on.
bool is_plain_cpp(std::string_view source) {
    for (std::string_view word :
         {"__global__", "__shared__", "__noinline__", "__device__", "__constant__", "__managed__", "cuda",
          "__CUDA_ARCH__", "__NVCC__"})  // "cuda": calls of the runtime whose status nobody looks at
        if (source.find(word) != std::string_view::npos) return false;
    // `(void*)kernel<T>`
    const auto has = [&](std::string_view text) { return source.find(text) != std::string_view::npos; };
    if (has("void") && has("*") && has("<")) return false;
    // A launch may be spelled with white space, comments and line ends between the three `<`.
    const bool comments = source.find("/*") != std::string_view::npos || source.find("//") != std::string_view::npos;
    int in_a_row = 0;
    for (char c : source) {
        if (c == '<') {
            if (++in_a_row == 3) return false;
        } else if (!comments && std::isspace(static_cast<unsigned char>(c)) == 0 && c != '\\') {
            in_a_row = 0;
        }
    }
    return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view source(reinterpret_cast<const char*>(data), size);
    std::string rewritten;
    try {
        rewritten = cpu_device::rewriter::rewrite(source, "fuzzed.cu");
    } catch (const cpu_device::rewriter::Error& error) {
        const auto lines = std::count(source.begin(), source.end(), '\n') + 1;
        require(error.file == "fuzzed.cu" && error.line >= 1 && error.line <= lines, "an error at no line of the file");
        require(error.what()[0] != '\0', "an error without a message");
        return 0;
    }
    const std::string_view text = rewritten;
    require(text.substr(0, kPrologue.size()) == kPrologue, "the result does not name the file");
    const std::string_view body = text.substr(kPrologue.size());
    if (source.find("#line") == std::string_view::npos)
        require(last_line(body) == last_line(source), "the lines have other numbers");
    if (!is_plain_cpp(source)) return 0;
    if (source.substr(0, kByteOrderMark.size()) == kByteOrderMark) source.remove_prefix(kByteOrderMark.size());
    require(body == source, "plain C++ has changed");
    return 0;
}

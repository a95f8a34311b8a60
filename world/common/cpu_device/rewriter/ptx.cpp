#include "ptx.h"

#include <array>
#include <cctype>

#include "words.h"

namespace cpu_device::rewriter {
namespace {

/// Words of inline assembly that only PTX has, beside its dotted mnemonics.
bool is_ptx_word(std::string_view word) {
    static constexpr std::array<std::string_view, 4> instructions{"trap", "exit", "brkpt", "activemask"};
    if (one_of(word, instructions)) return true;
    const std::size_t dot = word.find('.');
    if (dot == std::string_view::npos || dot == 0 || dot + 1 >= word.size()) return false;
    if (word.substr(0, dot) == "b") return false;  // a conditional branch on Arm, such as b.ne
    return std::isalpha(static_cast<unsigned char>(word[0])) != 0 &&
           std::isalpha(static_cast<unsigned char>(word[dot + 1])) != 0;
}

bool is_ptx_register(std::string_view name) {
    static constexpr std::array<std::string_view, 16> registers{"tid",
                                                                "ntid",
                                                                "laneid",
                                                                "warpid",
                                                                "nwarpid",
                                                                "ctaid",
                                                                "nctaid",
                                                                "smid",
                                                                "nsmid",
                                                                "gridid",
                                                                "clock",
                                                                "clock64",
                                                                "clock_hi",
                                                                "globaltimer",
                                                                "dynamic_smem_size",
                                                                "total_smem_size"};
    if (name.substr(0, 8) == "lanemask" || name.substr(0, 7) == "cluster") return true;
    if (name.substr(0, 11) == "globaltimer") return true;
    return one_of(name.substr(0, name.find('.')), registers);
}

}  // namespace

std::string ptx_feature(std::string_view code) {
    bool ptx = false;
    std::string first;
    for (std::size_t at = 0; at < code.size();) {
        const auto in_word = [&](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
        };
        if (!in_word(code[at])) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < code.size() && (in_word(code[end]) || (code[end] == ':' && code.substr(end, 2) == "::"))) {
            end += code[end] == ':' ? 2 : 1;
        }
        const std::string_view word = code.substr(at, end - at);
        const bool is_register = at > 0 && code[at - 1] == '%';
        if (is_register ? is_ptx_register(word) : is_ptx_word(word)) {
            ptx = true;
            if (first.empty()) first = (is_register ? "%" : "") + std::string(word);
            const auto starts = [&](std::string_view prefix) { return word.substr(0, prefix.size()) == prefix; };
            if (starts("wgmma.")) return "wgmma (warpgroup matrix multiply)";
            if (starts("tcgen05.")) return "tcgen05 (tensor memory)";
            if (starts("cp.async.bulk") || starts("cp.reduce.async.bulk") || starts("tensormap."))
                return "the tensor memory accelerator";
            if (starts("mma.") || starts("wmma.") || starts("ldmatrix.")) return "mma (warp matrix multiply)";
        }
        at = end;
    }
    return ptx ? first : std::string();
}

}  // namespace cpu_device::rewriter

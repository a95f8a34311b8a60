#include "ptx_code.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <map>
#include <utility>

namespace cpu_device::rewriter {
namespace {

using Words = std::vector<std::string>;

std::string trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return {};
    return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin));
}

/// At the separators that stand in no brackets.
Words split(std::string_view text, char separator) {
    Words parts;
    std::string part;
    int depth = 0;
    for (const char c : text) {
        if (c == '[' || c == '{') ++depth;
        if (c == ']' || c == '}') --depth;
        if (c == separator && depth <= 0) {
            parts.push_back(trimmed(part));
            part.clear();
        } else {
            part += c;
        }
    }
    parts.push_back(trimmed(part));
    return parts;
}

std::string without_comments(std::string_view code) {
    std::string text;
    for (std::size_t i = 0; i < code.size(); ++i) {
        if (code.substr(i, 2) == "//") {
            while (i < code.size() && code[i] != '\n') ++i;
            text += ' ';
        } else if (code.substr(i, 2) == "/*") {
            const std::size_t end = code.find("*/", i + 2);
            i = end == std::string_view::npos ? code.size() : end + 1;
            text += ' ';
        } else {
            text += code[i];
        }
    }
    return text;
}

/// The type of C++ for a type of PTX; empty for any other word.
std::string_view type_named(std::string_view name) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 15> types{{
        {"b8", "unsigned char"},
        {"u8", "unsigned char"},
        {"s8", "signed char"},
        {"b16", "unsigned short"},
        {"u16", "unsigned short"},
        {"s16", "short"},
        {"b32", "unsigned int"},
        {"u32", "unsigned int"},
        {"s32", "int"},
        {"f32", "float"},
        {"b64", "unsigned long long"},
        {"u64", "unsigned long long"},
        {"s64", "long long"},
        {"f64", "double"},
        {"pred", "bool"},
    }};
    for (const auto& [ptx, cpp] : types)
        if (ptx == name) return cpp;
    return {};
}

/// What a special register holds; empty for one that is not known.
std::string_view special_register(std::string_view name) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 26> registers{{
        {"laneid", "::cpu_device::lane_id()"},
        {"warpid", "::cpu_device::warp_id()"},
        {"nwarpid", "((::cpu_device::threads_per_block() + 31u) / 32u)"},
        {"smid", "(::blockIdx.x % 16u)"},
        {"nsmid", "16u"},
        {"tid.x", "::threadIdx.x"},
        {"tid.y", "::threadIdx.y"},
        {"tid.z", "::threadIdx.z"},
        {"ntid.x", "::blockDim.x"},
        {"ntid.y", "::blockDim.y"},
        {"ntid.z", "::blockDim.z"},
        {"ctaid.x", "::blockIdx.x"},
        {"ctaid.y", "::blockIdx.y"},
        {"ctaid.z", "::blockIdx.z"},
        {"nctaid.x", "::gridDim.x"},
        {"nctaid.y", "::gridDim.y"},
        {"nctaid.z", "::gridDim.z"},
        {"lanemask_eq", "(1u << ::cpu_device::lane_id())"},
        {"lanemask_lt", "((1u << ::cpu_device::lane_id()) - 1u)"},
        {"lanemask_le", "(~0u >> (31u - ::cpu_device::lane_id()))"},
        {"lanemask_gt", "(~0u << ::cpu_device::lane_id() << 1u)"},
        {"lanemask_ge", "(~0u << ::cpu_device::lane_id())"},
        {"clock", "static_cast<unsigned int>(::clock64())"},
        {"clock64", "static_cast<unsigned long long>(::clock64())"},
        {"globaltimer", "static_cast<unsigned long long>(::clock64())"},
        {"activemask", "::__activemask()"},
    }};
    for (const auto& [ptx, cpp] : registers)
        if (ptx == name) return cpp;
    return {};
}

struct NotUnderstood {};

class Translator {
public:
    explicit Translator(const std::vector<std::string>& operands) : operands_(operands) {}

    /// Throws NotUnderstood.
    void translate(const std::string& instruction) {
        std::string text = instruction;
        std::string guard;
        if (text.front() == '@') {
            const std::size_t end = text.find_first_of(" \t");
            if (end == std::string::npos) throw NotUnderstood{};
            const bool negated = text[1] == '!';
            const std::string name = text.substr(negated ? 2 : 1, end - (negated ? 2 : 1));
            if (registers_.count(name) == 0) throw NotUnderstood{};
            guard = "if (" + std::string(negated ? "!" : "") + register_name(name) + ") ";
            text = trimmed(text.substr(end));
        }
        const std::size_t end = text.find_first_of(" \t\n");
        name_ = text.substr(0, end);
        words_ = split(name_, '.');
        arguments_ = end == std::string::npos ? Words() : split(text.substr(end), ',');
        if (arguments_.size() == 1 && arguments_[0].empty()) arguments_.clear();
        if (name_ == ".reg") return declare(trimmed(text.substr(end == std::string::npos ? text.size() : end)));
        statements_ += guard + "{ " + statement() + " } ";
    }

    const std::string& statements() const { return statements_; }

private:
    bool has(std::string_view word) const {
        for (std::size_t i = 1; i < words_.size(); ++i)
            if (words_[i] == word) return true;
        return false;
    }
    bool is(std::string_view word) const { return words_[0] == word; }

    static std::string register_name(const std::string& name) {
        std::string result = "ptx_";
        for (const char c : name) result += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
        return result;
    }

    /// `.reg .u32 a, b;`
    void declare(const std::string& text) {
        const std::size_t end = text.find_first_of(" \t");
        if (text.empty() || text[0] != '.' || end == std::string::npos) throw NotUnderstood{};
        const std::string_view type = type_named(text.substr(1, end - 1));
        if (type.empty()) throw NotUnderstood{};
        for (const std::string& name : split(text.substr(end), ',')) {
            if (name.empty() || name.find('<') != std::string::npos) throw NotUnderstood{};
            registers_[name] = type;
            statements_ += std::string(type) + " " + register_name(name) + " = {}; ";
        }
    }

    /// The last type that the instruction's name holds.
    std::string type(std::size_t from_the_end = 0) const {
        for (std::size_t i = words_.size(); i-- > 1;) {
            const std::string_view found = type_named(words_[i]);
            if (found.empty()) continue;
            if (from_the_end == 0) return std::string(found);
            --from_the_end;
        }
        throw NotUnderstood{};
    }

    /// The variable of C++ that an operand stands for; empty where it is none.
    std::string variable(const std::string& operand) const {
        if (operand.size() > 1 && operand[0] == '%' && std::isdigit(static_cast<unsigned char>(operand[1])) != 0) {
            constexpr std::size_t most_digits = 3;
            if (operand.size() > 1 + most_digits || operand.find_first_not_of("0123456789", 1) != std::string::npos)
                throw NotUnderstood{};
            const std::size_t number = std::stoul(operand.substr(1));
            if (number >= operands_.size()) throw NotUnderstood{};
            return "(" + operands_[number] + ")";
        }
        return registers_.count(operand) != 0 ? register_name(operand) : std::string();
    }

    /// The operand as a value of that type.
    std::string value(const std::string& operand, const std::string& as) const {
        if (operand.empty()) throw NotUnderstood{};
        std::string expression = variable(operand);
        if (expression.empty() && operand[0] == '%') {
            const std::size_t name = operand.find_first_not_of('%');
            if (name != std::string::npos) expression = special_register(operand.substr(name));
        }
        if (expression.empty()) {
            const bool is_number =
                std::isdigit(static_cast<unsigned char>(operand[0])) != 0 || (operand[0] == '-' && operand.size() > 1);
            if (!is_number) throw NotUnderstood{};
            if (operand.substr(0, 2) == "0f" || operand.substr(0, 2) == "0F") {
                return "::cpu_device::ptx::bits_as<float>(0x" + operand.substr(2) + "u)";
            }
            for (const char c : operand)
                if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.') throw NotUnderstood{};
            return "static_cast<" + as + ">(" + operand + ")";
        }
        return "::cpu_device::ptx::bits_as<" + as + ">(" + expression + ")";
    }
    std::string argument(std::size_t i, const std::string& as) const {
        if (i >= arguments_.size()) throw NotUnderstood{};
        return value(arguments_[i], as);
    }

    std::string set(const std::string& operand, const std::string& as, const std::string& what) const {
        const std::string target = variable(operand);
        if (target.empty()) throw NotUnderstood{};
        return "::cpu_device::ptx::set<" + as + ">(" + target + ", " + what + ");";
    }
    /// The first argument becomes `what`.
    std::string result(const std::string& as, const std::string& what) const {
        if (arguments_.empty()) throw NotUnderstood{};
        return set(arguments_[0], as, what);
    }

    /// `[%1 + 16]` in the memory that the instruction names.
    std::string address(std::size_t i, bool in_shared) const {
        if (i >= arguments_.size()) throw NotUnderstood{};
        const std::string& text = arguments_[i];
        if (text.size() < 3 || text.front() != '[' || text.back() != ']') throw NotUnderstood{};
        const std::string inside = trimmed(text.substr(1, text.size() - 2));
        const std::size_t plus = inside.find('+');
        const std::string base = trimmed(inside.substr(0, plus));
        if (variable(base).empty()) throw NotUnderstood{};
        std::string expression = value(base, "unsigned long long");
        if (plus != std::string::npos) {
            expression += " + " + value(trimmed(inside.substr(plus + 1)), "unsigned long long");
        }
        return std::string(in_shared ? "::cpu_device::ptx::shared_memory(" : "::cpu_device::ptx::memory(") +
               expression + ")";
    }

    /// `{%0, %1}`, or one operand.
    Words elements(std::size_t i) const {
        if (i >= arguments_.size()) throw NotUnderstood{};
        const std::string& text = arguments_[i];
        if (text.empty() || text.front() != '{') return {text};
        return split(text.substr(1, text.size() - 2), ',');
    }

    /// One load or store as wide as the vector: ld.global.v4.f32.
    std::string access(bool loads) const {
        for (const std::string_view space : {"param", "local", "const"})
            if (has(space)) throw NotUnderstood{};
        const std::string as = type();
        const Words parts = elements(loads ? 0 : 1);
        const std::size_t width = has("v4") ? 4 : has("v2") ? 2 : 1;
        if (parts.size() != width) throw NotUnderstood{};
        const bool is_volatile = has("volatile") || has("relaxed");
        if (has("acquire") || has("release")) throw NotUnderstood{};
        const std::string vector = "::cpu_device::ptx::Elements<" + as + ", " + std::to_string(width) + ">";
        const std::string place = (is_volatile && width == 1 ? "(volatile " + as + "*)" : "(" + vector + "*)") +
                                  address(loads ? 1 : 0, has("shared") || has("shared::cta"));
        if (is_volatile && width == 1) {
            return loads ? set(parts[0], as, "*" + place) : "*" + place + " = " + value(parts[0], as) + ";";
        }
        if (loads) {
            std::string text = "const " + vector + " ptx_loaded = *" + place + ";";
            for (std::size_t i = 0; i < width; ++i)
                text += " " + set(parts[i], as, "ptx_loaded.of[" + std::to_string(i) + "]");
            return text;
        }
        std::string text = "*" + place + " = " + vector + "{{";
        for (std::size_t i = 0; i < width; ++i) text += (i > 0 ? ", " : "") + value(parts[i], as);
        return text + "}};";
    }

    std::string copy_async() const {
        if (has("commit_group")) return "";
        if (has("wait_group") || has("wait_all")) return "";
        if (!has("shared") && !has("shared::cta")) throw NotUnderstood{};
        if (!has("global") || has("bulk") || has("mbarrier")) throw NotUnderstood{};
        if (arguments_.size() < 3 || arguments_.size() > 4) throw NotUnderstood{};
        const std::string bytes = argument(2, "int");
        const std::string read = arguments_.size() == 4 ? argument(3, "int") : bytes;
        return "::cpu_device::ptx::copy_async(" + address(0, true) + ", " + address(1, false) + ", " + bytes + ", " +
               read + ");";
    }

    /// `[%1 + 16]` as the number of an address in the shared window.
    std::string shared_number(std::size_t i) const {
        if (i >= arguments_.size()) throw NotUnderstood{};
        const std::string& text = arguments_[i];
        if (text.size() < 3 || text.front() != '[' || text.back() != ']') throw NotUnderstood{};
        const Words parts = split(text.substr(1, text.size() - 2), '+');
        if (parts.size() > 2) throw NotUnderstood{};
        return value(parts[0], "unsigned int") + (parts.size() == 2 ? " + " + value(parts[1], "unsigned int") : "");
    }

    /// Fragments of matrices in shared memory: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16.
    std::string load_matrices() const {
        const Words words = elements(0);
        const std::string count = has("x4") ? "4" : has("x2") ? "2" : has("x1") ? "1" : "";
        const bool is_known = has("m8n8") && has("b16") && (has("shared") || has("shared::cta"));
        if (!is_known || std::to_string(words.size()) != count || arguments_.size() != 2) throw NotUnderstood{};
        std::string text = "unsigned int ptx_words[" + count + "]; ::cpu_device::ptx::load_matrices(ptx_words, " +
                           shared_number(1) + ", " + (has("trans") ? "true" : "false") + ");";
        for (std::size_t k = 0; k < words.size(); ++k)
            text += " " + set(words[k], "unsigned int", "ptx_words[" + std::to_string(k) + "]");
        return text;
    }

    /// mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32, and all others whose rows of a have 32 bytes.
    std::string multiply_matrices() const {
        static const std::map<std::string, std::string> inputs = {
            {"f16", "16"}, {"bf16", "16"}, {"tf32", "8"}, {"e4m3", "32"}, {"e5m2", "32"}, {"s8", "32"}, {"u8", "32"}};
        if (words_.size() < 10 || arguments_.size() != 4) throw NotUnderstood{};
        const auto from_the_end = [&](std::size_t i) { return words_[words_.size() - i]; };
        const std::string sum = from_the_end(4), input = from_the_end(3);
        const auto found = inputs.find(input);
        if (found == inputs.end() || from_the_end(2) != input || from_the_end(1) != sum) throw NotUnderstood{};
        if (!has("sync") || !has("row") || !has("col") || !has("m16n8k" + found->second)) throw NotUnderstood{};
        const bool is_integer = input == "s8" || input == "u8";
        if (is_integer ? sum != "s32" : sum != "f32" && (sum != "f16" || input != "f16")) throw NotUnderstood{};
        const std::string type = sum == "f32" ? "float" : sum == "s32" ? "int" : "unsigned int";
        const auto list = [&](std::size_t argument, std::size_t count, const std::string& as) {
            const Words parts = elements(argument);
            if (parts.size() != count) throw NotUnderstood{};
            std::string text = "{";
            for (const std::string& part : parts) text += (text.size() > 1 ? ", " : "") + value(part, as);
            return text + "}";
        };
        const std::size_t sums = sum == "f16" ? 2 : 4;
        std::string text = type + " ptx_sums[] = " + list(3, sums, type) +
                           "; const unsigned int ptx_a[] = " + list(1, 4, "unsigned int") +
                           ", ptx_b[] = " + list(2, 2, "unsigned int") +
                           "; using ptx_number = ::cpu_device::MatrixNumber; ::cpu_device::ptx::multiply_matrices(" +
                           found->second + ", ptx_number::" + input + ", ptx_number::" + sum + ", " +
                           (has("satfinite") ? "true" : "false") + ", ptx_sums, ptx_a, ptx_b);";
        const Words results = elements(0);
        if (results.size() != sums) throw NotUnderstood{};
        for (std::size_t k = 0; k < sums; ++k)
            text += " " + set(results[k], type, "ptx_sums[" + std::to_string(k) + "]");
        return text;
    }

    /// Instructions with one result and values of one type.
    std::string arithmetic() const {
        const std::string as = type();
        const auto arg = [&](std::size_t i) { return argument(i, as); };
        const bool is_float = as == "float" || as == "double";
        for (const std::string_view word : {"sat", "cc", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "f16", "f16x2"})
            if (has(word)) throw NotUnderstood{};
        const auto binary = [&](const char* sign) { return result(as, arg(1) + " " + sign + " " + arg(2)); };
        const auto call = [&](const std::string& function, std::size_t count) {
            std::string text = function + "(";
            for (std::size_t i = 1; i <= count; ++i) text += (i > 1 ? ", " : "") + arg(i);
            return result(as, text + ")");
        };
        if (is("mov")) return result(as, arg(1));
        if (is("add")) return binary("+");
        if (is("sub")) return binary("-");
        if (is("mul") && (is_float || has("lo"))) return binary("*");
        if (is("div") && !has("full")) return binary("/");
        if (is("rem")) return binary("%");
        if (is("and")) return binary("&");
        if (is("or")) return binary("|");
        if (is("xor")) return binary("^");
        if (is("not")) return result(as, "~" + arg(1));
        if (is("neg")) return result(as, "-" + arg(1));
        if ((is("mad") && has("lo")) || (is("mad") && is_float))
            return result(as, is_float ? "::fma(" + arg(1) + ", " + arg(2) + ", " + arg(3) + ")"
                                       : arg(1) + " * " + arg(2) + " + " + arg(3));
        if (is("fma")) return call(as == "float" ? "::fmaf" : "::fma", 3);
        if (is("min")) return result(as, "::cpu_device::ptx::least(" + arg(1) + ", " + arg(2) + ")");
        if (is("max")) return result(as, "::cpu_device::ptx::greatest(" + arg(1) + ", " + arg(2) + ")");
        if (is("abs")) return result(as, is_float ? "::fabs(" + arg(1) + ")" : "::std::abs(" + arg(1) + ")");
        if (as == "float" && has("approx")) {
            if (is("ex2")) return call("::exp2f", 1);
            if (is("lg2")) return call("::log2f", 1);
            if (is("sin")) return call("::__sinf", 1);
            if (is("cos")) return call("::__cosf", 1);
            if (is("tanh")) return call("::tanhf", 1);
            if (is("sqrt")) return call("::sqrtf", 1);
            if (is("rsqrt")) return call("::rsqrtf", 1);
            if (is("rcp")) return result(as, "1.0f / " + arg(1));
        }
        if (is("sqrt") && has("rn")) return call(as == "float" ? "::sqrtf" : "::sqrt", 1);
        if (is("rcp") && has("rn")) return result(as, as + "(1) / " + arg(1));
        if (as == "unsigned int") {
            if (is("popc")) return result(as, "::__popc(" + arg(1) + ")");
            if (is("bfind") && words_.size() == 2)  // the place of the highest bit that is 1
                return result(as, "31u - ::__clz(static_cast<int>(" + arg(1) + "))");
            if (is("clz")) return result(as, "::__clz(static_cast<int>(" + arg(1) + "))");
            if (is("brev")) return call("::__brev", 1);
            if (is("prmt") && words_.size() == 2) return call("::__byte_perm", 3);
            if (is("bfe")) return call("::cpu_device::ptx::bits_at", 3);
            if (is("bfi")) return call("::cpu_device::ptx::with_bits_at", 4);
            if (is("lop3")) return call("::cpu_device::ptx::logic_of_three", 4);
            if (is("shf") && has("wrap")) {
                return call(has("l") ? "::__funnelshift_l" : "::__funnelshift_r", 3);
            }
        }
        if (is("shl") || is("shr")) {
            return result(as, "::cpu_device::ptx::" + std::string(is("shl") ? "shifted_left" : "shifted_right") + "(" +
                                  arg(1) + ", " + argument(2, "unsigned int") + ")");
        }
        throw NotUnderstood{};
    }

    std::string statement() {
        if (is("ld") || is("ldu")) return access(true);
        if (is("st")) return access(false);
        if (is("prefetch") || is("prefetchu") || is("discard") || is("applypriority")) return "";
        if (is("cp") && has("async")) return copy_async();
        if (is("ldmatrix")) return load_matrices();
        if (is("mma")) return multiply_matrices();
        if (is("trap")) return "::__trap();";
        if (is("brkpt")) return "::__brkpt();";
        if (is("nanosleep")) return "::__nanosleep(" + argument(0, "unsigned int") + ");";
        if (is("activemask")) return result("unsigned int", "::__activemask()");
        if (is("membar")) {
            return has("cta")   ? "::__threadfence_block();"
                   : has("sys") ? "::__threadfence_system();"
                                : "::__threadfence();";
        }
        if (is("fence") && (has("acq_rel") || has("sc"))) {
            if (has("cluster")) throw NotUnderstood{};
            return has("cta")   ? "::__threadfence_block();"
                   : has("sys") ? "::__threadfence_system();"
                                : "::__threadfence();";
        }
        if ((is("bar") || is("barrier")) && has("sync")) {
            if (has("warp")) return "::__syncwarp(" + argument(0, "unsigned int") + ");";
            // Barriers of a part of the block have a number of threads behind theirs.
            if (arguments_.size() != 1 || arguments_[0] != "0") throw NotUnderstood{};
            return "::__syncthreads();";
        }
        if (is("cvta")) {
            const bool is_shared = has("shared") || has("shared::cta");
            if (!is_shared && !has("global")) throw NotUnderstood{};
            const std::string from = argument(1, "unsigned long long");
            if (!is_shared) return result("unsigned long long", from);
            return has("to")
                       ? result("unsigned long long", "::__cvta_generic_to_shared((const void*)" + from + ")")
                       : result("unsigned long long", "(unsigned long long)::__cvta_shared_to_generic(" + from + ")");
        }
        if (is("cvt") && words_.size() == 3) {  // of integers, such as cvt.u32.u64
            const std::string from = type(0), to = type(1);
            if (from == "float" || from == "double" || to == "float" || to == "double") throw NotUnderstood{};
            return result(to, "static_cast<" + to + ">(" + argument(1, from) + ")");
        }
        if (is("mul") && has("wide")) {
            const std::string from = type();
            const std::string to = from == "int" ? "long long" : from == "unsigned int" ? "unsigned long long" : "";
            if (to.empty()) throw NotUnderstood{};
            return result(to, "static_cast<" + to + ">(" + argument(1, from) + ") * " + argument(2, from));
        }
        if (is("mul") && has("hi")) {
            const std::string from = type();
            if (from != "int" && from != "unsigned int") throw NotUnderstood{};
            return result(from, std::string(from == "int" ? "::__mulhi(" : "::__umulhi(") + argument(1, from) + ", " +
                                    argument(2, from) + ")");
        }
        if (is("selp")) {
            const std::string as = type();
            return result(as, argument(3, "bool") + " ? " + argument(1, as) + " : " + argument(2, as));
        }
        if (is("setp") && words_.size() == 3) {
            static const std::map<std::string, std::string> comparisons = {{"eq", "=="}, {"ne", "!="}, {"lt", "<"},
                                                                           {"le", "<="}, {"gt", ">"},  {"ge", ">="}};
            const auto found = comparisons.find(words_[1]);
            if (found == comparisons.end()) throw NotUnderstood{};
            return result("bool", argument(1, type()) + " " + found->second + " " + argument(2, type()));
        }
        return arithmetic();
    }

    const std::vector<std::string>& operands_;
    std::map<std::string, std::string> registers_;  ///< with their types
    std::string statements_;
    std::string name_;  ///< of the instruction at hand
    Words words_;       ///< its parts
    Words arguments_;
};

}  // namespace

PtxResult translate_ptx(std::string_view code, const std::vector<std::string>& operands) {
    std::string text = without_comments(code);
    // One pair of braces around everything is a scope for registers.
    text = trimmed(text);
    if (!text.empty() && text.front() == '{' && text.back() == '}') text = text.substr(1, text.size() - 2);
    Translator translator(operands);
    for (const std::string& instruction : split(text, ';')) {
        if (instruction.empty()) continue;
        try {
            translator.translate(instruction);
        } catch (const NotUnderstood&) {
            std::string name = instruction;
            if (name.front() == '@') name = trimmed(name.substr(std::min(name.find_first_of(" \t"), name.size())));
            return {{}, name.substr(0, name.find_first_of(" \t\n"))};
        }
    }
    return {"do { " + translator.statements() + "} while (0)", {}};
}

}  // namespace cpu_device::rewriter

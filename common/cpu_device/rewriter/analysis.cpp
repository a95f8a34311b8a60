#include "analysis.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "brackets.h"
#include "lexer.h"
#include "rewriter.h"

namespace cpu_device::rewriter {
namespace {

using Tokens = std::vector<Token>;
constexpr std::size_t none = static_cast<std::size_t>(-1);

template <std::size_t n>
bool one_of(std::string_view text, const std::array<std::string_view, n>& words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

/// Words after which an expression begins: never the name of a kernel.
constexpr std::array<std::string_view, 17> expression_keywords{
    "return", "else",     "do",     "case", "default", "goto", "throw",  "co_return", "co_await",
    "new",    "co_yield", "delete", "and",  "or",      "not",  "sizeof", "operator"};
constexpr std::array<std::string_view, 6> statement_keywords{"if", "while", "for", "switch", "constexpr", "catch"};
constexpr std::array<std::string_view, 17> builtin_types{
    "void",     "bool",    "char",    "short",    "int",      "long",     "float",    "double", "signed",
    "unsigned", "wchar_t", "char8_t", "char16_t", "char32_t", "__int128", "_Float16", "auto"};
constexpr std::array<std::string_view, 9> dropped_specifiers{
    "__shared__", "static", "extern", "inline", "__device__", "thread_local", "register", "__restrict__", "constexpr"};
constexpr std::array<std::string_view, 6> cv_qualifiers{"const",     "volatile",     "__const",
                                                        "__const__", "__volatile__", "__volatile"};
constexpr std::array<std::string_view, 7> attribute_words{
    "alignas", "__align__", "__attribute__", "__attribute", "__declspec", "__builtin_align__", "_Alignas"};
constexpr std::array<std::string_view, 4> class_keys{"struct", "class", "union", "enum"};
constexpr std::array<std::string_view, 3> device_variable_qualifiers{"__device__", "__constant__", "__managed__"};
/// Words of a declaration that is no definition of an ordinary variable with an address of its own.
constexpr std::array<std::string_view, 22> not_a_device_variable{
    "template",  "using",        "typedef",       "friend",           "extern",     "constexpr",
    "consteval", "thread_local", "__thread",      "operator",         "namespace",  "concept",
    "requires",  "asm",          "static_assert", "__host__",         "__shared__", "__global__",
    "explicit",  "virtual",      "this",          "__launch_bounds__"};
constexpr std::array<std::string_view, 8> storage_words{"static",       "inline",     "__inline__",    "constinit",
                                                        "__restrict__", "__restrict", "__extension__", "typename"};
/// Words in a parameter's declaration that neither name it nor are its type.
constexpr std::array<std::string_view, 6> parameter_words{"__restrict__", "__restrict",        "restrict",
                                                          "typename",     "__grid_constant__", "register"};

// ---- what the file's macros mean -------------------------------------------------------------------------

/// A macro's parameters while its body is being rewritten.
struct MacroDefinition {
    std::string_view name;
    std::vector<std::string_view> parameters;
    std::string_view rest;  ///< name of the parameter that takes all remaining arguments; may be empty
    Tokens body;

    bool has_parameter(std::string_view word) const {
        return std::find(parameters.begin(), parameters.end(), word) != parameters.end();
    }
};

/// What the macros that a file defines have to do with CUDA syntax.
struct FileMacros {
    std::unordered_set<std::string_view> names;
    std::unordered_map<std::string_view, Tokens> shared_aliases;  ///< `#define SHARED __shared__`
    std::unordered_set<std::string_view> launch_configurations;   ///< `#define SHAPE(g, b) <<<g, b>>>`
    std::unordered_set<std::string_view> global_aliases;          ///< `#define KERNEL extern "C" __global__ void`
    std::unordered_set<std::string_view> behind_template;         ///< `template <class T> DEFINE_KERNEL(name, T)`
};

struct Sources {
    std::string_view text;
    const std::string& file_name;
    FileMacros macros;
    const ProgramFacts& program;
    const std::vector<const MacroGroup*>& included_groups;  ///< of the files that this one includes
    const std::vector<MacroGroup>& own_groups;
    bool differs_by_side = false;  ///< something in the file may differ between host and device code

    [[noreturn]] void fail(int line, const std::string& message) const { throw Error(message, file_name, line); }
};

std::string as_string_literal(std::string_view text) {
    std::string result = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        if (c == '\n') {
            result += "\\n";
        } else {
            result += c;
        }
    }
    return result + '"';
}

// ---- inline PTX ------------------------------------------------------------------------------------------

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

/// The feature that a piece of inline assembly uses, in words; empty when it is not PTX.
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
            if (starts("cp.async")) return "cp.async (asynchronous copy)";
            if (starts("mma.") || starts("wmma.") || starts("ldmatrix.")) return "mma (warp matrix multiply)";
        }
        at = end;
    }
    return ptx ? first : std::string();
}

/// Functions of the runtime that return a status, without "cuda" ahead of them, sorted. A test compares the list with
/// the headers. (A name that a header of the program defines as a macro must not be marked, so the form of a name is
/// not enough: `cudaCheck(call);`.)
constexpr std::string_view status_functions[] = {"ArrayGetInfo",
                                                 "ChooseDevice",
                                                 "CreateSurfaceObject",
                                                 "CreateTextureObject",
                                                 "DestroySurfaceObject",
                                                 "DestroyTextureObject",
                                                 "DeviceCanAccessPeer",
                                                 "DeviceDisablePeerAccess",
                                                 "DeviceEnablePeerAccess",
                                                 "DeviceGetAttribute",
                                                 "DeviceGetByPCIBusId",
                                                 "DeviceGetCacheConfig",
                                                 "DeviceGetDefaultMemPool",
                                                 "DeviceGetLimit",
                                                 "DeviceGetMemPool",
                                                 "DeviceGetPCIBusId",
                                                 "DeviceGetSharedMemConfig",
                                                 "DeviceGetStreamPriorityRange",
                                                 "DeviceGetTexture1DLinearMaxWidth",
                                                 "DeviceReset",
                                                 "DeviceSetCacheConfig",
                                                 "DeviceSetLimit",
                                                 "DeviceSetSharedMemConfig",
                                                 "DeviceSynchronize",
                                                 "DriverGetVersion",
                                                 "EventCreate",
                                                 "EventCreateWithFlags",
                                                 "EventDestroy",
                                                 "EventElapsedTime",
                                                 "EventQuery",
                                                 "EventRecord",
                                                 "EventRecordWithFlags",
                                                 "EventSynchronize",
                                                 "Free",
                                                 "FreeArray",
                                                 "FreeAsync",
                                                 "FreeHost",
                                                 "FuncGetAttributes",
                                                 "FuncSetAttribute",
                                                 "FuncSetCacheConfig",
                                                 "FuncSetSharedMemConfig",
                                                 "GetChannelDesc",
                                                 "GetDevice",
                                                 "GetDeviceCount",
                                                 "GetDeviceFlags",
                                                 "GetDeviceProperties",
                                                 "GetSurfaceObjectResourceDesc",
                                                 "GetSymbolAddress",
                                                 "GetSymbolSize",
                                                 "GetTextureObjectResourceDesc",
                                                 "GetTextureObjectTextureDesc",
                                                 "GraphCreate",
                                                 "GraphDestroy",
                                                 "GraphExecDestroy",
                                                 "GraphInstantiate",
                                                 "GraphLaunch",
                                                 "HostAlloc",
                                                 "HostGetDevicePointer",
                                                 "HostGetFlags",
                                                 "HostRegister",
                                                 "HostUnregister",
                                                 "InitDevice",
                                                 "LaunchCooperativeKernel",
                                                 "LaunchHostFunc",
                                                 "LaunchKernel",
                                                 "LaunchKernelEx",
                                                 "LaunchKernelExC",
                                                 "Malloc",
                                                 "Malloc3D",
                                                 "Malloc3DArray",
                                                 "MallocArray",
                                                 "MallocAsync",
                                                 "MallocFromPoolAsync",
                                                 "MallocHost",
                                                 "MallocManaged",
                                                 "MallocPitch",
                                                 "MemAdvise",
                                                 "MemGetInfo",
                                                 "MemPoolSetAttribute",
                                                 "MemPoolTrimTo",
                                                 "MemPrefetchAsync",
                                                 "Memcpy",
                                                 "Memcpy2D",
                                                 "Memcpy2DArrayToArray",
                                                 "Memcpy2DAsync",
                                                 "Memcpy2DFromArray",
                                                 "Memcpy2DFromArrayAsync",
                                                 "Memcpy2DToArray",
                                                 "Memcpy2DToArrayAsync",
                                                 "Memcpy3D",
                                                 "Memcpy3DAsync",
                                                 "MemcpyAsync",
                                                 "MemcpyFromArray",
                                                 "MemcpyFromArrayAsync",
                                                 "MemcpyFromSymbol",
                                                 "MemcpyFromSymbolAsync",
                                                 "MemcpyPeer",
                                                 "MemcpyPeerAsync",
                                                 "MemcpyToArray",
                                                 "MemcpyToArrayAsync",
                                                 "MemcpyToSymbol",
                                                 "MemcpyToSymbolAsync",
                                                 "Memset",
                                                 "Memset2D",
                                                 "Memset2DAsync",
                                                 "Memset3D",
                                                 "Memset3DAsync",
                                                 "MemsetAsync",
                                                 "OccupancyAvailableDynamicSMemPerBlock",
                                                 "OccupancyMaxActiveBlocksPerMultiprocessor",
                                                 "OccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
                                                 "OccupancyMaxPotentialBlockSize",
                                                 "OccupancyMaxPotentialBlockSizeVariableSMem",
                                                 "OccupancyMaxPotentialBlockSizeVariableSMemWithFlags",
                                                 "OccupancyMaxPotentialBlockSizeWithFlags",
                                                 "PointerGetAttributes",
                                                 "RuntimeGetVersion",
                                                 "SetDevice",
                                                 "SetDeviceFlags",
                                                 "StreamAddCallback",
                                                 "StreamAttachMemAsync",
                                                 "StreamBeginCapture",
                                                 "StreamCreate",
                                                 "StreamCreateWithFlags",
                                                 "StreamCreateWithPriority",
                                                 "StreamDestroy",
                                                 "StreamEndCapture",
                                                 "StreamGetFlags",
                                                 "StreamGetId",
                                                 "StreamGetPriority",
                                                 "StreamIsCapturing",
                                                 "StreamQuery",
                                                 "StreamSynchronize",
                                                 "StreamWaitEvent",
                                                 "ThreadExit",
                                                 "ThreadSynchronize"};

// ---- the pass over a token sequence ----------------------------------------------------------------------

/// Collects the edits for the tokens of a file or, with `macro` given, of one macro's body.
class Pass {
public:
    Pass(const Sources& sources, const Tokens& tokens, const std::vector<Directive>& directives,
         const MacroDefinition* macro, Analysis& analysis)
        : sources_(sources),
          tokens_(tokens),
          directives_(directives),
          macro_(macro),
          analysis_(analysis),
          edits_(analysis.edits) {}

    void run() {
        match_brackets();
        match_angles();
        std::size_t directive = 0;
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            for (; directive < directives_.size() && directives_[directive].position <= i; ++directive) {
                choose_side(directive);
                follow_condition(directives_[directive]);
            }
            i = visit(i);
        }
        for (; directive < directives_.size(); ++directive) choose_side(directive);
    }

private:
    enum class Scope { name_space, type, code };

    /// A bracket that is open while the pass goes over the tokens.
    struct Open {
        std::string_view bracket;
        Scope scope;               ///< of what is inside
        std::uint8_t sides;        ///< where the function around it may run; both where there is none
        bool begins_function;      ///< the body of a function that stands in no other that may run on the device
        bool is_lambda;            ///< the body of a lambda that does so
        bool is_plain_lambda;      ///< the body of a lambda without qualifiers
        std::size_t at;            ///< the bracket's own position
        std::size_t head;          ///< where the declaration or statement around the bracket began
        std::size_t shared_names;  ///< how many were visible outside
    };

    struct State {
        std::vector<Open> open;
        std::size_t head = 0;  ///< first token of the present declaration or statement
        std::vector<std::string_view> shared_names;
    };

    // ---- small helpers

    bool is(std::size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].text == text; }
    bool identifier_at(std::size_t i) const { return i < tokens_.size() && tokens_[i].is_identifier(); }
    [[noreturn]] void fail(std::size_t i, const std::string& message) const {
        sources_.fail(tokens_[std::min(i, tokens_.size() - 1)].line, message);
    }

    Scope scope() const {
        if (!state_.open.empty()) return state_.open.back().scope;
        return macro_ ? Scope::code : Scope::name_space;
    }
    /// Where the present code may run: it is seen there, and what is around it runs there.
    std::uint8_t sides() const { return state_.open.empty() ? std::uint8_t{both_sides} : state_.open.back().sides; }
    bool device_only() const { return sides() == device_side; }
    bool runs_nowhere(std::size_t i) const { return (tokens_[i].sides & sides()) == no_side; }
    bool on_device_only(std::size_t i) const { return (tokens_[i].sides & sides()) == device_side; }
    bool in_parentheses() const { return !state_.open.empty() && state_.open.back().bracket != "{"; }

    /// Source lines as the program sees them: a macro's code is on the line of its use.
    std::string site(std::size_t i) const {
        return "{__FILE__, " + (macro_ ? std::string("__LINE__") : std::to_string(tokens_[i].line)) + "}";
    }

    /// Tokens [begin, end) on one line, without comments.
    std::string text(std::size_t begin, std::size_t end) const {
        std::string result;
        for (std::size_t i = begin; i < end; ++i) {
            if (i > begin && tokens_[i - 1].end() < tokens_[i].begin) result += ' ';
            result += tokens_[i].text;
        }
        return result;
    }

    /// A string literal that spells tokens [begin, end); a macro's parameters appear as the caller wrote them.
    std::string spelled(std::size_t begin, std::size_t end) const {
        if (!macro_) return as_string_literal(text(begin, end));
        std::string result, plain;
        for (std::size_t i = begin; i < end; ++i) {
            if (i > begin && !is(i, "##") && !is(i - 1, "##") && tokens_[i - 1].end() < tokens_[i].begin) plain += ' ';
            if (is(i, "##")) continue;
            if (macro_->has_parameter(tokens_[i].text)) {
                if (!plain.empty()) result += as_string_literal(plain) + ' ';
                plain.clear();
                result += '#' + std::string(tokens_[i].text) + ' ';
            } else {
                plain += tokens_[i].text;
            }
        }
        if (!plain.empty() || result.empty()) return result + as_string_literal(plain);
        result.pop_back();
        return result;
    }

    /// The line ends between two offsets, with the backslash of a continued line.
    std::string line_ends(std::size_t begin, std::size_t end) const {
        std::string result;
        for (std::size_t at = begin; at < end; ++at) {
            if (sources_.text[at] != '\n') continue;
            std::size_t before = at;
            while (before > begin && (sources_.text[before - 1] == '\r' || sources_.text[before - 1] == ' ')) --before;
            result += before > begin && sources_.text[before - 1] == '\\' ? "\\\n" : "\n";
        }
        return result;
    }

    void replace(std::size_t begin, std::size_t end, std::string text) {
        edits_.push_back({begin, end, std::move(text) + line_ends(begin, end)});
    }

    void insert(std::size_t at, std::string text) { edits_.push_back({at, at, std::move(text)}); }
    /// In front of whatever else is inserted there, so far.
    void insert_first(std::size_t at, std::string text) { edits_.push_back({at, at, std::move(text), true}); }

    /// The first preprocessor directive between two tokens; null when there is none.
    const Directive* directive_between(std::size_t first, std::size_t last) const {
        const auto found =
            std::upper_bound(directives_.begin(), directives_.end(), first,
                             [](std::size_t i, const Directive& directive) { return i < directive.position; });
        return found != directives_.end() && found->position <= last ? &*found : nullptr;
    }

    /// Fails when a preprocessor directive stands between two tokens whose text is about to move.
    void require_no_directive(std::size_t first, std::size_t last, const char* where) const {
        if (const Directive* found = directive_between(first, last))
            sources_.fail(found->line, std::string("a preprocessor directive inside ") + where + " cannot be read");
    }

    static bool is_conditional(const Directive& directive) {
        const std::string_view name = directive.name;
        return name == "if" || name == "ifdef" || name == "ifndef" || is_alternative(directive) || name == "endif";
    }
    static bool is_alternative(const Directive& directive) {
        return directive.name == "else" || directive.name.substr(0, 4) == "elif";
    }

    // ---- brackets and scopes

    /// Fills `match_` for ( ) [ ] { }. The branches of an #if begin with the same open brackets.
    void match_brackets() {
        match_.assign(tokens_.size(), none);
        std::vector<std::size_t> open;
        std::vector<std::vector<std::size_t>> saved;
        std::size_t directive = 0;
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            for (; directive < directives_.size() && directives_[directive].position <= i; ++directive) {
                const Directive& next = directives_[directive];
                if (!is_conditional(next)) continue;
                if (next.name == "endif") {
                    if (!saved.empty()) saved.pop_back();
                } else if (is_alternative(next)) {
                    if (!saved.empty()) open = saved.back();
                } else {
                    saved.push_back(open);
                }
            }
            const std::string_view text = tokens_[i].text;
            if (text.size() != 1 || tokens_[i].kind != Token::Kind::punctuator) continue;
            const char c = text[0];
            if (c == '(' || c == '[' || c == '{') {
                open.push_back(i);
            } else if (c == ')' || c == ']' || c == '}') {
                const char opener = c == ')' ? '(' : c == ']' ? '[' : '{';
                if (c == '}')  // a brace closes what was left open inside it
                    while (!open.empty() && tokens_[open.back()].text[0] != '{') open.pop_back();
                if (open.empty() || tokens_[open.back()].text[0] != opener) continue;
                match_[i] = open.back();
                if (match_[open.back()] == none) match_[open.back()] = i;
                open.pop_back();
            }
        }
    }

    void follow_condition(const Directive& directive) {
        if (!is_conditional(directive)) return;
        if (directive.name == "endif") {
            if (!saved_states_.empty()) saved_states_.pop_back();
        } else if (is_alternative(directive)) {
            if (saved_states_.empty()) return;
            const auto& [position, state] = saved_states_.back();
            state_ = state;
            if (state.head == position)
                state_.head = directive.position;  // each branch begins a declaration of its own
        } else {
            saved_states_.emplace_back(directive.position, state_);
        }
    }

    void open_bracket(std::size_t i) {
        Open open{tokens_[i].text, scope(), sides(), false, false, false, i, state_.head, state_.shared_names.size()};
        if (is(i, "{")) {
            classify_brace(i, open);
            state_.head = i + 1;
        }
        state_.open.push_back(open);
    }

    void close_bracket(std::size_t i) {
        const std::string_view opener = is(i, ")") ? "(" : is(i, "]") ? "[" : "{";
        std::size_t depth = state_.open.size();
        while (depth > 0 && state_.open[depth - 1].bracket != opener) {
            if (opener != "{") return;
            --depth;
        }
        if (depth == 0) return;
        const Open closed = state_.open[depth - 1];
        state_.open.resize(depth - 1);
        state_.shared_names.resize(closed.shared_names);
        if (closed.begins_function) finish_function(closed, i);
        const bool initializer_outside = !closed.begins_function && closed.scope == Scope::code;
        if (initializer_outside && opener == "{" && scope() != Scope::code) refuse_two_valued_within(closed.at, i);
        if (opener != "{") return;
        static constexpr std::array<std::string_view, 8> going_on{",", ")", "]", ".", "(", "{", ";", "}"};
        const bool initializer = i + 1 < tokens_.size() && one_of(tokens_[i + 1].text, going_on);
        const bool goes_on = initializer && !is(i + 1, "}") && (!is(i + 1, "{") || scope() != Scope::code);
        state_.head = goes_on || in_parentheses() ? closed.head : i + 1;
    }

    /// What the head of a declaration says about the braces behind it.
    struct Head {
        bool name_space = false, linkage = false, type = false, function = false, assigned = false;
        std::uint8_t sides = no_side;  ///< that qualifiers name
        bool constant = false;         ///< constexpr or consteval
        std::size_t name = none;       ///< of a function: in front of its parameters
    };

    /// True for `CASES(sin) CASES(cos)`: macros that are used without a semicolon, in front of a declaration.
    bool holds_only_invocations(std::size_t begin, std::size_t end) const {
        while (begin < end) {
            if (!tokens_[begin].is_identifier() || !is(begin + 1, "(") || match_[begin + 1] == none) return false;
            begin = match_[begin + 1] + 1;
        }
        return begin == end;
    }

    Head read_head(std::size_t begin, std::size_t end) const {
        static constexpr std::array<std::string_view, 5> no_parameters{"decltype", "noexcept", "explicit",
                                                                       "__launch_bounds__", "requires"};
        Head head;
        head.linkage = end - begin >= 2 && is(end - 2, "extern") && tokens_[end - 1].kind == Token::Kind::string;
        for (std::size_t i = begin; i < end; ++i) {
            const Token& token = tokens_[i];
            if (token.is("(") || token.is("[")) {
                const bool attribute = i > begin && (one_of(tokens_[i - 1].text, no_parameters) ||
                                                     one_of(tokens_[i - 1].text, attribute_words));
                if (token.is("(") && !attribute) {
                    if (!head.function && i > begin && tokens_[i - 1].is_identifier()) head.name = i - 1;
                    head.function = true;
                }
                if (match_[i] != none && match_[i] < end) i = match_[i];
            } else if (token.is("{")) {
                if (match_[i] != none && match_[i] < end) i = match_[i];
            } else if (token.is("<") && i > begin && tokens_[i - 1].is_identifier() && !is(i - 1, "operator")) {
                const std::size_t close = closing_angle(i, end);
                if (close != none) i = close;
            } else if (token.is("namespace")) {
                head.name_space = true;
            } else if (one_of(token.text, class_keys)) {
                if (head.function && holds_only_invocations(begin, i)) head = {};
                head.type = true;
            } else if (token.is("=") && !is(i - 1, "operator")) {
                head.assigned = true;
            } else if (token.is_identifier()) {
                head.sides |= sides_of(token.text, sources_.program);
                head.constant = head.constant || token.is("constexpr") || token.is("consteval");
            }
        }
        return head;
    }

    void classify_brace(std::size_t i, Open& open) const {
        open.scope = Scope::code;
        if (in_parentheses() || scope() == Scope::code) {
            if (!in_parentheses() && state_.head < i) {
                static constexpr std::array<std::string_view, 4> first{"struct", "class", "union", "enum"};
                if (one_of(tokens_[state_.head].text, first)) {
                    const Head head = read_head(state_.head, i);
                    if (!head.function && !head.assigned) open.scope = Scope::type;
                }
            }
            classify_lambda(i, open);
            if (open.scope == Scope::type && open.sides == host_side) open.sides = both_sides;
            return;
        }
        const Head head = read_head(state_.head, i);
        if (head.linkage || head.name_space) {
            open.scope = Scope::name_space;
        } else if (head.type && !head.function && !head.assigned) {
            open.scope = Scope::type;
        } else if (head.function && !head.assigned) {
            if (!in_device_function()) {
                open.sides = sides_of_function(head);
                // `A() : a{1}, b{2} {}`: only the last braces are the function's.
                const bool of_member = match_[i] != none && (is(match_[i] + 1, ",") || is(match_[i] + 1, "{"));
                open.begins_function = !of_member;
            } else if (head.sides == device_side) {
                open.sides = device_side;
            }
        } else if (!in_device_function()) {
            if (head.sides == device_side) open.sides = device_side;
            classify_lambda(i, open);
        }
    }

    void classify_lambda(std::size_t i, Open& open) const {
        bool is_lambda = false;
        const std::uint8_t lambda = lambda_sides(i, &is_lambda);
        open.is_plain_lambda = is_lambda && lambda == no_side;
        if (lambda == no_side) return;
        if (in_device_function()) {
            if (lambda == device_side) open.sides = device_side;
            return;
        }
        open.sides = lambda;
        open.begins_function = open.is_lambda = true;
    }

    /// Whether a function around the present token may run on the device.
    bool in_device_function() const {
        if (macro_) return true;
        return std::any_of(state_.open.begin(), state_.open.end(),
                           [](const Open& open) { return open.begins_function && (open.sides & device_side) != 0; });
    }

    /// Where a function may run. One without qualifiers may have got them from a declaration before.
    std::uint8_t sides_of_function(const Head& head) const {
        if (head.sides != no_side) return head.sides;
        if (head.constant) return both_sides;
        if (head.name == none) return host_side;
        return sources_.program.functions.count(tokens_[head.name].text) != 0 ? both_sides : host_side;
    }

    /// The sides that the qualifiers of the `[...] __device__ (...) {` name whose body opens at `i`; no side when there
    /// are none.
    std::uint8_t lambda_sides(std::size_t i, bool* is_lambda = nullptr) const {
        if (is_lambda != nullptr) *is_lambda = false;
        std::size_t at = i;
        for (int steps = 0; at > 0 && steps < 16 && !is(at - 1, ")") && !is(at - 1, "]"); ++steps) {
            --at;
            if (!identifier_at(at) && !is(at, "->") && !is(at, "::") && !is(at, "*") && !is(at, "&")) return no_side;
        }
        if (at == 0) return no_side;
        std::uint8_t sides = no_side;
        if (is(at - 1, ")")) {
            if (match_[at - 1] == none) return no_side;
            for (at = match_[at - 1]; at > 0 && identifier_at(at - 1); --at)
                sides |= sides_of(tokens_[at - 1].text, sources_.program);
        }
        if (at == 0 || !is(at - 1, "]") || match_[at - 1] == none) return no_side;
        const std::size_t bracket = match_[at - 1];  // of captures, and not of an index or an array's bound
        const bool index =
            bracket > 0 && (is(bracket - 1, ")") || is(bracket - 1, "]") ||
                            (identifier_at(bracket - 1) && !one_of(tokens_[bracket - 1].text, expression_keywords)));
        if (index) return no_side;
        if (is_lambda != nullptr) *is_lambda = true;
        return sides;
    }

    // ---- __CUDA_ARCH__

    bool differs_by_side(const Token& token) const { return sources_.program.two_valued.count(token.text) != 0; }

    /// The first line in tokens [first, last] or in a directive between them where something differs between host and
    /// device; 0 where nothing does. `only_arch` becomes false where it is more than `__CUDA_ARCH__` itself.
    int line_that_differs(std::size_t first, std::size_t last, bool& only_arch) const {
        int line = 0;
        const auto look_at = [&](const Token& token) {
            if (!differs_by_side(token)) return;
            if (line == 0) line = token.line;
            if (!token.is("__CUDA_ARCH__")) only_arch = false;
        };
        if (!sources_.differs_by_side) return 0;
        for (std::size_t i = first; i <= last; ++i) look_at(tokens_[i]);
        const auto from =
            std::upper_bound(directives_.begin(), directives_.end(), first,
                             [](std::size_t i, const Directive& directive) { return i < directive.position; });
        for (auto directive = from; directive != directives_.end() && directive->position <= last; ++directive)
            for (const Token& token : directive->tokens) look_at(token);
        return line;
    }

    /// A `#line` for the text from `offset` on, which stands on line `line`, at its column.
    std::string line_directive(std::size_t offset, int line) const {
        const std::size_t start = offset == 0 ? std::string_view::npos : sources_.text.rfind('\n', offset - 1);
        const std::size_t column = offset - (start == std::string_view::npos ? 0 : start + 1);
        return "#line " + std::to_string(line) + ' ' + as_string_literal(sources_.file_name) + '\n' +
               std::string(std::min<std::size_t>(column, 200), ' ');
    }

    DeviceSection section_at(std::size_t position, bool only_arch) const {
        std::vector<const MacroGroup*> groups;
        if (!only_arch) {
            groups = sources_.included_groups;
            for (const MacroGroup& group : sources_.own_groups)
                if (group.position <= position) groups.push_back(&group);
        }
        return device_section(groups);
    }

    /// Gives a function what differs in device code: to one for the device only `__CUDA_ARCH__`, to one for both sides
    /// two versions of its body, of which the running one is chosen. `close` is its last brace.
    void finish_function(const Open& function, std::size_t close) {
        two_valued_at_ = none;
        if (macro_ || (function.sides & device_side) == 0) return;
        const bool whole = function.sides == device_side && !function.is_lambda;
        bool only_arch = true;
        if (line_that_differs(whole ? function.head : function.at, close, only_arch) == 0) return;
        for (std::size_t i = function.head; i < function.at && !function.is_lambda; ++i) {
            const Directive* directive = directive_between(i, i + 1);
            if (directive != nullptr && is_conditional(*directive) &&
                std::any_of(directive->tokens.begin(), directive->tokens.end(),
                            [&](const Token& token) { return differs_by_side(token); }))
                refuse_choice(directive->line);
        }
        const DeviceSection section = section_at(function.head, only_arch);
        const std::size_t begin = whole ? tokens_[function.head].begin : tokens_[function.at].end();
        const int begin_line = tokens_[whole ? function.head : function.at].line;
        const std::size_t end = whole ? tokens_[close].end() : tokens_[close].begin;
        const int end_line = tokens_[close].line;
        const std::string enter = '\n' + section.begin + line_directive(begin, begin_line);
        const std::string leave = '\n' + section.end;
        if (function.sides == device_side) {
            insert_first(begin, enter);
            insert(end, leave + line_directive(end, end_line));
            return;
        }
        for (std::size_t i = function.at; i < close; ++i)
            if (is(i, "goto"))
                sources_.fail(tokens_[i].line,
                              "not supported on the CPU device: goto in a __host__ __device__ function that depends on "
                              "__CUDA_ARCH__ (the function is compiled twice, so its labels would be there twice)");
        analysis_.two_versions.push_back({begin, end, " if (::cpu_device::runs_device_version()) {" + enter,
                                          leave + "} else {\n" + line_directive(begin, begin_line), "}"});
    }

    [[noreturn]] void refuse_choice(int line) const {
        sources_.fail(
            line,
            "not supported on the CPU device: this #if on __CUDA_ARCH__ chooses between declarations that host "
            "code sees, too, and here host and device code are compiled together; put the #if inside the "
            "functions");
    }

    /// Whether [begin, end) declares nothing but functions and variables of the device. `any` becomes true if one of
    /// its declarations is of the device only.
    bool declares_for_device(std::size_t begin, std::size_t end, bool& any) const {
        bool all = true;
        for (std::size_t i = begin; i < end;) {
            std::uint8_t sides = no_side;
            std::size_t at = i;
            bool braces = false;
            for (; at < end && !is(at, ";"); ++at) {
                if (is(at, "{") || is(at, "(") || is(at, "[")) {
                    if (match_[at] == none || match_[at] >= end) return false;
                    braces = is(at, "{");
                    at = match_[at];
                    if (braces && !is(at + 1, ";") && !is(at + 1, ",")) break;
                    continue;
                }
                if (is(at, "}")) return false;
                sides |= one_of(tokens_[at].text, device_variable_qualifiers)
                             ? std::uint8_t{device_side}
                             : sides_of(tokens_[at].text, sources_.program);
            }
            if (sides == device_side) any = true;
            all = all && sides == device_side;
            i = at + 1;
        }
        return all;
    }

    /// At an `#if` outside of functions: where host and device compile different declarations, takes those of the
    /// device for the device, or refuses.
    void choose_side(std::size_t first) {
        const std::string_view name = directives_[first].name;
        if (macro_ || !sources_.differs_by_side || (name != "if" && name != "ifdef" && name != "ifndef")) return;
        if (scope() == Scope::code) return;
        const std::vector<std::size_t> branches = branches_of(directives_, first);
        if (directives_[branches.back()].name != "endif") return;
        if (!depends_on_side(directives_, branches, sources_.program)) return;
        bool device_first = false;   // the device has what the host has not
        bool device_is_pure = true;  // and all of it is of the device only
        bool drops_functions = false, host_has_others = false, certain = true;
        std::set<std::string_view> of_device, of_host;  // what looks like the name of a function
        for (std::size_t k = 0; k + 1 < branches.size(); ++k) {
            const Directive& branch = directives_[branches[k]];
            const std::size_t begin = branch.position, end = directives_[branches[k + 1]].position;
            const bool unsure = branch.may_take != branch.surely_take;
            const std::uint8_t sides = branch.sides == device_side ? branch.sides : branch.may_take;
            bool includes = false, defines = false;
            for (std::size_t d = branches[k] + 1; d < branches[k + 1]; ++d) {
                includes = includes || directives_[d].name == "include";
                defines = defines || directives_[d].name == "define" || directives_[d].name == "undef";
            }
            certain = certain && !unsure;
            if (sides == both_sides && !unsure) continue;
            bool any = false;
            const bool pure = declares_for_device(begin, end, any);
            if ((sides & device_side) != 0) {
                device_first = device_first || begin != end || includes;
                if (!pure || ((begin != end || includes) && defines)) device_is_pure = false;
            }
            if ((sides & host_side) != 0) {
                drops_functions = drops_functions || any;
                host_has_others = host_has_others || !pure || includes;
            }
            for (std::size_t i = begin; i + 1 < end; ++i)
                if (identifier_at(i) && is(i + 1, "("))
                    ((sides & host_side) != 0 ? of_host : of_device).insert(tokens_[i].text);
        }
        if (!device_first && !drops_functions) return;  // nothing, macros, or what only the host needs
        const int line = directives_[first].line;
        if (in_parentheses() || state_.head != directives_[first].position) refuse_choice(line);
        if (!device_is_pure || (drops_functions && host_has_others)) refuse_choice(line);
        if (host_has_others) {
            for (const std::string_view word : of_device)
                if (of_host.count(word) != 0) refuse_choice(line);  // two functions of one name
            if (!certain) refuse_choice(line);
            take_both(branches);
        } else {
            take_devices(branches);
        }
    }

    int line_behind(const Directive& directive) const {
        const std::string_view text = sources_.text.substr(directive.hash, directive.end - directive.hash);
        return directive.line + static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1;
    }

    std::string file_line(int line) const {
        return "#line " + std::to_string(line) + ' ' + as_string_literal(sources_.file_name);
    }

    /// Lets the conditions of a group see what they see in device code.
    void take_devices(const std::vector<std::size_t>& branches) {
        const Directive& first = directives_[branches.front()];
        const DeviceSection section = section_at(first.position, false);
        insert_first(first.hash, section.begin + file_line(first.line) + '\n');
        for (const std::size_t i : branches) {
            const Directive& directive = directives_[i];
            insert(directive.end, '\n' + section.end + file_line(line_behind(directive)));
        }
    }

    /// Compiles both the branch of the host and that of the device.
    void take_both(const std::vector<std::size_t>& branches) {
        for (const std::size_t i : branches) {
            const Directive& directive = directives_[i];
            if (directive.name == "endif") continue;
            const std::string taken = directive.surely_take != no_side ? "#if 1" : "#if 0";
            const bool first = i == branches.front();
            edits_.push_back({directive.hash, directive.end,
                              (first ? "" : "#endif\n") + taken + '\n' + file_line(line_behind(directive))});
        }
    }

    /// Notes a macro outside of functions that is one thing for the host and another for the device.
    void note_two_valued(std::size_t i) {
        if (macro_ || !sources_.differs_by_side || scope() == Scope::code || two_valued_at_ != none ||
            tokens_[i].is("__CUDA_ARCH__"))
            return;
        if (!differs_by_side(tokens_[i]) || sources_.program.decorations.count(tokens_[i].text) != 0) return;
        two_valued_at_ = i;
    }

    /// At the end of a declaration that is no function of the device: such a macro cannot have both values here.
    void refuse_two_valued(std::size_t end) {
        if (two_valued_at_ == none) return;
        const std::size_t at = std::exchange(two_valued_at_, none);
        if (scope() == Scope::code || at < state_.head) return;
        const Head head = read_head(state_.head, end);
        const bool function = head.function && !head.assigned;
        if (function && (is(end, ";") || sides_of_function(head) != both_sides)) return;
        refuse_two_valued_at(at);
    }

    /// The same for what stands in the braces of an initializer.
    void refuse_two_valued_within(std::size_t begin, std::size_t end) const {
        if (macro_ || !sources_.differs_by_side) return;
        for (std::size_t i = begin; i < end; ++i)
            if (differs_by_side(tokens_[i]) && sources_.program.decorations.count(tokens_[i].text) == 0)
                refuse_two_valued_at(i);
    }

    [[noreturn]] void refuse_two_valued_at(std::size_t at) const {
        sources_.fail(tokens_[at].line, "not supported on the CPU device: " + std::string(tokens_[at].text) +
                                            " depends on __CUDA_ARCH__, so this declaration is one thing in host code "
                                            "and another in device code; here both are compiled together");
    }

    // ---- angle brackets

    /// Fills `closing_angle_` for each `<` behind a name. Template arguments end inside the brackets where they begin,
    /// and in front of a `;`.
    void match_angles() {
        struct Level {
            std::size_t end;  ///< the closing bracket
            std::vector<std::size_t> open;
        };
        closing_angle_.assign(tokens_.size(), none);
        std::vector<Level> levels{{none, {}}};
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            if (tokens_[i].kind != Token::Kind::punctuator || tokens_[i].text.size() != 1) continue;
            const char c = tokens_[i].text[0];
            while (levels.back().end < i) levels.pop_back();
            std::vector<std::size_t>& open = levels.back().open;
            if (c == '<' && opens_angle(i)) {
                open.push_back(i);
            } else if (c == '>' && !open.empty()) {
                closing_angle_[open.back()] = i;
                open.pop_back();
            } else if ((c == '(' || c == '[' || c == '{') && match_[i] != none) {
                levels.push_back({match_[i], {}});
            } else if (c == '(' || c == '[' || c == '{' || c == ')' || c == ']' || c == '}' || c == ';') {
                open.clear();
            }
        }
    }

    /// The `>` that closes the template argument list opened at `open`, before `end`; `none` when there is none.
    std::size_t closing_angle(std::size_t open, std::size_t end) const {
        const std::size_t close = closing_angle_[open];
        return close < end ? close : none;
    }

    /// The `<` that opens the template argument list closed at `close`; `none` when there is none.
    std::size_t opening_angle(std::size_t close) const {
        int depth = 0;
        for (std::size_t i = close + 1; i-- > 0;) {
            const std::string_view text = tokens_[i].text;
            if (text == ")" || text == "]" || text == "}") {
                if (match_[i] == none) return none;
                i = match_[i];
            } else if (text == "(" || text == "[" || text == "{" || text == ";") {
                return none;
            } else if (text == ">") {
                ++depth;
            } else if (text == "<") {
                if (i > 0 && is(i - 1, "<")) {  // a shift
                    --i;
                    continue;
                }
                if (--depth == 0) return i > 0 && identifier_at(i - 1) ? i : none;
            }
        }
        return none;
    }

    /// Whether the `<` at `i` may open template arguments: it follows a name and is no part of `<<`.
    bool opens_angle(std::size_t i) const {
        return i > 0 && tokens_[i - 1].is_identifier() && !is(i + 1, "<") && !is(i - 1, "operator");
    }

    /// Whether the `>` at `i` may close template arguments: what follows continues an expression.
    bool may_close_angle(std::size_t i) const {
        if (i + 1 >= tokens_.size()) return true;
        return tokens_[i + 1].kind == Token::Kind::punctuator && !is(i + 1, "!") && !is(i + 1, "~");
    }

    /// Positions of the commas in (begin, end) that separate arguments: not those in brackets or template arguments.
    std::vector<std::size_t> separators(std::size_t begin, std::size_t end) const {
        std::vector<std::size_t> commas, angles;
        for (std::size_t i = begin; i < end; ++i) {
            const std::string_view text = tokens_[i].text;
            if (text == "(" || text == "[" || text == "{") {
                if (match_[i] != none && match_[i] < end) i = match_[i];
            } else if (text == ",") {
                commas.push_back(i);
            } else if (text == "<" && opens_angle(i)) {
                angles.push_back(i);
            } else if (text == ">" && !angles.empty() && (i + 1 == end || may_close_angle(i))) {
                while (!commas.empty() && commas.back() > angles.back()) commas.pop_back();
                angles.pop_back();
            }
        }
        return commas;
    }

    // ---- tokens in turn

    /// Handles token `i` and returns the last token that is done with.
    std::size_t visit(std::size_t i) {
        const Token& token = tokens_[i];
        if (token.kind == Token::Kind::punctuator) {
            if (token.text.size() != 1) return i;
            switch (token.text[0]) {
                case '[':
                    capture_shared_names(i);
                    open_bracket(i);
                    return i;
                case '(':
                    keep_type_of_template(i);
                    [[fallthrough]];
                case '{':
                    if (is(i, "{")) refuse_two_valued(i);
                    open_bracket(i);
                    return i;
                case ')':
                case ']':
                case '}':
                    close_bracket(i);
                    return i;
                case ';':
                    refuse_two_valued(i);
                    if (!in_parentheses()) state_.head = i + 1;
                    return i;
                case '<':
                    if (!runs_nowhere(i) && is(i + 1, "<") && is(i + 2, "<") && !(i > 0 && is(i - 1, "operator"))) {
                        rewrite_launch(i);
                        return i + 2;
                    }
                    return i;
                default:
                    return i;
            }
        }
        if (token.kind != Token::Kind::identifier || runs_nowhere(i)) return i;
        note_two_valued(i);
        mark_dropped_result(i);
        if (token.is("__shared__") || sources_.macros.shared_aliases.count(token.text) != 0) return rewrite_shared(i);
        if (token.is("__noinline__")) {
            rewrite_noinline(i);
        } else if (token.is("asm") || token.is("__asm__") || token.is("__asm")) {
            refuse_ptx(i);
        } else if (token.is("cudaLaunchKernel") || token.is("cudaLaunchCooperativeKernel")) {
            keep_type_of_kernel(i);
        } else if (token.is("reinterpret_cast")) {
            keep_type_of_template(i);
        } else if (token.is("texture")) {
            refuse_texture_reference(i);
        } else if (token.is("__cluster_dims__")) {
            fail(i, "__cluster_dims__: thread block clusters are not supported on the CPU device");
        } else if (is_global(i)) {
            note_kernel(i);
        } else if (macro_) {
            return i;
        } else if (one_of(token.text, device_variable_qualifiers)) {
            register_device_variables(i);
        } else if (sources_.macros.launch_configurations.count(token.text) != 0) {
            rewrite_macro_launch(i);
        } else if (is(i, "cout") || is(i, "cerr")) {
            if (scope() == Scope::code) note_call(i);
        } else if (is(i + 1, "(")) {
            if (scope() == Scope::code) {
                note_call(i);
            } else {
                note_function(i);
            }
        } else if (is(i + 1, "<") && scope() == Scope::code) {
            const std::size_t close = closing_angle(i + 1, tokens_.size());
            if (close != none && is(close + 1, "(")) note_call(i);
        }
        return i;
    }

    void rewrite_noinline(std::size_t i) {
        for (std::size_t depth = state_.open.size(); depth-- > 0 && state_.open[depth].bracket != "{";)
            if (state_.open[depth].bracket == "[") return;       // [[gnu::__noinline__]]
        if (i >= 2 && is(i - 1, "(") && is(i - 2, "(")) return;  // __attribute__((__noinline__))
        if (i >= 1 && in_parentheses() && is(i - 1, ",")) return;
        replace(tokens_[i].begin, tokens_[i].end(), "__attribute__((noinline))");
    }

    /// True if a statement begins at `i`, inside of a function or a macro's body, as far as can be told.
    bool begins_statement(std::size_t i) const {
        if (i == 0 || scope() != Scope::code || in_parentheses()) return false;
        if (is(i - 1, ";") || is(i - 1, "{") || is(i - 1, "}") || is(i - 1, "else") || is(i - 1, "do")) return true;
        if (!is(i - 1, ")") || match_[i - 1] == none || match_[i - 1] == 0) return false;
        const std::size_t before = match_[i - 1] - 1;
        return is(before, "if") || is(before, "for") || is(before, "while") || is(before, "constexpr");
    }

    /// `cudaFree(p);` drops what the call returns: the program cannot know that it failed. The comma passes the result
    /// on to the runtime; of a function that returns something else it makes nothing.
    void mark_dropped_result(std::size_t i) {
        const std::string_view name = tokens_[i].text;
        const bool is_call = is(i + 1, "(") && returns_status(name) && sources_.macros.names.count(name) == 0;
        if (!is_call || device_only() || !begins_statement(i)) return;
        const std::size_t close = match_[i + 1];
        if (close == none || !is(close + 1, ";")) return;
        insert(tokens_[i].begin,
               "::cpu_device::dropped(" + as_string_literal(std::string(name)) + ", " + site(i) + "), ");
    }

    /// Behind a cast to `void*` or `const void*` that begins at `i`, `(void*)` or `reinterpret_cast<void*>`; `none`
    /// when there is none.
    std::size_t void_cast_end(std::size_t i) const {
        const bool named = is(i, "reinterpret_cast") && is(i + 1, "<");
        if (!named && !is(i, "(")) return none;
        std::size_t at = i + (named ? 2 : 1);
        if (is(at, "const")) ++at;
        if (!is(at, "void")) return none;
        ++at;
        if (is(at, "const")) ++at;
        return is(at, "*") && is(at + 1, named ? ">" : ")") ? at + 2 : none;
    }

    bool launches_by_function(std::size_t i) const {
        return is(i, "cudaLaunchKernel") || is(i, "cudaLaunchCooperativeKernel");
    }

    /// Takes the cast out of `cudaLaunchKernel((void*)kernel, ...)` and its like: with the type of the kernel there is
    /// nothing to look up.
    void keep_type_of_kernel(std::size_t i) {
        const std::size_t end = is(i + 1, "(") ? void_cast_end(i + 2) : none;
        if (end != none) replace(tokens_[i + 2].begin, tokens_[end - 1].end(), "");
    }

    /// Makes the kernel in `(void*)kernel<T>` known, which no definition can do for a template.
    void keep_type_of_template(std::size_t i) {
        std::size_t begin = void_cast_end(i);
        if (begin == none || (i >= 2 && is(i - 1, "(") && launches_by_function(i - 2))) return;
        if (is(begin, "(")) ++begin;
        const std::size_t end = qualified_name_end(is(begin, "&") ? begin + 1 : begin, tokens_.size());
        if (end == none || !is(end - 1, ">")) return;
        if (!is(end, ",") && !is(end, ")") && !is(end, "}") && !is(end, ";")) return;
        insert(tokens_[begin].begin, "::cpu_device::known(");
        insert(tokens_[end - 1].end(), ")");
    }

    void refuse_ptx(std::size_t i) const {
        std::size_t at = i + 1;
        while (identifier_at(at)) ++at;  // volatile, inline, goto
        if (!is(at, "(") || match_[at] == none) return;
        std::string code;
        for (std::size_t k = at + 1; k < match_[at] && !is(k, ":"); ++k) {
            if (tokens_[k].kind != Token::Kind::string) continue;
            const std::string_view literal = tokens_[k].text;
            const std::size_t open = literal.find('"');
            for (std::size_t c = open + 1; c + 1 < literal.size(); ++c) {
                if (literal[c] == '\\' && c + 2 < literal.size()) {
                    ++c;
                    code += literal[c] == 'n' || literal[c] == 't' ? ' ' : literal[c];
                } else {
                    code += literal[c];
                }
            }
        }
        if (code.find_first_not_of(" \n\t") == std::string::npos) return;
        const std::string feature = ptx_feature(code);
        if (!feature.empty()) fail(i, "inline PTX is not supported on the CPU device: " + feature);
        if (on_device_only(i)) fail(i, "inline PTX is not supported on the CPU device: asm in device code");
    }

    void refuse_texture_reference(std::size_t i) {
        if (i > 0 && (one_of(tokens_[i - 1].text, class_keys) || is(i - 1, "using"))) own_texture_ = true;
        if (!is(i + 1, "<") || scope() != Scope::name_space || in_parentheses() || own_texture_) return;
        for (std::size_t k = state_.head; k < i; ++k)
            if (!is(k, "static") && !is(k, "extern") && !is(k, "const")) return;
        fail(i, "texture references left CUDA with version 12; use texture objects");
    }

    // ---- launches

    /// What stands left of `<<<`.
    struct Kernel {
        std::size_t begin;
        bool is_name;  ///< a (qualified, templated) name, and not an expression to evaluate
    };

    bool is_macro_like(std::string_view name) const {
        if (sources_.macros.names.count(name) != 0) return true;
        return std::all_of(name.begin(), name.end(), [](unsigned char c) { return !std::islower(c); });
    }

    /// Walks back over the postfix expression that ends in front of token `end`.
    Kernel kernel_before(std::size_t end) const {
        const auto missing = [&]() { fail(end, "expected the name of a kernel before '<<<'"); };
        Kernel kernel{end, true};
        std::size_t at = end;  // tokens [at, end) are the kernel so far
        bool need_operand = true;
        while (at > 0) {
            const Token& before = tokens_[at - 1];
            if (!need_operand) {
                if (before.is("::") || before.is(".") || before.is("->") || before.is("##")) {
                    if (!before.is("::") && !before.is("##")) kernel.is_name = false;
                    --at;
                    if (before.is("::")) {  // a leading `::` needs nothing in front
                        const bool qualified =
                            at > 0 && ((identifier_at(at - 1) && !one_of(tokens_[at - 1].text, expression_keywords)) ||
                                       is(at - 1, ">") || is_type_of(at - 1));
                        if (!qualified) break;
                    }
                    need_operand = true;
                    continue;
                }
                if (before.is("template") && at >= 2 && (is(at - 2, "::") || is(at - 2, ".") || is(at - 2, "->"))) {
                    --at;
                    continue;
                }
                break;
            }
            if (before.is(")") || before.is("]")) {
                const std::size_t open = match_[at - 1];
                if (open == none) missing();
                const bool is_operand = before.is(")") && !follows_operand(open);
                if (before.is("]") || !is_operand) {
                    const bool macro_call =
                        before.is(")") && identifier_at(open - 1) && is_macro_like(tokens_[open - 1].text);
                    if (!macro_call && !is_type_of(at - 1)) kernel.is_name = false;
                    at = open;
                    if (at == 0) missing();
                    continue;  // what is called or indexed comes first
                }
                if (!only_name(open + 1, at - 1)) kernel.is_name = false;
                at = open;
                need_operand = false;
            } else if (before.is(">")) {
                const std::size_t open = opening_angle(at - 1);
                if (open == none) missing();
                at = open;
            } else if (before.is_identifier() && !one_of(before.text, expression_keywords)) {
                --at;
                need_operand = false;
            } else {
                missing();
            }
        }
        if (need_operand && !(at < end && is(at, "::"))) missing();
        kernel.begin = at;
        return kernel;
    }

    /// Whether the `)` at `i` closes a decltype(...).
    bool is_type_of(std::size_t i) const {
        return is(i, ")") && match_[i] != none && match_[i] > 0 && is(match_[i] - 1, "decltype");
    }

    /// Whether the bracket at `open` belongs to the operand in front of it, as in `f(x)`.
    bool follows_operand(std::size_t open) const {
        while (open > 0) {
            const Token& before = tokens_[open - 1];
            if (before.is("]")) return true;
            if (before.is(">")) return opening_angle(open - 1) != none;
            if (!before.is(")"))
                return before.is_identifier() && !one_of(before.text, expression_keywords) &&
                       !one_of(before.text, statement_keywords);
            open = match_[open - 1];  // f(x)(y), but not if (x) (y)
            if (open == none || (open > 0 && one_of(tokens_[open - 1].text, statement_keywords))) return false;
        }
        return false;
    }

    bool only_name(std::size_t begin, std::size_t end) const {
        for (std::size_t i = begin; i < end; ++i) {
            if (is(i, "<")) {
                const std::size_t close = closing_angle(i, end);
                if (close == none) return false;
                i = close;
            } else if (!identifier_at(i) && !is(i, "::")) {
                return false;
            }
        }
        return begin < end;
    }

    /// The next `>` of a launch configuration that is in no brackets of its own. `open` counts the template brackets.
    std::size_t next_closing_angle(std::size_t i, std::size_t& open) const {
        for (; i < tokens_.size(); ++i) {
            const std::string_view text = tokens_[i].text;
            if (text == "(" || text == "[" || text == "{") {
                if (match_[i] == none) return none;
                i = match_[i];
            } else if (text == ")" || text == "]" || text == "}" || text == ";") {
                return none;
            } else if (text == "<" && opens_angle(i)) {
                ++open;
            } else if (text == "<" && is(i + 1, "<")) {
                ++i;  // a shift
            } else if (text == ">") {
                return i;
            }
        }
        return none;
    }

    /// Template brackets that are left open behind the `>`s in [begin, end), some of which may be comparisons.
    std::size_t left_open(std::size_t begin, std::size_t end, std::size_t open) const {
        for (std::size_t i = begin; i < end && open > 0; ++i)
            if (i + 1 < end || may_close_angle(i)) --open;
        return open;
    }

    /// The arguments, or the end of a macro: then the arguments follow its use.
    bool may_follow_configuration(std::size_t i) const { return is(i, "(") || (macro_ && i == tokens_.size()); }

    /// Finds the first `>` of the `>>>` that ends a launch configuration. A `>>>` that may as well close templates, as
    /// in f<A<B<int>>>(x), does so if another one behind it can end the configuration.
    std::size_t configuration_end(std::size_t begin, std::size_t& missing_parenthesis) const {
        struct Doubt {
            std::size_t begin, end;  ///< of the `>>>`
            std::size_t open;        ///< template brackets in front of it
        };
        std::vector<Doubt> doubts;
        std::set<std::pair<std::size_t, std::size_t>> tried;  // positions with the template brackets open there
        std::size_t i = begin, open = 0;
        while (true) {
            const std::size_t at = next_closing_angle(i, open);
            if (at != none) {
                i = at;
                while (is(i, ">")) ++i;
                const std::size_t run = i - at;
                if (run < 3 || open + 3 < run) {
                    open = left_open(at, i, open);
                    continue;
                }
                if (open >= run) {
                    doubts.push_back({at, i, open});
                    open -= run;
                    if (tried.emplace(i, open).second) continue;
                } else {
                    if (may_follow_configuration(i)) return i - 3;
                    if (missing_parenthesis == none) missing_parenthesis = i;
                }
            }
            do {  // that was wrong: back to the last doubt
                if (doubts.empty()) return none;
                const Doubt last = doubts.back();
                doubts.pop_back();
                if (may_follow_configuration(last.end)) return last.end - 3;
                if (missing_parenthesis == none) missing_parenthesis = last.end;
                i = last.end;
                open = left_open(last.begin, last.end, last.open);
            } while (!tried.emplace(i, open).second);
        }
    }

    void check_configuration(std::size_t launch, std::size_t begin, std::size_t end) const {
        const std::size_t count = begin == end ? 0 : separators(begin, end).size() + 1;
        if (count > 4)
            fail(launch,
                 "a launch has at most four arguments between '<<<' and '>>>': grid, block, shared bytes, stream");
        if (count >= 2) return;
        bool open_ended = false;  // a macro or a parameter pack may stand for several arguments
        for (std::size_t i = begin; i < end; ++i) {
            const bool parameter = macro_ && (macro_->has_parameter(tokens_[i].text) || is(i, "__VA_ARGS__"));
            if (parameter || is(i, "...") || (identifier_at(i) && is_macro_like(tokens_[i].text))) open_ended = true;
        }
        if (!open_ended) fail(launch, "a launch needs at least two arguments between '<<<' and '>>>': grid and block");
    }

    /// An integer literal of value zero, `NULL` or `nullptr`, perhaps in parentheses: a null pointer constant.
    bool is_null_literal(std::size_t begin, std::size_t end) const {
        while (end - begin > 2 && is(begin, "(") && match_[begin] == end - 1) ++begin, --end;
        if (end - begin != 1) return false;
        const Token& token = tokens_[begin];
        if (token.is("NULL") || token.is("nullptr") || token.is("__null")) return true;
        if (token.kind != Token::Kind::number) return false;
        std::string_view digits = token.text;
        const std::string_view prefix = digits.substr(0, 2);
        if (prefix == "0x" || prefix == "0X" || prefix == "0b" || prefix == "0B") digits.remove_prefix(2);
        while (!digits.empty() && std::string_view("uUlLzZ").find(digits.back()) != std::string_view::npos)
            digits.remove_suffix(1);
        return !digits.empty() && digits.find_first_not_of("0'") == std::string_view::npos;
    }

    bool is_literal(std::size_t begin, std::size_t end) const {
        return (is(begin, "{") && match_[begin] == end - 1) || is_null_literal(begin, end);
    }

    struct Argument {
        std::size_t begin, end;
        bool literal;  ///< has no type of its own to be passed on with: stays in the call of the kernel
        bool pack;
    };

    /// The arguments in (open, close), but only when one of them has to stay in the call and the others can be told
    /// apart.
    std::vector<Argument> arguments_to_split(std::size_t open, std::size_t close) const {
        std::vector<Argument> arguments;
        std::vector<std::size_t> ends = separators(open + 1, close);
        ends.push_back(close);
        std::size_t begin = open + 1;
        for (std::size_t end : ends) {
            if (begin == end) return {};
            arguments.push_back({begin, end, is_literal(begin, end), is(end - 1, "...")});
            begin = end + 1;
        }
        const auto literal = [](const Argument& argument) { return argument.literal; };
        if (std::none_of(arguments.begin(), arguments.end(), literal)) return {};
        bool pack_before = false;  // only the last parameter of a lambda can be a pack
        for (const Argument& argument : arguments) {
            if (argument.literal) continue;
            if (pack_before) return {};
            const bool rest = macro_ && (is(argument.begin, "__VA_ARGS__") || is(argument.begin, "##"));
            pack_before = argument.pack || rest;
            if (rest) return {};
        }
        if (directive_between(open, close)) return {};
        return arguments;
    }

    void check_launch_place(std::size_t i) const {
        if (on_device_only(i))
            fail(i, "a launch in device code (dynamic parallelism) is not supported on the CPU device");
    }

    /// Puts the beginning of the launcher in place of everything from the kernel to offset `to`, with `behind` after
    /// it. The kernel ends in front of token `end`. Returns the launch with room for what is known of the kernel.
    NamedLaunch rewrite_launch_head(const Kernel& kernel, std::size_t end, std::size_t to, const std::string& behind) {
        const std::size_t from = tokens_[kernel.begin].begin;
        NamedLaunch launch;
        launch.line = tokens_[kernel.begin].line;
        insert(from, "::cpu_device::launcher");
        launch.references_edit = edits_.size();
        insert(from, "");
        insert(from, "({" + spelled(kernel.begin, end) + ", " + site(kernel.begin));
        launch.names_edit = edits_.size();
        insert(from, "");
        replace(from, to, "}, " + behind);
        return launch;
    }

    /// Keeps the launch, to say more about its kernel later, if the kernel is one that has a name, or is in a variable.
    /// The arguments open at `open`, which is `none` where a macro leaves them to its use.
    void note_launch(const Kernel& kernel, std::size_t end, std::size_t open, NamedLaunch launch) {
        const std::size_t name = kernel.is_name ? unqualified_name(kernel.begin, end) : none;
        if (name == none) return;
        launch.through_variable = is_local_name(tokens_[name].text);
        if (launch.through_variable && (macro_ || kernel.begin + 1 != end)) return;
        if (macro_ && (macro_->has_parameter(tokens_[name].text) || is(name - 1, "##") || is(name + 1, "##"))) return;
        launch.kernel = tokens_[name].text;
        launch.template_arguments = count_template_arguments(name + 1);
        if (open != none && !count_arguments(open, match_[open], launch)) return;
        analysis_.launches.push_back(std::move(launch));
    }

    /// How many arguments the template argument list at `open` surely has; 0 where there is no list.
    std::size_t count_template_arguments(std::size_t open) const {
        const std::size_t close = is(open, "<") ? closing_angle(open, tokens_.size()) : none;
        if (close == none || close == open + 1) return 0;
        std::vector<std::size_t> ends = separators(open + 1, close);
        ends.push_back(close);
        const bool pack = std::any_of(ends.begin(), ends.end(), [&](std::size_t end) { return is(end - 1, "..."); });
        return pack ? 0 : ends.size();
    }

    /// The last name of a qualified name, without its template arguments.
    std::size_t unqualified_name(std::size_t begin, std::size_t end) const {
        while (end > begin && is(end - 1, ")")) --end;
        if (end > begin && is(end - 1, ">")) end = opening_angle(end - 1);
        return end != none && end > begin && identifier_at(end - 1) ? end - 1 : none;
    }

    /// Fills in which arguments the launcher gets. False when an argument that stays in the call of the kernel
    /// stands behind one that may be any number of arguments.
    bool count_arguments(std::size_t open, std::size_t close, NamedLaunch& launch) const {
        std::vector<std::size_t> ends = separators(open + 1, close);
        if (close > open + 1) ends.push_back(close);
        const bool split = !arguments_to_split(open, close).empty();
        bool any_number = false;
        std::size_t begin = open + 1, position = 0;
        for (std::size_t end : ends) {
            if (split && is_literal(begin, end)) {
                if (any_number) return false;
                launch.not_passed.push_back(position);
            }
            any_number = any_number || is(end - 1, "...") || (macro_ && holds_macro_rest(begin, end));
            begin = end + 1;
            ++position;
        }
        if (!any_number) launch.arguments = ends.size();
        for (std::size_t i = open; i < close; ++i)
            if (is(i, "<") || (identifier_at(i) && sources_.program.macros.count(tokens_[i].text) != 0))
                launch.arguments_are_clear = false;
        return true;
    }

    bool holds_macro_rest(std::size_t begin, std::size_t end) const {
        for (std::size_t i = begin; i < end; ++i)
            if (is(i, "__VA_ARGS__") || (!macro_->rest.empty() && is(i, macro_->rest))) return true;
        return false;
    }

    /// Whether the function or class around the present token declares `name`: a pointer to a kernel, or a template
    /// parameter, that may be called like some kernel.
    bool is_local_name(std::string_view name) {
        const auto around = std::find_if(state_.open.begin(), state_.open.end(), [](const Open& open) {
            return open.bracket != "{" || open.scope != Scope::name_space;
        });
        if (around == state_.open.end()) return false;
        if (local_names_of_ != around->at) {
            local_names_of_ = around->at;
            local_names_.clear();
            const std::size_t end = match_[around->at] == none ? tokens_.size() : match_[around->at];
            for (std::size_t i = around->head; i < end; ++i)
                if (identifier_at(i) && is_declared_at(i)) local_names_.insert(tokens_[i].text);
        }
        return local_names_.count(name) != 0;
    }

    /// Whether the name at `i` may stand there to be declared, and not to be used.
    bool is_declared_at(std::size_t i) const {
        if (i == 0) return false;
        if (is(i + 1, "=") || is(i - 1, ">") || is(i - 1, "...")) return true;
        const auto may_be_type = [&](std::size_t k) {
            return is(k, ">") || (identifier_at(k) && !one_of(tokens_[k].text, expression_keywords));
        };
        if (identifier_at(i - 1)) return may_be_type(i - 1) && !is(i - 1, "template");
        if (i == 1) return false;
        if (is(i - 1, "*")) return is(i - 2, "(") || is(i - 2, "*") || is(i - 2, "::") || may_be_type(i - 2);
        if (is(i - 1, "&") || is(i - 1, "&&"))
            return may_be_type(i - 2) || (is(i - 2, "(") && is(i + 1, ")") && is(i + 2, "("));
        std::size_t at = i;  // auto& [name, kernel]
        while (at > 0 && (identifier_at(at) || is(at, ","))) --at;
        if (!is(at, "[") || at == 0) return false;
        if (is(at - 1, "&") || is(at - 1, "&&")) --at;
        return at > 0 && is(at - 1, "auto");
    }

    /// Puts what calls the kernel in front of its arguments: everything from offset `from` to the opening parenthesis
    /// `open` is replaced. Without arguments, in a macro, `open` is `none`.
    void rewrite_arguments(const Kernel& kernel, std::size_t kernel_end, std::size_t from, std::size_t open,
                           const std::string& before, NamedLaunch& launch) {
        const std::size_t to = open == none ? tokens_.back().end() : tokens_[open].begin;
        const std::size_t close = open == none ? none : match_[open];
        if (open != none && close == none) fail(open, "no ')' ends the kernel's arguments");
        const std::string name = text(kernel.begin, kernel_end);
        if (!kernel.is_name) return replace(from, to, before + ", " + name + ")");
        const std::string typed = before + ", [&](auto cpu_device_type) { if constexpr (requires { cpu_device_type(" +
                                  name + "); }) return decltype(cpu_device_type(" + name +
                                  "))(); }, [&](auto&... cpu_device_arguments) CPU_DEVICE_UNSEEN { " + name +
                                  "(cpu_device_arguments...); })";
        const std::vector<Argument> arguments =
            open == none ? std::vector<Argument>() : arguments_to_split(open, close);
        if (arguments.empty()) {
            replace(from, to, typed);
        } else {
            split_arguments(arguments, name, from, to, before, launch);
            launch.when_certain.push_back({edits_.size() - 1, {from, to, typed + line_ends(from, to)}});
        }
        launch.call_edit = edits_.size();
        insert(to, "");
    }

    /// Leaves the literals among the arguments in the call of the kernel, whose parameters' types are not known. The
    /// last edit is that call.
    void split_arguments(const std::vector<Argument>& arguments, const std::string& kernel, std::size_t from,
                         std::size_t to, const std::string& before, NamedLaunch& launch) {
        const auto replace_unless_certain = [&](std::size_t begin, std::size_t end, const char* text) {
            launch.when_certain.push_back({edits_.size(), {begin, begin, ""}});
            replace(begin, end, text);
        };
        std::string parameters, call;
        int number = 0;
        for (const Argument& argument : arguments) {
            const std::size_t begin = tokens_[argument.begin].begin;
            if (!call.empty()) call += ", ";
            if (argument.literal) {
                call += text(argument.begin, argument.end);
                replace_unless_certain(begin, tokens_[argument.end - 1].end(), "");
            } else {
                const std::string name = "cpu_device_argument_" + std::to_string(number);
                if (number++ > 0) {
                    parameters += ", ";
                    replace_unless_certain(begin, begin, ", ");
                }
                parameters += (argument.pack ? "auto&... " : "auto& ") + name;
                call += name + (argument.pack ? "..." : "");
            }
            if (&argument != &arguments.back())
                replace_unless_certain(tokens_[argument.end].begin, tokens_[argument.end].end(), "");
        }
        replace(from, to, before + ", [&](" + parameters + ") CPU_DEVICE_UNSEEN { " + kernel + "(" + call + "); })");
    }

    void rewrite_launch(std::size_t i) {
        if (is_launch_configuration_macro()) return rewrite_configuration_macro(i);
        const Kernel kernel = kernel_before(i);
        const std::size_t begin = i + 3;
        std::size_t missing_parenthesis = none;
        const std::size_t end = configuration_end(begin, missing_parenthesis);
        if (end == none) {
            if (missing_parenthesis != none)
                fail(missing_parenthesis - 1, "expected '(' and the kernel's arguments after '>>>'");
            fail(i, "no '>>>' ends the launch configuration, or its brackets are not balanced");
        }
        check_launch_place(i);
        check_configuration(i, begin, end);
        require_no_directive(kernel.begin, begin - 1, "a launch");
        require_no_directive(end, std::min(end + 3, tokens_.size() - 1), "a launch");
        const std::size_t open = end + 3 < tokens_.size() ? end + 3 : none;
        NamedLaunch launch = rewrite_launch_head(kernel, i, tokens_[i + 2].end(), "::cpu_device::LaunchConfig(");
        rewrite_arguments(kernel, i, tokens_[end].begin, open, ")", launch);
        note_launch(kernel, i, open, std::move(launch));
    }

    // ---- macros that stand for <<<...>>>

    bool is_launch_configuration_macro() const { return macro_ && is_launch_configuration(macro_->body); }

public:
    static bool is_launch_configuration(const Tokens& body) {
        if (body.size() < 7) return false;
        for (std::size_t i = 0; i < 3; ++i)
            if (!body[i].is("<") || !body[body.size() - 1 - i].is(">")) return false;
        return true;
    }

private:
    void rewrite_configuration_macro(std::size_t i) {
        if (i != 0) fail(i, "expected the name of a kernel before '<<<'");
        const std::size_t end = tokens_.size() - 3;
        replace(tokens_[0].begin, tokens_[2].end(), "::cpu_device::LaunchConfig(");
        replace(tokens_[end].begin, tokens_[end + 2].end(), ")");
    }

    /// `kernel SHAPE(grid, block)(arguments)` where SHAPE is such a macro.
    void rewrite_macro_launch(std::size_t i) {
        const Kernel kernel = kernel_before(i);
        std::size_t open = i + 1;
        if (is(open, "(") && match_[open] != none && is(match_[open] + 1, "(")) open = match_[open] + 1;
        if (!is(open, "(")) fail(i, "expected '(' and the kernel's arguments after the launch configuration");
        check_launch_place(i);
        require_no_directive(kernel.begin, open, "a launch");
        NamedLaunch launch = rewrite_launch_head(kernel, i, tokens_[i].begin, "");
        rewrite_arguments(kernel, i, tokens_[open].begin, open, "", launch);
        note_launch(kernel, i, open, std::move(launch));
    }

    // ---- the parameters of kernels

    bool is_global(std::size_t i) const {
        return is(i, "__global__") || sources_.macros.global_aliases.count(tokens_[i].text) != 0;
    }

    /// Notes the function at namespace scope whose name is at `i`, if that is what it may be, unless it is a kernel.
    void note_function(std::size_t i) {
        constexpr std::size_t longest_head = 64;  // of those that are looked through
        if (scope() == Scope::type || (i > 0 && is(i - 1, "::"))) analysis_.members.emplace(tokens_[i].text);
        if (scope() != Scope::name_space || in_parentheses() || i == 0) return;
        const bool type_before = is(i - 1, "*") || is(i - 1, "&") || is(i - 1, ">") ||
                                 (identifier_at(i - 1) && !one_of(tokens_[i - 1].text, expression_keywords));
        if (!type_before) return;
        for (std::size_t k = i - state_.head <= longest_head ? state_.head : i; k < i; ++k)
            if (is_global(k)) return;
        analysis_.other_functions.emplace(tokens_[i].text);
        if (match_[i + 1] == none) return;
        const std::size_t behind = match_[i + 1] + 1;
        bool is_void = false, clear = i - state_.head <= longest_head && !directive_between(state_.head, i);
        for (std::size_t k = state_.head; k < i && clear; ++k) {
            is_void = is_void || is(k, "void");
            clear = has_clear_meaning(k);
        }
        const Head head = read_head(state_.head, i + 1);
        const bool is_function = is(behind, "{") || (is(behind, ";") && is_void);
        analysis_.functions.push_back({std::string(tokens_[i].text),
                                       head.constant ? std::uint8_t{both_sides} : sides_of_function(head),
                                       clear && is_function && !head.assigned});
    }

    /// Whether no macro of another file can hide a qualifier behind the word at `k` of a function's head.
    bool has_clear_meaning(std::size_t k) const {
        if (!identifier_at(k)) return true;
        const std::string_view word = tokens_[k].text;
        if (sources_.program.macros.count(word) != 0 || word.substr(0, 2) == "__") return true;
        return std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::islower(c) != 0; }) ||
               word.size() == 1;
    }

    /// Where the code at hand surely runs: the function around it says so. No side where nothing is certain.
    std::uint8_t certain_sides(std::size_t i) const {
        const Open* function = nullptr;
        for (const Open& open : state_.open) {
            if (open.begins_function) function = &open;
            if (open.is_plain_lambda || open.scope == Scope::type) {
                if (function == nullptr || (function->sides & device_side) == 0) return no_side;
            }
        }
        if (macro_ || function == nullptr || sides() == both_sides) return no_side;
        for (std::size_t k = function->head; k < function->at && !function->is_lambda; ++k)
            if (!has_clear_meaning(k)) return no_side;
        // Of a template that nobody uses for the host, nvcc says nothing.
        const auto is_template = [&](const Open& open) {
            for (std::size_t k = open.head; k < open.at; ++k)
                if (is(k, "template")) return true;
            return false;
        };
        if (sides() == host_side && std::any_of(state_.open.begin(), state_.open.end(), is_template)) return no_side;
        return tokens_[i].sides & sides();
    }

    /// Notes the call of a function whose name is at `i`, if it is no declaration and the name can only be a
    /// function's.
    void note_call(std::size_t i) {
        const std::string_view word = tokens_[i].text;
        if (one_of(word, expression_keywords) || one_of(word, statement_keywords) || one_of(word, builtin_types) ||
            sources_.program.macros.count(word) != 0 || i == 0)
            return;
        const Token& before = tokens_[i - 1];
        const bool in_std = before.is("::") && i >= 2 && is(i - 2, "std");
        if (before.is(".") || before.is("->") || before.is("~") || before.is(">")) return;
        if (before.is("::") && !in_std && i >= 2 && (identifier_at(i - 2) || is(i - 2, ">"))) return;
        if (before.is_identifier() && !one_of(before.text, expression_keywords)) return;
        const bool may_declare = (before.is("*") || before.is("&") || before.is("&&")) && i >= 2 &&
                                 (identifier_at(i - 2) || is(i - 2, ">")) && state_.head + 2 == i;
        if (may_declare || is_unevaluated() || is_local_name(word)) return;
        analysis_.calls.push_back({std::string(word), tokens_[i].line, certain_sides(i), in_std});
    }

    /// Whether the present token stands in parentheses in which nothing is called.
    bool is_unevaluated() const {
        static constexpr std::array<std::string_view, 7> operators{"decltype", "sizeof", "noexcept",  "requires",
                                                                   "alignof",  "typeid", "__typeof__"};
        return std::any_of(state_.open.begin(), state_.open.end(), [&](const Open& open) {
            return open.at > 0 && open.bracket != "[" && one_of(tokens_[open.at - 1].text, operators);
        });
    }

    /// Notes the kernel that the declaration around the `__global__` at `i` declares or defines. Of a macro, it only
    /// makes the kernel known that its body defines.
    void note_kernel(std::size_t i) {
        if (macro_ ? !state_.open.empty() : scope() == Scope::code || in_parentheses()) return;
        for (std::size_t open = i + 1; open < tokens_.size(); ++open) {
            if (is_global(open) || is(open, ";") || is(open, "{") || is(open, "}") || is(open, "=") || is(open, ")"))
                return;
            if (is(open, "<")) {
                const std::size_t close = identifier_at(open - 1) ? closing_angle(open, tokens_.size()) : none;
                if (close == none) return;
                open = close;
            }
            if (!is(open, "(") && !is(open, "[")) continue;
            const std::size_t close = match_[open];
            if (close == none) return;
            static constexpr std::array<std::string_view, 8> behind_parameters{
                "{", ";", "->", "noexcept", "requires", "__attribute__", "[", "__launch_bounds__"};
            const std::size_t name = unqualified_name(i + 1, open);
            const bool attribute = name == none || one_of(tokens_[name].text, attribute_words) ||
                                   is(name, "__launch_bounds__") || is(name, "decltype");
            if (is(open, "(") && !attribute && close + 1 < tokens_.size() &&
                one_of(tokens_[close + 1].text, behind_parameters)) {
                if (directive_between(i, close)) return;
                check_kernel(i, name);
                if (!macro_) analysis_.kernels.push_back(read_kernel(i, name, open, close));
                make_kernel_known(i, open, close);
                return;
            }
            open = close;
        }
    }

    /// Refuses a kernel that nvcc refuses. The first `__global__` is at `global`.
    void check_kernel(std::size_t global, std::size_t name) const {
        if (macro_ || name == none) return;
        const std::string kernel(tokens_[name].text);
        bool is_friend = false;
        for (std::size_t i = state_.head; i < name; ++i) is_friend = is_friend || is(i, "friend");
        if (scope() == Scope::type && !is_friend)
            fail(global, "the kernel " + kernel +
                             " cannot be a member of a class: put it outside, and give it what it "
                             "needs as arguments");
        for (std::size_t i = name; i-- > state_.head;) {
            if ((is(i, ")") || is(i, "]")) && match_[i] != none && match_[i] >= state_.head) {
                i = match_[i];
            } else if (is(i, ">")) {
                return;  // of template arguments: what is in front has been seen, or cannot be
            } else if (is(i, "void") || is(i, "auto")) {
                return;
            } else if (one_of(tokens_[i].text, builtin_types)) {
                fail(name, "the kernel " + kernel +
                               " has to return void: what it computes goes to memory, through a "
                               "pointer that it gets as an argument");
            }
        }
    }

    KernelDeclaration read_kernel(std::size_t global, std::size_t name, std::size_t open, std::size_t close) const {
        KernelDeclaration kernel;
        kernel.name = tokens_[name].text;
        for (std::size_t begin = open + 1; begin < close;) {
            const std::size_t end = parameter_end(begin, close);
            const bool no_parameters = begin == open + 1 && end == close && end == begin + 1 && is(begin, "void");
            if (!no_parameters) kernel.parameters.push_back(read_parameter(begin, end, kernel.takes_pack));
            if (end == begin + 1 && sources_.program.macros.count(tokens_[begin].text) != 0) kernel.is_clear = false;
            begin = end + 1;
        }
        kernel.is_definition = is(behind_declarator(close), "{");
        read_template_head(global, kernel);
        return kernel;
    }

    /// The `{` or `;` behind the parameters that close at `close`.
    std::size_t behind_declarator(std::size_t close) const {
        std::size_t behind = close + 1;
        while (behind < tokens_.size() && !is(behind, "{") && !is(behind, ";")) ++behind;
        return behind;
    }

    /// What stands in front of `__global__` says whether the kernel is a template, and of how many parameters.
    void read_template_head(std::size_t global, KernelDeclaration& kernel) const {
        kernel.template_arguments = 0;
        for (std::size_t i = state_.head; i < global; ++i) {
            if (!is(i, "template")) continue;
            const std::size_t close = is(i + 1, "<") ? closing_angle(i + 1, global) : none;
            const bool nothing_known = kernel.is_template || close == none || close == i + 2;
            kernel.is_template = true;
            kernel.template_arguments.reset();
            if (nothing_known) return;  // a member, a specialization or an instantiation
            std::vector<std::size_t> ends = separators(i + 2, close);
            ends.push_back(close);
            std::size_t count = 0;
            for (std::size_t begin = i + 2; std::size_t end : ends) {
                bool has_default = false;
                for (; begin < end; ++begin) {
                    if (is(begin, "...")) return;
                    has_default = has_default || is(begin, "=");
                }
                ++begin;
                count += has_default ? 0 : 1;
            }
            kernel.template_arguments = count;
            i = close;
        }
    }

    /// Whether every `#if` between two tokens ends there, and no branch begins there that belongs to one outside.
    bool has_whole_conditionals(std::size_t first, std::size_t last) const {
        int depth = 0;
        for (const Directive& directive : directives_) {
            if (directive.position <= first || directive.position > last || !is_conditional(directive)) continue;
            if (is_alternative(directive) || directive.name == "endif") {
                if (depth == 0) return false;
                depth -= directive.name == "endif";
            } else {
                ++depth;
            }
        }
        return depth == 0;
    }

    /// Puts a registration behind the definition of a kernel that is no template, so that a program can launch it by
    /// its address. The cast to the kernel's type chooses between overloads.
    void make_kernel_known(std::size_t global, std::size_t open, std::size_t close) {
        const std::size_t brace = behind_declarator(close);
        if (!is(brace, "{") || match_[brace] == none || scope() == Scope::type) return;
        if (macro_ && sources_.macros.behind_template.count(macro_->name) != 0) return;
        for (std::size_t i = state_.head; i < global; ++i)
            if (is(i, "template") || is(i, "friend")) return;
        std::size_t name = open - 1;
        if (is(name, ")")) {  // (name), or a macro that makes a name
            name = match_[name];
            if (name != none && identifier_at(name - 1) && !one_of(tokens_[name - 1].text, builtin_types)) --name;
        }
        while (name != none && is(name - 1, "##")) name -= 2;
        if (name == none || is(name - 1, "::") || is(open - 1, ">")) return;
        std::string types;
        for (std::size_t begin = open + 1; begin < close;) {
            const std::size_t end = parameter_end(begin, close);
            std::size_t default_argument = begin;
            for (; default_argument < end && !is(default_argument, "="); ++default_argument)
                if (is(default_argument, "auto")) return;
            types += (types.empty() ? "" : ", ") + text(begin, default_argument);
            begin = end + 1;
        }
        if (!has_whole_conditionals(state_.head, match_[brace])) return;
        insert(tokens_[match_[brace]].end(),
               " static_assert(::cpu_device::known_kernel<(void (*)(" + types + "))" + text(name, open) + ">);");
    }

    /// The comma behind the parameter that begins at `begin`, or `end` for the last one.
    std::size_t parameter_end(std::size_t begin, std::size_t end) const {
        bool default_argument = false;
        for (std::size_t i = begin; i < end; ++i) {
            if (is(i, ",")) return i;
            default_argument = default_argument || is(i, "=");
            if (is(i, "(") || is(i, "[") || is(i, "{")) {
                if (match_[i] != none && match_[i] < end) i = match_[i];
            } else if (is(i, "<") && opens_angle(i)) {
                const std::size_t close = closing_angle(i, end);
                const bool comparison = default_argument && close != none && close + 1 < end && !may_close_angle(close);
                if (close != none && !comparison) i = close;
            }
        }
        return end;
    }

    /// The parameter in [begin, end). `is_pack` is set for `T... name`.
    KernelParameter read_parameter(std::size_t begin, std::size_t end, bool& is_pack) const {
        KernelParameter parameter;
        parameter.name = parameter_name(begin, end, parameter.is_reference, is_pack);
        for (std::size_t i = begin; i < end; ++i) parameter.has_default = parameter.has_default || is(i, "=");
        return parameter;
    }

    /// The name that the parameter in [begin, end) has; empty when it has none.
    std::string parameter_name(std::size_t begin, std::size_t end, bool& is_reference, bool& is_pack) const {
        std::size_t types = 0;  // before the last name
        std::size_t name = none;
        bool pointer = false;  // what comes now can only be the name
        for (std::size_t i = begin; i < end && !is(i, "="); ++i) {
            const std::string_view word = tokens_[i].text;
            if (one_of(word, attribute_words) || word == "decltype" || word == "typeof" || word == "__typeof__" ||
                word == "noexcept") {
                if (word == "decltype" || word == "typeof" || word == "__typeof__") ++types;
                if (is(i + 1, "(") && match_[i + 1] != none && match_[i + 1] < end) i = match_[i + 1];
            } else if (word == "(" || word == "[") {
                if (match_[i] == none || match_[i] >= end) return {};
                const bool declarator = word == "(" && (is(i + 1, "*") || is(i + 1, "&") || is(i + 1, "&&") ||
                                                        (identifier_at(i + 1) && is(i + 2, "::") && is(i + 3, "*")));
                if (declarator) {
                    is_reference = is(i + 1, "&") || is(i + 1, "&&");
                    return inner_parameter_name(i + 1, match_[i]);
                }
                if (word == "(") ++types;  // of a macro that makes a type
                i = match_[i];
            } else if (word == "*" || word == "&" || word == "&&" || word == "...") {
                is_pack = is_pack || word == "...";
                is_reference = is_reference || word == "&" || word == "&&";
                pointer = true;
                name = none;
            } else if (one_of(word, builtin_types)) {
                ++types;
                name = none;
            } else if (sources_.macros.names.count(word) != 0) {
                ++types;
            } else if (is(i, "::") || (identifier_at(i) && !one_of(word, cv_qualifiers) && !one_of(word, class_keys) &&
                                       !one_of(word, parameter_words))) {
                const std::size_t behind = qualified_name_end(i, end);
                if (behind == none) return {};
                if (name != none) ++types;
                if (behind == i + 1 && !is(i, "::")) {
                    name = i;
                } else {
                    name = none;
                    ++types;
                }
                i = behind - 1;
            }
        }
        return name != none && (types > 0 || pointer) ? std::string(tokens_[name].text) : std::string();
    }

    /// The name in a declarator such as `*name`, `&name`, `*name[4]` or `*(*name)(int)`.
    std::string inner_parameter_name(std::size_t begin, std::size_t end) const {
        for (std::size_t i = begin; i < end; ++i) {
            if (is(i, "(")) end = std::min(end, match_[i]);
            const bool name = identifier_at(i) && !is(i + 1, "::") && !one_of(tokens_[i].text, cv_qualifiers) &&
                              !one_of(tokens_[i].text, parameter_words);
            if (name) return std::string(tokens_[i].text);
        }
        return {};
    }

    /// Behind a possibly qualified name with template arguments at `i`; `none` when it cannot be read.
    std::size_t qualified_name_end(std::size_t i, std::size_t end) const {
        if (is(i, "::")) ++i;
        while (i < end && identifier_at(i)) {
            ++i;
            if (i < end && is(i, "<")) {
                i = closing_angle(i, end);
                if (i == none) return none;
                ++i;
            }
            if (i >= end || !is(i, "::")) return i;
            ++i;
            if (is(i, "template")) ++i;
        }
        return none;
    }

    // ---- device variables

    /// Puts an object behind the declaration around the qualifier at `i` that makes the variables it defines known.
    /// Only where that is certain: anything that might be a function, a template, a declaration ... is left alone.
    void register_device_variables(std::size_t i) {
        if (scope() != Scope::name_space || in_parentheses()) return;
        bool is_constant = is(i, "__constant__");
        for (std::size_t k = state_.head; k < i; ++k)
            if (one_of(tokens_[k].text, device_variable_qualifiers) || one_of(tokens_[k].text, class_keys)) return;
        std::size_t end = skip_specifiers(state_.head, is_constant);
        std::vector<std::size_t> names;
        do {
            if (end == none) return;
            if (!names.empty()) ++end;
            end = skip_declarator(end, names);
        } while (is(end, ","));
        if (!is(end, ";") || directive_between(state_.head, end)) return;
        std::string objects;
        for (std::size_t name : names) {
            const std::string word(tokens_[name].text);
            objects += " [[maybe_unused]] static const ::cpu_device::DeviceVariable cpu_device_variable_" + word +
                       "{\"" + word + "\", (const void*)__builtin_addressof(" + word + "), sizeof(" + word + "), " +
                       (is_constant ? "true" : "false") + ", " + site(name) + "};";
        }
        insert(tokens_[end].end(), objects);
    }

    /// The first token of the declarators of a declaration that begins at `i`; `none` when it may define no variable.
    std::size_t skip_specifiers(std::size_t i, bool& is_constant) const {
        bool built_in = false;       // the type is of built-in words
        std::size_t names = 0;       // behind those words, if there are any
        std::size_t last = none;     // the last name
        bool last_is_plain = false;  // neither qualified nor with template arguments
        for (; i < tokens_.size(); ++i) {
            const std::string_view word = tokens_[i].text;
            if (one_of(word, not_a_device_variable) || sources_.macros.shared_aliases.count(word) != 0) return none;
            if (one_of(word, attribute_words) || word == "decltype" || word == "typeof" || word == "__typeof__") {
                if (!one_of(word, attribute_words)) built_in = true;
                if (!is(i + 1, "(") || match_[i + 1] == none) return none;
                i = match_[i + 1];
                if (is(i + 1, "::")) return none;
            } else if (is(i, "[") && is(i + 1, "[")) {
                if (match_[i] == none) return none;
                i = match_[i];
            } else if (one_of(word, builtin_types)) {
                if (built_in && names > 0) return none;
                built_in = true;
                names = 0;  // a macro in front of the type
            } else if (is(i, "::") || (identifier_at(i) && !one_of(word, cv_qualifiers) && !one_of(word, class_keys) &&
                                       !one_of(word, storage_words) && !one_of(word, device_variable_qualifiers))) {
                last = i;
                ++names;
                const std::size_t end = qualified_name_end(i, tokens_.size());
                if (end == none) return none;
                last_is_plain = end == i + 1;
                i = end - 1;
            } else if (!identifier_at(i)) {
                break;
            }
            is_constant = is_constant || word == "__constant__";
        }
        const std::size_t type_names = built_in ? 0 : 1;
        if (is(i, "*") || is(i, "(")) return names == type_names ? i : none;
        return names == type_names + 1 && last_is_plain ? last : none;
    }

    /// Behind one declarator and its initializer: at a `,` or `;`. Adds the name; `none` when it is no plain variable.
    std::size_t skip_declarator(std::size_t i, std::vector<std::size_t>& names) const {
        while (is(i, "*") || (i < tokens_.size() && (one_of(tokens_[i].text, cv_qualifiers) || is(i, "__restrict__"))))
            ++i;
        std::size_t name = i;
        if (is(i, "(")) {  // a pointer to a function or an array
            if (!is(i + 1, "*") || match_[i] == none) return none;
            name = i + 1;
            while (is(name, "*") || (identifier_at(name) && one_of(tokens_[name].text, cv_qualifiers))) ++name;
            std::size_t end = name + 1;
            while (is(end, "[") && match_[end] != none) end = match_[end] + 1;
            if (end != match_[i]) return none;
            i = end + 1;
            if ((!is(i, "(") && !is(i, "[")) || match_[i] == none) return none;
        } else {
            ++i;
            if (is(i, "(")) return none;
        }
        if (!identifier_at(name) || sources_.macros.names.count(tokens_[name].text) != 0) return none;
        names.push_back(name);
        for (; i < tokens_.size(); ++i) {
            const bool attribute = one_of(tokens_[i].text, attribute_words);
            if (!attribute && !is(i, "[") && !(is(i, "(") && is(i - 1, ")"))) break;
            if (attribute) ++i;
            if (i >= tokens_.size() || match_[i] == none) return none;
            i = match_[i];
        }
        if (is(i, "{")) return match_[i] == none ? none : match_[i] + 1;
        if (!is(i, "=")) return i;
        if (is(i + 1, "[")) return none;  // a lambda
        while (++i < tokens_.size() && !is(i, ";") && !is(i, ",")) {
            if (is(i, "(") || is(i, "[") || is(i, "{")) {
                if (match_[i] == none) return none;
                i = match_[i];
            } else if (is(i, "<") && opens_angle(i)) {
                const std::size_t close = closing_angle(i, tokens_.size());
                if (close != none && may_close_angle(close)) i = close;
            }
        }
        return i;
    }

    // ---- __shared__

    struct Specifiers {
        std::size_t end = 0;  ///< first token of the declarators
        bool is_extern = false;
        bool has_type = false;
        std::string type;         ///< with const and volatile
        std::string alignment;    ///< alignas(...) and its kin
        std::size_t body = none;  ///< the brace of a class that is defined in the declaration
        std::size_t class_key = none;
        bool named_class = false;
    };

    void add(std::string& list, const std::string& word) const {
        if (!list.empty()) list += ' ';
        list += word;
    }

    /// Behind a possibly qualified name with template arguments at `i`.
    std::size_t name_end(std::size_t i) const {
        if (is(i, "::")) ++i;
        while (identifier_at(i)) {
            ++i;
            while (macro_ && is(i, "##")) i += 2;
            if (is(i, "<")) {
                const std::size_t close = closing_angle(i, tokens_.size());
                if (close == none) fail(i, "no '>' ends these template arguments");
                i = close + 1;
            }
            if (!is(i, "::")) break;
            ++i;
            if (is(i, "template")) ++i;
        }
        return i;
    }

    Specifiers read_specifiers(std::size_t i) const {
        Specifiers result;
        bool plain_name = false;  // the type is a single name that may turn out to be an attribute macro
        const auto turn_name_into_attribute = [&] {
            add(result.alignment, result.type);
            result.type.clear();
            result.has_type = plain_name = false;
        };
        std::string cv;
        for (; i < tokens_.size(); ++i) {
            const Token& token = tokens_[i];
            const auto alias = sources_.macros.shared_aliases.find(token.text);
            if (alias != sources_.macros.shared_aliases.end()) {
                for (const Token& word : alias->second) {
                    if (word.is("extern")) result.is_extern = true;
                    if (one_of(word.text, cv_qualifiers)) add(cv, std::string(word.text));
                }
            } else if (one_of(token.text, dropped_specifiers)) {
                if (token.is("extern")) result.is_extern = true;
            } else if (one_of(token.text, cv_qualifiers)) {
                add(cv, std::string(token.text));
            } else if (token.is("[") && is(i + 1, "[")) {
                if (match_[i] == none) break;
                i = match_[i];
            } else if (one_of(token.text, attribute_words)) {
                if (!is(i + 1, "(") || match_[i + 1] == none) fail(i, "cannot read this __shared__ declaration");
                add(result.alignment, text(i, match_[i + 1] + 1));
                i = match_[i + 1];
            } else if (one_of(token.text, builtin_types) && !(is(i + 1, "::") || is(i + 1, "<"))) {
                if (plain_name) turn_name_into_attribute();
                add(result.type, std::string(token.text));
                result.has_type = true;
            } else if (result.has_type) {
                if (!(plain_name && token.is_identifier() && identifier_at(i + 1))) break;
                turn_name_into_attribute();
                --i;
            } else if (one_of(token.text, class_keys)) {
                i = read_class(i, result) - 1;
            } else if (token.is("decltype") || token.is("typeof") || token.is("__typeof__")) {
                if (!is(i + 1, "(") || match_[i + 1] == none) break;
                std::size_t end = match_[i + 1] + 1;
                if (is(end, "::")) end = name_end(end);
                add(result.type, text(i, end));
                result.has_type = true;
                i = end - 1;
            } else if (token.is_identifier() || token.is("::")) {
                const bool is_typename = token.is("typename");
                const std::size_t end = name_end(is_typename ? i + 1 : i);
                if (is(end, "(") && match_[end] != none && end == i + 1) {  // MACRO(x): an attribute or a type
                    const std::size_t behind = match_[end] + 1;
                    const bool attribute = identifier_at(behind) &&
                                           (identifier_at(behind + 1) || is(behind + 1, "::") || is(behind + 1, "<"));
                    if (!identifier_at(behind)) break;
                    if (attribute) {
                        add(result.alignment, text(i, behind));
                    } else {
                        add(result.type, text(i, behind));
                        result.has_type = true;
                    }
                    i = behind - 1;
                    continue;
                }
                plain_name = end == i + 1;
                add(result.type, text(i, end));
                result.has_type = true;
                i = end - 1;
            } else {
                break;
            }
        }
        if (!cv.empty()) result.type = cv + ' ' + result.type;
        result.end = i;
        const bool declarator = identifier_at(i) || is(i, "*") || is(i, "&") || is(i, "(");
        result.has_type = result.has_type && declarator;
        return result;
    }

    /// Reads `struct Name`, `struct Name {...}` or `struct {...}` at `i` and returns the token behind it.
    std::size_t read_class(std::size_t i, Specifiers& result) const {
        result.class_key = i;
        std::size_t at = i + 1;
        if (is(i, "enum") && (is(at, "class") || is(at, "struct"))) ++at;
        while (at < tokens_.size() && (one_of(tokens_[at].text, attribute_words) || is(at, "["))) {
            if (!is(at, "[")) ++at;
            if (at >= tokens_.size() || match_[at] == none) fail(i, "cannot read this __shared__ declaration");
            at = match_[at] + 1;
        }
        const std::size_t name = at;
        at = name_end(at);
        result.named_class = at > name;
        std::size_t brace = at;
        if (is(at, ":"))
            while (brace < tokens_.size() && !is(brace, "{") && !is(brace, ";")) ++brace;
        result.has_type = true;
        if (!is(brace, "{")) {
            add(result.type, text(i, at));
            return at;
        }
        if (match_[brace] == none) fail(brace, "no '}' ends this class");
        result.body = brace;
        if (result.named_class) add(result.type, text(name, at));
        return match_[brace] + 1;
    }

    /// First token of the specifiers in front of `i`: storage words, qualifiers, alignment and built-in types;
    /// with `any_type` a type of any other kind too.
    std::size_t specifiers_begin(std::size_t i, bool any_type) const {
        bool type_seen = false;
        while (i > 0) {
            const Token& before = tokens_[i - 1];
            if (one_of(before.text, dropped_specifiers) || one_of(before.text, cv_qualifiers) ||
                one_of(before.text, builtin_types) || sources_.macros.shared_aliases.count(before.text) != 0) {
                type_seen = type_seen || one_of(before.text, builtin_types);
                --i;
                continue;
            }
            if ((before.is(")") || before.is("]")) && match_[i - 1] != none) {
                const std::size_t open = match_[i - 1];
                if (before.is("]") && is(open + 1, "[")) {
                    i = open;
                    continue;
                }
                if (before.is(")") && open > 0 && one_of(tokens_[open - 1].text, attribute_words)) {
                    i = open - 1;
                    continue;
                }
                if (before.is(")") && open > 0 && any_type && !type_seen && is(open - 1, "decltype")) {
                    i = open - 1;
                    type_seen = true;
                    continue;
                }
            }
            if (!any_type || type_seen) break;
            if (before.is("}") && match_[i - 1] != none) {
                i = class_begin(match_[i - 1], i);
                type_seen = true;
                continue;
            }
            const bool name = before.is_identifier() && !one_of(before.text, expression_keywords);
            if (!name && !before.is(">")) break;
            i = type_name_begin(i);
            type_seen = true;
        }
        return i;
    }

    /// First token of a class definition whose brace is at `brace`; `otherwise` when it is none.
    std::size_t class_begin(std::size_t brace, std::size_t otherwise) const {
        for (std::size_t i = brace; i-- > 0 && !is(i, ";") && !is(i, "{") && !is(i, "}");)
            if (one_of(tokens_[i].text, class_keys)) return i;
        return otherwise;
    }

    /// First token of the (qualified, templated) type name that ends in front of `i`.
    std::size_t type_name_begin(std::size_t i) const {
        while (i > 0) {
            if (is(i - 1, ">")) {
                const std::size_t open = opening_angle(i - 1);
                if (open == none) return i;
                i = open;
            }
            if (i == 0 || !identifier_at(i - 1)) return i;
            --i;
            if (i > 0 && is(i - 1, "template")) --i;
            if (i == 0 || !is(i - 1, "::")) break;
            --i;
            if (i == 0 || !(identifier_at(i - 1) || is(i - 1, ">"))) return i;
        }
        if (i > 0 && (is(i - 1, "typename") || one_of(tokens_[i - 1].text, class_keys))) --i;
        return i;
    }

    struct Declarator {
        std::size_t name = none;
        std::size_t name_end = none;
        std::string abstract;  ///< the declarator without its name, such as `*[4]`
        std::string alignment;
        bool is_array = false;
    };

    /// Reads one declarator and moves `i` to the `,` or `;` behind it.
    Declarator read_declarator(std::size_t& i) const {
        Declarator result;
        const std::size_t first = i;
        int depth = 0;
        std::string abstract;
        for (; i < tokens_.size(); ++i) {
            const Token& token = tokens_[i];
            if (depth == 0 && (token.is(",") || token.is(";"))) break;
            if (token.is("=") || token.is("{") || (token.is("(") && result.name != none && depth == 0))
                fail(i, "a __shared__ variable cannot have an initializer");
            if (one_of(token.text, attribute_words)) {
                if (!is(i + 1, "(") || match_[i + 1] == none) fail(i, "cannot read this __shared__ declaration");
                add(result.alignment, text(i, match_[i + 1] + 1));
                i = match_[i + 1];
            } else if (token.is("[")) {
                if (match_[i] == none) fail(i, "no ']' ends the array bound");
                if (result.name != none && depth == 0) result.is_array = true;
                abstract += text(i, match_[i] + 1);
                i = match_[i];
            } else if (token.is("(") && result.name != none) {  // parameters of a function pointer
                if (match_[i] == none) fail(i, "no ')' ends the parameters");
                abstract += text(i, match_[i] + 1);
                i = match_[i];
            } else if (token.is("(")) {
                ++depth;
                abstract += '(';
            } else if (token.is(")")) {
                if (--depth < 0) fail(i, "a __shared__ declaration in a macro's arguments cannot be read");
                abstract += ')';
                if (depth == 0 && is(i + 1, "(") && match_[i + 1] != none) {
                    abstract += text(i + 1, match_[i + 1] + 1);
                    i = match_[i + 1];
                }
            } else if (token.is("*") || token.is("::") || one_of(token.text, cv_qualifiers) ||
                       token.is("__restrict__")) {
                abstract += token.is_identifier() ? ' ' + std::string(token.text) + ' ' : std::string(token.text);
            } else if (token.is_identifier() && result.name == none) {
                result.name = i;
                while (macro_ && is(i + 1, "##")) i += 2;
                result.name_end = i + 1;
            } else if (token.is("&") || token.is("&&")) {
                fail(i, "a __shared__ variable cannot be a reference");
            } else {
                if (result.name != none && i > 0 && (token.is("}") || token.line > tokens_[i - 1].line))
                    fail(i - 1, "no ';' ends this __shared__ declaration");
                fail(i, "cannot read this __shared__ declaration");
            }
        }
        if (result.name == none) fail(std::min(first, tokens_.size() - 1), "cannot read this __shared__ declaration");
        result.abstract = abstract;
        return result;
    }

    /// `prefix` and the declared name as one identifier.
    std::string joined_name(const char* prefix, const Declarator& declarator) const {
        const bool parameter = macro_ && macro_->has_parameter(tokens_[declarator.name].text);
        return std::string(prefix) + (parameter ? "##" : "") + text(declarator.name, declarator.name_end);
    }

    std::string shared_declaration(const Specifiers& specifiers, const Declarator& declarator,
                                   const std::string& base) const {
        const std::string name = text(declarator.name, declarator.name_end);
        const std::string type = joined_name("cpu_device_type_", declarator);
        std::string result =
            "using " + type + " = " + base + (declarator.abstract.empty() ? "" : " ") + declarator.abstract + "; ";
        if (specifiers.is_extern) {
            if (!declarator.is_array)
                fail(declarator.name,
                     "extern __shared__ needs an array without a size, such as 'extern __shared__ float data[];'");
            if (scope() == Scope::name_space)
                return result + "[[maybe_unused]] static thread_local std::remove_extent_t<" + type + ">* " + name +
                       " = nullptr; static const ::cpu_device::NamespaceDynamicShared cpu_device_dynamic_" + name +
                       "([](void* start) { " + name + " = static_cast<std::remove_extent_t<" + type + ">*>(start); })";
            return result + "[[maybe_unused]] auto& " + name + " = *static_cast<" + type +
                   "*>(::cpu_device::dynamic_shared_memory())";
        }
        std::string alignment = specifiers.alignment;
        if (!declarator.alignment.empty()) add(alignment, declarator.alignment);
        std::string alignment_of = type;
        if (!alignment.empty()) {
            alignment_of = joined_name("cpu_device_alignment_", declarator);
            result += "struct " + alignment_of + " { " + alignment + ' ' + type + " value; }; ";
        }
        const std::string label = spelled(declarator.name, declarator.name_end);
        const std::string place = site(declarator.name);
        if (scope() == Scope::name_space)
            return result + "[[maybe_unused]] static const ::cpu_device::NamespaceShared<" + type + "> " + name + "{" +
                   label + ", " + place + (alignment.empty() ? "" : ", alignof(" + alignment_of + ")") + "}";
        const std::string variable = joined_name("cpu_device_shared_", declarator);
        return result + "static constinit ::cpu_device::SharedVariable " + variable + "{" + label + ", sizeof(" + type +
               "), alignof(" + alignment_of + "), " + place + "}; [[maybe_unused]] auto& " + name +
               " = ::cpu_device::shared<" + type + ">(" + variable + ")";
    }

    /// Rewrites the declaration around the `__shared__` at `i` and returns its last token in front of the `;`.
    std::size_t rewrite_shared(std::size_t i) {
        std::size_t begin = specifiers_begin(i, false);
        Specifiers specifiers = read_specifiers(begin);
        if (!specifiers.has_type) {
            begin = specifiers_begin(i, true);
            specifiers = read_specifiers(begin);
        }
        if (!specifiers.has_type || specifiers.end <= i) {
            if (is_shared_alias()) return tokens_.size() - 1;
            fail(i, "cannot read this __shared__ declaration");
        }
        if (scope() == Scope::type) fail(i, "__shared__ cannot stand in a class");
        if (scope() == Scope::code && certain_sides(i) == host_side)
            fail(i,
                 "a __shared__ variable cannot be in host code: only kernels and __device__ functions have shared "
                 "memory");
        if (in_parentheses()) fail(i, "a __shared__ declaration in parentheses or a macro's arguments cannot be read");

        std::size_t at = specifiers.end;
        std::string declarations;
        std::string base = specifiers.type;
        while (true) {
            const std::size_t first = at;
            const Declarator declarator = read_declarator(at);
            if (first == specifiers.end && specifiers.body != none && !specifiers.named_class)
                add(base, joined_name("cpu_device_struct_", declarator));
            if (!declarations.empty()) declarations += "; ";
            declarations += shared_declaration(specifiers, declarator, base);
            state_.shared_names.push_back(tokens_[declarator.name].text);
            if (!is(at, ",")) break;
            ++at;
        }
        if (at == tokens_.size() && !macro_) fail(i, "no ';' ends this __shared__ declaration");
        require_no_directive(begin, at - 1, "a __shared__ declaration");
        const std::size_t end = tokens_[at - 1].end();
        if (specifiers.body == none) {
            replace(tokens_[begin].begin, end, declarations);
            return at - 1;
        }
        // The class stays where it is, with a name, and the variables follow it.
        const std::size_t brace_end = tokens_[match_[specifiers.body]].end();
        const std::size_t tag = base.rfind(' ') == std::string::npos ? 0 : base.rfind(' ') + 1;
        replace(tokens_[begin].begin, tokens_[specifiers.class_key].begin, "");
        if (!specifiers.named_class) insert(tokens_[specifiers.body].begin, base.substr(tag) + ' ');
        replace(brace_end, end, "; " + declarations);
        return at - 1;
    }

    /// Whether the macro's body is nothing but specifiers: `#define SHARED __shared__`.
    bool is_shared_alias() const { return macro_ && is_shared_alias(macro_->body); }

public:
    static bool is_shared_alias(const Tokens& body) {
        bool shared = false;
        for (const Token& token : body) {
            if (!one_of(token.text, dropped_specifiers) && !one_of(token.text, cv_qualifiers)) return false;
            shared = shared || token.is("__shared__");
        }
        return shared;
    }

private:
public:
    /// Specifiers and perhaps a type, with `__global__` among them: what a kernel's declaration begins with.
    static bool is_global_alias(const Tokens& body) {
        const auto global = [](const Token& token) { return token.is("__global__"); };
        const auto specifier = [](const Token& token) {
            return (token.is_identifier() && !token.is("template")) || token.kind == Token::Kind::string;
        };
        return std::any_of(body.begin(), body.end(), global) && std::all_of(body.begin(), body.end(), specifier);
    }

private:
    /// A lambda inside device code may use `__shared__` variables without capturing them in CUDA, because they are
    /// static there. Here they are local references: adds the captures.
    void capture_shared_names(std::size_t i) {
        if (state_.shared_names.empty() || match_[i] == none || is(i + 1, "[")) return;
        if (i > 0) {
            const Token& before = tokens_[i - 1];
            const bool operand = before.kind != Token::Kind::punctuator || before.is(")") || before.is("]");
            if ((operand && !before.is("return")) || before.is("[")) return;
        }
        const std::size_t close = match_[i];
        if (is(i + 1, "&") && (is(i + 2, ",") || i + 2 == close)) return;  // captures everything by reference
        std::size_t brace = close + 1;
        while (brace < tokens_.size() && !is(brace, "{") && !is(brace, ";") && !is(brace, ")") && !is(brace, ",") &&
               !is(brace, "}"))
            brace = (is(brace, "(") || is(brace, "[")) && match_[brace] != none ? match_[brace] + 1 : brace + 1;
        if (!is(brace, "{") || match_[brace] == none) return;
        std::string captures;
        std::vector<std::string_view> done;
        for (std::string_view name : state_.shared_names) {
            const auto mentioned = [&](std::size_t from, std::size_t to) {
                for (std::size_t k = from; k < to; ++k)
                    if (is(k, name) && !is(k - 1, ".") && !is(k - 1, "->") && !is(k - 1, "::")) return true;
                return false;
            };
            if (std::find(done.begin(), done.end(), name) != done.end()) continue;
            if (mentioned(i + 1, brace) || !mentioned(brace, match_[brace])) continue;
            done.push_back(name);
            captures += (captures.empty() && close == i + 1 ? "&" : ", &") + std::string(name);
        }
        if (!captures.empty()) insert(tokens_[close].begin, captures);
    }

    const Sources& sources_;
    const Tokens& tokens_;
    const std::vector<Directive>& directives_;
    const MacroDefinition* macro_;
    Analysis& analysis_;
    std::vector<Edit>& edits_;
    std::vector<std::size_t> match_;          ///< of every bracket the other one's position
    std::vector<std::size_t> closing_angle_;  ///< of every `<` the position of the `>` that ends template arguments
    State state_;
    std::vector<std::pair<std::size_t, State>> saved_states_;  ///< at each open #if, with its position
    bool own_texture_ = false;                                 ///< the file defines a `texture` of its own
    std::unordered_set<std::string_view> local_names_;  ///< declared in the function or class whose bracket is at
    std::size_t local_names_of_ = none;                 ///< this position
    std::size_t two_valued_at_ = none;  ///< a macro in the present declaration that depends on __CUDA_ARCH__
};

/// Splits `NAME(parameters) body`.
MacroDefinition read_macro(const Directive& directive) {
    MacroDefinition macro;
    const Tokens& tokens = directive.tokens;
    macro.name = tokens[0].text;
    std::size_t i = 1;
    if (tokens.size() > 1 && tokens[1].is("(") && tokens[1].begin == tokens[0].end()) {
        for (i = 2; i < tokens.size() && !tokens[i].is(")"); ++i) {
            if (tokens[i].is_identifier()) macro.parameters.push_back(tokens[i].text);
            if (!tokens[i].is("...")) continue;
            if (tokens[i - 1].is_identifier()) macro.rest = tokens[i - 1].text;
            macro.parameters.push_back("__VA_ARGS__");
        }
        ++i;
    }
    for (; i < tokens.size(); ++i) macro.body.push_back(tokens[i]);
    return macro;
}

std::optional<Include> read_include(std::string_view source, const Directive& directive) {
    const std::size_t begin = source.find_first_not_of(" \t", directive.begin);
    if (begin == std::string_view::npos || begin >= directive.end) return std::nullopt;
    const char open = source[begin];
    if (open != '"' && open != '<') return std::nullopt;
    const std::size_t close = source.find(open == '"' ? '"' : '>', begin + 1);
    if (close == std::string_view::npos || close >= directive.end) return std::nullopt;
    return Include{begin, close + 1, std::string(source.substr(begin + 1, close - begin - 1)), open == '"'};
}

}  // namespace

bool returns_status(std::string_view function) {
    return function.substr(0, 4) == "cuda" &&
           std::binary_search(std::begin(status_functions), std::end(status_functions), function.substr(4));
}

std::vector<Include> read_includes(std::string_view source, const FileFacts& facts) {
    std::vector<Include> includes;
    for (const Directive& directive : facts.file.directives)
        if (directive.name == "include")
            if (auto include = read_include(source, directive)) includes.push_back(std::move(*include));
    return includes;
}

Analysis analyze(std::string_view source, const std::string& file_name, const FileFacts& facts,
                 const ProgramFacts& program, const std::vector<const MacroGroup*>& groups) {
    const TokenizedFile& file = facts.file;
    Sources sources{source, file_name, {}, program, groups, facts.groups};
    Analysis analysis;
    analysis.file_name = file_name;
    if (!program.macros_hold_half_brackets)
        if (const auto mistake = find_bracket_mistake(source, file)) sources.fail(mistake->line, mistake->message);
    const auto differs = [&](const Token& token) { return program.two_valued.count(token.text) != 0; };
    sources.differs_by_side = std::any_of(file.tokens.begin(), file.tokens.end(), differs);
    for (const Directive& directive : file.directives)
        sources.differs_by_side =
            sources.differs_by_side || std::any_of(directive.tokens.begin(), directive.tokens.end(), differs);

    std::vector<MacroDefinition> macros;
    for (const Directive& directive : file.directives) {
        // Only nvcc defines __NVCC__, and libraries of the host count on that: it is another name here.
        const bool defines = directive.name == "define";
        if (defines || directive.name.substr(0, 2) == "if" || directive.name.substr(0, 4) == "elif")
            for (std::size_t i = defines ? 1 : 0; i < directive.tokens.size(); ++i)
                if (const Token& token = directive.tokens[i]; token.is("__NVCC__"))
                    analysis.edits.push_back({token.begin, token.end(), "__CUDACC__"});
        if (directive.name != "define" || directive.tokens.empty()) continue;
        macros.push_back(read_macro(directive));
        const std::string_view name = directive.tokens[0].text;
        const Tokens& body = macros.back().body;
        sources.macros.names.insert(name);
        if (Pass::is_shared_alias(body)) sources.macros.shared_aliases.emplace(name, body);
        if (Pass::is_launch_configuration(body)) sources.macros.launch_configurations.insert(name);
        if (Pass::is_global_alias(body)) sources.macros.global_aliases.insert(name);
    }

    for (std::size_t i = 1; i < file.tokens.size(); ++i)
        if (file.tokens[i - 1].is(">") && sources.macros.names.count(file.tokens[i].text) != 0)
            sources.macros.behind_template.insert(file.tokens[i].text);

    for (const MacroGroup& group : facts.groups) {
        if (group.marker.empty()) continue;
        const auto line = std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(group.end), '\n') + 2;
        analysis.edits.push_back(
            {group.end, group.end,
             "\n#define " + group.marker + "\n#line " + std::to_string(line) + ' ' + as_string_literal(file_name)});
    }
    static const std::vector<Directive> no_directives;
    for (const MacroDefinition& macro : macros) Pass(sources, macro.body, no_directives, &macro, analysis).run();
    Pass(sources, file.tokens, file.directives, nullptr, analysis).run();
    return analysis;
}

namespace {

using Kernels = std::vector<const KernelDeclaration*>;
using KernelsByName = std::map<std::string_view, Kernels>;

/// Whether `launch` can mean only one function, whose parameters have certain types. `kernels` are all of its name.
bool is_certain(const NamedLaunch& launch, const Kernels& kernels) {
    const KernelDeclaration& first = *kernels.front();
    const auto is_definition = [](const KernelDeclaration* kernel) { return kernel->is_definition; };
    if (std::count_if(kernels.begin(), kernels.end(), is_definition) > 1) return false;
    return std::all_of(kernels.begin(), kernels.end(), [&](const KernelDeclaration* kernel) {
        return kernel->is_template == first.is_template && !kernel->takes_pack && kernel->template_arguments &&
               *kernel->template_arguments <= launch.template_arguments &&
               kernel->parameters.size() == first.parameters.size() &&
               (!launch.arguments || *launch.arguments == first.parameters.size());
    });
}

/// The parameters of the kernel that `launch` calls, as far as `kernels`, all of its name, agree on them. Only those
/// that the launcher gets arguments for.
std::vector<KernelParameter> parameters_of(const NamedLaunch& launch, Kernels kernels, bool certain) {
    const auto prefer = [&](const auto& better) {
        if (std::any_of(kernels.begin(), kernels.end(), better))
            kernels.erase(std::remove_if(kernels.begin(), kernels.end(), [&](const auto* k) { return !better(k); }),
                          kernels.end());
    };
    if (launch.arguments)
        prefer([&](const KernelDeclaration* kernel) {
            const std::size_t parameters = kernel->parameters.size();
            return kernel->takes_pack ? *launch.arguments + 1 >= parameters : *launch.arguments == parameters;
        });
    prefer([](const KernelDeclaration* kernel) { return kernel->is_definition; });
    for (const KernelDeclaration* kernel : kernels)
        if (kernel->parameters != kernels.front()->parameters || kernel->takes_pack != kernels.front()->takes_pack)
            return {};
    std::vector<KernelParameter> parameters = kernels.front()->parameters;
    const bool any_number = kernels.front()->takes_pack && !launch.arguments;
    if (kernels.front()->takes_pack && launch.arguments) parameters.resize(*launch.arguments, parameters.back());
    if (certain) return parameters;
    for (std::size_t i = launch.not_passed.size(); i-- > 0;)
        if (launch.not_passed[i] + (any_number ? 1 : 0) < parameters.size())
            parameters.erase(parameters.begin() + static_cast<std::ptrdiff_t>(launch.not_passed[i]));
    return parameters;
}

/// "in,out,n"; empty when no parameter has a name.
std::string names_of(const std::vector<KernelParameter>& parameters) {
    std::string names;
    for (const KernelParameter& parameter : parameters) names += ',' + parameter.name;
    return names.find_first_not_of(',') == std::string::npos ? "" : names.substr(1);
}

/// "copy(in,out);scale(x)": all kernels that a launch through a variable may mean, as far as their parameters are
/// known.
std::string kernels_with_names(const NamedLaunch& launch, const KernelsByName& by_name) {
    std::string all;
    for (const auto& [name, kernels] : by_name) {
        const std::string names = names_of(parameters_of(launch, kernels, false));
        if (!names.empty()) all += (all.empty() ? "" : ";") + std::string(name) + '(' + names + ')';
    }
    return all;
}

/// The function to which a variable points. What looks like a variable may be the name of several functions.
std::string function_in(const std::string& variable) {
    const std::string call = "cpu_device_function(" + variable + ")";
    return "[&](auto cpu_device_function) -> const void* { if constexpr (requires { " + call + "; }) return " + call +
           "; else return nullptr; }(::cpu_device::FunctionOf())";
}

/// A bit for each parameter that is a reference; the last bit stands for all that follow, too.
std::uint64_t reference_bits(const std::vector<KernelParameter>& parameters) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i)
        if (parameters[i].is_reference) bits |= std::uint64_t{1} << std::min<std::size_t>(i, 63);
    return bits;
}

}  // namespace

std::vector<Edit> complete_launches(const Analysis& analysis, const std::vector<const Analysis*>& visible) {
    KernelsByName by_name;
    for (const Analysis* file : visible)
        for (const KernelDeclaration& kernel : file->kernels) by_name[kernel.name].push_back(&kernel);
    std::vector<Edit> edits = analysis.edits;
    for (const NamedLaunch& launch : analysis.launches) {
        if (launch.through_variable) {
            const std::string kernels = kernels_with_names(launch, by_name);
            if (!kernels.empty())
                edits[launch.names_edit].text =
                    ", \"\", " + as_string_literal(kernels) + ", " + function_in(launch.kernel);
            continue;
        }
        const auto found = by_name.find(launch.kernel);
        if (found == by_name.end()) continue;
        const bool overloaded = std::any_of(visible.begin(), visible.end(), [&](const Analysis* file) {
            return file->other_functions.count(launch.kernel) != 0;
        });
        const bool certain = !overloaded && is_certain(launch, found->second);
        const std::vector<KernelParameter> parameters = parameters_of(launch, found->second, certain);
        const std::string names = names_of(parameters);
        if (!names.empty()) edits[launch.names_edit].text = ", " + as_string_literal(names);
        if (certain && launch.arguments) edits[launch.call_edit].text = ".run";
        if (certain) {
            for (const auto& [edit, instead] : launch.when_certain) edits[edit] = instead;
        } else if (const std::uint64_t bits = reference_bits(parameters)) {
            edits[launch.references_edit].text = '<' + std::to_string(bits) + "u>";
        }
    }
    return edits;
}

namespace {

/// The text of [begin, end) with the edits in it made. `next` is the first edit that may be in it, and becomes the
/// first one behind it.
std::string with_edits(std::string_view source, std::size_t begin, std::size_t end, const std::vector<Edit>& edits,
                       std::size_t& next) {
    std::string result;
    std::size_t at = begin;
    for (; next < edits.size() && edits[next].begin < end; ++next) {
        const Edit& edit = edits[next];
        if (edit.begin < at) continue;  // inside text that another edit has moved
        result += source.substr(at, edit.begin - at);
        result += edit.text;
        at = edit.end;
    }
    if (at < end) result += source.substr(at, end - at);
    return result;
}

}  // namespace

std::string apply_edits(std::string_view source, std::vector<Edit> edits, std::vector<TwoVersions> two_versions,
                        const std::string& file_name) {
    const auto in_order = [](const auto& a, const auto& b) { return a.begin < b.begin; };
    std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.goes_first > b.goes_first;
    });
    std::sort(two_versions.begin(), two_versions.end(), in_order);
    std::string result = "#line 1 " + as_string_literal(file_name) + "\n";
    result.reserve(source.size() + source.size() / 4);
    std::size_t at = source.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0;  // a byte order mark may only stand in front
    std::size_t next = 0;
    for (const TwoVersions& function : two_versions) {
        if (function.begin < at) continue;
        result += with_edits(source, at, function.begin, edits, next);
        std::size_t again = next;
        result += function.before + with_edits(source, function.begin, function.end, edits, next) + function.between;
        result += with_edits(source, function.begin, function.end, edits, again) + function.after;
        at = function.end;
    }
    return result + with_edits(source, at, source.size() + 1, edits, next);
}

}  // namespace cpu_device::rewriter

#include "machine_code.h"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "common/helpers/child_process.h"
#include "tally.h"

namespace cpu_device {
namespace {

using Kind = MicroOperation::Kind;
using warpwise::model::Latency;
using warpwise::model::Pipe;

// ---- numbers of values ---------------------------------------------------------------------------------------

constexpr std::int16_t kNoValue = MicroOperation::kNone;
constexpr std::int16_t kFirstVector = 16;
constexpr std::int16_t kFlags = 32;
constexpr std::int16_t kFirstSlot = 64;   // of the stack
constexpr std::int16_t kSlots = 256;      // 4 bytes each
constexpr std::int16_t kFirstLoad = 320;  // what an announced access loaded
constexpr std::int16_t kLoads = kValues - kFirstLoad;

std::int16_t register_number(std::string_view name) {
    if (name.starts_with("xmm")) return static_cast<std::int16_t>(kFirstVector + std::atoi(name.data() + 3) % 16);
    if (name.size() >= 2 && name[0] == 'r' && name[1] >= '0' && name[1] <= '9') {
        return static_cast<std::int16_t>(std::atoi(name.data() + 1) % 16);  // r8d and so on
    }
    constexpr std::array<std::string_view, 8> letters = {"ax", "bx", "cx", "dx", "si", "di", "bp", "sp"};
    for (std::size_t i = 0; i < letters.size(); ++i) {
        if (name.find(letters[i]) != name.npos) return static_cast<std::int16_t>(i < 4 ? i : i);
    }
    if (name == "al" || name == "ah") return 0;
    if (name == "bl" || name == "bh") return 1;
    if (name == "cl" || name == "ch") return 2;
    if (name == "dl" || name == "dh") return 3;
    if (name == "sil") return 4;
    if (name == "dil") return 5;
    if (name == "bpl") return 6;
    return kNoValue;
}
constexpr std::int16_t kResult = 0;         // rax
constexpr std::int16_t kFirstArgument = 5;  // rdi

// ---- reading objdump's lines -----------------------------------------------------------------------------------

struct Operand {
    enum class Kind : unsigned char { nothing, immediate, reg, stack, memory, constant, thread_local_variable };
    Kind kind = Kind::nothing;
    std::string_view text;
    std::int16_t value = kNoValue;                               ///< of a register or a stack slot
    std::array<std::int16_t, 2> address = {kNoValue, kNoValue};  ///< registers of an address
    bool scaled = false;                                         ///< the address has an index
};

struct Instruction {
    std::uint32_t address = 0;
    std::uint32_t end = 0;  ///< the next one's
    std::string_view name;
    std::vector<Operand> operands;
    std::string_view symbol;  ///< of a call
    std::uint32_t target = 0;
};

Operand read_operand(std::string_view text) {
    Operand operand;
    operand.text = text;
    if (text.empty()) return operand;
    if (text[0] == '$') {
        operand.kind = Operand::Kind::immediate;
        return operand;
    }
    if (text[0] == '%' && text.find(':') == text.npos) {
        operand.kind = Operand::Kind::reg;
        operand.value = register_number(text.substr(1));
        return operand;
    }
    if (text.starts_with("%fs:")) {
        operand.kind = Operand::Kind::thread_local_variable;
        return operand;
    }
    const std::size_t open = text.find('(');
    if (open == text.npos) {
        operand.kind = Operand::Kind::constant;
        return operand;
    }
    if (text.find("%rip") != text.npos) {
        operand.kind = Operand::Kind::constant;
        return operand;
    }
    std::string_view inside = text.substr(open + 1, text.find(')') - open - 1);
    const std::size_t comma = inside.find(',');
    const std::string_view base = inside.substr(0, comma);
    if (base.starts_with("%")) operand.address[0] = register_number(base.substr(1));
    if (comma != inside.npos) {
        const std::string_view index = inside.substr(comma + 1);
        if (index.starts_with("%")) operand.address[1] = register_number(index.substr(1, index.find(',') - 1));
        operand.scaled = true;
    }
    if (base == "%rsp" && !operand.scaled) {
        operand.kind = Operand::Kind::stack;
        const long offset = std::strtol(std::string(text.substr(0, open)).c_str(), nullptr, 16);
        operand.value = static_cast<std::int16_t>(kFirstSlot + (static_cast<unsigned long>(offset) / 4) % kSlots);
    } else {
        operand.kind = Operand::Kind::memory;
        if (text.starts_with("0x0(")) operand.text = text.substr(3);
    }
    return operand;
}

std::vector<Operand> read_operands(std::string_view text) {
    std::vector<Operand> operands;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && text[i] == '(') ++depth;
        if (i < text.size() && text[i] == ')') --depth;
        if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
        if (i > begin) operands.push_back(read_operand(text.substr(begin, i - begin)));
        begin = i + 1;
    }
    return operands;
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

/// "   11ba3:\tcall   11bb20 <__sanitizer_cov_trace_pc>"; nothing for other lines.
std::optional<Instruction> read_instruction(std::string_view line) {
    const std::size_t colon = line.find(":\t");
    if (colon == line.npos) return std::nullopt;
    Instruction instruction;
    instruction.address =
        static_cast<std::uint32_t>(std::strtoul(std::string(trimmed(line.substr(0, colon))).c_str(), nullptr, 16));
    std::string_view rest = trimmed(line.substr(colon + 2));
    for (const std::string_view prefix : {"lock ", "rep ", "repz ", "bnd ", "data16 ", "cs ", "notrack "}) {
        if (rest.starts_with(prefix)) rest = trimmed(rest.substr(prefix.size()));
    }
    if (const std::size_t comment = rest.find('#'); comment != rest.npos) rest = trimmed(rest.substr(0, comment));
    const std::size_t blank = rest.find(' ');
    instruction.name = rest.substr(0, blank);
    std::string_view arguments = blank == rest.npos ? std::string_view() : trimmed(rest.substr(blank));
    const std::size_t symbol = arguments.find('<');
    if (symbol != arguments.npos && (instruction.name[0] == 'j' || instruction.name == "call")) {
        instruction.symbol = arguments.substr(symbol + 1, arguments.find('>') - symbol - 1);
        instruction.target =
            static_cast<std::uint32_t>(std::strtoul(std::string(arguments.substr(0, symbol)).c_str(), nullptr, 16));
    } else {
        instruction.operands = read_operands(arguments);
    }
    return instruction;
}

// ---- what a GPU does instead -----------------------------------------------------------------------------------

/// Instructions of nvcc's code for a function of the mathematical library, without options such as --use_fast_math.
/// Counted in PTX and SASS of small kernels, paths for large arguments left out.
struct Library {
    std::string_view name;
    float fp32;
    float fp64;
    float special;
    float integer;
    float waits;  ///< dependent results, one after the other, in FP32 latencies (FP64 latencies where fp64 > 0)
};
constexpr std::array libraries = {
    Library{"sinf", 14, 0, 0, 10, 16},   Library{"cosf", 14, 0, 0, 10, 16},  Library{"sincosf", 22, 0, 0, 14, 18},
    Library{"tanf", 20, 0, 1, 10, 22},   Library{"expf", 6, 0, 1, 2, 9},     Library{"exp2f", 3, 0, 1, 1, 7},
    Library{"exp10f", 7, 0, 1, 2, 10},   Library{"expm1f", 14, 0, 1, 3, 14}, Library{"logf", 13, 0, 0, 6, 16},
    Library{"log2f", 6, 0, 1, 3, 9},     Library{"log10f", 15, 0, 0, 6, 17}, Library{"log1pf", 14, 0, 0, 8, 17},
    Library{"powf", 40, 0, 2, 14, 44},   Library{"sqrtf", 6, 0, 1, 2, 10},   Library{"tanhf", 12, 0, 2, 4, 14},
    Library{"atanf", 16, 0, 1, 4, 18},   Library{"atan2f", 24, 0, 1, 8, 26}, Library{"asinf", 16, 0, 1, 4, 18},
    Library{"acosf", 16, 0, 1, 4, 18},   Library{"cbrtf", 12, 0, 2, 4, 14},  Library{"hypotf", 10, 0, 1, 6, 14},
    Library{"erff", 20, 0, 1, 4, 22},    Library{"fmodf", 14, 0, 1, 12, 20}, Library{"fmaf", 1, 0, 0, 0, 1},
    Library{"rintf", 1, 0, 0, 0, 1},     Library{"floorf", 1, 0, 0, 0, 1},   Library{"ceilf", 1, 0, 0, 0, 1},
    Library{"roundf", 3, 0, 0, 1, 3},    Library{"truncf", 1, 0, 0, 0, 1},   Library{"fmaxf", 1, 0, 0, 0, 1},
    Library{"fminf", 1, 0, 0, 0, 1},     Library{"sin", 0, 16, 0, 20, 14},   Library{"cos", 0, 16, 0, 20, 14},
    Library{"sincos", 0, 28, 0, 24, 18}, Library{"tan", 0, 30, 1, 20, 24},   Library{"exp", 0, 16, 0, 8, 15},
    Library{"exp2", 0, 16, 0, 8, 15},    Library{"log", 0, 22, 1, 16, 20},   Library{"log2", 0, 26, 1, 16, 22},
    Library{"log10", 0, 26, 1, 16, 22},  Library{"pow", 0, 60, 2, 40, 50},   Library{"sqrt", 0, 8, 1, 4, 8},
    Library{"tanh", 0, 24, 2, 12, 22},   Library{"atan", 0, 26, 1, 8, 22},   Library{"atan2", 0, 36, 1, 16, 30},
    Library{"cbrt", 0, 14, 2, 8, 16},    Library{"hypot", 0, 14, 1, 12, 16}, Library{"erf", 0, 40, 1, 8, 34},
    Library{"fma", 0, 1, 0, 0, 1},       Library{"fmax", 0, 2, 0, 2, 2},     Library{"fmin", 0, 2, 0, 2, 2},
    Library{"floor", 0, 1, 0, 1, 1},     Library{"ceil", 0, 1, 0, 1, 1},     Library{"rint", 0, 1, 0, 1, 1},
};

/// One basic block after the other.
class Translator {
public:
    /// `out`: gets the operations of the instructions that follow.
    void begin(BasicBlock* out, std::uint32_t start) {
        block_ = out;
        start_ = start;
    }
    bool is_open() const { return block_ != nullptr; }

    void translate(const Instruction& instruction);

private:
    MicroOperation& add(Kind kind) {
        MicroOperation& operation = block_->operations.emplace_back();
        operation.kind = kind;
        operation.end = end_;
        return operation;
    }
    MicroOperation& compute(Pipe pipe, Latency wait, float issues, std::int16_t to) {
        MicroOperation& operation = add(Kind::compute);
        operation.pipe = pipe;
        operation.wait = wait;
        operation.issues = issues;
        operation.to = to;
        return operation;
    }
    std::int16_t value_of(const Operand& operand);
    /// Equal for equal texts.
    static std::uint16_t place_of(std::string_view text) {
        return static_cast<std::uint16_t>(std::hash<std::string_view>()(text) | 1);
    }
    /// A result goes to memory: its access was announced before.
    void store(const Operand& operand, std::int16_t value) {
        MicroOperation& operation = add(Kind::move);
        operation.from[0] = value;
        operation.place = place_of(operand.text);
        operation.local = announced(operand) == nullptr;
    }
    void drop_lane_arithmetic();
    void call(const Instruction& instruction);
    void access(const Instruction& instruction);
    void arithmetic(const Instruction& instruction);
    void move(const Instruction& instruction);

    BasicBlock* block_ = nullptr;
    std::uint32_t start_ = 0;
    std::uint32_t end_ = 0;  ///< of the instruction that is translated
    std::string argument_;   ///< what rdi points at, as an operand
    struct Loaded {
        std::string place;
        std::int16_t value;
    };
    const Loaded* announced(const Operand& operand) const;
    std::vector<Loaded> loaded_;  ///< in this block, latest last
    std::int16_t next_load_ = 0;
    bool compared_with_constant_ = false;
};

std::int16_t Translator::value_of(const Operand& operand) {
    switch (operand.kind) {
        case Operand::Kind::reg:
        case Operand::Kind::stack:
            return operand.value;
        case Operand::Kind::memory: {
            if (const Loaded* loaded = announced(operand)) return loaded->value;
            // Nobody announced it: an array of the thread's own that no pointer leaves.
            MicroOperation& access = add(Kind::access);
            access.place = place_of(operand.text);
            access.to = static_cast<std::int16_t>(kFirstLoad + next_load_++ % kLoads);
            return access.to;
        }
        default:
            return kNoValue;
    }
}

/// The announced access that the operand carries out, a part of it, or the like; null if there is none.
const Translator::Loaded* Translator::announced(const Operand& operand) const {
    for (auto at = loaded_.rbegin(); at != loaded_.rend(); ++at) {
        if (at->place == operand.text) return &*at;
    }
    const std::string_view registers = operand.text.substr(operand.text.find('('));
    for (auto at = loaded_.rbegin(); at != loaded_.rend(); ++at) {
        if (at->place.ends_with(registers) || at->place.empty()) return &*at;
    }
    return nullptr;
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

/// An announced access: its address is in rdi.
void Translator::access(const Instruction& instruction) {
    MicroOperation& operation = add(Kind::access);
    operation.pipe = Pipe::memory;
    operation.issues = 1;
    operation.from[0] = kFirstArgument;
    operation.code = instruction.end;
    operation.place = place_of(argument_);
    operation.local = argument_.find("%rsp,") != std::string::npos;
    operation.to = static_cast<std::int16_t>(kFirstLoad + next_load_++ % kLoads);
    loaded_.push_back({argument_, operation.to});
    if (loaded_.size() > 16) loaded_.erase(loaded_.begin());
}

void Translator::call(const Instruction& instruction) {
    const std::string_view name = instruction.symbol.substr(0, instruction.symbol.find('@'));
    const auto has = [&](std::string_view word) { return name.find(word) != name.npos; };
    if (name.starts_with("__tsan_") || name.starts_with("cpu_device_mem") || has("see_atomic")) {
        if (has("func_") || has("vptr") || has("init")) return;
        access(instruction);
        return;
    }
    if (has("block_barrier") || has("see_fence")) {
        add(Kind::barrier);
        return;
    }
    if (has("SharedVariable") || has("__sanitizer")) return;
    if (has("shuffle")) drop_lane_arithmetic();
    if (has("shuffle") || has("vote") || has("ballot") || has("match") || has("reduce") || has("converge")) {
        MicroOperation& operation = compute(Pipe::shuffle, Latency::shuffle, 1, kFirstVector);
        operation.from[0] = kFirstVector;
        operation.from[1] = 4;  // rsi: where the value stands
        MicroOperation& result = add(Kind::move);
        result.from[0] = kFirstVector;
        result.to = kResult;
        return;
    }
    if (has("atomic")) {  // announced before; the result of an atomic operation arrives with the access
        for (const std::int16_t to : {kResult, kFirstVector}) {
            MicroOperation& result = add(Kind::move);
            result.from[0] = loaded_.empty() ? kNoValue : loaded_.back().value;
            result.to = to;
        }
        return;
    }
    for (const Library& library : libraries) {
        if (name != library.name) continue;
        const bool doubles = library.fp64 > 0;
        MicroOperation& operation =
            compute(doubles ? Pipe::fp64 : Pipe::fp32, doubles ? Latency::fp64 : Latency::arithmetic,
                    doubles ? library.fp64 : library.fp32, kFirstVector);
        operation.special = library.special;
        operation.wait_times = library.waits;
        for (std::int16_t i = 0; i < 3; ++i) operation.from[i] = static_cast<std::int16_t>(kFirstVector + i);
        if (library.name.starts_with("fma") && library.name.size() > 3 && library.name[3] != 'f') {
            operation.from[2] = kNoValue;
        }
        if (library.integer > 0) compute(Pipe::integer, Latency::arithmetic, library.integer, kNoValue);
        return;
    }
    MicroOperation& operation = add(Kind::call);
    operation.to = kResult;
    operation.from[0] = kFirstArgument;
}

/// The CPU device's headers work out the lane that a shuffle reads from; a GPU's instruction does it by itself.
void Translator::drop_lane_arithmetic() {
    constexpr int instructions_of_the_header = 10;
    auto& operations = block_->operations;
    int left = instructions_of_the_header;
    for (auto at = operations.rbegin(); at != operations.rend() && left > 0; ++at, --left) {
        if (at->kind == Kind::move || at->kind == Kind::jump) continue;
        if (at->kind != Kind::compute || at->pipe != Pipe::integer) break;
        at->issues = 0;
    }
}

void Translator::move(const Instruction& instruction) {
    const auto& operands = instruction.operands;
    const Operand& from = operands.front();
    const Operand& to = operands.back();
    if (to.kind == Operand::Kind::reg && to.value == kFirstArgument) {
        argument_ = from.kind == Operand::Kind::reg ? "(" + std::string(from.text) + ")" : std::string();
    }
    if (to.kind == Operand::Kind::memory) {
        store(to, value_of(from));
        return;
    }
    const std::int16_t value = value_of(from);
    MicroOperation& operation = add(Kind::move);
    operation.from[0] = value;
    operation.to = to.kind == Operand::Kind::reg || to.kind == Operand::Kind::stack ? to.value : kNoValue;
}

void Translator::arithmetic(const Instruction& instruction) {
    const std::string_view name = instruction.name;
    const auto& operands = instruction.operands;
    if (operands.empty()) return;
    const Operand& first = operands.front();
    const Operand& last = operands.back();
    const std::int16_t to =
        last.kind == Operand::Kind::reg || last.kind == Operand::Kind::stack ? last.value : kNoValue;
    // Before the operation, because a value in memory may be an operation of its own.
    std::array<std::int16_t, 3> values = {kNoValue, kNoValue, kNoValue};
    if (name != "lea") {
        for (std::size_t i = 0; i < std::min<std::size_t>(operands.size(), 3); ++i) values[i] = value_of(operands[i]);
    }
    const auto with_sources = [&](MicroOperation& operation, bool reads_target) -> MicroOperation& {
        int next = 0;
        for (std::size_t i = 0; i < operands.size() && next < 3; ++i) {
            if (i + 1 == operands.size() && operands.size() > 1 && !reads_target) break;
            operation.from[next++] = values[i];
        }
        return operation;
    };

    if (name == "lea") {
        if (to == kFirstArgument) argument_ = std::string(first.text);
        // A constant offset is a part of the instruction that accesses memory.
        const bool is_free = !first.scaled && (to == kFirstArgument || first.kind == Operand::Kind::constant);
        MicroOperation& operation = compute(Pipe::integer, Latency::arithmetic, is_free ? 0 : 1, to);
        operation.wait_times = is_free || first.kind == Operand::Kind::constant ? 0 : 1;
        operation.from[0] = first.kind == Operand::Kind::stack ? kNoValue : first.address[0];
        operation.from[1] = first.address[1];
        return;
    }
    if (to == kFirstArgument) argument_.clear();
    if (name.starts_with("cvt")) {
        const bool doubles = name.find("sd") != name.npos;
        MicroOperation& operation =
            with_sources(compute(Pipe::conversion, Latency::special, doubles ? 1.5F : 1, to), false);
        operation.wait_times = 0.7F;
        return;
    }
    const bool scalar_float = name.ends_with("ss");
    const bool scalar_double = name.ends_with("sd");
    if (scalar_float || scalar_double) {
        const std::string_view what = name.substr(0, name.size() - 2);
        const Pipe pipe = scalar_float ? Pipe::fp32 : Pipe::fp64;
        const Latency wait = scalar_float ? Latency::arithmetic : Latency::fp64;
        if (what == "mul") {
            MicroOperation& operation = with_sources(compute(pipe, wait, 1, to), true);
            operation.kind = Kind::product;
            return;
        }
        if (what == "add" || what == "sub") {
            MicroOperation& operation = with_sources(compute(pipe, wait, 1, to), true);
            operation.kind = Kind::sum;
            return;
        }
        if (what == "div" || what == "sqrt") {
            MicroOperation& operation = with_sources(compute(pipe, wait, 8, to), what == "div");
            operation.special = 1;
            operation.wait_times = scalar_float ? 9 : 8;
            compute(Pipe::integer, Latency::arithmetic, 2, kNoValue);
            return;
        }
        if (what == "max" || what == "min") {
            with_sources(compute(pipe, wait, 1, to), true);
            return;
        }
        if (is_one_of(what, {"ucomi", "comi"})) {
            with_sources(compute(pipe, wait, 1, kFlags), true);
            return;
        }
        if (what == "cmp" || what.starts_with("cmp")) {
            with_sources(compute(pipe, wait, 1, to), true);
            return;
        }
    }
    if (name.starts_with("p") || name.starts_with("andp") || name.starts_with("xorp") || name.starts_with("orp") ||
        name.starts_with("andnp") || name.starts_with("unpck") || name.starts_with("shuf")) {
        // Signs and absolute values are free on a GPU; xor with itself makes a zero.
        const bool zero = operands.size() == 2 && first.text == last.text;
        if (name.starts_with("push") || name.starts_with("pop")) return;
        MicroOperation& operation = add(Kind::move);
        operation.to = to;
        if (!zero) operation.from[0] = values[0];
        if (!zero) operation.from[1] = to;
        return;
    }
    if (last.kind == Operand::Kind::reg && last.text == "%rsp") return;
    if (name.starts_with("cmp") || name.starts_with("test") || name.starts_with("bt")) {
        compared_with_constant_ = first.kind == Operand::Kind::immediate;
        with_sources(compute(Pipe::integer, Latency::arithmetic, 1, kFlags), true);
        return;
    }
    if (name.starts_with("idiv") || name.starts_with("div")) {
        MicroOperation& operation = with_sources(compute(Pipe::integer, Latency::arithmetic, 16, kResult), true);
        operation.special = 1;
        operation.wait_times = 14;
        MicroOperation& remainder = add(Kind::move);
        remainder.from[0] = kResult;
        remainder.to = 3;
        return;
    }
    if (name.starts_with("set") || name.starts_with("cmov")) {
        MicroOperation& operation = with_sources(compute(Pipe::integer, Latency::arithmetic, 1, to), true);
        operation.from[2] = kFlags;
        return;
    }
    if ((name.starts_with("xor") || name.starts_with("sub")) && operands.size() == 2 && first.text == last.text) {
        add(Kind::move).to = to;
        return;
    }
    constexpr std::array<std::string_view, 21> names = {"add", "sub", "and", "or",     "xor",   "not",   "neg",
                                                        "shl", "shr", "sar", "sal",    "inc",   "dec",   "imul",
                                                        "mul", "rol", "ror", "popcnt", "bswap", "lzcnt", "shld"};
    const bool known = std::any_of(names.begin(), names.end(), [&](std::string_view known_name) {
        return name.starts_with(known_name) && name.size() <= known_name.size() + 1;
    });
    if (!known) {
        if (name.starts_with("bsf") || name.starts_with("bsr") || name.starts_with("tzcnt")) {
            with_sources(compute(Pipe::integer, Latency::arithmetic, 2, to), false);
        }
        return;
    }
    const bool flips_product = name.starts_with("imul") && operands.size() == 3;
    MicroOperation& operation = with_sources(compute(Pipe::integer, Latency::arithmetic, 1, to), !flips_product);
    // Registers of a GPU have 32 bits. Pointers advance by a multiple of an index, once for several accesses.
    const bool wide = last.kind == Operand::Kind::reg && last.text.starts_with("%r") && !last.text.ends_with("d");
    if (wide && (name.starts_with("shl") || name.starts_with("sal"))) operation.issues = 0.5F;
    if (name.starts_with("imul") && wide) operation.issues = 2;
    compared_with_constant_ = false;
}

void Translator::translate(const Instruction& instruction) {
    const std::string_view name = instruction.name;
    end_ = instruction.end;
    if (name == "call") {
        call(instruction);
        return;
    }
    if (name == "jmp") {
        if (instruction.target <= start_ && instruction.target != 0) {
            block_->loops = true;
            block_->jumps_to = instruction.target;
        }
        block_ = nullptr;
        return;
    }
    if (name == "ret" || name == "hlt" || name == "ud2") {
        block_ = nullptr;
        return;
    }
    if (name[0] == 'j') {
        MicroOperation& operation = add(Kind::jump);
        operation.pipe = Pipe::control;
        operation.issues = 1;
        operation.from[0] = kFlags;
        if (instruction.target < start_) {
            block_->loops = true;
            block_->constant_trips = compared_with_constant_;
            block_->jumps_to = instruction.target;
            operation.overhead = true;
            // The comparison before it, and what advances the counter, are the loop's as well.
            int left = 2;
            auto& operations = block_->operations;
            for (std::size_t i = operations.size() - 1; i-- > 0 && left > 0;) {
                if (operations[i].pipe != Pipe::integer || operations[i].kind != Kind::compute) continue;
                operations[i].overhead = true;
                --left;
            }
        }
        return;
    }
    if (name.starts_with("nop") || name == "endbr64" || name == "leave" || name.starts_with("push") ||
        name.starts_with("pop") || name.starts_with("cq") || name == "cltd" || name == "xchg") {
        if (!name.starts_with("popcnt")) return;
    }
    if ((name.starts_with("mov") || name == "cltq" || name == "cwtl") && !instruction.operands.empty()) {
        move(instruction);
        return;
    }
    arithmetic(instruction);
}

// ---- what is known so far --------------------------------------------------------------------------------------

struct Known {
    std::mutex mutex;
    std::unordered_map<std::uint32_t, BasicBlock> blocks;
    bool has_tool = true;
};

Known& known() {
    static Known* all = new Known;  // still needed when the process exits
    return *all;
}

/// What has to be added to an offset of code to get an address in the program's file.
std::uint64_t file_address_of_start() {
    std::uint64_t base = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* module, std::size_t, void* found) {
            *static_cast<std::uint64_t*>(found) = module->dlpi_addr;
            return 1;  // the first one is the program itself
        },
        &base);
    return reinterpret_cast<std::uintptr_t>(code_start()) - base;
}

void disassemble(Known& all, std::uint32_t begin, std::uint32_t end, const std::set<std::uint32_t>& wanted) {
    const std::uint64_t start = file_address_of_start();
    const auto option = [&](const char* name, std::uint32_t code) {
        char text[64];
        std::snprintf(text, sizeof text, "--%s-address=0x%llx", name, static_cast<unsigned long long>(start + code));
        return std::string(text);
    };
    const std::optional<std::string> said =
        warpwise::output_of({"objdump", "-d", "--no-show-raw-insn", option("start", begin), option("stop", end),
                             "/proc/" + std::to_string(getpid()) + "/exe"});
    all.has_tool = said.has_value();
    if (!said) return;
    Translator translator;
    std::optional<Instruction> pending;
    const auto finish = [&](const Instruction& instruction) {
        const bool is_step = instruction.name == "call" && instruction.symbol == "__sanitizer_cov_trace_pc";
        if (wanted.contains(instruction.address)) {
            translator = {};
            translator.begin(&all.blocks[instruction.address], instruction.address);
        }
        if (is_step) {
            translator = {};
            return;
        }
        if (translator.is_open()) translator.translate(instruction);
    };
    const std::string_view text = *said;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t line_end = std::min(text.find('\n', at), text.size());
        std::optional<Instruction> instruction = read_instruction(text.substr(at, line_end - at));
        at = line_end + 1;
        if (!instruction) continue;
        instruction->address = static_cast<std::uint32_t>(instruction->address - start);
        if (instruction->target != 0) instruction->target = static_cast<std::uint32_t>(instruction->target - start);
        if (pending) {
            pending->end = instruction->address;
            finish(*pending);
        }
        pending = std::move(instruction);
    }
    if (pending) finish(*pending);
}

}  // namespace

void learn_basic_blocks(const std::vector<std::uint32_t>& codes) {
    Known& all = known();
    std::lock_guard lock(all.mutex);
    std::set<std::uint32_t> wanted;
    for (const std::uint32_t code : codes) {
        if (all.blocks.try_emplace(code).second) wanted.insert(code);
    }
    constexpr std::uint32_t longest_block = 4096;
    constexpr std::uint32_t gap = 16384;
    for (auto at = wanted.begin(); at != wanted.end() && all.has_tool;) {
        const std::uint32_t begin = *at;
        std::uint32_t last = begin;
        while (at != wanted.end() && *at - last < gap) last = *at++;
        disassemble(all, begin, last + longest_block, wanted);
    }
}

const BasicBlock& basic_block(std::uint32_t code) {
    Known& all = known();
    std::lock_guard lock(all.mutex);
    return all.blocks[code];
}

int estimated_registers(const std::vector<std::uint32_t>& codes) {
    std::set<std::int16_t> used;
    for (const std::uint32_t code : codes) {
        for (const MicroOperation& operation : basic_block(code).operations) {
            if (operation.to >= 0 && operation.to < kFirstLoad && operation.to != kFlags) used.insert(operation.to);
        }
    }
    constexpr int least = 16;
    constexpr int most = 255;
    return std::clamp(10 + static_cast<int>(used.size()), least, most);
}

}  // namespace cpu_device

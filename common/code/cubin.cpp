#include "common/code/cubin.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "common/code/operations.h"

namespace warpwise::code {
namespace {

constexpr std::uint16_t kMachine = 190;  // EM_CUDA, in older elf.h unknown

[[noreturn]] void refuse(const std::string& why) { throw std::runtime_error("no cubin that can be read: " + why); }

/// Bytes of a section, read from the front.
class Reader {
public:
    explicit Reader(std::string_view bytes) : bytes_(bytes) {}

    std::size_t at() const { return at_; }
    std::size_t left() const { return at_ < bytes_.size() ? bytes_.size() - at_ : 0; }
    bool done() const { return left() == 0; }
    void go_to(std::size_t place) { at_ = place; }
    void skip(std::size_t count) { at_ += count; }

    template <class T>
    T number() {
        if (left() < sizeof(T)) refuse("a section ends too early");
        T value;
        std::memcpy(&value, bytes_.data() + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    /// LEB128, as DWARF has it.
    std::uint64_t unsigned_leb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const auto byte = number<std::uint8_t>();
            if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
            if ((byte & 0x80u) == 0) return value;
        }
    }
    std::int64_t signed_leb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;;) {
            const auto byte = number<std::uint8_t>();
            if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
            shift += 7;
            if ((byte & 0x80u) != 0) continue;
            if ((byte & 0x40u) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
            return static_cast<std::int64_t>(value);
        }
    }
    std::string_view text() {
        const std::size_t end = bytes_.find('\0', at_);
        if (end == bytes_.npos) refuse("a text without an end");
        const std::string_view value = bytes_.substr(at_, end - at_);
        at_ = end + 1;
        return value;
    }

private:
    std::string_view bytes_;
    std::size_t at_ = 0;
};

class Elf {
public:
    explicit Elf(std::string_view bytes) : bytes_(bytes) {
        Reader reader(bytes);
        header_ = reader.number<Elf64_Ehdr>();
        if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 || header_.e_ident[EI_CLASS] != ELFCLASS64) {
            refuse("not an ELF file of 64 bits");
        }
        if (header_.e_machine != kMachine) refuse("an ELF file, but of no GPU");
        for (unsigned i = 0; i < header_.e_shnum; ++i) {
            reader.go_to(header_.e_shoff + std::size_t{i} * sizeof(Elf64_Shdr));
            sections_.push_back(reader.number<Elf64_Shdr>());
        }
        if (header_.e_shstrndx >= sections_.size()) refuse("no names of sections");
        for (const Elf64_Shdr& section : sections_) names_.push_back(text_at(header_.e_shstrndx, section.sh_name));
        const std::optional<std::size_t> table = find(".symtab");
        if (!table) refuse("no symbols");
        const std::string_view symbols = bytes_of(*table);
        for (Reader each(symbols); !each.done();) symbols_.push_back(each.number<Elf64_Sym>());
        symbol_names_ = sections_[*table].sh_link;
    }

    std::size_t size() const { return sections_.size(); }
    const std::string& name(std::size_t section) const { return names_[section]; }
    const Elf64_Shdr& section(std::size_t index) const { return sections_[index]; }
    std::optional<std::size_t> find(const std::string& name) const {
        const auto found = std::find(names_.begin(), names_.end(), name);
        if (found == names_.end()) return std::nullopt;
        return found - names_.begin();
    }
    std::string_view bytes_of(std::size_t index) const {
        const Elf64_Shdr& section = sections_[index];
        if (section.sh_type == SHT_NOBITS) return {};
        if (section.sh_offset > bytes_.size() || section.sh_size > bytes_.size() - section.sh_offset) {
            refuse("a section beyond the end of the file");
        }
        return bytes_.substr(section.sh_offset, section.sh_size);
    }
    /// What a GPU's function says of itself besides its visibility: bit 4 of a kernel.
    bool is_entry(const std::string& function) const {
        constexpr unsigned char entry = 0x10;
        return std::any_of(symbols_.begin(), symbols_.end(), [&](const Elf64_Sym& symbol) {
            return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && (symbol.st_other & entry) != 0 &&
                   text_at(symbol_names_, symbol.st_name) == function;
        });
    }
    /// Subroutines in a section that its kernel calls for rare operands only: the toolkit's, whose usual ways are
    /// compiled into the kernel.
    std::vector<std::int64_t> rare_subroutines(std::size_t section) const {
        std::vector<std::int64_t> places;
        for (const Elf64_Sym& symbol : symbols_) {
            if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx != section) continue;
            const std::string name = text_at(symbol_names_, symbol.st_name);
            if (name.starts_with("$__internal_") || name.find("slowpath") != name.npos) {
                places.push_back(static_cast<std::int64_t>(symbol.st_value));
            }
        }
        return places;
    }
    std::string symbol(std::size_t index) const {
        if (index >= symbols_.size()) refuse("a symbol that is not there");
        return text_at(symbol_names_, symbols_[index].st_name);
    }

private:
    std::string text_at(std::size_t section, std::size_t offset) const {
        if (section >= sections_.size()) refuse("no names");
        Reader reader(bytes_of(section));
        reader.go_to(offset);
        return std::string(reader.text());
    }

    std::string_view bytes_;
    Elf64_Ehdr header_{};
    std::vector<Elf64_Shdr> sections_;
    std::vector<std::string> names_;
    std::vector<Elf64_Sym> symbols_;
    std::size_t symbol_names_ = 0;
};

// ---- .nv.info: registers and stack of each function ----------------------------------------------------------------

/// Numbers of two kinds of entry, by function.
struct Attributes {
    std::map<std::string, unsigned> registers;
    std::map<std::string, unsigned> stack_bytes;
};

Attributes attributes_of(const Elf& elf) {
    constexpr std::uint8_t with_size = 4;  // the format of entries that say how long they are
    constexpr std::uint8_t register_count = 0x2f;
    constexpr std::uint8_t frame_size = 0x11;
    Attributes attributes;
    const std::optional<std::size_t> section = elf.find(".nv.info");
    if (!section) return attributes;
    for (Reader reader(elf.bytes_of(*section)); !reader.done();) {
        const auto format = reader.number<std::uint8_t>();
        const auto kind = reader.number<std::uint8_t>();
        const auto size = reader.number<std::uint16_t>();
        if (format != with_size) continue;  // then `size` is the value
        const std::size_t next = reader.at() + size;
        if (kind == register_count || kind == frame_size) {
            const std::string function = elf.symbol(reader.number<std::uint32_t>());
            (kind == register_count ? attributes.registers : attributes.stack_bytes)[function] =
                reader.number<std::uint32_t>();
        }
        reader.go_to(next);
    }
    return attributes;
}

// ---- .debug_line (DWARF 2) -----------------------------------------------------------------------------------------

/// From this offset on, instructions are of this line.
struct LineRow {
    std::uint64_t offset = 0;
    SourceLine line;
};

class LineTable {
public:
    explicit LineTable(const Elf& elf) {
        const std::optional<std::size_t> section = elf.find(".debug_line");
        if (!section) return;
        // Sequences begin with the address of a function, which the linker would fill in.
        if (const auto relocations = elf.find(".rela.debug_line")) {
            for (Reader reader(elf.bytes_of(*relocations)); !reader.done();) {
                const auto entry = reader.number<Elf64_Rela>();
                function_at_[entry.r_offset] = elf.symbol(ELF64_R_SYM(entry.r_info));
            }
        }
        for (Reader reader(elf.bytes_of(*section)); !reader.done();) read_unit(reader);
    }

    std::vector<LineRow> of(const std::string& function) const {
        const auto found = rows_.find(function);
        std::vector<LineRow> rows = found == rows_.end() ? std::vector<LineRow>() : found->second;
        std::stable_sort(rows.begin(), rows.end(),
                         [](const LineRow& a, const LineRow& b) { return a.offset < b.offset; });
        return rows;
    }

private:
    /// The registers of DWARF's line machine, and NVIDIA's: the row that calls the inlined function, from 1.
    struct State {
        std::uint64_t offset = 0;
        std::uint64_t file = 1;
        std::int64_t line = 1;
        std::uint64_t caller = 0;
        std::string function{};
    };
    struct Frame {
        std::uint64_t file;
        std::int64_t line;
        std::uint64_t caller;
    };

    void read_unit(Reader& reader) {
        const auto size_of_unit = reader.number<std::uint32_t>();
        const std::size_t end = reader.at() + size_of_unit;
        const auto version = reader.number<std::uint16_t>();
        if (version > 4) refuse("a line table of DWARF " + std::to_string(version));
        const auto size_of_header = reader.number<std::uint32_t>();
        const std::size_t program = reader.at() + size_of_header;
        const auto unit = reader.number<std::uint8_t>();
        if (version == 4) reader.skip(1);
        reader.skip(1);  // whether rows are statements
        const auto line_base = reader.number<std::int8_t>();
        const auto line_range = reader.number<std::uint8_t>();
        const auto first_special = reader.number<std::uint8_t>();
        if (line_range == 0) refuse("a line table without lines");
        reader.skip(first_special - 1u);
        std::vector<std::string> folders = {""};
        for (std::string_view folder = reader.text(); !folder.empty(); folder = reader.text())
            folders.emplace_back(folder);
        files_ = {""};
        for (std::string_view file = reader.text(); !file.empty(); file = reader.text()) {
            const std::uint64_t folder = reader.unsigned_leb();
            reader.unsigned_leb();
            reader.unsigned_leb();
            if (folder >= folders.size()) refuse("a folder that is not there");
            files_.push_back((std::filesystem::path(folders[folder]) / file).lexically_normal().string());
        }
        reader.go_to(program);
        State state;
        frames_.clear();
        const auto advance = [&](unsigned special) {
            state.offset += std::uint64_t{special} / line_range * unit;
            state.line += line_base + static_cast<int>(special % line_range);
        };
        while (reader.at() < end) {
            const auto what = reader.number<std::uint8_t>();
            if (what >= first_special) {
                advance(what - first_special);
                add_row(state);
                continue;
            }
            switch (what) {
                case 0: {
                    const std::uint64_t size = reader.unsigned_leb();
                    if (size > reader.left()) refuse("a row of lines ends too early");
                    const std::size_t next = reader.at() + size;
                    extended(reader, state);
                    reader.go_to(next);
                    break;
                }
                case 1:
                    add_row(state);
                    break;
                case 2:
                    state.offset += reader.unsigned_leb() * unit;
                    break;
                case 3:
                    state.line += reader.signed_leb();
                    break;
                case 4:
                    state.file = reader.unsigned_leb();
                    break;
                case 5:
                    reader.unsigned_leb();
                    break;  // column
                case 8:
                    state.offset += (255u - first_special) / line_range * unit;
                    break;
                case 9:
                    state.offset += reader.number<std::uint16_t>();
                    break;
                default:
                    break;  // flags without operands
            }
        }
        reader.go_to(end);
    }

    void extended(Reader& reader, State& state) {
        constexpr std::uint8_t end_of_sequence = 1;
        constexpr std::uint8_t set_address = 2;
        constexpr std::uint8_t inlined_call = 0x90;
        const auto what = reader.number<std::uint8_t>();
        if (what == end_of_sequence) {
            state = {};
            frames_.clear();
        } else if (what == set_address) {
            const auto found = function_at_.find(reader.at());
            state.function = found == function_at_.end() ? std::string() : found->second;
            state.offset = reader.number<std::uint64_t>();
        } else if (what == inlined_call) {
            state.caller = reader.unsigned_leb();
        }
    }

    void add_row(const State& state) {
        frames_.push_back({state.file, state.line, state.caller});
        std::size_t frame = frames_.size();
        SourceLine line;
        while (frame != 0) {
            const Frame& at = frames_[frame - 1];
            if (at.file >= files_.size()) refuse("a file that is not there");
            line = {files_[at.file], static_cast<int>(at.line)};
            // A caller stands before what it calls; anything else would be an endless chain.
            if (!is_in_toolkit(line.file) || at.caller >= frame) break;
            frame = at.caller;
        }
        rows_[state.function].push_back({state.offset, line});
    }

    std::map<std::size_t, std::string> function_at_;
    std::map<std::string, std::vector<LineRow>> rows_;
    std::vector<std::string> files_;
    std::vector<Frame> frames_;  ///< of the sequence
};

void read_instructions(Kernel& kernel, std::string_view text, const std::vector<LineRow>& rows) {
    std::size_t row = 0;
    Reader reader(text);
    for (std::int64_t offset = 0; !reader.done(); offset += kInstructionBytes) {
        const auto low = reader.number<std::uint64_t>();
        const auto high = reader.number<std::uint64_t>();
        Instruction instruction = decode(low, high, offset);
        while (row < rows.size() && rows[row].offset <= static_cast<std::uint64_t>(offset)) ++row;
        if (row > 0) {
            const SourceLine& line = rows[row - 1].line;
            const auto found = std::find(kernel.lines.begin(), kernel.lines.end(), line);
            instruction.line = static_cast<unsigned>(found - kernel.lines.begin());
            if (found == kernel.lines.end()) kernel.lines.push_back(line);
        }
        kernel.instructions.push_back(instruction);
    }
    while (!kernel.instructions.empty() && kernel.instructions.back().code == kNothing) kernel.instructions.pop_back();
}

}  // namespace

Instruction decode(std::uint64_t low, std::uint64_t high, std::int64_t offset) {
    Instruction instruction;
    instruction.code = low & 0x1ff;
    instruction.guard = low >> 12 & 0xf;
    instruction.stall = high >> 41 & 0xf;
    instruction.sets = high >> 46 & 7;
    instruction.waits = high >> 52 & 0x3f;
    switch (operation_of(instruction.code).operation) {
        case Operation::load_global:
        case Operation::store_global:
        case Operation::load_shared:
        case Operation::store_shared:
        case Operation::load_local:
        case Operation::store_local: {
            // u8, s8, u16, s16, 32, 64, 128 bits
            constexpr unsigned sizes[] = {1, 1, 2, 2, 4, 8, 16, 16};
            instruction.bytes = sizes[high >> 9 & 7];
            break;
        }
        default:
            break;
    }
    constexpr unsigned no_register = 255;
    if (instruction.code == kLoadConstant) instruction.indexed = (low >> 24 & 0xff) != no_register;
    const bool is_branch = instruction.code == kBranch;
    constexpr unsigned number = 4;  // the operand's form: the target is in the instruction, and not in a register
    if ((is_branch || instruction.code == kCall) && (low >> 9 & 7) == number) {
        // Words of four bytes from the next instruction on: a signed number of 56 bits, the lowest eight of them apart.
        std::uint64_t words = (low >> 34 & 0x3fffffff) | (high & 0x3ffff) << 30;
        words = words << 8 | (low >> 16 & 0xff);
        const auto distance = static_cast<std::int64_t>(words << 8) >> 8;
        instruction.target = offset + kInstructionBytes + 4 * distance;
    }
    if (is_branch) {
        constexpr unsigned diverged = 2;
        instruction.is_for_lost_lanes = (low >> 32 & 3) == diverged;
        const unsigned second_predicate = high >> 23 & 0xf;
        instruction.may_go_on = instruction.is_for_lost_lanes || instruction.guard != Instruction::kAlways ||
                                second_predicate != Instruction::kAlways;
    } else if (instruction.code == kExit || instruction.code == kReturn || instruction.code == kIndexedBranch) {
        instruction.may_go_on = instruction.guard != Instruction::kAlways;
    }
    return instruction;
}

bool is_in_toolkit(const std::string& file) { return file.starts_with("/usr/") || file.find("/targets/") != file.npos; }

std::vector<Kernel> read_cubin(std::string_view bytes) {
    const Elf elf(bytes);
    const Attributes attributes = attributes_of(elf);
    const LineTable lines(elf);
    std::vector<Kernel> kernels;
    const std::string prefix = ".text.";
    // From compute capability 8.0 on, the first KiB of a block's shared memory is the system's.
    const unsigned reserved = elf.find(".nv.shared.reserved.0") ? 1024 : 0;
    for (std::size_t i = 0; i < elf.size(); ++i) {
        if (!elf.name(i).starts_with(prefix)) continue;
        Kernel kernel;
        kernel.name = elf.name(i).substr(prefix.size());
        kernel.is_entry = elf.is_entry(kernel.name);
        const auto value = [&](const std::map<std::string, unsigned>& values) {
            const auto found = values.find(kernel.name);
            return found == values.end() ? 0 : found->second;
        };
        kernel.registers = value(attributes.registers);
        kernel.stack_bytes = value(attributes.stack_bytes);
        if (const auto shared = elf.find(".nv.shared." + kernel.name)) {
            const auto bytes = static_cast<unsigned>(elf.section(*shared).sh_size);
            kernel.shared_bytes = bytes > reserved ? bytes - reserved : bytes;
        }
        const std::string_view text = elf.bytes_of(i);
        if (text.size() % kInstructionBytes != 0) refuse("instructions of another length than 16 bytes");
        read_instructions(kernel, text, lines.of(kernel.name));
        kernel.rare_subroutines = elf.rare_subroutines(i);
        kernels.push_back(std::move(kernel));
    }
    return kernels;
}

std::vector<Kernel> read_cubin(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw std::runtime_error(file.string() + ": cannot be read");
    const std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    return read_cubin(std::string_view(bytes));
}

}  // namespace warpwise::code

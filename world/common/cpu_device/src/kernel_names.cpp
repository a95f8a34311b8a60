#include "kernel_names.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace cpu_device {
namespace {

/// This program's file, as it was loaded.
class Program {
public:
    Program() {
        const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        if (file < 0) return;
        struct stat status {};
        if (fstat(file, &status) == 0) {
            bytes_ = static_cast<std::size_t>(status.st_size);
            void* mapped = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0);
            if (mapped != MAP_FAILED) begin_ = static_cast<const char*>(mapped);
        }
        close(file);
        const auto find = [](dl_phdr_info* program, std::size_t, void* bias) {
            *static_cast<std::uintptr_t*>(bias) = program->dlpi_addr;
            return 1;  // the first one is the program itself
        };
        dl_iterate_phdr(find, &bias_);
    }
    ~Program() {
        if (begin_ != nullptr) munmap(const_cast<char*>(begin_), bytes_);
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    /// Name of the function that begins at this address, as the linker knows it; null when there is none.
    const char* symbol(const void* function) const {
        if (begin_ == nullptr || bytes_ < sizeof(Elf64_Ehdr)) return nullptr;
        const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(begin_);
        const auto value = reinterpret_cast<std::uintptr_t>(function) - bias_;
        if (!holds(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr))) return nullptr;
        const auto* sections = reinterpret_cast<const Elf64_Shdr*>(begin_ + header.e_shoff);
        for (unsigned i = 0; i < header.e_shnum; ++i) {
            const Elf64_Shdr& table = sections[i];
            if (table.sh_type != SHT_SYMTAB || table.sh_link >= header.e_shnum) continue;
            const Elf64_Shdr& names = sections[table.sh_link];
            if (!holds(table.sh_offset, table.sh_size) || !holds(names.sh_offset, names.sh_size)) continue;
            const auto* symbols = reinterpret_cast<const Elf64_Sym*>(begin_ + table.sh_offset);
            for (std::size_t k = 0; k < table.sh_size / sizeof(Elf64_Sym); ++k) {
                const bool is_function = ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC;
                if (is_function && symbols[k].st_value == value && symbols[k].st_name < names.sh_size) {
                    return begin_ + names.sh_offset + symbols[k].st_name;
                }
            }
        }
        return nullptr;
    }

private:
    bool holds(std::size_t offset, std::size_t bytes) const { return offset <= bytes_ && bytes <= bytes_ - offset; }

    const char* begin_ = nullptr;
    std::size_t bytes_ = 0;
    std::uintptr_t bias_ = 0;
};

std::string demangled(const char* symbol) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                           &std::free);
    return status == 0 ? text.get() : symbol;
}

}  // namespace

FunctionName function_name(std::string_view demangled) {
    constexpr std::string_view unnamed = "(anonymous namespace)";
    std::size_t begin = 0;
    std::size_t arguments = std::string_view::npos;  // of the template
    int depth = 0;
    for (std::size_t i = 0; i < demangled.size(); ++i) {
        if (depth == 0 && demangled.substr(i, unnamed.size()) == unnamed) {
            i += unnamed.size() - 1;
            continue;
        }
        const char c = demangled[i];
        if (c == '(' && depth == 0) {
            if (i == begin) return {};
            return {demangled.substr(begin, std::min(arguments, i) - begin), demangled.substr(begin, i - begin)};
        }
        if (c == '<' || c == '(' || c == '[' || c == '{') {
            if (c == '<' && depth == 0) arguments = i;
            ++depth;
        } else if (c == '>' || c == ')' || c == ']' || c == '}') {
            --depth;
        } else if (depth == 0 && (c == ':' || c == ' ')) {
            begin = i + 1;
            arguments = std::string_view::npos;
        }
    }
    return {demangled.substr(begin), demangled.substr(begin)};  // a function of C
}

std::string_view parameters_in(std::string_view kernels, std::string_view name) {
    while (!kernels.empty()) {
        const std::size_t end = std::min(kernels.find(';'), kernels.size());
        const std::string_view kernel = kernels.substr(0, end);
        const std::size_t open = kernel.find('(');
        if (kernel.substr(0, open) == name) return kernel.substr(open + 1, kernel.size() - open - 2);
        kernels.remove_prefix(std::min(end + 1, kernels.size()));
    }
    return {};
}

LaunchSite with_kernel_name(const LaunchSite& site) {
    if (site.function == nullptr) return site;
    struct Names {
        std::string kernel;
        std::string parameters;
    };
    static std::mutex mutex;
    static std::map<std::pair<const void*, const char*>, Names>& known =
        *new std::map<std::pair<const void*, const char*>, Names>;
    std::lock_guard lock(mutex);
    const auto [found, is_new] = known.try_emplace({site.function, site.kernels});
    Names& names = found->second;
    if (is_new) {
        static const Program program;
        if (const char* symbol = program.symbol(site.function)) {
            const std::string text = demangled(symbol);
            const FunctionName function = function_name(text);
            names.parameters = parameters_in(site.kernels, function.name);
            if (!names.parameters.empty() || std::string_view(site.kernels) == kAnyKernel) {
                names.kernel = function.with_arguments;
            }
        }
    }
    LaunchSite named = site;
    if (!names.kernel.empty()) {
        named.kernel = names.kernel.c_str();
        named.parameters = names.parameters.c_str();
    }
    return named;
}

}  // namespace cpu_device

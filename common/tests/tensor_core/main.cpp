// tensor_core_bits TILES: what the device's tensor cores compute, as text. Of each operation a line with its name, and
// one line for each tile: the bits of d in hexadecimal digits, row after row. (Little-endian machines only.)
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "cases.h"

int main(int argc, char** argv) try {
    const int tiles = argc > 1 ? std::atoi(argv[1]) : 2 * tensor_core::kinds;
    for (const tensor_core::Operation& operation : tensor_core::operations()) {
        std::printf("%s\n", operation.name.c_str());
        const int digits = 2 * tensor_core::format_of(operation.sum).bytes;
        const std::vector<std::uint64_t> results = tensor_core::run(operation, 0, tiles);
        for (std::size_t i = 0; i < results.size(); ++i) {
            const bool is_last = (i + 1) % static_cast<std::size_t>(operation.m * operation.n) == 0;
            std::printf("%0*llx%s", digits, static_cast<unsigned long long>(results[i]), is_last ? "\n" : "");
        }
    }
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "tensor_core_bits: %s\n", error.what());
    return 1;
}

// tensor_core_bits: what the device's tensor cores compute, as record.sh keeps it. Of each operation a line with its
// name, and one line for each tile.
#include <cstdio>
#include <exception>

#include "cases.h"

int main() try {
    for (const tensor_core::Operation& operation : tensor_core::operations()) {
        std::printf("%s\n", operation.name.c_str());
        for (const std::string& line : tensor_core::lines_of(operation)) std::printf("%s\n", line.c_str());
    }
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "tensor_core_bits: %s\n", error.what());
    return 1;
}

// What a tensor map says, and where each 16 bytes of one of its boxes go.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cpu_device {

constexpr unsigned kMostDimensions = 5;
/// What a copy by the tensor memory accelerator moves at a time: swizzles keep these bytes together.
constexpr std::uint32_t kBulkChunk = 16;

struct TensorMap {
    std::byte* address;
    unsigned rank;
    unsigned element_bytes;
    std::array<std::uint64_t, kMostDimensions> extent;  ///< in elements, the innermost one first
    std::array<std::uint64_t, kMostDimensions> stride;  ///< in bytes
    std::array<unsigned, kMostDimensions> box;          ///< in elements
    unsigned swizzle;                                   ///< 0, 32, 64 or 128 bytes
    bool fills_with_nan;

    std::uint32_t box_bytes() const {
        std::uint32_t bytes = element_bytes;
        for (unsigned d = 0; d < rank; ++d) bytes *= box[d];
        return bytes;
    }
};

/// False: these bytes are no tensor map that cuTensorMapEncodeTiled has made.
bool read_tensor_map(const void* map, TensorMap& into);

/// At most 16 bytes of a copy. In shared memory they are a whole chunk, and the first `bytes` of it are in global
/// memory; the others lie outside of the tensor.
struct BulkPiece {
    std::byte* shared;
    std::byte* global;
    std::uint32_t bytes;
};

/// The pieces of the box at these coordinates, the innermost of which is a multiple of 16 bytes. The box's first chunk
/// would be at `shared` without a swizzle.
void box_pieces(const TensorMap& map, const std::int32_t* at, std::byte* shared, std::vector<BulkPiece>& pieces);

}  // namespace cpu_device

// cuTensorMapEncodeTiled with the checks that its documentation names, and how programs find it.
#include "tensor_maps.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "api_call.h"
#include "cpu_device/tensor_maps.h"

namespace cpu_device {
namespace {

// How a map is kept in its 16 words: this, then what TensorMap has.
constexpr cuuint64_t kMapMark = 0x7E45'04AA'7E45'04AA;
enum MapWord : unsigned {
    mark_word,
    address_word,
    extent_words,
    stride_words = extent_words + 5,
    box_word = stride_words + 5,
    rest_word
};

unsigned element_bytes_of(CUtensorMapDataType type) {
    switch (type) {
        case CU_TENSOR_MAP_DATA_TYPE_UINT8:
            return 1;
        case CU_TENSOR_MAP_DATA_TYPE_UINT16:
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
        case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
            return 2;
        case CU_TENSOR_MAP_DATA_TYPE_UINT32:
        case CU_TENSOR_MAP_DATA_TYPE_INT32:
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
        case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
        case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ:
            return 4;
        case CU_TENSOR_MAP_DATA_TYPE_UINT64:
        case CU_TENSOR_MAP_DATA_TYPE_INT64:
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
            return 8;
        default:
            return 0;  // packed, or no type at all
    }
}

bool is_float_type(CUtensorMapDataType type) {
    switch (type) {
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
        case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
        case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
        case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ:
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
            return true;
        default:
            return false;
    }
}

unsigned swizzle_bytes(CUtensorMapSwizzle swizzle) {
    return swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 0 : 16u << static_cast<unsigned>(swizzle);
}

/// Whether a driver takes this map.
bool is_valid_map(unsigned element_bytes, cuuint32_t rank, const void* memory, const cuuint64_t* extent,
                  const cuuint64_t* stride, const cuuint32_t* box, const cuuint32_t* element_strides,
                  CUtensorMapSwizzle swizzle) {
    if (rank < 1 || rank > kMostDimensions || extent == nullptr || box == nullptr || element_strides == nullptr)
        return false;
    if (rank > 1 && stride == nullptr) return false;
    if (memory == nullptr || reinterpret_cast<std::uintptr_t>(memory) % 16 != 0) return false;
    for (unsigned d = 0; d < rank; ++d) {
        if (extent[d] < 1 || extent[d] > cuuint64_t{1} << 32) return false;
        if (box[d] < 1 || box[d] > 256) return false;
        if (d > 0 && (stride[d - 1] % 16 != 0 || stride[d - 1] >= cuuint64_t{1} << 40)) return false;
        if (element_strides[d] < 1 || element_strides[d] > 8) return false;
    }
    const unsigned inner = box[0] * element_bytes;
    if (inner % 16 != 0) return false;
    return swizzle == CU_TENSOR_MAP_SWIZZLE_NONE || inner <= swizzle_bytes(swizzle);
}

}  // namespace

bool read_tensor_map(const void* map, TensorMap& into) {
    cuuint64_t words[CU_TENSOR_MAP_NUM_QWORDS];
    std::memcpy(words, map, sizeof words);
    if (words[mark_word] != kMapMark) return false;
    into.address = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(words[address_word]));
    for (unsigned d = 0; d < kMostDimensions; ++d) {
        into.extent[d] = words[extent_words + d];
        into.stride[d] = words[stride_words + d];
        into.box[d] = static_cast<unsigned>(words[box_word] >> 12 * d & 0xFFF);
    }
    into.rank = words[rest_word] & 0xFF;
    into.element_bytes = words[rest_word] >> 8 & 0xFF;
    into.swizzle = words[rest_word] >> 16 & 0xFF;
    into.fills_with_nan = (words[rest_word] >> 24 & 1) != 0;
    return true;
}

void box_pieces(const TensorMap& map, const std::int32_t* at, std::byte* shared, std::vector<BulkPiece>& pieces) {
    const unsigned row_chunks = map.box[0] * map.element_bytes / kBulkChunk;
    const auto in_chunk = static_cast<std::int64_t>(kBulkChunk / map.element_bytes);  // elements
    std::uint32_t rows = 1;
    for (unsigned d = 1; d < map.rank; ++d) rows *= map.box[d];
    auto place = reinterpret_cast<std::uintptr_t>(shared);
    for (std::uint32_t row = 0; row < rows; ++row) {
        std::byte* begin = map.address;  // of the row of the tensor
        bool inside = true;
        std::uint32_t index = row;
        for (unsigned d = 1; d < map.rank; ++d) {
            const std::int64_t k = std::int64_t{at[d]} + index % map.box[d];
            index /= map.box[d];
            inside = inside && k >= 0 && static_cast<std::uint64_t>(k) < map.extent[d];
            if (inside) begin += static_cast<std::uint64_t>(k) * map.stride[d];
        }
        for (unsigned chunk = 0; chunk < row_chunks; ++chunk, place += kBulkChunk) {
            // The address itself chooses the swizzle: which row of 128 bytes it is in.
            const std::uintptr_t mask = map.swizzle == 0 ? 0 : map.swizzle / kBulkChunk - 1;
            const std::uintptr_t swizzled = place ^ (place >> 7 & mask) << 4;
            const std::int64_t first = std::int64_t{at[0]} + chunk * in_chunk;
            const std::int64_t end = std::min<std::int64_t>(first + in_chunk, static_cast<std::int64_t>(map.extent[0]));
            BulkPiece piece = {reinterpret_cast<std::byte*>(swizzled), nullptr, 0};
            if (inside && first >= 0 && first < end) {
                piece.global = begin + first * map.element_bytes;
                piece.bytes = static_cast<std::uint32_t>((end - first) * map.element_bytes);
            }
            pieces.push_back(piece);
        }
    }
}

}  // namespace cpu_device

using namespace cpu_device;

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* memory,
                                const cuuint64_t* extent, const cuuint64_t* stride, const cuuint32_t* box,
                                const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill) {
    const Site site = site_of_code(__builtin_return_address(0));
    const auto refuse = [&](const char* what) {
        (void)unsupported(what, site);
        return CUDA_ERROR_INVALID_VALUE;
    };
    if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return refuse("a tensor map with an interleaved layout");
    if (type >= CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B && type <= CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B)
        return refuse("a tensor map of packed elements");
    if (swizzle > CU_TENSOR_MAP_SWIZZLE_128B && swizzle <= CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B)
        return refuse("a tensor map with a swizzle of larger atoms");
    const unsigned element_bytes = element_bytes_of(type);
    const bool known = swizzle <= CU_TENSOR_MAP_SWIZZLE_128B && promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B &&
                       fill <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    if (map == nullptr || element_bytes == 0 || !known ||
        (fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE && !is_float_type(type)) ||
        !is_valid_map(element_bytes, rank, memory, extent, stride, box, element_strides, swizzle)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (unsigned d = 1; d < rank; ++d) {
        if (element_strides[d] != 1) return refuse("a tensor map with element strides");
    }
    cuuint64_t words[CU_TENSOR_MAP_NUM_QWORDS] = {kMapMark, reinterpret_cast<std::uintptr_t>(memory)};
    for (unsigned d = 0; d < rank; ++d) {
        words[extent_words + d] = extent[d];
        words[stride_words + d] = d == 0 ? element_bytes : stride[d - 1];
        words[box_word] |= cuuint64_t{box[d]} << 12 * d;
    }
    words[rest_word] = rank | element_bytes << 8 | swizzle_bytes(swizzle) << 16 | static_cast<unsigned>(fill) << 24;
    std::memcpy(map, words, sizeof words);
    return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (symbol == nullptr || function == nullptr) return cudaErrorInvalidValue;
        const bool found = std::string_view(symbol) == "cuTensorMapEncodeTiled";
        const bool is_old_enough = version >= 12000;
        *function = found && is_old_enough ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled) : nullptr;
        if (result != nullptr) {
            *result = !found          ? cudaDriverEntryPointSymbolNotFound
                      : is_old_enough ? cudaDriverEntryPointSuccess
                                      : cudaDriverEntryPointVersionNotSufficent;
        }
        return cudaSuccess;
    });
}

// CUDA arrays, texture objects and surface objects, after "Texture and Surface Memory" and the appendix "Texture
// Fetching" of the CUDA C++ Programming Guide. Error codes and rounding are those of an H200 with CUDA 13.
//
// Missing: mipmaps, cubemaps, gathers, sRGB, block-compressed formats, resource views.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cpu_device/types.h"
#include "cpu_device/warp.h"

// ---- types -----------------------------------------------------------------------------------------------

typedef struct cudaMipmappedArray* cudaMipmappedArray_t;
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;

#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2

enum cudaTextureAddressMode {
    cudaAddressModeWrap = 0,
    cudaAddressModeClamp = 1,
    cudaAddressModeMirror = 2,
    cudaAddressModeBorder = 3,
};

enum cudaTextureFilterMode {
    cudaFilterModePoint = 0,
    cudaFilterModeLinear = 1,
};

enum cudaTextureReadMode {
    cudaReadModeElementType = 0,
    cudaReadModeNormalizedFloat = 1,
};

enum cudaSurfaceBoundaryMode {
    cudaBoundaryModeZero = 0,
    cudaBoundaryModeClamp = 1,
    cudaBoundaryModeTrap = 2,
};

enum cudaResourceType {
    cudaResourceTypeArray = 0,
    cudaResourceTypeMipmappedArray = 1,
    cudaResourceTypeLinear = 2,
    cudaResourceTypePitch2D = 3,
};

/// Where a texture's elements lie.
struct cudaResourceDesc {
    enum cudaResourceType resType;
    union {
        struct {
            cudaArray_t array;
        } array;
        struct {
            cudaMipmappedArray_t mipmap;
        } mipmap;
        struct {
            void* devPtr;  ///< a multiple of 512
            struct cudaChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void* devPtr;  ///< a multiple of 512
            struct cudaChannelFormatDesc desc;
            size_t width;         ///< elements
            size_t height;        ///< rows
            size_t pitchInBytes;  ///< from row to row; a multiple of 32
        } pitch2D;
        struct {
            int reserved[32];
        } reserved;
    } res;
    unsigned int flags;
};

/// How a texture is read. The fields from `sRGB` on that belong to missing features have to be 0.
struct cudaTextureDesc {
    enum cudaTextureAddressMode addressMode[3];  ///< per dimension; wrap and mirror need normalized coordinates
    enum cudaTextureFilterMode filterMode;
    enum cudaTextureReadMode readMode;  ///< normalized: 8- and 16-bit integers become [0, 1] or [-1, 1]
    int sRGB;
    float borderColor[4];  ///< for integer elements: the integer's bits
    int normalizedCoords;  ///< coordinates run from 0 to 1
    unsigned int maxAnisotropy;
    enum cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias;
    float minMipmapLevelClamp;
    float maxMipmapLevelClamp;
    int disableTrilinearOptimization;
    int seamlessCubemap;
};

enum cudaResourceViewFormat { cudaResViewFormatNone = 0 };

struct cudaResourceViewDesc {
    enum cudaResourceViewFormat format;
    size_t width;
    size_t height;
    size_t depth;
    unsigned int firstMipmapLevel;
    unsigned int lastMipmapLevel;
    unsigned int firstLayer;
    unsigned int lastLayer;
    unsigned int reserved[16];
};

// ---- channel descriptors -----------------------------------------------------------------------------------

/// Bits of the channels x, y, z, w and what they mean.
inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
    return {x, y, z, w, kind};
}

namespace cpu_device {

template <class T, class... Candidates>
inline constexpr bool is_one_of = (std::is_same_v<T, Candidates> || ...);

/// What a texture can return.
template <class T>
concept TexelType = is_one_of<T, char, signed char, unsigned char, short, unsigned short, int, unsigned, float, char1,
                              char2, char4, uchar1, uchar2, uchar4, short1, short2, short4, ushort1, ushort2, ushort4,
                              int1, int2, int4, uint1, uint2, uint4, float1, float2, float4>;

/// What a surface can hold.
template <class T>
concept SurfaceType =
    TexelType<T> || is_one_of<T, long long, unsigned long long, longlong1, longlong2, ulonglong1, ulonglong2>;

template <class T>
struct ComponentOf {
    using type = T;
};
template <class T>
requires requires(T v) { v.x; }
struct ComponentOf<T> {
    using type = decltype(T::x);
};

}  // namespace cpu_device

template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
    if constexpr (cpu_device::TexelType<T>) {
        using Component = typename cpu_device::ComponentOf<T>::type;
        constexpr int bits = 8 * sizeof(Component);
        constexpr auto channels = sizeof(T) / sizeof(Component);
        constexpr cudaChannelFormatKind kind = std::is_floating_point_v<Component> ? cudaChannelFormatKindFloat
                                               : std::is_signed_v<Component>       ? cudaChannelFormatKindSigned
                                                                                   : cudaChannelFormatKindUnsigned;
        return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 2 ? bits : 0, kind};
    } else {
        return {0, 0, 0, 0, cudaChannelFormatKindNone};
    }
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf() { return {16, 0, 0, 0, cudaChannelFormatKindFloat}; }
inline cudaChannelFormatDesc cudaCreateChannelDescHalf1() { return {16, 0, 0, 0, cudaChannelFormatKindFloat}; }
inline cudaChannelFormatDesc cudaCreateChannelDescHalf2() { return {16, 16, 0, 0, cudaChannelFormatKindFloat}; }
inline cudaChannelFormatDesc cudaCreateChannelDescHalf4() { return {16, 16, 16, 16, cudaChannelFormatKindFloat}; }

// ---- arrays ------------------------------------------------------------------------------------------------

/// A 1-D array (height 0) or a 2-D array; its elements are undefined. Widths count elements.
cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width, size_t height = 0,
                            unsigned flags = cudaArrayDefault);
/// 1-D (height and depth 0), 2-D (depth 0) or 3-D; with cudaArrayLayered 1-D or 2-D, `depth` times.
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned flags = cudaArrayDefault);
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags, cudaArray_t array);
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array);

/// Widths and the horizontal offset count bytes, the vertical offset rows.
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x_bytes, size_t row, const void* from, size_t pitch,
                                size_t width, size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x_bytes, size_t row, const void* from, size_t pitch,
                                     size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x_bytes, size_t row,
                                  size_t width, size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x_bytes, size_t row,
                                       size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x_bytes, size_t to_row, cudaArray_const_t from,
                                     size_t from_x_bytes, size_t from_row, size_t width, size_t height,
                                     cudaMemcpyKind kind = cudaMemcpyDeviceToDevice);
/// `bytes` consecutive bytes that start in the given row and go on in the rows below.
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x_bytes, size_t row, const void* from, size_t bytes,
                              cudaMemcpyKind kind);
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x_bytes, size_t row, const void* from, size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x_bytes, size_t row, size_t bytes,
                                cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x_bytes, size_t row, size_t bytes,
                                     cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters);
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream = nullptr);

// ---- texture and surface objects -----------------------------------------------------------------------------

/// `view` has to be null.
cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description, const cudaResourceViewDesc* view,
                                    CPU_DEVICE_CALL_SITE);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture);
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t texture);
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* description, cudaTextureObject_t texture);
cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* elements, const cudaChannelFormatDesc* format, int device);

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface);
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource, cudaSurfaceObject_t surface);

// ---- fetches -------------------------------------------------------------------------------------------------

namespace cpu_device {

/// One element as the texture unit returns it: a float's bits or an integer in each word; channels that the texture
/// lacks are 0.
struct Texel {
    std::uint32_t word[4] = {};
};

/// What a fetch asks for; says which textures it can read.
enum class Fetch { linear_1d, array_1d, array_2d, array_3d, layered_1d, layered_2d };

struct TextureCoordinates {
    float x = 0;
    float y = 0;
    float z = 0;
    int layer = 0;
    int element = 0;  ///< of linear memory
};

/// `as_float`: the program wants floats, which has to fit to what the texture returns.
Texel fetch_texel(cudaTextureObject_t texture, Fetch fetch, const TextureCoordinates& at, bool as_float);

template <class Component>
Component texel_component(std::uint32_t word) {
    if constexpr (std::is_same_v<Component, float>) {
        return __builtin_bit_cast(float, word);
    } else {
        return static_cast<Component>(word);
    }
}

template <TexelType T>
T fetch_as(cudaTextureObject_t texture, Fetch fetch, const TextureCoordinates& at) {
    using Component = typename ComponentOf<T>::type;
    const Texel texel = fetch_texel(texture, fetch, at, std::is_same_v<Component, float>);
    if constexpr (std::is_arithmetic_v<T>) {
        return texel_component<T>(texel.word[0]);
    } else {
        T value;
        value.x = texel_component<Component>(texel.word[0]);
        if constexpr (requires { value.y; }) value.y = texel_component<Component>(texel.word[1]);
        if constexpr (requires { value.z; }) value.z = texel_component<Component>(texel.word[2]);
        if constexpr (requires { value.w; }) value.w = texel_component<Component>(texel.word[3]);
        return value;
    }
}

/// Address of `bytes` bytes of a surface whose x counts bytes; null if they lie outside and `mode` is zero.
void* surface_address(cudaSurfaceObject_t surface, unsigned dimensions, int x, int y, int z, std::size_t bytes,
                      cudaSurfaceBoundaryMode mode);

// Unseen: the elements of an array are the runtime's own memory.
template <SurfaceType T>
CPU_DEVICE_UNSEEN T surface_read(cudaSurfaceObject_t surface, unsigned dimensions, int x, int y, int z,
                                 cudaSurfaceBoundaryMode mode) {
    const void* address = surface_address(surface, dimensions, x, y, z, sizeof(T), mode);
    return address != nullptr ? *static_cast<const T*>(address) : T{};
}

template <SurfaceType T>
CPU_DEVICE_UNSEEN void surface_write(T value, cudaSurfaceObject_t surface, unsigned dimensions, int x, int y, int z,
                                     cudaSurfaceBoundaryMode mode) {
    void* address = surface_address(surface, dimensions, x, y, z, sizeof(T), mode);
    if (address != nullptr) *static_cast<T*>(address) = value;
}

}  // namespace cpu_device

/// Element `x` of linear memory, 0 outside.
template <cpu_device::TexelType T>
T tex1Dfetch(cudaTextureObject_t texture, int x) {
    return cpu_device::fetch_as<T>(texture, cpu_device::Fetch::linear_1d, {.element = x});
}
template <cpu_device::TexelType T>
T tex1D(cudaTextureObject_t texture, float x) {
    return cpu_device::fetch_as<T>(texture, cpu_device::Fetch::array_1d, {.x = x});
}
template <cpu_device::TexelType T>
T tex2D(cudaTextureObject_t texture, float x, float y) {
    return cpu_device::fetch_as<T>(texture, cpu_device::Fetch::array_2d, {.x = x, .y = y});
}
template <cpu_device::TexelType T>
T tex3D(cudaTextureObject_t texture, float x, float y, float z) {
    return cpu_device::fetch_as<T>(texture, cpu_device::Fetch::array_3d, {.x = x, .y = y, .z = z});
}
template <cpu_device::TexelType T>
T tex1DLayered(cudaTextureObject_t texture, float x, int layer) {
    return cpu_device::fetch_as<T>(texture, cpu_device::Fetch::layered_1d, {.x = x, .layer = layer});
}
template <cpu_device::TexelType T>
T tex2DLayered(cudaTextureObject_t texture, float x, float y, int layer) {
    return cpu_device::fetch_as<T>(texture, cpu_device::Fetch::layered_2d, {.x = x, .y = y, .layer = layer});
}

template <cpu_device::TexelType T>
void tex1Dfetch(T* value, cudaTextureObject_t texture, int x) {
    *value = tex1Dfetch<T>(texture, x);
}
template <cpu_device::TexelType T>
void tex1D(T* value, cudaTextureObject_t texture, float x) {
    *value = tex1D<T>(texture, x);
}
template <cpu_device::TexelType T>
void tex2D(T* value, cudaTextureObject_t texture, float x, float y) {
    *value = tex2D<T>(texture, x, y);
}
template <cpu_device::TexelType T>
void tex3D(T* value, cudaTextureObject_t texture, float x, float y, float z) {
    *value = tex3D<T>(texture, x, y, z);
}
template <cpu_device::TexelType T>
void tex1DLayered(T* value, cudaTextureObject_t texture, float x, int layer) {
    *value = tex1DLayered<T>(texture, x, layer);
}
template <cpu_device::TexelType T>
void tex2DLayered(T* value, cudaTextureObject_t texture, float x, float y, int layer) {
    *value = tex2DLayered<T>(texture, x, y, layer);
}

/// Surfaces: `x` counts bytes.
template <cpu_device::SurfaceType T>
T surf1Dread(cudaSurfaceObject_t surface, int x, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    return cpu_device::surface_read<T>(surface, 1, x, 0, 0, mode);
}
template <cpu_device::SurfaceType T>
T surf2Dread(cudaSurfaceObject_t surface, int x, int y, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    return cpu_device::surface_read<T>(surface, 2, x, y, 0, mode);
}
template <cpu_device::SurfaceType T>
T surf3Dread(cudaSurfaceObject_t surface, int x, int y, int z, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    return cpu_device::surface_read<T>(surface, 3, x, y, z, mode);
}
template <cpu_device::SurfaceType T>
void surf1Dread(T* value, cudaSurfaceObject_t surface, int x, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    *value = surf1Dread<T>(surface, x, mode);
}
template <cpu_device::SurfaceType T>
void surf2Dread(T* value, cudaSurfaceObject_t surface, int x, int y,
                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    *value = surf2Dread<T>(surface, x, y, mode);
}
template <cpu_device::SurfaceType T>
void surf3Dread(T* value, cudaSurfaceObject_t surface, int x, int y, int z,
                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    *value = surf3Dread<T>(surface, x, y, z, mode);
}
template <cpu_device::SurfaceType T>
void surf1Dwrite(T value, cudaSurfaceObject_t surface, int x, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    cpu_device::surface_write(value, surface, 1, x, 0, 0, mode);
}
template <cpu_device::SurfaceType T>
void surf2Dwrite(T value, cudaSurfaceObject_t surface, int x, int y,
                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    cpu_device::surface_write(value, surface, 2, x, y, 0, mode);
}
template <cpu_device::SurfaceType T>
void surf3Dwrite(T value, cudaSurfaceObject_t surface, int x, int y, int z,
                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    cpu_device::surface_write(value, surface, 3, x, y, z, mode);
}

// ---- not supported -------------------------------------------------------------------------------------------

#define CPU_DEVICE_MISSING_FETCH(name, feature)                                                                 \
    template <class T, class... Arguments>                                                                      \
    T name(Arguments...) {                                                                                      \
        static_assert(cpu_device::never<T, Arguments...>,                                                       \
                      "The CPU device does not support " feature " (" #name "): build this program with nvcc"); \
        return T{};                                                                                             \
    }
CPU_DEVICE_MISSING_FETCH(tex1DLod, "mipmaps")
CPU_DEVICE_MISSING_FETCH(tex2DLod, "mipmaps")
CPU_DEVICE_MISSING_FETCH(tex3DLod, "mipmaps")
CPU_DEVICE_MISSING_FETCH(tex1DGrad, "mipmaps")
CPU_DEVICE_MISSING_FETCH(tex2DGrad, "mipmaps")
CPU_DEVICE_MISSING_FETCH(tex3DGrad, "mipmaps")
CPU_DEVICE_MISSING_FETCH(tex2Dgather, "texture gathers")
CPU_DEVICE_MISSING_FETCH(texCubemap, "cubemaps")
CPU_DEVICE_MISSING_FETCH(texCubemapLayered, "cubemaps")
#undef CPU_DEVICE_MISSING_FETCH

// CUDA's vector types (char1 ... double4), dim3 and their make_* functions, in the global namespace.
//
// Sizes and alignments are those of the CUDA C++ Programming Guide, "Built-in Vector Types", on a 64-bit Linux
// machine: two and four components are aligned to their size up to 16 bytes, three components to one component.
#pragma once

// One aggregate per width; `align2` and `align4` are the alignments of the types with two and four components.
#define CPU_DEVICE_VECTOR_TYPES(name, type, align2, align4)                        \
    struct name##1 {                                                               \
        type x;                                                                    \
    };                                                                             \
    struct alignas(align2) name##2 {                                               \
        type x, y;                                                                 \
    };                                                                             \
    struct name##3 {                                                               \
        type x, y, z;                                                              \
    };                                                                             \
    constexpr name##1 make_##name##1(type x) { return {x}; }                       \
    constexpr name##2 make_##name##2(type x, type y) { return {x, y}; }            \
    constexpr name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
    CPU_DEVICE_VECTOR_TYPE_4(name##4, type, align4)

#define CPU_DEVICE_VECTOR_TYPE_4(name, type, alignment) \
    struct alignas(alignment) name {                    \
        type x, y, z, w;                                \
    };                                                  \
    constexpr name make_##name(type x, type y, type z, type w) { return {x, y, z, w}; }

CPU_DEVICE_VECTOR_TYPES(char, signed char, 2, 4)
CPU_DEVICE_VECTOR_TYPES(uchar, unsigned char, 2, 4)
CPU_DEVICE_VECTOR_TYPES(short, short, 4, 8)
CPU_DEVICE_VECTOR_TYPES(ushort, unsigned short, 4, 8)
CPU_DEVICE_VECTOR_TYPES(int, int, 8, 16)
CPU_DEVICE_VECTOR_TYPES(uint, unsigned int, 8, 16)
CPU_DEVICE_VECTOR_TYPES(long, long, 16, 16)
CPU_DEVICE_VECTOR_TYPES(ulong, unsigned long, 16, 16)
CPU_DEVICE_VECTOR_TYPES(longlong, long long, 16, 16)
CPU_DEVICE_VECTOR_TYPES(ulonglong, unsigned long long, 16, 16)
CPU_DEVICE_VECTOR_TYPES(float, float, 8, 16)
CPU_DEVICE_VECTOR_TYPES(double, double, 16, 16)

// CUDA 13 names the alignment of the 32-byte types.
CPU_DEVICE_VECTOR_TYPE_4(long4_16a, long, 16)
CPU_DEVICE_VECTOR_TYPE_4(long4_32a, long, 32)
CPU_DEVICE_VECTOR_TYPE_4(ulong4_16a, unsigned long, 16)
CPU_DEVICE_VECTOR_TYPE_4(ulong4_32a, unsigned long, 32)
CPU_DEVICE_VECTOR_TYPE_4(longlong4_16a, long long, 16)
CPU_DEVICE_VECTOR_TYPE_4(longlong4_32a, long long, 32)
CPU_DEVICE_VECTOR_TYPE_4(ulonglong4_16a, unsigned long long, 16)
CPU_DEVICE_VECTOR_TYPE_4(ulonglong4_32a, unsigned long long, 32)
CPU_DEVICE_VECTOR_TYPE_4(double4_16a, double, 16)
CPU_DEVICE_VECTOR_TYPE_4(double4_32a, double, 32)

#undef CPU_DEVICE_VECTOR_TYPES
#undef CPU_DEVICE_VECTOR_TYPE_4

/// Shape of a grid or of a block; a count left out is 1.
struct dim3 {
    unsigned int x, y, z;

    constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}  // NOLINT
    constexpr dim3(uint3 counts) : x(counts.x), y(counts.y), z(counts.z) {}                                 // NOLINT
    constexpr operator uint3() const { return {x, y, z}; }                                                  // NOLINT
};

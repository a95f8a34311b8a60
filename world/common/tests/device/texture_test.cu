// CUDA arrays, texture objects and surface objects, against an independent reference in double precision.
#include <cuda_fp16.h>

#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "common/tests/device/results_of.h"
#include "common/tests/device_or_skip.h"

namespace {

// ---- kernels ---------------------------------------------------------------------------------------------

template <class T>
__global__ void fetch_1d(cudaTextureObject_t texture, const int* at, int count, T* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) out[i] = tex1Dfetch<T>(texture, at[i]);
}

template <class T>
__global__ void sample_1d(cudaTextureObject_t texture, const float3* at, int count, T* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) out[i] = tex1D<T>(texture, at[i].x);
}

template <class T>
__global__ void sample_2d(cudaTextureObject_t texture, const float3* at, int count, T* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) out[i] = tex2D<T>(texture, at[i].x, at[i].y);
}

template <class T>
__global__ void sample_3d(cudaTextureObject_t texture, const float3* at, int count, T* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) out[i] = tex3D<T>(texture, at[i].x, at[i].y, at[i].z);
}

/// The layer is `at[i].z`.
template <class T>
__global__ void sample_layers_1d(cudaTextureObject_t texture, const float3* at, int count, T* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) out[i] = tex1DLayered<T>(texture, at[i].x, static_cast<int>(at[i].z));
}

template <class T>
__global__ void sample_layers_2d(cudaTextureObject_t texture, const float3* at, int count, T* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) out[i] = tex2DLayered<T>(texture, at[i].x, at[i].y, static_cast<int>(at[i].z));
}

__global__ void use_pointer_forms(cudaTextureObject_t linear, cudaTextureObject_t plane, float* out) {
    tex1Dfetch(&out[0], linear, 3);
    tex2D(&out[1], plane, 2.5f, 1.5f);
    out[2] = tex1Dfetch<float>(linear, 4);
}

__global__ void double_on_surface(cudaSurfaceObject_t surface, int width, int height) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= width || y >= height) return;
    const auto x_bytes = static_cast<int>(x * sizeof(float));
    surf2Dwrite(2 * surf2Dread<float>(surface, x_bytes, y), surface, x_bytes, y);
}

__global__ void read_beyond_surface(cudaSurfaceObject_t surface, float* out) {
    const int x_bytes = (static_cast<int>(threadIdx.x) - 4) * static_cast<int>(sizeof(float));
    out[2 * threadIdx.x] = surf1Dread<float>(surface, x_bytes, cudaBoundaryModeZero);
    out[2 * threadIdx.x + 1] = surf1Dread<float>(surface, x_bytes, cudaBoundaryModeClamp);
}

// ---- resources -------------------------------------------------------------------------------------------

/// A 1-D (height 0), 2-D (depth 0) or 3-D array that holds `values`, row after row.
class Array {
public:
    template <class T>
    Array(const std::vector<T>& values, cudaExtent extent, unsigned flags = cudaArrayDefault,
          cudaChannelFormatDesc format = cudaCreateChannelDesc<T>()) {
        REQUIRE(cudaMalloc3DArray(&array_, &format, extent, flags) == cudaSuccess);
        const std::size_t height = std::max<std::size_t>(extent.height, 1);
        cudaMemcpy3DParms copy{};
        copy.srcPtr =
            make_cudaPitchedPtr(const_cast<T*>(values.data()), extent.width * sizeof(T), extent.width, height);
        copy.dstArray = array_;
        copy.extent = make_cudaExtent(extent.width, height, std::max<std::size_t>(extent.depth, 1));
        copy.kind = cudaMemcpyHostToDevice;
        REQUIRE(cudaMemcpy3D(&copy) == cudaSuccess);
    }
    ~Array() { cudaFreeArray(array_); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;

    cudaArray_t get() const { return array_; }

    cudaResourceDesc resource() const {
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array_;
        return resource;
    }

private:
    cudaArray_t array_ = nullptr;
};

/// Device memory with the given values.
template <class T>
class Memory {
public:
    explicit Memory(const std::vector<T>& values) : count_(values.size()) {
        REQUIRE(cudaMalloc(&data_, bytes()) == cudaSuccess);
        REQUIRE(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice) == cudaSuccess);
    }
    ~Memory() { cudaFree(data_); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    T* data() const { return data_; }
    std::size_t bytes() const { return count_ * sizeof(T); }

    cudaResourceDesc resource() const {
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeLinear;
        resource.res.linear.devPtr = data_;
        resource.res.linear.desc = cudaCreateChannelDesc<T>();
        resource.res.linear.sizeInBytes = bytes();
        return resource;
    }

private:
    T* data_ = nullptr;
    std::size_t count_;
};

class Texture {
public:
    Texture(const cudaResourceDesc& resource, const cudaTextureDesc& description) {
        REQUIRE(cudaCreateTextureObject(&texture_, &resource, &description, nullptr) == cudaSuccess);
    }
    ~Texture() { cudaDestroyTextureObject(texture_); }
    Texture(const Texture&) = delete;
    Texture& operator=(const Texture&) = delete;

    cudaTextureObject_t get() const { return texture_; }

private:
    cudaTextureObject_t texture_ = 0;
};

cudaTextureDesc reading(cudaTextureFilterMode filter, cudaTextureAddressMode address, bool normalized_coordinates,
                        cudaTextureReadMode read = cudaReadModeElementType) {
    cudaTextureDesc description{};
    for (auto& mode : description.addressMode) mode = address;
    description.filterMode = filter;
    description.readMode = read;
    description.normalizedCoords = normalized_coordinates;
    return description;
}

template <class T>
std::vector<T> sample(void (*kernel)(cudaTextureObject_t, const float3*, int, T*), const Texture& texture,
                      const std::vector<float3>& at) {
    const Memory<float3> d_at(at);
    const int count = static_cast<int>(at.size());
    return results_of<T>(
        at.size(), [&](T* d_out) { kernel<<<(count + 127) / 128, 128>>>(texture.get(), d_at.data(), count, d_out); });
}

// ---- reference -------------------------------------------------------------------------------------------

/// Elements on a box with all that says how they are read. Sizes are 1 along dimensions that do not exist.
struct Reference {
    std::vector<double> values;
    int size[3];
    cudaTextureFilterMode filter;
    cudaTextureAddressMode address;
    bool normalized_coordinates;
    double border = 0;

    double element(const int (&index)[3]) const {
        int place[3];
        for (int axis = 0; axis < 3; ++axis) {
            const int n = size[axis];
            int i = index[axis];
            if (n > 1 || axis == 0) {
                cudaTextureAddressMode mode = address;
                if (!normalized_coordinates && (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror)) {
                    mode = cudaAddressModeClamp;
                }
                if (mode == cudaAddressModeBorder && (i < 0 || i >= n)) return border;
                if (mode == cudaAddressModeWrap) i = (i % n + n) % n;
                if (mode == cudaAddressModeMirror) {
                    i = (i % (2 * n) + 2 * n) % (2 * n);
                    if (i >= n) i = 2 * n - 1 - i;
                }
            }
            place[axis] = std::min(std::max(i, 0), n - 1);
        }
        return values[static_cast<std::size_t>((place[2] * size[1] + place[1]) * size[0] + place[0])];
    }

    /// The sample and, in `slack`, by how much it changes if each weight is off by 1/256.
    double sample(float3 at, double* slack) const {
        const double coordinates[3] = {at.x, at.y, at.z};
        int first[3] = {0, 0, 0};
        double fraction[3] = {0, 0, 0};
        for (int axis = 0; axis < 3; ++axis) {
            if (size[axis] == 1 && axis > 0) continue;
            double position = coordinates[axis] * (normalized_coordinates ? size[axis] : 1);
            if (filter == cudaFilterModeLinear) position -= 0.5;
            first[axis] = static_cast<int>(std::floor(position));
            fraction[axis] = filter == cudaFilterModeLinear ? position - std::floor(position) : 0;
        }
        if (filter == cudaFilterModePoint) {
            *slack = 0;
            return element(first);
        }
        double sum = 0;
        double lowest = std::numeric_limits<double>::infinity();
        double highest = -lowest;
        int axes = 0;
        for (int axis = 0; axis < 3; ++axis) axes += axis == 0 || size[axis] > 1;
        for (int corner = 0; corner < 8; ++corner) {
            int index[3];
            double weight = 1;
            for (int axis = 0; axis < 3; ++axis) {
                const bool upper = (corner >> axis & 1) != 0;
                index[axis] = first[axis] + upper;
                weight *= upper ? fraction[axis] : 1 - fraction[axis];
            }
            if (weight == 0) continue;
            const double value = element(index);
            sum += weight * value;
            lowest = std::min(lowest, value);
            highest = std::max(highest, value);
        }
        *slack = axes * (highest - lowest) / 256;
        return sum;
    }
};

/// `steps_of_256`: all positions are multiples of 1/256 of an element, so that the weights have 8 bits.
void check(const std::vector<float>& got, const Reference& reference, const std::vector<float3>& at,
           bool steps_of_256) {
    double largest = 0;
    for (const double value : reference.values) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < at.size(); ++i) {
        double slack = 0;
        const double expected = reference.sample(at[i], &slack);
        if (steps_of_256) slack = 0;
        // 8-bit weights leave the filter about 16 bits of the value.
        const double tolerance = slack + 1e-6 * largest;
        if (std::abs(got[i] - expected) <= tolerance) continue;
        CAPTURE(i, at[i].x, at[i].y, at[i].z, expected, tolerance);
        CHECK(got[i] == static_cast<float>(expected));
        return;
    }
    SUCCEED();
}

std::vector<float> sample_values(int count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(i * 37 % 23) - 7.5f;
    return values;
}

std::vector<double> as_doubles(const std::vector<float>& values) { return {values.begin(), values.end()}; }

/// From `low` to `high` in steps of 1/256, with texel centers and edges among them.
std::vector<float3> fine_positions(int low, int high) {
    std::vector<float3> at;
    for (int i = 256 * low; i <= 256 * high; ++i) at.push_back(make_float3(static_cast<float>(i) / 256, 0, 0));
    return at;
}

/// `count` places in a box around [0, size) that reaches `outside` times its size beyond.
std::vector<float3> scattered_positions(int count, float3 size, float outside) {
    std::vector<float3> at;
    unsigned state = 12345;
    const auto next = [&](float extent) {
        state = state * 1664525u + 1013904223u;
        const float unit = static_cast<float>(state >> 8) / 16777216.0f;
        return (unit * (1 + 2 * outside) - outside) * extent;
    };
    for (int i = 0; i < count; ++i) {
        const float x = next(size.x);
        const float y = next(size.y);
        at.push_back(make_float3(x, y, next(size.z)));
    }
    return at;
}

std::vector<float3> divided(std::vector<float3> at, float3 by) {
    for (float3& place : at) place = make_float3(place.x / by.x, place.y / by.y, place.z / by.z);
    return at;
}

template <class T>
T texel(int i) {
    using Limits = std::numeric_limits<T>;
    if constexpr (Limits::is_integer) {
        const int step = i * 29;
        if constexpr (Limits::is_signed) {
            return static_cast<T>(i % 7 == 0 ? Limits::min() : step % 2 == 0 ? step % 100 : -(step % 100));
        } else {
            return static_cast<T>(i % 7 == 0 ? Limits::max() : static_cast<T>(step % 200));
        }
    } else {
        return static_cast<T>(i) * static_cast<T>(-1.5);
    }
}

template <class V, class Component, int channels>
struct Vector {
    using type = V;
    using component = Component;
    static V make(int i) {
        Component parts[channels];
        for (int channel = 0; channel < channels; ++channel) parts[channel] = texel<Component>(channels * i + channel);
        V value;
        static_assert(sizeof value == sizeof parts);
        std::memcpy(&value, parts, sizeof value);
        return value;
    }
};

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

}  // namespace

TEMPLATE_TEST_CASE("textures hold elements of every type", "", (Vector<char, char, 1>), (Vector<char1, signed char, 1>),
                   (Vector<char2, signed char, 2>), (Vector<char4, signed char, 4>),
                   (Vector<unsigned char, unsigned char, 1>), (Vector<uchar1, unsigned char, 1>),
                   (Vector<uchar2, unsigned char, 2>), (Vector<uchar4, unsigned char, 4>), (Vector<short, short, 1>),
                   (Vector<short1, short, 1>), (Vector<short2, short, 2>), (Vector<short4, short, 4>),
                   (Vector<unsigned short, unsigned short, 1>), (Vector<ushort1, unsigned short, 1>),
                   (Vector<ushort2, unsigned short, 2>), (Vector<ushort4, unsigned short, 4>), (Vector<int, int, 1>),
                   (Vector<int1, int, 1>), (Vector<int2, int, 2>), (Vector<int4, int, 4>),
                   (Vector<unsigned, unsigned, 1>), (Vector<uint1, unsigned, 1>), (Vector<uint2, unsigned, 2>),
                   (Vector<uint4, unsigned, 4>), (Vector<float, float, 1>), (Vector<float1, float, 1>),
                   (Vector<float2, float, 2>), (Vector<float4, float, 4>)) {
    device_or_skip();
    using T = typename TestType::type;
    constexpr int width = 24;
    constexpr int height = 3;
    std::vector<T> values;
    for (int i = 0; i < width * height; ++i) values.push_back(TestType::make(i));
    const cudaTextureDesc description = reading(cudaFilterModePoint, cudaAddressModeClamp, false);

    SECTION("in linear memory") {
        const Memory<T> memory(values);
        const Texture texture(memory.resource(), description);
        std::vector<int> at;
        for (int i = 0; i < width * height; ++i) at.push_back(i);
        const Memory<int> d_at(at);
        const auto got = results_of<T>(values.size(), [&](T* d_out) {
            fetch_1d<T><<<1, 128>>>(texture.get(), d_at.data(), static_cast<int>(at.size()), d_out);
        });
        CHECK(same_bits(got, values));
    }
    std::vector<float3> centers;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            centers.push_back(make_float3(static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f, 0));
        }
    }
    SECTION("in a 2-D array") {
        const Array array(values, make_cudaExtent(width, height, 0));
        const Texture texture(array.resource(), description);
        CHECK(same_bits(sample(sample_2d<T>, texture, centers), values));
    }
    SECTION("in a 1-D array") {
        const std::vector<T> row(values.begin(), values.begin() + width);
        const Array array(row, make_cudaExtent(width, 0, 0));
        const Texture texture(array.resource(), description);
        const std::vector<float3> at(centers.begin(), centers.begin() + width);
        CHECK(same_bits(sample(sample_1d<T>, texture, at), row));
    }
    SECTION("in pitched memory") {
        T* d_rows = nullptr;
        std::size_t pitch = 0;
        REQUIRE(cudaMallocPitch(&d_rows, &pitch, width * sizeof(T), height) == cudaSuccess);
        REQUIRE(cudaMemcpy2D(d_rows, pitch, values.data(), width * sizeof(T), width * sizeof(T), height,
                             cudaMemcpyHostToDevice) == cudaSuccess);
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypePitch2D;
        resource.res.pitch2D.devPtr = d_rows;
        resource.res.pitch2D.desc = cudaCreateChannelDesc<T>();
        resource.res.pitch2D.width = width;
        resource.res.pitch2D.height = height;
        resource.res.pitch2D.pitchInBytes = pitch;
        {
            const Texture texture(resource, description);
            CHECK(same_bits(sample(sample_2d<T>, texture, centers), values));
        }
        REQUIRE(cudaFree(d_rows) == cudaSuccess);
    }
}

TEST_CASE("fetches outside linear memory return zero") {
    device_or_skip();
    const Memory<float> memory(sample_values(64));
    cudaTextureDesc description = reading(cudaFilterModePoint, cudaAddressModeBorder, false);
    description.borderColor[0] = 5;
    const Texture texture(memory.resource(), description);
    const Memory<int> at({-1, 0, 63, 64, 1000, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()});
    const auto got =
        results_of<float>(7, [&](float* d_out) { fetch_1d<float><<<1, 32>>>(texture.get(), at.data(), 7, d_out); });
    const auto values = sample_values(64);
    CHECK(got == std::vector<float>{0, values[0], values[63], 0, 0, 0, 0});
}

TEST_CASE("1-D textures with coordinates in elements") {
    device_or_skip();
    const auto filter = GENERATE(cudaFilterModePoint, cudaFilterModeLinear);
    const auto address =
        GENERATE(cudaAddressModeClamp, cudaAddressModeBorder, cudaAddressModeWrap, cudaAddressModeMirror);
    const int size = GENERATE(1, 2, 7, 16);
    const auto values = sample_values(size);
    const Array array(values, make_cudaExtent(static_cast<std::size_t>(size), 0, 0));
    cudaTextureDesc description = reading(filter, address, false);
    description.addressMode[1] = cudaAddressModeClamp;  // an H200 looks at it in 1-D textures too
    description.borderColor[0] = -40;
    const Texture texture(array.resource(), description);
    const Reference reference{as_doubles(values), {size, 1, 1}, filter, address, false, -40};
    CAPTURE(filter, address, size);

    const auto fine = fine_positions(-4, size + 4);
    check(sample(sample_1d<float>, texture, fine), reference, fine, true);
    const auto far = std::vector<float3>{make_float3(-1e6f, 0, 0), make_float3(1e6f, 0, 0), make_float3(-300.25f, 0, 0),
                                         make_float3(4711.5f, 0, 0)};
    check(sample(sample_1d<float>, texture, far), reference, far, true);
    const auto anywhere = scattered_positions(2000, make_float3(static_cast<float>(size), 1, 1), 1.5f);
    check(sample(sample_1d<float>, texture, anywhere), reference, anywhere, false);
}

TEST_CASE("1-D textures with normalized coordinates") {
    device_or_skip();
    const auto filter = GENERATE(cudaFilterModePoint, cudaFilterModeLinear);
    const auto address =
        GENERATE(cudaAddressModeClamp, cudaAddressModeBorder, cudaAddressModeWrap, cudaAddressModeMirror);
    const int size = GENERATE(1, 4, 16);  // powers of two: the coordinates stay exact
    const auto values = sample_values(size);
    const Array array(values, make_cudaExtent(static_cast<std::size_t>(size), 0, 0));
    cudaTextureDesc description = reading(filter, address, true);
    description.addressMode[1] = cudaAddressModeClamp;
    description.borderColor[0] = 90;
    const Texture texture(array.resource(), description);
    const Reference reference{as_doubles(values), {size, 1, 1}, filter, address, true, 90};
    const float3 extent = make_float3(static_cast<float>(size), 1, 1);
    CAPTURE(filter, address, size);

    const auto fine = divided(fine_positions(-3 * size, 4 * size), extent);
    check(sample(sample_1d<float>, texture, fine), reference, fine, true);
    if (filter == cudaFilterModeLinear) {
        const auto anywhere = divided(scattered_positions(2000, extent, 2.5f), extent);
        check(sample(sample_1d<float>, texture, anywhere), reference, anywhere, false);
    }
}

TEST_CASE("2-D textures") {
    device_or_skip();
    const auto filter = GENERATE(cudaFilterModePoint, cudaFilterModeLinear);
    const auto address =
        GENERATE(cudaAddressModeClamp, cudaAddressModeBorder, cudaAddressModeWrap, cudaAddressModeMirror);
    const bool normalized = GENERATE(false, true);
    constexpr int width = 8;
    constexpr int height = 4;
    const auto values = sample_values(width * height);
    const Array array(values, make_cudaExtent(width, height, 0));
    cudaTextureDesc description = reading(filter, address, normalized);
    description.borderColor[0] = 11;
    const Texture texture(array.resource(), description);
    const Reference reference{as_doubles(values), {width, height, 1}, filter, address, normalized, 11};
    const float3 extent = make_float3(width, height, 1);
    CAPTURE(filter, address, normalized);

    std::vector<float3> grid;  // in steps of 1/8
    for (int y = -40; y <= 8 * height + 40; y += 1) {
        for (int x = -80; x <= 8 * width + 80; x += 1) {
            grid.push_back(make_float3(static_cast<float>(x) / 8, static_cast<float>(y) / 8, 0));
        }
    }
    if (normalized) grid = divided(grid, extent);
    check(sample(sample_2d<float>, texture, grid), reference, grid, true);
    if (filter == cudaFilterModeLinear) {
        auto anywhere = scattered_positions(4000, extent, 1.2f);
        if (normalized) anywhere = divided(anywhere, extent);
        check(sample(sample_2d<float>, texture, anywhere), reference, anywhere, false);
    }
}

TEST_CASE("2-D textures in pitched memory are filtered") {
    device_or_skip();
    constexpr int width = 10;
    constexpr int height = 5;
    const auto values = sample_values(width * height);
    float* d_rows = nullptr;
    std::size_t pitch = 0;
    REQUIRE(cudaMallocPitch(&d_rows, &pitch, width * sizeof(float), height) == cudaSuccess);
    REQUIRE(cudaMemcpy2D(d_rows, pitch, values.data(), width * sizeof(float), width * sizeof(float), height,
                         cudaMemcpyHostToDevice) == cudaSuccess);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = d_rows;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    {
        const Texture texture(resource, reading(cudaFilterModeLinear, cudaAddressModeClamp, false));
        const Reference reference{
            as_doubles(values), {width, height, 1}, cudaFilterModeLinear, cudaAddressModeClamp, false};
        const auto anywhere = scattered_positions(3000, make_float3(width, height, 1), 0.5f);
        check(sample(sample_2d<float>, texture, anywhere), reference, anywhere, false);
    }
    REQUIRE(cudaFree(d_rows) == cudaSuccess);
}

TEST_CASE("3-D textures") {
    device_or_skip();
    const auto filter = GENERATE(cudaFilterModePoint, cudaFilterModeLinear);
    const auto address =
        GENERATE(cudaAddressModeClamp, cudaAddressModeBorder, cudaAddressModeWrap, cudaAddressModeMirror);
    const bool normalized = GENERATE(false, true);
    const auto values = sample_values(4 * 8 * 2);
    const Array array(values, make_cudaExtent(4, 8, 2));
    cudaTextureDesc description = reading(filter, address, normalized);
    description.borderColor[0] = -3;
    const Texture texture(array.resource(), description);
    const Reference reference{as_doubles(values), {4, 8, 2}, filter, address, normalized, -3};
    const float3 extent = make_float3(4, 8, 2);
    CAPTURE(filter, address, normalized);

    std::vector<float3> grid;  // in steps of 1/4
    for (int z = -8; z <= 16; ++z) {
        for (int y = -12; y <= 44; y += 3) {
            for (int x = -10; x <= 26; ++x) {
                grid.push_back(
                    make_float3(static_cast<float>(x) / 4, static_cast<float>(y) / 4, static_cast<float>(z) / 4));
            }
        }
    }
    if (normalized) grid = divided(grid, extent);
    check(sample(sample_3d<float>, texture, grid), reference, grid, true);
}

TEST_CASE("layers are textures of their own, and a number beyond the last one means the last") {
    device_or_skip();
    const auto filter = GENERATE(cudaFilterModePoint, cudaFilterModeLinear);
    constexpr int layers = 3;
    const auto values = sample_values(6 * 4 * layers);
    const auto layer_of = [](float z) { return std::min(static_cast<int>(z), layers - 1); };
    const cudaTextureDesc description = reading(filter, cudaAddressModeClamp, false);
    auto at = scattered_positions(1500, make_float3(6, 4, layers), 0.6f);
    for (float3& place : at) place.z = std::abs(place.z);
    if (filter == cudaFilterModePoint) {
        for (float3& place : at) place = make_float3(std::floor(place.x) + 0.5f, std::floor(place.y) + 0.5f, place.z);
    }

    const auto check_layers = [&](const std::vector<float>& got, int width, int height) {
        for (int layer = 0; layer < layers; ++layer) {
            const auto first = values.begin() + layer * width * height;
            const Reference reference{std::vector<double>(first, first + width * height),
                                      {width, height, 1},
                                      filter,
                                      cudaAddressModeClamp,
                                      false};
            std::vector<float3> places;
            std::vector<float> of_layer;
            for (std::size_t i = 0; i < at.size(); ++i) {
                if (layer_of(at[i].z) != layer) continue;
                places.push_back(at[i]);
                of_layer.push_back(got[i]);
            }
            check(of_layer, reference, places, false);
        }
    };
    SECTION("2-D") {
        const Array array(values, make_cudaExtent(6, 4, layers), cudaArrayLayered);
        const Texture texture(array.resource(), description);
        check_layers(sample(sample_layers_2d<float>, texture, at), 6, 4);
    }
    SECTION("1-D") {
        const std::vector<float> rows(values.begin(), values.begin() + 6 * layers);
        const Array array(rows, make_cudaExtent(6, 0, layers), cudaArrayLayered);
        const Texture texture(array.resource(), description);
        check_layers(sample(sample_layers_1d<float>, texture, at), 6, 1);
    }
}

TEMPLATE_TEST_CASE("small integers can be read as fractions", "", unsigned char, signed char, unsigned short, short) {
    device_or_skip();
    using T = TestType;
    using Limits = std::numeric_limits<T>;
    const std::vector<T> values = {0,
                                   1,
                                   Limits::max(),
                                   Limits::min(),
                                   static_cast<T>(Limits::max() / 2),
                                   static_cast<T>(Limits::min() / 2),
                                   static_cast<T>(Limits::min() + 1),
                                   7};
    std::vector<double> fractions;
    for (const T value : values) fractions.push_back(value / static_cast<double>(Limits::max()));
    const Reference reference{fractions, {8, 1, 1}, cudaFilterModeLinear, cudaAddressModeClamp, false};
    const Array array(values, make_cudaExtent(8, 0, 0));
    const auto at = fine_positions(-2, 10);

    const Texture filtered(array.resource(),
                           reading(cudaFilterModeLinear, cudaAddressModeClamp, false, cudaReadModeNormalizedFloat));
    const auto got = sample(sample_1d<float>, filtered, at);
    for (std::size_t i = 0; i < at.size(); ++i) {
        double slack = 0;
        CAPTURE(at[i].x);
        // The smallest signed integer counts for slightly less than -1 while it is filtered.
        REQUIRE(std::abs(got[i] - std::max(reference.sample(at[i], &slack), -1.0)) <= 1e-4);
    }

    const Memory<T> memory(values);
    const Texture fetched(memory.resource(),
                          reading(cudaFilterModePoint, cudaAddressModeClamp, false, cudaReadModeNormalizedFloat));
    const Memory<int> d_at({0, 1, 2, 3, 4, 5, 6, 7});
    const auto direct =
        results_of<float>(8, [&](float* d_out) { fetch_1d<float><<<1, 32>>>(fetched.get(), d_at.data(), 8, d_out); });
    for (std::size_t i = 0; i < 8; ++i) CHECK(std::abs(direct[i] - std::max(fractions[i], -1.0)) <= 2e-7);
}

TEST_CASE("the border color of integers is given by its bits") {
    device_or_skip();
    const std::vector<int> values = {1, 2, 3, 4};
    const Array array(values, make_cudaExtent(4, 0, 0));
    cudaTextureDesc description = reading(cudaFilterModePoint, cudaAddressModeBorder, false);
    const int border = -123456;
    std::memcpy(&description.borderColor[0], &border, sizeof border);
    const Texture texture(array.resource(), description);
    const auto at = std::vector<float3>{make_float3(-0.5f, 0, 0), make_float3(0.5f, 0, 0), make_float3(3.5f, 0, 0),
                                        make_float3(4.5f, 0, 0)};
    CHECK(sample(sample_1d<int>, texture, at) == std::vector<int>{border, 1, 4, border});
}

TEST_CASE("every channel is filtered and has its border color") {
    device_or_skip();
    std::vector<float4> values;
    for (int i = 0; i < 5; ++i) {
        const auto f = static_cast<float>(i);
        values.push_back(make_float4(f, 10 * f, -f, f * f));
    }
    const Array array(values, make_cudaExtent(5, 0, 0));
    cudaTextureDesc description = reading(cudaFilterModeLinear, cudaAddressModeBorder, false);
    description.addressMode[1] = cudaAddressModeClamp;
    for (int channel = 0; channel < 4; ++channel) description.borderColor[channel] = static_cast<float>(100 * channel);
    const Texture texture(array.resource(), description);
    const auto got =
        sample(sample_1d<float4>, texture, {make_float3(1.75f, 0, 0), make_float3(0, 0, 0), make_float3(-5, 0, 0)});
    const float expected[3][4] = {{1.25f, 12.5f, -1.25f, 1.75f}, {0, 50, 100, 150}, {0, 100, 200, 300}};
    for (int i = 0; i < 3; ++i) {
        const float4 value = got[static_cast<std::size_t>(i)];
        const float channels[4] = {value.x, value.y, value.z, value.w};
        for (int channel = 0; channel < 4; ++channel) {
            CAPTURE(i, channel);
            CHECK(std::abs(channels[channel] - expected[i][channel]) <= 1e-4f);
        }
    }
}

TEST_CASE("half-precision elements are read as floats") {
    device_or_skip();
    std::vector<__half> values;
    for (const float value : {0.0f, 1.0f, -2.5f, 65504.0f, 6.0e-8f, 0.333251953125f}) {
        values.push_back(__float2half(value));
    }
    const Array array(values, make_cudaExtent(6, 0, 0), cudaArrayDefault, cudaCreateChannelDescHalf());
    const Texture texture(array.resource(), reading(cudaFilterModePoint, cudaAddressModeClamp, false));
    std::vector<float3> at;
    for (int i = 0; i < 6; ++i) at.push_back(make_float3(static_cast<float>(i) + 0.5f, 0, 0));
    const auto got = sample(sample_1d<float>, texture, at);
    for (std::size_t i = 0; i < 6; ++i) CHECK(got[i] == __half2float(values[i]));
}

TEST_CASE("fetches have a form that takes a pointer") {
    device_or_skip();
    const auto values = sample_values(20);
    const Memory<float> memory(values);
    const Array array(values, make_cudaExtent(5, 4, 0));
    const cudaTextureDesc description = reading(cudaFilterModePoint, cudaAddressModeClamp, false);
    const Texture linear(memory.resource(), description);
    const Texture plane(array.resource(), description);
    const auto got =
        results_of<float>(3, [&](float* d_out) { use_pointer_forms<<<1, 1>>>(linear.get(), plane.get(), d_out); });
    CHECK(got == std::vector<float>{values[3], values[7], values[4]});
}

TEST_CASE("a texture over memory sees what a later kernel or copy wrote") {
    device_or_skip();
    const Memory<float> memory(std::vector<float>(8, 1.0f));
    const Texture texture(memory.resource(), reading(cudaFilterModePoint, cudaAddressModeClamp, false));
    const Memory<int> at({0, 7});
    const std::vector<float> later(8, 2.0f);
    REQUIRE(cudaMemcpy(memory.data(), later.data(), memory.bytes(), cudaMemcpyHostToDevice) == cudaSuccess);
    const auto got =
        results_of<float>(2, [&](float* d_out) { fetch_1d<float><<<1, 2>>>(texture.get(), at.data(), 2, d_out); });
    CHECK(got == std::vector<float>{2, 2});
}

TEST_CASE("arrays are copied in parts") {
    device_or_skip();
    const Array array(std::vector<float>(6 * 4, 0.0f), make_cudaExtent(6, 4, 0));
    const auto patch = sample_values(3 * 2);
    // Rows of 3 elements that lie 4 apart, to row 1 from element 2 on.
    std::vector<float> source(8, 99.0f);
    std::copy(patch.begin(), patch.begin() + 3, source.begin());
    std::copy(patch.begin() + 3, patch.end(), source.begin() + 4);
    REQUIRE(cudaMemcpy2DToArray(array.get(), 2 * sizeof(float), 1, source.data(), 4 * sizeof(float), 3 * sizeof(float),
                                2, cudaMemcpyHostToDevice) == cudaSuccess);
    std::vector<float> all(24, -1.0f);
    REQUIRE(cudaMemcpy2DFromArray(all.data(), 6 * sizeof(float), array.get(), 0, 0, 6 * sizeof(float), 4,
                                  cudaMemcpyDeviceToHost) == cudaSuccess);
    for (int row = 0; row < 4; ++row) {
        for (int col = 0; col < 6; ++col) {
            const bool inside = row >= 1 && row < 3 && col >= 2 && col < 5;
            const float expected = inside ? patch[static_cast<std::size_t>((row - 1) * 3 + col - 2)] : 0;
            REQUIRE(all[static_cast<std::size_t>(6 * row + col)] == expected);
        }
    }

    const Array other(std::vector<float>(6 * 4, 5.0f), make_cudaExtent(6, 4, 0));
    REQUIRE(cudaMemcpy2DArrayToArray(other.get(), 0, 0, array.get(), 2 * sizeof(float), 1, 3 * sizeof(float), 2) ==
            cudaSuccess);
    std::vector<float> copied(6, -1.0f);
    REQUIRE(cudaMemcpy2DFromArray(copied.data(), 3 * sizeof(float), other.get(), 0, 0, 3 * sizeof(float), 2,
                                  cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(copied == patch);
}

TEST_CASE("boxes of 3-D arrays are copied") {
    device_or_skip();
    const Array array(sample_values(5 * 4 * 3), make_cudaExtent(5, 4, 3));
    const auto values = sample_values(5 * 4 * 3);
    std::vector<float> box(2 * 3 * 2, 0.0f);
    cudaMemcpy3DParms copy{};
    copy.srcArray = array.get();
    copy.srcPos = make_cudaPos(3, 1, 1);
    copy.dstPtr = make_cudaPitchedPtr(box.data(), 2 * sizeof(float), 2, 3);
    copy.extent = make_cudaExtent(2, 3, 2);
    copy.kind = cudaMemcpyDeviceToHost;
    REQUIRE(cudaMemcpy3D(&copy) == cudaSuccess);
    for (int z = 0; z < 2; ++z) {
        for (int y = 0; y < 3; ++y) {
            for (int x = 0; x < 2; ++x) {
                REQUIRE(box[static_cast<std::size_t>((z * 3 + y) * 2 + x)] ==
                        values[static_cast<std::size_t>(((z + 1) * 4 + y + 1) * 5 + x + 3)]);
            }
        }
    }
}

TEST_CASE("pitched memory is copied in boxes") {
    device_or_skip();
    cudaPitchedPtr d_box{};
    const cudaExtent extent = make_cudaExtent(5 * sizeof(int), 4, 3);
    REQUIRE(cudaMalloc3D(&d_box, extent) == cudaSuccess);
    std::vector<int> values(60);
    for (int i = 0; i < 60; ++i) values[static_cast<std::size_t>(i)] = i;
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(values.data(), 5 * sizeof(int), 5, 4);
    copy.dstPtr = d_box;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    REQUIRE(cudaMemcpy3D(&copy) == cudaSuccess);

    std::vector<int> part(2 * 2 * 2, -1);
    copy = {};
    copy.srcPtr = d_box;
    copy.srcPos = make_cudaPos(3 * sizeof(int), 2, 1);
    copy.dstPtr = make_cudaPitchedPtr(part.data(), 2 * sizeof(int), 2, 2);
    copy.extent = make_cudaExtent(2 * sizeof(int), 2, 2);
    copy.kind = cudaMemcpyDeviceToHost;
    REQUIRE(cudaMemcpy3DAsync(&copy, nullptr) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    REQUIRE(cudaFree(d_box.ptr) == cudaSuccess);
    CHECK(part == std::vector<int>{33, 34, 38, 39, 53, 54, 58, 59});
}

TEST_CASE("kernels write arrays through surfaces") {
    device_or_skip();
    const auto values = sample_values(20 * 9);
    const Array array(values, make_cudaExtent(20, 9, 0), cudaArraySurfaceLoadStore);
    const cudaResourceDesc resource = array.resource();
    cudaSurfaceObject_t surface = 0;
    REQUIRE(cudaCreateSurfaceObject(&surface, &resource) == cudaSuccess);
    double_on_surface<<<dim3(2, 3), dim3(16, 4)>>>(surface, 20, 9);
    std::vector<float> doubled(values.size());
    REQUIRE(cudaMemcpy2DFromArray(doubled.data(), 20 * sizeof(float), array.get(), 0, 0, 20 * sizeof(float), 9,
                                  cudaMemcpyDeviceToHost) == cudaSuccess);
    REQUIRE(cudaDestroySurfaceObject(surface) == cudaSuccess);
    for (std::size_t i = 0; i < values.size(); ++i) REQUIRE(doubled[i] == 2 * values[i]);
}

TEST_CASE("surface reads outside the array return zero or the edge") {
    device_or_skip();
    const auto values = sample_values(8);
    const Array array(values, make_cudaExtent(8, 0, 0), cudaArraySurfaceLoadStore);
    const cudaResourceDesc resource = array.resource();
    cudaSurfaceObject_t surface = 0;
    REQUIRE(cudaCreateSurfaceObject(&surface, &resource) == cudaSuccess);
    const auto got = results_of<float>(32, [&](float* d_out) { read_beyond_surface<<<1, 16>>>(surface, d_out); });
    REQUIRE(cudaDestroySurfaceObject(surface) == cudaSuccess);
    for (int i = 0; i < 16; ++i) {
        const int x = i - 4;
        const bool inside = x >= 0 && x < 8;
        const auto clamped = static_cast<std::size_t>(std::min(std::max(x, 0), 7));
        CHECK(got[static_cast<std::size_t>(2 * i)] == (inside ? values[clamped] : 0));
        CHECK(got[static_cast<std::size_t>(2 * i + 1)] == values[clamped]);
    }
}

TEST_CASE("channel descriptors describe their types") {
    const auto same = [](const cudaChannelFormatDesc& a, int x, int y, int z, int w, cudaChannelFormatKind f) {
        return a.x == x && a.y == y && a.z == z && a.w == w && a.f == f;
    };
    CHECK(same(cudaCreateChannelDesc<float>(), 32, 0, 0, 0, cudaChannelFormatKindFloat));
    CHECK(same(cudaCreateChannelDesc<float4>(), 32, 32, 32, 32, cudaChannelFormatKindFloat));
    CHECK(same(cudaCreateChannelDesc<uchar2>(), 8, 8, 0, 0, cudaChannelFormatKindUnsigned));
    CHECK(same(cudaCreateChannelDesc<short>(), 16, 0, 0, 0, cudaChannelFormatKindSigned));
    CHECK(same(cudaCreateChannelDesc<unsigned>(), 32, 0, 0, 0, cudaChannelFormatKindUnsigned));
    CHECK(same(cudaCreateChannelDesc<double>(), 0, 0, 0, 0, cudaChannelFormatKindNone));
    CHECK(same(cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsigned), 8, 8, 8, 8,
               cudaChannelFormatKindUnsigned));
}

TEST_CASE("arrays know what they are") {
    device_or_skip();
    const Array array(sample_values(6 * 4 * 2), make_cudaExtent(6, 4, 2), cudaArrayLayered);
    cudaChannelFormatDesc format{};
    cudaExtent extent{};
    unsigned flags = 0;
    REQUIRE(cudaArrayGetInfo(&format, &extent, &flags, array.get()) == cudaSuccess);
    CHECK(format.x == 32);
    CHECK(format.f == cudaChannelFormatKindFloat);
    CHECK(extent.width == 6);
    CHECK(extent.height == 4);
    CHECK(extent.depth == 2);
    CHECK(flags == cudaArrayLayered);
}

TEST_CASE("arrays that no device can hold are refused") {
    device_or_skip();
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    const auto refused = [&](const cudaChannelFormatDesc& wrong) {
        return cudaMallocArray(&array, &wrong, 4, 4) == cudaErrorInvalidChannelDescriptor;
    };
    CHECK(refused(cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat)));
    CHECK(refused(cudaCreateChannelDesc(24, 0, 0, 0, cudaChannelFormatKindUnsigned)));
    CHECK(refused(cudaCreateChannelDesc(8, 16, 0, 0, cudaChannelFormatKindUnsigned)));
    CHECK(refused(cudaCreateChannelDesc(64, 0, 0, 0, cudaChannelFormatKindSigned)));
    CHECK(refused(cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindFloat)));
    CHECK(refused(cudaCreateChannelDesc<double>()));
    CHECK(cudaMallocArray(nullptr, &format, 4, 4) == cudaErrorInvalidValue);
    CHECK(cudaMallocArray(&array, nullptr, 4, 4) == cudaErrorInvalidValue);
    CHECK(cudaMallocArray(&array, &format, 0, 4) == cudaErrorInvalidValue);
    CHECK(cudaMallocArray(&array, &format, 1 << 20, 0) == cudaErrorInvalidValue);
    CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(4, 0, 4)) == cudaErrorInvalidValue);
    CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(4, 4, 0), cudaArrayLayered) == cudaErrorInvalidValue);
    CHECK(cudaFreeArray(nullptr) == cudaSuccess);
    (void)cudaGetLastError();
}

TEST_CASE("copies that do not fit an array are refused") {
    device_or_skip();
    const Array array(sample_values(8 * 4), make_cudaExtent(8, 4, 0));
    std::vector<float> host(64);
    const auto to_array = [&](std::size_t x_bytes, std::size_t row, std::size_t pitch, std::size_t width,
                              cudaMemcpyKind kind) {
        return cudaMemcpy2DToArray(array.get(), x_bytes, row, host.data(), pitch, width, 4, kind);
    };
    CHECK(to_array(0, 0, 32, 32, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(to_array(4, 0, 32, 32, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(to_array(0, 1, 32, 32, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(to_array(0, 0, 16, 32, cudaMemcpyHostToDevice) == cudaErrorInvalidPitchValue);
    CHECK(to_array(0, 0, 32, 32, cudaMemcpyDeviceToHost) == cudaErrorInvalidMemcpyDirection);
    CHECK(cudaMemcpy2DFromArray(host.data(), 32, array.get(), 0, 0, 32, 4, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidMemcpyDirection);
    CHECK(cudaMemcpy3D(nullptr) == cudaErrorInvalidValue);
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(host.data(), 32, 8, 4);
    copy.dstArray = array.get();
    copy.kind = cudaMemcpyHostToDevice;
    copy.extent = make_cudaExtent(9, 4, 1);
    CHECK(cudaMemcpy3D(&copy) == cudaErrorInvalidValue);
    copy.extent = make_cudaExtent(8, 4, 1);
    CHECK(cudaMemcpy3D(&copy) == cudaSuccess);
    copy.srcArray = array.get();
    CHECK(cudaMemcpy3D(&copy) == cudaErrorInvalidValue);
    (void)cudaGetLastError();
}

TEST_CASE("texture objects that make no sense are refused") {
    device_or_skip();
    cudaTextureObject_t texture = 0;
    const cudaTextureDesc point = reading(cudaFilterModePoint, cudaAddressModeClamp, false);
    const cudaTextureDesc linear = reading(cudaFilterModeLinear, cudaAddressModeClamp, false);
    const auto create = [&](const cudaResourceDesc& resource, const cudaTextureDesc& description) {
        return cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    };
    const Memory<float> memory(sample_values(512));
    cudaResourceDesc resource = memory.resource();
    CHECK(cudaCreateTextureObject(nullptr, &resource, &point, nullptr) == cudaErrorInvalidValue);
    CHECK(cudaCreateTextureObject(&texture, nullptr, &point, nullptr) == cudaErrorInvalidValue);

    resource.res.linear.devPtr = memory.data() + 1;
    CHECK(create(resource, point) == cudaErrorInvalidValue);
    resource.res.linear.devPtr = nullptr;
    CHECK(create(resource, point) == cudaErrorInvalidValue);
    resource = memory.resource();
    resource.res.linear.desc = cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat);
    CHECK(create(resource, point) == cudaErrorInvalidChannelDescriptor);

    resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = memory.data();
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    resource.res.pitch2D.width = 16;
    resource.res.pitch2D.height = 4;
    resource.res.pitch2D.pitchInBytes = 68;
    CHECK(create(resource, point) == cudaErrorInvalidValue);

    const Array bytes(std::vector<unsigned char>(8, 1), make_cudaExtent(8, 0, 0));
    CHECK(create(bytes.resource(), linear) == cudaErrorInvalidFilterSetting);
    const Array words(std::vector<unsigned>(8, 1), make_cudaExtent(8, 0, 0));
    CHECK(create(words.resource(), reading(cudaFilterModePoint, cudaAddressModeClamp, false,
                                           cudaReadModeNormalizedFloat)) == cudaErrorInvalidNormSetting);
    const Array floats(sample_values(8), make_cudaExtent(8, 0, 0));
    CHECK(create(floats.resource(), reading(cudaFilterModePoint, cudaAddressModeClamp, false,
                                            cudaReadModeNormalizedFloat)) == cudaErrorInvalidNormSetting);
    cudaTextureDesc wrong = point;
    wrong.filterMode = static_cast<cudaTextureFilterMode>(7);
    CHECK(create(floats.resource(), wrong) == cudaErrorInvalidValue);
    (void)cudaGetLastError();
}

TEST_CASE("texture objects tell what they were made of") {
    device_or_skip();
    const Memory<float> memory(sample_values(64));
    const Texture texture(memory.resource(), reading(cudaFilterModePoint, cudaAddressModeBorder, false));
    cudaResourceDesc resource{};
    REQUIRE(cudaGetTextureObjectResourceDesc(&resource, texture.get()) == cudaSuccess);
    CHECK(resource.resType == cudaResourceTypeLinear);
    CHECK(resource.res.linear.devPtr == memory.data());
    CHECK(resource.res.linear.sizeInBytes == memory.bytes());
    cudaTextureDesc description{};
    REQUIRE(cudaGetTextureObjectTextureDesc(&description, texture.get()) == cudaSuccess);
    CHECK(description.addressMode[0] == cudaAddressModeBorder);
}

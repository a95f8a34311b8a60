// CUDA arrays, texture objects, and surface objects.
#include <vector>

#include "common/tests/api_corpus/evaluate.cuh"
#include "common/tests/api_corpus/runtime_log.h"

namespace {

using namespace api_corpus;

constexpr int kWidth = 8, kHeight = 4, kDepth = 2;

std::vector<float> numbers(int count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(i * i % 37);
    return values;
}

cudaTextureDesc description(cudaTextureFilterMode filter, cudaTextureAddressMode address) {
    cudaTextureDesc result{};
    result.filterMode = filter;
    for (cudaTextureAddressMode& mode : result.addressMode) mode = address;
    result.readMode = cudaReadModeElementType;
    result.normalizedCoords = address == cudaAddressModeWrap || address == cudaAddressModeMirror;
    return result;
}

/// An array with numbers in it, and a texture over it.
class TextureOfArray {
public:
    TextureOfArray(cudaExtent extent, unsigned flags, const cudaTextureDesc& reads) {
        const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
        require(cudaMalloc3DArray(&array_, &format, extent, flags), "cudaMalloc3DArray");
        const int rows = extent.height == 0 ? 1 : static_cast<int>(extent.height);
        const int slices = extent.depth == 0 ? 1 : static_cast<int>(extent.depth);
        const std::vector<float> values = numbers(static_cast<int>(extent.width) * rows * slices);
        cudaMemcpy3DParms copy{};
        copy.srcPtr = make_cudaPitchedPtr(const_cast<float*>(values.data()), extent.width * sizeof(float), extent.width,
                                          static_cast<std::size_t>(rows));
        copy.dstArray = array_;
        copy.extent = make_cudaExtent(extent.width, static_cast<std::size_t>(rows), static_cast<std::size_t>(slices));
        copy.kind = cudaMemcpyHostToDevice;
        require(cudaMemcpy3D(&copy), "cudaMemcpy3D");
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array_;
        require(cudaCreateTextureObject(&texture_, &resource, &reads, nullptr), "cudaCreateTextureObject");
    }
    ~TextureOfArray() {
        (void)cudaDestroyTextureObject(texture_);
        (void)cudaFreeArray(array_);
    }
    TextureOfArray(const TextureOfArray&) = delete;
    TextureOfArray& operator=(const TextureOfArray&) = delete;
    cudaTextureObject_t texture() const { return texture_; }

private:
    cudaArray_t array_ = nullptr;
    cudaTextureObject_t texture_ = 0;
};

constexpr int kReads = 24;

template <class Read>
__global__ void read_all(Read read, cudaTextureObject_t texture, float* out) {
    out[threadIdx.x] = read(texture, static_cast<float>(threadIdx.x) * 0.47f - 1.5f);
}
template <class Read>
void add_reads(Results& results, Read read, cudaExtent extent, unsigned flags, cudaTextureFilterMode filter,
               cudaTextureAddressMode address) {
    const TextureOfArray array(extent, flags, description(filter, address));
    const OnDevice<float> d_out{std::vector<float>(kReads)};
    read_all<Read><<<1, kReads>>>(read, array.texture(), d_out.data());
    const Results found = results_of(d_out.values());
    results.type = found.type;
    results.values.insert(results.values.end(), found.values.begin(), found.values.end());
}
template <class Read>
Results single_texels_of(Read read, cudaExtent extent, unsigned flags = 0) {
    Results results;
    add_reads(results, read, extent, flags, cudaFilterModePoint, cudaAddressModeClamp);
    add_reads(results, read, extent, flags, cudaFilterModePoint, cudaAddressModeBorder);
    add_reads(results, read, extent, flags, cudaFilterModePoint, cudaAddressModeWrap);
    return results;
}
template <class Read>
Results filtered_texels_of(Read read, cudaExtent extent, unsigned flags = 0) {
    Results results;
    add_reads(results, read, extent, flags, cudaFilterModeLinear, cudaAddressModeClamp);
    add_reads(results, read, extent, flags, cudaFilterModeLinear, cudaAddressModeBorder);
    add_reads(results, read, extent, flags, cudaFilterModeLinear, cudaAddressModeMirror);
    return results;
}

/// `bound`: how far filtered texels may be off. The weights of linear filtering have 8 bits of fraction, as the CUDA
/// documentation says; of their rounding it says nothing.
#define READ(name, label, bound, extent, flags, ...)                                              \
    struct Read_##name {                                                                          \
        __device__ float operator()(cudaTextureObject_t t, float x) const { return __VA_ARGS__; } \
    };                                                                                            \
    const Case read_##name(label, [] { return single_texels_of(Read_##name{}, extent, flags); }); \
    const Case filter_##name(label ", filtered",                                                  \
                             [] { return within_absolute(bound, filtered_texels_of(Read_##name{}, extent, flags)); });

/// One step of a weight in each of three dimensions, between texels that differ by 36.
constexpr double kThreeSteps = 3 * 36.0 / 256;

const cudaExtent kLine = make_cudaExtent(kWidth, 0, 0), kImage = make_cudaExtent(kWidth, kHeight, 0);
const cudaExtent kVolume = make_cudaExtent(kWidth, kHeight, kDepth), kLines = make_cudaExtent(kWidth, 0, kDepth);

READ(tex1D, "tex1D", 0, kLine, 0, tex1D<float>(t, x))
READ(tex2D, "tex2D", 0, kImage, 0, tex2D<float>(t, x, x * 0.5f))
READ(tex3D, "tex3D", kThreeSteps, kVolume, 0, tex3D<float>(t, x, x * 0.5f, 0.75f))
READ(tex1DLayered, "tex1DLayered", 0, kLines, cudaArrayLayered, tex1DLayered<float>(t, x, 1))
READ(tex2DLayered, "tex2DLayered", 0, kVolume, cudaArrayLayered, tex2DLayered<float>(t, x, 1.5f, 1))

__global__ void fetch(cudaTextureObject_t texture, float* out) {
    out[threadIdx.x] = tex1Dfetch<float>(texture, static_cast<int>(threadIdx.x) - 4);
}
const Case fetches("tex1Dfetch", [] {
    const OnDevice<float> d_values(numbers(16)), d_out{std::vector<float>(kReads)};
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = d_values.data();
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = 16 * sizeof(float);
    const cudaTextureDesc reads = description(cudaFilterModePoint, cudaAddressModeClamp);
    cudaTextureObject_t texture = 0;
    require(cudaCreateTextureObject(&texture, &resource, &reads, nullptr), "cudaCreateTextureObject");
    fetch<<<1, kReads>>>(texture, d_out.data());
    const Results results = results_of(d_out.values());
    require(cudaDestroyTextureObject(texture), "cudaDestroyTextureObject");
    return results;
});

__global__ void write_surfaces(cudaSurfaceObject_t line, cudaSurfaceObject_t image, cudaSurfaceObject_t volume) {
    const int x = static_cast<int>(threadIdx.x);
    const int bytes = x * static_cast<int>(sizeof(float));
    surf1Dwrite(x + 0.5f, line, bytes);
    surf2Dwrite(x + 1.5f, image, bytes, 2);
    surf3Dwrite(x + 2.5f, volume, bytes, 1, 1);
}
__global__ void read_surfaces(cudaSurfaceObject_t line, cudaSurfaceObject_t image, cudaSurfaceObject_t volume,
                              float* out) {
    const int x = static_cast<int>(threadIdx.x);
    const int bytes = x * static_cast<int>(sizeof(float));
    out[x] = surf1Dread<float>(line, bytes) + 10 * surf2Dread<float>(image, bytes, 2) +
             100 * surf3Dread<float>(volume, bytes, 1, 1);
    out[kWidth + x] = surf1Dread<float>(line, bytes + 16, cudaBoundaryModeZero);
    out[2 * kWidth + x] = surf2Dread<float>(image, bytes + 16, 2, cudaBoundaryModeClamp);
}
const Case surfaces("surf1Dread, surf1Dwrite, surf2Dread, surf2Dwrite, surf3Dread, surf3Dwrite", [] {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t arrays[3] = {};
    cudaSurfaceObject_t made[3] = {};
    const cudaExtent extents[3] = {kLine, kImage, kVolume};
    for (int i = 0; i < 3; ++i) {
        require(cudaMalloc3DArray(&arrays[i], &format, extents[i], cudaArraySurfaceLoadStore), "cudaMalloc3DArray");
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = arrays[i];
        require(cudaCreateSurfaceObject(&made[i], &resource), "cudaCreateSurfaceObject");
    }
    const OnDevice<float> d_out{std::vector<float>(3 * kWidth)};
    write_surfaces<<<1, kWidth>>>(made[0], made[1], made[2]);
    read_surfaces<<<1, kWidth>>>(made[0], made[1], made[2], d_out.data());
    const Results results = results_of(d_out.values());
    for (int i = 0; i < 3; ++i) {
        require(cudaDestroySurfaceObject(made[i]), "cudaDestroySurfaceObject");
        require(cudaFreeArray(arrays[i]), "cudaFreeArray");
    }
    return results;
});

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // cudaMemcpyToArray
#endif

// ---- host code ---------------------------------------------------------------------------------------------------

const Case arrays("cudaMallocArray, cudaFreeArray, cudaArrayGetInfo, cudaGetChannelDesc", [] {
    Log log;
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    const cudaChannelFormatDesc wrong = {7, 0, 0, 0, cudaChannelFormatKindFloat};
    log(cudaMallocArray(&array, &wrong, 4, 4));
    log(cudaMallocArray(&array, &format, 0, 0));
    log(cudaMallocArray(nullptr, &format, 4, 4));
    log(cudaMallocArray(&array, nullptr, 4, 4));
    log(cudaMallocArray(&array, &format, 200000, 0));
    log(cudaMalloc3DArray(&array, &format, make_cudaExtent(4, 0, 4), 0));
    log(cudaMallocArray(&array, &format, 6, 5, cudaArraySurfaceLoadStore));
    cudaChannelFormatDesc found{};
    cudaExtent extent{};
    unsigned flags = 0;
    log(cudaArrayGetInfo(&found, &extent, &flags, array));
    for (const long long value :
         {static_cast<long long>(found.x), static_cast<long long>(found.y), static_cast<long long>(found.f),
          static_cast<long long>(extent.width), static_cast<long long>(extent.height),
          static_cast<long long>(extent.depth), static_cast<long long>(flags)})
        log.value(value);
    log(cudaGetChannelDesc(&found, array));
    log(cudaFreeArray(array));
    log(cudaFreeArray(nullptr));
    for (const cudaChannelFormatDesc& one :
         {cudaCreateChannelDesc<char>(), cudaCreateChannelDesc<uchar4>(), cudaCreateChannelDesc<short2>(),
          cudaCreateChannelDesc<uint4>(), cudaCreateChannelDescHalf(), cudaCreateChannelDescHalf1(),
          cudaCreateChannelDescHalf2(), cudaCreateChannelDescHalf4()}) {
        log.value(one.x + 100 * one.y + 10000 * one.z + 1000000LL * one.w + 100000000LL * one.f);
    }
    return log.results();
});

const Case array_copies("cudaMemcpy2DToArray, cudaMemcpy2DFromArray, cudaMemcpy2DArrayToArray, cudaMemcpy3D ...", [] {
    Log log;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array = nullptr, other = nullptr;
    log(cudaMallocArray(&array, &format, kWidth, kHeight));
    log(cudaMallocArray(&other, &format, kWidth, kHeight));
    const std::vector<float> values = numbers(kWidth * kHeight);
    std::vector<float> back(values.size());
    const std::size_t row = kWidth * sizeof(float);
    log(cudaMemcpy2DToArray(array, 0, 0, values.data(), row, row, kHeight, cudaMemcpyHostToDevice));
    log(cudaMemcpy2DToArrayAsync(other, 4, 1, values.data(), row, 8, 2, cudaMemcpyHostToDevice, nullptr));
    log(cudaMemcpy2DArrayToArray(other, 0, 3, array, 8, 0, 8, 1));
    log(cudaMemcpy2DFromArray(back.data(), row, array, 0, 0, row, kHeight, cudaMemcpyDeviceToHost));
    log.value(back == values);
    log(cudaMemcpy2DFromArrayAsync(back.data(), row, other, 0, 1, row, 1, cudaMemcpyDeviceToHost, nullptr));
    log(cudaDeviceSynchronize());
    log.value(static_cast<long long>(back[1] + back[2] * 100));
    log(cudaMemcpy2DToArray(array, 0, 0, values.data(), row, row, kHeight + 1, cudaMemcpyHostToDevice));
    log(cudaMemcpy2DToArray(array, 0, 0, values.data(), 4, row, 1, cudaMemcpyHostToDevice));
    log(cudaMemcpyToArray(array, 0, 1, values.data(), 2 * row, cudaMemcpyHostToDevice));
    log(cudaMemcpyFromArray(back.data(), array, 0, 1, 2 * row, cudaMemcpyDeviceToHost));
    log.value(static_cast<long long>(back[9]));
    cudaMemcpy3DParms copy{};
    copy.srcArray = array;
    copy.dstPos = make_cudaPos(0, 0, 0);
    copy.dstPtr = make_cudaPitchedPtr(back.data(), row, kWidth, kHeight);
    copy.extent = make_cudaExtent(kWidth, kHeight, 1);
    copy.kind = cudaMemcpyDeviceToHost;
    log(cudaMemcpy3DAsync(&copy, nullptr));
    log(cudaDeviceSynchronize());
    log(cudaMemcpy3D(nullptr));
    log(cudaFreeArray(array));
    log(cudaFreeArray(other));
    return log.results();
});

const Case objects("cudaCreateTextureObject, cudaGetTextureObjectResourceDesc, cudaCreateSurfaceObject ...", [] {
    Log log;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array = nullptr;
    log(cudaMallocArray(&array, &format, kWidth, kHeight, cudaArraySurfaceLoadStore));
    cudaResourceDesc resource{}, found{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    const cudaTextureDesc reads = description(cudaFilterModePoint, cudaAddressModeClamp);
    cudaTextureDesc found_reads{};
    cudaTextureObject_t texture = 0;
    cudaSurfaceObject_t surface = 0;
    log(cudaCreateTextureObject(nullptr, &resource, &reads, nullptr));
    log(cudaCreateTextureObject(&texture, nullptr, &reads, nullptr));
    log(cudaCreateTextureObject(&texture, &resource, &reads, nullptr));
    log(cudaGetTextureObjectResourceDesc(&found, texture));
    log.value(found.resType);
    log(cudaGetTextureObjectTextureDesc(&found_reads, texture));
    log.value(found_reads.addressMode[0]);
    log(cudaCreateSurfaceObject(&surface, &resource));
    log(cudaGetSurfaceObjectResourceDesc(&found, surface));
    log(cudaDestroyTextureObject(texture));
    log(cudaDestroySurfaceObject(surface));
    std::size_t most = 0;
    log(cudaDeviceGetTexture1DLinearMaxWidth(&most, &format, 0));
    log.value(static_cast<long long>(most));
    log(cudaFreeArray(array));
    return log.results();
});

}  // namespace

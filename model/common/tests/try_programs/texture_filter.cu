// Filtered reads of 2-D textures: an image is enlarged with the texture unit's linear filter, and the addressing
// modes are tried one after the other at the edge of a small texture. The host computes the same with the formula of
// the programming guide: weights have 8 bits behind the point.

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

inline void check(cudaError_t e, const char* what, int line) {
    if (e == cudaSuccess) return;
    std::fprintf(stderr, "line %d: %s: %s (%s)\n", line, what, cudaGetErrorString(e), cudaGetErrorName(e));
    std::exit(EXIT_FAILURE);
}
#define CK(x) check((x), #x, __LINE__)

/// A cudaArray and a texture object over it. Move-only.
template <typename Texel>
class Texture2D {
public:
    Texture2D(const std::vector<Texel>& pixels, int width, int height, cudaTextureDesc desc) {
        const cudaChannelFormatDesc format = cudaCreateChannelDesc<Texel>();
        CK(cudaMallocArray(&array_, &format, width, height));
        const std::size_t row = width * sizeof(Texel);
        CK(cudaMemcpy2DToArray(array_, 0, 0, pixels.data(), row, row, height, cudaMemcpyHostToDevice));
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array_;
        CK(cudaCreateTextureObject(&object_, &resource, &desc, nullptr));
    }
    Texture2D(const Texture2D&) = delete;
    Texture2D(Texture2D&& other) noexcept
        : array_(std::exchange(other.array_, nullptr)), object_(std::exchange(other.object_, 0)) {}
    ~Texture2D() {
        if (object_ != 0) cudaDestroyTextureObject(object_);
        if (array_ != nullptr) cudaFreeArray(array_);
    }
    operator cudaTextureObject_t() const { return object_; }

private:
    cudaArray_t array_ = nullptr;
    cudaTextureObject_t object_ = 0;
};

cudaTextureDesc describe(cudaTextureAddressMode mode, cudaTextureFilterMode filter, bool normalized) {
    cudaTextureDesc desc = {};
    desc.addressMode[0] = desc.addressMode[1] = mode;
    desc.filterMode = filter;
    desc.readMode = cudaReadModeElementType;
    desc.normalizedCoords = normalized;
    return desc;
}

__global__ void enlarge(cudaTextureObject_t image, float* out, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    out[y * width + x] = tex2D<float>(image, (x + 0.5f) / width, (y + 0.5f) / height);
}

__global__ void sample(cudaTextureObject_t texture, const float2* at, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex2D<float>(texture, at[i].x, at[i].y);
}

__global__ void to_grey(cudaTextureObject_t colors, unsigned char* out, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        const float4 c = tex2D<float4>(colors, x + 0.5f, y + 0.5f);  // bytes arrive as 0 to 1
        out[y * width + x] = static_cast<unsigned char>(255.f * __saturatef(.25f * c.x + .5f * c.y + .25f * c.z) + .5f);
    }
}

float linear_clamped(const std::vector<float>& p, int w, int h, float x, float y) {
    const float xb = x - 0.5f, yb = y - 0.5f;
    const int i = static_cast<int>(std::floor(xb)), j = static_cast<int>(std::floor(yb));
    const auto weight = [](float v) { return std::round((v - std::floor(v)) * 256) / 256; };
    const auto at = [&](int c, int r) { return p[std::clamp(r, 0, h - 1) * w + std::clamp(c, 0, w - 1)]; };
    const float a = weight(xb), b = weight(yb);
    return (1 - a) * (1 - b) * at(i, j) + a * (1 - b) * at(i + 1, j) + (1 - a) * b * at(i, j + 1) +
           a * b * at(i + 1, j + 1);
}

template <typename T>
std::vector<T> download(const T* device, std::size_t count) {
    std::vector<T> host(count);
    CK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

bool test_enlarge() {
    constexpr int w = 24, h = 16, W = 96, H = 64;
    std::vector<float> image(w * h);
    for (int r = 0; r < h; ++r)
        for (int c = 0; c < w; ++c) image[r * w + c] = std::sin(0.5f * c) + 0.1f * r;
    const Texture2D<float> texture(image, w, h, describe(cudaAddressModeClamp, cudaFilterModeLinear, true));
    float* d_out;
    CK(cudaMalloc(&d_out, W * H * sizeof *d_out));
    const dim3 block{16, 16}, grid{(W + block.x - 1) / block.x, (H + block.y - 1) / block.y};
    enlarge<<<grid, block>>>(texture, d_out, W, H);
    CK(cudaGetLastError());
    const auto out = download(d_out, W * H);
    CK(cudaFree(d_out));
    float worst = 0;
    for (int y = 0; y < H; ++y)
        for (int x = 0; x < W; ++x) {
            const float expected = linear_clamped(image, w, h, (x + .5f) * w / W, (y + .5f) * h / H);
            worst = std::max(worst, std::abs(out[y * W + x] - expected));
        }
    const bool ok = worst < 1.f / 256;
    std::printf("enlarge %dx%d to %dx%d: %s\n", w, h, W, H, ok ? "ok" : "WRONG");
    return ok;
}

bool test_address_modes() {
    struct Case {
        std::string_view name;
        cudaTextureAddressMode mode;
        cudaTextureFilterMode filter;
        std::array<float, 5> expected;  // of a row 10 20 30 40
    };
    using Row = std::array<float, 5>;
    const Case cases[] = {
        {"wrap", cudaAddressModeWrap, cudaFilterModePoint, Row{30, 10, 30, 20, 20}},
        {"clamp", cudaAddressModeClamp, cudaFilterModePoint, Row{10, 10, 30, 40, 40}},
        {"mirror", cudaAddressModeMirror, cudaFilterModePoint, Row{20, 10, 30, 30, 30}},
        {"border", cudaAddressModeBorder, cudaFilterModePoint, Row{7, 10, 30, 7, 7}},
        {"clamp, linear", cudaAddressModeClamp, cudaFilterModeLinear, Row{10, 10, 25, 40, 40}},
        {"wrap, linear", cudaAddressModeWrap, cudaFilterModeLinear, Row{35, 10, 25, 15, 20}},
    };
    // Points are taken a little off the borders of texels, where rounding would decide.
    const std::array<float2, 5> at{{{-0.26f, .5f}, {0.125f, .5f}, {0.5f, .5f}, {1.26f, .5f}, {1.375f, .5f}}};
    const std::array<float2, 5> at_linear{{{-0.25f, .5f}, {0.125f, .5f}, {0.5f, .5f}, {1.25f, .5f}, {1.375f, .5f}}};
    float2* d_at;
    float* d_out;
    CK(cudaMalloc(&d_at, sizeof at));
    CK(cudaMalloc(&d_out, at.size() * sizeof(float)));
    bool all = true;
    for (const auto& [name, mode, filter, expected] : cases) {
        cudaTextureDesc desc = describe(mode, filter, true);
        desc.borderColor[0] = 7;
        const Texture2D<float> texture(std::vector<float>{10, 20, 30, 40}, 4, 1, desc);
        const auto& points = filter == cudaFilterModeLinear ? at_linear : at;
        CK(cudaMemcpy(d_at, points.data(), sizeof points, cudaMemcpyHostToDevice));
        sample<<<1, 32>>>(texture, d_at, d_out, static_cast<int>(points.size()));
        CK(cudaGetLastError());
        const auto out = download(d_out, points.size());
        std::printf("%-14.*s", static_cast<int>(name.size()), name.data());
        for (const float v : out) std::printf(" %5.1f", v);
        const bool ok = std::equal(out.begin(), out.end(), expected.begin());
        std::printf("  %s\n", ok ? "ok" : "WRONG");
        all = all && ok;
    }
    CK(cudaFree(d_at));
    CK(cudaFree(d_out));
    return all;
}

bool test_colors() {
    constexpr int w = 33, h = 9;
    std::vector<uchar4> colors(w * h);
    for (int i = 0; i < w * h; ++i) colors[i] = make_uchar4(i % 256, (3 * i) % 256, (7 * i) % 256, 255);
    cudaTextureDesc desc = describe(cudaAddressModeClamp, cudaFilterModePoint, false);
    desc.readMode = cudaReadModeNormalizedFloat;
    Texture2D<uchar4> first(colors, w, h, desc);
    const Texture2D<uchar4> texture = std::move(first);
    unsigned char* d_grey;
    CK(cudaMalloc(&d_grey, w * h));
    to_grey<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(texture, d_grey, w, h);
    CK(cudaGetLastError());
    const auto grey = download(d_grey, w * h);
    CK(cudaFree(d_grey));
    int wrong = 0;
    for (int i = 0; i < w * h; ++i) {
        const float expected = .25f * colors[i].x + .5f * colors[i].y + .25f * colors[i].z;
        wrong += std::abs(grey[i] - expected) > 0.51f;
    }
    std::printf("to_grey %dx%d: %d wrong\n", w, h, wrong);
    return wrong == 0;
}

int main() {
    const bool results[] = {test_enlarge(), test_address_modes(), test_colors()};
    const bool ok = std::all_of(std::begin(results), std::end(results), [](bool r) { return r; });
    std::puts(ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}

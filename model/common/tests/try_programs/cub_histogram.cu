// Histograms with cub::DeviceHistogram, of numbers and of the colors of an image, and with cub::BlockHistogram.
#include <cub/cub.cuh>

#include <cstdio>
#include <vector>

template <typename Call>
void run(Call call) {
    void *d_temp_storage = nullptr;
    size_t temp_storage_bytes = 0;
    call(d_temp_storage, temp_storage_bytes);
    cudaMalloc(&d_temp_storage, temp_storage_bytes);
    call(d_temp_storage, temp_storage_bytes);
    cudaFree(d_temp_storage);
}

template <cub::BlockHistogramAlgorithm ALGORITHM>
__global__ void BlockHisto(const unsigned char *in, unsigned *out) {
    typedef cub::BlockHistogram<unsigned char, 128, 4, 256, ALGORITHM> BlockHistogram;
    __shared__ typename BlockHistogram::TempStorage temp_storage;
    __shared__ unsigned histogram[256];
    unsigned char items[4];
    cub::LoadDirectStriped<128>(threadIdx.x, in, items);
    BlockHistogram(temp_storage).Histogram(items, histogram);
    __syncthreads();
    for (int bin = threadIdx.x; bin < 256; bin += 128) out[bin] = histogram[bin];
}

int main() {
    bool ok = true;
    for (int n : {1, 33, 1009, 20011}) {
        std::vector<float> in(n);
        for (int i = 0; i < n; ++i) in[i] = ((i * 2654435761u >> 16) % 1300) * 0.01f - 0.5f;
        float *d_in, *d_levels;
        int *d_histogram;
        const std::vector<float> levels = {0.0f, 2.0f, 4.0f, 6.0f, 8.0f, 12.0f, 16.0f};
        cudaMalloc(&d_in, n * sizeof(float));
        cudaMalloc(&d_levels, levels.size() * sizeof(float));
        cudaMalloc(&d_histogram, 6 * sizeof(int));
        cudaMemcpy(d_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
        cudaMemcpy(d_levels, levels.data(), levels.size() * sizeof(float), cudaMemcpyHostToDevice);
        std::vector<int> even(6), range(6), got(6);
        for (float x : in) {
            if (x >= 0 && x < 12) ++even[(int)(x / 2)];
            for (int b = 0; b < 6; ++b)
                if (x >= levels[b] && x < levels[b + 1]) ++range[b];
        }
        run([&](void *t, size_t &b) {
            return cub::DeviceHistogram::HistogramEven(t, b, d_in, d_histogram, 7, 0.0f, 12.0f, n);
        });
        cudaMemcpy(got.data(), d_histogram, 6 * sizeof(int), cudaMemcpyDeviceToHost);
        ok = ok && got == even;
        run([&](void *t, size_t &b) {
            return cub::DeviceHistogram::HistogramRange(t, b, d_in, d_histogram, 7, d_levels, n);
        });
        cudaMemcpy(got.data(), d_histogram, 6 * sizeof(int), cudaMemcpyDeviceToHost);
        ok = ok && got == range;
        cudaFree(d_in);
        cudaFree(d_levels);
        cudaFree(d_histogram);

        std::vector<unsigned char> pixels(4 * n);
        for (int i = 0; i < 4 * n; ++i) pixels[i] = (unsigned char)(i * 2654435761u >> 24);
        unsigned char *d_pixels;
        int *d_colors[3];
        cudaMalloc(&d_pixels, 4 * n);
        cudaMemcpy(d_pixels, pixels.data(), 4 * n, cudaMemcpyHostToDevice);
        for (int c = 0; c < 3; ++c) cudaMalloc(&d_colors[c], 256 * sizeof(int));
        int num_levels[3] = {257, 257, 257};
        unsigned lower[3] = {0, 0, 0}, upper[3] = {256, 256, 256};
        run([&](void *t, size_t &b) {
            return cub::DeviceHistogram::MultiHistogramEven<4, 3>(t, b, d_pixels, d_colors, num_levels, lower, upper, n);
        });
        for (int c = 0; c < 3; ++c) {
            std::vector<int> wanted(256), colors(256);
            for (int i = 0; i < n; ++i) ++wanted[pixels[4 * i + c]];
            cudaMemcpy(colors.data(), d_colors[c], 256 * sizeof(int), cudaMemcpyDeviceToHost);
            ok = ok && colors == wanted;
            cudaFree(d_colors[c]);
        }
        if (4 * n >= 512) {
            unsigned *d_bins;
            cudaMalloc(&d_bins, 256 * sizeof(unsigned));
            std::vector<unsigned> wanted(256), bins(256);
            for (int i = 0; i < 512; ++i) ++wanted[pixels[i]];
            BlockHisto<cub::BLOCK_HISTO_ATOMIC><<<1, 128>>>(d_pixels, d_bins);
            cudaMemcpy(bins.data(), d_bins, 256 * sizeof(unsigned), cudaMemcpyDeviceToHost);
            ok = ok && bins == wanted;
            BlockHisto<cub::BLOCK_HISTO_SORT><<<1, 128>>>(d_pixels, d_bins);
            cudaMemcpy(bins.data(), d_bins, 256 * sizeof(unsigned), cudaMemcpyDeviceToHost);
            ok = ok && bins == wanted;
            cudaFree(d_bins);
        }
        cudaFree(d_pixels);
    }
    printf("histogram: %s\n", ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}

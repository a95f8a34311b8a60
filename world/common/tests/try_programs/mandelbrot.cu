// The Mandelbrot set as a picture of characters, and as a PGM image that can be looked at:
//
//   mandelbrot                  the picture on stdout
//   mandelbrot --pgm FILE       the image as well
//   mandelbrot --view X Y SIZE  somewhere else
//
// Escape times come from a kernel over a 2D grid, shades from a table in constant memory.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#define CUDA_CHECK(call)                                                                  \
    do {                                                                                  \
        cudaError_t error_code = call;                                                    \
        if (error_code != cudaSuccess) {                                                  \
            std::ostringstream message;                                                   \
            message << __FILE__ << ':' << __LINE__ << " in " << __func__ << ": " << #call \
                    << " failed: " << cudaGetErrorString(error_code);                     \
            throw std::runtime_error(message.str());                                      \
        }                                                                                 \
    } while (0)

template <typename Real>
struct Complex {
    Real re, im;

    constexpr __host__ __device__ Complex(Real real = 0, Real imaginary = 0) : re(real), im(imaginary) {}
    __host__ __device__ Real norm() const { return re * re + im * im; }
    friend __host__ __device__ Complex operator+(const Complex& a, const Complex& b) {
        return {a.re + b.re, a.im + b.im};
    }
    friend __host__ __device__ Complex operator*(const Complex& a, const Complex& b) {
        return {a.re * b.re - a.im * b.im, a.im * b.re + a.re * b.im};
    }
};

struct View {
    double center_x = -0.6, center_y = 0.0, size = 2.6;  // size: of the shorter side
    int width = 78, height = 30;
    double aspect = 0.5;  // width of a character by its height
};

constexpr int max_iterations = 100;
constexpr int shades = 10;
__constant__ char palette[shades + 1];
__device__ int pixels_inside;

__host__ __device__ inline Complex<double> point_of(const View& view, int x, int y) {
    const double step = view.size / view.height;
    return {view.center_x + (x + 0.5 - view.width / 2.0) * step * view.aspect,
            view.center_y - (y + 0.5 - view.height / 2.0) * step};
}

__host__ __device__ inline int escape_time(const Complex<double>& c) {
    Complex<double> z;
    int n = 0;
    while (n < max_iterations && z.norm() <= 4.0) {
        z = z * z + c;
        ++n;
    }
    return n;
}

__global__ void mandelbrot(View view, std::uint8_t* times, char* picture) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const bool in_picture = x < view.width && y < view.height;

    const int n = in_picture ? escape_time(point_of(view, x, y)) : 0;
    if (in_picture) {
        const int row = y * (view.width + 1);  // each row ends in a newline
        times[y * view.width + x] = static_cast<std::uint8_t>(n);
        picture[row + x] = n == max_iterations ? palette[shades] : palette[n % shades];
        if (x == view.width - 1) picture[row + view.width] = '\n';
    }
    // Blocks are a whole number of warps in which every lane votes.
    const unsigned votes = __ballot_sync(0xffffffffu, n == max_iterations);
    if ((threadIdx.y * blockDim.x + threadIdx.x) % 32 == 0 && votes != 0) atomicAdd(&pixels_inside, __popc(votes));
}

std::string as_pgm(const View& view, const std::vector<std::uint8_t>& times) {
    std::ostringstream out;
    out << "P5\n" << view.width << ' ' << view.height << '\n' << max_iterations << '\n';
    out.write(reinterpret_cast<const char*>(times.data()), static_cast<std::streamsize>(times.size()));
    return out.str();
}

int main(int argc, char** argv) {
    View view;
    std::string file;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--pgm" && i + 1 < argc) {
            file = argv[++i];
        } else if (word == "--view" && i + 3 < argc) {
            view.center_x = std::stod(argv[++i]);
            view.center_y = std::stod(argv[++i]);
            view.size = std::stod(argv[++i]);
        } else {
            std::cerr << "usage: " << argv[0] << " [--pgm FILE] [--view X Y SIZE]\n";
            return EXIT_FAILURE;
        }
    }

    try {
        const std::string characters = " .,:;+*oxX@";
        CUDA_CHECK(cudaMemcpyToSymbol(palette, characters.data(), characters.size()));
        const int none = 0;
        CUDA_CHECK(cudaMemcpyToSymbol(pixels_inside, &none, sizeof none));

        std::vector<std::uint8_t> times(static_cast<std::size_t>(view.width) * view.height);
        std::string picture(static_cast<std::size_t>(view.width + 1) * view.height, '?');
        std::uint8_t* d_times;
        char* d_picture;
        CUDA_CHECK(cudaMalloc(&d_times, times.size()));
        CUDA_CHECK(cudaMalloc(&d_picture, picture.size()));

        const dim3 block(16, 8);
        const dim3 grid((view.width + block.x - 1) / block.x, (view.height + block.y - 1) / block.y);
        mandelbrot<<<grid, block>>>(view, d_times, d_picture);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(times.data(), d_times, times.size(), cudaMemcpyDeviceToHost));
        CUDA_CHECK(cudaMemcpy(&picture[0], d_picture, picture.size(), cudaMemcpyDeviceToHost));
        int inside = 0;
        CUDA_CHECK(cudaMemcpyFromSymbol(&inside, pixels_inside, sizeof inside));
        CUDA_CHECK(cudaFree(d_times));
        CUDA_CHECK(cudaFree(d_picture));

        int different = 0, inside_on_host = 0;
        for (int y = 0; y < view.height; ++y)
            for (int x = 0; x < view.width; ++x) {
                const int n = escape_time(point_of(view, x, y));
                inside_on_host += n == max_iterations;
                different += n != times[y * view.width + x];
            }

        std::cout << picture << inside << " pixels never escape\n";
        const std::string image = as_pgm(view, times);
        std::cout << "PGM: " << image.size() << " bytes, sum of the escape times "
                  << std::accumulate(times.begin(), times.end(), 0) << '\n';
        if (!file.empty()) {
            std::ofstream stream(file, std::ios::binary);
            if (!(stream << image)) throw std::runtime_error("cannot write " + file);
        }
        // A GPU rounds differently where it fuses operations: a few pixels on the edge may escape a step earlier or
        // later.
        const int allowed = view.width * view.height / 500;
        const bool good = different <= allowed && std::abs(inside - inside_on_host) <= allowed;
        std::cout << (good ? "PASSED" : "FAILED") << std::endl;
        return good ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return EXIT_FAILURE;
    }
}

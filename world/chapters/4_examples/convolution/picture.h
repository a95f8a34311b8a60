// The picture of the lesson convolution, made by rule, and the filters that it is shown
// with. Brightness is from 0, black, to 1, white. docs/.vitepress/theme/drawings/model.mjs
// has the same rules, for the page.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace examples {
namespace {

constexpr int kPictureRows = 48, kPictureCols = 72;

// Rings, stripes, dots, and squares that become smaller, on a background that becomes
// brighter to the right.
inline double brightness(int row, int col) {
    const int from_row = row - 16, from_col = col - 18;
    const int distance = from_row * from_row + from_col * from_col;
    if (distance < 225) return distance / 25 % 2 == 0 ? 0.9 : 0.1;
    if (row >= 5 && row < 27 && col >= 40 && col < 68)
        return (col - 40) * (col - 40) / 40 % 2 == 0 ? 0.95 : 0.05;
    if (row >= 31 && row < 45 && col >= 40 && col < 67)
        return ((row - 31) / 4 + (col - 40) / 4) % 2 == 0 ? 0.9 : 0.1;
    if (row >= 34 && row < 46 && col >= 3 && col < 36 && (row * 7 + col * 13) % 31 == 0)
        return 1;
    return 0.2 + 0.4 * col / kPictureCols;
}

inline std::vector<float> picture() {
    std::vector<float> pixels;
    for (int row = 0; row < kPictureRows; ++row) {
        for (int col = 0; col < kPictureCols; ++col)
            pixels.push_back(static_cast<float>(brightness(row, col)));
    }
    return pixels;
}

// The weights of a Gaussian, exp(-d^2 / (2 sigma^2)) at distance d, whose sum is 1.
inline std::array<double, 9> gaussian(double sigma) {
    std::array<double, 9> weights;
    double sum = 0;
    for (int j = 0; j < 9; ++j)
        sum += weights[j] = std::exp(-(j - 4) * (j - 4) / (2 * sigma * sigma));
    for (double& weight : weights) weight /= sum;
    return weights;
}

using Filter = std::array<double, 81>;

// The filter that is the product of a column and a row of the same weights.
inline Filter product_of(const std::array<double, 9>& line) {
    Filter filter;
    for (std::size_t k = 0; k < filter.size(); ++k) filter[k] = line[k / 9] * line[k % 9];
    return filter;
}

inline Filter blur() { return product_of(gaussian(2)); }

// Twice the picture, minus what blurring leaves of it.
inline Filter sharpen() {
    Filter filter = blur();
    for (double& weight : filter) weight = -weight;
    filter[40] += 2;
    return filter;
}

// A narrow blur minus a wide one: 0 where the picture is even.
inline Filter edges() {
    Filter filter = product_of(gaussian(1));
    const Filter wide = blur();
    for (std::size_t k = 0; k < filter.size(); ++k) filter[k] -= wide[k];
    return filter;
}

}  // namespace
}  // namespace examples

// The functions that the grader calls, and the structure that they work on.
#pragma once

#include <cstddef>
#include <vector>

/// A star, as it stands in a catalog.
struct Star {
    float x, y, z;     ///< place
    float vx, vy, vz;  ///< velocity
    float mass, radius, temperature, luminosity, age, metallicity, rotation, magnetism,
        color, variability;
};

/// Number of floats in a star.
constexpr std::size_t star_members = sizeof(Star) / sizeof(float);

/// Returns what is to be copied to the device for these stars: every member of every star,
/// in the order that you choose. The result may contain padding, but no more floats than
/// `star_members` times the number of stars rounded up to a multiple of 32.
std::vector<float> arrange(const std::vector<Star>& stars);

/// Computes how bright the stars look from the origin: d_brightness[i] = luminosity / (x^2
/// + y^2 + z^2) of star i. `d_stars` is a device array with the floats that `arrange`
/// returned for `count` stars; the values in it may have changed since then. `d_brightness`
/// is a device array of `count` floats. With a count of 0 it does nothing.
void apparent_brightness(const float* d_stars, float* d_brightness, int count);

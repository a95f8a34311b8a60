// Inputs that show how tensor cores add: matrices of random and of awkward numbers, the same on every machine. Nothing
// here rounds, so a record needs to hold only the results.
//
//     const Operation& operation = operations()[0];
//     const Tile tile = tile_of(operation, 17);    // a: m x k, b: n x k, c: m x n, as bits
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tensor_core {

enum class Number { f16, bf16, tf32, e4m3, e5m2, s8, u8, f32, f64, s32 };

/// Bits of sign, exponent, and fraction; 0 of an exponent for integers.
struct Format {
    int exponent_bits;
    int fraction_bits;
    int bytes;        ///< in memory
    int unused_bits;  ///< below the fraction
    int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    int largest_exponent() const { return (1 << exponent_bits) - 1; }  ///< of infinity, as it is stored
};
Format format_of(Number number);

/// One instruction, or one function of nvcuda::wmma.
struct Operation {
    std::string name;
    int m, n, k;
    Number input;
    Number sum;
};
/// What is recorded, in the order of the record.
const std::vector<Operation>& operations();

/// Bits of matrices: a and b with k running fastest, c in rows.
struct Tile {
    std::vector<std::uint64_t> a, b, c;
};
Tile tile_of(const Operation& operation, int index);
/// The kinds of inputs that follow each other: tile i is of kind i % kinds.
inline constexpr int kinds = 16;

/// Tiles of each operation in the record.
inline constexpr int recorded_tiles = 12 * kinds;
/// The tiles of an operation as the device computes them, each in a line. The first `kinds` tiles of mma.sync are there
/// bit for bit, in hexadecimal digits, row after row. Of all others 16 digits that stand for all bits of the tile
/// (FNV-1a): the record has half a million sums.
std::vector<std::string> lines_of(const Operation& operation);

/// The bits of d = a b + c of tiles first, first + 1, ..., computed by the device: m n values of each.
std::vector<std::uint64_t> run(const Operation& operation, int first, int count);

}  // namespace tensor_core

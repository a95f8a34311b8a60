// The function that the grader calls.
#pragma once

/// The last launch of a pass of a radix sort. A tile has 256 keys, and the last one may be
/// short. The digit of a key consists of the bits shift, shift + 1, shift + 2, and shift
/// + 3. The keys of tile t with digit d go to d_sorted, beginning at place d_starts[16 * t
/// + d], in the order in which they stand. d_keys and d_sorted are device arrays of `count`
/// elements, d_starts has 16 elements for each tile. Without keys nothing happens.
void scatter_tiles(const unsigned* d_keys, int count, int shift, const unsigned* d_starts,
                   unsigned* d_sorted);

// The function that the grader calls.
#pragma once

/// Ranks keys by one digit of four bits, tile by tile: a tile has 256 keys, and the last
/// one may be short. The digit of a key consists of the bits shift, shift + 1, shift + 2,
/// and shift + 3; shift is at most 28. d_places[i] is the place of key i within its tile,
/// from 0 on, when the tile is sorted by digits. Keys with the same digit keep their order.
/// Both are device arrays of `count` elements. Without keys nothing happens.
void rank_tiles(const unsigned* d_keys, int count, int shift, unsigned* d_places);

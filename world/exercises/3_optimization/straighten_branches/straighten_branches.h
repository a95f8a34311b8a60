// The function that the grader calls.
#pragma once

/// Scrambles 32-bit words: d_scrambled[i] is what 96 rounds make of d_words[i], for i <
/// count. Rounds of an odd word are shifts, those of an even one products; README.md has
/// both. Both are device arrays of `count` words. Without words it does nothing.
void scramble_words(const unsigned* d_words, unsigned* d_scrambled, int count);

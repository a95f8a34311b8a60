// The function that the grader calls.
#pragma once

/// Translates codes by a table: d_out[i] = d_table[d_codes[i]] for all i < n. All are
/// device arrays: d_table of table_size floats, d_codes of n numbers from 0 to table_size -
/// 1, and d_out of n floats. n may be 0. The table has 1 to 12,288 floats, so it fits into
/// 48 KiB. Blocks have `threads_per_block` threads, 1 to 1024.
void translate(const float* d_table, int table_size, const int* d_codes, float* d_out,
               int n, int threads_per_block);

// The function that the grader calls.
#pragma once

constexpr unsigned bytes_per_descriptor = 64;

/// The score of a query and a reference is the sum of the products of their 64 bytes.
/// Stores all scores, row by row: that of query q and reference r in
/// d_scores[q * reference_count + r].
void score_all(const signed char* d_queries, unsigned query_count,
               const signed char* d_references, unsigned reference_count, int* d_scores);

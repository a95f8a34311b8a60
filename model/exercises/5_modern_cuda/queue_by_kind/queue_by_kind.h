// The function that the grader calls.
#pragma once

constexpr unsigned kinds = 4;

/// Sorts rays into queues. Ray i has the kind d_kinds[i], from 0 to kinds - 1. The queue of
/// kind k begins at d_queues + k * count, and gets the numbers of all rays of that kind, in
/// any order and without gaps; d_sizes[k] tells how many they are. Neither d_queues nor
/// d_sizes has to be set by the caller, and what is past the end of a queue stays as it
/// is. Without rays the sizes become 0.
void queue_rays(const unsigned* d_kinds, unsigned count, unsigned* d_queues,
                unsigned* d_sizes);

// The operations of Index on a GPU, where nobody counts them.
#pragma once

#include "exercises/3_optimization/divide_by_multiplying/divide_by_multiplying.h"

__host__ __device__ inline Index::Index(unsigned value) : value_(value) {}
__host__ __device__ inline unsigned opened(Index x) { return x.value_; }

__host__ __device__ inline Index operator/(Index a, Index b) { return a.value_ / b.value_; }
__host__ __device__ inline Index operator%(Index a, Index b) { return a.value_ % b.value_; }
__host__ __device__ inline Index operator*(Index a, Index b) { return a.value_ * b.value_; }
__host__ __device__ inline Index operator+(Index a, Index b) { return a.value_ + b.value_; }
__host__ __device__ inline Index operator-(Index a, Index b) { return a.value_ - b.value_; }
__host__ __device__ inline Index operator<<(Index a, Index b) {
    return b.value_ < 32 ? a.value_ << b.value_ : 0u;
}
__host__ __device__ inline Index operator>>(Index a, Index b) {
    return b.value_ < 32 ? a.value_ >> b.value_ : 0u;
}
__host__ __device__ inline Index operator&(Index a, Index b) { return a.value_ & b.value_; }
__host__ __device__ inline Index operator|(Index a, Index b) { return a.value_ | b.value_; }
__host__ __device__ inline Index operator^(Index a, Index b) { return a.value_ ^ b.value_; }
__host__ __device__ inline bool operator<(Index a, Index b) { return a.value_ < b.value_; }
__host__ __device__ inline bool operator<=(Index a, Index b) {
    return a.value_ <= b.value_;
}
__host__ __device__ inline bool operator>(Index a, Index b) { return a.value_ > b.value_; }
__host__ __device__ inline bool operator>=(Index a, Index b) {
    return a.value_ >= b.value_;
}
__host__ __device__ inline bool operator==(Index a, Index b) {
    return a.value_ == b.value_;
}
__host__ __device__ inline bool operator!=(Index a, Index b) {
    return a.value_ != b.value_;
}
__host__ __device__ inline Index upper_half(Index a, Index b) {
    const unsigned long long product = a.value_ * static_cast<unsigned long long>(b.value_);
    return static_cast<unsigned>(product >> 32);
}

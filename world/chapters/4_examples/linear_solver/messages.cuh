// Messages between the blocks of step 10.
#pragma once

#include <cuda/atomic>

#include "chapters/4_examples/linear_solver/pivots.cuh"

namespace examples {
namespace {

// Blocks send each other numbers in words of 64 bits: the number, and a tag that says for
// which column it is. An atomic access writes or reads the word as one, so a thread that
// finds the right tag has the right number beside it. Tags are never 0, and a word never
// has the same tag twice. `cuda::atomic_ref` with device scope makes the accesses atomic
// for all threads of the device. The order is relaxed: nothing but the word itself has to
// become visible, so no fence is needed. If the data were in *other* memory than the flag,
// the flag's store would need memory_order_release, and its load memory_order_acquire.
// (`volatile` in place of atomic_ref would promise neither: the language gives it no
// meaning between threads.)
using Word = unsigned long long;
using SharedWord = cuda::atomic_ref<Word, cuda::thread_scope_device>;

__device__ void send(Word* word, unsigned number, unsigned tag) {
    SharedWord(*word).store(Word{tag} << 32 | number, cuda::memory_order_relaxed);
}

__device__ Word look_at(Word* word) {
    return SharedWord(*word).load(cuda::memory_order_relaxed);
}

__device__ unsigned receive(Word* word, unsigned tag) {
    Word found = look_at(word);
    while (found >> 32 != tag) found = look_at(word);
    return static_cast<unsigned>(found);
}

// The key of a block's candidate, from its value and its position: both loads are issued
// before the first is waited for.
__device__ PivotKey receive_key(Word* words, unsigned tag) {
    Word value = look_at(words), position = look_at(words + 1);
    while (value >> 32 != tag || position >> 32 != tag) {
        value = look_at(words);
        position = look_at(words + 1);
    }
    return pivot_key(__uint_as_float(static_cast<unsigned>(value)),
                     static_cast<unsigned>(position));
}

}  // namespace
}  // namespace examples

// XORWOW (Marsaglia, "Xorshift RNGs", 2003): five words that are shifted and combined by exclusive or, and a counter
// that is added to the result. The five words are 160 bits, and a step is linear in them: n steps are a matrix of bits.
#include "xorwow.h"

#include <cstddef>
#include <vector>

namespace cpu_device::curand {
namespace {

using Words = std::array<std::uint32_t, 5>;

constexpr std::size_t bits = 160;
constexpr std::size_t nibbles = bits / 4;
constexpr std::uint32_t counter_step = 362437;
constexpr int sequence_length_bits = 67;  // sequences are 2^67 numbers apart

Words step(const Words& w) {
    const std::uint32_t first = w[0] ^ w[0] >> 2;
    return {w[1], w[2], w[3], w[4], (w[4] ^ w[4] << 4) ^ (first ^ first << 1)};
}

void add(Words& sum, const Words& more) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] ^= more[i];
}

/// A number of steps at once. For each group of four bits, what any of its 16 values becomes.
class Jump {
public:
    /// `image(bit)`: what the state with this one bit becomes.
    template <class Image>
    explicit Jump(const Image& image) {
        for (std::size_t nibble = 0; nibble < nibbles; ++nibble) {
            for (std::size_t value = 1; value < 16; ++value) {
                const std::size_t low = value & (~value + 1);  // its lowest bit
                Words sum = images_[nibble][value ^ low];
                const std::size_t bit = low == 1 ? 0 : low == 2 ? 1 : low == 4 ? 2 : 3;
                add(sum, image(4 * nibble + bit));
                images_[nibble][value] = sum;
            }
        }
    }

    Words operator()(const Words& w) const {
        Words result{};
        for (std::size_t nibble = 0; nibble < nibbles; ++nibble) {
            add(result, images_[nibble][w[nibble / 8] >> (4 * (nibble % 8)) & 15u]);
        }
        return result;
    }

private:
    std::array<std::array<Words, 16>, nibbles> images_{};
};

Words one_bit(std::size_t bit) {
    Words w{};
    w[bit / 32] = std::uint32_t{1} << (bit % 32);
    return w;
}

/// Jumps of 2^k steps: for k below 64, and for the 64 from the length of a sequence on.
struct Jumps {
    std::vector<Jump> offsets;
    std::vector<Jump> sequences;

    Jumps() {
        offsets.reserve(64);
        sequences.reserve(64);
        Jump jump([](std::size_t bit) { return step(one_bit(bit)); });
        for (int k = 0; k < sequence_length_bits + 64; ++k) {
            if (k < 64) offsets.push_back(jump);
            if (k >= sequence_length_bits) sequences.push_back(jump);
            jump = Jump([&](std::size_t bit) { return jump(jump(one_bit(bit))); });
        }
    }
};

const Jumps& jumps() {
    static const Jumps all;
    return all;
}

Words moved(Words words, std::uint64_t count, bool by_sequences) {
    if (count == 0) return words;
    const std::vector<Jump>& all = by_sequences ? jumps().sequences : jumps().offsets;
    for (std::size_t k = 0; count != 0; ++k, count >>= 1) {
        if ((count & 1) != 0) words = all[k](words);
    }
    return words;
}

}  // namespace

void skip_xorwow(unsigned int (&words)[5], unsigned long long count, bool sequences);
void skip_xorwow(unsigned int (&words)[5], unsigned long long count, bool sequences) {
    const Words result = moved({words[0], words[1], words[2], words[3], words[4]}, count, sequences);
    for (std::size_t i = 0; i < result.size(); ++i) words[i] = result[i];
}

Xorwow::Xorwow(std::uint64_t seed, std::uint64_t sequence, std::uint64_t offset) {
    const std::uint32_t low = 1099087573u * (static_cast<std::uint32_t>(seed) ^ 0xaad26b49u);
    const std::uint32_t high = 2591861531u * (static_cast<std::uint32_t>(seed >> 32) ^ 0xf7dcefddu);
    const Words start = {123456789u + low, 362436069u ^ low, 521288629u + high, 88675123u ^ high, 5783321u + low};
    words = moved(moved(start, sequence, true), offset, false);
    counter = 6615241u + high + low + counter_step * static_cast<std::uint32_t>(offset);
}

std::uint32_t Xorwow::next() {
    words = step(words);
    counter += counter_step;
    return words[4] + counter;
}

}  // namespace cpu_device::curand

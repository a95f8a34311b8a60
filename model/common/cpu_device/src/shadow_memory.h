// What is remembered of memory that kernels touch: who wrote each word last, who has read it since, and whether anybody
// ever wrote it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace cpu_device {

inline std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

/// Who did something and when. From the top: 30 bits for the block (counted over the whole process), 10 for the thread
/// in the block, 24 for the block's own time. 0: nobody, never.
using Stamp = std::uint64_t;

constexpr unsigned kTimeBits = 24;
constexpr unsigned kBlockShift = kTimeBits + 10;
constexpr std::uint32_t kLastTime = (std::uint32_t{1} << kTimeBits) - 1;
constexpr std::uint32_t kLastBlock = (std::uint32_t{1} << 30) - 1;

constexpr Stamp stamp_of(std::uint32_t block, unsigned thread = 0, std::uint32_t time = 0) {
    return Stamp{block} << kBlockShift | Stamp{thread} << kTimeBits | time;
}
constexpr std::uint32_t block_of(Stamp stamp) { return static_cast<std::uint32_t>(stamp >> kBlockShift); }
constexpr unsigned thread_of(Stamp stamp) { return static_cast<unsigned>(stamp >> kTimeBits) & 1023; }
constexpr std::uint32_t time_of(Stamp stamp) { return static_cast<std::uint32_t>(stamp) & kLastTime; }
constexpr bool same_thread(Stamp a, Stamp b) { return (a ^ b) >> kTimeBits == 0; }

/// Which instruction did it: its number in the launch's table, and in the lowest bit whether the access was relaxed,
/// that is, of a kind that may meet others of this kind without any order.
using Mark = std::uint32_t;

constexpr unsigned kMarkBits = 20;
constexpr Mark kRelaxed = 1;

/// The memory of a word, or of one byte when a word is used in pieces.
struct alignas(32) Cell {
    static constexpr unsigned kWrite = 0;  // slots of `mark`
    static constexpr unsigned kRead = 1;

    Stamp write;    ///< the last one; 0: nobody wrote it
    Stamp read[2];  ///< by different threads, since the last write; of many, those furthest apart
    std::uint64_t marks;

    Mark mark(unsigned slot) const { return static_cast<Mark>(marks >> (slot * kMarkBits)) & kAllMarkBits; }
    void set_mark(unsigned slot, Mark mark) {
        marks = (marks & ~(std::uint64_t{kAllMarkBits} << (slot * kMarkBits))) | std::uint64_t{mark}
                                                                                     << (slot * kMarkBits);
    }
    /// True if it once stood for a word that is used in pieces.
    bool is_split() const { return (marks & kSplit) != 0; }
    bool raced() const { return (marks & kRaced) != 0; }
    void set_raced() { marks |= kRaced; }

    /// Forgets everything but this write, and by which instruction its thread had read the memory before, if it has.
    void set_only_write(Stamp stamp, Mark mark) {
        const std::uint64_t own_read = same_thread(read[0], stamp) ? marks & kFirstReadMark : 0;
        write = stamp;
        read[0] = read[1] = 0;
        marks = own_read | mark;
    }
    /// The instruction by which the thread of the last write had read the memory before; 0: it had not. Only while
    /// nobody has read it since.
    Mark read_by_writer() const { return read[0] == 0 ? mark(kRead) : 0; }

private:
    friend class ShadowMemory;
    static constexpr std::uint32_t kAllMarkBits = (1u << kMarkBits) - 1;
    static constexpr std::uint64_t kFirstReadMark = std::uint64_t{kAllMarkBits} << (kRead * kMarkBits);
    static constexpr std::uint64_t kRaced = std::uint64_t{1} << 60;  // a race on it was found
    static constexpr std::uint64_t kSplit = std::uint64_t{1}
                                            << 61;  // `read[1]` points to four cells, one for each byte
};

/// Cells for a stretch of memory. Pages of it that nobody touches cost nothing.
class ShadowMemory {
public:
    explicit ShadowMemory(std::size_t bytes);
    ~ShadowMemory();
    ShadowMemory(const ShadowMemory&) = delete;
    ShadowMemory& operator=(const ShadowMemory&) = delete;

    /// False when the host has no room for it.
    bool exists() const { return cells_ != nullptr; }
    std::size_t bytes() const { return bytes_; }

    Cell& word(std::size_t offset) { return cells_[offset / 4]; }

    /// The cells of the word's bytes; null while it is used as a whole. What is older than `born` does not count.
    static Cell* bytes_of(const Cell& word, Stamp born) {
        if ((word.marks & Cell::kSplit) == 0 || word.read[0] < born) return nullptr;
        return reinterpret_cast<Cell*>(static_cast<std::uintptr_t>(word.read[1]));
    }
    /// Goes over to cells for each byte, which begin with what the word's cell knows. `now`: any stamp of the present.
    Cell* split(Cell& word, Stamp born, Stamp now);

    /// Cells of bytes are used anew. Only once all that they hold is too old to count.
    void reuse_splits() { used_ = 0; }

private:
    Cell* cells_ = nullptr;
    std::size_t bytes_ = 0;
    std::deque<std::array<Cell, 4>> splits_;
    std::size_t used_ = 0;
};

/// Sets the bits from `first` on.
inline void set_bits(std::uint64_t* bits, std::size_t first, std::size_t count) {
    if (first % 64 + count < 64) [[likely]] {
        bits[first / 64] |= ((std::uint64_t{1} << count) - 1) << first % 64;
        return;
    }
    for (std::size_t done = 0; done < count;) {
        const std::size_t bit = (first + done) % 64;
        const std::size_t step = count - done < 64 - bit ? count - done : 64 - bit;
        bits[(first + done) / 64] |= (step == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << step) - 1) << bit;
        done += step;
    }
}

/// `count` bits, at most 32, from `first` on.
inline std::uint32_t get_bits(const std::uint64_t* bits, std::size_t first, std::size_t count) {
    std::uint64_t all = bits[first / 64] >> first % 64;
    if (first % 64 + count > 64) all |= bits[first / 64 + 1] << (64 - first % 64);
    return static_cast<std::uint32_t>(all & ((std::uint64_t{1} << count) - 1));
}

/// One bit for each byte: somebody wrote it.
class WrittenBytes {
public:
    explicit WrittenBytes(std::size_t bytes);
    ~WrittenBytes();
    WrittenBytes(const WrittenBytes&) = delete;
    WrittenBytes& operator=(const WrittenBytes&) = delete;

    void set(std::size_t first, std::size_t count) {
        if (bits_ != nullptr) set_bits(bits_, first, count);
    }
    /// Of at most 32 bytes.
    std::uint32_t get(std::size_t first, std::size_t bytes) const {
        return bits_ == nullptr ? ~std::uint32_t{0} >> (32 - bytes) : get_bits(bits_, first, bytes);
    }

private:
    std::uint64_t* bits_ = nullptr;  ///< null: no room, everything counts as written
    std::size_t mapped_ = 0;
};

/// The same for the shared memory of one block, which begins unwritten.
class WrittenShared {
public:
    void clear() { std::fill(bits_.begin(), bits_.end(), 0); }
    void set(std::size_t first, std::size_t count) {
        make_room(first + count);
        set_bits(bits_.data(), first, count);
    }
    std::uint32_t get(std::size_t first, std::size_t bytes) {
        make_room(first + bytes);
        return get_bits(bits_.data(), first, bytes);
    }

private:
    void make_room(std::size_t bytes) {
        if (bytes > bits_.size() * 64) bits_.resize((bytes + 63) / 64);
    }

    std::vector<std::uint64_t> bits_;
};

/// What managed memory holds before anybody writes there, while errors are looked for: NaN in every floating-point
/// type, and as integers numbers that hardly any program uses. A pattern of words, by address.
constexpr std::uint32_t kManagedPoison = 0xFFF5FFE3;

/// What is known of one allocation, from launch to launch.
struct AllocationShadow {
    AllocationShadow(std::uintptr_t begin_, std::size_t bytes_, bool all_written_, bool host_writes_unseen_ = false);

    std::uintptr_t begin;
    std::size_t bytes;
    std::uintptr_t first_word;  ///< `begin` rounded down to a multiple of 4
    ShadowMemory cells;
    WrittenBytes written;  ///< by host code and by blocks that are not instrumented for races; the others leave cells
    bool all_written;      ///< all of it, by somebody
    /// Managed memory: host code writes there, and nobody announces it. What no longer holds the poison was written.
    bool host_writes_unseen;

    /// True if the bytes of managed memory that a kernel saw at `address` are poison. Less than a word tells too
    /// little: then the rest of its word, as it is now, has to be poison as well.
    bool holds_poison(const std::byte* seen, std::uintptr_t address, std::size_t count) const;
};

/// The shadow of an allocation; made when there is none yet, for memory that counts as written.
AllocationShadow& shadow_of(const std::byte* begin, std::size_t bytes);

/// The same, null when there is none.
AllocationShadow* known_shadow(const std::byte* begin);

/// Forgets the shadows of memory that is no longer allocated: `is_live(begin, bytes)` tells.
void keep_shadows(const std::function<bool(std::uintptr_t begin, std::size_t bytes)>& is_live);

/// A shadow for the shared memory of a block; what it holds of earlier blocks is too old to count.
std::unique_ptr<ShadowMemory> take_shared_shadow(std::size_t bytes);
void give_back_shared_shadow(std::unique_ptr<ShadowMemory> shadow);

/// Somebody has written who knows where: all memory counts as written.
void forget_unwritten_memory();

/// All stamps are about to be used up: forgets every access so far.
void forget_accesses();

}  // namespace cpu_device

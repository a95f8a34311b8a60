#include "request_model.h"

#include <algorithm>
#include <bit>

namespace cpu_device {
namespace {

constexpr unsigned kSectorShift = 5;  // 32 bytes
constexpr unsigned kBanks = 32;       // of 4 bytes each

std::uint64_t hash(std::uint64_t value) { return value * 0x9E3779B97F4A7C15u; }

unsigned count_of(std::uint32_t lanes) { return static_cast<unsigned>(std::popcount(lanes)); }

}  // namespace

RequestModel::RequestModel() = default;

void RequestModel::forget() {
    if (++round_ == 0) {
        slots_.fill({});
        round_ = 1;
    }
}

bool RequestModel::is_new(std::uint64_t value) {
    std::size_t at = hash(value) >> 55;  // one of 512 slots
    for (;; at = (at + 1) % kSlots) {
        Slot& slot = slots_[at];
        if (slot.round != round_) {
            slot = {value, round_};
            return true;
        }
        if (slot.value == value) return false;
    }
}

bool RequestModel::is_contiguous(const WarpRequest& request) {
    if (request.lanes != 0xFFFFFFFFu) return false;
    const std::uint64_t step = request.address[1] - request.address[0];
    if (step != request.bytes && step != -std::uint64_t{request.bytes}) return false;
    std::uint64_t different = 0;
    for (unsigned lane = 1; lane < 32; ++lane) {
        different |= (request.address[lane] - request.address[lane - 1]) ^ step;
    }
    return different == 0;
}

/// How many different values `address >> shift` takes; an access that crosses a border counts on both sides.
unsigned RequestModel::distinct(const WarpRequest& request, unsigned shift) {
    // Many requests ascend with the lane: then neighbors tell.
    std::uint64_t next = 0;  // what no lane up to here has touched, nor anything behind it
    unsigned count = 0;
    std::uint32_t rest = request.lanes;
    for (; rest != 0; rest &= rest - 1) {
        const std::uint64_t address = request.address[static_cast<unsigned>(std::countr_zero(rest))];
        const std::uint64_t first = address >> shift;
        const std::uint64_t end = (address + request.bytes - 1) >> shift;
        if (first + 1 < next) break;
        count += (first >= next) + (end >= next && end != first);
        next = std::max(next, end + 1);
    }
    if (rest == 0) return count;
    if (all_differ(request, shift)) return count_of(request.lanes);
    forget();
    count = 0;
    for_each_lane(request.lanes, [&](unsigned lane) {
        const std::uint64_t end = (request.address[lane] + request.bytes - 1) >> shift;
        for (std::uint64_t piece = request.address[lane] >> shift; piece <= end; ++piece) count += is_new(piece);
    });
    return count;
}

/// Whether it is certain that no two lanes touch the same `address >> shift` and none touches two: their hashes differ.
bool RequestModel::all_differ(const WarpRequest& request, unsigned shift) {
    if (++stamp_ == 0) {
        stamps_.fill(0);
        stamp_ = 1;
    }
    bool met = false;
    for_each_lane(request.lanes, [&](unsigned lane) {
        const std::uint64_t piece = request.address[lane] >> shift;
        unsigned char& stamp = stamps_[hash(piece) >> 52];
        met |= stamp == stamp_ || (request.address[lane] + request.bytes - 1) >> shift != piece;
        stamp = stamp_;
    });
    return !met;
}

/// Atomic operations on one address follow each other, those on the other addresses of a sector go along.
unsigned RequestModel::sectors_of_atomics(const WarpRequest& request) {
    unsigned total = 0;
    for (std::uint32_t rest = request.lanes; rest != 0;) {
        const std::uint64_t sector = request.address[static_cast<unsigned>(std::countr_zero(rest))] >> kSectorShift;
        std::uint32_t in_sector = 0;
        for_each_lane(rest, [&](unsigned lane) {
            in_sector |= std::uint32_t{request.address[lane] >> kSectorShift == sector} << lane;
        });
        unsigned most = 0;
        for_each_lane(in_sector, [&](unsigned lane) {
            unsigned same = 0;
            for_each_lane(in_sector, [&](unsigned other) { same += request.address[other] == request.address[lane]; });
            most = std::max(most, same);
        });
        total += most;
        rest &= ~in_sector;
    }
    return total;
}

/// Passes that the banks need for `lanes` together: the most words that one bank has to deliver. A word that several
/// lanes want is delivered once, unless `each_lane` has to be served by itself.
unsigned RequestModel::wavefronts_of(const WarpRequest& request, std::uint32_t lanes, bool each_lane) {
    std::array<unsigned char, kBanks> words_in_bank{};
    unsigned most = 0;
    std::uint64_t last = ~std::uint64_t{0};
    forget();
    for_each_lane(lanes, [&](unsigned lane) {
        if (!each_lane && request.address[lane] == last) return;  // many lanes often want the same
        last = request.address[lane];
        const std::uint64_t end = (request.address[lane] + request.bytes - 1) / 4;
        for (std::uint64_t word = request.address[lane] / 4; word <= end; ++word) {
            if (each_lane || is_new(word)) most = std::max<unsigned>(most, ++words_in_bank[word % kBanks]);
        }
    });
    return most;
}

namespace {

/// Whether every lane has the address of the lane whose number differs in `bit`, if that one takes part.
bool pairs_agree(const WarpRequest& request, unsigned bit) {
    bool agree = true;
    for_each_lane(request.lanes, [&](unsigned lane) {
        const unsigned other = lane ^ bit;
        agree = agree && ((request.lanes >> other & 1) == 0 || request.address[other] == request.address[lane]);
    });
    return agree;
}

}  // namespace

void RequestModel::count_shared(MemoryOperation operation, const WarpRequest& request, RequestCounters& counters) {
    const bool atomic = operation == MemoryOperation::shared_atomic;
    // 8-byte accesses are served a half warp at a time, 16-byte ones a quarter; a compare-and-swap brings two values.
    const unsigned bytes = atomic && request.atomic == AtomicUse::compare_and_swap ? 2 * request.bytes : request.bytes;
    unsigned lanes_together = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    // Loads of which neighbors want the same are served twice as many lanes at a time (measured: read_in_pairs_doubles
    // and the like in the ground truth).
    if (operation == MemoryOperation::shared_load && bytes > 4 &&
        (pairs_agree(request, 1) || pairs_agree(request, 2))) {
        lanes_together *= 2;
    }
    const bool each_lane = atomic && request.atomic != AtomicUse::increment;
    for (unsigned first = 0; first < 32; first += lanes_together) {
        const std::uint32_t together =
            lanes_together == 32 ? request.lanes : request.lanes & (((1u << lanes_together) - 1) << first);
        if (together != 0) counters.wavefronts += wavefronts_of(request, together, each_lane);
    }
    // 128 bytes is what the 32 banks deliver at a time.
    counters.least_wavefronts =
        std::min<std::uint64_t>(counters.wavefronts, (counters.lanes * bytes + 4 * kBanks - 1) / (4 * kBanks));
}

namespace {

/// Lanes that want the same bytes need fewer: never more than were touched.
std::uint64_t sectors_needed(const RequestCounters& counters) {
    constexpr std::uint64_t sector = 1u << kSectorShift;
    return std::min(counters.sectors, (counters.bytes + sector - 1) / sector);
}

}  // namespace

RequestCounters RequestModel::count(MemoryOperation operation, const WarpRequest& request) {
    RequestCounters counters;
    counters.requests = 1;
    counters.lanes = count_of(request.lanes);
    counters.bytes = counters.lanes * request.bytes;
    if (is_contiguous(request)) {
        const std::uint64_t first = std::min(request.address[0], request.address[31]);
        switch (operation) {
            case MemoryOperation::global_load:
            case MemoryOperation::global_store:
            case MemoryOperation::global_atomic:
                counters.sectors = ((first + 32 * request.bytes - 1) >> kSectorShift) - (first >> kSectorShift) + 1;
                counters.needed_sectors = sectors_needed(counters);
                return counters;
            case MemoryOperation::shared_load:
            case MemoryOperation::shared_store:
                if (first % request.bytes != 0) break;
                counters.wavefronts = counters.least_wavefronts = std::max(1u, request.bytes / 4);
                return counters;
            case MemoryOperation::shared_atomic:
                break;
            case MemoryOperation::constant_load:
                counters.wavefronts = 32;
                counters.least_wavefronts = 1;
                return counters;
        }
    }
    switch (operation) {
        case MemoryOperation::global_atomic:
            counters.same_address =
                counters.lanes - distinct(request, static_cast<unsigned>(std::countr_zero(request.bytes)));
            counters.sectors = sectors_of_atomics(request);
            counters.needed_sectors = sectors_needed(counters);
            break;
        case MemoryOperation::global_load:
        case MemoryOperation::global_store:
            counters.sectors = distinct(request, kSectorShift);
            counters.needed_sectors = sectors_needed(counters);
            break;
        case MemoryOperation::shared_atomic:
            counters.same_address =
                counters.lanes - distinct(request, static_cast<unsigned>(std::countr_zero(request.bytes)));
            [[fallthrough]];
        case MemoryOperation::shared_load:
        case MemoryOperation::shared_store:
            count_shared(operation, request, counters);
            break;
        case MemoryOperation::constant_load:
            counters.wavefronts = distinct(request, static_cast<unsigned>(std::countr_zero(request.bytes)));
            counters.least_wavefronts = 1;
            break;
    }
    return counters;
}

}  // namespace cpu_device

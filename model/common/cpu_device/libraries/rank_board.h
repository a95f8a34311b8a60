// Memory that all ranks of a communicator share, in one process or in several of the same machine: what each of them is
// about to do, and a piece of its data at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace cpu_device::nccl {

constexpr int kMostRanks = 32;
constexpr std::size_t kAreaBytes = std::size_t{256} << 10;  // of a rank, for operations of all ranks
constexpr std::size_t kMailBytes = std::size_t{64} << 10;   // from a rank to a rank
constexpr std::size_t kTextBytes = 256;

enum class Kind : std::uint32_t { none, all_reduce, reduce, broadcast, all_gather, reduce_scatter, send, receive };

/// What a rank asks for. All ranks have to ask for the same; of send and receive, count and type have to agree.
struct Request {
    Kind kind = Kind::none;
    std::uint32_t type = 0;
    std::uint32_t op = 0;
    std::int32_t root = 0;  ///< or the other rank
    std::uint64_t count = 0;

    bool operator==(const Request&) const = default;
};

/// "ncclAllReduce of 100 floats (ncclSum)"
std::string text_of(const Request& request);

enum class Presence : std::uint32_t { absent, here, gone, aborted };

struct RankState {
    std::atomic<Presence> presence;
    std::atomic<std::int32_t> process;
    std::atomic<std::int32_t> device;
    std::atomic<std::uint64_t> posted;  ///< operations of all ranks for which `request` was set
    std::atomic<std::uint64_t> filled;  ///< pieces that the rank has put into its area
    std::atomic<std::uint64_t> used;    ///< pieces of which it needs nobody's area any more
    Request request;
    char doing[kTextBytes];  ///< what it waits for, for messages; empty: nothing
};

/// From a rank to a rank: one piece of a message at a time.
struct Mail {
    std::atomic<std::uint64_t> sent;
    std::atomic<std::uint64_t> taken;
    Request request;  ///< of the message
    std::uint64_t bytes;
    std::array<std::byte, kMailBytes> data;
};

struct Board {
    std::atomic<std::uint32_t> is_ready;
    std::int32_t ranks;
    std::atomic<std::int32_t> joined;
    std::atomic<std::int32_t> error;  ///< the first one, of any rank: ncclResult_t
    std::atomic<std::uint32_t> text_is_there;
    char error_text[1024];
    RankState rank[kMostRanks];

    std::byte* area(int rank_);
    Mail& mail(int from, int to);
    /// Ends the operations of all ranks. False if somebody else has done so.
    bool fail(int result, const std::string& text);
    std::string failure() const;
    /// "rank 0 waits in ncclAllReduce ...; rank 1 has not come"
    std::string what_all_do() const;
    /// A rank whose process has ended, or that has left; -1: none.
    int missing_rank() const;
};

/// The board with this name, made by whoever comes first; null and a text when that cannot be done.
Board* open_board(const std::string& name, int ranks, std::string& why);
void close_board(Board* board, int ranks);
/// Nobody else can open it from now on.
void hide_board(const std::string& name);
std::string new_board_name();

}  // namespace cpu_device::nccl

#include "rank_board.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <random>
#include <thread>

namespace cpu_device::nccl {
namespace {

constexpr const char* names_of_kinds[] = {"nothing",       "ncclAllReduce",     "ncclReduce", "ncclBroadcast",
                                          "ncclAllGather", "ncclReduceScatter", "ncclSend",   "ncclRecv"};
constexpr const char* names_of_types[] = {"int8",   "uint8", "int",   "unsigned int", "int64",
                                          "uint64", "half",  "float", "double",       "bfloat16"};
constexpr const char* names_of_ops[] = {"ncclSum", "ncclProd", "ncclMax", "ncclMin", "ncclAvg"};

constexpr int kInvalidArgument = 4;  // ncclInvalidArgument

constexpr std::size_t round_up(std::size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

std::size_t board_bytes(int ranks) {
    const auto count = static_cast<std::size_t>(ranks);
    return round_up(sizeof(Board)) + count * kAreaBytes + count * count * round_up(sizeof(Mail));
}

std::string path_of(const std::string& name) {
    const char* const folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : "/tmp/";
    return folder + name;
}

std::string last_error() { return std::strerror(errno); }

}  // namespace

std::string text_of(const Request& request) {
    const auto kind = static_cast<std::size_t>(request.kind);
    std::string text = names_of_kinds[kind];
    if (request.kind == Kind::none) return text;
    text += " of " + std::to_string(request.count) + " " + names_of_types[request.type];
    if (request.count != 1) text += "s";
    switch (request.kind) {
        case Kind::all_reduce:
        case Kind::reduce_scatter:
            return text + " (" + names_of_ops[request.op] + ")";
        case Kind::reduce:
            return text + " (" + names_of_ops[request.op] + ", root " + std::to_string(request.root) + ")";
        case Kind::broadcast:
            return text + " (root " + std::to_string(request.root) + ")";
        case Kind::send:
            return text + " to rank " + std::to_string(request.root);
        case Kind::receive:
            return text + " from rank " + std::to_string(request.root);
        default:
            return text;
    }
}

std::byte* Board::area(int rank_) {
    return reinterpret_cast<std::byte*>(this) + round_up(sizeof(Board)) + static_cast<std::size_t>(rank_) * kAreaBytes;
}

Mail& Board::mail(int from, int to) {
    std::byte* const first = area(ranks);
    return *reinterpret_cast<Mail*>(first + static_cast<std::size_t>(from * ranks + to) * round_up(sizeof(Mail)));
}

bool Board::fail(int result, const std::string& text) {
    std::int32_t none = 0;
    if (!error.compare_exchange_strong(none, result)) return false;
    std::snprintf(error_text, sizeof error_text, "%s", text.c_str());
    text_is_there = 1;
    return true;
}

std::string Board::failure() const { return text_is_there != 0 ? error_text : ""; }

std::string Board::what_all_do() const {
    std::string text;
    for (int i = 0; i < ranks; ++i) {
        const RankState& one = rank[i];
        text += (i > 0 ? "; rank " : "rank ") + std::to_string(i);
        switch (one.presence) {
            case Presence::absent:
                text += " has not come";
                break;
            case Presence::gone:
                text += " has destroyed its communicator";
                break;
            case Presence::aborted:
                text += " has aborted";
                break;
            case Presence::here:
                if (kill(one.process, 0) != 0 && errno == ESRCH) {
                    text += " has ended";
                } else {
                    text += one.doing[0] == '\0' ? " waits in nothing" : std::string(" waits in ") + one.doing;
                }
        }
    }
    return text;
}

int Board::missing_rank() const {
    for (int i = 0; i < ranks; ++i) {
        const Presence presence = rank[i].presence;
        if (presence == Presence::gone || presence == Presence::aborted) return i;
        if (presence == Presence::here && kill(rank[i].process, 0) != 0 && errno == ESRCH) return i;
    }
    return -1;
}

Board* open_board(const std::string& name, int ranks, std::string& why) {
    const std::string path = path_of(name);
    const std::size_t bytes = board_bytes(ranks);
    const auto failed = [&](int file) {
        why = path + ": " + last_error();
        if (file >= 0) close(file);
        return nullptr;
    };
    int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const bool is_first = file >= 0;
    if (!is_first) file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return failed(file);
    if (is_first && ftruncate(file, static_cast<off_t>(bytes)) != 0) return failed(file);
    struct stat found {};
    for (int turn = 0; fstat(file, &found) == 0 && found.st_size < static_cast<off_t>(sizeof(Board)); ++turn) {
        if (turn > 5000) return failed(file);  // its maker has ended
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const auto mapped = std::max(bytes, static_cast<std::size_t>(found.st_size));
    void* const memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) return failed(file);
    close(file);
    auto* const board = static_cast<Board*>(memory);
    if (is_first) {
        board->ranks = ranks;
        board->is_ready = 1;
    }
    for (int turn = 0; board->is_ready == 0 && turn < 5000; ++turn) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (board->ranks == ranks) return board;
    why = "this rank was told of " + std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks") +
          ", and the rank that came first of " + std::to_string(board->ranks);
    board->fail(kInvalidArgument, why);
    munmap(memory, mapped);
    return nullptr;
}

void close_board(Board* board, int ranks) { munmap(board, board_bytes(ranks)); }

void hide_board(const std::string& name) { unlink(path_of(name).c_str()); }

std::string new_board_name() {
    std::random_device random;
    char name[64];
    std::snprintf(name, sizeof name, "warpwise_nccl_%ld_%08x%08x", static_cast<long>(getpid()), random(), random());
    return name;
}

}  // namespace cpu_device::nccl

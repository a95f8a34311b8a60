#include "nccl.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/cpu_device/src/allocations.h"
#include "common/cpu_device/src/api_call.h"
#include "common/cpu_device/src/capture.h"
#include "common/cpu_device/src/device_races.h"
#include "common/cpu_device/src/device_work.h"
#include "common/cpu_device/src/devices.h"
#include "common/cpu_device/src/operands.h"
#include "common/cpu_device/src/stream_order.h"
#include "common/cpu_device/src/streams.h"
#include "cpu_device/diagnostics.h"
#include "cpu_device/instrument.h"
#include "rank_board.h"
#include "reduce_ranks.h"

using namespace cpu_device;
using namespace cpu_device::nccl;

/// One rank of a communicator.
struct ncclComm {
    Board* board = nullptr;
    std::string name;  ///< of the board
    int ranks = 0;
    int rank = 0;
    int device = 0;
    std::uint64_t operations = 0;  ///< of all ranks, begun so far
    std::uint64_t pieces = 0;      ///< put into the area so far
    bool aborted = false;
    /// The last call outside of a group: whose thread has not come back to it yet.
    std::thread::id caller;
    std::uint64_t open_calls = 0;  ///< outside of groups, not done yet
    DeviceStep last_step = 0;      ///< for races between devices

    ncclComm() = default;
    ncclComm(const ncclComm&) = delete;
    ncclComm& operator=(const ncclComm&) = delete;
    ~ncclComm() {
        if (board != nullptr) close_board(board, ranks);
    }
    RankState& state() const { return board->rank[rank]; }
    ncclResult_t error() const { return static_cast<ncclResult_t>(board->error.load()); }
};

namespace {

using Clock = std::chrono::steady_clock;
using Communicator = std::shared_ptr<ncclComm>;

constexpr const char* group_hint =
    "one thread that calls for several communicators puts the calls between ncclGroupStart() and ncclGroupEnd(): "
    "outside of a group a call may wait for the other ranks, which then never come";

std::atomic<std::uint64_t> moves = 0;  ///< steps that operations have made

thread_local std::string last_text;

/// Says what went wrong, whether errors are looked for or not: the operation cannot go on.
ncclResult_t refuse(ncclResult_t result, DiagnosticKind kind, const ApiCall& call, const std::string& message,
                    const char* hint) {
    Diagnostic found{};
    found.kind = kind;
    found.message = std::string(call.function) + " " + message;
    found.site = place_of(call);
    found.hint = hint;
    last_text = found.message;
    report(std::move(found));
    return result;
}

struct Communicators {
    std::mutex mutex;
    std::map<ncclComm*, Communicator> all;
};

Communicators& communicators() {
    static auto* all = new Communicators;  // still needed when the process exits
    return *all;
}

Communicator find(ncclComm_t comm) {
    Communicators& known = communicators();
    const std::lock_guard lock(known.mutex);
    const auto found = known.all.find(comm);
    return found == known.all.end() ? nullptr : found->second;
}

// ---- operations ----------------------------------------------------------------------------------------------

/// What one call asks for, and how far it is.
struct Operation {
    Communicator comm;
    Request request;
    const std::byte* send = nullptr;
    std::byte* receive = nullptr;
    cudaStream_t stream = nullptr;
    ApiCall call{""};
    DeviceStep step = 0;

    enum class Phase { new_, posted, filling, reading, done };
    Phase phase = Phase::new_;
    std::uint64_t number = 0;
    std::size_t at = 0;      ///< elements that are done; of a message: bytes
    std::size_t piece = 0;   ///< elements in the present piece
    bool has_begun = false;  ///< of a message: its first piece went over

    bool is_message() const { return request.kind == Kind::send || request.kind == Kind::receive; }
    ncclDataType_t type() const { return static_cast<ncclDataType_t>(request.type); }
    std::size_t element_bytes() const { return bytes_of(type()); }

    bool advance();
    bool waits_for(int rank) const;

private:
    bool advance_message();
    bool advance_collective();
    template <class Counter>
    bool all_have(Counter RankState::*counter, std::uint64_t count) const;
    bool all_agree();
    std::size_t most_in_a_piece() const;
    void fill();
    void read();
    void begin();
    void end();
    void learn_from_others() const;
};

/// What the others' streams were given before comes before what this stream is given afterwards.
void Operation::learn_from_others() const {
    Communicators& known = communicators();
    const std::lock_guard lock(known.mutex);
    for (const auto& [handle, other] : known.all) {
        const bool is_partner = !is_message() || (request.kind == Kind::receive && other->rank == request.root);
        if (other->name == comm->name && is_partner) learn_in_device_step(comm->last_step, other->last_step);
    }
}

void Operation::begin() {
    const std::string text = text_of(request);
    std::snprintf(comm->state().doing, kTextBytes, "%s", text.c_str());
}

void Operation::end() {
    phase = Phase::done;
    if (comm->last_step != 0) learn_from_others();
    comm->state().doing[0] = '\0';
}

bool Operation::advance() {
    if (phase == Phase::done) return true;
    return is_message() ? advance_message() : advance_collective();
}

template <class Counter>
bool Operation::all_have(Counter RankState::*counter, std::uint64_t count) const {
    for (int i = 0; i < comm->ranks; ++i) {
        if (comm->board->rank[i].*counter < count) return false;
    }
    return true;
}

bool Operation::waits_for(int rank) const {
    if (is_message()) return rank == request.root;
    const RankState& other = comm->board->rank[rank];
    switch (phase) {
        case Phase::posted:
            return other.posted < number;
        case Phase::filling:
            return other.used < comm->pieces;
        case Phase::reading:
            return other.filled < comm->pieces;
        default:
            return false;
    }
}

/// True if all ranks ask for the same; else all of them end with an error.
bool Operation::all_agree() {
    Board& board = *comm->board;
    bool same_kind = true, same = true;
    for (int i = 0; i < comm->ranks; ++i) {
        same_kind = same_kind && board.rank[i].request.kind == request.kind;
        same = same && board.rank[i].request == request;
    }
    if (same) return true;
    std::string text;
    for (int i = 0; i < comm->ranks; ++i) {
        text += (i > 0 ? "; rank " : "rank ") + std::to_string(i) + " waits in " + text_of(board.rank[i].request);
    }
    const bool is_first = board.fail(ncclInvalidUsage, text);
    if (is_first) {
        Diagnostic found{};
        found.kind = DiagnosticKind::stalled_collective;
        found.message = "the ranks of a communicator do not ask for the same: " + text;
        found.site = place_of(call);
        found.hint =
            same_kind ? "count, type, operation, and root have to be the same on all ranks: with NCCL the result "
                        "would be wrong, or the ranks would wait for ever"
                      : "all ranks have to make the same calls in the same order: with NCCL they would wait for ever";
        report(std::move(found));
    }
    return false;
}

std::size_t Operation::most_in_a_piece() const {
    const std::size_t parts = request.kind == Kind::reduce_scatter ? static_cast<std::size_t>(comm->ranks) : 1;
    return kAreaBytes / parts / element_bytes();
}

void Operation::fill() {
    if (request.kind == Kind::broadcast && comm->rank != request.root) return;
    const std::size_t bytes = piece * element_bytes();
    std::byte* const area = comm->board->area(comm->rank);
    const int parts = request.kind == Kind::reduce_scatter ? comm->ranks : 1;
    for (std::size_t part = 0; part < static_cast<std::size_t>(parts); ++part) {
        if (bytes == 0) return;
        use_in_device_step(send + (part * request.count + at) * element_bytes(), bytes, false);
        std::memcpy(area + part * bytes, send + (part * request.count + at) * element_bytes(), bytes);
    }
}

void Operation::read() {
    const std::size_t bytes = piece * element_bytes();
    if (bytes == 0) return;
    Board& board = *comm->board;
    const auto ranks = static_cast<std::size_t>(comm->ranks);
    const std::size_t offset = at * element_bytes();
    switch (request.kind) {
        case Kind::reduce:
            if (comm->rank != request.root) return;
            [[fallthrough]];
        case Kind::all_reduce:
        case Kind::reduce_scatter: {
            const std::size_t own = request.kind == Kind::reduce_scatter ? static_cast<std::size_t>(comm->rank) : 0;
            std::vector<const std::byte*> parts(ranks);
            for (std::size_t i = 0; i < ranks; ++i) parts[i] = board.area(static_cast<int>(i)) + own * bytes;
            use_in_device_step(receive + offset, bytes, true);
            reduce(parts, receive + offset, piece, type(), static_cast<ncclRedOp_t>(request.op));
            return note_result(receive + offset, bytes);
        }
        case Kind::broadcast:
            use_in_device_step(receive + offset, bytes, true);
            std::memcpy(receive + offset, board.area(request.root), bytes);
            return note_result(receive + offset, bytes);
        default:  // all_gather
            for (std::size_t i = 0; i < ranks; ++i) {
                std::byte* const to = receive + i * request.count * element_bytes() + offset;
                use_in_device_step(to, bytes, true);
                std::memcpy(to, board.area(static_cast<int>(i)), bytes);
                note_result(to, bytes);
            }
    }
}

bool Operation::advance_collective() {
    RankState& mine = comm->state();
    for (;; ++moves) {
        switch (phase) {
            case Phase::new_:
                begin();
                mine.request = request;
                number = ++comm->operations;
                mine.posted = number;
                phase = Phase::posted;
                break;
            case Phase::posted:
                if (!all_have(&RankState::posted, number) || !all_agree()) return false;
                phase = Phase::filling;
                break;
            case Phase::filling:
                if (!all_have(&RankState::used, comm->pieces)) return false;
                piece = std::min<std::size_t>(most_in_a_piece(), request.count - at);
                fill();
                mine.filled = ++comm->pieces;
                phase = Phase::reading;
                break;
            case Phase::reading:
                if (!all_have(&RankState::filled, comm->pieces)) return false;
                read();
                mine.used = comm->pieces;
                at += piece;
                phase = Phase::filling;
                if (at == request.count) end();
                break;
            case Phase::done:
                return true;
        }
    }
}

bool Operation::advance_message() {
    if (!has_begun && phase == Phase::new_) {
        begin();
        phase = Phase::posted;
    }
    const std::size_t bytes = request.count * element_bytes();
    const bool sends = request.kind == Kind::send;
    Mail& mail = sends ? comm->board->mail(comm->rank, request.root) : comm->board->mail(request.root, comm->rank);
    for (;; ++moves) {
        const std::uint64_t taken = mail.taken, sent = mail.sent;
        if (sends ? sent != taken : sent == taken) return false;
        if (sends) {
            mail.request = request;
            mail.bytes = std::min(kMailBytes, bytes - at);
            use_in_device_step(send + at, mail.bytes, false);
            if (mail.bytes > 0) std::memcpy(mail.data.data(), send + at, mail.bytes);
            at += mail.bytes;
            mail.sent = sent + 1;
        } else {
            if (mail.request.count != request.count || mail.request.type != request.type) {
                Request other = mail.request;
                const std::string text = "rank " + std::to_string(request.root) + " calls " + text_of(other) +
                                         ", which calls " + text_of(request);
                if (comm->board->fail(ncclInvalidUsage, text)) {
                    (void)refuse(ncclInvalidUsage, DiagnosticKind::stalled_collective, call,
                                 "does not fit what is sent: " + text,
                                 "count and type of ncclSend and ncclRecv have to be the same on both sides");
                }
                return false;
            }
            if (mail.bytes > 0) {
                use_in_device_step(receive + at, mail.bytes, true);
                std::memcpy(receive + at, mail.data.data(), mail.bytes);
                note_result(receive + at, mail.bytes);
            }
            at += mail.bytes;
            mail.taken = taken + 1;
        }
        has_begun = true;
        if (at == bytes) {
            end();
            return true;
        }
    }
}

/// The operations of one rank, in one stream, that begin together: those of all ranks in their order, and messages at
/// the same time.
class Batch {
public:
    void add(Operation operation) {
        (operation.is_message() ? messages_ : collectives_).push_back(std::move(operation));
    }

    /// As DeviceWork::Step.
    bool step(bool overdue) {
        const Communicator comm = first().comm;
        if (comm->error() != ncclSuccess || comm->aborted) return end_with_error();
        while (!collectives_.empty() && collectives_.front().advance()) collectives_.pop_front();
        if (collectives_.empty()) {
            std::vector<std::pair<Kind, int>> waiting;  // messages between two ranks keep their order
            std::erase_if(messages_, [&](Operation& message) {
                const std::pair key(message.request.kind, message.request.root);
                if (std::find(waiting.begin(), waiting.end(), key) != waiting.end()) return false;
                if (message.advance()) return true;
                waiting.push_back(key);
                return false;
            });
        }
        if (collectives_.empty() && messages_.empty()) return true;
        if (comm->error() != ncclSuccess) return end_with_error();
        look_for_missing(*comm, overdue);
        return comm->error() != ncclSuccess && end_with_error();
    }

    const Operation& first() const { return collectives_.empty() ? messages_.front() : collectives_.front(); }

private:
    bool end_with_error() {
        const ncclComm& comm = *first().comm;
        comm.state().doing[0] = '\0';
        if (!comm.aborted) {
            last_text = comm.board->failure();
            device_work()->fail(comm.device, cudaErrorLaunchFailure);
        }
        return true;
    }

    void look_for_missing(ncclComm& comm, bool overdue) {
        const Clock::time_point now = Clock::now();
        if (!overdue && now - last_look_ < std::chrono::milliseconds(20)) return;
        last_look_ = now;
        const Operation& open = first();
        const int missing = comm.board->missing_rank();
        const bool is_missing = missing >= 0 && open.waits_for(missing);
        if (!is_missing && !overdue) return;
        const std::string text = comm.board->what_all_do();
        if (!comm.board->fail(ncclRemoteError, text)) return;
        Diagnostic found{};
        found.kind = DiagnosticKind::stalled_collective;
        found.message = is_missing ? "rank " + std::to_string(missing) + " is missed by the others: " + text
                                   : "nothing has happened for " + seconds_text() + ": " + text;
        found.site = place_of(open.call);
        found.hint = is_missing
                         ? "did that rank end early, by an error or because it takes another way?"
                         : "does every rank make the same calls in the same order? One thread that calls for "
                           "several communicators puts the calls between ncclGroupStart() and ncclGroupEnd(). To "
                           "wait longer, set CPU_DEVICE_TIMEOUT=SECONDS (0: without a limit)";
        report(std::move(found));
    }

    static std::string seconds_text() {
        char text[40];
        std::snprintf(text, sizeof text, "%g seconds", watchdog_seconds());
        return text;
    }

    std::deque<Operation> collectives_;
    std::deque<Operation> messages_;
    Clock::time_point last_look_ = Clock::now();
};

// ---- groups --------------------------------------------------------------------------------------------------

struct Group {
    int depth = 0;
    std::vector<Operation> operations;
    std::vector<std::pair<Communicator, ApiCall>> joined;  ///< communicators whose other ranks have not come yet
    ncclResult_t error = ncclSuccess;
};

thread_local Group group;

void give_to_streams(std::vector<Operation> operations, bool in_group) {
    struct Given {
        std::shared_ptr<Batch> batch;
        Communicator comm;
        cudaStream_t stream;
    };
    std::vector<Given> all;
    for (Operation& operation : operations) {
        auto given = std::find_if(all.begin(), all.end(), [&](const Given& one) {
            return one.comm == operation.comm && one.stream == operation.stream;
        });
        if (given == all.end()) {
            all.push_back({std::make_shared<Batch>(), operation.comm, operation.stream});
            given = all.end() - 1;
        }
        given->batch->add(std::move(operation));
    }
    DeviceWork& work = *device_work();
    for (const Given& one : all) {
        const OnDevice device(one.comm->device);
        note_order(OrderStep::work, one.stream);
        const ApiCall& call = one.batch->first().call;
        const InDeviceStep step(call.function, one.stream, call);
        one.comm->last_step = present_device_step;
        if (!in_group) {
            one.comm->caller = std::this_thread::get_id();
            ++one.comm->open_calls;
        }
        work.add(one.stream, [batch = one.batch, comm = one.comm, in_group](bool overdue) {
            if (!batch->step(overdue)) return false;
            if (!in_group) --comm->open_calls;
            return true;
        });
    }
    // Ranks of one thread go on in turns, as far as they come without others.
    for (std::uint64_t before = 0; before != moves;) {
        before = moves;
        work.progress();
    }
}

/// Reports a call outside of a group by a thread that has made one for another rank, which is not done.
bool misses_group(const ncclComm& comm, const ApiCall& call) {
    Communicators& known = communicators();
    int other = -1;
    {
        const std::lock_guard lock(known.mutex);
        for (const auto& [handle, one] : known.all) {
            const bool waits = one->open_calls > 0 && one->caller == std::this_thread::get_id();
            if (handle != &comm && one->name == comm.name && waits) other = one->rank;
        }
    }
    if (other < 0) return false;
    const std::string text = "is called for rank " + std::to_string(comm.rank) + " by the thread whose call for rank " +
                             std::to_string(other) + " still waits, and the two are in no group";
    comm.board->fail(ncclInvalidUsage, std::string(call.function) + " " + text);
    (void)refuse(ncclInvalidUsage, DiagnosticKind::stalled_collective, call, text, group_hint);
    return true;
}

/// What a call gives and gets, in elements.
struct Extent {
    std::size_t send = 0;
    std::size_t receive = 0;
};

bool is_buffer(const Operation& operation, const char* role, const void* memory, std::size_t elements) {
    if (!is_for_device(operation.call, role, memory, elements * operation.element_bytes())) return false;
    const auto allocation = elements == 0 ? std::nullopt : find_for_host(memory);
    if (!allocation || allocation->kind != MemoryKind::device) return true;
    const int device = operation.comm->device;
    if (allocation->device == device || is_peer(device, allocation->device)) return true;
    (void)refuse(ncclInvalidArgument, DiagnosticKind::wrong_device, operation.call,
                 "for rank " + std::to_string(operation.comm->rank) + ", on device " + std::to_string(device) +
                     ", was given " + describe(*allocation) + " as its " + role,
                 "a rank works with memory of its own device: call cudaSetDevice before cudaMalloc, and give each rank "
                 "its own buffer");
    return false;
}

ncclResult_t begin(ncclComm_t handle, Request request, const void* send, void* receive, Extent extent,
                   cudaStream_t stream, const ApiCall& call) {
    if (logs_activity()) log_call(call.function, false);
    const auto note = [](ncclResult_t result) {
        if (result != ncclSuccess && group.depth > 0) group.error = result;
        return result;
    };
    const Communicator comm = find(handle);
    if (comm == nullptr) {
        return note(refuse(ncclInvalidArgument, DiagnosticKind::use_after_free, call,
                           "was given no communicator, or one that was destroyed",
                           "make it with ncclCommInitRank or ncclCommInitAll, and destroy it after its last use"));
    }
    if (request.type >= ncclNumTypes || request.op >= ncclNumOps || request.root < 0 || request.root >= comm->ranks) {
        last_text = std::string(call.function) + ": no such type, operation, or rank";
        return note(ncclInvalidArgument);
    }
    if (comm->error() != ncclSuccess) return note(comm->error());
    const OnDevice device(comm->device);
    if (logs_activity()) log_stream(stream);
    if (!stream_exists(stream)) return note(ncclInvalidArgument);
    if (is_captured(stream)) {
        (void)unsupported("the capture of an operation of NCCL", place_of(call));
        return note(ncclInvalidUsage);
    }
    if (const int of = device_of_stream(stream); of != comm->device) {
        return note(refuse(ncclInvalidArgument, DiagnosticKind::wrong_device, call,
                           "for rank " + std::to_string(comm->rank) + ", on device " + std::to_string(comm->device) +
                               ", names a stream of device " + std::to_string(of),
                           "each rank needs a stream of its own device: create it after cudaSetDevice"));
    }
    Operation operation;
    operation.comm = comm;
    operation.request = request;
    operation.send = static_cast<const std::byte*>(send);
    operation.receive = static_cast<std::byte*>(receive);
    operation.stream = stream;
    operation.call = call;
    if (!is_buffer(operation, "send buffer", send, extent.send) ||
        !is_buffer(operation, "receive buffer", receive, extent.receive)) {
        return note(ncclInvalidArgument);
    }
    if (group.depth > 0) {
        group.operations.push_back(std::move(operation));
        return ncclSuccess;
    }
    if (misses_group(*comm, call)) {
        device_work()->progress();
        return ncclInvalidUsage;
    }
    std::vector<Operation> one;
    one.push_back(std::move(operation));
    give_to_streams(std::move(one), false);
    return ncclSuccess;
}

Request request_of(Kind kind, std::size_t count, ncclDataType_t type, unsigned op = ncclSum, int root = 0) {
    return {kind, static_cast<std::uint32_t>(type), op, root, count};
}

int rank_of(ncclComm_t handle) {
    const Communicator comm = find(handle);
    return comm == nullptr ? 0 : comm->rank;
}

std::size_t ranks_of(ncclComm_t handle) {
    const Communicator comm = find(handle);
    return comm == nullptr ? 0 : static_cast<std::size_t>(comm->ranks);
}

// ---- communicators -------------------------------------------------------------------------------------------

/// Takes a place; the other ranks may come later.
ncclResult_t join(ncclComm_t* handle, int ranks, const std::string& name, int rank, const ApiCall& call,
                  Communicator& made) {
    enable_device_work();
    if (handle == nullptr || ranks < 1 || rank < 0 || rank >= ranks) {
        return refuse(ncclInvalidArgument, DiagnosticKind::stalled_collective, call,
                      "was asked for rank " + std::to_string(rank) + " of " + std::to_string(ranks),
                      "ranks go from 0 to one less than their number");
    }
    if (ranks > kMostRanks) {
        (void)unsupported("a communicator of NCCL with more than 32 ranks", place_of(call));
        return ncclInvalidArgument;
    }
    auto comm = std::make_shared<ncclComm>();
    std::string why;
    comm->board = open_board(name, ranks, why);
    if (comm->board == nullptr) {
        return refuse(ncclInvalidArgument, DiagnosticKind::stalled_collective, call,
                      "for rank " + std::to_string(rank) + " cannot join the others: " + why,
                      "all ranks have to be given the same id of ncclGetUniqueId and the same number of ranks");
    }
    comm->name = name;
    comm->ranks = ranks;
    comm->rank = rank;
    comm->device = current_device;
    Presence nobody = Presence::absent;
    comm->state().process = getpid();
    comm->state().device = current_device;
    if (!comm->state().presence.compare_exchange_strong(nobody, Presence::here)) {
        const std::string text = "rank " + std::to_string(rank) + " has come twice";
        comm->board->fail(ncclInvalidUsage, text);
        return refuse(ncclInvalidUsage, DiagnosticKind::stalled_collective, call, "finds that " + text,
                      "each rank has a number of its own");
    }
    for (int other = 0; other < ranks && device_count() > 1; ++other) {
        const RankState& state = comm->board->rank[other];
        if (other == rank || state.presence != Presence::here || state.device != current_device) continue;
        const std::string text = "ranks " + std::to_string(std::min(rank, other)) + " and " +
                                 std::to_string(std::max(rank, other)) + " both use device " +
                                 std::to_string(current_device);
        comm->board->fail(ncclInvalidUsage, text);
        hide_board(name);
        return refuse(ncclInvalidUsage, DiagnosticKind::wrong_device, call, "finds that " + text,
                      "each rank needs a device of its own: cudaSetDevice(its rank on this machine) comes before the "
                      "communicator is made");
    }
    if (++comm->board->joined == ranks) hide_board(name);
    Communicators& known = communicators();
    const std::lock_guard lock(known.mutex);
    known.all[comm.get()] = comm;
    *handle = comm.get();
    made = comm;
    return ncclSuccess;
}

/// Until all ranks have come.
ncclResult_t wait_for_ranks(const Communicator& comm, const ApiCall& call) {
    Board& board = *comm->board;
    const Clock::time_point begin = Clock::now();
    while (board.joined < comm->ranks) {
        if (board.error != ncclSuccess) {
            last_text = board.failure();
            return comm->error();
        }
        device_work()->progress();
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        const std::chrono::duration<double> taken = Clock::now() - begin;
        const int missing = board.missing_rank();
        const bool is_late = watchdog_seconds() > 0 && taken.count() > watchdog_seconds();
        if (missing < 0 && !is_late) continue;
        std::string text = missing >= 0 ? "rank " + std::to_string(missing) + " has ended" : "";
        for (int i = 0; missing < 0 && i < comm->ranks; ++i) {
            if (board.rank[i].presence != Presence::absent) continue;
            text += (text.empty() ? "rank " : ", rank ") + std::to_string(i);
        }
        if (missing < 0) text += " has not come";
        hide_board(comm->name);
        if (board.fail(ncclRemoteError, text)) {
            return refuse(ncclRemoteError, DiagnosticKind::stalled_collective, call,
                          "for rank " + std::to_string(comm->rank) + " has waited for the other ranks in vain: " + text,
                          "all ranks have to call it. One thread that does so for several ranks puts the calls between "
                          "ncclGroupStart() and ncclGroupEnd()");
        }
    }
    return ncclSuccess;
}

void forget(const Communicator& comm, Presence presence) {
    comm->state().presence = presence;
    Communicators& known = communicators();
    const std::lock_guard lock(known.mutex);
    known.all.erase(comm.get());
}

template <class Value>
ncclResult_t answer(ncclComm_t handle, Value* target, Value ncclComm::*member) {
    const Communicator comm = find(handle);
    if (comm == nullptr || target == nullptr) return ncclInvalidArgument;
    *target = (*comm).*member;
    return ncclSuccess;
}

}  // namespace

ncclResult_t ncclGetVersion(int* version) {
    if (version == nullptr) return ncclInvalidArgument;
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
    switch (result) {
        case ncclSuccess:
            return "no error";
        case ncclUnhandledCudaError:
            return "unhandled cuda error";
        case ncclSystemError:
            return "unhandled system error";
        case ncclInternalError:
            return "internal error";
        case ncclInvalidArgument:
            return "invalid argument";
        case ncclInvalidUsage:
            return "invalid usage";
        case ncclRemoteError:
            return "remote process exited or there was a network error";
        case ncclInProgress:
            return "NCCL operation in progress";
        default:
            return "unknown result code";
    }
}

const char* ncclGetLastError(ncclComm_t handle) {
    const Communicator comm = find(handle);
    if (comm != nullptr && comm->error() != ncclSuccess) last_text = comm->board->failure();
    return last_text.c_str();
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
    if (id == nullptr) return ncclInvalidArgument;
    *id = {};
    std::snprintf(id->internal, sizeof id->internal, "%s", new_board_name().c_str());
    return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* handle, int ranks, ncclUniqueId id, int rank) {
    const ApiCall call{"ncclCommInitRank", {}, __builtin_return_address(0)};
    if (logs_activity()) log_call(call.function, true);
    const std::string name(id.internal, strnlen(id.internal, sizeof id.internal));
    if (!name.starts_with("warpwise_nccl_") || name.find('/') != std::string::npos) {
        return refuse(ncclInvalidArgument, DiagnosticKind::stalled_collective, call,
                      "was given an id that is none of ncclGetUniqueId",
                      "rank 0 calls ncclGetUniqueId and sends the id to all others, with MPI_Bcast for example");
    }
    Communicator comm;
    const ncclResult_t error = join(handle, ranks, name, rank, call, comm);
    if (error != ncclSuccess) {
        if (group.depth > 0) group.error = error;
        return error;
    }
    if (group.depth > 0) {
        group.joined.emplace_back(comm, call);
        return ncclSuccess;
    }
    return wait_for_ranks(comm, call);
}

ncclResult_t ncclCommInitAll(ncclComm_t* handles, int count, const int* devices) {
    const ApiCall call{"ncclCommInitAll", {}, __builtin_return_address(0)};
    if (logs_activity()) log_call(call.function, true);
    if (handles == nullptr || count < 1) return ncclInvalidArgument;
    const auto device_at = [&](int i) { return devices == nullptr ? i : devices[i]; };
    for (int i = 0; i < count; ++i) {
        if (!device_exists(device_at(i))) {
            return refuse(ncclInvalidArgument, DiagnosticKind::wrong_device, call,
                          "was given device " + std::to_string(device_at(i)) + " of " + std::to_string(device_count()),
                          "ask cudaGetDeviceCount how many devices there are");
        }
        for (int other = 0; other < i; ++other) {
            if (device_at(other) != device_at(i)) continue;
            return refuse(ncclInvalidUsage, DiagnosticKind::wrong_device, call,
                          "was given device " + std::to_string(device_at(i)) + " twice",
                          "each rank needs a device of its own");
        }
    }
    const std::string name = new_board_name();
    for (int i = 0; i < count; ++i) {
        const OnDevice device(device_at(i));
        Communicator comm;
        const ncclResult_t error = join(&handles[i], count, name, i, call, comm);
        if (error != ncclSuccess) return error;
    }
    return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t handle) {
    const Communicator comm = find(handle);
    if (comm == nullptr) return ncclInvalidArgument;
    const OnDevice device(comm->device);
    const cudaError_t error = finish_device();
    if (error != cudaSuccess) device_work()->fail(comm->device, error);
    return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t handle) {
    const Communicator comm = find(handle);
    if (comm == nullptr) return ncclInvalidArgument;
    (void)ncclCommFinalize(handle);
    forget(comm, Presence::gone);
    return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t handle) {
    const Communicator comm = find(handle);
    if (comm == nullptr) return ncclInvalidArgument;
    comm->aborted = true;
    device_work()->progress();
    forget(comm, Presence::aborted);
    return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t handle, ncclResult_t* error) {
    const Communicator comm = find(handle);
    if (comm == nullptr || error == nullptr) return ncclInvalidArgument;
    device_work()->progress();
    *error = comm->error();
    return ncclSuccess;
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) { return answer(comm, count, &ncclComm::ranks); }
ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) { return answer(comm, device, &ncclComm::device); }
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) { return answer(comm, rank, &ncclComm::rank); }

ncclResult_t ncclGroupStart() {
    ++group.depth;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
    const ApiCall call{"ncclGroupEnd", {}, __builtin_return_address(0)};
    if (group.depth == 0) {
        return refuse(ncclInvalidUsage, DiagnosticKind::stalled_collective, call, "is called without ncclGroupStart",
                      "each ncclGroupEnd() needs its ncclGroupStart()");
    }
    if (--group.depth > 0) return ncclSuccess;
    const auto joined = std::exchange(group.joined, {});
    auto operations = std::exchange(group.operations, {});
    ncclResult_t error = std::exchange(group.error, ncclSuccess);
    for (const auto& [comm, at] : joined) {
        const ncclResult_t wrong = error == ncclSuccess ? wait_for_ranks(comm, at) : error;
        if (error == ncclSuccess) error = wrong;
    }
    if (error != ncclSuccess) return error;
    if (!operations.empty()) give_to_streams(std::move(operations), true);
    return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
    const ApiCall call{"ncclAllReduce", {}, __builtin_return_address(0)};
    return begin(comm, request_of(Kind::all_reduce, count, type, op), send, receive, {count, count}, stream, call);
}

ncclResult_t ncclReduce(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream) {
    const ApiCall call{"ncclReduce", {}, __builtin_return_address(0)};
    const size_t received = rank_of(comm) == root ? count : 0;
    return begin(comm, request_of(Kind::reduce, count, type, op, root), send, receive, {count, received}, stream, call);
}

ncclResult_t ncclBroadcast(const void* send, void* receive, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
    const ApiCall call{"ncclBroadcast", {}, __builtin_return_address(0)};
    const size_t sent = rank_of(comm) == root ? count : 0;
    return begin(comm, request_of(Kind::broadcast, count, type, ncclSum, root), send, receive, {sent, count}, stream,
                 call);
}

ncclResult_t ncclBcast(void* buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream) {
    const ApiCall call{"ncclBcast", {}, __builtin_return_address(0)};
    return begin(comm, request_of(Kind::broadcast, count, type, ncclSum, root), buffer, buffer, {count, count}, stream,
                 call);
}

ncclResult_t ncclAllGather(const void* send, void* receive, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
    const ApiCall call{"ncclAllGather", {}, __builtin_return_address(0)};
    return begin(comm, request_of(Kind::all_gather, count, type), send, receive, {count, count * ranks_of(comm)},
                 stream, call);
}

ncclResult_t ncclReduceScatter(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
    const ApiCall call{"ncclReduceScatter", {}, __builtin_return_address(0)};
    return begin(comm, request_of(Kind::reduce_scatter, count, type, op), send, receive,
                 {count * ranks_of(comm), count}, stream, call);
}

ncclResult_t ncclSend(const void* send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
    const ApiCall call{"ncclSend", {}, __builtin_return_address(0)};
    return begin(comm, request_of(Kind::send, count, type, ncclSum, peer), send, nullptr, {count, 0}, stream, call);
}

ncclResult_t ncclRecv(void* receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
    const ApiCall call{"ncclRecv", {}, __builtin_return_address(0)};
    return begin(comm, request_of(Kind::receive, count, type, ncclSum, peer), nullptr, receive, {0, count}, stream,
                 call);
}

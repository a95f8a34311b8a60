// Copies by the tensor memory accelerator. A load lands when somebody has waited for the phase of its barrier, as other
// asynchronous copies do, but its bytes count for the phase at once. A store reads shared memory when its thread has
// waited for its group. Both are the latest moments that a GPU may choose.
#include "cpu_device/bulk_copies.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "block.h"
#include "clusters.h"
#include "instrumented_code.h"
#include "shadow_memory.h"
#include "tensor_maps.h"

namespace cpu_device {
namespace {

constexpr std::uint32_t kBoxAlignment = 128;               // of a box in shared memory
constexpr std::int64_t kMostBytesOfPhase = (1 << 20) - 1;  // that a phase can wait for

}  // namespace

const void* code_of_bulk_copy() { return __builtin_return_address(0); }

// ---- what cannot be done -------------------------------------------------------------------------------------

void Block::end_for_bulk_copy(DiagnosticKind kind, cudaError_t error, Site site, const std::string& message,
                              const char* hint) {
    const Uninstrumented now;
    Diagnostic found = diagnostic(kind, site);
    found.message = message;
    found.hint = hint;
    if (launch_->is_first_diagnostic(kind, site.line)) report(std::move(found));
    launch_->fail(error);
    abandon();
}

void Block::check_bulk_address(const void* address, std::uint32_t alignment, const char* what, Site site) {
    const std::uintptr_t off = number_of(address) % alignment;
    if (off == 0) return;
    end_for_bulk_copy(DiagnosticKind::misaligned_access, cudaErrorMisalignedAddress, site,
                      std::string(what) + " has to begin at a multiple of " + std::to_string(alignment) +
                          " bytes; this one is " + std::to_string(off) + " bytes after one",
                      alignment == kBoxAlignment
                          ? "declare the array in shared memory with alignas(128), or alignas(1024) where the tensor "
                            "map has the swizzle of 128 bytes, and keep each box in it a multiple of that"
                          : "copies in bulk need addresses and sizes that are multiples of 16 bytes: give rows a "
                            "pitch that is one, and declare arrays in shared memory with alignas(16)");
}

void Block::check_bulk_copy(const void* to, const void* from, std::uint32_t bytes, Site site) {
    check_bulk_address(to, kBulkChunk, "the destination of a copy in bulk", site);
    check_bulk_address(from, kBulkChunk, "the source of a copy in bulk", site);
    if (bytes % kBulkChunk == 0) return;
    end_for_bulk_copy(DiagnosticKind::misaligned_access, cudaErrorMisalignedAddress, site,
                      "a copy in bulk of " + std::to_string(bytes) + " bytes, which is no multiple of 16",
                      "round the size up, where both arrays have the room, or copy the remainder by threads");
}

/// Where a box begins in its rows: elsewhere an H200 ends the kernel with an illegal instruction.
void Block::check_box_begin(const TensorMap& map, std::int32_t at, Site site) {
    if (std::int64_t{at} * map.element_bytes % kBulkChunk == 0) return;
    const std::uint32_t elements = kBulkChunk / map.element_bytes;
    end_for_bulk_copy(DiagnosticKind::misaligned_access, cudaErrorIllegalInstruction, site,
                      "a box begins at coordinate " + std::to_string(at) + " of the innermost dimension, which is no " +
                          "multiple of 16 bytes (" + std::to_string(elements) + " elements)",
                      "begin at the multiple before it, and let the threads skip what they do not need");
}

/// The copy's place is in the block's shared memory.
void Block::check_own_shared(const std::byte* address, std::uint32_t bytes, const char* what, Site site) {
    if (is_shared_memory(address) && bytes <= arena_ + kArenaBytes - address) return;
    end_for_bulk_copy(DiagnosticKind::illegal_access, cudaErrorIllegalAddress, site,
                      std::string(what) + " is not in the block's shared memory",
                      "which of the two addresses is the one in shared memory?");
}

TensorMap Block::tensor_map(const void* map, unsigned rank, Site site) {
    TensorMap read{};
    if (map == nullptr || !read_tensor_map(map, read)) {
        end_for_bulk_copy(DiagnosticKind::illegal_access, cudaErrorIllegalAddress, site,
                          "what is given as a tensor map is none that cuTensorMapEncodeTiled has made",
                          "did cuTensorMapEncodeTiled return CUDA_SUCCESS? Pass the map to the kernel by value as "
                          "'const __grid_constant__ CUtensorMap map', and give its address, &map");
    }
    if (read.rank != rank) {
        end_for_bulk_copy(DiagnosticKind::illegal_access, cudaErrorIllegalAddress, site,
                          std::to_string(rank) + " coordinates for a tensor map of " + std::to_string(read.rank) +
                              (read.rank == 1 ? " dimension" : " dimensions"),
                          "give one coordinate for each dimension of the map, the innermost one first");
    }
    return read;
}

/// For diagnostics, an access of the running thread.
void Block::check_access(const void* memory, std::uint32_t bytes, bool writes, const void* code) {
    if (!diagnoser_ || bytes == 0) return;
    Access access;
    access.address = static_cast<const std::byte*>(memory);
    access.bytes = bytes;
    access.kind = writes ? AccessKind::write : AccessKind::read;
    access.is_block_copy = access.in_bulk = true;
    access.code = code;
    const cudaError_t error = diagnoser_->access(current_thread.linear_thread, access);
    if (error == cudaSuccess) return;
    launch_->fail(error);
    abandon();
}

// ---- loads ---------------------------------------------------------------------------------------------------

void Block::expect_bytes(const void* barrier, std::uint32_t bytes, Site site) {
    const Uninstrumented now;
    AsyncBarrier& at = barrier_at(barrier, "expect_tx", site);
    at.bytes += bytes;
    if (at.bytes > kMostBytesOfPhase) {
        end_for_barrier(site, "a phase of a barrier is told to expect " + std::to_string(at.bytes) + " bytes",
                        "a phase can wait for 2^20 - 1 bytes at most: is the number of bytes right?");
    }
    complete_phase_if_all_came(at);
}

void Block::load_in_bulk(void* to, const void* from, std::uint32_t bytes, const void* barrier, unsigned blocks,
                         const void* code, Site site) {
    const Uninstrumented now;
    check_bulk_copy(to, from, bytes, site);
    pieces_.clear();
    auto* const source = static_cast<std::byte*>(const_cast<void*>(from));
    for (std::uint32_t done = 0; done < bytes; done += kBulkChunk) {
        pieces_.push_back({static_cast<std::byte*>(to) + done, source + done, kBulkChunk});
    }
    load_pieces(static_cast<std::byte*>(to), bytes, false, barrier, blocks, code, site);
}

void Block::load_box(void* to, const void* map, const std::int32_t* at, unsigned rank, const void* barrier,
                     unsigned blocks, const void* code, Site site) {
    const Uninstrumented now;
    const TensorMap read = tensor_map(map, rank, site);
    check_bulk_address(to, kBoxAlignment, "a box in shared memory", site);
    check_box_begin(read, at[0], site);
    pieces_.clear();
    box_pieces(read, at, static_cast<std::byte*>(to), pieces_);
    load_pieces(static_cast<std::byte*>(to), read.box_bytes(), read.fills_with_nan, barrier, blocks, code, site);
}

/// `to`: in the shared memory of any block of the cluster, as `barrier`. `blocks`: the ranks of those that get the
/// pieces, at the same place in theirs.
void Block::load_pieces(std::byte* to, std::uint32_t bytes, bool fills_with_nan, const void* barrier, unsigned blocks,
                        const void* code, Site site) {
    end_bulk_copies_ = &Block::end_bulk_copies;
    const std::byte* const begin = cluster_ == nullptr ? arena_ : cluster_->arenas;
    const unsigned count = cluster_ == nullptr ? 1 : cluster_->count;
    const std::uintptr_t place = number_of(to) - number_of(begin), at = number_of(barrier) - number_of(begin);
    const std::size_t all = count * kArenaBytes;
    if (place >= all || at >= all || place % kArenaBytes + bytes > kArenaBytes) {
        end_for_bulk_copy(DiagnosticKind::illegal_access, cudaErrorIllegalAddress, site,
                          place >= all ? "the destination of a copy in bulk is not in shared memory"
                                       : "the barrier of a copy in bulk is not in shared memory",
                          "declare the array and its barrier with __shared__");
    }
    if (blocks == kBlockOfAddress && place / kArenaBytes != at / kArenaBytes) {
        end_for_bulk_copy(DiagnosticKind::illegal_access, cudaErrorIllegalAddress, site,
                          "a copy in bulk and its barrier are in the shared memory of two different blocks",
                          "take both addresses in the same block of the cluster");
    }
    if (blocks == kBlockOfAddress) blocks = 1u << place / kArenaBytes;
    if (blocks >> count != 0) {
        end_for_bulk_copy(DiagnosticKind::illegal_access, cudaErrorIllegalAddress, site,
                          "a multicast copy names blocks that the cluster of " + std::to_string(count) +
                              (count == 1 ? " block does not have" : " blocks does not have"),
                          "the mask has a bit for each rank, from 0 to cluster.num_blocks() - 1: does the launch ask "
                          "for clusters?");
    }
    for (BulkPiece& piece : pieces_) {  // places in a block
        piece.shared = reinterpret_cast<std::byte*>((number_of(piece.shared) - number_of(begin)) % kArenaBytes);
        check_access(piece.global, piece.bytes, false, code);
    }
    if (recording_) recorder_->count_bulk_load(code, pieces_, blocks, rank_);
    for (unsigned rank = 0; rank < count; ++rank) {
        if ((blocks >> rank & 1) == 0) continue;
        Block& target = cluster_ == nullptr ? *this : *cluster_->blocks[rank];
        bring_pieces(target, rank, bytes, fills_with_nan, at % kArenaBytes, code, site);
    }
}

void Block::bring_pieces(Block& target, unsigned rank, std::uint32_t bytes, bool fills_with_nan, std::size_t barrier,
                         const void* code, Site site) {
    const unsigned thread = current_thread.linear_thread;
    if (&target != this && target.state_ == State::done) {
        end_for_bulk_copy(DiagnosticKind::use_after_free, cudaErrorIllegalAddress, site,
                          "a copy in bulk goes to the shared memory of the block of rank " + std::to_string(rank) +
                              ", which has ended",
                          "put cluster.sync() after the last copy that goes to another block, where every thread of "
                          "the cluster comes by");
    }
    const std::byte* const word = target.arena_ + barrier;
    const auto same_address = [&](const AsyncBarrier& one) { return one.address == word; };
    std::vector<AsyncBarrier>& known = target.async_barriers_;
    // The last one that began at this address.
    const auto found = std::find_if(known.rbegin(), known.rend(), same_address);
    if (found == known.rend()) {
        end_for_barrier(
            site,
            "a copy in bulk with a barrier that nobody has initialized" +
                (&target == this ? std::string() : " in the block of rank " + std::to_string(rank) + " of the cluster"),
            "let one thread initialize the barrier, and all threads wait after it, before the first copy: "
            "__syncthreads() in a block, cluster.sync() where another block's copies come to it");
    }
    AsyncBarrier& at = *found;
    for (const BulkPiece& piece : pieces_) {
        LateCopy copy{};
        copy.to = target.arena_ + number_of(piece.shared);
        copy.bytes = kBulkChunk;
        copy.since = at.phase;
        copy.in_bulk = true;
        std::memset(copy.data, fills_with_nan ? 0xFF : 0, kBulkChunk);
        if (piece.bytes > 0) std::memcpy(copy.data, piece.global, piece.bytes);
        check_access(copy.to, kBulkChunk, true, code);
        std::memset(copy.to, kPoison, kBulkChunk);
        if (target.diagnoser_) {
            copy.number = target.diagnoser_->begin_bulk_copy(thread, index_, copy.to, copy.bytes, code);
        }
        at.copies.push_back(copy);
    }
    at.bytes -= bytes;
    const std::uint64_t phase = at.phase;
    target.complete_phase_if_all_came(at);
    if (at.phase == phase && at.missing == 0 && at.bytes < 0) end_for_too_many_bytes(at, site);
}

// ---- stores --------------------------------------------------------------------------------------------------

void Block::store_in_bulk(void* to, const void* from, std::uint32_t bytes, const void* code, Site site) {
    const Uninstrumented now;
    check_bulk_copy(to, from, bytes, site);
    pieces_.clear();
    auto* const source = static_cast<std::byte*>(const_cast<void*>(from));
    for (std::uint32_t done = 0; done < bytes; done += kBulkChunk) {
        pieces_.push_back({source + done, static_cast<std::byte*>(to) + done, kBulkChunk});
    }
    store_pieces(source, bytes, code, site);
}

void Block::store_box(const void* map, const std::int32_t* at, unsigned rank, const void* from, const void* code,
                      Site site) {
    const Uninstrumented now;
    const TensorMap read = tensor_map(map, rank, site);
    check_bulk_address(from, kBoxAlignment, "a box in shared memory", site);
    check_box_begin(read, at[0], site);
    if (at[0] < 0) {
        end_for_bulk_copy(DiagnosticKind::illegal_access, cudaErrorIllegalInstruction, site,
                          "a box is stored at coordinate " + std::to_string(at[0]) +
                              " of the innermost dimension, before the tensor begins",
                          "load such boxes if need be, but store from coordinate 0 on: an H200 ends the kernel");
    }
    pieces_.clear();
    auto* const source = static_cast<std::byte*>(const_cast<void*>(from));
    box_pieces(read, at, source, pieces_);
    // As on an H200: what lies outside of the tensor is not written, but the last chunk of a row is written whole.
    for (BulkPiece& piece : pieces_) {
        if (piece.bytes > 0) piece.bytes = kBulkChunk;
    }
    store_pieces(source, read.box_bytes(), code, site);
}

void Block::store_pieces(const std::byte* from, std::uint32_t bytes, const void* code, Site site) {
    end_bulk_copies_ = &Block::end_bulk_copies;
    check_own_shared(from, bytes, "the source of a store in bulk", site);
    // In shared memory the whole box counts, as it does for loads.
    if (recording_) recorder_->count_bulk_store(code, pieces_);
    std::erase_if(pieces_, [](const BulkPiece& piece) { return piece.bytes == 0; });  // outside of the tensor
    const unsigned thread = current_thread.linear_thread;
    for (const BulkPiece& piece : pieces_) {
        check_access(piece.shared, piece.bytes, false, code);
        check_access(piece.global, piece.bytes, true, code);
    }
    if (thread_stores_.empty()) thread_stores_.resize(launch_->threads);
    ThreadStores& own = thread_stores_[thread];
    BulkStore store{own.group, 0, code, site, pieces_};
    if (diagnoser_) store.number = diagnoser_->begin_bulk_store(thread, store.pieces, code);
    own.stores.push_back(std::move(store));
}

void Block::commit_bulk_stores() {
    const Uninstrumented now;
    if (thread_stores_.empty()) thread_stores_.resize(launch_->threads);
    ++thread_stores_[current_thread.linear_thread].group;
}

/// Shared memory has been read, and global memory has what it held.
void Block::carry_out(const BulkStore& store) {
    if (diagnoser_) diagnoser_->end_bulk_store(store.number, store.pieces);
    if (running_ != nullptr) {  // whoever writes there next has to know that the thread has waited
        for (const BulkPiece& piece : store.pieces) {
            check_access(piece.shared, piece.bytes, false, store.code);
        }
    }
    for (const BulkPiece& piece : store.pieces) {
        std::memcpy(piece.global, piece.shared, piece.bytes);
    }
}

void Block::wait_for_bulk_stores(unsigned prior) {
    const Uninstrumented now;
    if (thread_stores_.empty()) return;
    ThreadStores& own = thread_stores_[current_thread.linear_thread];
    const auto is_done = [&](const BulkStore& store) { return store.group + prior < own.group; };
    for (const BulkStore& store : own.stores) {
        if (is_done(store)) carry_out(store);
    }
    std::erase_if(own.stores, is_done);
}

void Block::fence_async_proxy() {
    const Uninstrumented now;
    if (diagnoser_) diagnoser_->fence_async_proxy(current_thread.linear_thread);
}

// ---- the end of a block --------------------------------------------------------------------------------------

/// All threads have ended, and the shared memory is about to become another block's.
void Block::end_bulk_copies() {
    const Uninstrumented now;
    const auto report_end = [&](DiagnosticKind kind, Site site, const void* code, const std::string& message,
                                const char* hint) {
        if (!launch_->is_first_diagnostic(kind, site.line)) return;
        Diagnostic found = diagnostic(kind, site);
        found.code = code;
        found.message = message;
        found.hint = hint;
        report(std::move(found));
    };
    for (unsigned thread = 0; thread < thread_stores_.size(); ++thread) {
        for (const BulkStore& store : thread_stores_[thread].stores) {
            if (diagnoser_) {
                threadIdx = thread_index(thread);
                report_end(DiagnosticKind::use_after_free, store.site, nullptr,
                           "a block ends while a store in bulk may still read its shared memory: its thread has not "
                           "waited for it",
                           "let the thread that began the store call cp_async_bulk_commit_group() and then "
                           "cp_async_bulk_wait_group_read(n32_t<0>()) before it ends");
            }
            carry_out(store);
        }
    }
    if (!diagnoser_) return;
    threadIdx = {};
    for (const AsyncBarrier& barrier : async_barriers_) {
        const auto in_flight = std::find_if(barrier.copies.begin(), barrier.copies.end(),
                                            [](const LateCopy& copy) { return copy.in_bulk; });
        if (in_flight != barrier.copies.end()) {
            report_end(DiagnosticKind::use_after_free, {}, diagnoser_->code_of_copy(in_flight->number),
                       "a block ends while a copy in bulk may still write to its shared memory: nobody has waited for "
                       "the phase of the barrier to which it belongs",
                       "wait for every copy that was begun, also where nobody needs what it brings");
        } else if (barrier.bytes != 0) {
            report_end(DiagnosticKind::barrier_misuse, barrier.site, nullptr,
                       "a block ends, and copies have brought " +
                           std::to_string(barrier.bytes < 0 ? -barrier.bytes : barrier.bytes) +
                           (barrier.bytes < 0 ? " bytes more" : " bytes less") +
                           " to the last phase of this barrier than were announced",
                       "announce as many bytes for each phase as its copies bring");
        }
    }
}

// ---- what device code calls ------------------------------------------------------------------------------

void expect_bytes(const void* barrier, std::uint32_t bytes, Site site) {
    running_block("expect_tx").expect_bytes(barrier, bytes, site);
}
void load_in_bulk(void* to, const void* from, std::uint32_t bytes, const void* barrier, unsigned blocks,
                  const void* code, Site site) {
    running_block("cp_async_bulk").load_in_bulk(to, from, bytes, barrier, blocks, code, site);
}
void load_box(void* to, const void* map, const std::int32_t* at, unsigned rank, const void* barrier, unsigned blocks,
              const void* code, Site site) {
    running_block("cp_async_bulk_tensor").load_box(to, map, at, rank, barrier, blocks, code, site);
}
void store_in_bulk(void* to, const void* from, std::uint32_t bytes, const void* code, Site site) {
    running_block("cp_async_bulk").store_in_bulk(to, from, bytes, code, site);
}
void store_box(const void* map, const std::int32_t* at, unsigned rank, const void* from, const void* code, Site site) {
    running_block("cp_async_bulk_tensor").store_box(map, at, rank, from, code, site);
}
void commit_bulk_stores() { running_block("cp_async_bulk_commit_group").commit_bulk_stores(); }
void wait_for_bulk_stores(unsigned prior) { running_block("cp_async_bulk_wait_group").wait_for_bulk_stores(prior); }
void fence_async_proxy() { running_block("fence_proxy_async").fence_async_proxy(); }

}  // namespace cpu_device

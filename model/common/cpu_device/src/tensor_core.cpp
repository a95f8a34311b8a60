// The instructions of tensor cores: the lanes of a warp meet, one of them does the work for all.
#include "cpu_device/tensor_core.h"

#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "block.h"
#include "cpu_device/diagnostics.h"
#include "instrumented_code.h"
#include "source_lines.h"
#include "tensor_sums.h"

namespace cpu_device {
namespace {

/// What a lane brings.
struct Call {
    const char* name;  ///< of the instruction or function
    Site site;
    bool done = false;  ///< another lane has done the work
};
using Calls = std::array<Call*, kWarpSize>;

/// "lanes 0 to 15"; ascending runs.
std::string lanes_text(std::uint32_t lanes) {
    std::string text;
    unsigned parts = 0;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        if ((lanes >> lane & 1) == 0) continue;
        unsigned last = lane;
        while (last + 1 < kWarpSize && (lanes >> (last + 1) & 1) != 0) ++last;
        if (++parts == 5) return "lanes " + text + ", and more";
        text += (text.empty() ? "" : ", ") + std::to_string(lane);
        if (last > lane) text += " to " + std::to_string(last);
        lane = last;
    }
    return (std::popcount(lanes) == 1 ? "lane " : "lanes ") + text;
}

/// Reports a mistake after which no result is defined, and ends the kernel.
[[noreturn]] void end_for(DiagnosticKind kind, Site site, const std::string& message, const char* hint,
                          cudaError_t error) {
    Block& block = running_block("a tensor core instruction");
    {
        const Uninstrumented now;
        Diagnostic found = block.diagnostic(kind, site);
        found.message = message;
        found.hint = hint;
        if (block.launch().is_first_diagnostic(kind, site.line)) report(std::move(found));
    }
    block.launch().fail(error);
    block.abandon();
}

std::string at(const Site& site) { return short_name(site.file) + ":" + std::to_string(site.line); }

/// The lanes that came are all of the warp, and came to the same place.
void check_lanes(const Calls& calls, std::uint32_t came) {
    const Call& own = *calls[lane_id()];
    if (came != 0xFFFFFFFFu) {
        const unsigned first_absent = warp_id() * kWarpSize + static_cast<unsigned>(std::countr_zero(~came));
        const std::string why = first_absent >= current_thread.block_threads
                                    ? "the block has only " + std::to_string(current_thread.block_threads) + " threads"
                                    : lanes_text(~came) + (std::popcount(~came) == 1 ? " has exited" : " have exited");
        end_for(
            DiagnosticKind::missing_lane, own.site,
            std::string(own.name) + " by " + lanes_text(came) + " of warp " + std::to_string(warp_id()) + ": " + why,
            "all 32 lanes of a warp have to make the call together: let lanes without work of their own go on with "
            "the others, and start whole warps",
            cudaErrorLaunchFailure);
    }
    std::uint32_t elsewhere = 0;
    const Call* other = nullptr;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        if (calls[lane]->name == own.name && same_place(calls[lane]->site, own.site)) continue;
        elsewhere |= 1u << lane;
        if (other == nullptr) other = calls[lane];
    }
    if (other == nullptr) return;
    end_for(DiagnosticKind::missing_lane, own.site,
            "the lanes of warp " + std::to_string(warp_id()) +
                " are at different tensor core instructions: " + lanes_text(~elsewhere) + " at " + own.name + " (" +
                at(own.site) + "), " + lanes_text(elsewhere) + " at " + other->name + " (" + at(other->site) + ")",
            "all 32 lanes of a warp have to make the same call together: move it out of the branch",
            cudaErrorLaunchFailure);
}

/// All lanes of the warp bring their calls. The first that goes on does `work(calls)`.
template <class OneCall, class Work>
void meet(OneCall& own, Work work) {
    std::uint64_t word = 0;
    Call* const as_call = &own;
    std::memcpy(&word, &as_call, sizeof as_call);
    const LaneValues values = enter_collective(Collective::matrix, ~0u, word, own.site);
    if (!const_cast<const volatile bool&>(own.done)) {
        Calls calls{};
        for (std::uint32_t rest = values.mask; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(rest));
            std::memcpy(&calls[lane], &values.value[lane], sizeof(Call*));
        }
        const Uninstrumented now;
        check_lanes(calls, values.mask);
        work([&](unsigned lane) -> OneCall& { return static_cast<OneCall&>(*calls[lane]); });
        for (Call* const call : calls) call->done = true;
    }
    leave_collective(values);
}

// ---- mma.sync --------------------------------------------------------------------------------------------------

struct MmaCall : Call {
    const MatrixShape* shape;
    void* d;
    const unsigned* a;
    const unsigned* b;
};

constexpr unsigned kRowBytes = 32;  // of a row of factors

}  // namespace

void multiply_fragments(const MatrixShape& shape, void* d, const unsigned* a, const unsigned* b, Site site) {
    MmaCall own{{"mma.sync", site}, &shape, d, a, b};
    meet(own, [&](auto&& call) {
        constexpr unsigned m = 16, n = 8;
        unsigned rows[m][kRowBytes / 4], columns[n][kRowBytes / 4];
        // As words for sums of 4 bytes, and as pairs for those of 2 bytes.
        std::uint32_t sums[m * n], results[m * n];
        std::uint16_t half_sums[m * n], half_results[m * n];
        const bool is_half = shape.sum == MatrixNumber::f16;
        for (unsigned lane = 0; lane < kWarpSize; ++lane) {
            const MmaCall& from = call(lane);
            const unsigned g = lane / 4, t = lane % 4;
            for (unsigned i = 0; i < 4; ++i) rows[g + i % 2 * 8][t + i / 2 * 4] = from.a[i];
            for (unsigned i = 0; i < 2; ++i) columns[g][t + i * 4] = from.b[i];
            for (unsigned i = 0; i < 4; ++i) {
                const unsigned place = (g + i / 2 * 8) * n + 2 * t + i % 2;
                if (is_half) {
                    std::memcpy(&half_sums[place], static_cast<const char*>(from.d) + 2 * i, 2);
                } else {
                    std::memcpy(&sums[place], static_cast<const char*>(from.d) + 4 * i, 4);
                }
            }
        }
        if (is_half) {
            add_products(shape, rows, columns, half_sums, half_results);
        } else {
            add_products(shape, rows, columns, sums, results);
        }
        for (unsigned lane = 0; lane < kWarpSize; ++lane) {
            const MmaCall& to = call(lane);
            const unsigned g = lane / 4, t = lane % 4;
            for (unsigned i = 0; i < 4; ++i) {
                const unsigned place = (g + i / 2 * 8) * n + 2 * t + i % 2;
                if (is_half) {
                    std::memcpy(static_cast<char*>(to.d) + 2 * i, &half_results[place], 2);
                } else {
                    std::memcpy(static_cast<char*>(to.d) + 4 * i, &results[place], 4);
                }
            }
        }
    });
}

// ---- ldmatrix --------------------------------------------------------------------------------------------------

namespace {

struct RowCall : Call {
    const void* address;  ///< of the row
    const uint4* row;
    unsigned* fragment;
    /// Where in memory lies what this lane gets.
    const std::byte* places[8] = {};
    unsigned count = 0;
};

}  // namespace

void exchange_matrices(unsigned matrices, bool transposed, const void* address, const uint4& row, unsigned* fragment,
                       Site site) {
    RowCall own{{"ldmatrix", site}, address, &row, fragment};
    meet(own, [&](auto&& call) {
        for (unsigned i = 0; i < matrices; ++i) {
            std::uint16_t elements[8][8];
            for (unsigned r = 0; r < 8; ++r) std::memcpy(elements[r], call(8 * i + r).row, sizeof elements[r]);
            for (unsigned lane = 0; lane < kWarpSize; ++lane) {
                const unsigned g = lane / 4, t = lane % 4;
                const std::uint16_t low = transposed ? elements[2 * t][g] : elements[g][2 * t];
                const std::uint16_t high = transposed ? elements[2 * t + 1][g] : elements[g][2 * t + 1];
                RowCall& to = call(lane);
                to.fragment[i] = low | static_cast<unsigned>(high) << 16;
                const auto place = [&](unsigned r, unsigned element) {
                    return static_cast<const std::byte*>(call(8 * i + r).address) + 2 * element;
                };
                to.places[to.count++] = transposed ? place(2 * t, g) : place(g, 2 * t);
                if (transposed) to.places[to.count++] = place(2 * t + 1, g);
            }
        }
    });
    // The lanes that load the rows have been seen. A row is also read by those that get a part of it.
    for (unsigned i = 0; i < own.count; ++i)
        see_read_of_lane(own.places[i], transposed ? 2 : 4, __builtin_return_address(0));
}

void end_for_row(const void* address, Site site) {
    end_for(
        DiagnosticKind::misaligned_access, site,
        "ldmatrix with a row at an address that is no multiple of 16 bytes (" +
            std::to_string(reinterpret_cast<std::uintptr_t>(address) % 16) + " bytes past one)",
        "start each row at a multiple of 16 bytes: declare the array __align__(16), and pad rows by multiples of 16 "
        "bytes",
        cudaErrorMisalignedAddress);
}

// ---- nvcuda::wmma ----------------------------------------------------------------------------------------------

namespace {

struct MatrixCall : Call {
    const void* matrix;
    unsigned leading_dimension;
};

struct WmmaCall : Call {
    FragmentView d, a, b, c;
};

/// Copies between the fragments of all lanes and a matrix without gaps.
template <class ViewOf>
void gather(const ViewOf& view_of, unsigned rows, unsigned cols, unsigned bytes, unsigned per_word, void* matrix) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        const FragmentView& view = view_of(lane);
        for (unsigned i = 0; i < view.count / view.copies; ++i) {
            const ElementPlace place = element_place(lane, i, rows, per_word);
            std::memcpy(static_cast<char*>(matrix) + (place.row * cols + place.col) * bytes,
                        static_cast<const char*>(view.elements) + i * bytes, bytes);
        }
    }
}
template <class ViewOf>
void scatter(const void* matrix, unsigned rows, unsigned cols, unsigned bytes, unsigned per_word,
             const ViewOf& view_of) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        const FragmentView& view = view_of(lane);
        for (unsigned i = 0; i < view.count / view.copies; ++i) {
            const ElementPlace place = element_place(lane, i, rows, per_word);
            std::memcpy(static_cast<char*>(view.elements) + i * bytes,
                        static_cast<const char*>(matrix) + (place.row * cols + place.col) * bytes, bytes);
        }
    }
}

/// All lanes' elements still hold what an uninitialized fragment holds.
template <class ViewOf>
bool nobody_filled(const ViewOf& view_of, MatrixNumber number) {
    const unsigned bytes = bytes_of(number);
    if (bytes == 1) return false;  // a matrix may well hold nothing else
    const std::uint64_t nothing = unfilled(number);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        const FragmentView& view = view_of(lane);
        for (unsigned i = 0; i < view.count; ++i)
            if (std::memcmp(static_cast<const char*>(view.elements) + i * bytes, &nothing, bytes) != 0) return false;
    }
    return true;
}

}  // namespace

void check_matrix(const char* function, const void* matrix, std::size_t element_bytes, unsigned leading_dimension,
                  Site site) {
    MatrixCall own{{function, site}, matrix, leading_dimension};
    meet(own, [&](auto&& call) {
        std::uint32_t others = 0;
        for (unsigned lane = 0; lane < kWarpSize; ++lane) {
            const MatrixCall& from = call(lane);
            if (from.matrix != matrix || from.leading_dimension != leading_dimension) others |= 1u << lane;
        }
        if (others != 0) {
            end_for(DiagnosticKind::kernel_trap, site,
                    std::string(function) + ": " + lanes_text(others) + " of warp " + std::to_string(warp_id()) +
                        (std::popcount(others) == 1 ? " gives" : " give") +
                        " another pointer or leading dimension than the other lanes",
                    "all lanes of a warp give the same matrix: compute its address from the warp, not from the thread",
                    cudaErrorLaunchFailure);
        }
        constexpr unsigned alignment = 32, row_alignment = 16;
        const auto address = reinterpret_cast<std::uintptr_t>(matrix);
        Block& block = *current_thread.block;
        const auto note = [&](const std::string& message, const char* hint) {
            if (report_again(DiagnosticKind::misaligned_access, site)) return;
            Diagnostic found = block.diagnostic(DiagnosticKind::misaligned_access, site);
            found.message = message;
            found.hint = hint;
            report(std::move(found));
        };
        if (address % alignment != 0) {
            note(std::string(function) + " with a pointer that is no multiple of 32 bytes (" +
                     std::to_string(address % alignment) + " bytes past one)",
                 "start the matrix at a multiple of 32 bytes: declare the array __align__(32), and begin tiles at "
                 "multiples of 32 bytes");
        } else if (leading_dimension * element_bytes % row_alignment != 0) {
            note(std::string(function) + " with a leading dimension of " + std::to_string(leading_dimension) +
                     " elements of " + std::to_string(element_bytes) + " bytes: it has to be a multiple of " +
                     std::to_string(row_alignment / element_bytes),
                 "pad the rows so that they lie a multiple of 16 bytes apart");
        }
    });
}

void multiply_matrices(const MatrixShape& shape, const FragmentView& d, const FragmentView& a, const FragmentView& b,
                       const FragmentView& c, Site site) {
    WmmaCall own{{"mma_sync", site}, d, a, b, c};
    meet(own, [&](auto&& call) {
        constexpr unsigned most = 32 * 32;  // numbers of a matrix
        alignas(8) unsigned char of_a[most * 4], of_b[most * 4], of_c[most * 4], of_d[most * 4];
        const unsigned bytes = bytes_of(shape.input), per_word = bytes < 4 ? 4 / bytes : 1;
        const auto a_of = [&](unsigned lane) -> const FragmentView& { return call(lane).a; };
        const auto b_of = [&](unsigned lane) -> const FragmentView& { return call(lane).b; };
        const auto c_of = [&](unsigned lane) -> const FragmentView& { return call(lane).c; };
        const auto d_of = [&](unsigned lane) -> const FragmentView& { return call(lane).d; };
        const bool no_a = nobody_filled(a_of, shape.input), no_b = nobody_filled(b_of, shape.input);
        if (no_a || no_b || nobody_filled(c_of, shape.sum_before)) {
            if (!report_again(DiagnosticKind::uninitialized_read, site)) {
                Diagnostic found = current_thread.block->diagnostic(DiagnosticKind::uninitialized_read, site);
                found.message = no_a || no_b ? std::string("mma_sync multiplies a fragment of matrix_") +
                                                   (no_a ? "a" : "b") + " that nobody has loaded"
                                             : std::string("mma_sync adds to an accumulator that nobody has filled");
                found.hint = no_a || no_b ? "call load_matrix_sync for it first"
                                          : "call fill_fragment(accumulator, 0) before the first mma_sync, or load it";
                report(std::move(found));
            }
        }
        gather(a_of, shape.m, shape.k, bytes, per_word, of_a);
        gather(b_of, shape.n, shape.k, bytes, per_word, of_b);
        gather(c_of, shape.m, shape.n, bytes_of(shape.sum_before), 2, of_c);
        add_products(shape, of_a, of_b, of_c, of_d);
        scatter(of_d, shape.m, shape.n, bytes_of(shape.sum), 2, d_of);
    });
}

}  // namespace cpu_device

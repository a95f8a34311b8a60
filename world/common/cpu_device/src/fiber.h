// Stacks on which device threads wait, and the switch between them (Boost.Context's fcontext).
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <memory>
#include <vector>

#include "cpu_device/execution.h"

namespace cpu_device {

/// What a device thread waits for.
enum class Wait : unsigned char { nothing, barrier, meeting, convergence, grid, room, arrivals, cluster };

/// A stack that runs device threads one after the other. When one of them waits, the stack is its own until it is done.
struct alignas(64) Fiber {
    boost::context::detail::fcontext_t context = nullptr;
    // The waiting thread, kept while others run.
    uint3 thread_index{};
    unsigned linear_thread = 0;
    Wait wait = Wait::nothing;
    std::uint32_t converged = 0;  ///< answer for Wait::convergence
    Site site;

    std::uint32_t stack_bytes = 0;
    std::uint32_t barrier = 0;  ///< of Wait::arrivals: its number in the block
    void* stack_top = nullptr;
};
static_assert(sizeof(Fiber) == 64, "one cache line a switch");

/// Jumps to `to` and stores where this context went on from in `*from` once something jumps back.
inline void switch_context(boost::context::detail::fcontext_t to, boost::context::detail::fcontext_t* from) {
    const boost::context::detail::transfer_t back = boost::context::detail::jump_fcontext(to, from);
    *static_cast<boost::context::detail::fcontext_t*>(back.data) = back.fctx;
}

/// Fibers that no thread holds. One pool for each host thread; memory grows with the largest block, not with the grid.
class FiberPool {
public:
    /// `entry` is called on a fresh fiber and never returns.
    explicit FiberPool(void (*entry)(boost::context::detail::transfer_t)) : entry_(entry) {}
    FiberPool(const FiberPool&) = delete;
    FiberPool& operator=(const FiberPool&) = delete;
    ~FiberPool();

    Fiber* take() {
        if (idle_.empty()) add_stacks();
        Fiber* fiber = idle_.back();
        idle_.pop_back();
        return fiber;
    }
    void give_back(Fiber* fiber) { idle_.push_back(fiber); }

    /// For a fiber that was left in the middle of a kernel: whatever it was doing is forgotten.
    void reset(Fiber* fiber);

private:
    void add_stacks();

    void (*entry_)(boost::context::detail::transfer_t);
    std::vector<std::unique_ptr<Fiber>> fibers_;
    std::vector<Fiber*> idle_;
    std::vector<void*> slabs_;
};

/// True when `address` lies in the guard page below some fiber's stack.
bool is_stack_guard(const void* address);

}  // namespace cpu_device

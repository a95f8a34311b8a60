#include "fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace cpu_device {
namespace {

constexpr std::size_t kStackBytes = 256 * 1024;  // address space; only touched pages take memory
constexpr std::size_t kStacksPerSlab = 32;
constexpr std::size_t kGuardedStacks = 16 * 1024;  // a guard page costs a memory mapping, of which a process has 64 Ki

std::mutex slab_mutex;
std::vector<const char*>& slab_list() {
    static std::vector<const char*> slabs;
    return slabs;
}

}  // namespace

void FiberPool::add_stacks() {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t slab_bytes = kStacksPerSlab * kStackBytes;
    void* slab = mmap(nullptr, slab_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (slab == MAP_FAILED) throw std::bad_alloc();
    slabs_.push_back(slab);
    bool guarded = false;
    {
        std::lock_guard lock(slab_mutex);
        slab_list().push_back(static_cast<const char*>(slab));
        guarded = slab_list().size() * kStacksPerSlab <= kGuardedStacks;
    }
    idle_.reserve(fibers_.size() + kStacksPerSlab);
    for (std::size_t i = 0; i < kStacksPerSlab; ++i) {
        char* bottom = static_cast<char*>(slab) + i * kStackBytes;
        if (guarded) mprotect(bottom, page, PROT_NONE);
        // Equal offsets would put the hot end of every stack into the same few cache sets.
        const std::size_t stagger = (fibers_.size() * 192) % 4096;
        auto fiber = std::make_unique<Fiber>();
        fiber->stack_top = bottom + kStackBytes - stagger;
        fiber->stack_bytes = static_cast<std::uint32_t>(kStackBytes - stagger - page);
        reset(fiber.get());
        idle_.push_back(fiber.get());
        fibers_.push_back(std::move(fiber));
    }
    // The stack used last is taken first: its pages are warm.
    std::reverse(idle_.end() - kStacksPerSlab, idle_.end());
}

void FiberPool::reset(Fiber* fiber) {
#ifdef __SANITIZE_ADDRESS__
    // Functions that were left in the middle have not taken back what they forbade around their variables.
    __asan_unpoison_memory_region(static_cast<char*>(fiber->stack_top) - fiber->stack_bytes, fiber->stack_bytes);
#endif
    fiber->context = boost::context::detail::make_fcontext(fiber->stack_top, fiber->stack_bytes, entry_);
    fiber->wait = Wait::nothing;
}

FiberPool::~FiberPool() {
    std::lock_guard lock(slab_mutex);
    for (void* slab : slabs_) {
        munmap(slab, kStacksPerSlab * kStackBytes);
        std::erase(slab_list(), static_cast<const char*>(slab));
    }
}

bool is_stack_guard(const void* address) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (const char* slab : slab_list()) {  // called from a signal handler: no lock
        const auto offset = static_cast<std::size_t>(static_cast<const char*>(address) - slab);
        if (static_cast<const char*>(address) >= slab && offset < kStacksPerSlab * kStackBytes) {
            return offset % kStackBytes < page;
        }
    }
    return false;
}

}  // namespace cpu_device

// The diagnoser sees made-up accesses of made-up threads: each rule on its own, without a kernel.
#include "common/cpu_device/src/diagnoser.h"

#include <cuda_runtime.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/cpu_device/src/allocations.h"
#include "common/cpu_device/src/block.h"
#include "cpu_device/diagnostics.h"
#include "cpu_device/instrument.h"

using Catch::Matchers::ContainsSubstring;
using namespace cpu_device;

namespace {

/// A made-up instruction.
const void* code(int line) { return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(line) * 16 + 4); }

/// Looks for errors as long as it lives, and leaves nothing behind.
struct Instrumented {
    bool printing = print_diagnostics(false);
    InstrumentOptions before = instrument({.diagnostics = true, .blocks = 0});

    Instrumented() { take_diagnostics(); }
    ~Instrumented() {
        take_diagnostics();
        instrument(before);
        print_diagnostics(printing);
    }
};

/// Device memory of 4-byte elements.
struct Array {
    std::byte* data = nullptr;
    std::size_t length;

    explicit Array(std::size_t elements, bool written = true) : length(elements) {
        REQUIRE(cudaMalloc(&data, elements * 4) == cudaSuccess);
        if (written) REQUIRE(cudaMemset(data, 0, elements * 4) == cudaSuccess);
    }
    ~Array() {
        if (data != nullptr) cudaFree(data);
    }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;

    std::byte* operator[](std::size_t i) const { return data + i * 4; }
};

struct Shape {
    unsigned blocks = 1;
    unsigned threads = 64;
    std::size_t dynamic_bytes = 0;
    std::string parameters = "";
    std::vector<const void*> pointers = {};
    bool sampled = false;  ///< only block 0 is looked at for races
};

/// A launch whose threads do what the test says.
class Run {
public:
    explicit Run(Shape shape = {}) : shape_(std::move(shape)), arenas_(shape_.blocks) {
        site_.parameters = shape_.parameters.c_str();
        launch_ = std::make_unique<Launch>(site_);
        launch_->id = ++launches;
        launch_->grid = dim3(shape_.blocks);
        launch_->block = dim3(shape_.threads);
        launch_->blocks = shape_.blocks;
        launch_->threads = shape_.threads;
        launch_->dynamic_bytes = shape_.dynamic_bytes;
        launch_->sampled = shape_.sampled;
        launch_->code.pointers = shape_.pointers.data();
        launch_->code.arguments = shape_.pointers.size();
        used_ = (shape_.dynamic_bytes + 255) / 128 * 128;
        diagnoser_ = std::make_unique<LaunchDiagnoser>(*launch_);
        blocks_.resize(shape_.blocks);
    }

    /// A `__shared__` variable; returns where it lies in the arena.
    std::size_t shared_variable(const char* name, std::size_t bytes) {
        variables_.emplace_back(name, bytes, 4, Site{"kernel.cu", 7});
        variables_.back().offset = used_;
        used_ += (bytes + 255) / 128 * 128;
        launch_->shared_variables.push_back(&variables_.back());
        return variables_.back().offset;
    }
    std::byte* shared(std::size_t offset, unsigned block = 0) { return arenas_[block].memory.data() + offset; }

    BlockDiagnoser& block(unsigned i) {
        if (blocks_[i] == nullptr) {
            blocks_[i] = std::make_unique<BlockDiagnoser>(*diagnoser_, i, uint3{i, 0, 0}, arenas_[i].memory.data(),
                                                          arenas_[i].memory.size(), !shape_.sampled || i == 0);
        }
        return *blocks_[i];
    }
    void end_block(unsigned i) { blocks_[i].reset(); }

    // Thread `thread` of block `in_block` does something at instruction `line`.
    bool see(unsigned thread, AccessKind kind, const void* address, std::uint32_t bytes, int line,
             unsigned in_block = 0, bool is_block_copy = false, MemoryOrder order = MemoryOrder::relaxed,
             ThreadScope scope = ThreadScope::device) {
        const Access access{.address = static_cast<const std::byte*>(address),
                            .bytes = bytes,
                            .kind = kind,
                            .is_block_copy = is_block_copy,
                            .scope = scope,
                            .order = order,
                            .code = code(line)};
        return block(in_block).access(thread, access) == cudaSuccess;
    }
    void read(unsigned thread, const void* address, int line, unsigned in_block = 0) {
        CHECK(see(thread, AccessKind::read, address, 4, line, in_block));
    }
    template <class T>
    void write(unsigned thread, std::byte* address, T value, int line, unsigned in_block = 0,
               AccessKind kind = AccessKind::write) {
        CHECK(see(thread, kind, address, sizeof value, line, in_block));
        std::memcpy(address, &value, sizeof value);
    }
    int add(unsigned thread, std::byte* address, int line, unsigned in_block = 0) {
        CHECK(see(thread, AccessKind::atomic, address, 4, line, in_block));
        int value;
        std::memcpy(&value, address, 4);
        const int next = value + 1;
        std::memcpy(address, &next, 4);
        return value;
    }
    void barrier(unsigned in_block = 0) { block(in_block).barrier(Site{"kernel.cu", 20}); }
    void meeting(unsigned warp, std::uint32_t lanes = 0xFFFFFFFFu, Collective operation = Collective::syncwarp) {
        block(0).meeting(warp, lanes, operation, Site{"kernel.cu", 21});
    }
    void fence(unsigned thread, unsigned in_block = 0, ThreadScope scope = ThreadScope::device,
               MemoryOrder order = MemoryOrder::acquire_release) {
        block(in_block).fence(thread, scope, order);
    }
    void grid_barrier() { diagnoser_->grid_barrier(); }

    /// Ends the launch and hands over what was found.
    std::vector<Diagnostic> diagnostics() {
        blocks_.clear();
        diagnoser_.reset();
        return take_diagnostics();
    }
    Diagnostic only_diagnostic() {
        const std::vector<Diagnostic> found = diagnostics();
        for (const Diagnostic& diagnostic : found) UNSCOPED_INFO(text_of(diagnostic));
        REQUIRE(found.size() == 1);
        return found[0];
    }
    void expect_nothing() {
        const std::vector<Diagnostic> found = diagnostics();
        for (const Diagnostic& diagnostic : found) UNSCOPED_INFO(text_of(diagnostic));
        CHECK(found.empty());
    }

private:
    struct Arena {
        alignas(128) std::array<std::byte, 16384> memory;
    };
    inline static std::uint64_t launches = 1'000'000;

    Instrumented instrumented_;
    Shape shape_;
    LaunchSite site_{"kernel", {"kernel.cu", 1}};
    std::unique_ptr<Launch> launch_;
    std::deque<SharedVariable> variables_;
    std::size_t used_ = 0;
    std::vector<Arena> arenas_;
    std::unique_ptr<LaunchDiagnoser> diagnoser_;
    std::vector<std::unique_ptr<BlockDiagnoser>> blocks_;
};

/// `line`: of the access that found it.
void expect_race(const Diagnostic& found, int line, int other_line) {
    CHECK(found.kind == DiagnosticKind::data_race);
    CHECK(found.code == code(line));
    CHECK(found.other_code == code(other_line));
    REQUIRE(found.other);
}

}  // namespace

// ---- bounds ----------------------------------------------------------------------------------------------------

TEST_CASE("A read past the end of an allocation names the parameter and the distance", "[diagnoser]") {
    const Instrumented instrumented;
    const Array in(100), out(100);
    Run run({.blocks = 1, .threads = 128, .parameters = "in,out,n", .pointers = {in.data, out.data, nullptr}});
    for (unsigned i = 0; i < 103; ++i) run.read(i, in[i], 10);
    const Diagnostic found = run.only_diagnostic();
    CHECK(found.kind == DiagnosticKind::out_of_bounds);
    CHECK(found.code == code(10));
    CHECK(found.kernel == "kernel");
    CHECK(found.array == "in");
    CHECK(found.thread.x == 100);
    CHECK(found.count == 3);
    CHECK(found.action == "reads 4 bytes");
    CHECK_THAT(found.memory, ContainsSubstring("400 bytes of device memory"));
    CHECK_THAT(found.memory, ContainsSubstring("right after its end (index 100 of 100 elements of 4 bytes)"));
    CHECK_THAT(found.hint, ContainsSubstring("i < n"));
}

TEST_CASE("An access across the end of an allocation is out of bounds", "[diagnoser]") {
    const Instrumented instrumented;
    const Array in(5);
    Run run;
    CHECK(run.see(0, AccessKind::read, in[4], 16, 10));
    const Diagnostic found = run.only_diagnostic();
    CHECK(found.kind == DiagnosticKind::out_of_bounds);
    CHECK_THAT(found.memory, ContainsSubstring("the last 12 bytes of the access past its end"));
}

TEST_CASE("A write before the start of an allocation is out of bounds", "[diagnoser]") {
    const Instrumented instrumented;
    const Array out(64);
    Run run({.parameters = "out", .pointers = {out.data}});
    CHECK(run.see(3, AccessKind::write, out.data - 8, 4, 10));
    const Diagnostic found = run.only_diagnostic();
    CHECK(found.kind == DiagnosticKind::out_of_bounds);
    CHECK_THAT(found.memory, ContainsSubstring("8 bytes before its start (index -2 of 64 elements of 4 bytes)"));
    CHECK(found.action == "writes 4 bytes");
    CHECK(was_reported(out.data - 8));
    CHECK_FALSE(was_reported(out.data - 4));
}

TEST_CASE("Freed memory is named as such", "[diagnoser]") {
    const Instrumented instrumented;
    auto freed = std::make_unique<Array>(64);
    std::byte* const address = freed->data;
    freed.reset();
    Run run({.parameters = "old", .pointers = {address}});
    run.read(0, address + 16, 10);
    const Diagnostic found = run.only_diagnostic();
    CHECK(found.kind == DiagnosticKind::use_after_free);
    CHECK(found.array == "old");
    CHECK_THAT(found.memory, ContainsSubstring("bytes 16 to 19 of 256 bytes of device memory"));
}

TEST_CASE("Memory of the host is none of a kernel's", "[diagnoser]") {
    std::vector<float> host(100'000);
    Run run;
    run.read(0, host.data(), 10);
    const Diagnostic found = run.only_diagnostic();
    CHECK(found.kind == DiagnosticKind::host_memory);
    CHECK_THAT(found.hint, ContainsSubstring("cudaMalloc"));
}

TEST_CASE("A pointer to a host variable is found through the kernel's parameter", "[diagnoser]") {
    float local[4] = {};
    Run run({.parameters = "in", .pointers = {local}});
    run.read(0, &local[1], 10);
    CHECK(run.only_diagnostic().kind == DiagnosticKind::host_memory);
}

TEST_CASE("Constants of the program are no mistake", "[diagnoser]") {
    static const float table[] = {1, 2, 3, 4};
    Run run;
    run.read(0, &table[2], 10);
    CHECK(run.see(0, AccessKind::read, "a text of the program", 1, 11));
    run.expect_nothing();
}

TEST_CASE("Memory that the kernel allocated itself is no mistake", "[diagnoser]") {
    static std::vector<int> heap(64);  // never freed: the memory is known for good
    note_kernel_heap(heap.data(), heap.size() * 4);
    Run run;
    run.read(0, &heap[5], 10);
    run.expect_nothing();
}

TEST_CASE("A null pointer is reported before it faults", "[diagnoser]") {
    Run run({.parameters = "out", .pointers = {nullptr}});
    CHECK(run.see(3, AccessKind::write, reinterpret_cast<const void*>(12), 4, 10));
    const Diagnostic found = run.only_diagnostic();
    CHECK(found.kind == DiagnosticKind::illegal_access);
    CHECK(found.code == code(10));
    CHECK(found.thread.x == 3);
    CHECK(was_reported(reinterpret_cast<const void*>(12)));
}

TEST_CASE("A negative index that was computed as an unsigned number is recognized", "[diagnoser]") {
    const Array in(64);
    Run run({.parameters = "n,in!", .pointers = {nullptr, in.data}});
    run.see(3, AccessKind::read, in.data + 4 * (std::size_t{1} << 32) - 8, 4, 10);
    const Diagnostic found = run.only_diagnostic();
    CHECK(found.kind == DiagnosticKind::illegal_access);
    CHECK_THAT(found.hint, ContainsSubstring("element 4294967294 of 'in': is a negative index"));
}

TEST_CASE("Host memory close to device memory is told apart by the kernel's arguments", "[diagnoser]") {
    const Instrumented instrumented;
    std::deque<std::vector<int>> host;  // small pieces of the heap, before and behind the device memory
    for (int i = 0; i < 20; ++i) host.emplace_back(64);
    const Array in(64);
    for (int i = 0; i < 20; ++i) host.emplace_back(64);
    for (const std::vector<int>& one : host) {
        Run run({.parameters = "in,host", .pointers = {in.data, one.data()}});
        run.read(0, &one[3], 10);
        CHECK(run.only_diagnostic().kind == DiagnosticKind::host_memory);
    }
}

TEST_CASE("Pinned host memory may be used", "[diagnoser]") {
    const Instrumented instrumented;
    void* pinned = nullptr;
    REQUIRE(cudaMallocHost(&pinned, 64) == cudaSuccess);
    {
        Run run;
        run.read(0, pinned, 10);
        run.expect_nothing();
    }
    cudaFreeHost(pinned);
}

TEST_CASE("Memory behind a shared variable belongs to nobody", "[diagnoser]") {
    Run run;
    const std::size_t tile = run.shared_variable("tile", 256);
    for (unsigned i = 0; i < 65; ++i) run.write(i % 64, run.shared(tile + i * 4), 1.0f, 10);
    const Diagnostic found = run.only_diagnostic();
    CHECK(found.kind == DiagnosticKind::out_of_bounds);
    CHECK(found.array == "tile");
    CHECK(found.thread.x == 0);
    CHECK_THAT(found.memory, ContainsSubstring("256 bytes of shared memory, declared at kernel.cu:7"));
}

TEST_CASE("Dynamic shared memory ends where the launch said", "[diagnoser]") {
    Run run({.dynamic_bytes = 64});
    run.write(0, run.shared(60), 1, 10);
    run.write(1, run.shared(68), 1, 11);
    const Diagnostic found = run.only_diagnostic();
    CHECK(found.code == code(11));
    CHECK(found.array == "dynamic shared memory");
    CHECK_THAT(found.memory, ContainsSubstring("4 bytes past its end"));
}

TEST_CASE("Dynamic shared memory that the launch did not ask for is out of bounds", "[diagnoser]") {
    Run run;
    run.write(0, run.shared(0), 1, 10);
    const Diagnostic found = run.only_diagnostic();
    CHECK(found.kind == DiagnosticKind::out_of_bounds);
    CHECK_THAT(found.hint, ContainsSubstring("third argument"));
}

TEST_CASE("A misaligned vector ends the kernel, a structure copied byte by byte does not", "[diagnoser]") {
    const Instrumented instrumented;
    const Array in(64);
    Run run({.parameters = "in", .pointers = {in.data}});
    CHECK(run.see(0, AccessKind::read, in[1], 16, 10, 0, true));
    CHECK_FALSE(run.see(0, AccessKind::read, in[1], 16, 11));
    const Diagnostic found = run.only_diagnostic();
    CHECK(found.kind == DiagnosticKind::misaligned_access);
    CHECK(found.code == code(11));
    CHECK(found.array == "in");
    CHECK_THAT(found.message, ContainsSubstring("multiple of 16"));
}

TEST_CASE("A thread that writes a __constant__ variable is reported, unless its address was asked for", "[diagnoser]") {
    const Instrumented instrumented;
    static std::array<std::byte, 16> limits;
    static const DeviceVariable variable("limits", limits.data(), limits.size(), true, {"kernel.cu", 3});
    const bool for_races = GENERATE(true, false);
    INFO("looks for races: " << for_races);
    {
        Run run({.blocks = 2, .sampled = !for_races});
        for (unsigned i = 0; i < 4; ++i) run.read(i, limits.data() + 4 * i, 10, 1);
        for (unsigned i = 0; i < 4; ++i) run.write(i, limits.data() + 4 * i, 7, 11, 1);
        run.add(0, limits.data(), 12, 1);
        const std::vector<Diagnostic> found = run.diagnostics();
        REQUIRE(found.size() == 2);
        CHECK(found[0].kind == DiagnosticKind::illegal_access);
        CHECK(found[0].message == "a thread writes 'limits', a __constant__ variable, which kernels can only read");
        CHECK(found[0].array == "limits");
        CHECK(found[0].code == code(11));
        CHECK(found[0].count == 4);
        CHECK_THAT(found[0].memory, ContainsSubstring("bytes 0 to 3 of 16 bytes of constant memory"));
        CHECK_THAT(found[0].hint, ContainsSubstring("__device__"));
        CHECK(found[1].code == code(12));
    }
    if (for_races) return;
    // By that address it is global memory, too.
    give_device_address(limits.data());
    Run run;
    run.write(0, limits.data(), 8, 11);
    run.expect_nothing();
}

// ---- memory nobody wrote -----------------------------------------------------------------------------------------

TEST_CASE("Shared memory that nobody wrote is reported once for each line, with a count", "[diagnoser]") {
    Run run;
    const std::size_t tile = run.shared_variable("tile", 256);
    run.write(0, run.shared(tile), 1.0f, 10);
    run.barrier();
    for (unsigned i = 0; i < 4; ++i) run.read(i, run.shared(tile + i * 4), 11);
    run.read(1, run.shared(tile + 4), 12);
    const Diagnostic found = run.only_diagnostic();
    CHECK(found.kind == DiagnosticKind::uninitialized_read);
    CHECK(found.action == "reads 4 bytes");  // what it finds there is chance
    CHECK(found.code == code(11));
    CHECK(found.thread.x == 1);
    CHECK(found.array == "tile");
    CHECK(found.count == 3);
}

TEST_CASE("A read that comes too early is a race, not a read of memory nobody writes", "[diagnoser]") {
    Run run;
    const std::size_t tile = run.shared_variable("tile", 256);
    for (unsigned i = 0; i < 63; ++i) {
        run.write(i, run.shared(tile + i * 4), 1.0f, 10);
        run.read(i, run.shared(tile + i * 4 + 4), 11);
    }
    run.write(63, run.shared(tile + 252), 1.0f, 10);
    const Diagnostic found = run.only_diagnostic();
    expect_race(found, 10, 11);
    CHECK(found.count == 63);
}

TEST_CASE("Of reads that come too early and reads that nothing follows the latter are left", "[diagnoser]") {
    Run run;
    const std::size_t tile = run.shared_variable("tile", 256);
    run.read(0, run.shared(tile), 11);
    run.read(0, run.shared(tile + 4), 11);
    run.write(1, run.shared(tile), 1.0f, 10);
    run.barrier();
    run.write(1, run.shared(tile + 4), 1.0f, 12);
    const std::vector<Diagnostic> found = run.diagnostics();
    REQUIRE(found.size() == 2);
    expect_race(found[0], 10, 11);
    CHECK(found[1].kind == DiagnosticKind::uninitialized_read);
    CHECK(found[1].count == 1);
    CHECK_THAT(found[1].memory, ContainsSubstring("bytes 4 to 7"));
}

TEST_CASE("Shared memory is fresh for each block", "[diagnoser]") {
    Run run({.blocks = 2});
    const std::size_t tile = run.shared_variable("tile", 256);
    run.write(0, run.shared(tile, 0), 1.0f, 10, 0);
    run.read(0, run.shared(tile, 0), 11, 0);
    run.end_block(0);
    run.read(0, run.shared(tile, 1), 11, 1);
    const Diagnostic found = run.only_diagnostic();
    CHECK(found.kind == DiagnosticKind::uninitialized_read);
    CHECK(found.block.x == 1);
}

TEST_CASE("Device memory counts as written once host code or a kernel wrote it", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(64, false);
    REQUIRE(cudaMemset(memory[8], 0, 16) == cudaSuccess);
    {
        Run run;
        run.write(0, memory[0], 5, 10);
        run.expect_nothing();
    }
    {
        Run run;
        run.read(0, memory[0], 11);   // by an earlier kernel
        run.read(1, memory[8], 11);   // by the host
        run.read(2, memory[11], 11);  // by the host
        run.expect_nothing();
    }
    Run run;
    run.read(0, memory[12], 12);
    const Diagnostic found = run.only_diagnostic();
    CHECK(found.kind == DiagnosticKind::uninitialized_read);
    CHECK_THAT(found.hint, ContainsSubstring("cudaMemset"));
}

TEST_CASE("A structure may have padding that nobody wrote, but not all of it", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(64, false);
    Run run;
    run.write(0, memory[0], 1, 10);
    CHECK(run.see(0, AccessKind::read, memory[0], 16, 11, 0, true));
    CHECK(run.see(0, AccessKind::read, memory[16], 16, 12, 0, true));
    const Diagnostic found = run.only_diagnostic();
    CHECK(found.kind == DiagnosticKind::uninitialized_read);
    CHECK(found.code == code(12));
}

TEST_CASE("One byte of a word may be written and read alone", "[diagnoser]") {
    Run run;
    const std::size_t flags = run.shared_variable("flags", 64);
    run.write(0, run.shared(flags + 1), std::uint8_t{3}, 10);
    CHECK(run.see(0, AccessKind::read, run.shared(flags + 1), 1, 11));
    CHECK(run.see(0, AccessKind::read, run.shared(flags + 2), 1, 13));
    const Diagnostic found = run.only_diagnostic();
    CHECK(found.kind == DiagnosticKind::uninitialized_read);
    CHECK(found.code == code(13));
}

TEST_CASE("A number of which only some bytes were written is uninitialized", "[diagnoser]") {
    const bool by_host = GENERATE(false, true);
    const unsigned block = GENERATE(0u, 1u);  // looked at for everything; for all but races
    CAPTURE(by_host, block);
    const Instrumented instrumented;
    const Array memory(8, false);
    if (by_host) REQUIRE(cudaMemset(memory[0], 0, 1) == cudaSuccess);
    Run run({.blocks = 2, .sampled = true});
    if (!by_host) run.write(0, memory[0], std::uint8_t{3}, 10, block);
    CHECK(run.see(0, AccessKind::read, memory[0], 1, 11, block));
    CHECK(run.see(0, AccessKind::read, memory[0], 4, 12, block));
    CHECK(run.see(0, AccessKind::read, memory[0], 4, 13, block));  // has been told
    const Diagnostic found = run.only_diagnostic();
    CHECK(found.kind == DiagnosticKind::uninitialized_read);
    CHECK(found.code == code(12));
    CHECK_THAT(found.message, ContainsSubstring("only 1 of the 4 bytes"));
}

TEST_CASE("What may be padding in a small structure need not be written", "[diagnoser]") {
    const unsigned block = GENERATE(0u, 1u);
    CAPTURE(block);
    const Instrumented instrumented;
    const Array memory(8, false);
    Run run({.blocks = 2, .sampled = true});
    for (int i = 0; i < 3; ++i) run.write(0, memory[0] + i, std::uint8_t{3}, 10, block);  // three colors of a pixel
    CHECK(run.see(0, AccessKind::read, memory[0], 4, 11, block));
    run.write(0, memory[2], std::uint8_t{3}, 12, block);  // {char, int}
    run.write(0, memory[3], 5, 13, block);
    CHECK(run.see(0, AccessKind::read, memory[2], 8, 14, block));
    run.expect_nothing();
}

TEST_CASE("Of a number of 8 bytes no half may be missing", "[diagnoser]") {
    const unsigned block = GENERATE(0u, 1u);
    CAPTURE(block);
    const Instrumented instrumented;
    const Array memory(8, false);
    Run run({.blocks = 2, .sampled = true});
    run.write(0, memory[1], 5, 10, block);
    CHECK(run.see(0, AccessKind::read, memory[0], 8, 11, block));
    CHECK(run.only_diagnostic().code == code(11));
}

TEST_CASE("An atomic looks at what it changes, unless it only stores", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(8, false);
    Run run;
    CHECK(run.see(0, AccessKind::atomic_write, memory[0], 4, 10));
    run.add(0, memory[0], 11);
    run.add(0, memory[1], 12);
    const Diagnostic found = run.only_diagnostic();
    CHECK(found.kind == DiagnosticKind::uninitialized_read);
    CHECK(found.code == code(12));
}

TEST_CASE("Memory that nobody wrote is found in blocks that are not looked at for races, too", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(8, false);
    Run run({.blocks = 3, .sampled = true});
    run.write(0, memory[0], 1, 10, 1);
    run.write(0, memory[1], 1, 10, 0);
    run.end_block(0);
    run.read(0, memory[0], 11, 1);
    run.read(0, memory[0], 12, 2);  // by another block
    run.read(0, memory[1], 13, 2);  // by a block that is looked at for everything
    run.read(0, memory[2], 14, 2);
    run.read(0, memory[2], 15, 2);  // has been told
    const Diagnostic found = run.only_diagnostic();
    CHECK(found.kind == DiagnosticKind::uninitialized_read);
    CHECK(found.code == code(14));
    CHECK(found.block.x == 2);
}

TEST_CASE("A block that is looked at for everything knows what the others wrote", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(8, false);
    {
        Run run({.blocks = 2, .sampled = true});
        run.write(0, memory[0], 1, 10, 1);
        run.expect_nothing();
    }
    Run run;
    run.read(0, memory[0], 11);
    run.read(0, memory[1], 12);
    CHECK(run.only_diagnostic().code == code(12));
}

TEST_CASE("The shared memory of a block that is not looked at for races begins unwritten", "[diagnoser]") {
    Run run({.blocks = 3, .sampled = true});
    const std::size_t tile = run.shared_variable("tile", 256);
    for (const unsigned block : {1u, 2u}) {
        if (block == 1) run.write(0, run.shared(tile, block), 1.0f, 10, block);
        run.read(0, run.shared(tile, block), 11, block);
        run.end_block(block);
    }
    const Diagnostic found = run.only_diagnostic();
    CHECK(found.kind == DiagnosticKind::uninitialized_read);
    CHECK(found.block.x == 2);
    CHECK(found.count == 1);
}

TEST_CASE("Bounds, alignment, and freed memory are looked at in every block", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(8);
    Run run({.blocks = 2, .sampled = true});
    run.read(0, memory[8], 10, 1);
    CHECK(!run.see(0, AccessKind::read, memory[0] + 1, 4, 11, 1));
    const std::vector<Diagnostic> found = run.diagnostics();
    REQUIRE(found.size() == 2);
    CHECK(found[0].kind == DiagnosticKind::out_of_bounds);
    CHECK(found[1].kind == DiagnosticKind::misaligned_access);
}

TEST_CASE("A launch that nobody sees may have written", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(8, false);
    { Run unseen; }
    Run run;
    run.read(0, memory[0], 10);
    run.expect_nothing();
}

TEST_CASE("Memory that was allocated while nobody looked counts as written", "[diagnoser]") {
    const Array memory(8, false);
    Run run;
    run.read(0, memory[0], 10);
    run.expect_nothing();
}

TEST_CASE("Memory that was freed and allocated again is fresh", "[diagnoser]") {
    const Instrumented instrumented;
    std::byte* address = nullptr;
    { address = Array(8).data; }
    note_allocation(address, 32);  // as if the same address had been handed out again
    note_release(address, 32);
    const Array memory(8, false);
    Run run;
    run.read(0, memory[0], 10);
    CHECK(run.only_diagnostic().kind == DiagnosticKind::uninitialized_read);
}

// ---- races inside a block ----------------------------------------------------------------------------------------

TEST_CASE("Bits that are all set may be -1 or not a number", "[diagnoser]") {
    Run run;
    const std::size_t tile = run.shared_variable("tile", 256);
    run.write(3, run.shared(tile + 12), -1, 10);
    run.read(40, run.shared(tile + 12), 11);
    CHECK(run.only_diagnostic().action == "reads 4 bytes (-1 or nan)");
}

TEST_CASE("A read of what another thread wrote needs a barrier", "[diagnoser]") {
    Run run;
    const std::size_t tile = run.shared_variable("tile", 256);
    run.write(3, run.shared(tile + 12), 1.5f, 10);
    run.read(40, run.shared(tile + 12), 11);
    const Diagnostic found = run.only_diagnostic();
    expect_race(found, 11, 10);
    CHECK(found.array == "tile");
    CHECK(found.thread.x == 40);
    CHECK(found.action == "reads 4 bytes (1.5)");
    CHECK(found.other->thread.x == 3);
    CHECK(found.other->action == "wrote 4 bytes (1.5)");
    CHECK_THAT(found.memory, ContainsSubstring("bytes 12 to 15 of 256 bytes of shared memory"));
    CHECK_THAT(found.hint, ContainsSubstring("__syncthreads()"));
}

TEST_CASE("A write of what another thread reads needs a barrier", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(64);
    Run run;
    run.read(3, memory[5], 10);
    run.write(4, memory[5], 1.5f, 11);
    const Diagnostic found = run.only_diagnostic();
    expect_race(found, 11, 10);
    CHECK(found.action == "writes 4 bytes (0 -> 1.5)");
    CHECK(found.other->action == "read 4 bytes (0)");
    CHECK_THAT(found.hint, ContainsSubstring("__syncthreads()"));
    CHECK_THAT(found.hint, !ContainsSubstring("__syncwarp"));  // a kernel without shared memory
}

TEST_CASE("Lanes of a warp that share memory on chip are told of __syncwarp", "[diagnoser]") {
    Run run;
    const std::size_t tile = run.shared_variable("tile", 256);
    run.write(3, run.shared(tile), 1, 10);
    run.read(4, run.shared(tile), 11);
    const Diagnostic found = run.only_diagnostic();
    expect_race(found, 11, 10);
    CHECK_THAT(found.hint, ContainsSubstring("__syncwarp()"));
}

TEST_CASE("Threads that write different values to one element race", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(64);
    Run run;
    for (unsigned i = 0; i < 4; ++i) run.write(i, memory[0], static_cast<int>(i) + 5, 10);
    const Diagnostic found = run.only_diagnostic();
    expect_race(found, 10, 10);
    CHECK(found.action == "writes 4 bytes (5 -> 6)");
    CHECK(found.other->action == "wrote 4 bytes (5)");
    CHECK(found.count == 3);
    CHECK_THAT(found.hint, ContainsSubstring("atomicAdd"));
}

TEST_CASE("A barrier orders what is before it and what is behind it", "[diagnoser]") {
    Run run;
    const std::size_t tile = run.shared_variable("tile", 256);
    for (int round = 0; round < 3; ++round) {
        for (unsigned i = 0; i < 64; ++i) run.write(i, run.shared(tile + i * 4), round + 1, 10);
        run.barrier();
        for (unsigned i = 0; i < 64; ++i) run.read(i, run.shared(tile + (63 - i) * 4), 11);
        run.barrier();
    }
    run.expect_nothing();
}

TEST_CASE("The second barrier of a loop is missed in the second round", "[diagnoser]") {
    Run run;
    const std::size_t tile = run.shared_variable("tile", 256);
    for (int round = 0; round < 2; ++round) {
        for (unsigned i = 0; i < 64; ++i) run.write(i, run.shared(tile + i * 4), round + 1, 10);
        run.barrier();
        for (unsigned i = 0; i < 64; ++i) run.read(i, run.shared(tile + (i ^ 32) * 4), 11);
    }
    const Diagnostic found = run.only_diagnostic();
    expect_race(found, 10, 11);
    CHECK(found.count == 64);
}

TEST_CASE("A reader is found behind any number of other readers", "[diagnoser]") {
    Run run;
    const std::size_t tile = run.shared_variable("tile", 256);
    run.write(0, run.shared(tile), 1, 10);
    run.barrier();
    for (unsigned i = 0; i < 64; ++i) run.read(i, run.shared(tile), 11);
    run.meeting(1);  // of the writer's warp: readers of the other warp are what is left
    run.write(63, run.shared(tile), 2, 12);
    const Diagnostic found = run.only_diagnostic();
    expect_race(found, 12, 11);
    CHECK(found.other->thread.x < 32);
}

TEST_CASE("A thread has no race with itself", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(64);
    Run run;
    for (int i = 0; i < 3; ++i) {
        run.read(7, memory[1], 10);
        run.write(7, memory[1], i, 11);
    }
    run.expect_nothing();
}

TEST_CASE("Lanes that met are ordered, lanes that did not meet are not", "[diagnoser]") {
    Run run;
    const std::size_t tile = run.shared_variable("tile", 256);
    run.write(1, run.shared(tile), 1, 10);
    run.meeting(0, 0x3);
    run.read(0, run.shared(tile), 11);
    run.read(2, run.shared(tile), 12);
    const Diagnostic found = run.only_diagnostic();
    expect_race(found, 12, 10);
}

TEST_CASE("Shuffles, votes, matches, and reductions order no memory, and the hint names them", "[diagnoser]") {
    const std::vector<std::pair<Collective, std::string>> all = {{Collective::shuffle, "a shuffle"},
                                                                 {Collective::vote, "a vote"},
                                                                 {Collective::match, "a match"},
                                                                 {Collective::reduce, "a warp reduction"}};
    for (const auto& [operation, name] : all) {
        Run run;
        const std::size_t tile = run.shared_variable("tile", 256);
        run.write(1, run.shared(tile), 1, 10);
        run.meeting(0, 0xFFFFFFFFu, operation);
        run.read(0, run.shared(tile), 11);
        const Diagnostic found = run.only_diagnostic();
        expect_race(found, 11, 10);
        CHECK_THAT(found.hint, ContainsSubstring(name));
        CHECK_THAT(found.hint, ContainsSubstring("orders no memory"));
        CHECK_THAT(found.hint, ContainsSubstring("__syncwarp()"));
    }
}

TEST_CASE("A shuffle that came before both accesses, or that one lane was not part of, is not named", "[diagnoser]") {
    for (const bool before : {true, false}) {
        Run run;
        const std::size_t tile = run.shared_variable("tile", 256);
        if (before) run.meeting(0, 0xFFFFFFFFu, Collective::shuffle);
        run.write(1, run.shared(tile), 1, 10);
        if (!before) run.meeting(0, 0x0000FFFDu, Collective::shuffle);
        run.read(0, run.shared(tile), 11);
        CHECK_THAT(run.only_diagnostic().hint, !ContainsSubstring("shuffle"));
    }
}

TEST_CASE("What a lane learned in one meeting it tells in the next", "[diagnoser]") {
    Run run;
    const std::size_t tile = run.shared_variable("tile", 256);
    run.write(1, run.shared(tile), 1, 10);
    run.meeting(0, 0x3);
    run.meeting(0, 0x5);
    run.read(2, run.shared(tile), 12);
    run.expect_nothing();
}

TEST_CASE("A meeting of one warp says nothing to another", "[diagnoser]") {
    Run run;
    const std::size_t tile = run.shared_variable("tile", 256);
    run.write(1, run.shared(tile), 1, 10);
    run.meeting(0);
    run.meeting(1);
    run.read(32, run.shared(tile), 12);
    expect_race(run.only_diagnostic(), 12, 10);
}

TEST_CASE("Volatile shared memory does not stand in for __syncwarp", "[diagnoser]") {
    Run run;
    const std::size_t tile = run.shared_variable("tile", 256);
    run.write(1, run.shared(tile), 1, 10, 0, AccessKind::volatile_write);
    CHECK(run.see(0, AccessKind::volatile_read, run.shared(tile), 4, 11));
    const Diagnostic found = run.only_diagnostic();
    expect_race(found, 11, 10);
    CHECK_THAT(found.hint, ContainsSubstring("volatile orders nothing"));
}

TEST_CASE("Bytes of one word are different memory", "[diagnoser]") {
    Run run;
    const std::size_t text = run.shared_variable("text", 64);
    for (unsigned i = 0; i < 4; ++i) run.write(i, run.shared(text + i), static_cast<std::uint8_t>(i), 10);
    CHECK(run.see(1, AccessKind::read, run.shared(text + 1), 1, 11));
    CHECK(run.see(1, AccessKind::read, run.shared(text + 2), 1, 12));
    const Diagnostic found = run.only_diagnostic();
    expect_race(found, 12, 10);
    CHECK(found.action == "reads 1 byte (2)");
}

TEST_CASE("A word read after one of its bytes was written by another thread races", "[diagnoser]") {
    Run run;
    const std::size_t text = run.shared_variable("text", 64);
    run.write(0, run.shared(text), 0x01020304, 10);
    run.barrier();
    run.write(0, run.shared(text + 3), std::uint8_t{9}, 11);
    run.read(1, run.shared(text), 12);
    expect_race(run.only_diagnostic(), 12, 11);
}

TEST_CASE("Vectors that overlap in one element race", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(64);
    Run run;
    run.write(0, memory[0], std::array<int, 4>{1, 2, 3, 4}, 10);
    run.read(1, memory[3], 11);
    const Diagnostic found = run.only_diagnostic();
    expect_race(found, 11, 10);
    CHECK(found.other->action == "wrote 16 bytes");
}

TEST_CASE("Writes that change nothing race with nothing", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(64);
    Run run;
    for (unsigned i = 0; i < 64; ++i) run.write(i, memory[0], 1, 10);
    run.expect_nothing();
}

TEST_CASE("A write that changes something is found at the end of its thread", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(64);
    Run run;
    run.write(0, memory[0], 1, 10);
    run.write(1, memory[0], 2, 11);
    run.block(0).pause();
    expect_race(run.only_diagnostic(), 11, 10);
}

TEST_CASE("What follows from a race is not reported as another one", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(64);
    Run run;
    for (unsigned i = 0; i < 8; ++i) {  // total += 1 by every thread
        run.read(i, memory[0], 10);
        run.write(i, memory[0], static_cast<int>(i) + 1, 11);
    }
    const Diagnostic found = run.only_diagnostic();
    expect_race(found, 10, 11);
    CHECK(found.count >= 7);
    // Both threads read and then write by the same instructions.
    CHECK_THAT(found.hint, ContainsSubstring("two threads update the same element"));
}

TEST_CASE("Shared memory of the next block has no race with that of the last one", "[diagnoser]") {
    Run run({.blocks = 2});
    const std::size_t tile = run.shared_variable("tile", 256);
    run.write(3, run.shared(tile, 0), 1, 10, 0);
    run.end_block(0);
    run.write(4, run.shared(tile, 1), 1, 10, 1);
    run.expect_nothing();
}

// ---- races between blocks ----------------------------------------------------------------------------------------

TEST_CASE("Blocks are not ordered, not even by barriers", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(64);
    Run run({.blocks = 2, .parameters = "data", .pointers = {memory.data}});
    run.write(0, memory[5], 1.5f, 10, 0);
    run.barrier(0);
    run.end_block(0);
    run.barrier(1);
    run.read(0, memory[5], 11, 1);
    const Diagnostic found = run.only_diagnostic();
    expect_race(found, 11, 10);
    CHECK(found.array == "data");
    CHECK(found.block.x == 1);
    CHECK(found.other->block.x == 0);
    CHECK_THAT(found.hint, ContainsSubstring("another kernel"));
}

TEST_CASE("Launches are ordered", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(64);
    for (int launch = 0; launch < 2; ++launch) {
        Run run;
        run.read(static_cast<unsigned>(launch), memory[0], 10);
        run.write(static_cast<unsigned>(launch) + 5, memory[1], launch + 1, 11);
        run.expect_nothing();
    }
}

TEST_CASE("A barrier of the grid orders its blocks", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(64);
    Run run({.blocks = 2});
    const std::size_t tile = run.shared_variable("tile", 256);
    run.write(0, memory[0], 1, 10, 0);
    run.write(0, memory[1], 1, 10, 1);
    run.write(1, run.shared(tile, 1), 1, 11, 1);
    run.grid_barrier();
    run.read(0, memory[1], 12, 0);
    run.read(0, memory[0], 12, 1);
    run.read(2, run.shared(tile, 1), 13, 1);
    run.expect_nothing();
}

TEST_CASE("After a barrier of the grid blocks race as before", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(64);
    Run run({.blocks = 2});
    run.grid_barrier();
    run.write(0, memory[0], 1, 10, 0);
    run.read(0, memory[0], 11, 1);
    expect_race(run.only_diagnostic(), 11, 10);
}

TEST_CASE("Atomics race with no atomics", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(64);
    Run run({.blocks = 2});
    const std::size_t bins = run.shared_variable("bins", 256);
    run.write(0, run.shared(bins), 0, 9, 0);
    run.barrier(0);
    for (unsigned i = 0; i < 64; ++i) run.add(i, run.shared(bins), 10, 0);
    run.barrier(0);
    run.read(0, run.shared(bins), 11, 0);
    for (unsigned i = 0; i < 64; ++i) run.add(i, memory[0], 12, i % 2);
    run.expect_nothing();
}

TEST_CASE("An atomic and a plain access race", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(64);
    Run run;
    run.add(0, memory[0], 10);
    run.read(1, memory[0], 11);
    const Diagnostic found = run.only_diagnostic();
    expect_race(found, 11, 10);
    CHECK(found.other->action == "atomically updated 4 bytes (1)");
}

TEST_CASE("A counter that one block resets races with the atomics of the others", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(64);
    Run run({.blocks = 2});
    run.write(0, memory[0], 100, 10, 0);
    run.barrier(0);
    run.add(1, memory[0], 11, 0);
    run.end_block(0);
    run.add(0, memory[0], 11, 1);
    const Diagnostic found = run.only_diagnostic();
    expect_race(found, 11, 10);
    CHECK_THAT(found.hint, ContainsSubstring("before the launch"));
}

TEST_CASE("Volatile accesses to global memory do not race with each other or with atomics", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(64);
    Run run({.blocks = 2});
    run.write(0, memory[0], 1, 10, 0, AccessKind::volatile_write);
    CHECK(run.see(0, AccessKind::volatile_read, memory[0], 4, 11, 1));
    run.add(1, memory[0], 12, 1);
    CHECK(run.see(2, AccessKind::atomic_read, memory[0], 4, 13, 0));
    run.expect_nothing();
}

TEST_CASE("Lanes that add volatile neighbors in global memory lean on lockstep", "[diagnoser]") {
    const Instrumented instrumented;
    for (const bool upward : {false, true}) {
        const Array memory(64);
        Run run;
        for (unsigned i = 0; i < 16; ++i) {  // memory[t] = memory[t] + memory[t + 1], twice
            const unsigned t = upward ? 15 - i : i;
            for (int round = 0; round < 2; ++round) {
                CHECK(run.see(t, AccessKind::volatile_read, memory[t], 4, 10));
                CHECK(run.see(t, AccessKind::volatile_read, memory[t + 1], 4, 11));
                run.write(t, memory[t], static_cast<int>(t) + round + 2, 12, 0, AccessKind::volatile_write);
            }
        }
        const Diagnostic found = run.only_diagnostic();
        CHECK(found.kind == DiagnosticKind::data_race);
        CHECK_THAT(found.hint, ContainsSubstring("volatile orders nothing"));
    }
}

TEST_CASE("A volatile flag that lanes look at and set is no race", "[diagnoser]") {
    const Instrumented instrumented;
    const Array flag(1);
    Run run;
    for (unsigned t = 0; t < 16; ++t) {
        CHECK(run.see(t, AccessKind::volatile_read, flag[0], 4, 10));
        run.write(t, flag[0], static_cast<int>(t) + 1, 11, 0, AccessKind::volatile_write);
        CHECK(run.see(t, AccessKind::volatile_read, flag[0], 4, 10));
    }
    run.expect_nothing();
}

// ---- fences ------------------------------------------------------------------------------------------------------

namespace {

/// How the blocks of `last_block` tell each other that their part is done.
enum class Fencing { none, by_writer, by_all_before_barrier, after_barrier, of_the_block };

/// Who fences behind the ticket.
enum class Acquiring { none, by_the_ticket_holder, by_all_behind_barrier, of_the_block };

/// Each block writes a part and takes a ticket; the last one reads all parts.
void last_block(Run& run, const Array& parts, const Array& ticket, unsigned blocks, Fencing fencing,
                bool all_threads_read, Acquiring acquiring = Acquiring::by_the_ticket_holder) {
    for (unsigned b = 0; b < blocks; ++b) {
        const bool several = fencing == Fencing::by_all_before_barrier || fencing == Fencing::after_barrier;
        const unsigned writers = several ? 4 : 1;
        for (unsigned t = 0; t < writers; ++t) {
            run.write(t, parts[b * 4 + t], 1.0f, 10, b);
            if (fencing == Fencing::by_all_before_barrier) run.fence(t, b);
        }
        if (several) run.barrier(b);
        if (fencing == Fencing::by_writer || fencing == Fencing::after_barrier) run.fence(0, b);
        if (fencing == Fencing::of_the_block) run.fence(0, b, ThreadScope::block);
        const int before = run.add(0, ticket[0], 11, b);
        if (acquiring == Acquiring::by_the_ticket_holder) run.fence(0, b);
        if (acquiring == Acquiring::of_the_block) run.fence(0, b, ThreadScope::block);
        run.barrier(b);
        if (before + 1 == static_cast<int>(blocks)) {
            for (unsigned t = 0; acquiring == Acquiring::by_all_behind_barrier && t < writers; ++t) run.fence(t, b);
            for (unsigned i = 0; i < blocks; ++i) {
                for (unsigned t = 0; t < writers; ++t) run.read(all_threads_read ? t : 0, parts[i * 4 + t], 12, b);
            }
        }
        run.end_block(b);
    }
}

}  // namespace

TEST_CASE("The last block may read what others wrote before fence and ticket", "[diagnoser]") {
    const Instrumented instrumented;
    const Array parts(400), ticket(1);
    for (const Fencing fencing : {Fencing::by_writer, Fencing::by_all_before_barrier, Fencing::after_barrier}) {
        for (const bool all_threads_read : {false, true}) {
            for (const Acquiring acquiring : {Acquiring::by_the_ticket_holder, Acquiring::by_all_behind_barrier}) {
                REQUIRE(cudaMemset(ticket.data, 0, 4) == cudaSuccess);
                REQUIRE(cudaMemset(parts.data, 0, 1600) == cudaSuccess);
                Run run({.blocks = 100});
                last_block(run, parts, ticket, 100, fencing, all_threads_read, acquiring);
                run.expect_nothing();
            }
        }
    }
}

TEST_CASE("Without the fence the last block races, and the hint names it", "[diagnoser]") {
    const Instrumented instrumented;
    const Array parts(400), ticket(1);
    Run run({.blocks = 10});
    last_block(run, parts, ticket, 10, Fencing::none, false);
    const Diagnostic found = run.only_diagnostic();
    expect_race(found, 12, 10);
    CHECK(found.count == 9);
    CHECK_THAT(found.hint, ContainsSubstring("__threadfence()"));
}

TEST_CASE("A fence of block scope does not reach other blocks", "[diagnoser]") {
    const Instrumented instrumented;
    const Array parts(400), ticket(1);
    Run run({.blocks = 10});
    last_block(run, parts, ticket, 10, Fencing::of_the_block, false);
    const Diagnostic found = run.only_diagnostic();
    expect_race(found, 12, 10);
    CHECK_THAT(found.hint, ContainsSubstring("block scope"));
}

TEST_CASE("Nor does one behind the ticket", "[diagnoser]") {
    const Instrumented instrumented;
    const Array parts(400), ticket(1);
    Run run({.blocks = 10});
    last_block(run, parts, ticket, 10, Fencing::by_writer, false, Acquiring::of_the_block);
    const Diagnostic found = run.only_diagnostic();
    expect_race(found, 12, 10);
    CHECK_THAT(found.hint, ContainsSubstring("block scope"));
}

TEST_CASE("Without a fence behind the ticket the last block races, and the hint says so", "[diagnoser]") {
    const Instrumented instrumented;
    const Array parts(400), ticket(1);
    for (const Fencing fencing : {Fencing::by_writer, Fencing::by_all_before_barrier, Fencing::after_barrier}) {
        REQUIRE(cudaMemset(ticket.data, 0, 4) == cudaSuccess);
        REQUIRE(cudaMemset(parts.data, 0, 1600) == cudaSuccess);
        Run run({.blocks = 10});
        last_block(run, parts, ticket, 10, fencing, true, Acquiring::none);
        const Diagnostic found = run.only_diagnostic();
        expect_race(found, 12, 10);
        CHECK_THAT(found.hint, ContainsSubstring("did not acquire"));
        CHECK_THAT(found.hint, ContainsSubstring("__threadfence()"));
    }
}

TEST_CASE("A fence behind the flag does not make up for one before it, and the hint says so", "[diagnoser]") {
    const Instrumented instrumented;
    const Array data(4), flag(1);
    Run run({.blocks = 2});
    run.write(0, data[0], 1, 10, 0);
    run.add(0, flag[0], 11, 0);
    run.add(0, flag[0], 12, 1);
    run.fence(0, 1);
    run.read(0, data[0], 13, 1);
    const Diagnostic found = run.only_diagnostic();
    expect_race(found, 13, 10);
    CHECK_THAT(found.hint, ContainsSubstring("did not release"));
}

TEST_CASE("A volatile flag without fences is called relaxed", "[diagnoser]") {
    const Instrumented instrumented;
    const Array data(4), flag(1);
    Run run({.blocks = 2});
    run.write(0, data[0], 1, 10, 0);
    run.write(0, flag[0], 1, 11, 0, AccessKind::volatile_write);
    CHECK(run.see(0, AccessKind::volatile_read, flag[0], 4, 12, 1));
    run.read(0, data[0], 13, 1);
    const Diagnostic found = run.only_diagnostic();
    expect_race(found, 13, 10);
    CHECK_THAT(found.hint, ContainsSubstring("relaxed"));
}

namespace {

/// Block 0 writes and sets a flag with one order and scope, block 1 (or 0 again) looks at it with another.
void pass_message(Run& run, const Array& data, const Array& flag, MemoryOrder writing, MemoryOrder reading,
                  ThreadScope write_scope = ThreadScope::device, ThreadScope read_scope = ThreadScope::device,
                  unsigned reader_block = 1) {
    run.write(0, data[0], 1, 10, 0);
    CHECK(run.see(0, AccessKind::atomic_write, flag[0], 4, 11, 0, false, writing, write_scope));
    CHECK(run.see(40, AccessKind::atomic_read, flag[0], 4, 12, reader_block, false, reading, read_scope));
    run.read(40, data[0], 13, reader_block);
}

}  // namespace

TEST_CASE("A write that releases and a read that acquires order what they pass on", "[diagnoser]") {
    using enum MemoryOrder;
    const Instrumented instrumented;
    for (const MemoryOrder writing : {relaxed, acquire, release, acquire_release}) {
        for (const MemoryOrder reading : {relaxed, acquire, release, acquire_release}) {
            const Array data(4), flag(1);
            Run run({.blocks = 2});
            pass_message(run, data, flag, writing, reading);
            if (releases(writing) && acquires(reading)) {
                run.expect_nothing();
            } else {
                expect_race(run.only_diagnostic(), 13, 10);
            }
        }
    }
}

TEST_CASE("Both scopes have to reach the other thread", "[diagnoser]") {
    using enum MemoryOrder;
    using enum ThreadScope;
    const Instrumented instrumented;
    for (const ThreadScope writing : {thread, block, device, ThreadScope::system}) {
        for (const ThreadScope reading : {thread, block, device, ThreadScope::system}) {
            for (const unsigned reader_block : {0u, 1u}) {
                const Array data(4), flag(1);
                Run run({.blocks = 2});
                pass_message(run, data, flag, release, acquire, writing, reading, reader_block);
                const ThreadScope needed = reader_block == 0 ? block : device;
                if (writing >= needed && reading >= needed) {
                    run.expect_nothing();
                } else {
                    CHECK(run.diagnostics().size() == 2);  // the flag itself, and the data
                }
            }
        }
    }
}

TEST_CASE("What follows a write that releases is not released by it", "[diagnoser]") {
    const Instrumented instrumented;
    const Array data(4), flag(1);
    Run run({.blocks = 2});
    CHECK(run.see(0, AccessKind::atomic_write, flag[0], 4, 11, 0, false, MemoryOrder::release));
    run.write(0, data[0], 1, 10, 0);
    CHECK(run.see(0, AccessKind::atomic_read, flag[0], 4, 12, 1, false, MemoryOrder::acquire));
    run.read(0, data[0], 13, 1);
    expect_race(run.only_diagnostic(), 13, 10);
}

TEST_CASE("An update carries a release on, a store by another thread ends it", "[diagnoser]") {
    using enum MemoryOrder;
    const Instrumented instrumented;
    for (const bool updates : {true, false}) {
        const Array data(4), flag(1);
        Run run({.blocks = 3});
        run.write(0, data[0], 1, 10, 0);
        CHECK(run.see(0, AccessKind::atomic_write, flag[0], 4, 11, 0, false, release));
        CHECK(run.see(0, updates ? AccessKind::atomic : AccessKind::atomic_write, flag[0], 4, 12, 1));
        CHECK(run.see(0, AccessKind::atomic_read, flag[0], 4, 13, 2, false, acquire));
        run.read(0, data[0], 14, 2);
        if (updates) {
            run.expect_nothing();
        } else {
            expect_race(run.only_diagnostic(), 14, 10);
        }
    }
}

TEST_CASE("A thread's later stores keep what it has released at that address", "[diagnoser]") {
    using enum MemoryOrder;
    const Instrumented instrumented;
    const Array data(4), flag(1);
    Run run({.blocks = 2});
    run.write(0, data[0], 1, 10, 0);
    CHECK(run.see(0, AccessKind::atomic_write, flag[0], 4, 11, 0, false, release));
    CHECK(run.see(0, AccessKind::atomic_write, flag[0], 4, 12, 0));
    CHECK(run.see(0, AccessKind::atomic_read, flag[0], 4, 13, 1, false, acquire));
    run.read(0, data[0], 14, 1);
    run.expect_nothing();
}

TEST_CASE("A fence that only acquires releases nothing, and the reverse", "[diagnoser]") {
    using enum MemoryOrder;
    const Instrumented instrumented;
    for (const MemoryOrder writer : {acquire, release}) {
        for (const MemoryOrder reader : {acquire, release}) {
            const Array data(4), flag(1);
            Run run({.blocks = 2});
            run.write(0, data[0], 1, 10, 0);
            run.fence(0, 0, ThreadScope::device, writer);
            run.add(0, flag[0], 11, 0);
            run.add(0, flag[0], 12, 1);
            run.fence(0, 1, ThreadScope::device, reader);
            run.read(0, data[0], 13, 1);
            if (writer == release && reader == acquire) {
                run.expect_nothing();
            } else {
                expect_race(run.only_diagnostic(), 13, 10);
            }
        }
    }
}

TEST_CASE("Order is passed on by what acquires and then releases", "[diagnoser]") {
    using enum MemoryOrder;
    const Instrumented instrumented;
    for (const MemoryOrder middle : {acquire, release, acquire_release}) {
        const Array data(4), flags(2);
        Run run({.blocks = 3});
        run.write(0, data[0], 1, 10, 0);
        CHECK(run.see(0, AccessKind::atomic, flags[0], 4, 11, 0, false, release));
        CHECK(run.see(0, AccessKind::atomic, flags[0], 4, 12, 1, false, acquires(middle) ? acquire : relaxed));
        CHECK(run.see(0, AccessKind::atomic, flags[1], 4, 13, 1, false, releases(middle) ? release : relaxed));
        CHECK(run.see(0, AccessKind::atomic, flags[1], 4, 14, 2, false, acquire));
        run.read(0, data[0], 15, 2);
        if (middle == acquire_release) {
            run.expect_nothing();
        } else {
            expect_race(run.only_diagnostic(), 15, 10);
        }
    }
}

TEST_CASE("Threads of a block pass order on in the scope of the block", "[diagnoser]") {
    using enum MemoryOrder;
    const Instrumented instrumented;
    const Array data(4), flags(2);
    Run run({.blocks = 1, .threads = 128});
    const auto see = [&](unsigned thread, std::size_t which, int line, MemoryOrder order) {
        CHECK(run.see(thread, AccessKind::atomic, flags[which], 4, line, 0, false, order, ThreadScope::block));
    };
    run.write(0, data[0], 1, 10);
    see(0, 0, 11, release);
    see(40, 0, 12, acquire);
    see(40, 1, 13, release);
    see(80, 1, 14, acquire);
    run.read(80, data[0], 15);
    run.expect_nothing();
}

TEST_CASE("Atomics of block scope race between blocks", "[diagnoser]") {
    const Instrumented instrumented;
    const Array memory(4);
    Run run({.blocks = 2});
    int value = 0;
    const auto add = [&](unsigned thread, unsigned block) {
        CHECK(run.see(thread, AccessKind::atomic, memory[0], 4, 10, block, false, MemoryOrder::relaxed,
                      ThreadScope::block));
        std::memcpy(memory[0], &++value, 4);
    };
    for (const unsigned thread : {0u, 5u, 40u}) add(thread, 0);
    add(0, 1);
    const Diagnostic found = run.only_diagnostic();
    CHECK(found.kind == DiagnosticKind::data_race);
    CHECK_THAT(found.hint, ContainsSubstring("block scope"));
}

TEST_CASE("A volatile flag in shared memory works between warps, with fences on both sides", "[diagnoser]") {
    for (const unsigned reader : {40u, 8u}) {
        Run run;
        const std::size_t tile = run.shared_variable("tile", 256);
        const std::size_t ready = run.shared_variable("ready", 4);
        run.write(0, run.shared(ready), 0, 8);
        run.barrier();
        CHECK(run.see(reader, AccessKind::volatile_read, run.shared(ready), 4, 9));
        run.write(0, run.shared(tile), 1, 10);
        run.fence(0, 0, ThreadScope::block);
        run.write(0, run.shared(ready), 1, 11, 0, AccessKind::volatile_write);
        CHECK(run.see(reader, AccessKind::volatile_read, run.shared(ready), 4, 9));
        run.fence(reader, 0, ThreadScope::block);
        run.read(reader, run.shared(tile), 13);
        if (reader == 40) {
            run.expect_nothing();
        } else {
            expect_race(run.only_diagnostic(), 11, 9);  // lanes of one warp: what lockstep code looks like
        }
    }
}

TEST_CASE("A fence orders nothing that its thread does after it", "[diagnoser]") {
    const Instrumented instrumented;
    const Array data(4), flag(1);
    Run run({.blocks = 2});
    run.fence(0, 0);
    run.write(0, data[0], 1, 10, 0);
    run.add(0, flag[0], 11, 0);
    run.add(0, flag[0], 12, 1);
    run.fence(0, 1);
    run.read(0, data[0], 13, 1);
    expect_race(run.only_diagnostic(), 13, 10);
}

TEST_CASE("Only a look at the atomic tells that the data is there", "[diagnoser]") {
    const Instrumented instrumented;
    const Array data(4), flag(2);
    Run run({.blocks = 2});
    run.write(0, data[0], 1, 10, 0);
    run.fence(0, 0);
    run.add(0, flag[0], 11, 0);
    run.add(0, flag[1], 12, 1);  // another one
    run.fence(0, 1);
    run.read(0, data[0], 13, 1);
    expect_race(run.only_diagnostic(), 13, 10);
}

TEST_CASE("A volatile flag behind a fence publishes what was written", "[diagnoser]") {
    const Instrumented instrumented;
    const Array data(4), flag(1);
    Run run({.blocks = 2});
    run.write(0, data[0], 1, 10, 0);
    run.fence(0, 0);
    run.write(0, flag[0], 1, 11, 0, AccessKind::volatile_write);
    CHECK(run.see(0, AccessKind::volatile_read, flag[0], 4, 12, 1));
    run.fence(0, 1);
    run.barrier(1);
    run.read(5, data[0], 13, 1);
    run.expect_nothing();
}

TEST_CASE("Knowledge is passed on from block to block", "[diagnoser]") {
    const Instrumented instrumented;
    const Array data(4), flags(8);
    Run run({.blocks = 4});
    run.write(0, data[0], 1, 10, 0);
    for (unsigned b = 0; b < 3; ++b) {  // each waits for the block before it, then tells the next
        if (b > 0) run.add(0, flags[b - 1], 11, b);
        run.fence(0, b);
        run.add(0, flags[b], 12, b);
    }
    run.add(0, flags[2], 13, 3);
    run.fence(0, 3);
    run.write(0, data[0], 2, 14, 3);
    run.expect_nothing();
}

TEST_CASE("What a block learned after its fence it does not pass on", "[diagnoser]") {
    const Instrumented instrumented;
    const Array data(4), flags(8);
    Run run({.blocks = 3});
    run.write(0, data[0], 1, 10, 0);
    run.fence(0, 0);
    run.add(0, flags[0], 11, 0);
    run.fence(0, 1);
    run.add(0, flags[0], 12, 1);
    run.add(0, flags[1], 13, 1);
    run.add(0, flags[1], 14, 2);
    run.fence(0, 2);
    run.read(0, data[0], 15, 2);
    expect_race(run.only_diagnostic(), 15, 10);
}

TEST_CASE("What the lanes of a warp wrote is published by the one that fences behind a meeting", "[diagnoser]") {
    const Instrumented instrumented;
    const Array data(32), flag(1);
    Run run({.blocks = 2});
    for (unsigned i = 0; i < 32; ++i) run.write(i, data[i], static_cast<int>(i) + 1, 10, 0);
    run.meeting(0);
    run.fence(0, 0);
    run.add(0, flag[0], 11, 0);
    run.end_block(0);
    run.add(0, flag[0], 11, 1);
    run.fence(0, 1);
    run.barrier(1);
    for (unsigned i = 0; i < 32; ++i) run.read(i, data[i], 12, 1);
    run.expect_nothing();
}

TEST_CASE("A lock with fences on both sides orders what it protects", "[diagnoser]") {
    const Instrumented instrumented;
    const Array lock(1), total(1);
    Run run({.blocks = 4});
    int sum = 0;
    for (unsigned b = 0; b < 4; ++b) {
        for (unsigned t = 0; t < 64; t += 16) {
            run.add(t, lock[0], 10, b);
            run.fence(t, b);
            run.read(t, total[0], 11, b);
            run.write(t, total[0], ++sum, 12, b);
            run.fence(t, b);
            run.write(t, lock[0], 0, 13, b, AccessKind::atomic_write);
        }
    }
    run.expect_nothing();
}

TEST_CASE("Threads of one block may tell each other through an atomic in shared memory", "[diagnoser]") {
    Run run;
    const std::size_t tile = run.shared_variable("tile", 256);
    const std::size_t ready = run.shared_variable("ready", 4);
    run.write(0, run.shared(ready), 0, 9);
    run.barrier();
    run.write(0, run.shared(tile), 1, 10);
    run.fence(0, 0, ThreadScope::block);
    run.add(0, run.shared(ready), 11);
    run.add(40, run.shared(ready), 12);
    run.fence(40, 0, ThreadScope::block);
    run.read(40, run.shared(tile), 13);
    run.expect_nothing();
}

TEST_CASE("More barriers than a stamp can count are no problem", "[diagnoser]") {
    Run run;
    const std::size_t tile = run.shared_variable("tile", 256);
    run.write(0, run.shared(tile), 1, 10);
    for (int i = 0; i < (1 << 24) + 5; ++i) run.barrier();
    run.read(1, run.shared(tile), 11);
    run.write(2, run.shared(tile + 4), 1, 12);
    run.read(3, run.shared(tile + 4), 13);
    expect_race(run.only_diagnostic(), 13, 12);
}

// What the CPU device knows of memory, and the mistakes that host code makes with it: each is planted once and has to
// be named.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "common/cpu_device/src/allocations.h"
#include "cpu_device/diagnostics.h"
#include "cpu_device/instrument.h"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using cpu_device::Diagnostic;
using cpu_device::DiagnosticKind;

namespace {

__constant__ float coefficients[4];
__shared__ float of_a_block[4];
__device__ int counters[8];

__device__ unsigned events;
__device__ const int fixed_number = 3;
__managed__ int shared_number;

struct Range {
    float low, high;
};
__constant__ Range range;

namespace hidden {
__device__ int depth;
}
[[maybe_unused]] int depth;

__global__ void count_events() { atomicAdd(&events, 1u); }

float number_of_host = 1;

// The rewriter reads no function that a macro begins, as TEST_CASE does.

unsigned return_events() { return events; }

constexpr int line_of_write = __LINE__ + 2;
void write_events() {
    for (unsigned i = 0; i < 4; ++i) events = i;
}

constexpr int line_of_read = __LINE__ + 1;
float low_limit() { return range.low; }

/// Changes the host's copies; they were zeros.
void use_names() {
    const unsigned two = 2;
    events = two;
    events += 1;
    range.low = 7;
    coefficients[2] = 9;
}

struct Names {
    unsigned events;
    Range range;
    std::array<float, 4> coefficients;
};

Names names() {
    const Range limits = range;
    return {events + 0, limits, {coefficients[0] + 0, coefficients[1] + 0, coefficients[2] + 0, coefficients[3] + 0}};
}

/// What host code may do with names. `depth` is another variable than hidden::depth.
int use_other_names() {
    const unsigned& reference = events;
    shared_number = 4;
    depth = 3;
    return &reference == &events ? shared_number + fixed_number + depth + 1 : 0;
}

template <class T>
void set_symbol(const T& symbol, const T& value) {
    REQUIRE(cudaMemcpyToSymbol(symbol, &value, sizeof value) == cudaSuccess);
}

__global__ void set_to(int* out, int value) { out[threadIdx.x] = value; }

/// Looks for errors and keeps them off the screen while it lives; leaves the device usable.
struct Instrumented {
    cpu_device::InstrumentOptions before = cpu_device::instrument({.diagnostics = true});
    bool printing = cpu_device::print_diagnostics(false);
    Instrumented() { cpu_device::take_diagnostics(); }
    Instrumented(const Instrumented&) = delete;
    Instrumented& operator=(const Instrumented&) = delete;
    ~Instrumented() {
        cudaDeviceReset();
        cudaGetLastError();
        cpu_device::take_diagnostics();
        cpu_device::print_diagnostics(printing);
        cpu_device::instrument(before);
    }
};

Diagnostic only_diagnostic() {
    const std::vector<Diagnostic> found = cpu_device::take_diagnostics();
    for (const Diagnostic& diagnostic : found) UNSCOPED_INFO(cpu_device::text_of(diagnostic));
    REQUIRE(found.size() == 1);
    return found[0];
}

/// Calls that know only the code that made them have a line where that code has debug information.
bool is_at(const cpu_device::Site& site, int line) { return !cpu_device::can_instrument() || site.line == line; }

/// How a child process ends that runs `body` and then exits with `status`, and what it writes to stderr.
struct Ended {
    int status;
    std::string text;
};

template <class Body>
Ended in_child(const Body& body, int status = 0) {
    std::fflush(nullptr);
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(1);
        close(ends[0]);
        close(ends[1]);
        cpu_device::instrument({.diagnostics = true});
        cpu_device::print_diagnostics(true);
        body();
        std::exit(status);
    }
    close(ends[1]);
    Ended ended{};
    std::array<char, 4096> piece;
    for (ssize_t count = 0; (count = read(ends[0], piece.data(), piece.size())) > 0;) {
        ended.text.append(piece.data(), static_cast<std::size_t>(count));
    }
    close(ends[0]);
    int how = 0;
    REQUIRE(waitpid(child, &how, 0) == child);
    ended.status = WIFEXITED(how) ? WEXITSTATUS(how) : -1;
    return ended;
}

template <class T>
T* allocate(std::size_t count) {
    T* memory = nullptr;
    REQUIRE(cudaMalloc(&memory, count * sizeof(T)) == cudaSuccess);
    return memory;
}

/// A program's own variable that frees what it holds when the process ends.
struct Holder {
    int* memory = nullptr;
    ~Holder() {
        if (memory != nullptr) cudaFree(memory);
    }
};
Holder held;

}  // namespace

// ---- what is known -------------------------------------------------------------------------------------------

TEST_CASE("knows the program's device variables by name from the start") {
    const auto constant = cpu_device::find_allocation(&coefficients[3]);
    REQUIRE(constant);
    CHECK(constant->name == "coefficients");
    CHECK(constant->constant);
    CHECK(constant->bytes == sizeof coefficients);
    CHECK(constant->address == reinterpret_cast<std::byte*>(&coefficients[0]));
    CHECK_THAT(constant->made_at.file, ContainsSubstring("allocations_test.cu"));
    CHECK_THAT(
        cpu_device::describe_address(&coefficients[0]),
        ContainsSubstring("in 'coefficients', a __constant__ variable of 16 bytes defined at allocations_test.cu:"));

    const auto variable = cpu_device::find_allocation(counters);
    REQUIRE(variable);
    CHECK(variable->name == "counters");
    CHECK(!variable->constant);

    CHECK(cudaDeviceReset() == cudaSuccess);
    CHECK(cpu_device::find_allocation(counters));
}

TEST_CASE("knows where memory was allocated, and which pointer was set") {
    const Instrumented instrumented;
    const int line = __LINE__ + 2;
    float* d_in = nullptr;
    REQUIRE(cudaMalloc(&d_in, 400) == cudaSuccess);
    int *d_cast = nullptr, *pinned = nullptr, *managed = nullptr;
    char* d_rows[2] = {};
    std::size_t pitch = 0;
    REQUIRE(cudaMalloc((void**)&d_cast, 16) == cudaSuccess);
    REQUIRE(cudaMallocHost(reinterpret_cast<void**>(&pinned), 16) == cudaSuccess);
    REQUIRE(cudaMallocManaged(&managed, 16) == cudaSuccess);
    REQUIRE(cudaMallocPitch(&d_rows[1], &pitch, 10, 3) == cudaSuccess);

    const auto found = cpu_device::find_allocation(d_in + 99);
    REQUIRE(found);
    CHECK(found->pointer == "d_in");
    CHECK(found->name.empty());  // names are those of variables
    CHECK(found->made_at.line == line);
    CHECK_THAT(found->made_at.file, ContainsSubstring("allocations_test.cu"));
    CHECK(cpu_device::find_allocation(d_cast)->pointer == "d_cast");
    CHECK(cpu_device::find_allocation(d_cast)->made_at.line == line + 4);
    CHECK(cpu_device::find_allocation(pinned)->pointer == "pinned");
    CHECK(cpu_device::find_allocation(managed)->pointer == "managed");
    CHECK(cpu_device::find_allocation(d_rows[1])->pointer == "d_rows[1]");
    CHECK(cpu_device::find_allocation(allocate<int>(4))->pointer == "memory");

    const std::string place =
        "'d_in', 400 bytes of device memory allocated at allocations_test.cu:" + std::to_string(line);
    CHECK(cpu_device::describe_address(d_in + 100) == "0 bytes past the end of " + place);
    CHECK(cpu_device::describe_address(d_in + 101) == "4 bytes past the end of " + place);
    CHECK(cpu_device::describe_address(d_in - 2) == "8 bytes before the start of " + place);
    CHECK(cudaFree(d_in) == cudaSuccess);
    CHECK(cpu_device::describe_address(d_in) == "in " + place + " that were freed");
}

TEST_CASE("lists what is alive by address") {
    const Instrumented instrumented;
    std::vector<int*> memory;
    for (int i = 0; i < 20; ++i) memory.push_back(allocate<int>(10));
    const auto live = cpu_device::live_allocations();
    std::size_t ours = 0;
    for (std::size_t i = 0; i < live.size(); ++i) {
        if (i > 0) CHECK(live[i - 1].address + live[i - 1].bytes <= live[i].address);
        if (live[i].kind == cpu_device::MemoryKind::device) ++ours;
    }
    CHECK(ours == memory.size());
    for (int* pointer : memory) CHECK(cudaFree(pointer) == cudaSuccess);
    CHECK(cpu_device::live_allocations().size() == live.size() - memory.size());
}

TEST_CASE("the functions that allocate and free can be passed around like CUDA's") {
    cudaError_t (*const get)(void**, size_t) = cudaMalloc;
    cudaError_t (*const get_pinned)(void**, size_t) = &cudaMallocHost;
    cudaError_t (*const get_managed)(void**, size_t, unsigned) = cudaMallocManaged;
    cudaError_t (*const copy)(void*, const void*, size_t, cudaMemcpyKind) = cudaMemcpy;
    void *device = nullptr, *pinned = nullptr, *managed = nullptr;
    CHECK(get(&device, 16) == cudaSuccess);
    CHECK(get_pinned(&pinned, 16) == cudaSuccess);
    CHECK(get_managed(&managed, 16, cudaMemAttachGlobal) == cudaSuccess);
    CHECK(copy(device, managed, 16, cudaMemcpyDefault) == cudaSuccess);
    const std::unique_ptr<void, decltype(&cudaFree)> frees_device(device, &cudaFree);
    const std::unique_ptr<void, decltype(&cudaFree)> frees_managed(managed, &cudaFree);
    const std::unique_ptr<void, decltype(&cudaFreeHost)> frees_pinned(pinned, cudaFreeHost);
}

// ---- freed memory --------------------------------------------------------------------------------------------

TEST_CASE("keeps freed memory back while errors are looked for") {
    const Instrumented instrumented;
    for (std::size_t bytes : {std::size_t{40}, std::size_t{70000}}) {
        char* first = allocate<char>(bytes);
        REQUIRE(cudaMemset(first, 7, bytes) == cudaSuccess);
        const int line = __LINE__ + 1;
        REQUIRE(cudaFree(first) == cudaSuccess);
        for (int i = 0; i < 50; ++i) CHECK(allocate<char>(bytes) != first);
        CHECK(first[bytes - 1] == 7);  // still there, harmless
        const auto freed = cpu_device::find_freed(first + bytes / 2);
        REQUIRE(freed);
        CHECK(freed->address == reinterpret_cast<std::byte*>(first));
        CHECK(is_at(freed->freed_at, line));
        CHECK(cpu_device::freed_allocations().front().address == freed->address);
        CHECK(!cpu_device::find_allocation(first));
    }
}

TEST_CASE("gives the oldest freed memory back once there are 256 MiB of it") {
    const Instrumented instrumented;
    constexpr std::size_t bytes = std::size_t{60} << 20;
    std::vector<char*> freed;
    for (int i = 0; i < 5; ++i) {
        freed.push_back(allocate<char>(bytes));
        REQUIRE(cudaFree(freed.back()) == cudaSuccess);
    }
    CHECK(!cpu_device::find_freed(freed[0]));
    for (int i = 1; i < 5; ++i) CHECK(cpu_device::find_freed(freed[i]));
    char* huge = allocate<char>(std::size_t{300} << 20);
    REQUIRE(cudaFree(huge) == cudaSuccess);
    CHECK(!cpu_device::find_freed(huge));
    CHECK(cpu_device::find_freed(freed[4]));
}

TEST_CASE("freed memory counts as free at once") {
    const Instrumented instrumented;
    std::size_t before = 0, after = 0;
    REQUIRE(cudaMemGetInfo(&before, nullptr) == cudaSuccess);
    CHECK(cudaFree(allocate<char>(1 << 20)) == cudaSuccess);
    REQUIRE(cudaMemGetInfo(&after, nullptr) == cudaSuccess);
    CHECK(before == after);
}

TEST_CASE("bytes written around an allocation show when it is freed, unless the access was reported") {
    const Instrumented instrumented;
    char* d_rim = nullptr;
    REQUIRE(cudaMalloc(&d_rim, 40) == cudaSuccess);
    d_rim[41] = 1;  // device memory is host memory here: stands for a kernel's mistake
    CHECK(cudaFree(d_rim) == cudaSuccess);
    const Diagnostic found = only_diagnostic();
    CHECK(found.kind == DiagnosticKind::illegal_access);
    CHECK(found.array == "d_rim");
    CHECK_THAT(found.message, ContainsSubstring("byte 1 after the end of 'd_rim', 40 bytes of device memory"));

    REQUIRE(cudaMalloc(&d_rim, 40) == cudaSuccess);
    d_rim[41] = 1;
    cpu_device::note_reported(d_rim);
    CHECK(cudaFree(d_rim) == cudaSuccess);
    CHECK(cpu_device::take_diagnostics().empty());
}

// ---- freeing -------------------------------------------------------------------------------------------------

TEST_CASE("names both places of a double free") {
    const Instrumented instrumented;
    float* d_twice = nullptr;
    REQUIRE(cudaMalloc(&d_twice, 64) == cudaSuccess);
    const int line = __LINE__ + 1;
    CHECK(cudaFree(d_twice) == cudaSuccess);
    CHECK(cudaFree(d_twice) == cudaErrorInvalidValue);
    const Diagnostic found = only_diagnostic();
    CHECK(found.kind == DiagnosticKind::invalid_free);
    CHECK(found.array == "d_twice");
    CHECK_THAT(found.message,
               ContainsSubstring("cudaFree was given 'd_twice', 64 bytes of device memory allocated at ") &&
                   ContainsSubstring("freed already"));
    CHECK(is_at(found.site, line + 1));
    REQUIRE(found.other);
    CHECK(is_at(found.other->site, line));
}

TEST_CASE("says why something cannot be freed") {
    const Instrumented instrumented;
    int host = 0;
    int* device = allocate<int>(16);
    int* pinned = nullptr;
    REQUIRE(cudaMallocHost(&pinned, 64) == cudaSuccess);
    const auto message_of = [](cudaError_t error) {
        CHECK(error == cudaErrorInvalidValue);
        const Diagnostic found = only_diagnostic();
        CHECK(found.kind == DiagnosticKind::invalid_free);
        return found.message + " | " + found.hint;
    };
    CHECK_THAT(message_of(cudaFree(device + 4)), ContainsSubstring("a pointer 16 bytes after the start of"));
    CHECK_THAT(message_of(cudaFree(&host)), ContainsSubstring("never allocated") && ContainsSubstring("delete"));
    CHECK_THAT(message_of(cudaFree(pinned)), ContainsSubstring("page-locked") && ContainsSubstring("by cudaFreeHost"));
    CHECK_THAT(message_of(cudaFreeHost(device)),
               ContainsSubstring("device memory") && ContainsSubstring("by cudaFree"));
    CHECK_THAT(message_of(cudaFreeAsync(&host, nullptr)), ContainsSubstring("cudaFreeAsync was given"));
    CHECK_THAT(message_of(cudaFree(counters)), ContainsSubstring("'counters', a __device__ variable of 32 bytes"));
    CHECK(cudaFree(device) == cudaSuccess);
    CHECK(cudaFreeHost(pinned) == cudaSuccess);
    CHECK(cudaFree(nullptr) == cudaSuccess);
    CHECK(cpu_device::take_diagnostics().empty());
}

TEST_CASE("says nothing of wrong frees and copies while mistakes are not looked for") {
    const Instrumented instrumented;
    cpu_device::instrument({});
    int host[4] = {};
    int* device = allocate<int>(4);
    CHECK(cudaFree(host) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(device, host, 17, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    set_to<<<1, 2000>>>(device, 1);
    CHECK(cpu_device::take_diagnostics().empty());
}

// ---- leaks ---------------------------------------------------------------------------------------------------

TEST_CASE("reports what was never freed, once for each line that allocated it") {
    const Instrumented instrumented;
    int line = 0;
    for (int i = 0; i < 3; ++i) {
        float* d_lost = nullptr;
        line = __LINE__ + 1;
        REQUIRE(cudaMalloc(&d_lost, 100) == cudaSuccess);
    }
    int *managed = nullptr, *pinned = nullptr, *freed = nullptr;
    REQUIRE(cudaMallocManaged(&managed, 8) == cudaSuccess);
    REQUIRE(cudaHostAlloc(&pinned, 24, cudaHostAllocMapped) == cudaSuccess);
    REQUIRE(cudaMalloc(&freed, 8) == cudaSuccess);
    CHECK(cudaFree(freed) == cudaSuccess);

    cpu_device::report_leaks();
    const std::vector<Diagnostic> found = cpu_device::take_diagnostics();
    REQUIRE(found.size() == 3);
    for (const Diagnostic& diagnostic : found) CHECK(diagnostic.kind == DiagnosticKind::memory_leak);
    CHECK(found[0].site.line == line);
    CHECK(found[0].count == 3);
    CHECK(found[0].array == "d_lost");
    CHECK_THAT(found[0].message,
               ContainsSubstring("3 allocations of device memory, 300 bytes in all, were never freed"));
    CHECK_THAT(found[1].message, ContainsSubstring("'managed', 8 bytes of managed memory"));
    CHECK_THAT(found[2].message, ContainsSubstring("24 bytes of pinned (page-locked) memory"));
    CHECK_THAT(found[2].hint, ContainsSubstring("cudaFreeHost"));

    cpu_device::report_leaks();
    CHECK(cpu_device::take_diagnostics().empty());
}

TEST_CASE("what was created and never destroyed is a leak, told once for each line") {
    const Instrumented instrumented;
    int line = 0;
    cudaStream_t streams[3];
    for (cudaStream_t& stream : streams) {
        line = __LINE__ + 1;
        REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    }
    cudaEvent_t event = nullptr, destroyed = nullptr;
    REQUIRE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess);
    REQUIRE(cudaEventCreate(&destroyed) == cudaSuccess);
    CHECK(cudaEventDestroy(destroyed) == cudaSuccess);
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array = nullptr;
    REQUIRE(cudaMallocArray(&array, &format, 4, 4, cudaArraySurfaceLoadStore) == cudaSuccess);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    const cudaTextureDesc description{};
    cudaTextureObject_t texture = 0;
    cudaSurfaceObject_t surface = 0;
    REQUIRE(cudaCreateTextureObject(&texture, &resource, &description, nullptr) == cudaSuccess);
    REQUIRE(cudaCreateSurfaceObject(&surface, &resource) == cudaSuccess);

    cpu_device::report_leaks();
    const std::vector<Diagnostic> found = cpu_device::take_diagnostics();
    REQUIRE(found.size() == 5);
    std::string messages;
    for (const Diagnostic& diagnostic : found) {
        CHECK(diagnostic.kind == DiagnosticKind::memory_leak);
        CHECK(diagnostic.is_note);
        messages += diagnostic.message + "; " + diagnostic.hint + "\n";
    }
    CHECK(is_at(found[0].site, line));
    CHECK(found[0].count == 3);
    CHECK_THAT(messages, ContainsSubstring("3 streams were never destroyed") &&
                             ContainsSubstring("an event was never destroyed") &&
                             ContainsSubstring("a CUDA array was never destroyed") &&
                             ContainsSubstring("cudaDestroyTextureObject") &&
                             ContainsSubstring("cudaDestroySurfaceObject"));
    cpu_device::report_leaks();
    CHECK(cpu_device::take_diagnostics().empty());

    for (cudaStream_t stream : streams) CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    CHECK(cudaEventDestroy(event) == cudaSuccess);
    CHECK(cudaDestroyTextureObject(texture) == cudaSuccess);
    CHECK(cudaDestroySurfaceObject(surface) == cudaSuccess);
    CHECK(cudaFreeArray(array) == cudaSuccess);
}

TEST_CASE("memory that the wrong function was to free is told once") {
    const Instrumented instrumented;
    int* pinned = nullptr;
    REQUIRE(cudaMallocHost(&pinned, 8) == cudaSuccess);
    CHECK(cudaFree(pinned) == cudaErrorInvalidValue);
    cpu_device::report_leaks();
    CHECK(only_diagnostic().kind == DiagnosticKind::invalid_free);
    CHECK(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE("a reset of the device leaves no leak") {
    const Instrumented instrumented;
    allocate<int>(4);
    cudaStream_t stream = nullptr;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    CHECK(cudaDeviceReset() == cudaSuccess);
    cpu_device::report_leaks();
    CHECK(cpu_device::take_diagnostics().empty());
}

TEST_CASE("a leak is a note, and an error for whoever asks for it") {
    const Ended leaking = in_child([] { allocate<int>(100); });
    CHECK(leaking.status == 0);
    CHECK_THAT(leaking.text, StartsWith("CPU device: note: memory leak: 'memory', 400 bytes of device memory"));
    const Ended strict = in_child([] {
        cpu_device::instrument({.diagnostics = true, .leaks = true});
        allocate<int>(100);
    });
    CHECK(strict.status == 86);
    CHECK_THAT(strict.text, StartsWith("CPU device: memory leak: 'memory', 400 bytes of device memory") &&
                                ContainsSubstring("1 error found; exit status 86"));
    const Ended with_an_error = in_child([] {
        allocate<int>(100);
        set_to<<<1, 2048>>>(nullptr, 1);
    });
    CHECK(with_an_error.status == 86);
    CHECK_THAT(with_an_error.text, ContainsSubstring("note: memory leak") && ContainsSubstring("1 error found"));
    const Ended giving_up = in_child([] { allocate<int>(100); }, 3);
    CHECK(giving_up.status == 3);
    CHECK(giving_up.text.empty());
}

TEST_CASE("what the program's own variables free at the end is no leak") {
    const Ended ended = in_child([] { held.memory = allocate<int>(100); });
    CHECK(ended.status == 0);
    CHECK(ended.text.empty());
}

// ---- errors that nobody looks at -----------------------------------------------------------------------------

TEST_CASE("reports a refused launch that nobody looked at when the next one is refused") {
    const Instrumented instrumented;
    int* out = allocate<int>(32);
    const int line = __LINE__ + 1;
    set_to<<<1, 2048>>>(out, 1);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);  // does not show it
    CHECK(cpu_device::take_diagnostics().empty());
    set_to<<<0, 32>>>(out, 1);
    const Diagnostic found = only_diagnostic();
    CHECK(found.kind == DiagnosticKind::unseen_error);
    CHECK(found.site.line == line);
    CHECK_THAT(found.message, ContainsSubstring("set_to") && ContainsSubstring("cudaErrorInvalidValue") &&
                                  ContainsSubstring("2048") && ContainsSubstring("at most 1024"));
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);  // now the second one was seen
    cpu_device::report_unseen_errors();
    CHECK(cpu_device::take_diagnostics().empty());
}

TEST_CASE("a launch refused again and again at one line is one mistake") {
    const Instrumented instrumented;
    for (int i = 0; i < 10; ++i) set_to<<<1, 32, 1 << 20>>>(nullptr, 1);
    CHECK(cpu_device::take_diagnostics().empty());
    cpu_device::report_unseen_errors();
    const Diagnostic found = only_diagnostic();
    CHECK(found.count == 10);
    CHECK_THAT(found.message, ContainsSubstring("1048576 bytes of dynamic shared memory"));
}

TEST_CASE("looking at the error is enough, and so is a launch that returns it") {
    const Instrumented instrumented;
    int* out = allocate<int>(32);
    set_to<<<1, 2048>>>(out, 1);
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidValue);
    int value = 1;
    void* arguments[] = {&out, &value};
    CHECK(cudaLaunchKernel(set_to, dim3(1), dim3(2048), arguments, 0, nullptr) == cudaErrorInvalidValue);
    cpu_device::report_unseen_errors();
    CHECK(cpu_device::take_diagnostics().empty());
}

TEST_CASE("an error that a statement drops is reported unless the program asks for it later") {
    const Instrumented instrumented;
    int line = 0;
    for (int i = 0; i < 2; ++i) {
        line = __LINE__ + 1;
        cudaSetDevice(1);
    }
    cudaEvent_t event = nullptr;
    if (event == nullptr) cudaEventDestroy(event);
    CHECK(cpu_device::take_diagnostics().empty());  // the program may still look
    cpu_device::report_unseen_errors();
    const std::vector<Diagnostic> found = cpu_device::take_diagnostics();
    REQUIRE(found.size() == 2);
    CHECK(found[0].kind == DiagnosticKind::unseen_error);
    CHECK(found[0].site.line == line);
    CHECK(found[0].count == 2);
    CHECK_THAT(found[0].message,
               StartsWith("cudaSetDevice returned cudaErrorInvalidDevice, \"invalid device ordinal\""));
    CHECK_THAT(found[1].message, StartsWith("cudaEventDestroy returned cudaErrorInvalidResourceHandle"));
    cpu_device::report_unseen_errors();
    CHECK(cpu_device::take_diagnostics().empty());
    CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
}

TEST_CASE("errors that the program handles are not reported") {
    const Instrumented instrumented;
    int* memory = nullptr;
    if (cudaMalloc(&memory, std::size_t{1} << 50) != cudaSuccess) memory = nullptr;  // compared
    (void)cudaSetDevice(2);                                                          // dropped on purpose
    cudaSetDevice(1);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);  // asked for afterwards
    cudaSetDevice(1);
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
    cudaGetLastError();
    cudaStreamQuery(reinterpret_cast<cudaStream_t>(1000));  // asks a question
    cpu_device::report_unseen_errors();
    CHECK(cpu_device::take_diagnostics().empty());
    cudaGetLastError();
}

TEST_CASE("the first call that returned an error is known with its line, also when the program has asked for it") {
    const Instrumented instrumented;
    cpu_device::take_failed_call(cudaSuccess);  // forgets those of other tests
    int* device = allocate<int>(8);
    int host[8] = {};
    const auto ask = [](cudaError_t error) { return cpu_device::take_failed_call(error); };
    const auto is_at = [](const std::optional<cpu_device::FailedCall>& call, const char* function, int line) {
        INFO((call ? call->function + " in line " + std::to_string(call->site.line) : "no call"));
        CHECK((call && call->function == function && call->site.line == line));
    };

    const int first = __LINE__ + 1;
    const cudaError_t pitch = cudaMemcpy2D(device, 4, host, 8, 8, 2, cudaMemcpyHostToDevice);
    CHECK(cudaMemcpy2D(device, 8, host, 4, 8, 2, cudaMemcpyHostToDevice) == pitch);
    CHECK(cudaGetLastError() == cudaErrorInvalidPitchValue);
    is_at(ask(pitch), "cudaMemcpy2D", first);
    CHECK_FALSE(ask(pitch));  // taken

    const int direction = __LINE__ + 1;
    cudaMemcpyAsync(device, host, sizeof host, static_cast<cudaMemcpyKind>(17));
    is_at(ask(cudaErrorInvalidMemcpyDirection), "cudaMemcpyAsync", direction);

    const int memory = __LINE__ + 2;
    int* much = nullptr;
    CHECK(cudaMalloc(&much, std::size_t{1} << 50) == cudaErrorMemoryAllocation);
    is_at(ask(cudaErrorMemoryAllocation), "cudaMalloc", memory);

    const int destroyed = __LINE__ + 1;
    cudaEventRecord(reinterpret_cast<cudaEvent_t>(1000));
    is_at(ask(cudaErrorInvalidResourceHandle), "cudaEventRecord", destroyed);

    cudaStreamQuery(reinterpret_cast<cudaStream_t>(1000));  // asks a question
    CHECK_FALSE(ask(cudaErrorInvalidResourceHandle));
    cudaGetLastError();
    cpu_device::take_diagnostics();
    CHECK(cudaFree(device) == cudaSuccess);
}

TEST_CASE("a call that is reported in more detail is not reported for its error as well") {
    const Instrumented instrumented;
    int* device = allocate<int>(4);
    const int host[8] = {};
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
    cpu_device::report_unseen_errors();
    CHECK(only_diagnostic().kind == DiagnosticKind::out_of_bounds);
    CHECK(cudaFree(device) == cudaSuccess);
}

TEST_CASE("a dropped error shows at the end of the process") {
    const Ended dropped = in_child([] { cudaSetDevice(1); });
    CHECK(dropped.status == 86);
    CHECK_THAT(dropped.text, ContainsSubstring("unseen error: cudaSetDevice returned cudaErrorInvalidDevice"));
    const Ended after_a_failure = in_child([] {
        set_to<<<1, 1>>>(nullptr, 1);
        cudaDeviceSynchronize();
        cudaFree(nullptr);
    });
    CHECK(after_a_failure.status == 86);
    CHECK_THAT(after_a_failure.text, ContainsSubstring("illegal access") && !ContainsSubstring("unseen error"));
}

__global__ void say(const char* text) { printf("%s\n", text); }

TEST_CASE("output of a kernel for which nobody waits is noted: a GPU never shows it") {
    const Ended unseen = in_child([] { say<<<1, 1>>>("hello"); });
    CHECK(unseen.status == 0);
    CHECK_THAT(unseen.text,
               StartsWith("CPU device: note: unseen output: kernel say printed, and no later call waited"));
    const Ended seen = in_child([] {
        say<<<1, 1>>>("hello");
        cudaDeviceSynchronize();
    });
    CHECK(seen.text.empty());
}

TEST_CASE("a refused launch and a failed kernel that nobody saw show at the end of the process") {
    const Ended refused = in_child([] { set_to<<<dim3(1, 70000), 32>>>(nullptr, 1); });
    CHECK(refused.status == 86);
    CHECK_THAT(refused.text, ContainsSubstring("unseen error: the launch of set_to was refused") &&
                                 ContainsSubstring("70000") && ContainsSubstring("65535"));
    const Ended failed = in_child([] { set_to<<<1, 1>>>(nullptr, 1); });
    CHECK(failed.status == 86);
    CHECK_THAT(failed.text, ContainsSubstring("unseen error: kernel set_to failed with cudaErrorIllegalAddress"));
    const Ended seen = in_child([] {
        set_to<<<1, 1>>>(nullptr, 1);
        cudaDeviceSynchronize();
    });
    CHECK_THAT(seen.text, !ContainsSubstring("unseen error"));
}

// ---- copies --------------------------------------------------------------------------------------------------

TEST_CASE("names the array that a copy runs out of, and by how much") {
    const Instrumented instrumented;
    std::vector<char> host(200);
    char* d_small = nullptr;
    REQUIRE(cudaMalloc(&d_small, 64) == cudaSuccess);
    const auto message_of = [](cudaError_t error) {
        CHECK(error == cudaErrorInvalidValue);
        const Diagnostic found = only_diagnostic();
        CHECK(found.kind == DiagnosticKind::out_of_bounds);
        return found.message;
    };
    const int line = __LINE__ + 1;
    CHECK(cudaMemcpy(d_small, host.data(), 65, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    const Diagnostic found = only_diagnostic();
    CHECK(found.array == "d_small");
    CHECK(is_at(found.site, line));
    CHECK_THAT(found.message,
               ContainsSubstring("cudaMemcpy would write 65 bytes from byte 0 on of 'd_small', 64 bytes of ") &&
                   ContainsSubstring(": 1 byte past its end"));
    CHECK_THAT(message_of(cudaMemcpyAsync(host.data(), d_small + 60, 8, cudaMemcpyDeviceToHost, nullptr)),
               ContainsSubstring("would read 8 bytes from byte 60 on") && ContainsSubstring(": 4 bytes past its end"));
    CHECK_THAT(message_of(cudaMemset(d_small, 0, 100)), ContainsSubstring("cudaMemset would write 100 bytes"));
    CHECK_THAT(message_of(cudaMemcpy2D(d_small, 20, host.data(), 20, 10, 4, cudaMemcpyHostToDevice)),
               ContainsSubstring("cudaMemcpy2D would write 70 bytes"));
    CHECK_THAT(message_of(cudaMemset3D({d_small, 16, 16, 2}, 0, {16, 2, 3})), ContainsSubstring("cudaMemset3D"));
    CHECK_THAT(message_of(cudaMemcpyToSymbol(coefficients, host.data(), 20)),
               ContainsSubstring("cudaMemcpyToSymbol would write 20 bytes from byte 0 on of 'coefficients'"));
    CHECK_THAT(
        message_of(cudaMemcpyFromSymbol(host.data(), counters, 32, 8)),
        ContainsSubstring("would read 32 bytes from byte 8 on of 'counters'") && ContainsSubstring("8 bytes past"));
}

TEST_CASE("names the array that a copy misses, and by how much") {
    const Instrumented instrumented;
    std::vector<int> host(200);
    int* d_small = nullptr;
    REQUIRE(cudaMalloc(&d_small, 64) == cudaSuccess);
    const auto message_of = [](cudaError_t error) {
        CHECK(error == cudaErrorInvalidValue);
        const Diagnostic found = only_diagnostic();
        CHECK(found.kind == DiagnosticKind::out_of_bounds);
        CHECK(found.array == "d_small");
        return found.message;
    };
    CHECK_THAT(message_of(cudaMemcpy(d_small + 18, host.data(), 20, cudaMemcpyHostToDevice)),
               ContainsSubstring("cudaMemcpy would write 20 bytes that begin 8 bytes past the end of 'd_small', 64 "
                                 "bytes of device memory"));
    CHECK_THAT(message_of(cudaMemcpyAsync(host.data(), d_small + 16, 8, cudaMemcpyDeviceToHost, nullptr)),
               ContainsSubstring("would read 8 bytes that begin right at the end of 'd_small'"));
    CHECK_THAT(message_of(cudaMemset(d_small - 1, 0, 4)),
               ContainsSubstring("cudaMemset would write 4 bytes that begin 4 bytes before the start of 'd_small'"));
}

TEST_CASE("says which pointer of a copy is not what its direction says") {
    const Instrumented instrumented;
    std::vector<int> host(8), other(8);
    int* d_data = nullptr;
    int* pinned = nullptr;
    constexpr std::size_t bytes = 32;
    REQUIRE(cudaMalloc(&d_data, bytes) == cudaSuccess);
    REQUIRE(cudaMallocHost(&pinned, bytes) == cudaSuccess);
    const auto wrong = [](cudaError_t error, cudaError_t expected) {
        CHECK(error == expected);
        const Diagnostic found = only_diagnostic();
        CHECK(found.kind == DiagnosticKind::host_memory);
        return found.message + " | " + found.hint;
    };
    // Swapped pointers.
    CHECK_THAT(wrong(cudaMemcpy(host.data(), d_data, bytes, cudaMemcpyHostToDevice), cudaErrorInvalidValue),
               ContainsSubstring("cudaMemcpy with cudaMemcpyHostToDevice was given host memory") &&
                   ContainsSubstring("as its destination") && ContainsSubstring("cudaMemcpyDeviceToHost"));
    // Both on the host.
    CHECK_THAT(wrong(cudaMemcpy(host.data(), other.data(), bytes, cudaMemcpyDeviceToHost), cudaErrorInvalidValue),
               ContainsSubstring("as its source") && ContainsSubstring("neither pointer is device memory"));
    // Works, on a GPU too; still not what was said.
    CHECK_THAT(
        wrong(cudaMemcpy(host.data(), d_data, bytes, cudaMemcpyHostToHost), cudaSuccess),
        ContainsSubstring("was given 'd_data', 32 bytes of device memory") && ContainsSubstring("as its source"));
    CHECK_THAT(wrong(cudaMemset(host.data(), 0, 4), cudaErrorInvalidValue),
               ContainsSubstring("cudaMemset was given host memory"));
    // A variable's name means the host's copy of it.
    CHECK_THAT(wrong(cudaMemcpy(coefficients, host.data(), 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue),
               ContainsSubstring("'coefficients', a __constant__ variable") && ContainsSubstring("cudaMemcpyToSymbol"));

    CHECK_THAT(wrong(cudaMemcpyToSymbol(of_a_block, host.data(), 16), cudaErrorInvalidSymbol),
               ContainsSubstring("was given 'of_a_block', a __shared__ variable"));
    CHECK_THAT(wrong(cudaMemcpyFromSymbol(host.data(), of_a_block, 16), cudaErrorInvalidSymbol),
               ContainsSubstring("the host reaches none of them"));

    // Pinned memory is on either side.
    CHECK(cudaMemcpy(pinned, host.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemcpy(host.data(), pinned, bytes, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(cudaMemcpy(d_data, pinned, bytes, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemcpy(host.data(), d_data, bytes, cudaMemcpyDefault) == cudaSuccess);
    CHECK(cudaMemcpy(host.data(), other.data(), bytes, cudaMemcpyHostToHost) == cudaSuccess);
    CHECK(cpu_device::take_diagnostics().empty());
}

TEST_CASE("says what is wrong with the memory that is copied to or from an array") {
    const Instrumented instrumented;
    std::vector<float> host(64);
    float* d_data = nullptr;
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    REQUIRE(cudaMalloc(&d_data, 64) == cudaSuccess);
    REQUIRE(cudaMallocArray(&array, &format, 8, 8) == cudaSuccess);
    const auto message_of = [](cudaError_t error, cudaError_t expected, DiagnosticKind kind) {
        CHECK(error == expected);
        const Diagnostic found = only_diagnostic();
        CHECK(found.kind == kind);
        return found.message;
    };
    const int line = __LINE__ + 1;
    CHECK(cudaMemcpy2DToArray(array, 0, 0, host.data(), 32, 32, 8, cudaMemcpyDeviceToDevice) == cudaErrorInvalidValue);
    const Diagnostic found = only_diagnostic();
    CHECK(is_at(found.site, line));
    CHECK(found.kind == DiagnosticKind::host_memory);
    CHECK_THAT(found.message,
               ContainsSubstring("cudaMemcpy2DToArray with cudaMemcpyDeviceToDevice was given host memory") &&
                   ContainsSubstring("as its source"));
    CHECK_THAT(found.hint, ContainsSubstring("cudaMemcpyDefault"));
    // Works, on a GPU too; still not what was said.
    CHECK_THAT(
        message_of(cudaMemcpyToArray(array, 0, 0, d_data, 64, cudaMemcpyHostToDevice), cudaSuccess,
                   DiagnosticKind::host_memory),
        ContainsSubstring("was given 'd_data', 64 bytes of device memory") && ContainsSubstring("as its source"));
    CHECK_THAT(
        message_of(cudaMemcpyFromArrayAsync(d_data, array, 0, 0, 65, cudaMemcpyDeviceToDevice, nullptr),
                   cudaErrorInvalidValue, DiagnosticKind::out_of_bounds),
        ContainsSubstring("cudaMemcpyFromArrayAsync would write 65 bytes") && ContainsSubstring("1 byte past its end"));
    cudaMemcpy3DParms parameters{};
    parameters.srcArray = array;
    parameters.dstPtr = make_cudaPitchedPtr(d_data, 32, 8, 8);
    parameters.extent = {8, 8, 1};
    parameters.kind = cudaMemcpyDeviceToDevice;
    CHECK_THAT(message_of(cudaMemcpy3D(&parameters), cudaErrorInvalidValue, DiagnosticKind::out_of_bounds),
               ContainsSubstring("cudaMemcpy3D would write 256 bytes") && ContainsSubstring("192 bytes past its end"));
    REQUIRE(cudaFree(d_data) == cudaSuccess);
    CHECK_THAT(message_of(cudaMemcpy2DFromArray(d_data, 32, array, 0, 0, 32, 2, cudaMemcpyDeviceToDevice),
                          cudaErrorInvalidValue, DiagnosticKind::use_after_free),
               ContainsSubstring("as its destination"));

    CHECK(cudaMemcpy2DToArray(array, 0, 0, host.data(), 32, 32, 8, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemcpy2DFromArray(host.data(), 32, array, 0, 0, 32, 8, cudaMemcpyDefault) == cudaSuccess);
    CHECK(cudaFreeArray(array) == cudaSuccess);
    CHECK(cpu_device::take_diagnostics().empty());
}

TEST_CASE("a variable is device memory by the address that cudaGetSymbolAddress gives") {
    const Instrumented instrumented;
    const std::vector<float> sent = {1, 2, 3, 4};
    float* d_coefficients = nullptr;
    REQUIRE(cudaGetSymbolAddress(&d_coefficients, coefficients) == cudaSuccess);
    CHECK(cudaMemcpy(d_coefficients, sent.data(), 16, cudaMemcpyHostToDevice) == cudaSuccess);
    std::vector<float> back(4);
    CHECK(cudaMemcpyFromSymbol(back.data(), coefficients, 16) == cudaSuccess);
    CHECK(back == sent);
    CHECK(cudaMemset(d_coefficients, 0, 17) == cudaErrorInvalidValue);
    CHECK(only_diagnostic().array == "coefficients");
}

TEST_CASE("says what was given to a call that needs a variable of the device") {
    const Instrumented instrumented;
    float host[4] = {1, 2, 3, 4}, back[4] = {};
    const float value = 5;
    float* d_data = nullptr;
    REQUIRE(cudaMalloc(&d_data, 16) == cudaSuccess);
    const auto said = [](cudaError_t error) {
        CHECK(error == cudaErrorInvalidSymbol);
        const Diagnostic found = only_diagnostic();
        CHECK(found.kind == DiagnosticKind::host_memory);
        return found.message + " | " + found.hint;
    };
    const int line = __LINE__ + 1;
    CHECK(cudaMemcpyToSymbol(host, back, 16) == cudaErrorInvalidSymbol);
    CHECK(only_diagnostic().site.line == line);
    CHECK_THAT(said(cudaMemcpyToSymbol(host, back, 16)),
               ContainsSubstring("cudaMemcpyToSymbol was given a variable of the host, where it needs a variable of "
                                 "the device") &&
                   ContainsSubstring("cudaMemcpyToSymbol(variable, &value, bytes)"));
    CHECK_THAT(said(cudaMemcpyToSymbolAsync(value, back, 4)), ContainsSubstring("given a variable of the host"));
    CHECK_THAT(said(cudaMemcpyFromSymbol(back, host, 16)),
               ContainsSubstring("cudaMemcpyFromSymbol(&value, variable, bytes)"));
    CHECK_THAT(said(cudaMemcpyToSymbol(host, coefficients, 16)), ContainsSubstring("were the two swapped?"));
    CHECK_THAT(said(cudaMemcpyFromSymbol(coefficients, host, 16)), ContainsSubstring("were the two swapped?"));
    CHECK_THAT(said(cudaMemcpyToSymbol(&coefficients, host, 16)),
               ContainsSubstring("the address of 'coefficients', a __constant__ variable of 16 bytes") &&
                   ContainsSubstring("without &: cudaMemcpyToSymbol(coefficients, &value, bytes)"));
    CHECK_THAT(said(cudaMemcpyToSymbol(coefficients[1], &value, 4)),
               ContainsSubstring("a part of 'coefficients'") && ContainsSubstring("begins 4 bytes after its start") &&
                   ContainsSubstring("cudaMemcpyToSymbol(coefficients, &value, bytes, 4)"));
    CHECK_THAT(said(cudaMemcpyFromSymbol(back, range.high, 4)), ContainsSubstring("a part of 'range'"));
    CHECK_THAT(said(cudaMemcpyToSymbol(d_data, host, 16)),
               ContainsSubstring("'d_data', 16 bytes of device memory") && ContainsSubstring("with cudaMemcpy"));
    CHECK_THAT(said(cudaMemcpyToSymbol(3, host, 4)), ContainsSubstring("was given a value"));
    CHECK_THAT(said(cudaMemcpyToSymbol(&host, back, 4)), ContainsSubstring("an address in the memory of the host"));
    void* address = nullptr;
    std::size_t bytes = 0;
    CHECK_THAT(said(cudaGetSymbolAddress(&address, &events)),
               ContainsSubstring("cudaGetSymbolAddress(&result, events)"));
    CHECK_THAT(said(cudaGetSymbolSize(&bytes, coefficients[2])), ContainsSubstring("without an index or a member"));
    CHECK(address == nullptr);
    CHECK(bytes == 0);
}

TEST_CASE("a static variable of the host is a symbol to nobody") {
    // Where a program may have variables that the rewriter cannot read, nothing is known of it.
    REQUIRE(!cpu_device::has_unregistered_variables());
    const Instrumented instrumented;
    const float sent = 3;
    CHECK(cudaMemcpyToSymbol(number_of_host, &sent, 4) == cudaErrorInvalidSymbol);
    CHECK(number_of_host == 1);
    CHECK_THAT(only_diagnostic().message, ContainsSubstring("a variable of the host"));
}

TEST_CASE("a direction in the place of the offset is named, whether the bytes fit or not") {
    const Instrumented instrumented;
    const float sent[4] = {1, 2, 3, 4};
    float back[4] = {};
    const auto said = [](cudaError_t error, cudaError_t expected) {
        CHECK(error == expected);
        const Diagnostic found = only_diagnostic();
        CHECK(found.kind == DiagnosticKind::out_of_bounds);
        return found.message + " | " + found.hint;
    };
    CHECK_THAT(said(cudaMemcpyToSymbol(coefficients, sent, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue),
               ContainsSubstring("was given cudaMemcpyHostToDevice as its fourth argument, which is the offset in "
                                 "bytes: it would begin 1 byte after the start") &&
                   ContainsSubstring("leave the direction away"));
    CHECK_THAT(
        said(cudaMemcpyFromSymbol(back, coefficients, 4, cudaMemcpyDeviceToHost), cudaSuccess),
        ContainsSubstring("cudaMemcpyDeviceToHost as its fourth argument") && ContainsSubstring("2 bytes after"));
    CHECK_THAT(said(cudaMemcpyToSymbolAsync(coefficients, sent, 4, cudaMemcpyHostToDevice), cudaSuccess),
               ContainsSubstring("fourth argument"));
    CHECK_THAT(said(cudaMemcpyFromSymbolAsync(back, coefficients, 4, cudaMemcpyDefault), cudaSuccess),
               ContainsSubstring("cudaMemcpyDefault as its fourth argument"));
    CHECK(cudaMemcpyToSymbol(coefficients, sent, 4, 0, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemcpyFromSymbolAsync(back, coefficients, 4, 4, cudaMemcpyDeviceToHost, nullptr) == cudaSuccess);
    CHECK(cpu_device::take_diagnostics().empty());
}

TEST_CASE("finds copies of memory that was freed") {
    const Instrumented instrumented;
    std::vector<int> host(4);
    int* d_gone = nullptr;
    REQUIRE(cudaMalloc(&d_gone, 16) == cudaSuccess);
    const int line = __LINE__ + 1;
    CHECK(cudaFree(d_gone) == cudaSuccess);
    CHECK(cudaMemcpy(host.data(), d_gone, 16, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    Diagnostic found = only_diagnostic();
    CHECK(found.kind == DiagnosticKind::use_after_free);
    CHECK_THAT(found.message, ContainsSubstring("was given 'd_gone', 16 bytes of device memory"));
    REQUIRE(found.other);
    CHECK(is_at(found.other->site, line));
    CHECK(cudaMemset(d_gone, 0, 16) == cudaErrorInvalidValue);
    CHECK(only_diagnostic().kind == DiagnosticKind::use_after_free);
}

TEST_CASE("host code that uses a device variable's name gets a copy of the host's own") {
    const auto before = cpu_device::instrument({});  // it gets it whether errors are looked for or not
    set_symbol(events, 5u);
    set_symbol(range, Range{1, 2});
    const std::array<float, 4> four = {1, 2, 3, 4};
    REQUIRE(cudaMemcpyToSymbol(coefficients, four.data(), sizeof four) == cudaSuccess);
    CHECK(return_events() == 0);
    use_names();
    count_events<<<1, 4>>>();
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(return_events() == 3);
    const Names of_host = names();
    CHECK(of_host.events == 3);
    CHECK(of_host.range.low == 7);
    CHECK(of_host.range.high == 0);
    CHECK(of_host.coefficients == std::array<float, 4>{0, 0, 9, 0});

    Names of_device{};
    REQUIRE(cudaMemcpyFromSymbol(&of_device.events, events, sizeof of_device.events) == cudaSuccess);
    REQUIRE(cudaMemcpyFromSymbol(&of_device.range, range, sizeof of_device.range) == cudaSuccess);
    REQUIRE(cudaMemcpyFromSymbol(&of_device.coefficients, coefficients, sizeof coefficients) == cudaSuccess);
    CHECK(of_device.events == 9);
    CHECK(of_device.range.low == 1);
    CHECK(of_device.range.high == 2);
    CHECK(of_device.coefficients == four);
    CHECK(cpu_device::take_diagnostics().empty());
    cpu_device::instrument(before);
}

TEST_CASE("a line of host code that uses a device variable's name is reported once") {
    const Instrumented instrumented;
    write_events();
    const Diagnostic written = only_diagnostic();
    CHECK(written.kind == DiagnosticKind::host_memory);
    CHECK(written.message ==
          "host code writes the __device__ variable 'events' directly: this changes the host's own copy, and no kernel "
          "sees it");
    CHECK(written.site.line == line_of_write);
    CHECK_THAT(written.site.file, Catch::Matchers::EndsWith("allocations_test.cu"));
    CHECK(written.array == "events");
    CHECK(written.kernel.empty());
    CHECK(written.count == 1);
    CHECK_THAT(written.hint, ContainsSubstring("cudaMemcpyToSymbol"));
    CHECK(cpu_device::text_of(written).find("\n  'events'") == std::string::npos);

    low_limit();
    const Diagnostic read = only_diagnostic();
    CHECK(read.kind == DiagnosticKind::host_memory);
    CHECK(read.message ==
          "host code reads the __constant__ variable 'range' directly: this is the host's own copy, and not what "
          "kernels use");
    CHECK(read.site.line == line_of_read);
    CHECK_THAT(read.hint, ContainsSubstring("cudaMemcpyFromSymbol"));

    // The same line counts again for whoever asks later.
    for (unsigned i = 0; i < 2; ++i) {
        return_events();
        CHECK(only_diagnostic().array == "events");
    }
}

TEST_CASE("what host code may do with the names of variables is not reported") {
    const Instrumented instrumented;
    set_symbol(events, 1u);
    void* address = nullptr;
    CHECK(cudaGetSymbolAddress(&address, events) == cudaSuccess);
    CHECK(address == &events);
    std::size_t bytes = 0;
    CHECK(cudaGetSymbolSize(&bytes, coefficients) == cudaSuccess);
    CHECK(bytes == sizeof coefficients);
    CHECK(use_other_names() == 4 + 3 + 3 + 1);
    CHECK(cpu_device::take_diagnostics().empty());
}

// How the CPU device runs a kernel: launches, thread identity, barriers, warp collectives and shared memory.
//
// The source rewriter turns `kernel<<<grid, block, bytes, stream>>>(a, b)` into a call of a `cpu_device::launcher`
// and `__shared__` declarations into references obtained from `cpu_device::SharedVariable`. Programs never name
// anything in this header themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cpu_device/instrumented.h"
#include "cpu_device/types.h"

// The built-in variables. Real variables and not macros, because host code likes to call its own launch shapes
// `blockDim` and `gridDim`.
#ifdef __CPU_DEVICE_INSTRUMENTED__
namespace cpu_device {
/// A dim3 without constructors. Of a constant of such a type g++ knows that nothing ever writes it.
struct ConstantDim3 {
    unsigned int x, y, z;

    constexpr operator dim3() const { return {x, y, z}; }   // NOLINT
    constexpr operator uint3() const { return {x, y, z}; }  // NOLINT
};
}  // namespace cpu_device
// Instrumented code sees them as constants, which a thread's are: their loads need no instrumenting.
extern constinit const thread_local uint3 threadIdx __attribute__((tls_model("initial-exec")));
extern constinit const thread_local uint3 blockIdx __attribute__((tls_model("initial-exec")));
extern constinit const thread_local cpu_device::ConstantDim3 blockDim __attribute__((tls_model("initial-exec")));
extern constinit const thread_local cpu_device::ConstantDim3 gridDim __attribute__((tls_model("initial-exec")));
#else
extern constinit thread_local uint3 threadIdx __attribute__((tls_model("initial-exec")));
extern constinit thread_local uint3 blockIdx __attribute__((tls_model("initial-exec")));
extern constinit thread_local dim3 blockDim __attribute__((tls_model("initial-exec")));
extern constinit thread_local dim3 gridDim __attribute__((tls_model("initial-exec")));
#endif
constexpr int warpSize = 32;

namespace cpu_device {

class Block;

/// A place in the program's source, as `__builtin_FILE()` and `__builtin_LINE()` give it.
struct Site {
    const char* file = "";
    int line = 0;
};

/// The four arguments between `<<<` and `>>>`.
struct LaunchConfig {
    dim3 grid;
    dim3 block;
    std::size_t shared_bytes = 0;
    cudaStream_t stream = nullptr;
    const void* kernel = nullptr;  ///< where it is; null where the launch cannot tell
    bool programmatic = false;     ///< may begin before the kernel ahead of it in the stream has ended
    bool in_graph = false;         ///< a node of a graph that was launched
    dim3 cluster = {0, 0, 0};      ///< blocks of a cluster, as the launch asks for; all 0: it does not

    LaunchConfig(dim3 grid_shape, dim3 block_shape, std::size_t bytes = 0, cudaStream_t on_stream = nullptr)
        : grid(grid_shape), block(block_shape), shared_bytes(bytes), stream(on_stream) {}

    /// The same for a kernel at this address.
    LaunchConfig of(const void* address) const {
        LaunchConfig config = *this;
        config.kernel = address;
        return config;
    }
};

/// What the runtime knows of the running device thread beside the four built-in variables.
struct ThreadState {
    unsigned linear_thread;  ///< rank of the thread in its block: x fastest, then y, then z
    unsigned block_threads;  ///< threads in the block
    unsigned next_thread;    ///< how many threads of the block have started
    bool slowly;             ///< threads start in an order drawn from the schedule's seed, or are instrumented
    unsigned row_start;      ///< linear rank of the first thread with the same y and z as the one started last
    unsigned row_end;        ///< one past the last of them
    unsigned row_y, row_z;   ///< their y and z
    Block* block;            ///< null on the host side
};

extern constinit thread_local ThreadState current_thread __attribute__((tls_model("initial-exec")));

/// True in a kernel, false in host code.
inline bool in_kernel() { return current_thread.block != nullptr; }

/// Which of its two versions a `__host__ __device__` function runs that depends on `__CUDA_ARCH__`. No constant: a
/// constant expression cannot be told which of them is meant.
template <class = void>
constexpr bool runs_device_version() {
    return in_kernel();
}

inline unsigned threads_per_block() { return current_thread.block_threads; }
inline unsigned lane_id() { return current_thread.linear_thread % 32; }
inline unsigned warp_id() { return current_thread.linear_thread / 32; }

// ---- launching -------------------------------------------------------------------------------------------

struct LaunchSite {
    const char* kernel;  ///< the expression left of `<<<`, as written
    Site site;
    /// Names of the kernel's parameters, "in!,out,n", with a mark behind those that are `__restrict__`; empty when not
    /// known.
    const char* parameters = "";
    // Of a launch through a variable:
    const char* kernels = "";        ///< what it may be, with the parameters: "copy(in,out);scale(x)"
    const void* function = nullptr;  ///< what it is, if that can be told
};

/// `FunctionOf{}(kernel)` is the function to which `kernel` points; null for anything else that can be called.
struct FunctionOf {
    template <class Kernel>
    CPU_DEVICE_UNSEEN const void* operator()(const Kernel& kernel) const {
        using Pointer = std::decay_t<Kernel>;
        if constexpr (std::is_pointer_v<Pointer> && std::is_function_v<std::remove_pointer_t<Pointer>>) {
            return reinterpret_cast<const void*>(static_cast<Pointer>(kernel));
        } else {
            return nullptr;
        }
    }
};

struct KeptLaunch;

/// One launch with its types erased: `run_threads(call)` runs device threads, one after the other, until the
/// block has no unstarted thread left.
struct ErasedLaunch {
    void (*run_threads)(void* call);
    void* call;
    const void* const* pointers = nullptr;  ///< for each argument its value if it is a pointer, else null
    std::size_t arguments = 0;
    /// `keep(keeper)` copies the arguments, for launches after the call has returned; null where they cannot be copied.
    KeptLaunch* (*keep)(const void* keeper) = nullptr;
    const void* keeper = nullptr;
};

/// A launch with copies of its arguments, for a node of a graph: it may be run as often as wanted.
struct KeptLaunch {
    ErasedLaunch launch;
    void* const* arguments;  ///< pointers to the copies
    void (*destroy)(KeptLaunch* kept);
};

template <class T>
const void* pointer_or_null(const T& argument) {
    if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) {
        return const_cast<const void*>(static_cast<const volatile void*>(argument));
    } else {
        return nullptr;
    }
}

void launch_erased(const LaunchSite& site, const LaunchConfig& config, const ErasedLaunch& launch, bool cooperative);

/// The same for any block: one whose threads start in shuffled order, or that is instrumented.
bool start_next_thread_slowly();

#ifdef __CPU_DEVICE_INSTRUMENTED__

/// Makes the next thread of the block that has not started the running one; false when there is none.
CPU_DEVICE_INLINE bool start_next_thread() { return start_next_thread_slowly(); }

#else

/// Makes the thread that follows the one started last the running one. There has to be one.
inline void start_in_order(ThreadState& state) {
    const unsigned thread = state.next_thread;
    if (thread == state.row_end) {
        state.row_start = thread;
        state.row_end += blockDim.x;
        if (++state.row_y == blockDim.y) {
            state.row_y = 0;
            ++state.row_z;
        }
    }
    state.next_thread = thread + 1;
    state.linear_thread = thread;
    threadIdx.x = thread - state.row_start;
    threadIdx.y = state.row_y;
    threadIdx.z = state.row_z;
}

/// Makes the next thread of the block that has not started the running one; false when there is none.
inline bool start_next_thread() {
    ThreadState& state = current_thread;
    if (state.slowly) return start_next_thread_slowly();
    if (state.next_thread == state.block_threads) return false;
    start_in_order(state);
    return true;
}

#endif

template <class Call>
CPU_DEVICE_UNSEEN void run_threads(void* call) {
    while (start_next_thread()) (*static_cast<Call*>(call))();
}

/// The types of a kernel's parameters, and where the kernel is.
template <class... Parameters>
struct Signature {
    const void* kernel;
};

/// `SignatureOf{}(kernel)` is the kernel's signature, where it is certain which function is meant.
struct SignatureOf {
    template <class... Parameters>
    CPU_DEVICE_UNSEEN Signature<Parameters...> operator()(void (*kernel)(Parameters...)) const {
        return {reinterpret_cast<const void*>(kernel)};
    }
};

/// What a kernel can reach through a parameter of type `Parameter`, if that is known: a pointer or a reference.
template <class Parameter>
const void* pointer_of(const std::remove_reference_t<Parameter>& argument) {
    if constexpr (std::is_reference_v<Parameter>) {
        return const_cast<const void*>(static_cast<const volatile void*>(__builtin_addressof(argument)));
    } else {
        return pointer_or_null(argument);
    }
}

/// Calls the kernel with these arguments, which have to live as long.
template <class Body, class... Arguments>
auto call_of(Body& body, Arguments&... arguments) {
    return [&body, &arguments...]() CPU_DEVICE_UNSEEN { body(arguments...); };
}

template <class Body, class... Parameters>
struct KeptCall : KeptLaunch {
    Body body;
    std::tuple<Parameters...> copies;
    const void* pointers[sizeof...(Parameters) + 1];
    void* addresses[sizeof...(Parameters) + 1];

    explicit KeptCall(const Body& kernel, std::remove_reference_t<Parameters>&... given)
        : body(kernel), copies(given...) {
        std::apply(
            [this](auto&... copy) {
                const void* const values[] = {pointer_of<Parameters>(copy)..., nullptr};
                const volatile void* const places[] = {__builtin_addressof(copy)..., nullptr};
                for (std::size_t i = 0; i <= sizeof...(Parameters); ++i) {
                    pointers[i] = values[i];
                    addresses[i] = const_cast<void*>(places[i]);
                }
            },
            copies);
        launch = {run, this, pointers, sizeof...(Parameters)};
        arguments = addresses;
        destroy = [](KeptLaunch* kept) { delete static_cast<KeptCall*>(kept); };
    }

    CPU_DEVICE_UNSEEN static void run(void* self) {
        auto& kept = *static_cast<KeptCall*>(self);
        std::apply(
            [&kept](auto&... copy) CPU_DEVICE_UNSEEN {
                auto call = call_of(kept.body, copy...);
                run_threads<decltype(call)>(&call);
            },
            kept.copies);
    }
};

/// Copies what a launch calls and gets. A body that refers to variables around it is replaced by the kernel itself.
template <class... Parameters, class Body>
KeptLaunch* keep_call(const void* kernel, const Body& body, std::remove_reference_t<Parameters>&... arguments) {
    if constexpr (std::is_empty_v<Body>) {
        return new KeptCall<Body, Parameters...>(body, arguments...);
    } else {
        using Function = void (*)(Parameters...);
        if (kernel == nullptr) return nullptr;
        return new KeptCall<Function, Parameters...>((Function) const_cast<void*>(kernel), arguments...);
    }
}

/// Runs `body(arguments...)` once for every thread of the grid.
template <class... Parameters, class Body>
void launch_body(const LaunchSite& site, const LaunchConfig& config, Body& body,
                 std::remove_reference_t<Parameters>&... arguments) {
    auto call = call_of(body, arguments...);
    const void* const pointers[] = {pointer_of<Parameters>(arguments)..., nullptr};
    ErasedLaunch launch{&run_threads<decltype(call)>, &call, pointers, sizeof...(Parameters)};
    if constexpr ((std::is_copy_constructible_v<Parameters> && ...)) {
        const auto keep = [&] { return keep_call<Parameters...>(config.kernel, body, arguments...); };
        launch.keep = [](const void* keeper) { return (*static_cast<const decltype(keep)*>(keeper))(); };
        launch.keeper = &keep;
        launch_erased(site, config, launch, false);
    } else {
        launch_erased(site, config, launch, false);
    }
}

/// Whether an argument of type `A` is copied for a launch although nobody said what the kernel's parameter is. Anything
/// else may own something and turn into the parameter by a conversion: it is held where it is.
template <class A>
constexpr bool is_plain_argument =
    std::is_trivially_copyable_v<std::decay_t<A>>&& std::is_copy_constructible_v<std::decay_t<A>>;

/// How argument number `index` of type `A` is held during a launch, and what it is to the kernel. `references` has a
/// bit for each parameter that is declared as a reference.
template <class A, std::size_t index, std::uint64_t references>
struct DeducedArgument {
    static constexpr bool is_reference = (references >> (index < 63 ? index : 63) & 1) != 0;
    using Held =
        std::conditional_t<is_plain_argument<A> && !is_reference, std::decay_t<A>, std::remove_reference_t<A>&>;
    using Parameter = std::conditional_t<is_reference, Held, std::remove_reference_t<Held>>;
};

/// A launch that gets its arguments in a call. The types of the kernel's parameters are not known, because they are
/// deduced from the arguments: these are copied as they are.
template <std::uint64_t references, class Body>
class DeducedLauncher {
public:
    DeducedLauncher(const LaunchSite& site, const LaunchConfig& config, Body body)
        : site_(site), config_(config), body_(std::move(body)) {}

    // By value, because a bit-field, or a static constant that is defined nowhere, cannot be bound to a reference.
    template <class... Arguments>
    requires(references == 0 && (is_plain_argument<Arguments> && ...)) void operator()(Arguments... arguments) {
        launch_body<Arguments...>(site_, config_, body_, arguments...);
    }
    template <class... Arguments>
    requires(references != 0 || !(is_plain_argument<Arguments> && ...)) void operator()(Arguments&&... arguments) {
        hold(std::index_sequence_for<Arguments...>(), arguments...);
    }
    template <class... Arguments>
    void run(Arguments&&... arguments) {
        (*this)(static_cast<Arguments&&>(arguments)...);
    }

protected:
    LaunchSite site_;
    LaunchConfig config_;
    Body body_;

private:
    template <std::size_t... index, class... Arguments>
    void hold(std::index_sequence<index...>, Arguments&... given) {
        [this](typename DeducedArgument<Arguments, index, references>::Held... arguments) {
            launch_body<typename DeducedArgument<Arguments, index, references>::Parameter...>(site_, config_, body_,
                                                                                              arguments...);
        }(given...);
    }
};

/// A launch that gets its arguments in a call, which converts them to the types of the kernel's parameters.
template <class Body, class... Parameters>
class TypedLauncher : DeducedLauncher<0, Body> {
public:
    using DeducedLauncher<0, Body>::DeducedLauncher;

    void operator()(Parameters... arguments) {
        launch_body<Parameters...>(this->site_, this->config_, this->body_, arguments...);
    }
    /// The same where there is one kernel and as many arguments as it has parameters. With no other function to choose
    /// from, a compiler says of an argument of the wrong type what cannot be converted to what, and no more.
    void run(Parameters... arguments) {
        launch_body<Parameters...>(this->site_, this->config_, this->body_, arguments...);
    }
    /// For default arguments, and for templates that were given a part of a parameter pack.
    template <class... Arguments>
    requires(sizeof...(Arguments) != sizeof...(Parameters)) void operator()(Arguments&&... arguments) {
        DeducedLauncher<0, Body>::operator()(static_cast<Arguments&&>(arguments)...);
    }
};

/// `launcher(site, config, ...)(arguments...)` is what `kernel<<<...>>>(arguments...)` becomes. `body(arguments...)`
/// calls the kernel; `find_signature(SignatureOf())` returns its signature, or nothing if that cannot be told.
/// `references` has a bit for each parameter that the source declares as a reference.
template <std::uint64_t references = 0, class FindSignature, class Body>
auto launcher(const LaunchSite& site, const LaunchConfig& config, FindSignature find_signature, Body body) {
    if constexpr (std::is_void_v<decltype(find_signature(SignatureOf()))>) {
        return DeducedLauncher<references, Body>(site, config, std::move(body));
    } else {
        return [&]<class... Parameters>(Signature<Parameters...> found) {
            return TypedLauncher<Body, Parameters...>(site, config.of(found.kernel), std::move(body));
        }(find_signature(SignatureOf()));
    }
}

/// The same for a kernel whose types are left to its call.
template <std::uint64_t references = 0, class Body>
DeducedLauncher<references, Body> launcher(const LaunchSite& site, const LaunchConfig& config, Body body) {
    return {site, config, std::move(body)};
}

/// The same for a pointer to a kernel.
template <std::uint64_t = 0, class... Parameters>
auto launcher(const LaunchSite& site, const LaunchConfig& config, void (*kernel)(Parameters...)) {
    auto body = [kernel](auto&... arguments) CPU_DEVICE_UNSEEN { kernel(arguments...); };
    return TypedLauncher<decltype(body), Parameters...>(site, config.of(reinterpret_cast<const void*>(kernel)), body);
}

/// Runs `body(arguments...)` once for every thread of the grid.
template <class Body, class... Arguments>
void launch(const LaunchSite& site, const LaunchConfig& config, Body body, Arguments... arguments) {
    launch_body<Arguments...>(site, config, body, arguments...);
}

/// A `__device__`, `__constant__` or `__managed__` variable. The rewriter puts one of these behind each definition at
/// namespace scope, so that diagnostics name the variable and accesses outside of it are noticed.
struct DeviceVariable {
    DeviceVariable(const char* name, const void* address, std::size_t bytes, bool is_constant, Site site,
                   bool is_managed = false);
};

/// The rewriter puts one of these at the end of a program's file that may define device variables of which it knows
/// nothing: templates, members of classes, and what a macro declares.
struct UnregisteredVariables {
    UnregisteredVariables();
};

/// The memory that the name of a device variable stands for in host code, zeros at first; null where no device
/// variable begins at `address`. That host code uses the variable's name is reported, once for each line.
void* host_copy_of(const void* address, std::size_t bytes, std::size_t alignment, bool writes, Site site);

/// What host code reads or writes that uses a device variable by its name: the host's own copy, as on a GPU. The
/// rewriter puts this around such a name. `is_array`: it is the name of an array, with enough subscripts.
template <bool is_array, class T>
CPU_DEVICE_UNSEEN constexpr T& host_copy(T& variable, bool writes, Site site) {
    if constexpr (std::is_const_v<std::remove_all_extents_t<T>> || std::is_array_v<T> != is_array) {
        return variable;  // a constant is the same for both; an array's name may be meant as its address
    } else {
        void* copy =
            host_copy_of(const_cast<const void*>(static_cast<const volatile void*>(__builtin_addressof(variable))),
                         sizeof(T), alignof(T), writes, site);
        return copy != nullptr ? *static_cast<T*>(copy) : variable;
    }
}

/// What is no variable but has the name of one: an enumerator of another namespace.
template <bool, class T>
CPU_DEVICE_UNSEEN constexpr T host_copy(const T&& value, bool, Site) {
    return value;
}

// ---- shared memory ---------------------------------------------------------------------------------------

/// One `__shared__` declaration of one kernel (or of one instantiation of a kernel template). The rewriter makes it
/// a `static constinit` variable beside the declaration, and asks it for the running block's copy.
struct SharedVariable {
    const char* name;
    std::size_t bytes;
    std::size_t alignment;
    Site site;
    std::uint64_t launch = 0;  ///< the launch for which `offset` holds
    std::size_t offset = 0;    ///< bytes from the start of the block's shared memory

    constexpr SharedVariable(const char* name_, std::size_t bytes_, std::size_t alignment_, Site site_)
        : name(name_), bytes(bytes_), alignment(alignment_), site(site_) {}

    void* address();  ///< of the running block's copy
};

/// `__shared__ T name;` T may be an array type. Used as: `auto& name = cpu_device::shared<T>(variable);`
template <class T>
CPU_DEVICE_UNSEEN T& shared(SharedVariable& variable) {
    static_assert(std::is_trivially_default_constructible_v<std::remove_all_extents_t<T>>,
                  "a __shared__ variable cannot have a constructor: CUDA does not run it");
    return *static_cast<T*>(variable.address());
}

/// Start of the memory that the third launch argument asked for; every `extern __shared__` array begins here.
void* dynamic_shared_memory();
std::size_t dynamic_shared_bytes();

/// `__shared__ T name;` at namespace scope, where no code runs to look up the block's copy.
template <class T>
struct NamespaceShared {
    mutable SharedVariable variable;
    constexpr NamespaceShared(const char* name, Site site, std::size_t alignment = alignof(T))
        : variable(name, sizeof(T), alignment, site) {}
    operator T&() const { return shared<T>(variable); }  // NOLINT: stands in for the variable itself
    template <class U>
    T& operator=(const U& value) const {
        return shared<T>(variable) = value;
    }
    auto operator&() const { return &shared<T>(variable); }
    template <class Index>
    decltype(auto) operator[](Index i) const {
        return (shared<T>(variable))[i];
    }
};

/// `extern __shared__ T name[];` at namespace scope becomes a pointer of each host thread. `point_at` sets it to where
/// the dynamic shared memory of the block begins that this host thread runs next.
struct NamespaceDynamicShared {
    explicit NamespaceDynamicShared(void (*point_at)(void* start));
};

// ---- barriers and warp collectives -----------------------------------------------------------------------

/// What a group of lanes meets for. Lanes meet only lanes that came for the same operation with the same mask.
enum class Collective : unsigned char { syncwarp, shuffle, vote, match, reduce, group, matrix };

/// Waits for all threads of the block; returns after adding up `contribution` over the block's threads.
/// `__syncthreads_and/or/count` and cg::thread_block::sync are built on it.
unsigned block_barrier(unsigned contribution, Site site);

/// Waits for all blocks of a cooperative launch. Outside one: reported, and the launch fails.
void grid_barrier(Site site);

/// Values that the lanes of `mask` brought to a collective operation, by lane.
struct LaneValues {
    std::uint32_t mask;          ///< lanes that came
    const std::uint64_t* value;  ///< [32]; only lanes in `mask` hold anything
    void* meeting;               ///< the runtime's own
};

/// Brings `value` to the collective operation, waits until every lane named in `mask` came, and shows all values.
/// Copy what you need and then call `leave_collective` (always, and before anything else that may wait).
LaneValues enter_collective(Collective operation, std::uint32_t mask, std::uint64_t value, Site site);
void leave_collective(const LaneValues& values);

/// The running lane, which came to a shuffle of `mask` together with the lanes `came`, took the value of lane `source`.
/// If that lane did not come, and the program uses the value, an error is reported when the launch ends. Returns what
/// to take for it then, in each 8 bytes: all-ones bits, and in one of two runs that are compared something else.
std::uint64_t note_shuffle(std::uint32_t mask, std::uint32_t came, unsigned source, Site site);

/// Lanes of the warp that reached `site` while no lane of the warp could run on: what `__activemask()` and
/// cg::coalesced_threads() return.
std::uint32_t converged_lanes(Site site);

/// Lets the other threads of the block run; a thread that spins on an atomic calls it now and then.
void yield_thread();

/// The order in which threads and blocks run: 0 (the default) is ascending; any other seed shuffles it, the same way
/// every time, so that code which leans on an order fails. Also set by the environment variable CPU_DEVICE_SEED.
void set_schedule_seed(std::uint64_t seed);
std::uint64_t schedule_seed();

/// Stops a kernel in which no block has finished for this many seconds; also set by CPU_DEVICE_TIMEOUT. 0: never.
void set_watchdog_seconds(double seconds);
double watchdog_seconds();

/// Host cores that run blocks; also set by CPU_DEVICE_CORES. At least 1.
void set_cores(unsigned cores);

/// Multiprocessors that the modelled device has, instead of 16; from 1 on. For tests of programs that should run on any
/// device: only what the runtime API tells depends on it, and how many blocks a cooperative launch may have.
void set_multiprocessors(int count);

/// Ends the running kernel with `error`, as a trap does on a GPU. Never returns.
[[noreturn]] void abort_kernel(cudaError_t error, const char* format, ...) __attribute__((format(printf, 2, 3)));

}  // namespace cpu_device

// Every way to write a launch and a __shared__ declaration, really run: nvcc and the CPU device have to agree.
#include <cuda_runtime.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "common/tests/device/results_of.h"
#include "common/tests/device_or_skip.h"

namespace {

// A function and not the macro: nvcc 13.0 never ends on a Catch2 macro in a member function inside its class.
void require(cudaError_t status) { REQUIRE(status == cudaSuccess); }

/// Device memory of `count` integers, all zero at first.
class DeviceInts {
public:
    explicit DeviceInts(int count) : count_(count) {
        device_or_skip();
        require(cudaMalloc(&data_, count * sizeof(int)));
        require(cudaMemset(data_, 0, count * sizeof(int)));
    }
    ~DeviceInts() { cudaFree(data_); }
    DeviceInts(const DeviceInts&) = delete;
    DeviceInts& operator=(const DeviceInts&) = delete;

    int* data() const { return data_; }

    /// The values after everything launched so far.
    std::vector<int> values() const {
        require(cudaGetLastError());
        std::vector<int> result(count_);
        require(cudaMemcpy(result.data(), data_, count_ * sizeof(int), cudaMemcpyDeviceToHost));
        return result;
    }
    int first() const { return values()[0]; }

private:
    int* data_ = nullptr;
    int count_;
};

__global__ void add(int* out, int value) {
    if (threadIdx.x == 0 && blockIdx.x == 0) *out += value;
}

__global__ void add_two(int* out, int a, int b) { *out += 10 * a + b; }

__global__ void touch() {}

template <class T>
__global__ void add_size(int* out, T) {
    *out += static_cast<int>(sizeof(T));
}

template <class T, int scale>
__global__ void add_scaled(T* out, T value) {
    *out += value * scale;
}

template <class... Numbers>
__global__ void add_all(int* out, Numbers... numbers) {
    *out += (0 + ... + static_cast<int>(numbers));
}

__global__ void count_threads(int* out) { atomicAdd(out, 1); }

__global__ void choose_pointer(int* out, const int* first, const int* second) {
    *out = (first == nullptr ? 1 : 0) + (second == nullptr ? 2 : 0);
}

struct Pair {
    int first;
    int second;
};

__global__ void add_pair(int* out, Pair pair, int value) { *out += 100 * pair.first + 10 * pair.second + value; }

__global__ void with_default(int* out, int value = 7) { *out += value; }

extern "C" __global__ void add_c(int* out, int value) { *out += value; }

template <class Function>
__global__ void apply(int* out, Function function) {
    *out += function(*out);
}

struct Increment {
    int by;
    __device__ int operator()(int) const { return by; }
};

template <class T>
struct Kernels {
    template <int scale>
    static constexpr auto scaled = &add_scaled<T, scale>;
};

using AddKernel = void (*)(int*, int);

AddKernel chosen(int& calls) {
    ++calls;
    return add;
}

template <class T>
T doubled(T value) {
    return value + value;
}

template <int a, int b>
constexpr int sum_of = a + b;

__global__ void print_everything(int* out) {
    out[0] = printf("no arguments, but a %% sign\n");
    out[1] = printf("%d + %-4u = %s\n", 1, 2u, "three");
    out[2] = printf("%*d|\n", 6, 42);
    out[3] = printf("%lld %5.2f %c %x %p\n", 1ll, 2.5, 'c', 255, static_cast<void*>(out));
}

}  // namespace

namespace outer::inner {
template <class T>
__global__ void add(int* out, T value) {
    *out += static_cast<int>(value);
}
}  // namespace outer::inner

__global__ void global_add(int* out, int value) { *out += value; }

// ---- the kernel's name -----------------------------------------------------------------------------------

TEST_CASE("launches a kernel by its plain name") {
    DeviceInts out(1);
    add<<<1, 1>>>(out.data(), 5);
    CHECK(out.first() == 5);
}

TEST_CASE("a kernel's printf returns how many arguments it printed") {
    device_or_skip();
    CHECK(results_of<int>(4, [](int* d_out) { print_everything<<<1, 1>>>(d_out); }) == std::vector<int>{0, 3, 2, 5});
}

TEST_CASE("launches a kernel without arguments") {
    device_or_skip();
    touch<<<1, 32>>>();
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("launches qualified, global and extern C kernels") {
    DeviceInts out(1);
    outer::inner::add<<<1, 1>>>(out.data(), 1);
    outer::inner::add<float><<<1, 1>>>(out.data(), 2.5);
    ::global_add<<<1, 1>>>(out.data(), 4);
    add_c<<<1, 1>>>(out.data(), 8);
    ::outer::inner::add<long><<<1, 1>>>(out.data(), 16);
    CHECK(out.first() == 31);
}

TEST_CASE("deduces template arguments from the launch arguments") {
    DeviceInts out(1);
    add_size<<<1, 1>>>(out.data(), 'c');
    add_size<<<1, 1>>>(out.data(), 1.0);
    add_size<float><<<1, 1>>>(out.data(), 1);
    CHECK(out.first() == 1 + 8 + 4);
}

TEST_CASE("passes template arguments with commas and nested brackets") {
    DeviceInts out(1);
    add_scaled<int, 3><<<1, 1>>>(out.data(), 5);
    add_scaled<int, (8 >> 1)><<<1, 1>>>(out.data(), 1);
    add_scaled<int, sum_of<1, 2>><<<1, 1>>>(out.data(), 1);
    CHECK(out.first() == 15 + 4 + 3);
}

TEST_CASE("launches a parenthesized kernel") {
    DeviceInts out(1);
    (add)<<<1, 1>>>(out.data(), 2);
    if (out.data() != nullptr) (add)<<<1, 1>>>(out.data(), 3);
    CHECK(out.first() == 5);
}

TEST_CASE("launches through function pointers, members and tables") {
    DeviceInts out(1);
    const AddKernel pointer = add;
    pointer<<<1, 1>>>(out.data(), 1);
    const AddKernel table[2] = {add, add_c};
    int i = 1;
    table[i]<<<1, 1>>>(out.data(), 2);
    struct {
        AddKernel kernel;
    } holder{add};
    holder.kernel<<<1, 1>>>(out.data(), 4);
    auto* address = &holder;
    address->kernel<<<1, 1>>>(out.data(), 8);
    CHECK(out.first() == 15);
}

TEST_CASE("evaluates the expression that yields the kernel once") {
    DeviceInts out(1);
    int calls = 0;
    (chosen(calls))<<<2, 32>>>(out.data(), 3);
    chosen(calls)<<<2, 32>>>(out.data(), 3);
    CHECK(calls == 2);
    CHECK(out.first() == 6);
}

template <class T>
void launch_member_template(T* out) {
    Kernels<T>::template scaled<3><<<1, 1>>>(out, 2);
}

TEST_CASE("launches a member template of a dependent type") {
    DeviceInts out(1);
    launch_member_template(out.data());
    CHECK(out.first() == 6);
}

// ---- the configuration -----------------------------------------------------------------------------------

TEST_CASE("computes the launch shape from nested expressions") {
    DeviceInts out(1);
    const int n = 1000;
    count_threads<<<(n + 255) / 256, dim3(64, 2, (n >> 9))>>>(out.data());
    CHECK(out.first() == 4 * 128);
}

TEST_CASE("accepts braces as launch shape") {
    DeviceInts out(1);
    count_threads<<<{2, 3}, {4, 5}>>>(out.data());
    CHECK(out.first() == 6 * 20);
}

// clang-format off
TEST_CASE("accepts comparisons, shifts and templates in the launch shape") {
    DeviceInts out(1);
    const int n = 6;
    count_threads<<<n < 5 ? 1 : 2, 64>>>(out.data());
    count_threads<<<1, doubled<std::array<int, 3>::size_type>(8)>>>(out.data());
    count_threads<<<1, sum_of<1, 2> >>>(out.data());
    count_threads<<<1, (64 >> 2)>>>(out.data());
    CHECK(out.first() == 128 + 16 + 3 + 16);
}
// clang-format on

TEST_CASE("takes shared bytes and a stream") {
    DeviceInts out(1);
    cudaStream_t stream;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    const int n = 64;
    add<<<1, 1, sizeof(float) * (n >> 2)>>>(out.data(), 1);
    add<<<1, 1, 0, 0>>>(out.data(), 2);
    add<<<1, 1, 0, stream>>>(out.data(), 4);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(out.first() == 7);
    REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("evaluates the configuration once") {
    DeviceInts out(1);
    int grid = 1, block = 3;
    count_threads<<<grid++, block++>>>(out.data());
    CHECK(grid == 2);
    CHECK(block == 4);
    CHECK(out.first() == 3);
}

// clang-format off
TEST_CASE("accepts spaces, comments and line ends anywhere in a launch") {
    DeviceInts out(1);
    add <<<1, 1>>> (out.data(), 1);
    add /* the kernel */ <<< // grid
        1,   /* >>> */
        1    // block
        >>>
        (out.data(),  // where
         2);
    add<<<1,1>>>(out.data(),4);add<<<1,1>>>(out.data(),8);
    CHECK(out.first() == 15);
}
// clang-format on

// ---- the arguments ---------------------------------------------------------------------------------------

TEST_CASE("evaluates every argument once, on the host") {
    DeviceInts out(1);
    int value = 3;
    add<<<4, 64>>>(out.data(), value++);
    CHECK(value == 4);
    CHECK(out.first() == 3);
}

TEST_CASE("passes null pointer literals") {
    DeviceInts out(1);
    choose_pointer<<<1, 1>>>(out.data(), 0, NULL);
    CHECK(out.first() == 3);
    choose_pointer<<<1, 1>>>(out.data(), nullptr, out.data());
    CHECK(out.first() == 1);
    choose_pointer<<<1, 1>>>(out.data(), out.data(), (0));
    CHECK(out.first() == 2);
}

TEST_CASE("passes zero as a number") {
    DeviceInts out(1);
    add_two<<<1, 1>>>(out.data(), 0, 3);
    add_two<<<1, 1>>>(out.data(), 1, 0);
    add_size<<<1, 1>>>(out.data(), 0);
    add_size<<<1, 1>>>(out.data(), 0ll);
    CHECK(out.first() == 3 + 10 + 4 + 8);
}

TEST_CASE("passes braced arguments") {
    DeviceInts out(1);
    int value = 3;
    add_pair<<<1, 1>>>(out.data(), {1, 2}, value);
    CHECK(out.first() == 123);
    add_pair<<<1, 1>>>(out.data(), Pair{1, 2}, 4);
    CHECK(out.first() == 247);
}

TEST_CASE("keeps a kernel's default arguments") {
    DeviceInts out(1);
    with_default<<<1, 1>>>(out.data());
    CHECK(out.first() == 7);
}

TEST_CASE("passes shifts, comparisons and template calls with commas") {
    DeviceInts out(1);
    const int a = 64, b = 2;
    add_two<<<1, 1>>>(out.data(), a >> b, a < b);
    CHECK(out.first() == 160);
    add_two<<<1, 1>>>(out.data(), sum_of<1, 0>, doubled<int>(2));
    CHECK(out.first() == 174);
    add_two<<<1, 1>>>(out.data(), 0, sum_of<0, 1> + (a > b));
    CHECK(out.first() == 176);
}

TEST_CASE("passes a function object") {
    DeviceInts out(1);
    apply<<<1, 1>>>(out.data(), Increment{5});
    CHECK(out.first() == 5);
}

template <class... Numbers>
void launch_pack(int* out, Numbers... numbers) {
    add_all<<<1, 1>>>(out, numbers...);
    add_all<<<1, 1>>>(out, 0, doubled(numbers)...);
    add_all<<<1, 1>>>(out, numbers..., 1);
}

TEST_CASE("expands parameter packs") {
    DeviceInts out(1);
    launch_pack(out.data());
    CHECK(out.first() == 1);
    launch_pack(out.data(), 1, 2.0, 3l);
    CHECK(out.first() == 1 + 6 + 12 + 7);
}

struct Bits {
    int low : 4;
    static const int constant = 9;  // never defined: it must not be bound to a reference
};

TEST_CASE("passes bit-fields and constants that have no address") {
    DeviceInts out(1);
    Bits bits{5};
    add<<<1, 1>>>(out.data(), bits.low);
    add<<<1, 1>>>(out.data(), Bits::constant);
    CHECK(out.first() == 14);
}

/// Turns into a number for the kernel; nobody may copy it.
class Owner {
public:
    explicit Owner(int value) : value_(value) {}
    Owner(Owner&& other) noexcept : value_(other.value_) { ++other.value_; }
    ~Owner() { value_ = 0; }
    operator int() const {
        ++conversions;
        return value_;
    }
    inline static int conversions = 0;

private:
    int value_;
};

TEST_CASE("converts arguments once, before the launch, and does not copy what they are converted from") {
    DeviceInts out(1);
    const Owner owner(3);
    add<<<2, 32>>>(out.data(), owner);
    CHECK(Owner::conversions == 1);
    outer::inner::add<float><<<1, 1>>>(out.data(), owner);
    const AddKernel pointer = add;
    pointer<<<1, 1>>>(out.data(), owner);
    (chosen(Owner::conversions))<<<1, 1>>>(out.data(), owner);
    CHECK(Owner::conversions == 5);
    CHECK(out.first() == 12);
    add<<<1, 1>>>(out.data(), short{2});
    CHECK(out.first() == 14);
}

TEST_CASE("evaluates braced arguments once, on the host") {
    DeviceInts out(1);
    int calls = 0;
    add_pair<<<1, 1>>>(out.data(), {++calls, ++calls}, 3);
    CHECK(calls == 2);
    CHECK(out.first() == 123);
}

template <class T>
__global__ void fill_texture_number(T* out, cudaTextureObject_t number) {
    *out = static_cast<T>(number);
}

struct TextureOwner {
    explicit TextureOwner(cudaTextureObject_t object) : number(object) {}
    TextureOwner(TextureOwner&&) = delete;
    ~TextureOwner() { number = 0; }
    operator cudaTextureObject_t() const { return number; }
    cudaTextureObject_t number;
};

TEST_CASE("converts the arguments of kernel templates without copying them") {
    DeviceInts out(1);
    const TextureOwner owner(17);
    fill_texture_number<<<1, 1>>>(out.data(), owner);
    CHECK(out.first() == 17);
}

__global__ void set_referenced(int& value, Pair& pair, const int& other) {
    value = other + 1;
    pair.second = 7;
}

template <class T>
__global__ void set_deduced(T& value, T add, const T& other) {
    value = other + add;
}

TEST_CASE("reference parameters refer to the arguments themselves") {
    device_or_skip();
    int* value = nullptr;
    Pair* pair = nullptr;
    REQUIRE(cudaMallocManaged(&value, 2 * sizeof(int)) == cudaSuccess);
    REQUIRE(cudaMallocManaged(&pair, sizeof(Pair)) == cudaSuccess);
    value[0] = 41;
    *pair = {1, 2};
    set_referenced<<<1, 1>>>(*value, *pair, *value);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(value[0] == 42);
    CHECK(pair->first == 1);
    CHECK(pair->second == 7);
    set_deduced<<<1, 1>>>(value[1], 8, value[0]);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(value[1] == 50);
    set_deduced<int><<<1, 1>>>(value[0], 1, value[1]);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(value[0] == 51);
    CHECK(cudaFree(pair) == cudaSuccess);
    CHECK(cudaFree(value) == cudaSuccess);
}

// ---- launches by address ---------------------------------------------------------------------------------

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define DEFINE_MULTIPLY(type) \
    __global__ void JOIN(multiply_, type)(type * out, type factor) { *out *= factor; }
DEFINE_MULTIPLY(int)

namespace {

__global__ void overloaded(int* out, int value) { *out += value; }
__global__ void overloaded(int* out, float value) { *out += static_cast<int>(100 * value); }

template <class T>
__global__ void multiply(T* out, T factor) {
    *out *= factor;
}

}  // namespace

TEST_CASE("launches kernels whose types were cast away") {
    DeviceInts out(1);
    int* data = out.data();
    int number = 3;
    void* arguments[] = {&data, &number};
    const void* const by_address[] = {(const void*)add, (const void*)multiply_int,
                                      reinterpret_cast<const void*>(&add_c), (const void*)(&multiply<int>),
                                      (const void*)static_cast<AddKernel>(overloaded)};
    std::vector<int> results;
    for (const void* kernel : by_address) {
        CHECK(cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments, 0, nullptr) == cudaSuccess);
        results.push_back(out.first());
    }
    CHECK(results == std::vector<int>{3, 9, 12, 36, 39});
    overloaded<<<1, 1>>>(out.data(), 0.25f);
    CHECK(out.first() == 64);
    const AddKernel pointer = add;
    const void* kernel = (const void*)pointer;
    CHECK(cudaLaunchCooperativeKernel(kernel, dim3(1), dim3(1), arguments, 0, nullptr) == cudaSuccess);
    cudaLaunchConfig_t config{};
    config.gridDim = config.blockDim = dim3(1);
    CHECK(cudaLaunchKernelExC(&config, kernel, arguments) == cudaSuccess);
    CHECK(out.first() == 70);
}

TEST_CASE("an argument for a reference parameter is a pointer to its address") {
    device_or_skip();
    int* value = nullptr;
    Pair* pair = nullptr;
    REQUIRE(cudaMallocManaged(&value, sizeof(int)) == cudaSuccess);
    REQUIRE(cudaMallocManaged(&pair, sizeof(Pair)) == cudaSuccess);
    *value = 4;
    *pair = {1, 2};
    void* arguments[] = {&value, &pair, &value};
    const void* kernel = (const void*)set_referenced;
    CHECK(cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments, 0, nullptr) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(*value == 5);
    CHECK(pair->second == 7);
    CHECK(cudaFree(pair) == cudaSuccess);
    CHECK(cudaFree(value) == cudaSuccess);
}

TEST_CASE("an address that is no kernel's is refused") {
    DeviceInts out(1);
    int* data = out.data();
    int number = 3;
    void* arguments[] = {&data, &number};
    const void* no_kernel = &number;
    CHECK(cudaLaunchKernel(no_kernel, dim3(1), dim3(1), arguments, 0, nullptr) == cudaErrorInvalidResourceHandle);
    CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
    no_kernel = nullptr;
    CHECK(cudaLaunchKernel(no_kernel, dim3(1), dim3(1), arguments, 0, nullptr) == cudaErrorInvalidDeviceFunction);
    CHECK(cudaGetLastError() == cudaErrorInvalidDeviceFunction);
    CHECK(out.first() == 0);
}

// ---- where a launch stands -------------------------------------------------------------------------------

TEST_CASE("launches as a branch, in a comma expression and in a conditional") {
    DeviceInts out(1);
    for (int i = 0; i < 4; ++i)
        if (i % 2 == 0)
            add<<<1, 1>>>(out.data(), 1);
        else
            add<<<1, 1>>>(out.data(), 10);
    CHECK(out.first() == 22);
    int value = 0;
    value = 5, add<<<1, 1>>>(out.data(), value);
    value > 3 ? add<<<1, 1>>>(out.data(), 100) : add<<<1, 1>>>(out.data(), 1000);
    CHECK(out.first() == 127);
}

TEST_CASE("launches from lambdas") {
    DeviceInts out(1);
    const auto launch = [&](auto kernel, int value) { kernel<<<1, 1>>>(out.data(), value); };
    launch(add, 1);
    launch([] { return add_c; }(), 2);
    const auto twice = [](auto action) { action(), action(); };
    twice([&] { add<<<1, 1>>>(out.data(), 4); });
    CHECK(out.first() == 11);
}

template <class T, int count>
struct Launcher {
    int* out;
    void run(T value) const {
        for (int i = 0; i < count; ++i) add_scaled<int, count><<<1, 1>>>(out, static_cast<int>(value));
    }
};

TEST_CASE("launches from member functions of templates") {
    DeviceInts out(1);
    Launcher<float, 3>{out.data()}.run(2.5f);
    CHECK(out.first() == 18);
}

#define LAUNCH(kernel, threads, ...) kernel<<<1, threads>>>(__VA_ARGS__)
#define LAUNCH_TWICE(kernel, out, value)      \
    do {                                      \
        kernel<<<1, 1>>>(out, value);         \
        kernel<<<1, 1>>>((out), (value) + 1); \
    } while (0)
#define LAUNCH_SCALED(type, scale, out, value) add_scaled<type, scale><<<1, 1>>>(out, value)
#define SHAPE(grid, block) <<<grid, block>>>
#define RUN(...) __VA_ARGS__
#define CALL(name) name##_two<<<1, 1>>>
#define LAUNCH_ADD add<<<1, 1>>>

TEST_CASE("launches from macros") {
    DeviceInts out(1);
    LAUNCH(add, 32, out.data(), 1);
    LAUNCH(touch, 32);
    LAUNCH((outer::inner::add<int>), 1, out.data(), 2);
    CHECK(out.first() == 3);
    LAUNCH_TWICE(add, out.data(), 10);
    CHECK(out.first() == 24);
    LAUNCH_SCALED(int, 2, out.data(), 50);
    CHECK(out.first() == 124);
}

TEST_CASE("launches with the configuration in a macro, and inside a macro's arguments") {
    DeviceInts out(1);
    add SHAPE(1, 1)(out.data(), 1);
    RUN(add<<<1, 1>>>(out.data(), 2); add_two<<<1, 1>>>(out.data(), 0, 4));
    CHECK(out.first() == 7);
}

TEST_CASE("launches with the arguments behind a macro") {
    DeviceInts out(1);
    CALL(add)(out.data(), 0, 4);
    if (out.data() != nullptr) LAUNCH_ADD(out.data(), 3);
    CHECK(out.first() == 7);
}

// ---- __shared__ ------------------------------------------------------------------------------------------

namespace {

__global__ void declare_many(int* out) {
    __shared__ int tile[4][3], sum, *pointer;
    static __shared__ unsigned char bytes[5];
    volatile __shared__ short first;
    long long __shared__ second;
    sum = 0;
    pointer = &tile[1][0];
    for (int row = 0; row < 4; ++row)
        for (int col = 0; col < 3; ++col) tile[row][col] = 10 * row + col;
    bytes[4] = 200;
    first = 3;
    second = 4;
    for (auto& row : tile)
        for (int value : row) sum += value;
    out[0] = sum;
    out[1] = pointer[2];
    out[2] = static_cast<int>(sizeof(tile) + sizeof(bytes));
    out[3] = bytes[4] + first + static_cast<int>(second);
}

struct Holder {
    using Element = short;
};

template <class T, int count>
struct Several {
    T item[count];
};

template <class T, int size>
__global__ void declare_dependent(int* out) {
    __shared__ typename T::Element values[size * (size > 2 ? 2 : 1)];
    typename T::Element __shared__ other[2];
    __shared__ Several<Pair, size> pairs;
    values[size] = 11;
    other[1] = 5;
    pairs.item[size - 1].second = 6;
    out[0] = static_cast<int>(sizeof values);
    out[1] = values[size] + other[1] + pairs.item[size - 1].second;
}

__global__ void declare_aligned(int* out) {
    __shared__ char before;
    __shared__ alignas(64) char first[3];
    __align__(128) __shared__ char second[3];
    alignas(double) __shared__ char third;
    before = 1;
    out[0] = static_cast<int>(reinterpret_cast<std::uintptr_t>(first) % 64);
    out[1] = static_cast<int>(reinterpret_cast<std::uintptr_t>(second) % 128);
    out[2] = static_cast<int>(reinterpret_cast<std::uintptr_t>(&third) % alignof(double));
    out[3] = before;
}

__global__ void declare_classes(int* out) {
    __shared__ struct {
        int a;
        float b;
    } one, two[2];
    __shared__ struct Named { int a, b; } named;
    __shared__ union {
        int number;
        unsigned char bytes[4];
    } either;
    one.a = 1;
    two[1].b = 2;
    named.b = 3;
    either.number = 0x01020304;
    out[0] = one.a + static_cast<int>(two[1].b) + named.b;
    out[1] = either.bytes[0];
}

__global__ void declare_pointers(int* out) {
    __shared__ int data[2][4];
    __shared__ int* rows[2];
    __shared__ int(*whole)[4];
    rows[0] = data[0];
    rows[1] = data[1];
    whole = data;
    rows[1][2] = 5;
    whole[0][3] = 6;
    out[0] = data[1][2] + data[0][3];
}

__device__ int* device_function_storage(int slot) {
    __shared__ int storage[4];
    return storage + slot;
}

__global__ void declare_in_function(int* out) {
    *device_function_storage(1) = 4;
    out[0] = *device_function_storage(1);
    int total = 0;
    for (int i = 0; i < 3; ++i) {
        __shared__ int scratch;
        scratch = i;
        total += scratch;
    }
    {
        __shared__ int scratch;
        scratch = 100;
        total += scratch;
    }
    out[1] = total;
}

__global__ void use_in_lambdas(int* out) {
    __shared__ int table[4];
    __shared__ int unused_here;
    extern __shared__ int more[];
    const auto by_value = [=](int i) { return table[i] + more[i]; };
    const auto without_capture = [](int i) { table[i] = more[i] = 10 * i; };
    const auto by_reference = [&](int i) { return ++table[i]; };
    for (int i = 0; i < 4; ++i) without_capture(i);
    unused_here = by_reference(2);
    out[0] = by_value(2);
    out[1] = unused_here;
}

#ifdef __CPU_DEVICE__  // nvcc wants another name for every type
template <class T>
__global__ void dynamic(int* out, T value, int index) {
    extern __shared__ T data[];
    data[index] = value;
    T* as_pointer = data;
    T* from_address = reinterpret_cast<T*>(&data);
    out[0] += static_cast<int>(as_pointer[index]);
    out[1] += static_cast<int>(from_address[index]);
    out[2] += static_cast<int>(sizeof(data[0]));
}
#endif

__global__ void dynamic_rows(int* out) {
    extern __shared__ __align__(16) unsigned char bytes[];
    extern __shared__ int rows[][4];
    rows[1][2] = 0x05;
    out[0] = bytes[(4 + 2) * sizeof(int)] + bytes[(4 + 2) * sizeof(int) + 1];
    out[1] = static_cast<int>(&rows[1][0] - &rows[0][0]);
}

#define DECLARE_TILE(type, name, count) __shared__ type name[count]
#define SHARED __shared__

__global__ void declare_by_macro(int* out) {
    DECLARE_TILE(int, numbers, 8);
    DECLARE_TILE(float, others, 4);
    SHARED int plain;
    numbers[7] = 1;
    others[3] = 2;
    plain = 4;
    out[0] = numbers[7] + static_cast<int>(others[3]) + plain + static_cast<int>(sizeof(numbers) + sizeof(others));
}

__global__ void one_copy_per_block(int* out) {
    __shared__ int mine;
    mine = static_cast<int>(blockIdx.x) + 1;
    out[blockIdx.x] = mine;
}

__shared__ int file_scope[4];

__device__ int read_file_scope(int i) { return file_scope[i]; }

__global__ void use_file_scope(int* out) {
    file_scope[2] = 9;
    out[0] = read_file_scope(2);
}

}  // namespace

TEST_CASE("declares several shared variables of any shape at once") {
    DeviceInts out(4);
    declare_many<<<1, 1>>>(out.data());
    CHECK(out.values() == std::vector<int>{4 * 3 + 30 * 6, 12, 48 + 5, 207});
}

TEST_CASE("declares shared variables of dependent types") {
    DeviceInts out(2);
    declare_dependent<Holder, 3><<<1, 1>>>(out.data());
    CHECK(out.values() == std::vector<int>{12, 22});
}

TEST_CASE("aligns shared variables as asked") {
    DeviceInts out(4);
    declare_aligned<<<1, 1>>>(out.data());
    CHECK(out.values() == std::vector<int>{0, 0, 0, 1});
}

TEST_CASE("declares shared variables of unnamed classes and unions") {
    DeviceInts out(2);
    declare_classes<<<1, 1>>>(out.data());
    CHECK(out.values() == std::vector<int>{6, 4});
}

TEST_CASE("declares shared pointers and pointers to arrays") {
    DeviceInts out(1);
    declare_pointers<<<1, 1>>>(out.data());
    CHECK(out.first() == 11);
}

TEST_CASE("declares shared variables in device functions, loops and nested blocks") {
    DeviceInts out(2);
    declare_in_function<<<1, 1>>>(out.data());
    CHECK(out.values() == std::vector<int>{4, 103});
}

TEST_CASE("shared variables are not copied into lambdas") {
    DeviceInts out(2);
    use_in_lambdas<<<1, 1, 4 * sizeof(int)>>>(out.data());
    CHECK(out.values() == std::vector<int>{41, 21});
}

#ifdef __CPU_DEVICE__
TEST_CASE("dynamic shared memory has one name and another type in every instantiation") {
    DeviceInts out(3);
    dynamic<double><<<1, 1, 64>>>(out.data(), 2.0, 3);
    dynamic<<<1, 1, 64>>>(out.data(), 'c', 3);
    dynamic<<<1, 1, 64>>>(out.data(), 5, 3);
    CHECK(out.values() == std::vector<int>{2 + 'c' + 5, 2 + 'c' + 5, 8 + 1 + 4});
}
#endif

TEST_CASE("dynamic shared memory can have rows and be seen as bytes") {
    DeviceInts out(2);
    dynamic_rows<<<1, 1, 64>>>(out.data());
    CHECK(out.first() % 256 == 5);
    CHECK(out.values()[1] == 4);
}

TEST_CASE("macros declare shared variables") {
    DeviceInts out(1);
    declare_by_macro<<<1, 1>>>(out.data());
    CHECK(out.first() == 7 + 32 + 16);
}

TEST_CASE("every block has its own copy of a shared variable") {
    DeviceInts out(8);
    one_copy_per_block<<<8, 1>>>(out.data());
    CHECK(out.values() == std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("shared variables at namespace scope are seen by all functions") {
    DeviceInts out(1);
    use_file_scope<<<1, 1>>>(out.data());
    CHECK(out.first() == 9);
}

// cuFFT: plans, and how data lies in memory. fourier.h transforms.
#include "cufftXt.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "common/cpu_device/src/device_work.h"
#include "common/cpu_device/src/operands.h"
#include "fourier.h"

using cpu_device::ApiCall;
using cpu_device::fourier::Complex;
using cpu_device::fourier::Transform;

namespace {

/// Where the values of one side lie: element (i, j, k) of batch b at b dist + ((i embed[1] + j) embed[2] + k) stride.
struct Layout {
    std::array<std::int64_t, 3> embed{};
    std::int64_t stride = 1;
    std::int64_t dist = 0;
};

struct Plan {
    cufftType type = CUFFT_C2C;
    std::array<int, 3> n{1, 1, 1};  ///< slowest first; leading dimensions of 1 where the rank is lower
    int batch = 1;
    std::optional<Layout> in;  ///< nothing: values without gaps, but for transforms between real and complex in place
    std::optional<Layout> out;
    bool is_made = false;
    cudaStream_t stream = nullptr;
};

struct Plans {
    std::mutex mutex;
    std::map<cufftHandle, Plan> all;
    cufftHandle next = 1;
};
Plans& plans() {
    static auto* const known = new Plans;
    return *known;
}

bool is_real_input(cufftType type) { return type == CUFFT_R2C || type == CUFFT_D2Z; }
bool is_real_output(cufftType type) { return type == CUFFT_C2R || type == CUFFT_Z2D; }
bool is_type(cufftType type) {
    return is_real_input(type) || is_real_output(type) || type == CUFFT_C2C || type == CUFFT_Z2Z;
}

cufftResult create(cufftHandle* handle) {
    if (handle == nullptr) return CUFFT_INVALID_VALUE;
    std::lock_guard lock(plans().mutex);
    *handle = plans().next++;
    plans().all[*handle] = {};
    return CUFFT_SUCCESS;
}

std::optional<Layout> layout_of(int rank, const int* embed, int stride, int dist) {
    if (embed == nullptr) return std::nullopt;
    Layout layout;
    layout.embed = {1, 1, 1};
    for (int i = 0; i < rank; ++i) layout.embed[static_cast<std::size_t>(3 - rank + i)] = embed[i];
    layout.stride = stride;
    layout.dist = dist;
    return layout;
}

cufftResult make(cufftHandle handle, int rank, const int* n, const int* inembed, int istride, int idist,
                 const int* onembed, int ostride, int odist, cufftType type, int batch, size_t* work_bytes) {
    std::lock_guard lock(plans().mutex);
    const auto found = plans().all.find(handle);
    if (found == plans().all.end()) return CUFFT_INVALID_PLAN;
    if (!is_type(type)) return CUFFT_INVALID_TYPE;
    if (rank < 1 || rank > 3 || n == nullptr || batch < 1) return CUFFT_INVALID_VALUE;
    Plan plan;
    plan.type = type;
    plan.batch = batch;
    for (int i = 0; i < rank; ++i) {
        if (n[i] < 1) return CUFFT_INVALID_SIZE;
        plan.n[static_cast<std::size_t>(3 - rank + i)] = n[i];
    }
    plan.in = layout_of(rank, inembed, istride, idist);
    plan.out = layout_of(rank, onembed, ostride, odist);
    plan.is_made = true;
    plan.stream = found->second.stream;
    found->second = plan;
    if (work_bytes != nullptr) *work_bytes = 0;
    return CUFFT_SUCCESS;
}

/// Creates and makes; the plan is gone again where it cannot be made.
template <class Make>
cufftResult plan_with(cufftHandle* handle, const Make& make_it) {
    const cufftResult created = create(handle);
    if (created != CUFFT_SUCCESS) return created;
    const cufftResult made = make_it(*handle);
    if (made != CUFFT_SUCCESS) cufftDestroy(*handle);
    return made;
}

/// A layout without gaps. Of a side that is real in a transform in place, each row has room for the complex one.
Layout packed(const Plan& plan, bool is_half, bool is_padded_real) {
    Layout layout;
    const std::int64_t half = plan.n[2] / 2 + 1;
    layout.embed = {plan.n[0], plan.n[1], is_half ? half : is_padded_real ? 2 * half : plan.n[2]};
    layout.dist = layout.embed[0] * layout.embed[1] * layout.embed[2];
    return layout;
}

/// Bytes from the first value to the end of the last.
std::size_t extent(const Plan& plan, const Layout& layout, int last_dimension, std::size_t size) {
    const std::int64_t last =
        (plan.batch - 1) * layout.dist +
        (((plan.n[0] - 1) * layout.embed[1] + plan.n[1] - 1) * layout.embed[2] + last_dimension - 1) * layout.stride;
    return (static_cast<std::size_t>(last) + 1) * size;
}

/// Transforms all dimensions of one batch.
class Transforms {
public:
    Transforms(const std::array<int, 3>& n, int sign) : n_(n) {
        for (const int length : n) each_.emplace_back(length, sign);
    }

    void operator()(std::vector<Complex>& values) {
        std::int64_t inner = 1;  // values between two of the dimension at hand
        for (std::size_t dimension = 3; dimension-- > 0;) {
            const std::int64_t length = n_[dimension];
            if (length > 1) {
                std::vector<Complex> line(static_cast<std::size_t>(length));
                const auto lines = static_cast<std::int64_t>(values.size()) / length;
                for (std::int64_t i = 0; i < lines; ++i) {
                    Complex* const first = values.data() + i / inner * inner * length + i % inner;
                    for (std::int64_t k = 0; k < length; ++k) line[static_cast<std::size_t>(k)] = first[k * inner];
                    each_[dimension](line.data());
                    for (std::int64_t k = 0; k < length; ++k) first[k * inner] = line[static_cast<std::size_t>(k)];
                }
            }
            inner *= length;
        }
    }

private:
    std::array<int, 3> n_;
    std::vector<Transform> each_;
};

template <class T>
struct RealOf {
    using type = T;
};
template <>
struct RealOf<float2> {
    using type = float;
};
template <>
struct RealOf<double2> {
    using type = double;
};

template <class T>
Complex number(T value) {
    if constexpr (std::is_same_v<T, typename RealOf<T>::type>) {
        return {value, 0};
    } else {
        return {value.x, value.y};
    }
}
template <class T>
void set(T& value, Complex number) {
    using Real = typename RealOf<T>::type;
    if constexpr (std::is_same_v<T, Real>) {
        value = static_cast<Real>(number.real());
    } else {
        value = {static_cast<Real>(number.real()), static_cast<Real>(number.imag())};
    }
}

template <class In, class Out>
cufftResult execute(cufftHandle handle, cufftType type, In* in, Out* out, int sign, const ApiCall& call) {
    Plan plan;
    {
        std::lock_guard lock(plans().mutex);
        const auto found = plans().all.find(handle);
        if (found == plans().all.end() || !found->second.is_made) return CUFFT_INVALID_PLAN;
        plan = found->second;
    }
    if (plan.type != type) return CUFFT_INVALID_TYPE;
    if (sign != CUFFT_FORWARD && sign != CUFFT_INVERSE) return CUFFT_INVALID_VALUE;
    const bool in_place = static_cast<const void*>(in) == static_cast<const void*>(out);
    const bool real_in = is_real_input(type), real_out = is_real_output(type);
    const Layout from = plan.in.value_or(packed(plan, real_out, real_in && in_place));
    const Layout to = plan.out.value_or(packed(plan, real_in, real_out && in_place));
    const int half = plan.n[2] / 2 + 1;
    const int in_columns = real_out ? half : plan.n[2], out_columns = real_in ? half : plan.n[2];
    const std::size_t out_bytes = extent(plan, to, out_columns, sizeof(Out));
    if (cpu_device::is_captured(plan.stream)) {
        cpu_device::unsupported("the capture of cuFFT in a graph", cpu_device::place_of(call));
        return CUFFT_NOT_SUPPORTED;
    }
    (void)cpu_device::finish_device();
    if (cpu_device::device_is_lost() || !is_for_device(call, "input", in, extent(plan, from, in_columns, sizeof(In))) ||
        !is_for_device(call, "output", out, out_bytes)) {
        return CUFFT_EXEC_FAILED;
    }
    const auto place = [](const Layout& layout, std::int64_t b, std::int64_t i, std::int64_t j, std::int64_t k) {
        return b * layout.dist + ((i * layout.embed[1] + j) * layout.embed[2] + k) * layout.stride;
    };
    Transforms transforms(plan.n, sign);
    const std::int64_t rows = plan.n[1], columns = plan.n[2];
    std::vector<Complex> values(static_cast<std::size_t>(plan.n[0] * rows * columns));
    const auto at = [&](std::int64_t i, std::int64_t j, std::int64_t k) -> Complex& {
        return values[static_cast<std::size_t>((i * rows + j) * columns + k)];
    };
    for (std::int64_t b = 0; b < plan.batch; ++b) {
        for (std::int64_t i = 0; i < plan.n[0]; ++i) {
            for (std::int64_t j = 0; j < rows; ++j) {
                for (std::int64_t k = 0; k < in_columns; ++k) at(i, j, k) = number(in[place(from, b, i, j, k)]);
            }
        }
        if (real_out) {  // the other half is the conjugate of this one, in all dimensions
            for (std::int64_t i = 0; i < plan.n[0]; ++i) {
                for (std::int64_t j = 0; j < rows; ++j) {
                    for (std::int64_t k = half; k < columns; ++k) {
                        at(i, j, k) = std::conj(at((plan.n[0] - i) % plan.n[0], (rows - j) % rows, columns - k));
                    }
                }
            }
        }
        transforms(values);
        for (std::int64_t i = 0; i < plan.n[0]; ++i) {
            for (std::int64_t j = 0; j < rows; ++j) {
                for (std::int64_t k = 0; k < out_columns; ++k) set(out[place(to, b, i, j, k)], at(i, j, k));
            }
        }
    }
    cpu_device::note_result(out, out_bytes);
    return CUFFT_SUCCESS;
}

cufftResult check(cufftHandle handle) {
    std::lock_guard lock(plans().mutex);
    return plans().all.count(handle) != 0 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

}  // namespace

#define HERE(name) \
    ApiCall { name, {}, __builtin_return_address(0) }

cufftResult cufftCreate(cufftHandle* plan) { return create(plan); }

cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* workSize) {
    return make(plan, 1, &nx, nullptr, 1, 0, nullptr, 1, 0, type, batch, workSize);
}
cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* workSize) {
    const int n[] = {nx, ny};
    return make(plan, 2, n, nullptr, 1, 0, nullptr, 1, 0, type, 1, workSize);
}
cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t* workSize) {
    const int n[] = {nx, ny, nz};
    return make(plan, 3, n, nullptr, 1, 0, nullptr, 1, 0, type, 1, workSize);
}
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                              int ostride, int odist, cufftType type, int batch, size_t* workSize) {
    return make(plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, workSize);
}

cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch) {
    return plan_with(plan, [&](cufftHandle made) { return cufftMakePlan1d(made, nx, type, batch, nullptr); });
}
cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type) {
    return plan_with(plan, [&](cufftHandle made) { return cufftMakePlan2d(made, nx, ny, type, nullptr); });
}
cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type) {
    return plan_with(plan, [&](cufftHandle made) { return cufftMakePlan3d(made, nx, ny, nz, type, nullptr); });
}
cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                          int ostride, int odist, cufftType type, int batch) {
    return plan_with(plan, [&](cufftHandle made) {
        return cufftMakePlanMany(made, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, nullptr);
    });
}

cufftResult cufftDestroy(cufftHandle plan) {
    std::lock_guard lock(plans().mutex);
    return plans().all.erase(plan) == 1 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

cufftResult cufftGetSize(cufftHandle plan, size_t* workSize) {
    if (workSize == nullptr) return CUFFT_INVALID_VALUE;
    *workSize = 0;
    return check(plan);
}
cufftResult cufftSetAutoAllocation(cufftHandle plan, int /*autoAllocate*/) { return check(plan); }
cufftResult cufftSetWorkArea(cufftHandle plan, void* /*workArea*/) { return check(plan); }
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
    std::lock_guard lock(plans().mutex);
    const auto found = plans().all.find(plan);
    if (found == plans().all.end()) return CUFFT_INVALID_PLAN;
    found->second.stream = stream;
    return CUFFT_SUCCESS;
}
cufftResult cufftGetVersion(int* version) {
    if (version == nullptr) return CUFFT_INVALID_VALUE;
    *version = CUFFT_VERSION;
    return CUFFT_SUCCESS;
}
cufftResult cufftGetProperty(libraryPropertyType type, int* value) {
    if (value == nullptr || type > PATCH_LEVEL) return CUFFT_INVALID_VALUE;
    *value = type == MAJOR_VERSION ? CUFFT_VER_MAJOR : type == MINOR_VERSION ? CUFFT_VER_MINOR : CUFFT_VER_PATCH;
    return CUFFT_SUCCESS;
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* idata, cufftComplex* odata, int direction) {
    return execute(plan, CUFFT_C2C, idata, odata, direction, HERE("cufftExecC2C"));
}
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* idata, cufftComplex* odata) {
    return execute(plan, CUFFT_R2C, idata, odata, CUFFT_FORWARD, HERE("cufftExecR2C"));
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* idata, cufftReal* odata) {
    return execute(plan, CUFFT_C2R, idata, odata, CUFFT_INVERSE, HERE("cufftExecC2R"));
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* idata, cufftDoubleComplex* odata, int direction) {
    return execute(plan, CUFFT_Z2Z, idata, odata, direction, HERE("cufftExecZ2Z"));
}
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* idata, cufftDoubleComplex* odata) {
    return execute(plan, CUFFT_D2Z, idata, odata, CUFFT_FORWARD, HERE("cufftExecD2Z"));
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* idata, cufftDoubleReal* odata) {
    return execute(plan, CUFFT_Z2D, idata, odata, CUFFT_INVERSE, HERE("cufftExecZ2D"));
}

// ---- with the types of the data ------------------------------------------------------------------------------------

namespace {

std::optional<cufftType> type_of(cudaDataType in, cudaDataType out) {
    if (in == CUDA_C_32F && out == CUDA_C_32F) return CUFFT_C2C;
    if (in == CUDA_R_32F && out == CUDA_C_32F) return CUFFT_R2C;
    if (in == CUDA_C_32F && out == CUDA_R_32F) return CUFFT_C2R;
    if (in == CUDA_C_64F && out == CUDA_C_64F) return CUFFT_Z2Z;
    if (in == CUDA_R_64F && out == CUDA_C_64F) return CUFFT_D2Z;
    if (in == CUDA_C_64F && out == CUDA_R_64F) return CUFFT_Z2D;
    return std::nullopt;
}

}  // namespace

cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long int* n, long long int* inembed,
                                long long int istride, long long int idist, cudaDataType inputtype,
                                long long int* onembed, long long int ostride, long long int odist,
                                cudaDataType outputtype, long long int batch, size_t* workSize,
                                cudaDataType /*executiontype*/) {
    const std::optional<cufftType> type = type_of(inputtype, outputtype);
    if (!type) return CUFFT_NOT_SUPPORTED;
    if (rank < 1 || rank > 3 || n == nullptr) return CUFFT_INVALID_VALUE;
    std::array<std::array<int, 3>, 3> sizes{};
    const auto as_ints = [rank](const long long int* from, std::array<int, 3>& to) -> int* {
        if (from == nullptr) return nullptr;
        for (int i = 0; i < rank; ++i) to[static_cast<std::size_t>(i)] = static_cast<int>(from[i]);
        return to.data();
    };
    return make(plan, rank, as_ints(n, sizes[0]), as_ints(inembed, sizes[1]), static_cast<int>(istride),
                static_cast<int>(idist), as_ints(onembed, sizes[2]), static_cast<int>(ostride), static_cast<int>(odist),
                *type, static_cast<int>(batch), workSize);
}

cufftResult cufftXtExec(cufftHandle plan, void* input, void* output, int direction) {
    cufftType type = CUFFT_C2C;
    {
        std::lock_guard lock(plans().mutex);
        const auto found = plans().all.find(plan);
        if (found == plans().all.end()) return CUFFT_INVALID_PLAN;
        type = found->second.type;
    }
    const ApiCall call = HERE("cufftXtExec");
    auto *in_c = static_cast<cufftComplex*>(input), *out_c = static_cast<cufftComplex*>(output);
    auto *in_z = static_cast<cufftDoubleComplex*>(input), *out_z = static_cast<cufftDoubleComplex*>(output);
    switch (type) {
        case CUFFT_C2C:
            return execute(plan, type, in_c, out_c, direction, call);
        case CUFFT_Z2Z:
            return execute(plan, type, in_z, out_z, direction, call);
        case CUFFT_R2C:
            return execute(plan, type, static_cast<float*>(input), out_c, CUFFT_FORWARD, call);
        case CUFFT_C2R:
            return execute(plan, type, in_c, static_cast<float*>(output), CUFFT_INVERSE, call);
        case CUFFT_D2Z:
            return execute(plan, type, static_cast<double*>(input), out_z, CUFFT_FORWARD, call);
        case CUFFT_Z2D:
            return execute(plan, type, in_z, static_cast<double*>(output), CUFFT_INVERSE, call);
    }
    return CUFFT_INVALID_TYPE;
}

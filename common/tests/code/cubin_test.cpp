// Machine code: single instructions, and what nvcc and ptxas make of small kernels, where they are installed.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/code/json.h"
#include "common/code/kernel_code.h"
#include "common/helpers/child_process.h"

using namespace warpwise::code;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

/// A folder that is gone at the end.
class Folder {
public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "cubin_test_XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = name;
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    fs::path operator/(const char* name) const { return path_ / name; }

private:
    fs::path path_;
};

bool has_compiler() { return fs::exists(WARPWISE_NVCC) && fs::exists(WARPWISE_PTXAS); }
constexpr const char* no_compiler = "nvcc and ptxas are not installed";

fs::path compiled(const Folder& folder, const std::string& source) {
    std::ofstream(folder / "kernel.cu") << source;
    REQUIRE(warpwise::output_of(
        {WARPWISE_NVCC, "-cubin", "-arch=sm_90", "-lineinfo", "-o", folder / "kernel.cubin", folder / "kernel.cu"}));
    return folder / "kernel.cubin";
}

Kernel only_kernel(const fs::path& cubin) {
    const std::vector<Kernel> kernels = read_cubin(cubin);
    REQUIRE(kernels.size() == 1);
    return kernels.front();
}

/// Names of all instructions that are in a kernel with this PTX instruction, by how often. %r are 32 bits of integers,
/// %f floats, %d doubles, %l addresses; what is in %r7 and %d7 in the end is stored.
std::map<std::string, int> instructions_of(const Folder& folder, const std::string& instruction) {
    std::ofstream(folder / "one.ptx") << R"(
.version 7.8
.target sm_90
.address_size 64
.const .align 4 .b8 c[64];
.visible .entry kernel(.param .u64 p, .param .u64 q) {
.reg .b32 %r<16>; .reg .f32 %f<8>; .reg .f64 %d<8>; .reg .b64 %l<8>; .reg .pred %p<4>; .reg .b16 %h<8>;
.shared .align 16 .b8 s[1024];
.local .align 16 .b8 o[256];
ld.param.u64 %l0, [p]; ld.param.u64 %l1, [q];
ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%l0];
ld.global.v2.f64 {%d0, %d1}, [%l0+16];
mov.b32 %f0, %r0; mov.b32 %f1, %r1; mov.b32 %f2, %r2; mov.u32 %r7, %r0; mov.f64 %d7, %d0;
)" << instruction << R"(
st.global.u32 [%l1], %r7; st.global.f64 [%l1+8], %d7; st.global.v4.u32 [%l1+32], {%r0, %r1, %r2, %r3};
ret; }
)";
    REQUIRE(warpwise::output_of({WARPWISE_PTXAS, "-arch=sm_90", "-o", folder / "one.cubin", folder / "one.ptx"}));
    std::map<std::string, int> names;
    for (const Instruction& each : only_kernel(folder / "one.cubin").instructions) {
        ++names[operation_of(each.code).name];
    }
    return names;
}

}  // namespace

TEST_CASE("reads code, guard, size, and target of an instruction") {
    // Of kernels of this project, compiled by nvcc 13.0 for sm_90.
    const Instruction add = decode(0x0000000800007223, 0x001fe20000000009, 0x150);
    CHECK(operation_of(add.code).name == std::string("FFMA"));
    CHECK(add.guard == Instruction::kAlways);
    const Instruction back = decode(0xfffffffc00d41947, 0x000fec000383ffff, 0x1f0);
    CHECK(back.code == kBranch);
    CHECK(back.guard == 1);
    CHECK(back.target == 0x150);
    const Instruction ahead = decode(0x0000000000608947, 0x000fec0003800000, 0xd0);
    CHECK(ahead.guard == 8);  // where predicate 0 is false
    CHECK(ahead.target == 0x260);
    CHECK(ahead.may_go_on);
    CHECK_FALSE(ahead.is_for_lost_lanes);
    CHECK_FALSE(decode(0x0000000000047947, 0x000fea0003800000, 0x180).may_go_on);
    const Instruction diverged = decode(0x00000002046c7947, 0x000fea000b800000, 0x2080);  // BRA.DIV
    CHECK(diverged.is_for_lost_lanes);
    CHECK(diverged.may_go_on);
    CHECK(decode(0x000000060c047981, 0x000ea2000c1e9900, 0).bytes == 4);
    CHECK(decode(0x0000000200047981, 0x000ea2000c1e9d00, 0).bytes == 16);
    CHECK_FALSE(decode(0x00000a00ff017b82, 0x000fe20000000800, 0).indexed);
    CHECK(operation_of(0x1ff).name == std::string("?"));
}

TEST_CASE("refuses what is no cubin") {
    CHECK_THROWS_WITH(read_cubin(std::string_view("no cubin, but text")), ContainsSubstring("no cubin"));
    std::ifstream self("/proc/self/exe", std::ios::binary);
    const std::string program{std::istreambuf_iterator<char>(self), std::istreambuf_iterator<char>()};
    CHECK_THROWS_WITH(read_cubin(std::string_view(program)), ContainsSubstring("of no GPU"));
}

TEST_CASE("reads a cubin that is cut off anywhere without harm") {
    if (!has_compiler()) SKIP(no_compiler);
    const Folder folder;
    std::ifstream stream(compiled(folder, "__global__ void copy(int* x) { x[threadIdx.x] = x[threadIdx.x + 1]; }\n"),
                         std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    CHECK(read_cubin(std::string_view(whole)).size() == 1);
    std::size_t refused = 0;
    for (std::size_t size = 0; size < whole.size(); size += 37) {
        try {
            read_cubin(std::string_view(whole).substr(0, size));
        } catch (const std::runtime_error&) {
            ++refused;
        }
    }
    CHECK(refused > whole.size() / 37 / 2);
}

TEST_CASE("knows the machine instruction of a PTX instruction") {
    if (!has_compiler()) SKIP(no_compiler);
    const std::pair<const char*, const char*> instructions[] = {
        {"add.f32 %f7, %f0, %f1; mov.b32 %r7, %f7;", "FADD"},
        {"mul.f32 %f7, %f0, %f1; mov.b32 %r7, %f7;", "FMUL"},
        {"fma.rn.f32 %f7, %f0, %f1, %f2; mov.b32 %r7, %f7;", "FFMA"},
        {"min.f32 %f7, %f0, %f1; mov.b32 %r7, %f7;", "FMNMX"},
        {"setp.lt.f32 %p0, %f0, %f1; selp.b32 %r7, %r2, %r3, %p0;", "FSETP"},
        {"add.f64 %d7, %d0, %d1;", "DADD"},
        {"mul.f64 %d7, %d0, %d1;", "DMUL"},
        {"fma.rn.f64 %d7, %d0, %d1, %d1;", "DFMA"},
        {"setp.lt.f64 %p0, %d0, %d1; selp.b32 %r7, %r2, %r3, %p0;", "DSETP"},
        {"add.s32 %r7, %r0, %r1;", "IADD3"},
        {"mad.lo.s32 %r7, %r0, %r1, %r2;", "IMAD"},
        {"mul.hi.u32 %r7, %r0, %r1;", "IMAD.HI"},
        {"and.b32 %r7, %r0, %r1;", "LOP3"},
        {"shf.l.wrap.b32 %r7, %r0, %r1, %r2;", "SHF"},
        {"prmt.b32 %r7, %r0, %r1, %r2;", "PRMT"},
        {"min.s32 %r7, %r0, %r1;", "VIMNMX"},
        {"add.s32 %r8, %r0, %r1; max.s32 %r7, %r8, %r2;", "VIADDMNMX"},
        {"setp.lt.s32 %p0, %r0, %r1; selp.b32 %r7, %r2, %r3, %p0;", "ISETP"},
        {"setp.lt.s32 %p0, %r0, %r1; selp.b32 %r7, %r2, %r3, %p0;", "SEL"},
        {"abs.s32 %r7, %r0;", "IABS"},
        {"dp4a.s32.s32 %r7, %r0, %r1, %r2;", "IDP"},
        {"popc.b32 %r7, %r0;", "POPC"},
        {"clz.b32 %r7, %r0;", "FLO"},
        {"brev.b32 %r7, %r0;", "BREV"},
        {"rcp.approx.ftz.f32 %f7, %f0; mov.b32 %r7, %f7;", "MUFU"},
        {"ex2.approx.ftz.f32 %f7, %f0; mov.b32 %r7, %f7;", "MUFU"},
        {"cvt.rn.f32.s32 %f7, %r0; mov.b32 %r7, %f7;", "I2FP"},
        {"cvt.rzi.s32.f32 %r7, %f0;", "F2I"},
        {"cvt.f64.f32 %d7, %f0;", "F2F.64"},
        {"cvt.rzi.s32.f64 %r7, %d0;", "F2I.64"},
        {"cvt.rn.f64.s32 %d7, %r0;", "I2F.64"},
        {"cvt.rni.f32.f32 %f7, %f0; mov.b32 %r7, %f7;", "FRND"},
        {"cvt.rn.f16.f32 %h0, %f0; mov.b32 %r7, {%h0, %h0};", "F2FP"},
        {"fma.rn.f16x2 %r7, %r0, %r1, %r2;", "HFMA2.MMA"},
        {"st.shared.u32 [s], %r0;", "STS"},
        {"ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [s+16];", "LDS"},
        {"cvt.u64.u32 %l2, %r0; mov.u64 %l3, o; add.s64 %l3, %l3, %l2; st.local.u32 [%l3], %r1; "
         "ld.local.u32 %r7, [%l3+4];",
         "LDL"},
        {"cvt.u64.u32 %l2, %r0; mov.u64 %l3, o; add.s64 %l3, %l3, %l2; st.local.u32 [%l3], %r1; "
         "ld.local.u32 %r7, [%l3+4];",
         "STL"},
        {"atom.global.add.u32 %r7, [%l1], %r0;", "ATOMG"},
        {"red.global.add.u32 [%l1], %r0;", "RED"},
        {"red.global.add.f32 [%l1], %f0;", "RED.F"},
        {"atom.global.cas.b32 %r7, [%l1], %r0, %r1;", "ATOMG.CAS"},
        {"atom.shared.add.u32 %r7, [s], %r0;", "ATOMS"},
        {"atom.shared.cas.b32 %r7, [s], %r0, %r1;", "ATOMS.CAS"},
        {"mov.u32 %r8, %tid.x; shfl.sync.idx.b32 %r7, %r8, %r1, 31, -1;", "SHFL"},
        {"setp.ne.s32 %p0, %r0, 0; vote.sync.ballot.b32 %r7, %p0, -1;", "VOTE"},
        {"match.any.sync.b32 %r7, %r0, -1;", "MATCH"},
        {"redux.sync.add.s32 %r7, %r0, -1;", "REDUX"},
        {"bar.sync 0;", "BAR"},
        {"membar.gl;", "MEMBAR"},
        {"nanosleep.u32 100;", "NANOSLEEP"},
        {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f3, %f4, %f5, %f6}, {%r0, %r1}, {%r2}, "
         "{%f0, %f1, %f2, %f0}; mov.b32 %r7, %f3;",
         "HMMA"},
        {"cvt.u64.u32 %l2, %r0; cp.async.ca.shared.global [s], [%l0], 16;", "LDGSTS"},
        {"mov.u32 %r7, %tid.x;", "S2R"},
    };
    const Folder folder;
    const std::map<std::string, int> without = instructions_of(folder, "");
    CHECK(without.at("LDG") == 2);
    CHECK(without.at("STG") == 3);
    for (const auto& [ptx, name] : instructions) {
        CAPTURE(ptx);
        const std::map<std::string, int> with = instructions_of(folder, ptx);
        const auto before = without.find(name);
        const auto after = with.find(name);
        CHECK((after == with.end() ? 0 : after->second) > (before == without.end() ? 0 : before->second));
        CHECK_FALSE(with.contains("?"));
    }
}

TEST_CASE("finds registers, shared memory, stack, and lines of a kernel, those of inlined functions too") {
    if (!has_compiler()) SKIP(no_compiler);
    const Folder folder;
    const Kernel kernel = only_kernel(compiled(folder, R"(__device__ float half_of(float x) {
    return x * 0.5f;
}
__global__ void kernel(const float* x, const int* places, float* y) {
    __shared__ float tile[256];
    float own[40];
    tile[threadIdx.x] = half_of(x[threadIdx.x]);
    for (int i = 0; i < 40; ++i) own[places[i]] = i;
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x ^ 1] + own[places[threadIdx.x]] + __expf(x[0]);
}
)"));
    CHECK(kernel.is_entry);
    CHECK(kernel.registers >= 8);
    CHECK(kernel.shared_bytes == 1024);
    CHECK(kernel.stack_bytes == 160);
    std::map<std::string, std::set<int>> lines;
    for (const Instruction& instruction : kernel.instructions) {
        REQUIRE(instruction.line < kernel.lines.size());
        const SourceLine& line = kernel.lines[instruction.line];
        CHECK(fs::path(line.file).filename() == "kernel.cu");
        lines[operation_of(instruction.code).name].insert(line.line);
    }
    CHECK(lines["FMUL"].contains(2));
    CHECK(lines["STS"] == std::set<int>{7});
    CHECK(lines["STL"].contains(8));
    CHECK(lines["BAR"] == std::set<int>{9});
    CHECK(lines["MUFU"] == std::set<int>{10});  // the function is the toolkit's
}

TEST_CASE("a kernel's code survives the way through JSON") {
    if (!has_compiler()) SKIP(no_compiler);
    const Folder folder;
    const fs::path cubin = compiled(folder, R"(namespace { struct Scale { float by; }; }
template <class T> __global__ void scale(T by, float* x, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] *= by.by;
}
template __global__ void scale<Scale>(Scale, float*, int);
)");
    const KernelCode code = code_of(only_kernel(cubin));
    CHECK_THAT(code.name, ContainsSubstring("void scale<(anonymous namespace)::Scale>("));
    const KernelCode again = kernel_of(json_of(code));
    CHECK(again.name == code.name);
    CHECK(again.registers == code.registers);
    CHECK(again.lines == code.lines);
    REQUIRE(again.blocks.size() == code.blocks.size());
    const std::vector<double> once(code.blocks.size(), 1.0);
    CHECK(mix_of(again, once).units == mix_of(code, once).units);
    CHECK(mix_of(again, once).operations == mix_of(code, once).operations);
    const auto record = record_of({code}, cubin.parent_path(), "nvcc");
    CHECK(record.at("files").at("kernel.cu") == fingerprint(folder / "kernel.cu"));
    CHECK(fingerprint(folder / "not_there.cu").empty());
}

TEST_CASE("tells where a kernel goes on in blocks that cannot be followed") {
    if (!has_compiler()) SKIP(no_compiler);
    const Folder folder;
    const fs::path cubin = compiled(folder, R"(__device__ __noinline__ float helper(float x, int n) {
    for (int i = 0; i < n; ++i) x = x * 1.5f + i;
    return x;
}
__global__ void calls(float* x, int n) { x[threadIdx.x] = helper(x[threadIdx.x], n); }
__global__ void divides(float* x, float by) { x[threadIdx.x] /= by; }
)");
    std::map<std::string, bool> is_followed;
    for (const Kernel& kernel : read_cubin(cubin)) {
        const KernelCode code = code_of(kernel);
        is_followed[code.name] = code.is_followed;
        const bool is_rare =
            std::any_of(code.blocks.begin(), code.blocks.end(), [](const Block& block) { return block.is_rare; });
        CHECK(is_rare == (code.name == "divides(float*, float)"));
    }
    CHECK(is_followed == std::map<std::string, bool>{{"calls(float*, int)", false}, {"divides(float*, float)", true}});
}

TEST_CASE("a kernel without instructions has no blocks") {
    CHECK(code_of(Kernel{}).blocks.empty());
    CHECK(times_of_blocks(code_of(Kernel{}), {}, 1).empty());
}

TEST_CASE("counts all instructions of nvcc's code for a loop that is unrolled") {
    if (!has_compiler()) SKIP(no_compiler);
    const Folder folder;
    const Kernel kernel = only_kernel(compiled(folder, R"(__global__ void sum(const float* x, float* y, int n) {
    float sum = 0;
#pragma unroll 4
    for (int i = 0; i < n; ++i)
        sum += x[i * 32];
    y[threadIdx.x] = sum;
}
)"));
    const KernelCode code = code_of(kernel);
    const auto loads_and_sums = [&](int n) {
        const std::string file = (folder / "kernel.cu").string();
        SeenLines seen;
        for (const int line : {2, 4, 6}) seen[{file, line}].times = 1;
        SeenLine& body = seen[{file, 5}];
        body.times = n;
        body[Counted::load_global] = 4.0 * n;
        body[Counted::flops] = n;
        seen[{file, 6}][Counted::store_global] = 4;
        const Mix mix = mix_of(code, times_of_blocks(code, seen, 1));
        return std::pair(mix.operations[static_cast<std::size_t>(Operation::load_global)],
                         mix.operations[static_cast<std::size_t>(Operation::fp32)]);
    };
    for (const int n : {1, 3, 4, 40, 43, 1001}) {
        CAPTURE(n);
        CHECK(loads_and_sums(n) == std::pair<double, double>(n, n));
    }
}

#include "common/tests/ground_truth/comparison.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "common/helpers/json.h"

namespace ground_truth {

using cpu_device::Counters;
using cpu_device::LaunchCounters;
using cpu_device::MemoryOperation;

// ---- the GPU's side -----------------------------------------------------------------------------------------------

Measurement::Measurement(const std::string& json_file) : file_(json_file) {
    std::ifstream file(json_file);
    if (!file) throw std::runtime_error("cannot read " + json_file);
    try {
        const nlohmann::json all = warpwise::parse_json<nlohmann::json>(file);
        const auto text = [&](const char* key) { return all.at(key).get<std::string>(); };
        provenance_ = text("machine") + ", driver " + text("driver") + ", CUDA " + text("cuda") + ", Nsight Compute " +
                      text("ncu") + ", " + text("date");
        metrics_ = all.at("metrics").get<std::set<std::string>>();
        kernels_ = all.at("kernels").get<std::map<std::string, Metrics>>();
    } catch (const nlohmann::json::exception& error) {
        throw std::runtime_error(json_file + ": " + error.what());
    }
}

std::vector<std::string> Measurement::kernels() const {
    std::vector<std::string> names;
    for (const auto& [name, metrics] : kernels_) names.push_back(name);
    return names;
}

double Measurement::sum(const std::string& kernel, const std::vector<std::string>& metrics) const {
    const auto found = kernels_.find(kernel);
    if (found == kernels_.end()) throw std::runtime_error(file_ + " has no kernel " + kernel);
    double total = 0;
    for (const std::string& metric : metrics) {
        if (metrics_.count(metric.substr(0, metric.find('{'))) == 0) {
            throw std::runtime_error(file_ + " has no metric " + metric);
        }
        const auto value = found->second.find(metric);
        if (value != found->second.end()) total += value->second;
    }
    return total;
}

// ---- what is compared ---------------------------------------------------------------------------------------------

namespace {

constexpr double kExact = 0;
/// Wavefronts as the hardware counts them include those repeated because another client of the cache went first.
constexpr double kArbitration = 0.02;
/// How atomic operations on a few equal addresses share their sectors is not documented; the model is this good.
constexpr double kNearly = 0.02;
/// The GPU's figure has two decimals.
constexpr double kRounded = 1e-4;
/// Basic blocks on one side, machine instructions on the other: to be looked at, not to be tested.
constexpr double kShownOnly = std::numeric_limits<double>::infinity();

/// GPU: sum of `plus` less sum of `minus`.
struct Metric {
    const char* name;
    double (*cpu_device)(const LaunchCounters&);
    double tolerance;
    std::vector<std::string> plus;
    std::vector<std::string> minus = {};
};

template <MemoryOperation operation>
double requests(const LaunchCounters& launch) {
    return static_cast<double>(launch.total[operation].requests);
}
template <MemoryOperation operation>
double sectors(const LaunchCounters& launch) {
    return static_cast<double>(launch.total[operation].sectors);
}
template <MemoryOperation operation>
double wavefronts(const LaunchCounters& launch) {
    return static_cast<double>(launch.total[operation].wavefronts);
}

double shared_conflicts(const LaunchCounters& launch) {
    const Counters& total = launch.total;
    return static_cast<double>(total[MemoryOperation::shared_load].conflicts() +
                               total[MemoryOperation::shared_store].conflicts() +
                               total[MemoryOperation::shared_atomic].conflicts());
}

double serialized_constants(const LaunchCounters& launch) {
    return static_cast<double>(launch.total[MemoryOperation::constant_load].conflicts());
}

double barriers(const LaunchCounters& launch) { return static_cast<double>(launch.total.barriers); }
double active_lanes(const LaunchCounters& launch) { return launch.total.active_lanes_per_step(); }
double occupancy(const LaunchCounters& launch) { return 100 * launch.occupancy; }

const std::vector<Metric>& metrics() {
    using enum MemoryOperation;
    static const std::vector<Metric> all = {
        {"global load requests", requests<global_load>, kExact, {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"}},
        {"global load sectors", sectors<global_load>, kExact, {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"}},
        {"global store requests", requests<global_store>, kExact, {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"}},
        {"global store sectors", sectors<global_store>, kExact, {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"}},
        {"global atomic requests",
         requests<global_atomic>,
         kExact,
         {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"}},
        {"global atomic sectors",
         sectors<global_atomic>,
         kNearly,
         {"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"}},
        {"shared load requests", requests<shared_load>, kExact, {"smsp__sass_inst_executed_op_shared_ld.sum"}},
        {"shared load wavefronts",
         wavefronts<shared_load>,
         kArbitration,
         {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"}},
        {"shared load wavefronts by instruction",
         wavefronts<shared_load>,
         kExact,
         {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"}},
        {"shared store requests", requests<shared_store>, kExact, {"smsp__sass_inst_executed_op_shared_st.sum"}},
        {"shared store wavefronts",
         wavefronts<shared_store>,
         kArbitration,
         {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"}},
        {"shared store wavefronts by instruction",
         wavefronts<shared_store>,
         kExact,
         {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"}},
        {"shared atomic requests", requests<shared_atomic>, kExact, {"smsp__sass_inst_executed_op_shared_atom.sum"}},
        {"shared atomic wavefronts",
         wavefronts<shared_atomic>,
         kArbitration,
         {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"}},
        {"shared memory conflicts",
         shared_conflicts,
         kExact,
         {"memory_l1_wavefronts_shared"},
         {"memory_l1_wavefronts_shared_ideal"}},
        // The kernel's parameters lie in constant memory too; they are read at one address a warp.
        {"serialized constant loads",
         serialized_constants,
         kExact,
         {"idc__requests.sum"},
         {"smsp__inst_executed_op_ldc.sum"}},
        {"barriers", barriers, kExact, {"sass__inst_executed_per_opcode{BAR}"}},
        {"active lanes", active_lanes, kShownOnly, {"smsp__thread_inst_executed_per_inst_executed.ratio"}},
        {"theoretical occupancy, percent", occupancy, kRounded, {"sm__maximum_warps_per_active_cycle_pct"}},
    };
    return all;
}

/// A figure in which CPU device and GPU differ, and why. `kernel` may end in '*'.
struct Exception {
    std::string kernel;
    std::string figure;
    std::string reason;

    bool applies_to(const std::string& to_kernel, const std::string& to_figure) const {
        if (to_figure != figure) return false;
        if (kernel.back() != '*') return to_kernel == kernel;
        return to_kernel.compare(0, kernel.size() - 1, kernel, 0, kernel.size() - 1) == 0;
    }
};

const std::vector<Exception>& exceptions() {
    static const char* const joined = "nvcc joins the four accesses to neighboring members into one of 16 bytes";
    static const char* const eight_bytes =
        "nvcc copies a structure of doubles 8 bytes at a time; the CPU device does not know its alignment and counts 4";
    static const char* const swap_loop =
        "a GPU has no such instruction for shared memory: a loop of loads, additions and compare-and-swaps";
    static const char* const swap_loop_on_pairs =
        "no such instruction for shared memory: a loop of loads, additions and 8-byte compare-and-swaps";
    static const char* const warp_adds_first = "nvcc adds up over the warp first: one lane does the atomic operation";
    static const char* const worked_out =
        "by instruction Nsight Compute works out wavefronts from addresses and does not know that such loads merge; "
        "the hardware's own counter agrees";
    static const char* const arbitration =
        "the hardware's counter includes repetitions because another client of the cache went first; by instruction "
        "the figures are the same";
    static const std::vector<Exception> all = {
        {"members_of_float4", "global load requests", joined},
        {"members_of_float4", "global load sectors", joined},
        {"members_of_float4", "global store requests", joined},
        {"members_of_float4", "global store sectors", joined},
        {"whole_3_doubles", "global load requests", eight_bytes},
        {"whole_3_doubles", "global load sectors", eight_bytes},
        {"whole_3_doubles", "global store requests", eight_bytes},
        {"whole_3_doubles", "global store sectors", eight_bytes},
        {"global_add_known_address", "global atomic sectors", warp_adds_first},
        {"read_two_places_of_one_bank_doubles", "shared load wavefronts by instruction", worked_out},
        {"read_two_places_of_one_bank_doubles", "shared memory conflicts", worked_out},
        {"read_two_places_of_one_bank_float4", "shared load wavefronts by instruction", worked_out},
        {"read_two_places_of_one_bank_float4", "shared memory conflicts", worked_out},
        {"transpose_padded_tile", "shared load wavefronts", arbitration},
        {"block_sum_halves", "shared load wavefronts", arbitration},
        {"shared_add_float_*", "shared load requests", swap_loop},
        {"shared_add_float_*", "shared load wavefronts", swap_loop},
        {"shared_add_float_*", "shared load wavefronts by instruction", swap_loop},
        {"shared_add_float_*", "shared atomic wavefronts", swap_loop},
        {"shared_add_float_one_address", "shared atomic requests", swap_loop},
        {"shared_add_float_histogram", "shared atomic requests", swap_loop},
        {"shared_add_float_same_bank", "shared atomic requests", swap_loop},
        {"shared_add_float_one_address", "shared memory conflicts", swap_loop},
        {"shared_add_float_histogram", "shared memory conflicts", swap_loop},
        {"shared_add_float_same_bank", "shared memory conflicts", swap_loop},
        {"shared_add_64_bit_own_address", "shared load requests", swap_loop_on_pairs},
        {"shared_add_64_bit_own_address", "shared load wavefronts", swap_loop_on_pairs},
        {"shared_add_64_bit_own_address", "shared load wavefronts by instruction", swap_loop_on_pairs},
        {"shared_add_64_bit_own_address", "shared atomic wavefronts", swap_loop_on_pairs},
    };
    return all;
}

double measured(const Metric& metric, const std::string& kernel, const Measurement& measurement) {
    // A difference can come out negative: instructions that no lane carried out count as executed, but request nothing.
    return std::max(0.0, measurement.sum(kernel, metric.plus) - measurement.sum(kernel, metric.minus));
}

}  // namespace

// ---- the CPU device's side ----------------------------------------------------------------------------------------

LaunchCounters count(const Case& counted, int registers) {
    const cpu_device::InstrumentOptions before =
        cpu_device::instrument({.counters = true, .diagnostics = false, .blocks = 0, .registers = registers});
    cpu_device::take_counters(false);
    std::string error;
    try {
        counted.run();
    } catch (const std::exception& failure) {
        error = failure.what();
    }
    cpu_device::instrument(before);
    std::vector<LaunchCounters> launches = cpu_device::take_counters(false);
    if (error.empty() && launches.size() != 1) {
        error = std::to_string(launches.size()) + " launches were counted instead of one";
    }
    if (!error.empty()) throw std::runtime_error(std::string(counted.name) + ": " + error);
    return std::move(launches[0]);
}

std::vector<Figure> figures_of(const LaunchCounters& counters) {
    std::vector<Figure> figures;
    for (const Metric& metric : metrics())
        figures.push_back({metric.name, metric.cpu_device(counters), 0, metric.tolerance});
    return figures;
}

std::vector<Figure> compare(const Case& compared, const Measurement& measurement) {
    const int registers = static_cast<int>(measurement.sum(compared.name, {"launch__registers_per_thread"}));
    std::vector<Figure> figures = figures_of(count(compared, registers));
    for (std::size_t i = 0; i < figures.size(); ++i) {
        figures[i].gpu = measured(metrics()[i], compared.name, measurement);
        for (const Exception& exception : exceptions()) {
            if (exception.applies_to(compared.name, figures[i].name)) figures[i].exception = exception.reason;
        }
    }
    return figures;
}

}  // namespace ground_truth

// The counters of the CPU device beside those that Nsight Compute measured on a GPU.
#pragma once

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/tests/ground_truth/cases.h"
#include "cpu_device/instrument.h"

namespace ground_truth {

/// What `measure.sh` wrote about one GPU.
class Measurement {
public:
    /// Throws std::runtime_error when the file cannot be read.
    explicit Measurement(const std::string& json_file);

    /// "NVIDIA H200, driver 580.159.04, CUDA 13.0, 2026-11-21".
    const std::string& provenance() const { return provenance_; }

    /// Names of the kernels that were measured.
    std::vector<std::string> kernels() const;

    /// Sum of the metrics; "sass__inst_executed_per_opcode{BAR}" is the part of a metric that falls to one instruction.
    /// Throws std::runtime_error when the kernel or one of the metrics was not measured.
    double sum(const std::string& kernel, const std::vector<std::string>& metrics) const;

private:
    using Metrics = std::map<std::string, double>;

    std::string file_;
    std::string provenance_;
    std::set<std::string> metrics_;
    std::map<std::string, Metrics> kernels_;  ///< without those that are 0
};

/// One figure of one kernel on both devices.
struct Figure {
    std::string name;  ///< "global load sectors"
    double cpu_device = 0;
    double gpu = 0;
    double tolerance = 0;  ///< relative; 0 where the GPU counts exactly, infinity where the two mean different things
    std::string exception = {};  ///< why the two differ in this kernel, where they are known to; empty elsewhere

    bool agree() const { return cpu_device == gpu || std::fabs(cpu_device - gpu) <= tolerance * std::fabs(gpu); }
    bool both_zero() const { return cpu_device == 0 && gpu == 0; }
};

/// Runs the case and returns the counters of its launch. `registers`: of a thread, for theoretical occupancy.
/// Throws std::runtime_error when the case fails, or does not launch exactly one kernel.
cpu_device::LaunchCounters count(const Case& counted, int registers = 32);

/// Runs the case and puts all its figures beside those of the GPU. Throws as `count` and Measurement::sum do.
std::vector<Figure> compare(const Case& compared, const Measurement& measurement);

/// The figures of the CPU device alone, with `gpu` 0.
std::vector<Figure> figures_of(const cpu_device::LaunchCounters& counters);

}  // namespace ground_truth

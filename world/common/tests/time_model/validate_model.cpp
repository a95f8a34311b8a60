// Compares the time model with measured times.
//
//     validate_model --gpu H200 --measured h200.json --report report.json [--part train|test] [--worst 20]
//
// `h200.json`: what `model_kernels --json` wrote on the GPU. `report.json`: what the same program's launches look like
// on the CPU device, in the same order (validate.sh makes it). The model may be tuned with the part "train" only; what
// counts are the figures of the part "test".
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "common/helpers/json.h"
#include "common/model/json.h"

namespace {

using Json = nlohmann::ordered_json;
using warpwise::model::Estimate;

struct Kernel {
    std::string name;
    std::string family;
    std::string part;
    double measured = 0;
    std::string measured_limiter;  ///< as Nsight Compute has it; empty where it was not asked
    Estimate estimate;

    double factor() const {
        const double ratio = estimate.seconds / measured;
        return std::max(ratio, 1 / ratio);
    }
};

/// The model's name for what Nsight Compute's figures say.
std::string as_in_model(const std::string& measured) {
    const std::map<std::string, std::string> names = {{"memory latency", "latency"},
                                                      {"shared memory latency", "latency"},
                                                      {"arithmetic latency", "latency"},
                                                      {"barrier", "latency"},
                                                      {"pipe", "fp32"},
                                                      {"constant", "l1"}};
    const auto found = names.find(measured);
    return found == names.end() ? measured : found->second;
}

Json read(const std::string& file) {
    std::ifstream stream(file);
    if (!stream) throw std::runtime_error(file + ": cannot be read");
    return warpwise::parse_json<Json>(stream);
}

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Kendall's tau-b over all pairs of a family. Times that differ by less than 3 % are no order that a model could tell.
double kendall(const std::vector<const Kernel*>& family) {
    constexpr double same = 1.03;
    double agree = 0;
    double pairs = 0;
    for (std::size_t i = 0; i < family.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            const double measured = family[i]->measured / family[j]->measured;
            if (measured < same && measured > 1 / same) continue;
            const double modeled = family[i]->estimate.seconds / family[j]->estimate.seconds;
            ++pairs;
            if (modeled == 1) continue;
            agree += (measured > 1) == (modeled > 1) ? 1 : -1;
        }
    }
    return pairs == 0 ? 1 : agree / pairs;
}

void summarize(const std::string& title, const std::vector<Kernel>& kernels) {
    std::map<std::string, std::vector<const Kernel*>> families;
    std::vector<double> factors;
    double within = 0;
    double asked = 0;
    double agree = 0;
    for (const Kernel& kernel : kernels) {
        families[kernel.family].push_back(&kernel);
        factors.push_back(kernel.factor());
        within += kernel.factor() <= 1.6 ? 1 : 0;
        if (kernel.measured_limiter.empty()) continue;
        ++asked;
        agree += kernel.measured_limiter == identifier_of(kernel.estimate.limiter) ? 1 : 0;
    }
    if (kernels.empty()) return;
    double pairs_tau = 0;
    double weights = 0;
    fmt::print("{}: {} kernels\n  {:<24} {:>7} {:>6} {:>8} {:>11}\n", title, kernels.size(), "family", "kernels", "tau",
               "median", "within 1.6");
    for (const auto& [name, family] : families) {
        std::vector<double> of_family;
        double close = 0;
        for (const Kernel* kernel : family) {
            of_family.push_back(kernel->factor());
            close += kernel->factor() <= 1.6 ? 1 : 0;
        }
        const double tau = kendall(family);
        pairs_tau += tau * static_cast<double>(family.size());
        weights += static_cast<double>(family.size());
        fmt::print("  {:<24} {:>7} {:>6.2f} {:>8.2f} {:>9.0f} %\n", name, family.size(), tau, median(of_family),
                   100 * close / static_cast<double>(family.size()));
    }
    fmt::print("  {:<24} {:>7} {:>6.2f} {:>8.2f} {:>9.0f} %\n", "all", kernels.size(), pairs_tau / weights,
               median(factors), 100 * within / static_cast<double>(kernels.size()));
    if (asked > 0) fmt::print("  limiter as Nsight Compute's: {:.0f} % of {:.0f}\n", 100 * agree / asked, asked);
}

}  // namespace

int main(int argc, char** argv) {
    std::string gpu_name = warpwise::model::default_gpu;
    std::string measured_file;
    std::string report_file;
    std::string list_file;
    std::string part;
    std::string time = "seconds";
    int worst = 0;
    CLI::App app("Compares the time model with measured times.");
    app.add_option("--gpu", gpu_name, "the GPU of the measured times");
    app.add_option("--measured", measured_file, "what model_kernels --json wrote on it")->required();
    app.add_option("--report", report_file, "its launches on the CPU device")->required();
    app.add_option("--list", list_file, "what model_kernels --list printed")->required();
    app.add_option("--part", part, "train or test; both unless one is named");
    app.add_option("--time", time, "seconds (cold caches) or hot");
    app.add_option("--worst", worst, "show so many of the worst estimates");
    CLI11_PARSE(app, argc, argv);
    try {
        const warpwise::model::Gpu gpu = warpwise::model::load_gpu(gpu_name);
        std::map<std::string, Json> measured;
        const Json all_measured = read(measured_file);
        for (const Json& kernel : all_measured.at("kernels")) measured[kernel.at("name")] = kernel;
        const Json launches = read(report_file).at("launches");
        std::ifstream list(list_file);
        std::vector<Kernel> kernels;
        std::size_t launch = 0;
        for (std::string line; std::getline(list, line); ++launch) {
            const std::string name = line.substr(0, line.find('\t'));
            const auto found = measured.find(name);
            if (found == measured.end() || launch >= launches.size()) continue;
            Kernel kernel;
            kernel.name = name;
            kernel.family = found->second.at("family");
            kernel.part = found->second.at("part");
            kernel.measured = found->second.at(time);
            kernel.measured_limiter = as_in_model(found->second.value("limiter", ""));
            const warpwise::model::LaunchFacts facts =
                warpwise::model::facts_of(launches[launch].at("model").at("facts"));
            kernel.estimate = warpwise::model::estimate(facts, gpu, {.cold_caches = time == "seconds"});
            if (part.empty() || kernel.part == part) kernels.push_back(kernel);
        }
        for (const char* name : {"train", "test"}) {
            std::vector<Kernel> of_part;
            std::copy_if(kernels.begin(), kernels.end(), std::back_inserter(of_part),
                         [&](const Kernel& kernel) { return kernel.part == name; });
            summarize(fmt::format("{}, {}", gpu.name, name), of_part);
        }
        std::sort(kernels.begin(), kernels.end(),
                  [](const Kernel& a, const Kernel& b) { return a.factor() > b.factor(); });
        for (int i = 0; i < worst && i < static_cast<int>(kernels.size()); ++i) {
            const Kernel& kernel = kernels[static_cast<std::size_t>(i)];
            fmt::print("  {:<40} {:<14} measured {:8.2f} us, model {:8.2f} us, {} {:.0f} %, {} {:.0f} %\n", kernel.name,
                       kernel.family, 1e6 * kernel.measured, 1e6 * kernel.estimate.seconds,
                       identifier_of(kernel.estimate.limiter), 100 * kernel.estimate.share,
                       identifier_of(kernel.estimate.runner_up), 100 * kernel.estimate.runner_up_share);
        }
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 2;
    }
}

#include "common/model/json.h"

#include <cmath>

namespace warpwise::model {
namespace {

using Json = nlohmann::ordered_json;

/// What is known of a launch, one number after the other: for both directions.
template <class Facts, class Visit>
void for_each_number(Facts& facts, Visit visit) {
    visit("blocks", facts.blocks);
    visit("threads", facts.threads);
    visit("shared_bytes", facts.shared_bytes);
    visit("registers", facts.registers);
    visit("registers_are_estimated", facts.registers_are_estimated);
    visit("code_is_known", facts.code_is_known);
    visit("integer_products", facts.integer_products);
    visit("lanes", facts.lanes);
    visit("global_requests", facts.global_requests);
    visit("load_requests", facts.load_requests);
    visit("load_bytes", facts.load_bytes);
    visit("l1_sectors", facts.l1_sectors);
    visit("l1_lines", facts.l1_lines);
    visit("store_sectors", facts.store_sectors);
    visit("shared_wavefronts", facts.shared_wavefronts);
    visit("shared_atomic_waits", facts.shared_atomic_waits);
    visit("constant_wavefronts", facts.constant_wavefronts);
    visit("local_requests", facts.local_requests);
    visit("local_sectors", facts.local_sectors);
    visit("global_atomic_lanes", facts.global_atomic_lanes);
    visit("global_atomic_sectors", facts.global_atomic_sectors);
    visit("hottest_address", facts.hottest_address);
    visit("longest_over_average", facts.longest_over_average);
}

template <class Array, class Visit>
void for_each_number_of_array(Array& array, Visit visit) {
    visit("bytes", array.bytes);
    visit("load_sectors", array.load_sectors);
    visit("store_sectors", array.store_sectors);
    visit("unique_sectors", array.unique_sectors);
    visit("unique_pairs", array.unique_pairs);
    visit("written_sectors", array.written_sectors);
    visit("in_host_memory", array.in_host_memory);
}

}  // namespace

Json json_of(const Estimate& estimate, const Gpu& gpu) {
    Json parts = Json::object();
    for (std::size_t i = 0; i < kLimiters; ++i) {
        if (estimate.parts[i] > 0) parts[identifier_of(static_cast<Limiter>(i))] = estimate.parts[i];
    }
    return {{"gpu", gpu.name},
            {"measured", gpu.measured},
            {"seconds", estimate.seconds},
            {"limiter", identifier_of(estimate.limiter)},
            {"share", estimate.share},
            {"runner_up", identifier_of(estimate.runner_up)},
            {"runner_up_share", estimate.runner_up_share},
            {"parts", parts},
            {"occupancy", estimate.occupancy},
            {"dram_bytes", estimate.dram_bytes},
            {"bytes_in_flight_per_sm", estimate.bytes_in_flight},
            {"waves", estimate.waves},
            {"busy_in_last_wave", estimate.busy_in_last_wave}};
}

Json json_of(const LaunchFacts& facts) {
    Json json = Json::object();
    for_each_number(facts, [&](const char* name, const auto& value) { json[name] = value; });
    for (std::size_t i = 0; i < kPipes; ++i) json["instructions"][pipe_names[i]] = facts.instructions[i];
    for (std::size_t i = 0; i < kLatencies; ++i) json["chain"][latency_names[i]] = facts.chain[i];
    json["loads_in_flight"] = facts.loads_in_flight();
    json["arrays"] = Json::array();
    for (const Footprint& array : facts.arrays) {
        Json numbers = Json::object();
        for_each_number_of_array(array, [&](const char* name, const auto& value) { numbers[name] = value; });
        json["arrays"].push_back(numbers);
    }
    return json;
}

LaunchFacts facts_of(const Json& json) {
    LaunchFacts facts;
    facts.known = true;
    for_each_number(facts, [&](const char* name, auto& value) { json.at(name).get_to(value); });
    for (std::size_t i = 0; i < kPipes; ++i) json.at("instructions").at(pipe_names[i]).get_to(facts.instructions[i]);
    for (std::size_t i = 0; i < kLatencies; ++i) json.at("chain").at(latency_names[i]).get_to(facts.chain[i]);
    for (const Json& numbers : json.at("arrays")) {
        Footprint& array = facts.arrays.emplace_back();
        for_each_number_of_array(array, [&](const char* name, auto& value) { numbers.at(name).get_to(value); });
    }
    return facts;
}

}  // namespace warpwise::model

// Facts and estimates as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "common/model/model.h"

namespace warpwise::model {

/// {"gpu", "measured", "seconds", "limiter", "share", "runner_up", "runner_up_share", "parts": {"dram": seconds, ...},
///  "occupancy", "dram_bytes", ...}: parts that the kernel does not need are left out.
nlohmann::ordered_json json_of(const Estimate& estimate, const Gpu& gpu);

/// All of them, as `facts_of` reads them.
nlohmann::ordered_json json_of(const LaunchFacts& facts);

/// Throws nlohmann::json::exception.
LaunchFacts facts_of(const nlohmann::ordered_json& json);

}  // namespace warpwise::model

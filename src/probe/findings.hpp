// Small helpers for probes that put findings together.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "gpusonde/finding.hpp"
#include "inference/estimate.hpp"

namespace gpusonde {

using SampleList = std::vector<std::pair<std::string, SampleValue>>;

[[nodiscard]] inline Finding make_finding(std::string id, std::string unit, const Estimate& estimate,
                                          std::string evidence, SampleList samples = {}) {
  Finding finding;
  finding.id = std::move(id);
  finding.unit = std::move(unit);
  finding.outcome = estimate.outcome;
  if (estimate.ok()) {
    finding.value = estimate.value;
    finding.interval = estimate.interval;
  } else {
    finding.reason = estimate.reason;
  }
  finding.samples = std::move(samples);
  finding.evidence = std::move(evidence);
  return finding;
}

[[nodiscard]] inline Finding not_ok(std::string id, std::string unit, Outcome outcome, std::string reason,
                                    std::string evidence = {}) {
  return make_finding(std::move(id), std::move(unit), {outcome, 0, {}, std::move(reason)}, std::move(evidence));
}

/// A latency's twin, by the SM clock, or why there is none.
[[nodiscard]] inline Estimate in_ns(const Estimate& cycles, const Estimate& sm_mhz) {
  if (!cycles.ok()) return cycles;
  if (!sm_mhz.ok()) return {sm_mhz.outcome, 0, {}, sm_mhz.reason};
  return {Outcome::ok,
          cycles_to_ns(cycles.value, sm_mhz.value),
          {cycles_to_ns(cycles.interval.low, sm_mhz.interval.high),
           cycles_to_ns(cycles.interval.high, sm_mhz.interval.low)},
          {}};
}

}  // namespace gpusonde

// What every inference returns: an outcome, and a value with its interval only when that is ok.
#pragma once

#include <string>

#include "gpusonde/finding.hpp"

namespace gpusonde {

struct Estimate {
  Outcome outcome = Outcome::inconclusive;
  double value = 0;    ///< meaningful only when ok
  Interval interval;   ///< meaningful only when ok; about 95 %
  std::string reason;  ///< one sentence when not ok

  [[nodiscard]] bool ok() const noexcept { return outcome == Outcome::ok; }
};

/// Of a structural quantity: no interval about it.
[[nodiscard]] inline Estimate exactly(double value) { return {Outcome::ok, value, {value, value}, {}}; }

[[nodiscard]] inline Estimate inconclusive(std::string reason) {
  return {Outcome::inconclusive, 0, {}, std::move(reason)};
}

}  // namespace gpusonde

// One experiment and its samples.
#pragma once

#include <span>
#include <utility>
#include <variant>

#include "target/target.hpp"

namespace gpusonde {

/// Precondition: `Sample` is the alternative that belongs to the experiment. Errors: those of the target.
template <class Sample, class Kind>
[[nodiscard]] Result<Sample> run_one(Target& target, const CancelToken* cancel, Kind what) {
  const Experiment experiment = std::move(what);
  auto samples = target.run(std::span(&experiment, 1), {cancel, {}});
  if (!samples) return tl::unexpected(samples.error());
  return std::move(std::get<Sample>(samples->front()));
}

}  // namespace gpusonde

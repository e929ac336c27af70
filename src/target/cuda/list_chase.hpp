// Executes one chase over a list of places: maps the aliases it needs, links the list, launches what the
// plan says, collects the samples.
#pragma once

#include "target/cuda/alias_space.hpp"
#include "target/cuda/chase_session.hpp"

namespace gpusonde::cuda {

/// What a list needs beside what every chase does; all outlive the call.
struct ListResources {
  GrownMemory& places;
  AliasMemory& aliases;
};

/// Precondition: `check` accepts the experiment; the buffer holds its places, if they lie there.
/// Errors: usage, measurement, unsupported, interrupted.
[[nodiscard]] Result<ChaseSamples> run_list_chase(const ListChaseExperiment& experiment, const ListResources& list,
                                                  const ChaseResources& resources);

}  // namespace gpusonde::cuda

// Runs chains of operations on a real GPU.
#pragma once

#include "target/cuda/chase_runner.hpp"

namespace gpusonde::cuda {

[[nodiscard]] Result<InstructionSamples> run_instruction(const InstructionExperiment& experiment,
                                                         const ChaseResources& resources);

}  // namespace gpusonde::cuda

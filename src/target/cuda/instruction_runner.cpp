#include "target/cuda/instruction_runner.hpp"

namespace gpusonde::cuda {

Result<InstructionSamples> run_instruction(const InstructionExperiment&, const ChaseResources&) {
  return fail(ErrorKind::unsupported, "not on a real GPU yet");
}

}  // namespace gpusonde::cuda

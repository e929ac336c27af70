#include "target/cuda/loads_runner.hpp"

namespace gpusonde::cuda {

Result<LoadedChaseSamples> run_loaded_chase(const LoadedChaseExperiment&, const ChaseResources&) {
  return fail(ErrorKind::unsupported, "not on a real GPU yet");
}

Result<BandwidthSamples> run_bandwidth(const BandwidthExperiment&, const ChaseResources&) {
  return fail(ErrorKind::unsupported, "not on a real GPU yet");
}

}  // namespace gpusonde::cuda

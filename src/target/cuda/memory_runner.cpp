#include "target/cuda/memory_runner.hpp"

namespace gpusonde::cuda {

Result<MemoryChaseSamples> run_memory_chase(const MemoryChaseExperiment&, const ChaseResources&) {
  return fail(ErrorKind::unsupported, "not on a real GPU yet");
}

Result<StorageSharingSamples> run_storage_sharing(const StorageSharingExperiment&, const ChaseResources&) {
  return fail(ErrorKind::unsupported, "not on a real GPU yet");
}

Result<ClusterSamples> run_cluster(const ClusterExperiment&, const ChaseResources&) {
  return fail(ErrorKind::unsupported, "not on a real GPU yet");
}

}  // namespace gpusonde::cuda

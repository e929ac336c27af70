#include "target/sim/instructions.hpp"

namespace gpusonde::sim {

Result<InstructionSamples> run_instruction(const DeviceModel&, const InstructionExperiment&, Random) {
  return fail(ErrorKind::unsupported, "this simulator has no pipelines");
}

Result<MemoryChaseSamples> run_memory_chase(const DeviceModel&, const MemoryChaseExperiment&, double, Random) {
  return fail(ErrorKind::unsupported, "this simulator has no such memory");
}

Result<StorageSharingSamples> run_storage_sharing(const DeviceModel&, const StorageSharingExperiment&, double, Random) {
  return fail(ErrorKind::unsupported, "this simulator has no such memory");
}

Result<ClusterSamples> run_cluster(const DeviceModel&, const ClusterExperiment&, Random) {
  return fail(ErrorKind::unsupported, "this simulator has no clusters");
}

}  // namespace gpusonde::sim

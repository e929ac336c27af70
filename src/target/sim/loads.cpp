#include "target/sim/loads.hpp"

namespace gpusonde::sim {

Result<LoadedChaseSamples> run_loaded_chase(Machine&, const DeviceModel&, const LoadedChaseExperiment&,
                                            const ChaseSettings&, Random, const CancelToken*) {
  return fail(ErrorKind::unsupported, "this simulator has no loads of many warps");
}

Result<BandwidthSamples> run_bandwidth(Machine&, const DeviceModel&, const BandwidthExperiment&, const ChaseSettings&,
                                       Random, const CancelToken*) {
  return fail(ErrorKind::unsupported, "this simulator has no streams");
}

}  // namespace gpusonde::sim

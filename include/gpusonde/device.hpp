// What a device says about itself, before anything is measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gpusonde {

enum class DeviceKind { simulated, cuda };

/// Figures the driver (or the model file) states. 0 where not stated.
struct NominalFigures {
  std::uint64_t l2_bytes = 0;
  std::uint64_t shared_per_sm_bytes = 0;     ///< largest shared-memory part of an SM
  std::uint64_t shared_per_block_bytes = 0;  ///< largest a block may opt in to
  std::uint64_t reserved_shared_per_block_bytes = 0;
  std::uint32_t sm_clock_mhz = 0;  ///< highest
  std::uint32_t memory_clock_mhz = 0;
  std::uint32_t bus_width_bits = 0;
};

struct DeviceInfo {
  DeviceKind kind = DeviceKind::simulated;
  std::string name;
  std::string uuid;        ///< empty for a simulated device
  std::string pci_bus_id;  ///< empty for a simulated device
  std::uint32_t compute_capability_major = 0;
  std::uint32_t compute_capability_minor = 0;
  std::uint32_t sm_count = 0;
  std::uint64_t memory_bytes = 0;
  NominalFigures nominal;
  std::string model_file;  ///< simulated only: the model's name or path
};

/// Clocks and what holds them down, as NVML (or the model) reports them. 0 or empty: not known.
struct ClockState {
  std::uint32_t sm_mhz = 0;
  std::uint32_t memory_mhz = 0;
  std::vector<std::string> throttle_reasons;  ///< empty when none is active
};

/// What surrounds a measurement. Empty strings where not known.
struct Environment {
  std::string driver_version;
  std::string cuda_version;
  std::string host;
  std::string os;
  std::string started_at;  ///< ISO 8601, UTC
  std::string finished_at;
  double sm_mhz_measured = 0;  ///< clock64 over wall time
  ClockState clocks;
  std::string mig;                    ///< `on`, `off`, or empty when not known
  std::string ecc;                    ///< likewise
  std::uint32_t other_processes = 0;  ///< compute processes besides this one
};

}  // namespace gpusonde

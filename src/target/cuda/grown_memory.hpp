// Device memory that is allocated when first needed and grows when more is needed.
#pragma once

#include <optional>

#include "target/cuda/handles.hpp"

namespace gpusonde::cuda {

class GrownMemory {
 public:
  explicit GrownMemory(const DriverTable& driver) : m_driver(driver) {}

  /// At least `bytes`, at most `limit_bytes` where that is larger. What it held is lost when it grows.
  [[nodiscard]] Result<DevicePointer> at_least(std::size_t bytes, std::size_t limit_bytes);

 private:
  const DriverTable& m_driver;
  std::optional<DeviceMemory> m_memory;
};

}  // namespace gpusonde::cuda

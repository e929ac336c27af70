// The target on a fake driver, and one experiment at a time.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>

#include "fake_driver.hpp"
#include "target/cuda/cuda_gpu.hpp"
#include "target/cuda/device_list.hpp"

namespace gpusonde::cuda::test {

inline std::unique_ptr<Target> open(FakeDriver& fake) {
  auto devices = list_devices(fake.table);
  auto target = CudaGpu::open(fake.table, nullptr, 0, devices->front());
  EXPECT_TRUE(target.has_value());
  return std::move(*target);
}

inline Result<Samples> run_one(Target& target, const Experiment& experiment) {
  auto samples = target.run(std::span(&experiment, 1), {});
  if (!samples) return tl::unexpected(samples.error());
  return std::move(samples->front());
}

}  // namespace gpusonde::cuda::test

// A driver without a GPU: device memory is host memory, and the kernels' walks are done here, in plain
// C++, so that what the host passes and what it reads back are checked against a second implementation.
// A hop takes 10 cycles, a cycle a nanosecond.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fake_line_kernels.hpp"
#include "fake_memory_kernels.hpp"
#include "fake_virtual_memory.hpp"
#include "target/cuda/driver_table.hpp"
#include "target/cuda/kernel_parameters.hpp"

namespace gpusonde::cuda::test {

struct Launch {
  std::string kernel;
  unsigned blocks, threads, shared_bytes;
};

/// What the fake is to do, and what it saw. One at a time: the table's functions are plain.
struct FakeDriver {
  FakeDriver();
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  DriverTable table;
  int version = 13000;
  int device_count = 1;
  int compute_capability_major = 9;
  std::size_t free_bytes = std::size_t{1} << 30;
  DriverResult init_result = k_success;
  DriverResult alloc_result = k_success;
  DriverResult synchronize_result = k_success;
  DriverResult load_result = k_success;
  std::string load_log;
  unsigned launches_until_sm = 1;  ///< chosen SM: launches until a block comes to run there
  std::function<void()> on_launch;

  std::vector<Launch> launches;
  std::vector<ChaseParameters> chases;
  std::vector<LinkListParameters> list_links;
  std::vector<SequenceLaunch> sequences;
  std::vector<SequenceAction> sequence_actions;
  std::vector<LineMapParameters> line_maps;
  unsigned sms_that_come = 132;  ///< a line map's blocks come to run on so many
  std::vector<ThroughputParameters> throughputs;
  std::vector<unsigned> arrived_before;              ///< by launch of `throughput`: blocks that were ready too early
  std::vector<LoadedChaseParameters> loaded_chases;  ///< of what comes before them too
  std::vector<StreamParameters> streams;
  unsigned blocks_that_arrive = ~0U;  ///< of those that load at once
  int resident_threads = 2048;        ///< of an SM
  std::map<int, std::size_t> limits{{k_l2_fetch_limit, 64}};
  DriverResult limit_result = k_success;
  std::map<std::string, int> carveouts;  ///< by kernel
  std::map<DevicePointer, std::vector<std::uint8_t>> memory;
  int contexts = 0;                 ///< retained and not released
  int modules = 0;                  ///< loaded and not unloaded
  std::vector<std::string> loaded;  ///< names of modules, in order
  std::vector<std::uint64_t> ends;  ///< by chase that worked: the offset it ended at
  FakeVirtualMemory virtual_memory;
  FakeMemories memories;
  std::deque<std::string> made;  ///< PTX that is not embedded, in the order it was compiled
  std::map<std::string, std::unique_ptr<std::string>> functions;
};

}  // namespace gpusonde::cuda::test

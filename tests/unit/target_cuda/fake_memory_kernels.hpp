// The kernels of operations, memories and clusters in plain C++, for the fake driver.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "target/cuda/driver_table.hpp"
#include "target/cuda/kernel_parameters.hpp"

namespace gpusonde::cuda::test {

struct FakeDriver;

struct FakeTextures {
  std::map<TextureObject, LinearResource> alive;
  TextureObject next = 1;
};

/// What they were given, and what they stand on.
struct FakeMemories {
  std::array<std::uint8_t, 65536> constant_bank{};
  FakeTextures textures;
  bool chase_goes_astray = false;  ///< ends a node too far
  std::vector<InstructionParameters> instructions;
  std::vector<MemoryChaseParameters> chases;
  std::vector<SharingParameters> sharings;
  std::array<unsigned, 3> cluster_shape{};
  bool cluster_on_one_sm = false;
  DriverResult cluster_result = k_success;
};

/// Cycles of a turn; turn 0, which fetches code, takes longest.
[[nodiscard]] constexpr std::uint64_t fake_turn_cycles(bool is_long, std::uint64_t turn) {
  return turn == 0 ? 99999 : (is_long ? 500 : 200) + turn;
}
[[nodiscard]] constexpr std::uint32_t fake_cluster_cycles(unsigned from, unsigned to) {
  return from == to ? 33 : 180 + 2 * from + to;
}

void run_instruction_kernel(FakeDriver& fake, const std::string& name, const InstructionParameters& p);
void run_memory_kernel(FakeDriver& fake, const std::string& name, const MemoryChaseParameters& p);
void run_sharing_kernel(FakeDriver& fake, const std::string& name, const SharingParameters& p);
/// Fills the table's functions for variables, textures and clusters.
void fill_memory_functions(FakeDriver& fake);

}  // namespace gpusonde::cuda::test

// PTX made at run time: straight lines of one operation, as many chains as wanted.
#pragma once

#include <cstdint>
#include <string>

#include "experiment/experiment.hpp"

namespace gpusonde::cuda {

/// `ffma_4`: the module of an operation and a number of chains; its kernels are `ffma_4_short` and `ffma_4_long`.
[[nodiscard]] std::string instruction_module_name(Operation operation, std::uint32_t chains);

/// A module with two kernels that differ in nothing but the number of operations between their two clock reads:
/// `chains` chains of `short_length` or `long_length`, one operation of each in turn. Both take InstructionParameters.
/// Precondition: 1 to 16 chains, 1 with a predicate.
[[nodiscard]] std::string instruction_ptx(Operation operation, std::uint32_t chains, std::uint32_t short_length,
                                          std::uint32_t long_length);

/// What a lane's operands must be: of such a record the kernels load one a lane. Source: IEEE 754 for the bits.
struct InstructionOperands {
  std::uint64_t zero = 0;  ///< which the kernels do not know to be 0
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
  std::uint64_t d = 0;
  std::uint64_t reserved[3] = {};
};
static_assert(sizeof(InstructionOperands) == 64);
[[nodiscard]] InstructionOperands instruction_operands(Operation operation);

}  // namespace gpusonde::cuda

// Machine code as text, as nvdisasm and `cuobjdump -sass` print it, taken apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpusonde::cuda {

struct SassInstruction {
  std::uint64_t address = 0;
  std::string guard;                    ///< `@P0`, `@!UP1`; empty when none
  std::string opcode;                   ///< `LDG.E.64.STRONG.SM`
  std::string operands;                 ///< `R2, desc[UR4][R2.64]`
  std::optional<std::uint64_t> target;  ///< of a branch
};

struct SassFunction {
  std::string name;
  std::string text;  ///< its lines as printed
  std::vector<SassInstruction> instructions;
};

[[nodiscard]] std::vector<SassFunction> parse_sass(std::string_view text);

/// `sm_90` from a header of either tool; empty when there is none.
[[nodiscard]] std::string sass_architecture(std::string_view text);

/// Whether register `R<number>` is one of the operands, the first (the destination) left out.
[[nodiscard]] bool reads_register(const SassInstruction& instruction, unsigned number);

/// Number of the destination register, the first operand; empty for RZ and when it is none.
[[nodiscard]] std::optional<unsigned> destination_register(const SassInstruction& instruction);

}  // namespace gpusonde::cuda

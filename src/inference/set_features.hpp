// What a set number may be a parity of: bits of the address, bits of a quotient of it, and which residue it has. A
// published L2 divides by an odd number of slices, so its sets are no parity of address bits alone, yet they are one of
// these.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "inference/bit_rows.hpp"

namespace gpusonde {

/// The columns: the address bits of `address_bits`, then `quotient_bits` bits of address / quotient_divisor, then for
/// each residue one column a value of ((address + addend) >> shift) % modulus.
struct SetFeatures {
  struct Residue {
    unsigned shift = 0;
    std::uint64_t addend = 0;
    std::uint32_t modulus = 0;  ///< 2 to 64
  };
  std::uint64_t address_bits = 0;
  std::uint64_t quotient_divisor = 0;  ///< 0: no quotient
  unsigned quotient_bits = 0;
  std::vector<Residue> residues;
};

/// One bit of a set number: the parity of all the columns chosen.
struct SetMask {
  std::uint64_t address = 0;
  std::uint64_t quotient = 0;
  std::vector<std::uint64_t> residues;  ///< bit v of entry i: residue i has the value v

  bool operator==(const SetMask&) const = default;
};

/// Empty when the columns are well formed and fit a BitRow, else what is wrong.
[[nodiscard]] std::string fault_of(const SetFeatures& features);
/// Precondition of the rest: fault_of() is empty.
[[nodiscard]] BitRow feature_row(const SetFeatures& features, std::uint64_t address);
[[nodiscard]] SetMask mask_of_row(const SetFeatures& features, const BitRow& row);
[[nodiscard]] BitRow row_of_mask(const SetFeatures& features, const SetMask& mask);

}  // namespace gpusonde

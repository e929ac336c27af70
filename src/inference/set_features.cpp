#include "inference/set_features.hpp"

#include <fmt/format.h>

#include <bit>

namespace gpusonde {
namespace {

constexpr std::uint32_t k_largest_modulus = 64;  // one-hot values share a word in SetMask

std::uint64_t residue_of(const SetFeatures::Residue& residue, std::uint64_t address) {
  return ((address + residue.addend) >> residue.shift) % residue.modulus;
}

}  // namespace

std::string fault_of(const SetFeatures& features) {
  if (features.quotient_bits > 64 || (features.quotient_divisor == 0 && features.quotient_bits != 0))
    return "the quotient has bits but no divisor, or more than 64 bits";
  unsigned columns = static_cast<unsigned>(std::popcount(features.address_bits)) + features.quotient_bits;
  for (const auto& residue : features.residues) {
    if (residue.modulus < 2 || residue.modulus > k_largest_modulus || residue.shift > 63)
      return "a residue's modulus is not in 2 to 64 or its shift not in 0 to 63";
    columns += residue.modulus;
  }
  if (columns == 0) return "there are no address bits to look at";
  if (columns > k_bit_row_columns)
    return fmt::format("the features have {} columns; at most {} fit", columns, k_bit_row_columns);
  return {};
}

BitRow feature_row(const SetFeatures& features, std::uint64_t address) {
  BitRow row;
  unsigned column = 0;
  for (auto bits = features.address_bits; bits != 0; bits &= bits - 1, ++column)
    if ((address >> std::countr_zero(bits) & 1) != 0) row.set(column);
  const auto quotient = features.quotient_divisor == 0 ? 0 : address / features.quotient_divisor;
  for (unsigned bit = 0; bit < features.quotient_bits; ++bit, ++column)
    if ((quotient >> bit & 1) != 0) row.set(column);
  for (const auto& residue : features.residues) {
    row.set(column + static_cast<unsigned>(residue_of(residue, address)));
    column += residue.modulus;
  }
  return row;
}

SetMask mask_of_row(const SetFeatures& features, const BitRow& row) {
  SetMask mask;
  unsigned column = 0;
  for (auto bits = features.address_bits; bits != 0; bits &= bits - 1, ++column)
    if (row.test(column)) mask.address |= bits & (0 - bits);
  for (unsigned bit = 0; bit < features.quotient_bits; ++bit, ++column)
    if (row.test(column)) mask.quotient |= std::uint64_t{1} << bit;
  for (const auto& residue : features.residues) {
    std::uint64_t values = 0;
    for (unsigned value = 0; value < residue.modulus; ++value, ++column)
      if (row.test(column)) values |= std::uint64_t{1} << value;
    mask.residues.push_back(values);
  }
  return mask;
}

BitRow row_of_mask(const SetFeatures& features, const SetMask& mask) {
  BitRow row;
  unsigned column = 0;
  for (auto bits = features.address_bits; bits != 0; bits &= bits - 1, ++column)
    if ((mask.address & bits & (0 - bits)) != 0) row.set(column);
  for (unsigned bit = 0; bit < features.quotient_bits; ++bit, ++column)
    if ((mask.quotient >> bit & 1) != 0) row.set(column);
  for (std::size_t i = 0; i < features.residues.size(); ++i)
    for (unsigned value = 0; value < features.residues[i].modulus; ++value, ++column)
      if (i < mask.residues.size() && (mask.residues[i] >> value & 1) != 0) row.set(column);
  return row;
}

}  // namespace gpusonde

// A set function evaluated, and written down in the language of a model's hash functions.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "inference/set_function.hpp"

namespace gpusonde {
namespace {

bool is_odd(std::uint64_t bits) { return (std::popcount(bits) & 1) != 0; }

bool parity_of(const SetFeatures& features, const SetMask& mask, std::uint64_t address) {
  bool odd = is_odd(address & mask.address);
  if (mask.quotient != 0 && features.quotient_divisor != 0)
    odd ^= is_odd(address / features.quotient_divisor & mask.quotient);
  for (std::size_t i = 0; i < mask.residues.size(); ++i) {
    const auto& residue = features.residues[i];
    odd ^= (mask.residues[i] >> ((address + residue.addend) >> residue.shift) % residue.modulus & 1) != 0;
  }
  return odd;
}

std::string mask_text(const SetMask& mask) {
  std::vector<std::string> terms;
  if (mask.address != 0) terms.push_back(fmt::format("parity(a & 0x{:x})", mask.address));
  if (mask.quotient != 0) terms.push_back(fmt::format("parity(q & 0x{:x})", mask.quotient));
  for (std::size_t i = 0; i < mask.residues.size(); ++i) {
    std::vector<std::string> values;
    for (auto bits = mask.residues[i]; bits != 0; bits &= bits - 1)
      values.push_back(fmt::format("r{} == {}", i, std::countr_zero(bits)));
    if (!values.empty()) terms.push_back(fmt::format("({})", fmt::join(values, " || ")));
  }
  return terms.empty() ? "0" : fmt::format("{}", fmt::join(terms, " ^ "));
}

}  // namespace

std::uint64_t SetFunction::set_count() const noexcept {
  return (masks.size() < 64 ? std::uint64_t{1} << masks.size() : 0) * (modulo ? modulo->sets : 1);
}

std::uint64_t SetFunction::value(std::uint64_t address) const {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < masks.size(); ++i) value |= std::uint64_t{parity_of(features, masks[i], address)} << i;
  if (modulo) value += (address / modulo->unit_bytes % modulo->sets) << masks.size();
  return value;
}

std::string SetFunction::text() const {
  std::string program;
  const auto uses_quotient = [](const SetMask& mask) { return mask.quotient != 0; };
  if (std::any_of(masks.begin(), masks.end(), uses_quotient))
    program += fmt::format("q = a / {}\n", features.quotient_divisor);
  for (std::size_t i = 0; i < features.residues.size(); ++i) {
    const auto uses_residue = [i](const SetMask& mask) { return i < mask.residues.size() && mask.residues[i] != 0; };
    if (std::none_of(masks.begin(), masks.end(), uses_residue)) continue;
    const auto& residue = features.residues[i];
    const auto sum = residue.addend == 0 ? "a" : fmt::format("(a + 0x{:x})", residue.addend);
    program += fmt::format("r{} = ({} >> {}) % {}\n", i, sum, residue.shift, residue.modulus);
  }
  std::vector<std::string> bits;
  for (std::size_t i = 0; i < masks.size(); ++i) {
    program += fmt::format("b{} = {}\n", i, mask_text(masks[i]));
    bits.push_back(i == 0 ? "b0" : fmt::format("b{} << {}", i, i));
  }
  const auto number = fmt::format("{}", fmt::join(bits, " | "));
  if (!modulo) return program + fmt::format("return {}\n", bits.empty() ? "0" : number);
  const auto remainder = fmt::format("a / {} % {}", modulo->unit_bytes, modulo->sets);
  if (bits.empty()) return program + fmt::format("return {}\n", remainder);
  return program + fmt::format("return ({}) + ({} << {})\n", number, remainder, masks.size());
}

}  // namespace gpusonde

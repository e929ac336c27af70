// The function itself: its key, its value and its text.
#include "inference/class_function.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "inference/gf2.hpp"

namespace gpusonde {

std::uint32_t ClassKey::parities(std::uint64_t address) const noexcept {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < masks.size(); ++i) value |= parity(address & masks[i]) << i;
  return value;
}

std::size_t ClassKey::operator()(std::uint64_t address) const noexcept {
  std::size_t residues = 0;
  for (const auto& term : terms) residues = residues * term.modulus + term(address);
  return (residues << masks.size()) | parities(address);
}

std::size_t ClassKey::in_page(std::uint64_t offset, std::uint32_t parity_constant,
                              std::span<const std::uint32_t> residue_constants) const noexcept {
  std::size_t residues = 0;
  for (std::size_t i = 0; i < terms.size(); ++i)
    residues = residues * terms[i].modulus + (terms[i](offset) + residue_constants[i]) % terms[i].modulus;
  return (residues << masks.size()) | (parities(offset) ^ parity_constant);
}

std::size_t ClassKey::residue_count() const noexcept {
  std::size_t count = 1;
  for (const auto& term : terms) count *= term.modulus;
  return count;
}

std::optional<std::uint32_t> ClassFunction::label(std::size_t at) const noexcept {
  if (table[at] == k_never_seen) return std::nullopt;
  return classes[static_cast<std::size_t>(table[at])];
}

std::optional<std::uint32_t> ClassFunction::operator()(std::uint64_t address) const noexcept {
  if ((address & ~known_bits) != other_bits) return std::nullopt;
  return label(key(address));
}

std::optional<std::uint32_t> ClassFunction::in_page(std::uint64_t offset, std::uint32_t parity_constant,
                                                    std::span<const std::uint32_t> residue_constants) const noexcept {
  if ((offset & ~known_bits) != other_bits) return std::nullopt;
  return label(key.in_page(offset, parity_constant, residue_constants));
}

bool ClassFunction::is_linear() const {
  if (!key.terms.empty() || classes.size() != table.size()) return false;
  auto sorted = table;
  std::sort(sorted.begin(), sorted.end());
  return sorted.front() != k_never_seen && std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

std::size_t ClassFunction::keys_never_seen() const {
  return static_cast<std::size_t>(std::count(table.begin(), table.end(), k_never_seen));
}

std::vector<std::uint32_t> ClassFunction::xor_constants() const {
  if (!key.terms.empty() || keys_never_seen() != 0) return {};
  const auto label_of = [this](std::size_t at) { return classes[static_cast<std::size_t>(table[at])]; };
  std::vector<std::uint32_t> constants{label_of(0)};
  for (std::size_t i = 0; i < key.masks.size(); ++i) constants.push_back(label_of(std::size_t{1} << i) ^ label_of(0));
  for (std::size_t at = 0; at < table.size(); ++at) {
    auto sum = constants[0];
    for (std::size_t i = 0; i < key.masks.size(); ++i) sum ^= (at >> i & 1U) != 0 ? constants[i + 1] : 0;
    if (sum != label_of(at)) return {};
  }
  return constants;
}

std::string ClassFunction::text() const {
  std::string text;
  if (const auto never = keys_never_seen(); never != 0)
    text += fmt::format("# {} of {} keys were never seen; they are given {}\n", never, table.size(), classes.front());
  if (other_bits != 0) text += fmt::format("# measured only where address & {:#x} is {:#x}\n", ~known_bits, other_bits);
  for (std::size_t i = 0; i < key.masks.size(); ++i) text += fmt::format("p{} = parity(a & {:#x})\n", i, key.masks[i]);
  for (std::size_t i = 0; i < key.terms.size(); ++i) {
    const auto& term = key.terms[i];
    const auto sum = term.addend == 0 ? std::string("a") : fmt::format("(a + {:#x})", term.addend);
    text += fmt::format("r{} = ({} >> {}) % {}\n", i, sum, term.shift, term.modulus);
  }
  if (const auto constants = xor_constants(); !constants.empty()) {
    text += fmt::format("return {}", constants[0]);
    for (std::size_t i = 0; i < key.masks.size(); ++i) text += fmt::format(" ^ p{} * {}", i, constants[i + 1]);
    return text + "\n";
  }
  std::string residues = key.terms.empty() ? "0" : "r0";
  for (std::size_t i = 1; i < key.terms.size(); ++i)
    residues = fmt::format("({} * {} + r{})", residues, key.terms[i].modulus, i);
  std::string index = fmt::format("{} * {}", residues, std::size_t{1} << key.masks.size());
  for (std::size_t i = 0; i < key.masks.size(); ++i) index += fmt::format(" + {} * p{}", std::size_t{1} << i, i);
  text += "return [";
  for (std::size_t at = 0; at < table.size(); ++at)
    text += fmt::format("{}{}", at == 0 ? "" : ", ", label(at).value_or(classes.front()));
  return text + fmt::format("][{}]\n", index);
}

}  // namespace gpusonde

#include "model/parity_basis.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace gpusonde {
namespace {

void add_to(BitMasks& sum, const BitMasks& masks) {
  for (const auto& [word, mask] : masks) {
    auto& mine = sum[word];
    mine ^= mask;
    if (mine == 0) sum.erase(word);
  }
}

/// Whether the parity holds the leading bit (lowest bit of the first word) of another.
bool holds_leading_bit(const BitMasks& parity, const BitMasks& of) {
  const auto& [word, mask] = *of.begin();
  const auto mine = parity.find(word);
  return mine != parity.end() && (mine->second & (mask & (0 - mask))) != 0;
}

}  // namespace

ParityBasis::Row ParityBasis::reduced(const BitMasks& parity) const {
  Row rest{parity, 0};
  for (const auto& row : m_rows) {
    if (!holds_leading_bit(rest.masks, row.masks)) continue;
    add_to(rest.masks, row.masks);
    rest.members ^= row.members;
  }
  return rest;
}

void ParityBasis::add(const BitMasks& parity) {
  auto row = reduced(parity);
  if (row.masks.empty() || m_members.size() == 32) return;
  row.members ^= std::uint32_t{1} << m_members.size();
  m_members.push_back(parity);
  m_rows.push_back(std::move(row));
}

std::uint32_t ParityBasis::members(const BitMasks& parity) const { return reduced(parity).members; }

void PackedParities::add(const BitMasks& parity, std::uint64_t flips) {
  if (!parity.empty() && flips != 0) m_parities.emplace_back(parity, flips);
}

std::vector<CompiledFunction::ParityWord> PackedParities::words(const Expression& expression) const {
  std::map<std::uint32_t, std::uint64_t> used;  // bits of each word
  for (const auto& [parity, flips] : m_parities)
    for (const auto& [word, mask] : parity) used[word] |= mask;
  std::vector<CompiledFunction::ParityWord> words;
  for (const auto& [node, bits] : used) {
    CompiledFunction::ParityWord word;
    word.word = *WordChain::of(expression, node);
    word.first_bit = static_cast<unsigned>(std::countr_zero(bits));
    word.bytes = (static_cast<unsigned>(std::bit_width(bits)) - word.first_bit + 7) / 8;
    word.entries.assign(std::size_t{256} * word.bytes, 0);
    for (const auto& [parity, flips] : m_parities) {
      const auto found = parity.find(node);
      if (found == parity.end()) continue;
      const auto mask = found->second >> word.first_bit;
      for (std::size_t at = 0; at < word.entries.size(); ++at) {
        const auto byte = static_cast<unsigned>(mask >> (at / 256 * 8)) & 0xFF;
        if ((std::popcount(byte & static_cast<unsigned>(at % 256)) & 1) != 0) word.entries[at] ^= flips;
      }
    }
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace gpusonde

// A hash function in the form it is evaluated in: parities by byte-indexed tables, remainders by
// multiplication, and one table for what is made of them.
#pragma once

#include <cstdint>
#include <vector>

#include "model/divider.hpp"
#include "model/word_chain.hpp"

namespace gpusonde {

struct CompiledFunction {
  /// What one word (the address, a / 1152, ...) adds to the packed parities: for each of its bytes from
  /// `first_bit` on, 256 entries. An entry's low half selects in `table`, its high half is added to the value.
  struct ParityWord {
    WordChain word;
    unsigned first_bit = 0;
    unsigned bytes = 0;
    std::vector<std::uint64_t> entries;
  };
  struct Remainder {
    WordChain word;
    Divider divider;
    std::uint32_t stride = 1;  ///< in `table`
  };

  std::uint64_t constant = 0;  ///< of the packed parities
  std::vector<ParityWord> parity_words;
  std::vector<Remainder> remainders;
  std::vector<std::uint32_t> table;  ///< empty: the selection itself is added to the value

  [[nodiscard]] std::uint32_t operator()(std::uint64_t address) const noexcept {
    std::uint64_t packed = constant;
    for (const auto& word : parity_words) {
      std::uint64_t rest = word.word(address) >> word.first_bit;
      const auto* entries = word.entries.data();
      for (unsigned byte = 0; byte < word.bytes; ++byte, rest >>= 8, entries += 256) packed ^= entries[rest & 0xFF];
    }
    auto selection = static_cast<std::uint32_t>(packed);
    for (const auto& each : remainders)
      selection += static_cast<std::uint32_t>(each.divider.remainder(each.word(address))) * each.stride;
    return (table.empty() ? selection : table[selection]) ^ static_cast<std::uint32_t>(packed >> 32);
  }
};

}  // namespace gpusonde

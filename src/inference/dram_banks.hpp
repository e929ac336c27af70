// Banks of DRAM from pairs of lines: two rows of one bank are opened one after the other; lines of different banks
// meet only on the pins of their channel.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "inference/estimate.hpp"

namespace gpusonde {

enum class PairKind : std::uint8_t { apart, same_channel, same_bank };

struct PairKinds {
  std::vector<PairKind> kinds;  ///< of each pair; empty where they do not part
  double channel_cycles = 0;    ///< what two lines of one channel take more than two of different ones
  double scatter_cycles = 0;    ///< of either
  std::string trouble;          ///< one sentence where they do not part
};
/// `extra`: what a pair of whole lines takes, each pair at its best; `activate_cycles`: what opening a row costs.
[[nodiscard]] PairKinds kinds_of_pairs(std::span<const double> extra, double activate_cycles);

/// Lines that open rows of one bank, by who waits for whom. `waits`: [line][line], symmetric.
struct BankGroups {
  std::vector<std::uint32_t> bank;  ///< of each line, the first line's is 0
  std::uint32_t banks = 0;
  std::uint64_t contradictions = 0;  ///< pairs of one group that do not wait although their rows differ
};
/// Lines of one row do not wait for each other but wait for the same others, so groups are what is connected.
[[nodiscard]] BankGroups group_banks(const std::vector<std::vector<bool>>& waits);

/// How many banks. Inconclusive where lines are so few that another bank could well have been missed.
[[nodiscard]] Estimate bank_count(const BankGroups& groups);

}  // namespace gpusonde

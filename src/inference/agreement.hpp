// Whether groups agree on something because it is so, or as they would by chance.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inference/bit_rows.hpp"

namespace gpusonde {

/// At least this share of all groups must agree with what is found: the rest is taken for false members.
inline constexpr double k_least_agreement = 0.8;
/// Held-out groups must agree so much better than chance: a factor of a million in likelihood.
inline constexpr double k_least_evidence_nats = 13.8;

/// Log likelihood ratio of `agreeing` of `count` against agreement by chance alone; 0 when it is no better.
[[nodiscard]] double evidence_nats(std::size_t agreeing, std::size_t count, double chance);

/// The packed number that the masks give a row, mask i at bit i. Precondition: at most 64 masks.
[[nodiscard]] std::uint64_t packed_value(std::span<const BitRow> masks, const BitRow& row) noexcept;

/// Lines to hold against: unrelated ones, or differences of unrelated pairs where lines of different pools may not be
/// compared.
struct Background {
  std::vector<BitRow> rows;
  bool are_pairs = false;
};

/// Of all sums of masks, |2 p - 1| of the most uneven one, p being its share of ones among lines; 0 where chance makes
/// as much of so many sums over so few lines. With more than 16 masks only the masks themselves are looked at.
/// 1 without background.
[[nodiscard]] double largest_bias(std::span<const BitRow> masks, const Background& background);

/// Groups whose lines have one value each. Here and below a group is given by its lines' differences from its first.
[[nodiscard]] std::size_t count_agreeing(std::span<const BitRow> masks, std::span<const std::vector<BitRow>> groups);

/// The share of groups of unrelated lines, as many as these have, that agree on a mask of that bias.
[[nodiscard]] double chance_of_agreement(double bias, std::span<const std::vector<BitRow>> groups);

/// How likely it is that random false members contradict the masks as much alike as these groups do, which is how a
/// mask looks that is nearly constant and only seemed to hold.
[[nodiscard]] double chance_of_repeats(std::span<const BitRow> masks, std::span<const std::vector<BitRow>> groups);

/// The number most of the lines share; the first of several.
[[nodiscard]] std::uint64_t most_common(std::vector<std::uint64_t> values);

}  // namespace gpusonde

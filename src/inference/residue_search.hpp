// Which residues of the address matter: every hypothesis of one or two terms, judged by how many differences of
// addresses are invariant under it. Too few residues leave none; superfluous ones, or a shift too low, leave fewer
// than the right ones do.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inference/address_windows.hpp"
#include "inference/class_function.hpp"

namespace gpusonde {

inline constexpr std::uint32_t k_greatest_modulus = 63;

struct ResidueHypothesis {
  std::vector<ResidueTerm> terms;
  std::vector<std::uint64_t> invariant;  ///< basis of the differences that no mask sees
  double key_bits = 0;                   ///< log2 of how many keys the table has at most
};

/// Odd moduli up to 63, ascending, under which about as much is invariant in the highest windows as under any; 1 stands
/// for no residue at all. Empty when nothing is invariant. A modulus comes before its multiples, which fit too.
[[nodiscard]] std::vector<std::uint32_t> promising_moduli(std::span<const WindowGroup> groups,
                                                          std::uint64_t varying_bits, double label_error_rate);

/// Those that leave most invariant of one term with this modulus, or of none for modulus 1. Fewest keys first.
[[nodiscard]] std::vector<ResidueHypothesis> one_term_hypotheses(std::span<const WindowGroup> groups,
                                                                 std::uint64_t varying_bits, std::uint32_t modulus,
                                                                 double label_error_rate);

/// Likewise of two terms with this least common modulus.
[[nodiscard]] std::vector<ResidueHypothesis> two_term_hypotheses(std::span<const WindowGroup> groups,
                                                                 std::uint64_t varying_bits, std::uint32_t modulus,
                                                                 double label_error_rate);

}  // namespace gpusonde

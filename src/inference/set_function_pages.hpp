// A set function where only the offset within a page is known: a physically indexed cache seen through virtual
// addresses. Parities of an address are those of its offset, XOR a constant of its page that the unknown bits make.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "inference/set_function.hpp"

namespace gpusonde {

/// Only differences of constants within one cluster mean anything; its first page has constant 0. Pages that groups
/// link, directly or through others, are of one cluster.
struct PageConstant {
  std::uint64_t page = 0;      ///< address / page_bytes
  std::uint64_t constant = 0;  ///< XORed onto the function's value
  std::uint32_t cluster = 0;
};

struct PagedSetFit {
  /// Over offsets. Its groups are the lines of one page in a group, two or more; contradictions name the groups given.
  SetFunctionFit fit;
  std::uint64_t page_bytes = 0;
  /// By ascending page: those whose constant at least two groups tell, and twice as many as tell another one. None
  /// when the function has a remainder, to which a page's constant would have to be added.
  std::vector<PageConstant> pages;

  /// False: certainly not. True: not as far as a page's offsets tell; masks of unknown bits alone may still part them.
  /// Empty when the constant of a page is not known, or not against the other's. Precondition: fit.ok().
  [[nodiscard]] std::optional<bool> may_share_set(std::uint64_t a, std::uint64_t b) const;
};

/// As fit_set_function, from differences of lines in the same page alone; non-conflicts of two pages are left out.
/// Inconclusive as well when features look at bits beyond the page or at quotients and residues, which do not split
/// into page and offset. Precondition: page_bytes is a power of two. group_pools is not used.
[[nodiscard]] PagedSetFit fit_set_function_in_pages(const std::vector<LineGroup>& groups,
                                                    const std::vector<LinePair>& non_conflicts,
                                                    const SetFeatures& features, std::uint64_t page_bytes,
                                                    const SetFitOptions& options);

}  // namespace gpusonde

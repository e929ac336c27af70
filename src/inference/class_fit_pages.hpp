// The same function found without knowing where pages lie in memory. An unprivileged program knows an address only
// within its page; the bits above are an unknown constant of the page. To the function they add a constant to each
// parity and to each residue, so all pages share masks, terms and table, and each has constants of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gpusonde/finding.hpp"
#include "inference/class_fit.hpp"
#include "inference/class_function.hpp"

namespace gpusonde {

struct PageSample {
  std::uint64_t page = 0;  ///< any number that tells pages apart
  std::uint64_t offset_bytes = 0;
  std::uint32_t label = 0;  ///< the same class has the same label in all pages
};

/// Where a page's lines are in the common table.
struct PageConstants {
  std::uint64_t page = 0;
  bool matched = false;
  std::string reason;                            ///< one sentence when not matched
  std::uint32_t parity_constant = 0;             ///< XOR-ed to the parities; the other two only when matched
  std::vector<std::uint32_t> residue_constants;  ///< added to the residues, one a term
  std::size_t samples = 0;
  std::size_t wrong = 0;  ///< of them
};

struct PageFit {
  Outcome outcome = Outcome::inconclusive;
  std::string reason;                ///< one sentence when not ok
  ClassFunction function;            ///< of the offset; meaningful only when ok
  std::vector<PageConstants> pages;  ///< ascending by number; of the first one placed all constants are 0
  std::size_t class_count = 0;
  std::size_t held_out = 0;  ///< in pages that match
  std::size_t held_out_wrong = 0;
  std::size_t held_out_never_seen = 0;

  [[nodiscard]] bool ok() const noexcept { return outcome == Outcome::ok; }
  /// Nothing for a page that does not match or is not there, and for a key never seen.
  [[nodiscard]] std::optional<std::uint32_t> label(std::uint64_t page, std::uint64_t offset_bytes) const;
};

/// Samples are in the order of `plan_page_offsets`, page after page; rows may be missing. The structure is found in the
/// eight pages with most samples, less those with a quarter of the first one's or fewer; all others are placed on it.
/// Constants that the samples of a page leave open are not chosen: such a page does not match. Ok when at least half of
/// the pages do.
[[nodiscard]] PageFit fit_class_function_in_pages(std::span<const PageSample> samples,
                                                  const ClassFitOptions& options = {});

}  // namespace gpusonde

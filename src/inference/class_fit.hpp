// From labelled addresses to the function that gives the labels, or the reason why none of this kind does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gpusonde/finding.hpp"
#include "inference/class_function.hpp"

namespace gpusonde {

struct ClassFitOptions {
  std::uint64_t line_bytes = 128;   ///< lower bits are ignored; a power of two
  double label_error_rate = 0.005;  ///< up to this share of the labels may be wrong; 0: none
};

struct ClassFit {
  Outcome outcome = Outcome::inconclusive;
  std::string reason;      ///< one sentence when not ok
  ClassFunction function;  ///< meaningful only when ok
  std::size_t class_count = 0;
  std::size_t outvoted = 0;             ///< samples that the function contradicts, of those it was made from
  std::size_t held_out = 0;             ///< samples kept aside to try the function on
  std::size_t held_out_wrong = 0;       ///< of these
  std::size_t held_out_never_seen = 0;  ///< of these, without a prediction

  [[nodiscard]] bool ok() const noexcept { return outcome == Outcome::ok; }
};

/// `labels[i]`, any numbers, is the class of the line at `addresses[i]`. The addresses are those of
/// `plan_class_addresses` in that order, rows may be missing. Of the functions that predict the labels kept aside, the
/// one with fewest keys; labels are first taken as all right, then as wrong at the rate of the options.
///
/// Several descriptions are the same function: with bit 15 among the masks, (a >> 15) % 3 says no more than
/// (a >> 16) % 3, and a term with a larger modulus replaces two. What is found predicts the same classes.
[[nodiscard]] ClassFit fit_class_function(std::span<const std::uint64_t> addresses,
                                          std::span<const std::uint32_t> labels, const ClassFitOptions& options = {});

}  // namespace gpusonde

// Which addresses to have labelled, so that `fit_class_function` can tell the function from their labels alone. Most
// come in windows: a random base and all combinations of some address bits, so that every difference of those bits
// is seen many times. The rest are random lines, on which the fit is tried out.
#pragma once

#include <cstdint>
#include <vector>

#include "gpusonde/error.hpp"

namespace gpusonde {

struct ClassPlanOptions {
  std::uint64_t seed = 1;
  std::uint64_t line_bytes = 128;     ///< a power of two
  unsigned window_bits = 11;          ///< finds up to about three parities fewer
  unsigned bases = 2;                 ///< windows with the same bits
  unsigned scattered_windows = 4;     ///< of bits chosen at random
  std::uint64_t random_lines = 8000;  ///< beside the windows
};

/// About 53000 lines of a memory of 24 GiB. The order matters to the fit. Errors: usage.
[[nodiscard]] Result<std::vector<std::uint64_t>> plan_class_addresses(std::uint64_t memory_bytes,
                                                                      const ClassPlanOptions& options = {});

/// Offsets of lines in one page, for `fit_class_function_in_pages`; give each page a seed of its own. About half of
/// a page of 2 MiB. Errors: usage.
[[nodiscard]] Result<std::vector<std::uint64_t>> plan_page_offsets(std::uint64_t page_bytes, std::uint64_t seed,
                                                                   std::uint64_t line_bytes = 128);

}  // namespace gpusonde

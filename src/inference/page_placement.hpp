// Pages on a common table: which constants, added to the parities and residues of a page, make its labels those of
// the table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inference/address_windows.hpp"
#include "inference/class_function.hpp"

namespace gpusonde {

struct Placement {
  std::uint32_t parity_constant = 0;
  std::vector<std::uint32_t> residue_constants;  ///< one a term
};

struct PlacedPages {
  std::vector<std::optional<Placement>> by_sheet;
  std::vector<std::string> reasons;        ///< by sheet; of those not placed
  std::vector<std::int32_t> class_by_key;  ///< from the samples of all pages placed
  std::size_t outvoted = 0;                ///< samples that others of their key contradict
};

/// `samples_by_sheet`: the training samples of each page. The page with most is placed first, with constants 0.
[[nodiscard]] PlacedPages place_pages(std::span<const std::vector<ClassSample>> samples_by_sheet, const ClassKey& key,
                                      double label_error_rate);

}  // namespace gpusonde

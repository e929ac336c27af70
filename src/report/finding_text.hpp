// Findings one below the other for a terminal: value, interval, whether the model agrees, and below it the masks
// or the program that the value is, what it rests on, or why there is none.
#pragma once

#include <string>
#include <vector>

#include "report/text_page.hpp"

namespace gpusonde::report {

struct FindingLine {
  std::string title;
  const Finding* finding = nullptr;
  std::vector<std::string> notes;  ///< a sentence each
};

void add_findings(TextPage& page, const std::vector<FindingLine>& lines);

/// `12 13 15`: the bits of a number written as `0x...`; empty for any other text.
[[nodiscard]] std::string bits_of(std::string_view mask);

/// `ways` for `l1.ways`, `set masks` for `l1.set_masks`.
[[nodiscard]] std::string finding_title(std::string_view id);

}  // namespace gpusonde::report

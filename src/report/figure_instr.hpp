// Operations over the number of independent chains, as a picture.
#pragma once

#include <optional>

#include "report/report.hpp"

namespace gpusonde::report {

inline constexpr std::string_view k_intervals_heading = "Operations: cycles each, by independent chains";

/// `instr.intervals` of the table derived.instr.intervals; nothing without it.
[[nodiscard]] std::optional<Figure> intervals_figure(const Run& run);

}  // namespace gpusonde::report

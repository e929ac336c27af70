// Pictures of the TLB study: a sweep of each load path, and what translation adds.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "report/report.hpp"
#include "report/sweep_view.hpp"

namespace gpusonde::report {

/// What stands below a sweep: the working set, or the number of its nodes. By nodes the steps of all
/// strides that are no smaller than an entry's span stand at the same place.
enum class SweepAxis { bytes, nodes };

inline constexpr std::string_view k_alias_title = "TLB penalty by number of nodes";

/// `tlb.sweep.ca`, `tlb.sweep.cg`: one figure a policy of the table tlb.sweep.
[[nodiscard]] std::vector<Figure> sweep_figures(const Run& run, SweepAxis axis);

/// `tlb.alias`: the penalty by number of nodes, and the curve predicted for it.
[[nodiscard]] std::optional<Figure> alias_figure(const Run& run);

}  // namespace gpusonde::report

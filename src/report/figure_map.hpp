// Latency of lines seen from SMs, as a picture.
#pragma once

#include <optional>

#include "report/report.hpp"

namespace gpusonde::report {

inline constexpr std::string_view k_map_heading = "L2 latency by SM and line";
inline constexpr std::string_view k_atomic_map_heading = "Latency of atomics by SM and line";

/// `slices.map` of the table slices.load, and `slices.atomic` of the table of that name: a row an SM, by side; a
/// column a line or some lines of a slice, by home side and slice; as given where sides and slices are not known.
/// Nothing where nothing was read.
[[nodiscard]] std::optional<Figure> load_map_figure(const Run& run);
[[nodiscard]] std::optional<Figure> atomic_map_figure(const Run& run);

inline constexpr std::string_view k_cluster_map_heading = "Shared memory of a cluster, by block and block";
/// `memories.cluster` of the table of that name; nothing without it.
[[nodiscard]] std::optional<Figure> cluster_map_figure(const Run& run);

}  // namespace gpusonde::report

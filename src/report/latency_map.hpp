// Latencies of lines seen from SMs, in the order they are shown in: SMs by side, lines by the side they are at
// home on and by slice. Binned, since there are more lines than a picture has columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpusonde/run.hpp"

namespace gpusonde::report {

/// Elements that follow each other and are shown as one.
struct MapBin {
  std::size_t first = 0;
  std::size_t count = 0;
};

struct MapSm {
  std::uint64_t number = 0;
  double side = 0;                    ///< NaN where not known
  std::vector<double> eighth_cycles;  ///< by row of the table; NaN where a place was not read
};

struct MapLine {
  std::size_t row = 0;  ///< in the table
  std::uint64_t place_bytes = 0;
  double slice = 0;      ///< NaN where not clear
  double home_side = 0;  ///< NaN where not clear
};

struct LatencyMap {
  std::vector<MapSm> sms;
  std::vector<MapLine> lines;
  bool sms_have_sides = false;  ///< at least one has
  bool lines_have_sides = false;
  bool lines_have_slices = false;
  double least_cycles = 0;  ///< over all readings
  double mean_cycles = 0;
  double most_cycles = 0;

  /// Mean of the readings; NaN without one.
  [[nodiscard]] double cycles(const MapBin& of_sms, const MapBin& of_lines) const;
};

/// The table `slices.load` or `slices.atomic`, ordered by derived.slices.sms and derived.slices.lines where these
/// exist, which lines are found in by their place. A reading of 0 counts as none. Nothing without a reading.
[[nodiscard]] std::optional<LatencyMap> latency_map(const Measurements& measurements, std::string_view table);

/// Runs of SMs of one side; of lines of one side; of lines of one side and slice.
[[nodiscard]] std::vector<MapBin> sides_of_sms(const LatencyMap& map);
[[nodiscard]] std::vector<MapBin> sides_of_lines(const LatencyMap& map);
[[nodiscard]] std::vector<MapBin> slices_of_lines(const LatencyMap& map);

/// At most `most` bins, none of which reaches over the end of a group, and each group with at least one. Bins are
/// single elements where there is room for that. Precondition: groups.size() <= most.
[[nodiscard]] std::vector<MapBin> bins_within(const std::vector<MapBin>& groups, std::size_t most);
/// Bins of lines within slices where there is room for all of them, else within sides, else of equal size.
[[nodiscard]] std::vector<MapBin> bins_of_lines(const LatencyMap& map, std::size_t most);
/// Likewise of SMs within sides.
[[nodiscard]] std::vector<MapBin> bins_of_sms(const LatencyMap& map, std::size_t most);

/// Cells by rows: NaN where nothing was read.
[[nodiscard]] std::vector<std::vector<double>> map_cells(const LatencyMap& map, const std::vector<MapBin>& sms,
                                                         const std::vector<MapBin>& lines);

/// Shades for cells, so that a few outliers do not take all of them: the first begins where 1 % of the cells lie
/// below, the last ends where 1 % lie above.
struct HeatScale {
  double low = 0;
  double high = 0;
  bool below = false;  ///< there are cells below `low`
  bool above = false;

  /// 0 to `shades` - 1. Precondition: finite.
  [[nodiscard]] std::size_t shade(double cycles, std::size_t shades) const;
};
[[nodiscard]] HeatScale heat_scale(const std::vector<std::vector<double>>& cells);

/// `0` for side 0, `?` where not known.
[[nodiscard]] std::string side_text(double side);

}  // namespace gpusonde::report

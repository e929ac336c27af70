// A chart of several lines over a logarithmic abscissa, told apart by colour, marker and label.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/report.hpp"

namespace gpusonde::report {

struct ChartPoint {
  double x = 0;
  double y = 0;
  double low = 0;
  double high = 0;
};

/// A point of a line with a ring around it and a text of its own.
struct ChartMark {
  double x = 0;
  double y = 0;
  std::string text;
};

struct ChartLine {
  std::string label;
  bool named = true;  ///< else drawn thin, without label and marks
  std::vector<ChartPoint> points;
  std::vector<std::pair<double, double>> dashed;  ///< a curve beside the points; may be empty
  std::vector<ChartMark> marks;
};

enum class ChartUnit { bytes, count };

struct LineChart {
  std::string name;  ///< of the figure
  std::string title;
  std::string description;
  std::string note;  ///< at the right, above the plot
  std::string x_title;
  std::string y_title;
  std::string line_title;    ///< what the lines' labels are: `stride`
  std::string mark_title;    ///< what a ring means
  std::string dashed_title;  ///< what a dashed curve means
  ChartUnit x_unit = ChartUnit::bytes;
  bool y_log = true;
  /// Marks of different lines at the same place have one text, on a line across the plot.
  bool marks_in_common = false;
  std::vector<ChartLine> lines;
};

/// Precondition: a line with a point; abscissas are positive, and so are ordinates when y_log.
[[nodiscard]] Figure line_chart(const LineChart& chart);

}  // namespace gpusonde::report

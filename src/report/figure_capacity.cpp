// One bar a split: what stays resident in L1 and, behind it, the shared part that the driver set aside.
// Together they show how one store is divided.
#include "report/figure_capacity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/columns.hpp"
#include "report/escape.hpp"
#include "report/quantity.hpp"
#include "report/svg.hpp"

namespace gpusonde::report {
namespace {

constexpr double k_width = 960;
constexpr double k_left = 200;
constexpr double k_right = 700;
constexpr double k_first_row = 96;
constexpr double k_row = 26;

/// A round number of KiB that divides the axis into four to eight parts.
double tick_step(double largest) {
  double step = 16 * 1024;
  while (largest / step > 8) step *= 2;
  return step;
}

}  // namespace

std::optional<Figure> capacity_figure(const Run& run) {
  const auto* table = run.measurements.find("derived.l1.capacity");
  if (table == nullptr) return {};
  const auto carveout = numbers(*table, "carveout_percent");
  const auto threads = numbers(*table, "block_threads");
  auto shared = numbers(*table, "shared_config_bytes");
  const auto capacity = numbers(*table, "capacity_bytes");
  const auto outcome = texts(*table, "outcome");
  const auto rows = std::min({carveout.size(), threads.size(), capacity.size()});
  if (rows < 2) return {};
  shared.resize(rows, 0);

  double largest = 16 * 1024;
  for (std::size_t row = 0; row < rows; ++row)
    largest = std::max(largest, (std::isfinite(capacity[row]) ? capacity[row] : 0) + shared[row]);
  const auto x = [&](double bytes) { return k_left + (k_right - k_left) * bytes / (largest * 1.02); };
  const double bottom = k_first_row + k_row * static_cast<double>(rows) + 4;

  const auto title = fmt::format("{}: what stays in L1, by storage split", device_title(run.device));
  Svg svg(k_width, bottom + 56, title, "L1 capacity by carve-out asked for and by threads of the block.");
  svg.text(24, 32, title, "ink title");
  svg.rect(24, 49, 14, 12, "bar", 2);
  svg.text(45, 60, "resident in L1", "ink");
  svg.rect(160, 49, 14, 12, "bar2", 2);
  svg.text(181, 60, "set aside for shared memory", "ink");
  svg.text(k_left - 14, k_first_row - 8, "carve-out · block", "soft", "end");

  const double step = tick_step(largest);
  for (double bytes = 0; bytes <= largest * 1.02; bytes += step) {
    svg.line(x(bytes), k_first_row, x(bytes), bottom, "grid");
    svg.text(x(bytes), bottom + 18, quantity(bytes, "bytes"), "soft", "middle");
  }
  svg.line(k_left, k_first_row, k_left, bottom, "axis");
  svg.text((k_left + k_right) / 2, bottom + 42, "bytes of the unified store", "ink", "middle");
  for (std::size_t row = 0; row < rows; ++row) {
    const double top = k_first_row + 4 + k_row * static_cast<double>(row);
    const bool ok = std::isfinite(capacity[row]);
    const double resident = ok ? capacity[row] : 0;
    svg.text(k_left - 14, top + 14,
             fmt::format("{} · {:.0f} threads", carveout[row] < 0 ? "driver's" : fmt::format("{:.0f} %", carveout[row]),
                         threads[row]),
             "ink", "end");
    svg.rect(x(0), top, x(resident) - x(0), k_row - 8, "bar", 2);
    svg.rect(x(resident) + 1, top, x(shared[row]) - x(0), k_row - 8, "bar2", 2);
    const double end = x(resident + shared[row]) + 8;
    const auto value = ok ? quantity(resident, "bytes") : outcome[row];
    svg.text(end, top + 14, value, ok ? "ink strong" : "steptext strong");
    if (shared[row] > 0)
      svg.text(end + text_width(value, 12) + 12, top + 14, fmt::format("+ {} shared", quantity(shared[row], "bytes")),
               "soft");
  }
  return Figure{"l1.capacity", title, std::move(svg).finish()};
}

}  // namespace gpusonde::report

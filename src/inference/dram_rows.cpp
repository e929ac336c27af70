#include "inference/dram_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "inference/statistics.hpp"

namespace gpusonde {
namespace {

constexpr std::size_t k_least_closing = 6;
constexpr double k_least_contrast_cycles = 6;
constexpr double k_least_contrast_sigmas = 4;
constexpr double k_most_between = 0.15;
constexpr std::size_t k_least_anchors = 4;
constexpr double k_least_agreeing = 0.6;
constexpr double k_whole_page = 0.75;

}  // namespace

Estimate row_contrast(std::span<const double> more, double asked, double scatter_cycles) {
  // Medians of several readings scatter by less; what is far above is no chance.
  const double floor = std::max(k_least_contrast_cycles, 2 * scatter_cycles);
  std::vector<double> closing;
  for (const double cycles : more)
    if (cycles > floor) closing.push_back(cycles);
  if (closing.size() < k_least_closing)
    return inconclusive(
        fmt::format("no row stays open: of {:.0f} lines {} make another line's next load slower by {:.0f} cycles or "
                    "more, so rows are "
                    "closed after each access, or what opening one costs drowns in scatter",
                    asked, closing.size(), floor));
  const double contrast = median(closing);
  const double sigma = mad_sigma(closing);
  if (contrast < k_least_contrast_sigmas * std::max(sigma, scatter_cycles / 2))
    return inconclusive(fmt::format("loads of another row of a bank take {:.1f} cycles more, which scatter by {:.1f}",
                                    contrast, sigma));
  const auto between = std::count_if(more.begin(), more.end(), [&](double cycles) {
    return cycles > std::max(floor, 0.25 * contrast) && std::abs(cycles - contrast) > 0.3 * contrast;
  });
  if (static_cast<double>(between) > k_most_between * static_cast<double>(closing.size()))
    return inconclusive(
        fmt::format("of {} lines that make another one slow, {} do so by some other amount than {:.0f} cycles",
                    closing.size(), between, contrast));
  const auto interval = median_interval(closing);
  return {Outcome::ok, contrast, {interval.low - 0.5, interval.high + 0.5}, {}};
}

Estimate row_size(std::span<const RowMembers> rows, std::uint64_t page_bytes, std::uint64_t line_bytes) {
  if (rows.size() < k_least_anchors)
    return inconclusive(fmt::format("{} rows were looked at: too few to agree", rows.size()));
  std::size_t largest = 0;
  std::uint64_t unclear = 0;
  for (const auto& row : rows) {
    largest = std::max(largest, row.others.size() + 1);
    unclear += row.unclear;
  }
  std::size_t agreeing = 0;
  std::size_t whole_page = 0;
  for (const auto& row : rows) {
    if (row.others.size() + 1 != largest) continue;
    ++agreeing;
    auto [low, high] = std::pair{row.anchor, row.anchor};
    for (const auto line : row.others) {
      low = std::min(low, line);
      high = std::max(high, line);
    }
    if (static_cast<double>(high - low) > k_whole_page * static_cast<double>(page_bytes)) ++whole_page;
  }
  if (largest == 1)
    return inconclusive("no line is cheaper after any other: a row may be one line, or is closed at once");
  if (unclear > rows.size()) return inconclusive(fmt::format("{} lines are of a row now and then only", unclear));
  if (static_cast<double>(agreeing) < k_least_agreeing * static_cast<double>(rows.size()))
    return inconclusive(
        fmt::format("rows differ: {} of {} have {} lines, the others fewer", agreeing, rows.size(), largest));
  if (!std::has_single_bit(largest))
    return inconclusive(fmt::format("{} lines a row are no power of two: some were missed, or do not belong", largest));
  if (2 * whole_page > agreeing)
    return inconclusive(fmt::format(
        "{} lines of a row lie in a page, from end to end of it, so that others may lie in further pages", largest));
  return exactly(static_cast<double>(largest * line_bytes));
}

}  // namespace gpusonde

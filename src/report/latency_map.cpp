#include "report/latency_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "report/columns.hpp"

namespace gpusonde::report {
namespace {

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

/// The number of `sm_12_eighth_cycles`.
std::optional<std::uint64_t> sm_number(std::string_view column) {
  constexpr std::string_view begin = "sm_", end = "_eighth_cycles";
  if (!column.starts_with(begin) || !column.ends_with(end) || column.size() <= begin.size() + end.size()) return {};
  const auto digits = column.substr(begin.size(), column.size() - begin.size() - end.size());
  std::uint64_t number = 0;
  const auto [rest, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (code != std::errc{} || rest != digits.data() + digits.size()) return {};
  return number;
}

/// Rows of a derived table by one of its columns; the first of a key counts.
std::unordered_map<std::uint64_t, std::size_t> rows_by(const Table* table, std::string_view key) {
  std::unordered_map<std::uint64_t, std::size_t> rows;
  const auto* keys = table == nullptr ? nullptr : table->column<std::uint64_t>(key);
  for (std::size_t row = 0; keys != nullptr && row < keys->size(); ++row) rows.emplace((*keys)[row], row);
  return rows;
}

double at(const std::vector<double>& values, std::size_t row) { return row < values.size() ? values[row] : k_nan; }

/// Ascending, with what is not known last.
int order(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
  return a < b ? -1 : static_cast<int>(a > b);
}

void read_sms(const Measurements& measurements, const Table& table, LatencyMap& map) {
  const auto* derived = measurements.find("derived.slices.sms");
  const auto rows = rows_by(derived, "sm");
  const auto sides = derived == nullptr ? std::vector<double>{} : numbers(*derived, "side");
  for (const auto& [name, column] : table.columns) {
    const auto number = sm_number(name);
    if (!number) continue;
    MapSm sm{*number, k_nan, numbers(table, name)};
    sm.eighth_cycles.resize(map.lines.size(), k_nan);
    for (double& reading : sm.eighth_cycles)
      if (reading == 0) reading = k_nan;
    if (const auto found = rows.find(*number); found != rows.end()) sm.side = at(sides, found->second);
    map.sms_have_sides = map.sms_have_sides || !std::isnan(sm.side);
    map.sms.push_back(std::move(sm));
  }
  if (!map.sms_have_sides) return;
  std::stable_sort(map.sms.begin(), map.sms.end(), [](const MapSm& a, const MapSm& b) {
    const int sides_order = order(a.side, b.side);
    return sides_order != 0 ? sides_order < 0 : a.number < b.number;
  });
}

void read_lines(const Measurements& measurements, const Table& table, LatencyMap& map) {
  const auto* derived = measurements.find("derived.slices.lines");
  const auto rows = rows_by(derived, "place_bytes");
  const auto slices = derived == nullptr ? std::vector<double>{} : numbers(*derived, "slice");
  const auto sides = derived == nullptr ? std::vector<double>{} : numbers(*derived, "home_side");
  const auto* places = table.column<std::uint64_t>("place_bytes");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    MapLine line{row, places == nullptr ? row : (*places)[row], k_nan, k_nan};
    if (const auto found = rows.find(line.place_bytes); places != nullptr && found != rows.end()) {
      line.slice = at(slices, found->second);
      line.home_side = at(sides, found->second);
    }
    map.lines_have_slices = map.lines_have_slices || !std::isnan(line.slice);
    map.lines_have_sides = map.lines_have_sides || !std::isnan(line.home_side);
    map.lines.push_back(line);
  }
  if (!map.lines_have_slices && !map.lines_have_sides) return;
  std::stable_sort(map.lines.begin(), map.lines.end(), [](const MapLine& a, const MapLine& b) {
    if (const int by_side = order(a.home_side, b.home_side); by_side != 0) return by_side < 0;
    if (const int by_slice = order(a.slice, b.slice); by_slice != 0) return by_slice < 0;
    return a.place_bytes < b.place_bytes;
  });
}

/// Whether there is any reading.
bool sum_up(LatencyMap& map) {
  double sum = 0, least = std::numeric_limits<double>::infinity(), most = 0;
  std::size_t count = 0;
  for (const auto& sm : map.sms) {
    for (const double reading : sm.eighth_cycles) {
      if (std::isnan(reading)) continue;
      sum += reading;
      least = std::min(least, reading);
      most = std::max(most, reading);
      ++count;
    }
  }
  if (count == 0) return false;
  map.least_cycles = least / 8;
  map.most_cycles = most / 8;
  map.mean_cycles = sum / 8 / static_cast<double>(count);
  return true;
}

template <class Entries, class Same>
std::vector<MapBin> runs(const Entries& entries, const Same& same) {
  std::vector<MapBin> out;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i == 0 || !same(entries[i - 1], entries[i])) out.push_back({i, 0});
    ++out.back().count;
  }
  return out;
}

std::vector<MapBin> bins_within_finest(const std::vector<std::vector<MapBin>>& groupings, std::size_t elements,
                                       std::size_t most) {
  for (const auto& groups : groupings)
    if (groups.size() <= most) return bins_within(groups, most);
  return bins_within({{0, elements}}, most);
}

}  // namespace

double LatencyMap::cycles(const MapBin& of_sms, const MapBin& of_lines) const {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t s = of_sms.first; s < of_sms.first + of_sms.count; ++s) {
    for (std::size_t i = of_lines.first; i < of_lines.first + of_lines.count; ++i) {
      const double reading = sms[s].eighth_cycles[lines[i].row];
      if (std::isnan(reading)) continue;
      sum += reading;
      ++count;
    }
  }
  return count == 0 ? k_nan : sum / 8 / static_cast<double>(count);
}

std::optional<LatencyMap> latency_map(const Measurements& measurements, std::string_view table) {
  const auto* found = measurements.find(table);
  if (found == nullptr) return {};
  LatencyMap map;
  read_lines(measurements, *found, map);
  read_sms(measurements, *found, map);
  if (!sum_up(map)) return {};
  return map;
}

std::vector<MapBin> sides_of_sms(const LatencyMap& map) {
  return runs(map.sms, [](const MapSm& a, const MapSm& b) { return order(a.side, b.side) == 0; });
}

std::vector<MapBin> sides_of_lines(const LatencyMap& map) {
  return runs(map.lines, [](const MapLine& a, const MapLine& b) { return order(a.home_side, b.home_side) == 0; });
}

std::vector<MapBin> slices_of_lines(const LatencyMap& map) {
  return runs(map.lines, [](const MapLine& a, const MapLine& b) {
    return order(a.home_side, b.home_side) == 0 && order(a.slice, b.slice) == 0;
  });
}

std::vector<MapBin> bins_within(const std::vector<MapBin>& groups, std::size_t most) {
  std::size_t elements = 0;
  for (const auto& group : groups) elements += group.count;
  std::vector<MapBin> bins;
  for (const auto& group : groups) {
    // One for each group, and of the rest each its share.
    const auto share = elements <= most ? group.count : 1 + (most - groups.size()) * group.count / elements;
    const auto parts = std::min(share, group.count);
    for (std::size_t part = 0; part < parts; ++part) {
      const auto from = group.count * part / parts;
      bins.push_back({group.first + from, group.count * (part + 1) / parts - from});
    }
  }
  return bins;
}

std::vector<MapBin> bins_of_lines(const LatencyMap& map, std::size_t most) {
  return bins_within_finest({slices_of_lines(map), sides_of_lines(map)}, map.lines.size(), most);
}

std::vector<MapBin> bins_of_sms(const LatencyMap& map, std::size_t most) {
  return bins_within_finest({sides_of_sms(map)}, map.sms.size(), most);
}

std::vector<std::vector<double>> map_cells(const LatencyMap& map, const std::vector<MapBin>& sms,
                                           const std::vector<MapBin>& lines) {
  std::vector<std::vector<double>> cells;
  for (const auto& of_sms : sms) {
    auto& row = cells.emplace_back();
    for (const auto& of_lines : lines) row.push_back(map.cycles(of_sms, of_lines));
  }
  return cells;
}

std::size_t HeatScale::shade(double cycles, std::size_t shades) const {
  if (high <= low || cycles <= low) return 0;
  const double share = std::min((cycles - low) / (high - low), 1.0);
  return std::min(static_cast<std::size_t>(share * static_cast<double>(shades)), shades - 1);
}

HeatScale heat_scale(const std::vector<std::vector<double>>& cells) {
  std::vector<double> sorted;
  for (const auto& row : cells)
    std::copy_if(row.begin(), row.end(), std::back_inserter(sorted), [](double cycles) { return !std::isnan(cycles); });
  if (sorted.empty()) return {};
  std::sort(sorted.begin(), sorted.end());
  const auto beyond = sorted.size() / 100;
  HeatScale scale{sorted[beyond], sorted[sorted.size() - 1 - beyond]};
  scale.below = sorted.front() < scale.low;
  scale.above = sorted.back() > scale.high;
  return scale;
}

std::string side_text(double side) { return std::isnan(side) ? "?" : fmt::format("{:.0f}", side); }

}  // namespace gpusonde::report

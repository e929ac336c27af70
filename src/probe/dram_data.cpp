// What the tables of the DRAM probe say, for both of its halves.
#include <algorithm>
#include <limits>

#include "probe/dram_probe.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_member_percent = 70;
constexpr std::uint64_t k_stray_percent = 45;

template <class T>
std::vector<T> column(const Measurements& measurements, std::string_view table, std::string_view name) {
  const auto* found = measurements.find(table);
  const auto* values = found == nullptr ? nullptr : found->column<T>(name);
  return values == nullptr ? std::vector<T>{} : *values;
}

LateHistogram histogram(const Measurements& measurements, std::string_view table, std::string_view value) {
  const auto cycles = column<double>(measurements, table, value);
  const auto loads = column<std::uint64_t>(measurements, table, "loads");
  LateHistogram bins;
  for (std::size_t i = 0; i < std::min(cycles.size(), loads.size()); ++i) bins.emplace_back(cycles[i], loads[i]);
  return bins;
}

}  // namespace

Estimate contrast_of(const Measurements& measurements) {
  const auto more = column<double>(measurements, "dram.open_rows", "more_cycles");
  const auto lines = column<std::uint64_t>(measurements, "dram.open_rows", "lines");
  std::vector<double> other;
  for (std::size_t i = 0; i < std::min(more.size(), lines.size()); ++i) other.insert(other.end(), lines[i], more[i]);
  if (other.empty()) return {Outcome::skipped, 0, {}, "open rows were not measured"};
  return row_contrast(std::vector<double>(other.size(), 0.0), other);
}

std::vector<RowMembers> rows_of(const Measurements& measurements) {
  const auto anchors = column<std::uint64_t>(measurements, "dram.rows", "anchor_bytes");
  const auto places = column<std::uint64_t>(measurements, "dram.rows", "place_bytes");
  const auto asked = column<std::uint64_t>(measurements, "dram.rows", "asked");
  const auto cheap = column<std::uint64_t>(measurements, "dram.rows", "cheap_after_anchor");
  const auto control = column<std::uint64_t>(measurements, "dram.rows", "cheap_after_others");
  std::vector<RowMembers> rows;
  for (std::size_t i = 0; i < std::min({anchors.size(), places.size(), asked.size(), cheap.size(), control.size()});
       ++i) {
    if (anchors[i] == places[i]) {
      rows.push_back({anchors[i], {}, 0});
      continue;
    }
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.anchor == anchors[i]; });
    if (row == rows.end()) continue;
    if (100 * cheap[i] < k_stray_percent * asked[i]) continue;
    // After others it is seldom cheap, or the anchor has nothing to do with it.
    if (100 * cheap[i] < k_member_percent * asked[i] || 100 * control[i] > k_stray_percent * asked[i])
      ++row->unclear;
    else
      row->others.push_back(places[i]);
  }
  return rows;
}

PairKinds pairs_of(const Measurements& measurements) {
  const auto memory = column<double>(measurements, "dram.pairs", "memory_cycles");
  const auto l2 = column<double>(measurements, "dram.pairs", "l2_cycles");
  const auto contrast = contrast_of(measurements);
  if (!contrast.ok()) return {{}, 0, 0, contrast.reason};
  std::vector<double> extra;
  for (std::size_t i = 0; i < std::min(memory.size(), l2.size()); ++i) extra.push_back(memory[i] - l2[i]);
  return kinds_of_pairs(extra, contrast.value);
}

LateLoads late_of(const Measurements& measurements) {
  return late_loads(histogram(measurements, "dram.late_loads", "late_cycles"));
}

}  // namespace gpusonde

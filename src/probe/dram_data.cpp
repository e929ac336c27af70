// What the tables of the DRAM probe say, for both of its halves.
#include <algorithm>
#include <cmath>

#include "probe/dram_probe.hpp"
#include "probe/table_column.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_wrong_percent = 40;  // of two answers each time

LateHistogram histogram(const Measurements& measurements, std::string_view table, std::string_view value) {
  const auto cycles = table_column<double>(measurements, table, value);
  const auto loads = table_column<std::uint64_t>(measurements, table, "loads");
  LateHistogram bins;
  for (std::size_t i = 0; i < std::min(cycles.size(), loads.size()); ++i) bins.emplace_back(cycles[i], loads[i]);
  return bins;
}

}  // namespace

Estimate contrast_of(const Measurements& measurements) {
  if (measurements.find("dram.asked") == nullptr)
    return {Outcome::skipped, 0, {}, "rows of one bank were not looked for"};
  double asked = 0;
  double scatter = 0;
  for (const auto lines : table_column<std::uint64_t>(measurements, "dram.asked", "lines"))
    asked += static_cast<double>(lines);
  for (const auto cycles : table_column<double>(measurements, "dram.asked", "scatter_cycles"))
    scatter = std::max(scatter, cycles);
  return row_contrast(table_column<double>(measurements, "dram.same_bank", "more_cycles"), asked, scatter);
}

std::vector<std::uint64_t> mates_of(const Measurements& measurements, std::uint64_t place) {
  const auto contrast = contrast_of(measurements);
  const auto places = table_column<std::uint64_t>(measurements, "dram.same_bank", "place_bytes");
  const auto others = table_column<std::uint64_t>(measurements, "dram.same_bank", "other_bytes");
  const auto more = table_column<double>(measurements, "dram.same_bank", "more_cycles");
  std::vector<std::uint64_t> mates;
  for (std::size_t i = 0; i < std::min({places.size(), others.size(), more.size()}) && contrast.ok(); ++i)
    if (places[i] == place && std::abs(more[i] - contrast.value) < 0.3 * contrast.value) mates.push_back(others[i]);
  return mates;
}

std::vector<RowMembers> rows_of(const Measurements& measurements) {
  const auto anchors = table_column<std::uint64_t>(measurements, "dram.rows", "anchor_bytes");
  const auto places = table_column<std::uint64_t>(measurements, "dram.rows", "place_bytes");
  const auto asked = table_column<std::uint64_t>(measurements, "dram.rows", "asked");
  const auto after = table_column<std::uint64_t>(measurements, "dram.rows", "open_after_anchor");
  const auto before = table_column<std::uint64_t>(measurements, "dram.rows", "open_after_other_row");
  std::vector<RowMembers> rows;
  for (std::size_t i = 0; i < std::min({anchors.size(), places.size(), asked.size(), after.size(), before.size()});
       ++i) {
    if (anchors[i] == places[i]) {
      rows.push_back({anchors[i], {}, 0});
      continue;
    }
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.anchor == anchors[i]; });
    if (row == rows.end()) continue;
    // Open after its own row, closed after another one of the bank.
    if (100 * (asked[i] - after[i] + before[i]) <= k_wrong_percent * asked[i])
      row->others.push_back(places[i]);
    else
      ++row->unclear;
  }
  return rows;
}

PairKinds pairs_of(const Measurements& measurements) {
  const auto memory = table_column<double>(measurements, "dram.pairs", "memory_cycles");
  const auto l2 = table_column<double>(measurements, "dram.pairs", "l2_cycles");
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

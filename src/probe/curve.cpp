#include "probe/curve.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "core/units.hpp"
#include "inference/statistics.hpp"

namespace gpusonde {
namespace {

struct Columns {
  const std::vector<std::string>* policy;
  const std::vector<std::string>* chain;
  const std::vector<std::uint64_t>* size;
  const std::vector<double>* cycles;
  const std::vector<double>* low;
  const std::vector<double>* high;
  const std::vector<std::string>* warmup;
  std::size_t rows = 0;

  explicit Columns(const Table& table)
      : policy(table.column<std::string>("policy")),
        chain(table.column<std::string>("chain")),
        size(table.column<std::uint64_t>("size_bytes")),
        cycles(table.column<double>("latency_cycles")),
        low(table.column<double>("low_cycles")),
        high(table.column<double>("high_cycles")),
        warmup(table.column<std::string>("warmup")) {
    if (policy && chain && size && cycles && low && high && warmup)
      rows = std::min(
          {policy->size(), chain->size(), size->size(), cycles->size(), low->size(), high->size(), warmup->size()});
  }
  [[nodiscard]] bool belongs(std::size_t row, const CurveKey& key) const {
    return (*policy)[row] == key.policy && (*chain)[row] == key.chain;
  }
};

}  // namespace

HopLatency hop_latency(const ChaseSamples& samples) {
  std::vector<double> per_hop;
  for (const auto cycles : samples.cycles)
    per_hop.push_back(static_cast<double>(cycles) / static_cast<double>(samples.hops));
  const auto [low, high] = std::minmax_element(per_hop.begin(), per_hop.end());
  return {median(per_hop), *low, *high};
}

void append_curve_row(Table& table, const ChaseExperiment& experiment, const ChaseSamples& samples, double sm_mhz) {
  const auto latency = hop_latency(samples);
  table.make<std::string>("policy").emplace_back(to_string(experiment.path));
  table.make<std::string>("chain").emplace_back(to_string(experiment.chain));
  table.make<std::uint64_t>("size_bytes").push_back(experiment.ring.footprint_bytes());
  table.make<double>("latency_cycles").push_back(latency.cycles);
  table.make<double>("low_cycles").push_back(latency.low);
  table.make<double>("high_cycles").push_back(latency.high);
  table.make<double>("latency_ns")
      .push_back(sm_mhz > 0 ? cycles_to_ns(latency.cycles, sm_mhz) : std::numeric_limits<double>::quiet_NaN());
  table.make<std::string>("warmup").emplace_back(to_string(experiment.warmup));
  table.make<std::uint64_t>("hops").push_back(samples.hops);
  table.make<std::uint64_t>("sm").push_back(samples.sm);
  table.make<std::uint64_t>("shared_config_bytes").push_back(samples.shared_config_bytes);
}

std::vector<CurveKey> curve_keys(const Table& table) {
  const Columns columns(table);
  std::vector<CurveKey> keys;
  for (std::size_t row = 0; row < columns.rows; ++row) {
    CurveKey key{(*columns.policy)[row], (*columns.chain)[row]};
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
  }
  return keys;
}

std::vector<CurvePoint> read_curve(const Table& table, const CurveKey& key) {
  const Columns columns(table);
  std::map<std::uint64_t, std::size_t> best;  // size -> row
  for (std::size_t row = 0; row < columns.rows; ++row) {
    if (!columns.belongs(row, key)) continue;
    const auto [entry, fresh] = best.try_emplace((*columns.size)[row], row);
    const bool serial_already = !fresh && (*columns.warmup)[entry->second] == "serial";
    if (!fresh && (!serial_already || (*columns.warmup)[row] == "serial")) entry->second = row;
  }
  std::vector<CurvePoint> curve;
  for (const auto& [bytes, row] : best)
    curve.push_back({static_cast<double>(bytes), (*columns.cycles)[row], (*columns.low)[row], (*columns.high)[row]});
  return curve;
}

std::vector<std::uint64_t> parallel_only_sizes(const Table& table, const CurveKey& key) {
  const Columns columns(table);
  std::map<std::uint64_t, bool> parallel_only;
  for (std::size_t row = 0; row < columns.rows; ++row) {
    if (!columns.belongs(row, key)) continue;
    auto& only = parallel_only.try_emplace((*columns.size)[row], true).first->second;
    only = only && (*columns.warmup)[row] == "parallel";
  }
  std::vector<std::uint64_t> sizes;
  for (const auto& [bytes, only] : parallel_only)
    if (only) sizes.push_back(bytes);
  return sizes;
}

}  // namespace gpusonde

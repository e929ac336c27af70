#include "probe/hierarchy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/units.hpp"

namespace gpusonde {
namespace {

// Controls that were measured inside a plateau, by kind; the last one of a kind counts.
StepControls find_controls(const Table* table, const CurveKey& key, double above_bytes, double up_to_bytes) {
  StepControls controls;
  if (table == nullptr) return controls;
  const auto* policy = table->column<std::string>("policy");
  const auto* chain = table->column<std::string>("chain");
  const auto* control = table->column<std::string>("control");
  const auto* size = table->column<std::uint64_t>("size_bytes");
  const auto* cycles = table->column<double>("latency_cycles");
  if (!policy || !chain || !control || !size || !cycles) return controls;
  const auto rows = std::min({policy->size(), chain->size(), control->size(), size->size(), cycles->size()});
  for (std::size_t row = 0; row < rows; ++row) {
    const auto bytes = static_cast<double>((*size)[row]);
    if ((*policy)[row] != key.policy || (*chain)[row] != key.chain || bytes <= above_bytes || bytes > up_to_bytes)
      continue;
    if (controls.size_bytes != bytes)
      controls = {.size_bytes = bytes, .random_cycles = {}, .page_grouped_cycles = {}, .sparse_cycles = {}};
    const auto value = (*cycles)[row];
    if ((*control)[row] == "random") controls.random_cycles = value;
    if ((*control)[row] == "page_grouped") controls.page_grouped_cycles = value;
    if ((*control)[row] == "sparse") controls.sparse_cycles = value;
  }
  return controls;
}

bool uses_first_level(const CurveKey& key) { return key.policy == "ca" || key.policy == "nc"; }

Level make_level(const Hierarchy& h, const Plateau& plateau) {
  return {.name = {},
          .plateau = plateau,
          .first_bytes = h.curve[plateau.first].size_bytes,
          .last_bytes = h.curve[plateau.last].size_bytes,
          .last_cycles = plateau.latency};
}

void split_into_levels(Hierarchy& h, const Table* controls) {
  const auto plateaus = find_plateaus(h.curve);
  for (std::size_t k = 0; k < plateaus.size(); ++k) {
    if (k == 0) {
      h.levels.push_back(make_level(h, plateaus[0]));
      continue;
    }
    const double from = h.curve[plateaus[k - 1].last].size_bytes;
    const double to = h.curve[plateaus[k].first].size_bytes;
    const double upto = h.curve[plateaus[k].last].size_bytes;
    const auto found = find_controls(controls, h.key, from, upto);
    const auto attribution = attribute_step(plateaus[k - 1].latency, plateaus[k].latency, found);
    if (attribution.cause == StepCause::capacity) {
      h.levels.push_back(make_level(h, plateaus[k]));
      continue;
    }
    h.steps.push_back({from, to, plateaus[k].latency - plateaus[k - 1].latency, attribution.cause, attribution.note});
    h.levels.back().last_bytes = upto;
    h.levels.back().last_cycles = plateaus[k].latency;
  }
}

// Memory is the last level when the sweep went on well beyond every cache and ended on a plateau.
void judge_memory(Hierarchy& h, const DeviceInfo& device) {
  if (h.levels.empty()) {
    h.why_not_memory = "no plateau was found on the curve";
    return;
  }
  const double largest = h.curve.back().size_bytes;
  const double needed = std::max(16.0 * static_cast<double>(k_mib), 2.0 * static_cast<double>(device.nominal.l2_bytes));
  if (largest < needed) {
    h.why_not_memory = fmt::format("the sweep ends at {}; memory needs at least {} (--max)",
                                   format_bytes(static_cast<std::uint64_t>(largest)),
                                   format_bytes(static_cast<std::uint64_t>(needed)));
    return;
  }
  const bool ends_on_plateau = h.levels.back().last_bytes >= 0.7 * largest;
  if (!ends_on_plateau) {
    h.why_not_memory = "the curve does not end on a plateau; sweep further (--max)";
    return;
  }
  if (h.levels.back().last_bytes < static_cast<double>(device.nominal.l2_bytes)) {
    h.why_not_memory = "the last plateau lies inside the L2 that the driver states";
    return;
  }
  h.reaches_memory = true;
}

void name_levels(Hierarchy& h, const std::vector<Hierarchy>& all, double nominal_l2_bytes) {
  std::size_t next = 0;
  // The first level is L1 when the path uses it and the path that bypasses it starts higher.
  if (!h.levels.empty() && uses_first_level(h.key)) {
    const auto bypass = std::find_if(all.begin(), all.end(), [&](const Hierarchy& other) {
      return other.key.chain == h.key.chain && other.key.policy == "cg" && !other.levels.empty();
    });
    const bool bypassed =
        bypass == all.end() || bypass->levels.front().plateau.latency > 1.15 * h.levels.front().plateau.latency;
    if (bypassed && (h.levels.size() > 1 || !h.reaches_memory)) h.levels[next++].name = "l1";
  }
  std::size_t end = h.levels.size();
  if (h.reaches_memory && end > next) h.levels[--end].name = "dram";
  // Without memory in sight the last level may be memory itself, unless it lies inside the L2 that is stated.
  if (!h.reaches_memory && end > next && h.levels[end - 1].last_bytes > nominal_l2_bytes) --end;
  static constexpr const char* k_names[] = {"l2", "l2.far"};
  if (end - next > 2) return;  // more than two levels between L1 and memory: none of them has a name yet
  for (std::size_t i = next; i < end; ++i) h.levels[i].name = k_names[i - next];
}

}  // namespace

const Level* Hierarchy::level(const std::string& name) const {
  const auto index = index_of(name);
  return index == levels.size() ? nullptr : &levels[index];
}

std::size_t Hierarchy::index_of(const std::string& name) const {
  return static_cast<std::size_t>(
      std::find_if(levels.begin(), levels.end(), [&](const Level& level) { return level.name == name; }) -
      levels.begin());
}

std::vector<Hierarchy> infer_hierarchies(const Measurements& measurements, const DeviceInfo& device) {
  std::vector<Hierarchy> all;
  const auto* table = measurements.find("latency.curve");
  if (table == nullptr) return all;
  for (const auto& key : curve_keys(*table)) {
    Hierarchy h;
    h.key = key;
    h.curve = read_curve(*table, key);
    split_into_levels(h, measurements.find("latency.control"));
    judge_memory(h, device);
    all.push_back(std::move(h));
  }
  for (auto& h : all) name_levels(h, all, static_cast<double>(device.nominal.l2_bytes));
  return all;
}

const Hierarchy* first_level_view(const std::vector<Hierarchy>& all, const std::string& chain) {
  for (const auto& h : all)
    if (h.key.chain == chain && uses_first_level(h.key)) return &h;
  return nullptr;
}

const Hierarchy* deep_view(const std::vector<Hierarchy>& all, const std::string& chain) {
  for (const auto& h : all)
    if (h.key.chain == chain && h.key.policy == "cg") return &h;
  for (const auto& h : all)
    if (h.key.chain == chain) return &h;
  return nullptr;
}

const Hierarchy* deep_view(const std::vector<Hierarchy>& all) {
  const auto* pointer = deep_view(all, "pointer");
  return pointer != nullptr ? pointer : deep_view(all, "index");
}

double translation_cost(const Measurements& measurements, const CurveKey& key) {
  const auto* table = measurements.find("latency.control");
  const auto* size = table == nullptr ? nullptr : table->column<std::uint64_t>("size_bytes");
  if (size == nullptr) return 0;
  double cost = 0;
  for (const auto bytes : *size) {
    const auto at = static_cast<double>(bytes);
    const auto controls = find_controls(table, key, at - 1, at);
    if (controls.random_cycles && controls.page_grouped_cycles)
      cost = std::max(cost, *controls.random_cycles - *controls.page_grouped_cycles);
  }
  return cost;
}

double hidden_level_share(const Table& recency) {
  const auto* between = recency.column<double>("between_fraction");
  return between == nullptr || between->empty() ? 0 : *std::max_element(between->begin(), between->end());
}

std::uint64_t representative_bytes(const Hierarchy& hierarchy, const Level& level) {
  const double first = hierarchy.curve[level.plateau.first].size_bytes;
  const double last = hierarchy.curve[level.plateau.last].size_bytes;
  const double middle = std::min(std::sqrt(first * last), level.name == "dram" ? 1.1 * first : last);
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(middle) / 128, 2) * 128;
}

}  // namespace gpusonde

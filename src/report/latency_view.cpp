#include "report/latency_view.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "report/columns.hpp"
#include "report/quantity.hpp"

namespace gpusonde::report {
namespace {

constexpr double k_missing = std::numeric_limits<double>::quiet_NaN();

double at(const std::vector<double>& values, std::size_t row) { return row < values.size() ? values[row] : k_missing; }

LatencyView& view_of(std::vector<LatencyView>& views, const std::string& policy) {
  for (auto& view : views)
    if (view.policy == policy) return view;
  views.push_back({.policy = policy, .chains = {}, .levels = {}, .steps = {}, .capacities = {}});
  return views.back();
}

/// A size in a transition is measured again with a serial warm-up, and that row counts.
void read_curves(const Table& table, std::vector<LatencyView>& views) {
  const auto policy = texts(table, "policy");
  const auto chain = texts(table, "chain");
  const auto warmup = texts(table, "warmup");
  const auto bytes = numbers(table, "size_bytes");
  const auto cycles = numbers(table, "latency_cycles");
  const auto low = numbers(table, "low_cycles");
  const auto high = numbers(table, "high_cycles");
  const auto ns = numbers(table, "latency_ns");
  std::map<std::pair<std::string, std::string>, std::map<double, Point>> curves;
  for (std::size_t row = 0; row < std::min(bytes.size(), cycles.size()); ++row) {
    const bool drawable = bytes[row] > 0 && cycles[row] > 0 && std::isfinite(cycles[row]);
    if (!drawable) continue;
    auto& views_curve = view_of(views, policy[row]);
    if (std::none_of(views_curve.chains.begin(), views_curve.chains.end(),
                     [&](const Chain& known) { return known.name == chain[row]; }))
      views_curve.chains.push_back({chain[row], {}});
    Point point{bytes[row], cycles[row], at(low, row), at(high, row), at(ns, row), warmup[row]};
    if (!std::isfinite(point.low)) point.low = point.cycles;
    if (!std::isfinite(point.high)) point.high = point.cycles;
    auto& curve = curves[{policy[row], chain[row]}];
    const auto [entry, fresh] = curve.try_emplace(bytes[row], point);
    if (!fresh && (entry->second.warmup != "serial" || warmup[row] == "serial")) entry->second = point;
  }
  for (auto& view : views)
    for (auto& chain_of : view.chains)
      for (const auto& [size, point] : curves[{view.policy, chain_of.name}]) chain_of.points.push_back(point);
}

const std::string& leading_chain(const LatencyView& view) {
  for (const auto& chain : view.chains)
    if (chain.name == "pointer") return chain.name;
  return view.chains.front().name;
}

std::string title_of(const std::string& name) { return name.empty() ? "unnamed level" : level_title(name); }

void read_levels(const Table& table, std::vector<LatencyView>& views) {
  const auto policy = texts(table, "policy");
  const auto chain = texts(table, "chain");
  const auto kind = texts(table, "kind");
  const auto name = texts(table, "name");
  const auto note = texts(table, "note");
  const auto cycles = numbers(table, "latency_cycles");
  const auto ns = numbers(table, "latency_ns");
  const auto first = numbers(table, "first_bytes");
  const auto last = numbers(table, "last_bytes");
  for (auto& view : views) {
    for (std::size_t row = 0; row < std::min({cycles.size(), first.size(), last.size()}); ++row) {
      if (policy[row] != view.policy || chain[row] != leading_chain(view)) continue;
      if (kind[row] == "step")
        view.steps.push_back({first[row], last[row], cycles[row], note[row].starts_with("translation"), note[row]});
      else
        view.levels.push_back({name[row], title_of(name[row]), cycles[row], at(ns, row), first[row], last[row]});
    }
  }
}

void name_partitions(LatencyView& view) {
  const auto is = [](const char* name) { return [name](const LevelMark& level) { return level.name == name; }; };
  if (std::none_of(view.levels.begin(), view.levels.end(), is("l2.far"))) return;
  for (auto& level : view.levels)
    if (level.name == "l2") level.title = "L2 near";
}

}  // namespace

bool drawable(const LatencyView& view) {
  return std::any_of(view.chains.begin(), view.chains.end(),
                     [](const Chain& chain) { return chain.points.size() >= 2; });
}

bool uses_first_level(const std::string& policy) { return policy == "ca" || policy == "nc"; }

std::vector<LatencyView> latency_views(const Run& run) {
  std::vector<LatencyView> views;
  if (const auto* table = run.measurements.find("latency.curve")) read_curves(*table, views);
  if (const auto* table = run.measurements.find("derived.latency.levels")) read_levels(*table, views);
  for (auto& view : views) {
    name_partitions(view);
    for (const char* id : {"l1.capacity", "l2.near_capacity", "l2.capacity"}) {
      const auto* finding = run.finding(id);
      const bool shown = std::string_view(id) != "l1.capacity" || uses_first_level(view.policy);
      if (!shown || finding == nullptr || !finding->value) continue;
      if (const auto* bytes = std::get_if<double>(&*finding->value); bytes != nullptr && *bytes > 0)
        view.capacities.push_back({id, *bytes});
    }
  }
  return views;
}

std::vector<std::pair<std::string, StepMark>> distinct_steps(const Run& run) {
  std::vector<std::pair<std::string, StepMark>> out;
  for (const auto& view : latency_views(run)) {
    for (const auto& step : view.steps) {
      const auto same = std::find_if(out.begin(), out.end(), [&](const auto& known) {
        return known.second.from_bytes < step.to_bytes && step.from_bytes < known.second.to_bytes;
      });
      if (same == out.end())
        out.emplace_back(view.policy, step);
      else
        same->first += ", " + view.policy;
    }
  }
  return out;
}

}  // namespace gpusonde::report

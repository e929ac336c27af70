#include "report/page_data.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/escape.hpp"
#include "report/figure_latency.hpp"
#include "report/figure_tlb.hpp"

namespace gpusonde::report {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json plot_json(const LatencyView& view) {
  Json chains = Json::array();
  for (const auto& chain : view.chains) {
    Json points = Json::array();
    for (const auto& p : chain.points)
      points.push_back(Json::array({p.bytes, p.cycles, p.low, p.high, number(p.ns), clean(p.warmup)}));
    chains.push_back({{"name", clean(chain.name)}, {"points", std::move(points)}});
  }
  Json levels = Json::array();
  for (const auto& level : view.levels)
    levels.push_back({{"name", level.name},
                      {"title", clean(level.title)},
                      {"cycles", number(level.cycles)},
                      {"ns", number(level.ns)},
                      {"first_bytes", level.first_bytes},
                      {"last_bytes", level.last_bytes}});
  Json steps = Json::array();
  for (const auto& step : view.steps)
    steps.push_back({{"from_bytes", step.from_bytes},
                     {"to_bytes", step.to_bytes},
                     {"rise_cycles", number(step.rise_cycles)},
                     {"translation", step.translation},
                     {"note", clean(step.note)}});
  Json capacities = Json::array();
  for (const auto& capacity : view.capacities) capacities.push_back({{"id", capacity.id}, {"bytes", capacity.bytes}});
  return {{"policy", clean(view.policy)}, {"title", policy_title(view.policy)}, {"chains", std::move(chains)},
          {"levels", std::move(levels)},  {"steps", std::move(steps)},          {"capacities", std::move(capacities)}};
}

Json sweep_json(const std::string& title, const std::vector<SweepLine>& of, bool added) {
  const auto named = named_lines(of);
  Json lines = Json::array();
  for (std::size_t i = 0; i < of.size(); ++i) {
    Json points = Json::array(), steps = Json::array(), predicted = Json::array();
    for (const auto& p : of[i].points)
      points.push_back(Json::array({p.nodes, p.bytes, p.cycles, p.low, p.high, number(p.ns)}));
    for (const auto& step : of[i].steps)
      steps.push_back({{"last", step.last}, {"from_cycles", step.from_cycles}, {"to_cycles", step.to_cycles}});
    for (const auto& [nodes, cycles] : of[i].predicted) predicted.push_back(Json::array({nodes, cycles}));
    lines.push_back({{"stride_bytes", of[i].stride_bytes},
                     {"named", static_cast<bool>(named[i])},
                     {"points", std::move(points)},
                     {"steps", std::move(steps)},
                     {"predicted", std::move(predicted)}});
  }
  return {{"title", title}, {"added", added}, {"lines", std::move(lines)}};
}

}  // namespace

std::string page_data(const Run& run) {
  Json plots = Json::array();
  for (const auto& view : latency_views(run))
    if (drawable(view)) plots.push_back(plot_json(view));
  Json sweeps = Json::array();
  for (const auto& view : sweep_views(run.measurements))
    sweeps.push_back(sweep_json(policy_title(view.policy), view.lines, false));
  if (const auto lines = alias_lines(run.measurements); !lines.empty())
    sweeps.push_back(sweep_json(std::string(k_alias_title), lines, true));
  return Json{{"plots", std::move(plots)}, {"sweeps", std::move(sweeps)}}.dump(-1, ' ', false,
                                                                               Json::error_handler_t::replace);
}

}  // namespace gpusonde::report

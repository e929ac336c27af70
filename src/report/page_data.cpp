#include "report/page_data.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/escape.hpp"
#include "report/figure_latency.hpp"

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

}  // namespace

std::string page_data(const Run& run) {
  Json plots = Json::array();
  for (const auto& view : latency_views(run))
    if (drawable(view)) plots.push_back(plot_json(view));
  return Json{{"plots", std::move(plots)}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gpusonde::report

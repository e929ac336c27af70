// All figures of a run, in reading order.
#include "report/figure_capacity.hpp"
#include "report/figure_dram.hpp"
#include "report/figure_instr.hpp"
#include "report/figure_latency.hpp"
#include "report/figure_loads.hpp"
#include "report/figure_map.hpp"
#include "report/figure_tlb.hpp"
#include "report/report.hpp"

namespace gpusonde {

std::vector<Figure> figures(const Run& run) {
  std::vector<Figure> out;
  for (const auto& view : report::latency_views(run))
    if (report::drawable(view)) out.push_back(report::latency_figure(view, run));
  if (auto capacity = report::capacity_figure(run)) out.push_back(std::move(*capacity));
  for (auto& sweep : report::sweep_figures(run, report::SweepAxis::bytes)) out.push_back(std::move(sweep));
  if (auto alias = report::alias_figure(run)) out.push_back(std::move(*alias));
  if (auto map = report::load_map_figure(run)) out.push_back(std::move(*map));
  if (auto map = report::atomic_map_figure(run)) out.push_back(std::move(*map));
  if (auto intervals = report::intervals_figure(run)) out.push_back(std::move(*intervals));
  if (auto cluster = report::cluster_map_figure(run)) out.push_back(std::move(*cluster));
  if (auto bandwidth = report::bandwidth_figure(run)) out.push_back(std::move(*bandwidth));
  if (auto load = report::load_figure(run)) out.push_back(std::move(*load));
  if (auto latency = report::dram_latency_figure(run)) out.push_back(std::move(*latency));
  if (auto costs = report::dram_costs_figure(run)) out.push_back(std::move(*costs));
  return out;
}

}  // namespace gpusonde

// The sweep of the VIVT document over plain memory: one node a stride, a lap to warm up, then timed laps.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "core/units.hpp"
#include "probe/chase_mean.hpp"
#include "probe/probes.hpp"
#include "probe/sweep_plan.hpp"

namespace gpusonde {
namespace {

constexpr std::size_t k_batch = 8;
constexpr std::array<std::string_view, 1> k_tables{"tlb.sweep"};

class SweepProbe final : public Probe {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "sweep"; }
  [[nodiscard]] std::string_view summary() const noexcept override {
    return "latency by stride over memory: what the pages cost, with L1 and past it";
  }
  [[nodiscard]] std::span<const FindingSpec> findings() const noexcept override { return {}; }
  [[nodiscard]] std::span<const std::string_view> tables() const noexcept override { return k_tables; }
  [[nodiscard]] Analysis analyze(const AnalysisInput&) const override { return {}; }

  [[nodiscard]] Result<void> measure(ProbeContext& context) const override {
    const auto& options = context.options.sweep;
    const auto available = context.target.capabilities().max_ring_bytes;
    auto fitting = options;
    fitting.strides_bytes = strides_that_fit(options, available);
    if (auto possible = check_sweep(fitting, available); !possible) return possible;
    struct Point {
      LoadPath path;
      std::uint64_t stride, nodes;
    };
    std::vector<Point> points;
    for (const auto path : fitting.policies)
      for (const auto stride : fitting.strides_bytes)
        for (const auto nodes : sweep_nodes(fitting, stride, available)) points.push_back({path, stride, nodes});
    const auto clock = sm_clock_estimate(context.measurements);
    for (std::size_t first = 0; first < points.size(); first += k_batch) {
      const auto last = std::min(points.size(), first + k_batch);
      if (context.progress)
        context.progress({name(),
                          fmt::format("{}, stride {}, {} nodes", to_string(points[first].path),
                                      format_bytes(points[first].stride), points[first].nodes),
                          static_cast<double>(first) / static_cast<double>(points.size())});
      std::vector<Experiment> batch;
      for (std::size_t i = first; i < last; ++i)
        batch.emplace_back(
            sweep_chase(sweep_places(points[i].stride, points[i].nodes, fitting.step, context.options.seed),
                        points[i].path, fitting.laps));
      const auto samples = context.target.run(batch, {context.cancel, {}});
      if (!samples) return tl::unexpected(samples.error());
      for (std::size_t i = first; i < last; ++i)
        add_row(context.measurements.table("tlb.sweep"), points[i].path, points[i].stride, points[i].nodes,
                std::get<ChaseSamples>((*samples)[i - first]), clock.ok() ? clock.value : 0);
    }
    return {};
  }

 private:
  static void add_row(Table& table, LoadPath path, std::uint64_t stride, std::uint64_t nodes,
                      const ChaseSamples& samples, double sm_mhz) {
    std::vector<double> parts;
    for (const auto cycles : samples.cycles)
      parts.push_back(static_cast<double>(cycles) / static_cast<double>(samples.hops));
    const double mean = mean_hop_cycles(samples);
    const auto [low, high] = std::minmax_element(parts.begin(), parts.end());
    table.make<std::string>("policy").emplace_back(to_string(path));
    table.make<std::uint64_t>("stride_bytes").push_back(stride);
    table.make<std::uint64_t>("bytes").push_back(stride * nodes);
    table.make<std::uint64_t>("nodes").push_back(nodes);
    table.make<double>("cycles_per_access").push_back(mean);
    table.make<double>("low_cycles").push_back(*low);
    table.make<double>("high_cycles").push_back(*high);
    table.make<double>("ns_per_access")
        .push_back(sm_mhz > 0 ? cycles_to_ns(mean, sm_mhz) : std::numeric_limits<double>::quiet_NaN());
    table.make<double>("sm_mhz").push_back(sm_mhz > 0 ? sm_mhz : std::numeric_limits<double>::quiet_NaN());
  }
};

}  // namespace

const Probe& sweep_probe() {
  static const SweepProbe probe;
  return probe;
}

}  // namespace gpusonde

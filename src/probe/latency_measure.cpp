// True latency over the working set: one dependent load after the other, one lane, one node a line.
// Rows are stored batch by batch, so that an interrupted sweep keeps what it has.
#include <fmt/format.h>

#include <algorithm>

#include "core/units.hpp"
#include "probe/latency_plan.hpp"
#include "probe/latency_probe.hpp"
#include "probe/probes.hpp"
#include "probe/size_presets.hpp"

namespace gpusonde {
namespace {

constexpr std::size_t k_batch = 32;

// Runs chases in batches; `store` gets each experiment with its samples, in order.
class Sweep {
 public:
  Sweep(ProbeContext& context, double begin, double end) : m_context(context), m_begin(begin), m_end(end) {}

  template <class Store>
  Result<void> run(const std::vector<ChaseExperiment>& chases, std::string_view doing, const Store& store) {
    for (std::size_t first = 0; first < chases.size(); first += k_batch) {
      const auto last = std::min(chases.size(), first + k_batch);
      const std::vector<Experiment> batch(chases.begin() + static_cast<std::ptrdiff_t>(first),
                                          chases.begin() + static_cast<std::ptrdiff_t>(last));
      const auto progress = [&](std::size_t done) {
        if (!m_context.progress) return;
        const auto at = std::min(first + done, chases.size() - 1);
        const double fraction = static_cast<double>(first + done) / static_cast<double>(chases.size());
        m_context.progress({"latency",
                            fmt::format("{} {}, {}", doing, to_string(chases[at].path),
                                        format_bytes(chases[at].ring.footprint_bytes())),
                            m_begin + (m_end - m_begin) * fraction});
      };
      progress(0);
      auto samples = m_context.target.run(batch, {m_context.cancel, progress});
      if (!samples) return tl::unexpected(samples.error());
      for (std::size_t i = first; i < last; ++i) store(i, chases[i], std::get<ChaseSamples>((*samples)[i - first]));
    }
    return {};
  }

 private:
  ProbeContext& m_context;
  double m_begin, m_end;
};

double sm_mhz(const Measurements& measurements) {
  const auto clock = sm_clock_estimate(measurements);
  return clock.ok() ? clock.value : 0;
}

Result<void> sweep_curves(ProbeContext& context, const std::vector<std::uint64_t>& sizes) {
  const auto& options = context.options;
  const double mhz = sm_mhz(context.measurements);
  const auto curves = static_cast<double>(options.latency.chains.size() * options.latency.policies.size());
  double done = 0;
  for (const auto chain : options.latency.chains)
    for (const auto path : options.latency.policies) {
      std::vector<ChaseExperiment> chases;
      for (const auto bytes : sizes) chases.push_back(sweep_point(bytes, path, chain, options));
      auto& table = context.measurements.table("latency.curve");
      auto swept =
          Sweep(context, 0.7 * done / curves, 0.7 * (done + 1) / curves)
              .run(chases, "sweep", [&](std::size_t, const ChaseExperiment& chase, const ChaseSamples& samples) {
                append_curve_row(table, chase, samples, mhz);
              });
      if (!swept) return swept;
      ++done;
    }
  return {};
}

// Transitions, where a parallel warm-up leaves another state than the chase itself would.
Result<void> repeat_transitions(ProbeContext& context) {
  if (context.options.latency.warmup || context.target.capabilities().warmups_agree) return {};
  const auto l2 = context.target.device().nominal.l2_bytes;
  const auto limit = l2 != 0 ? l2 + l2 / 4 : 64 * k_mib;
  const double mhz = sm_mhz(context.measurements);
  std::vector<ChaseExperiment> chases;
  for (const auto& hierarchy : infer_hierarchies(context.measurements, context.target.device())) {
    const auto parallel = parallel_only_sizes(*context.measurements.find("latency.curve"), hierarchy.key);
    for (const auto bytes : transition_sizes(hierarchy, parallel, limit)) {
      auto chase = sweep_point(bytes, path_of(hierarchy.key.policy), chain_of(hierarchy.key.chain), context.options);
      chase.warmup = Warmup::serial;
      chase.warmup_laps = 1;
      chases.push_back(chase);
    }
  }
  auto& table = context.measurements.table("latency.curve");
  return Sweep(context, 0.7, 0.85).run(chases, "transition", [&](std::size_t, const auto& chase, const auto& samples) {
    append_curve_row(table, chase, samples, mhz);
  });
}

Result<void> measure_controls(ProbeContext& context) {
  std::vector<ChaseExperiment> chases;
  std::vector<const char*> names;
  std::vector<std::uint64_t> sizes;
  for (const auto& hierarchy : infer_hierarchies(context.measurements, context.target.device())) {
    const auto plateaus = find_plateaus(hierarchy.curve);
    for (std::size_t k = 1; k < plateaus.size(); ++k)
      for (const auto& control : step_controls(hierarchy, plateaus[k - 1], plateaus[k], context.options)) {
        names.push_back(control.name);
        chases.push_back(control.experiment);
        sizes.push_back(chases[chases.size() - 1].ring.footprint_bytes());
        if (std::string_view(control.name) == "random") continue;
        sizes.back() = sizes[sizes.size() - 2];  // stored under the step's own size, the random control's
      }
  }
  auto& table = context.measurements.table("latency.control");
  return Sweep(context, 0.85, 0.93).run(chases, "control", [&](std::size_t i, const auto& chase, const auto& samples) {
    const auto latency = hop_latency(samples);
    table.template make<std::string>("policy").emplace_back(to_string(chase.path));
    table.template make<std::string>("chain").emplace_back(to_string(chase.chain));
    table.template make<std::string>("control").emplace_back(names[i]);
    table.template make<std::uint64_t>("size_bytes").push_back(sizes[i]);
    table.template make<double>("latency_cycles").push_back(latency.cycles);
    table.template make<double>("low_cycles").push_back(latency.low);
    table.template make<double>("high_cycles").push_back(latency.high);
  });
}

// Each level once more at one size, serially warmed, with both chains: the reference that the sweep is
// held against, and what an index chain adds.
Result<void> measure_references(ProbeContext& context) {
  const auto all = infer_hierarchies(context.measurements, context.target.device());
  const double mhz = sm_mhz(context.measurements);
  std::vector<ChaseExperiment> chases;
  for (const auto& hierarchy : all) {
    const auto* first = first_level_view(all, hierarchy.key.chain);
    const auto* deep = deep_view(all, hierarchy.key.chain);
    for (const auto& level : hierarchy.levels) {
      const bool here = level.name == "l1" ? first == &hierarchy : deep == &hierarchy;
      if (level.name.empty() || !here) continue;
      for (const auto chain : {ChainKind::pointer, ChainKind::index}) {
        auto chase =
            sweep_point(representative_bytes(hierarchy, level), path_of(hierarchy.key.policy), chain, context.options);
        chase.repetitions = 5;
        chase.warmup = Warmup::serial;
        chase.warmup_laps = 1;
        // What an index chain adds is known from the nearer levels; a serial lap over a large ring costs time.
        const bool large = level.name == "dram" || level.name == "l2.far";
        if (large && chain == ChainKind::index && !context.options.thorough && hierarchy.key.chain == "pointer")
          continue;
        chases.push_back(chase);
      }
    }
  }
  auto& table = context.measurements.table("latency.reference");
  return Sweep(context, 0.93, 1).run(chases, "reference", [&](std::size_t, const auto& chase, const auto& samples) {
    append_curve_row(table, chase, samples, mhz);
  });
}

}  // namespace

Result<void> measure_latency(ProbeContext& context) {
  const auto& device = context.target.device();
  const auto sizes =
      sweep_sizes(context.options.latency, context.target.capabilities().max_ring_bytes, device.nominal.l2_bytes);
  if (!sizes) return tl::unexpected(sizes.error());
  auto done = sweep_curves(context, *sizes);
  if (done) done = repeat_transitions(context);
  if (done) done = measure_controls(context);
  if (done) done = measure_references(context);
  return done;
}

}  // namespace gpusonde

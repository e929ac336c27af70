#include "probe/latency_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/units.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_line_bytes = 128;
constexpr std::uint64_t k_page_bytes = 2 * k_mib;

}  // namespace

ChaseExperiment sweep_point(std::uint64_t size_bytes, LoadPath path, ChainKind chain, const ProbeOptions& options) {
  ChaseExperiment experiment;
  experiment.ring.order.stride_bytes = k_line_bytes;
  experiment.ring.order.node_count = std::max<std::uint64_t>(1, size_bytes / k_line_bytes);
  experiment.ring.order.seed = options.seed;
  experiment.path = path;
  experiment.chain = chain;
  experiment.hops = std::max<std::uint64_t>(8, options.latency.hops / 8 * 8);
  const bool serial = size_bytes <= k_serial_up_to_bytes;
  experiment.warmup = options.latency.warmup.value_or(serial ? Warmup::serial : Warmup::parallel);
  // A second serial lap settles caches that protect lines hit again; a second parallel one comes nearer
  // to the serial order.
  experiment.warmup_laps = 2;
  return experiment;
}

std::vector<std::uint64_t> transition_sizes(const Hierarchy& hierarchy,
                                            const std::vector<std::uint64_t>& parallel_sizes,
                                            std::uint64_t limit_bytes) {
  std::vector<bool> flat(hierarchy.curve.size(), false);
  for (const auto& plateau : find_plateaus(hierarchy.curve))
    for (std::size_t i = plateau.first; i <= plateau.last; ++i)
      // The last point before a step may already lean into it; the first after it may not be done.
      flat[i] = (i != plateau.last || i + 1 == hierarchy.curve.size()) && (i != plateau.first || i == 0);
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = 0; i < hierarchy.curve.size(); ++i) {
    const auto bytes = static_cast<std::uint64_t>(hierarchy.curve[i].size_bytes);
    if (!flat[i] && bytes <= limit_bytes && std::binary_search(parallel_sizes.begin(), parallel_sizes.end(), bytes))
      sizes.push_back(bytes);
  }
  return sizes;
}

std::vector<ControlExperiment> step_controls(const Hierarchy& hierarchy, const Plateau& lower, const Plateau& upper,
                                             const ProbeOptions& options) {
  const double lower_bytes = hierarchy.curve[lower.last].size_bytes;
  // Inside the upper plateau, a little past its beginning, where the transition is over.
  std::size_t at = upper.first;
  while (at < upper.last && hierarchy.curve[at].size_bytes < 1.2 * hierarchy.curve[upper.first].size_bytes) ++at;
  const auto bytes = static_cast<std::uint64_t>(hierarchy.curve[at].size_bytes);
  auto random = sweep_point(bytes, path_of(hierarchy.key.policy), chain_of(hierarchy.key.chain), options);
  random.repetitions = 7;
  std::vector<ControlExperiment> controls{{"random", random}};
  if (bytes >= 2 * k_page_bytes) {
    auto grouped = random;
    grouped.ring.order.group_nodes = k_page_bytes / k_line_bytes;
    controls.push_back({"page_grouped", grouped});
  }
  // A quarter of what the lower level holds, spread over the same pages.
  const auto thinning =
      std::bit_ceil(static_cast<std::uint64_t>(std::ceil(4.0 * static_cast<double>(bytes) / lower_bytes)));
  const auto stride = std::min(k_line_bytes * thinning, k_page_bytes);
  if (bytes / stride >= 8) {
    auto sparse = random;
    sparse.ring.order.stride_bytes = stride;
    sparse.ring.order.jitter_lines = stride / k_line_bytes;
    sparse.ring.order.node_count = bytes / stride;
    controls.push_back({"sparse", sparse});
  }
  return controls;
}

LoadPath path_of(const std::string& policy) {
  for (const auto path : {LoadPath::global_cg, LoadPath::global_cv, LoadPath::global_nc, LoadPath::shared})
    if (to_string(path) == policy) return path;
  return LoadPath::global_ca;
}

ChainKind chain_of(const std::string& chain) { return chain == "index" ? ChainKind::index : ChainKind::pointer; }

}  // namespace gpusonde

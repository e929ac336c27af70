#include "model/random_pipelines.hpp"

#include <algorithm>
#include <array>

#include "core/units.hpp"
#include "model/enum_names.hpp"

namespace gpusonde {
namespace {

void add_instructions(Random& random, DeviceModel& model) {
  constexpr std::array intervals{0.5, 1.0, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0};
  for (const auto name : k_pipeline_names) {
    if (random.below(10) == 0) continue;
    const double interval = intervals[random.below(intervals.size())];
    // Every tenth or so cannot be filled by 16 chains.
    const double latency = std::max(2.0, interval * (1 + 17 * random.uniform()));
    model.instructions.push_back({std::string(name), latency, interval});
  }
}

void add_constants(Random& random, DeviceModel& model) {
  const auto levels = random.between(0, 3);
  std::uint64_t bytes = k_kib << random.below(3);
  std::uint32_t line_bytes = 32U << random.below(2);
  double cycles = 20 + 25 * random.uniform();
  for (std::uint64_t i = 0; i < levels; ++i) {
    const std::uint64_t lines = std::max<std::uint64_t>(1, bytes / line_bytes);
    model.constants.push_back({lines * line_bytes, line_bytes, cycles});
    bytes = lines * line_bytes * random.between(5, 12);
    line_bytes = std::min<std::uint32_t>(512, line_bytes << random.below(3));
    cycles *= 1.4 + 1.2 * random.uniform();
  }
}

}  // namespace

void add_any_pipelines(Random& random, DeviceModel& model) {
  add_instructions(random, model);
  add_constants(random, model);
  model.shared_per_sm_bytes = 64 * k_kib;
  model.timing.shared_hit_cycles = 18 + 17 * random.uniform();
  model.timing.register_read_cycles = static_cast<double>(random.below(3));
  if (random.below(4) != 0) model.timing.texture_hit_cycles = 60 + 70 * random.uniform();
  if (random.below(3) == 0) return;
  model.cluster.max_blocks = static_cast<std::uint32_t>(random.between(2, 16));
  model.cluster.self_cycles = 20 + 20 * random.uniform();
  model.cluster.remote_cycles = 120 + 150 * random.uniform();
  model.cluster.remote_spread_cycles = 60 * random.uniform();
}

}  // namespace gpusonde

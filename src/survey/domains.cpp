#include "survey/domains.hpp"

#include <fmt/format.h>

#include <array>

#include "inference/clock_split.hpp"
#include "probe/findings.hpp"

namespace gpusonde {
namespace {

struct DomainLevel {
  const char* latency_id;
  const char* level;
};
constexpr std::array k_levels{DomainLevel{"l1.hit_latency", "l1"}, DomainLevel{"l2.hit_latency", "l2"},
                              DomainLevel{"l2.far_latency", "l2.far"}, DomainLevel{"dram.latency", "dram"}};

Result<double> sm_mhz(const Run& run, std::size_t index) {
  const auto* clock = run.finding("clock.sm");
  if (clock == nullptr || !clock->value)
    return fail(ErrorKind::usage, fmt::format("run {} has no SM clock (clock.sm); measure it again", index + 1));
  return std::get<double>(*clock->value);
}

std::vector<ClockPoint> points_of(std::span<const Run> runs, const std::vector<double>& clocks, const std::string& id) {
  std::vector<ClockPoint> points;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto* finding = runs[i].finding(id);
    if (finding == nullptr || !finding->value || !finding->interval) continue;
    // The interval is about 95 %: four sigma wide.
    points.push_back(
        {clocks[i], std::get<double>(*finding->value), (finding->interval->high - finding->interval->low) / 4});
  }
  return points;
}

}  // namespace

Result<Run> split_domains(std::span<const Run> runs) {
  if (runs.size() < 2)
    return fail(ErrorKind::usage, "clock domains need runs at two or more SM clocks; give at least two");
  std::vector<double> clocks;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].device.name != runs.front().device.name)
      return fail(ErrorKind::usage, fmt::format("run {} is of {}, the first of {}; compare one device with itself",
                                                i + 1, runs[i].device.name, runs.front().device.name));
    const auto mhz = sm_mhz(runs[i], i);
    if (!mhz) return tl::unexpected(mhz.error());
    clocks.push_back(*mhz);
  }
  Run out;
  out.tool = runs.front().tool;
  out.device = runs.front().device;
  out.environment = runs.front().environment;
  auto& table = out.measurements.table("domain.points");
  for (const auto* suffix : {"", "_index"})
    for (const auto& level : k_levels) {
      const auto id = std::string(level.latency_id) + suffix;
      const auto points = points_of(runs, clocks, id);
      if (points.empty()) continue;
      for (const auto& point : points) {
        table.make<std::string>("finding").push_back(id);
        table.make<double>("sm_mhz").push_back(point.sm_mhz);
        table.make<double>("latency_cycles").push_back(point.latency_cycles);
        table.make<double>("sigma_cycles").push_back(point.sigma_cycles);
      }
      const auto split = split_clock_domains(points);
      const auto name = fmt::format("domain.{}{}", level.level, suffix);
      const SampleList samples{{"clocks", static_cast<double>(points.size())}};
      out.findings.push_back(
          make_finding(name + ".sm_cycles", "cycles", split.sm_cycles, "#/measurements/domain.points", samples));
      out.findings.push_back(
          make_finding(name + ".fixed_ns", "ns", split.fixed_ns, "#/measurements/domain.points", samples));
    }
  if (out.findings.empty())
    return fail(ErrorKind::usage, "the runs have no latency in common; run 'gpusonde latency' at each clock");
  return out;
}

}  // namespace gpusonde

// Runs to write, read and report, put together by hand: a simulated card whose second plateau rises
// inside L2, a partitioned L2 with four levels, one swept for its TLBs, and one full of names that mean harm.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gpusonde/run.hpp"

namespace gpusonde::sample {

inline constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

struct Step {
  double until_bytes;  ///< the plateau ends here
  double cycles;
};

/// Plateaus joined by soft edges, `points` sizes an octave.
inline double curve_at(const std::vector<Step>& steps, double bytes) {
  double cycles = steps.front().cycles;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    const double over = bytes / steps[i].until_bytes;
    const double missed = over <= 1 ? 0 : std::fmin(1.0, 2.2 * (1 - 1 / over));
    cycles += missed * (steps[i + 1].cycles - steps[i].cycles);
  }
  return cycles;
}

inline void add_curve(Run& run, const std::string& policy, const std::string& chain, const std::vector<Step>& steps,
                      double mhz, double from = 4096, double to = 1024.0 * 1024 * 1024, int points = 8) {
  auto& table = run.measurements.table("latency.curve");
  const int count = static_cast<int>(std::lround(std::log2(to / from) * points));
  for (int i = 0; i <= count; ++i) {
    const double raw = from * std::exp2(static_cast<double>(i) / points);
    const auto bytes = static_cast<std::uint64_t>(raw / 128) * 128;
    const double cycles = curve_at(steps, static_cast<double>(bytes)) + 0.1 * std::sin(i);
    table.make<std::string>("policy").push_back(policy);
    table.make<std::string>("chain").push_back(chain);
    table.make<std::uint64_t>("size_bytes").push_back(bytes);
    table.make<double>("latency_cycles").push_back(cycles);
    table.make<double>("low_cycles").push_back(cycles * 0.995);
    table.make<double>("high_cycles").push_back(cycles * 1.01);
    table.make<double>("latency_ns").push_back(cycles * 1000 / mhz);
    table.make<std::string>("warmup").push_back(bytes < 1 << 20 ? "serial" : "parallel");
    table.make<std::uint64_t>("hops").push_back(4096);
    table.make<std::uint64_t>("sm").push_back(0);
    table.make<std::uint64_t>("shared_config_bytes").push_back(8192);
  }
}

inline void add_level(Run& run, const std::string& policy, const std::string& chain, const std::string& name,
                      double cycles, double mhz, std::uint64_t first, std::uint64_t last,
                      const std::string& note = {}) {
  auto& table = run.measurements.table("derived.latency.levels");
  table.make<std::string>("policy").push_back(policy);
  table.make<std::string>("chain").push_back(chain);
  table.make<std::string>("kind").push_back(name.empty() ? "step" : "level");
  table.make<std::string>("name").push_back(name);
  table.make<double>("latency_cycles").push_back(cycles);
  table.make<double>("low_cycles").push_back(cycles * 0.998);
  table.make<double>("high_cycles").push_back(cycles * 1.002);
  table.make<double>("latency_ns").push_back(cycles * 1000 / mhz);
  table.make<std::uint64_t>("first_bytes").push_back(first);
  table.make<std::uint64_t>("last_bytes").push_back(last);
  table.make<std::string>("note").push_back(note);
}

inline void add_transition(Run& run, const std::string& policy, const std::string& chain, std::uint64_t first,
                           std::uint64_t last, double capacity, const std::string& note = {}) {
  auto& table = run.measurements.table("derived.latency.transitions");
  table.make<std::string>("policy").push_back(policy);
  table.make<std::string>("chain").push_back(chain);
  table.make<std::uint64_t>("first_bytes").push_back(first);
  table.make<std::uint64_t>("last_bytes").push_back(last);
  table.make<double>("capacity_bytes").push_back(capacity);
  table.make<double>("low_bytes").push_back(capacity * 0.98);
  table.make<double>("high_bytes").push_back(capacity * 1.02);
  table.make<std::string>("shape").push_back(std::isnan(capacity) ? "" : "lru-like");
  table.make<std::string>("note").push_back(note);
}

inline Finding ok(const std::string& id, const std::string& unit, double value, double low, double high,
                  const std::string& evidence = "#/measurements/latency.curve") {
  Finding finding;
  finding.id = id;
  finding.unit = unit;
  finding.outcome = Outcome::ok;
  finding.value = value;
  finding.interval = Interval{low, high};
  finding.evidence = evidence;
  return finding;
}

inline Finding not_ok(const std::string& id, const std::string& unit, Outcome outcome, const std::string& reason) {
  Finding finding;
  finding.id = id;
  finding.unit = unit;
  finding.outcome = outcome;
  finding.reason = reason;
  finding.evidence = "#/measurements/latency.curve";
  return finding;
}

inline Finding with_truth(Finding finding, double truth) {
  finding.truth = truth;
  if (finding.interval) finding.agrees = finding.interval->low <= truth && truth <= finding.interval->high;
  return finding;
}

/// A simulated RTX 4090: L1, L2 with a TLB step inside it, DRAM; its truth beside it.
inline Run simulated() {
  Run run;
  run.tool = {"gpusonde", "0.1.0", "abc1234", ""};
  run.device.kind = DeviceKind::simulated;
  run.device.name = "RTX 4090";
  run.device.compute_capability_major = 8;
  run.device.compute_capability_minor = 9;
  run.device.sm_count = 128;
  run.device.memory_bytes = 24ULL << 30;
  run.device.nominal.l2_bytes = 72ULL << 20;
  run.device.model_file = "rtx4090";
  run.environment.started_at = "2026-01-02T03:04:05Z";
  run.environment.finished_at = "2026-01-02T03:04:11Z";
  run.environment.sm_mhz_measured = 2600;
  run.options.seed = 1;
  run.options.command_line = "gpusonde survey -d sim:rtx4090";
  run.options.values = {{"preset", "log"}, {"policy", "ca,cg"}};
  run.probes_done = {"timer", "clock", "latency"};

  auto& timer = run.measurements.table("timer");
  timer.make<std::uint64_t>("cycles") = {2, 2, 2, 3};
  auto& clock = run.measurements.table("clock");
  clock.make<std::uint64_t>("cycles") = {52'000'000};
  clock.make<std::uint64_t>("wall_ns") = {20'000'000};
  const double mib = 1024.0 * 1024;
  add_curve(run, "ca", "pointer", {{128 * 1024.0, 40}, {32 * mib, 330.1}, {72 * mib, 341.1}, {1e18, 661.2}}, 2600);
  add_curve(run, "cg", "pointer", {{32 * mib, 330.1}, {72 * mib, 341.1}, {1e18, 661.2}}, 2600);
  const std::string note = "the controls do not settle it: at 64 MiB: 341.1 cycles, page by page 335.9";
  add_level(run, "ca", "pointer", "l1", 40, 2600, 4096, 131072);
  add_level(run, "ca", "pointer", "l2", 330.1, 2600, 262144, 33554432);
  add_level(run, "ca", "pointer", "", 11, 2600, 33554432, 61865984, note);
  add_level(run, "ca", "pointer", "dram", 661.2, 2600, 138412032, 1073741824);
  add_level(run, "cg", "pointer", "l2", 330.1, 2600, 4096, 33554432);
  add_level(run, "cg", "pointer", "", 11, 2600, 33554432, 61865984, note);
  add_level(run, "cg", "pointer", "dram", 661.2, 2600, 138412032, 1073741824);
  add_transition(run, "ca", "pointer", 135168, 258048, 131072);
  add_transition(run, "ca", "pointer", 36175872, 56623104, k_nan, "a step inside l2");
  add_transition(run, "ca", "pointer", 79691776, 134217728, 75497472);
  add_transition(run, "cg", "pointer", 79691776, 134217728, 75497472);

  run.findings = {
      with_truth(ok("clock.sm", "MHz", 2600, 2600, 2600, "#/measurements/clock"), 2600),
      ok("timer.overhead", "cycles", 2, 2, 2, "#/measurements/timer"),
      with_truth(ok("l1.hit_latency", "cycles", 40, 39.9, 40.1), 40),
      with_truth(ok("l1.hit_latency_ns", "ns", 15.38, 15.3, 15.5), 15.4),
      with_truth(ok("l1.capacity", "bytes", 131072, 131072, 131072), 131072),
      with_truth(ok("l2.hit_latency", "cycles", 330.1, 329.2, 331), 330),
      with_truth(ok("l2.hit_latency_ns", "ns", 126.96, 126.6, 127.3), 127.4),
      not_ok("l2.far_latency", "cycles", Outcome::unsupported, "the L2 has one partition"),
      with_truth(ok("l2.capacity", "bytes", 75497472, 73987522, 77007421), 75497472),
      with_truth(ok("dram.latency", "cycles", 661.2, 655, 668), 660),
      with_truth(ok("dram.latency_ns", "ns", 254.3, 251.9, 256.9), 255.4),
      not_ok("dram.refresh_interval_ns", "ns", Outcome::inconclusive,
             "412 outliers in 20,000 loads; period not separable"),
  };
  run.findings[9].samples = {{"sizes", 25.0}, {"tlb", std::string("first level misses")}};
  return run;
}

/// Measured on a card with a partitioned L2: four levels, a table of storage splits, both chains.
inline Run partitioned() {
  Run run;
  run.tool = {"gpusonde", "0.1.0", "abc1234", std::string(64, 'a')};
  run.device.kind = DeviceKind::cuda;
  run.device.name = "NVIDIA H200";
  run.device.uuid = "GPU-00000000-1111-2222-3333-444444444444";
  run.device.pci_bus_id = "0000:1b:00.0";
  run.device.compute_capability_major = 9;
  run.device.sm_count = 132;
  run.device.memory_bytes = 143771ULL << 20;
  run.device.nominal.l2_bytes = 62914560;
  run.device.nominal.shared_per_sm_bytes = 233472;
  run.device.nominal.memory_clock_mhz = 3201;
  run.environment.driver_version = "580.159";
  run.environment.cuda_version = "13.0";
  run.environment.host = "lab-7";
  run.environment.started_at = "2026-01-02T03:04:05Z";
  run.environment.finished_at = "2026-01-02T03:05:05Z";
  run.environment.sm_mhz_measured = 1979.6;
  run.environment.clocks = {1980, 3201, {"sw_power_cap"}};
  run.environment.mig = "off";
  run.environment.ecc = "on";
  run.options.command_line = "gpusonde survey";
  run.probes_done = {"timer", "clock", "latency"};
  const double mib = 1024.0 * 1024;
  const std::vector<Step> pointer{{241 * 1024.0, 32}, {28 * mib, 275.5}, {57 * mib, 519.6}, {1e18, 678}};
  auto index = pointer;
  for (auto& step : index) step.cycles += 6;
  auto bypass = std::vector<Step>(pointer.begin() + 1, pointer.end());
  add_curve(run, "ca", "pointer", pointer, 1979.6);
  add_curve(run, "ca", "index", index, 1979.6);
  add_curve(run, "cg", "pointer", bypass, 1979.6);
  for (const std::string policy : {"ca", "cg"}) {
    if (policy == "ca") add_level(run, policy, "pointer", "l1", 32, 1979.6, 4096, 241 * 1024);
    add_level(run, policy, "pointer", "l2", 275.5, 1979.6, 458752, 28 << 20);
    add_level(run, policy, "pointer", "l2.far", 519.6, 1979.6, 53 << 20, 57 << 20);
    add_level(run, policy, "pointer", "dram", 678, 1979.6, 105 << 20, 1 << 30);
    if (policy == "ca") add_transition(run, policy, "pointer", 253952, 430080, 241 * 1024);
    add_transition(run, policy, "pointer", 31 << 20, 50 << 20, 28 * mib);
    add_transition(run, policy, "pointer", 60 << 20, 100 << 20, 57 * mib);
  }
  auto& splits = run.measurements.table("derived.l1.capacity");
  const auto split = [&](double carveout, std::uint64_t threads, std::uint64_t shared_kib, double kib) {
    splits.make<double>("carveout_percent").push_back(carveout);
    splits.make<std::uint64_t>("block_threads").push_back(threads);
    splits.make<std::uint64_t>("shared_config_bytes").push_back(shared_kib * 1024);
    splits.make<double>("capacity_bytes").push_back(std::isnan(kib) ? k_nan : kib * 1024);
    splits.make<std::string>("outcome").push_back(std::isnan(kib) ? "inconclusive" : "ok");
    splits.make<std::string>("note").push_back(std::isnan(kib) ? "not bisected to one line" : "");
  };
  split(0, 1024, 8, 241);
  split(0, 32, 32, 219);
  split(50, 1024, 132, 119);
  split(50, 32, 132, 119);
  split(100, 1024, 228, 20);
  split(100, 32, 228, k_nan);
  run.findings = {
      ok("clock.sm", "MHz", 1979.6, 1979, 1980.2, "#/measurements/clock"),
      ok("l1.hit_latency", "cycles", 32, 32, 32.1),
      ok("l1.hit_latency_index", "cycles", 38, 38, 38.1),
      ok("l1.capacity", "bytes", 241 * 1024, 241 * 1024, 241 * 1024, "#/measurements/derived.l1.capacity"),
      ok("l2.hit_latency", "cycles", 275.5, 274.2, 281),
      ok("l2.near_capacity", "bytes", 28 * mib, 27 * mib, 30 * mib),
      ok("l2.far_latency", "cycles", 519.6, 512, 520),
      ok("l2.capacity", "bytes", 57 * mib, 55 * mib, 59 * mib),
      ok("dram.latency", "cycles", 678, 655, 689),
  };
  return run;
}

/// Two TLB levels of one span behind a cache: what a load takes that goes round `nodes` places.
inline double sweep_cycles(double base, double stride_bytes, double nodes) {
  const double entries = nodes * std::fmin(stride_bytes / (2.0 * 1024 * 1024), 1.0);
  const auto missed = [&](double size) { return entries <= size ? 0 : std::fmin(1.0, 2.2 * (1 - size / entries)); };
  return base + 36 * missed(16) + 240 * missed(256);
}

/// Four points an octave: 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ...
inline void add_sweep(Run& run, const std::string& policy, double base, std::uint64_t stride_bytes,
                      std::uint64_t most_nodes = 4096) {
  auto& table = run.measurements.table("tlb.sweep");
  for (std::uint64_t nodes = 1, step = 1; nodes <= most_nodes; nodes += step) {
    if (nodes >= 8 && (nodes & (nodes - 1)) == 0) step = nodes / 4;
    const double cycles =
        sweep_cycles(base, static_cast<double>(stride_bytes), static_cast<double>(nodes)) + 0.2 * std::sin(nodes);
    table.make<std::string>("policy").push_back(policy);
    table.make<std::uint64_t>("stride_bytes").push_back(stride_bytes);
    table.make<std::uint64_t>("bytes").push_back(nodes * stride_bytes);
    table.make<std::uint64_t>("nodes").push_back(nodes);
    table.make<double>("cycles_per_access").push_back(cycles);
    table.make<double>("low_cycles").push_back(cycles * 0.99);
    table.make<double>("high_cycles").push_back(cycles * 1.015);
    table.make<double>("ns_per_access").push_back(cycles * 1000 / 1980);
    table.make<double>("sm_mhz").push_back(1980);
  }
}

inline void add_alias(Run& run, std::uint64_t stride_bytes) {
  auto& table = run.measurements.table("tlb.alias");
  auto& fit = run.measurements.table("derived.tlb.fit");
  for (std::uint64_t nodes = 4; nodes <= 2048; nodes *= 2) {
    const double predicted = sweep_cycles(0, static_cast<double>(stride_bytes), static_cast<double>(nodes));
    const double penalty = predicted + 3 * std::sin(nodes);
    table.make<std::uint64_t>("stride_bytes").push_back(stride_bytes);
    table.make<std::uint64_t>("nodes").push_back(nodes);
    table.make<double>("alias_cycles").push_back(280 + penalty);
    table.make<double>("control_cycles").push_back(280);
    table.make<double>("penalty_cycles").push_back(penalty);
    table.make<double>("sigma_cycles").push_back(2);
    fit.make<std::uint64_t>("stride_bytes").push_back(stride_bytes);
    fit.make<std::uint64_t>("nodes").push_back(nodes);
    fit.make<double>("predicted_cycles").push_back(predicted);
  }
}

/// TLBs of 16 and 256 entries of 2 MiB, swept with strides below, at and above an entry's span.
inline Run swept() {
  Run run = partitioned();
  run.measurements.tables.clear();
  run.findings.clear();
  run.options.command_line = "gpusonde tlb";
  for (const std::uint64_t mib : {1, 2, 4, 8, 16}) {
    add_sweep(run, "cg", 280, mib << 20);
    add_sweep(run, "ca", 32, mib << 20, 2048);
  }
  add_alias(run, 1 << 20);
  add_alias(run, 2 << 20);
  return run;
}

inline constexpr const char* k_harm = "</script><img src=x onerror=\"alert(1)\">&'\xff\n]]>";

/// The sample with every free text replaced by markup, a quote, a newline, and a byte that is not UTF-8.
inline Run hostile() {
  auto run = simulated();
  run.device.name = k_harm;
  run.options.command_line = k_harm;
  run.findings.push_back(not_ok(std::string("l1.") + k_harm, k_harm, Outcome::failed, k_harm));
  run.measurements.table(k_harm).make<std::string>(k_harm).push_back(k_harm);
  auto& levels = run.measurements.table("derived.latency.levels");
  levels.make<std::string>("name")[0] = k_harm;
  levels.make<std::string>("note")[2] = k_harm;
  for (auto& policy : run.measurements.table("latency.curve").make<std::string>("policy"))
    if (policy == "cg") policy = k_harm;
  add_sweep(run, k_harm, 280, 2 << 20);
  return run;
}

}  // namespace gpusonde::sample

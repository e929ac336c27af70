// Random DRAM behind random caches: what the probe finds is the model's truth, or inconclusive. Never confidently
// wrong.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdio>
#include <map>
#include <string>
#include <variant>

#include "core/random.hpp"
#include "model/random_model.hpp"
#include "models_wanted.hpp"
#include "survey/survey.hpp"
#include "target/sim/sim_target.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_first_seed = 7000;
constexpr std::uint64_t k_models = 8;
constexpr std::uint64_t k_slices = 4;

double between(Random& random, double low, double high) { return low + (high - low) * random.uniform(); }

/// Rows that are interleaved over channels in pieces, banks by parities of higher bits; one model in five opens rows
/// for nothing, and one in five is never refreshed.
DeviceModel model_of(std::uint64_t seed) {
  auto model = random_model(seed, {.least_cache_levels = 2,
                                   .most_cache_levels = 2,
                                   .max_noise = 0.02,
                                   .with_tlb = true,
                                   .most_capacity_bytes = 16ULL << 20});
  Random random(mix64(seed ^ 0xD4A));
  auto& dram = model.dram;
  const auto row_bytes = 512U << random.below(5);
  const auto channels = 2U << random.below(4);
  const auto banks = 4U << random.below(5);
  dram.row_bytes = row_bytes;
  dram.controllers = channels / 2;
  dram.channels_per_controller = 2;
  dram.banks = banks;
  dram.rows = model.memory_bytes / (std::uint64_t{row_bytes} * channels * banks);
  const auto piece = row_bytes >> random.below(static_cast<std::uint64_t>(std::countr_zero(row_bytes)) - 6);
  dram.channel_function = AddressFunction::modulo(piece, channels);
  std::vector<std::uint64_t> masks;
  const std::uint64_t stripe = std::uint64_t{row_bytes} * channels;
  for (std::uint32_t bank = 1; bank < banks; bank *= 2)
    masks.push_back(stripe * bank | (random.next() & (model.memory_bytes - 1) & ~(stripe * banks - 1)));
  dram.bank_function = AddressFunction::parities(masks);
  dram.row_function = AddressFunction::modulo(stripe * banks, dram.rows);
  dram.activate_ns = random.below(5) == 0 ? 0 : between(random, 12, 60);
  dram.column_ns = between(random, 0.8, 5);
  dram.latency.fixed_ns += dram.activate_ns;
  if (random.below(5) != 0) {
    dram.refresh_fraction = between(random, 0.005, 0.04);
    dram.refresh_stall_ns = between(random, 60, 400);
    dram.refresh_interval_ns = between(random, 1500, 8000);
    if (random.below(2) == 0) {
      dram.refresh_waits = RefreshWait::rest;
      dram.refresh_stall_ns = between(random, 150, 400);
      dram.refresh_fraction = dram.refresh_stall_ns / dram.refresh_interval_ns;
    }
  }
  model.bus_width_bits = 32 * channels;
  model.timing.memory_mhz = between(random, 2000, 12000);
  model.caches.back().slice_spread_cycles = 0;
  return model;
}

Run measure(const DeviceModel& model, std::uint64_t seed) {
  return survey_of(model, {.seed = seed}, {"clock", "coalesce", "dram"});
}

std::string text_of(const FindingValue& value) {
  if (const auto* number = std::get_if<double>(&value)) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.6g", *number);
    return text.data();
  }
  if (const auto* name = std::get_if<std::string>(&value)) return *name;
  std::string all;
  for (const auto& part : std::get<std::vector<std::string>>(value)) all += part + "; ";
  return all;
}

std::string said(const Finding& finding) {
  std::string text = finding.id + " is " + text_of(*finding.value);
  if (finding.interval) text += " (" + text_of(finding.interval->low) + " to " + text_of(finding.interval->high) + ")";
  return text + ", the model has " + (finding.truth ? text_of(*finding.truth) : "no such thing");
}

class DramRecovery : public testing::TestWithParam<std::uint64_t> {};

TEST_P(DramRecovery, recovers_or_says_inconclusive) {
  const std::uint64_t count = models_wanted(k_models) / k_slices;
  const std::uint64_t first = k_first_seed + GetParam() * count;
  std::map<std::string, std::array<int, 2>> counts;  // id -> ok, not ok
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const auto model = model_of(seed);
    const auto& dram = model.dram;
    SCOPED_TRACE("seed " + std::to_string(seed) + ": rows of " + std::to_string(dram.row_bytes) + ", " +
                 std::to_string(dram.banks) + " banks, " + std::to_string(dram.controllers * 2) +
                 " channels, opens in " + std::to_string(dram.activate_ns) + " ns, column " +
                 std::to_string(dram.column_ns) + " ns, noise " + std::to_string(model.noise.run_fraction) + ", SM " +
                 std::to_string(model.timing.sm_mhz));
    const auto run = measure(model, seed);
    for (const auto& finding : run.findings) {
      if (!finding.id.starts_with("dram.") && !finding.id.starts_with("coalescer.")) continue;
      const bool ok = finding.outcome == Outcome::ok;
      ++counts[finding.id][ok ? 0 : 1];
      EXPECT_NE(finding.outcome, Outcome::failed) << finding.id << ": " << finding.reason;
      if (!ok) {
        EXPECT_FALSE(finding.reason.empty()) << finding.id;
        continue;
      }
      EXPECT_TRUE(finding.truth && finding.agrees.value_or(false)) << said(finding);
    }
  }
  for (const auto& [id, found] : counts) std::printf("%s %d/%d  ", id.c_str(), found[0], found[0] + found[1]);
  std::printf("\n");
  // Inconclusive is an answer, but not always.
  EXPECT_GE(counts["coalescer.sectors"][0], 1);
  EXPECT_GE(counts["dram.latency_tlb_hit"][0], 1);
}

INSTANTIATE_TEST_SUITE_P(Models, DramRecovery, testing::Range<std::uint64_t>(0, k_slices));

}  // namespace
}  // namespace gpusonde

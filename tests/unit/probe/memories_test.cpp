// Findings about memories from tables made by hand: who shares L1's storage, and clusters.
#include "probe/memories_probe.hpp"

#include <gtest/gtest.h>

#include "probe/probes.hpp"

namespace gpusonde {
namespace {

void add_references(Measurements& measurements, double l1_cycles, double l2_cycles) {
  auto& table = measurements.table("memories.reference");
  for (const auto& [level, cycles] : {std::pair{"l1", l1_cycles}, {"l2", l2_cycles}}) {
    table.make<std::string>("level").emplace_back(level);
    table.make<double>("cycles").push_back(cycles);
  }
}

/// Laps of 100 loads in L1, before and after.
void add_sharing(Measurements& measurements, const std::string& kind, std::uint64_t other_bytes, double before_cycles,
                 std::initializer_list<double> after_cycles) {
  auto& table = measurements.table("memories.sharing");
  for (const double after : after_cycles) {
    table.make<std::string>("kind").push_back(kind);
    table.make<std::uint64_t>("l1_bytes").push_back(12800);
    table.make<std::uint64_t>("other_bytes").push_back(other_bytes);
    table.make<std::uint64_t>("hops").push_back(100);
    table.make<std::uint64_t>("before_cycles").push_back(static_cast<std::uint64_t>(100 * before_cycles));
    table.make<std::uint64_t>("after_cycles").push_back(static_cast<std::uint64_t>(100 * after));
  }
}

Finding found(const Measurements& measurements, const std::string& id) {
  for (const auto& finding : memories_probe().analyze({measurements, {}, {}}).findings)
    if (finding.id == id) return finding;
  ADD_FAILURE() << "no " << id;
  return {};
}

std::string verdict(const Measurements& measurements, const std::string& id) {
  const auto finding = found(measurements, id);
  return finding.value ? std::get<std::string>(*finding.value) : std::string(to_string(finding.outcome));
}

TEST(MemoriesProbe, LoadsThatPushTheRingOutShareItsStorage) {
  Measurements measurements;
  add_references(measurements, 32, 272);
  add_sharing(measurements, "texture", 65536, 32, {270, 250, 272});
  add_sharing(measurements, "constant", 65536, 32, {32, 33, 32});
  EXPECT_EQ(verdict(measurements, "texture.shares_l1"), "yes");
  EXPECT_EQ(verdict(measurements, "constant.shares_l1"), "no");
  EXPECT_EQ(verdict(measurements, "readonly.shares_l1"), "skipped");
}

TEST(MemoriesProbe, NoNeedsOthersThatDoWithAsManyBytes) {
  Measurements measurements;
  add_references(measurements, 32, 272);
  add_sharing(measurements, "constant", 65536, 32, {32, 32, 32});
  EXPECT_EQ(found(measurements, "constant.shares_l1").reason,
            "its loads leave L1 alone, but so do those that were to show that any could be seen");
  // Twice as many bytes, which say nothing about fewer.
  add_sharing(measurements, "read_only", 131072, 32, {272, 272, 272});
  EXPECT_EQ(verdict(measurements, "constant.shares_l1"), "inconclusive");
  add_sharing(measurements, "read_only", 65536, 32, {80, 80, 80});
  EXPECT_EQ(verdict(measurements, "constant.shares_l1"), "no");
}

TEST(MemoriesProbe, AFewLostLinesAreNeitherYesNorNo) {
  Measurements measurements;
  add_references(measurements, 32, 272);
  add_sharing(measurements, "texture", 65536, 32, {32, 272, 40});
  EXPECT_EQ(found(measurements, "texture.shares_l1").reason,
            "between 0 and 100 % of the ring left L1: neither none nor much");
  Measurements slow;
  add_references(slow, 32, 272);
  add_sharing(slow, "texture", 65536, 40, {272, 272, 272});
  EXPECT_EQ(found(slow, "texture.shares_l1").reason, "the ring did not stay in L1: 40.0 cycles a load before");
}

void add_hits(Measurements& measurements, const std::string& kind, std::uint64_t bytes, double cycles) {
  auto& table = measurements.table("memories.hits");
  for (int i = 0; i < 15; ++i) {
    table.make<std::string>("kind").push_back(kind);
    table.make<std::uint64_t>("bytes").push_back(bytes);
    table.make<double>("cycles_per_access").push_back(cycles + 0.01 * (i % 3));
  }
}

TEST(MemoriesProbe, AHitIsTheSameInTwoSmallRings) {
  Measurements measurements;
  add_hits(measurements, "texture", 4096, 80);
  EXPECT_EQ(found(measurements, "texture.hit_latency").outcome, Outcome::skipped);
  add_hits(measurements, "texture", 8192, 80.2);
  const auto finding = found(measurements, "texture.hit_latency");
  ASSERT_TRUE(finding.value) << finding.reason;
  EXPECT_NEAR(std::get<double>(*finding.value), 80.01, 1e-9);
  EXPECT_LT(finding.interval->high - finding.interval->low, 0.6);
  Measurements apart;
  add_hits(apart, "texture", 4096, 80);
  add_hits(apart, "texture", 8192, 140);
  EXPECT_EQ(found(apart, "texture.hit_latency").reason, "rings of 4 KiB and 8 KiB differ: 80.0 and 140.0 cycles");
}

/// Four blocks, three launches; `far` is what launches add to the last pair.
Measurements cluster(double far = 0) {
  Measurements measurements;
  auto& table = measurements.table("memories.cluster");
  for (std::uint64_t launch = 0; launch < 3; ++launch)
    for (std::uint64_t from = 0; from < 4; ++from)
      for (std::uint64_t to = 0; to < 4; ++to) {
        table.make<std::uint64_t>("launch").push_back(launch);
        table.make<std::uint64_t>("from_block").push_back(from);
        table.make<std::uint64_t>("to_block").push_back(to);
        table.make<std::uint64_t>("from_sm").push_back(2 * from);
        table.make<std::uint64_t>("to_sm").push_back(2 * to);
        const double last = from + to == 5 ? far * static_cast<double>(launch) : 0;
        table.make<double>("cycles_per_access")
            .push_back(from == to ? 33 : 180 + 10 * static_cast<double>(from + to) + last);
      }
  return measurements;
}

TEST(MemoriesProbe, AClustersMeanIsOverPairsOfSms) {
  const auto finding = found(cluster(), "dsmem.latency");
  ASSERT_TRUE(finding.value) << finding.reason;
  EXPECT_DOUBLE_EQ(std::get<double>(*finding.value), 210);  // sums of 1, 2, 3, 3, 4, 5
  EXPECT_EQ(finding.samples[0], (std::pair<std::string, SampleValue>{"pairs", 6.0}));
  EXPECT_EQ(finding.samples[1], (std::pair<std::string, SampleValue>{"fastest_cycles", 190.0}));
  EXPECT_EQ(finding.samples[2], (std::pair<std::string, SampleValue>{"slowest_cycles", 230.0}));
  EXPECT_EQ(std::get<double>(*found(cluster(), "dsmem.self_latency").value), 33);
  EXPECT_EQ(found(cluster(20), "dsmem.latency").reason, "readings of one pair of SMs differ by 16 %");
}

TEST(MemoriesProbe, WithoutClustersItSaysWhy) {
  Measurements measurements;
  auto& table = measurements.table("memories.missing");
  table.make<std::string>("what").push_back("cluster");
  table.make<std::string>("reason").push_back("too old");
  for (const auto* id : {"dsmem.latency", "dsmem.self_latency"}) {
    EXPECT_EQ(found(measurements, id).outcome, Outcome::unsupported);
    EXPECT_EQ(found(measurements, id).reason, "too old");
  }
}

}  // namespace
}  // namespace gpusonde

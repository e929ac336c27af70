// The truth by finding id, on a model whose figures are easy to follow.
#include <gtest/gtest.h>

#include <map>

#include "model/device_model.hpp"
#include "model/random_model.hpp"

namespace gpusonde {
namespace {

std::map<std::string, FindingValue> truths(const DeviceModel& model, double sm_mhz) {
  std::map<std::string, FindingValue> found;
  for (const auto& [id, value] : truth_of(model, sm_mhz))
    EXPECT_TRUE(found.emplace(id, value).second) << id << " twice";
  return found;
}

DeviceModel example() {
  DeviceModel model;
  model.timing.index_overhead_cycles = 6;
  model.timing.timer_overhead_cycles = 2;
  model.timing.shared_hit_cycles = 24;
  model.caches.resize(3);
  model.caches[0].hit = {40, 0};
  model.caches[0].allocates_cg = false;
  model.caches[0].index = AddressSpace::virtual_address;
  model.caches[1].hit = {200, 50};
  model.caches[1].sets = 1024;
  model.caches[1].slices = 4;
  model.caches[2].hit = {300, 100};
  model.caches[2].sets = 8192;
  model.tlbs.resize(1);
  model.tlbs[0].miss = {10, 5};
  model.dram.latency = {300, 300};
  model.dram.refresh_fraction = 0.02;
  model.dram.refresh_stall_ns = 200;
  return model;
}

TEST(Truth, FollowsTheClock) {
  const auto found = truths(example(), 2000);
  const auto number = [&](const std::string& id) { return std::get<double>(found.at(id)); };
  EXPECT_EQ(number("clock.sm"), 2000);
  EXPECT_EQ(number("l1.hit_latency"), 40);
  EXPECT_EQ(number("l1.hit_latency_ns"), 20);
  EXPECT_EQ(number("l1.hit_latency_index"), 46);
  EXPECT_EQ(number("l1.hit_latency_index_ns"), 23);
  EXPECT_EQ(number("l2.hit_latency"), 300);
  EXPECT_EQ(number("l2.far_latency"), 500);
  EXPECT_EQ(number("chain.index_overhead"), 6);
  EXPECT_EQ(number("timer.overhead"), 2);
  EXPECT_EQ(number("shared.hit_latency"), 24);
  // 900 of the load, 20 of the missing translation, 2 % of 400 cycles of refresh.
  EXPECT_DOUBLE_EQ(number("dram.latency"), 928);
  EXPECT_DOUBLE_EQ(number("dram.latency_ns"), 464);
}

TEST(Truth, NamesTheLevelsByWhatCgGoesPast) {
  auto model = example();
  const auto three = truths(model, 1000);
  EXPECT_EQ(std::get<double>(three.at("l1.capacity")), 4 * 256 * 128);
  EXPECT_EQ(std::get<double>(three.at("l2.near_capacity")), 4 * 4 * 1024 * 128);
  EXPECT_EQ(std::get<double>(three.at("l2.capacity")), 4 * 8192 * 128);
  EXPECT_EQ(std::get<std::string>(three.at("l1.addressing")), "VIPT");
  EXPECT_EQ(std::get<std::string>(three.at("l2.addressing")), "PIPT");
  model.caches.pop_back();
  const auto two = truths(model, 1000);
  EXPECT_EQ(std::get<double>(two.at("l2.capacity")), 4 * 4 * 1024 * 128);
  EXPECT_FALSE(two.contains("l2.near_capacity"));
  EXPECT_FALSE(two.contains("l2.far_latency"));
  model.caches.pop_back();
  EXPECT_FALSE(truths(model, 1000).contains("l2.hit_latency"));
}

TEST(Truth, TellsEachTlbLevel) {
  auto model = example();
  model.tlbs = {{"first", 24, 0, TlbIndex::modulo, 2ULL << 20, Replacement::lru, Scope::tpc, {10, 5}},
                {"second", 512, 8, TlbIndex::folded, 32ULL << 20, Replacement::fifo, Scope::gpc, {60, 0}},
                {"third", 1024, 4, TlbIndex::modulo, 64ULL << 20, Replacement::random, Scope::gpu, {200, 0}}};
  const auto found = truths(model, 2000);
  const auto number = [&](const std::string& id) { return std::get<double>(found.at(id)); };
  const auto name = [&](const std::string& id) { return std::get<std::string>(found.at(id)); };
  EXPECT_EQ(name("tlb.1.scope"), "tpc");
  EXPECT_EQ(name("tlb.2.scope"), "gpc");
  EXPECT_EQ(name("tlb.3.scope"), "gpu");
  EXPECT_FALSE(found.contains("tlb.4.scope"));
  model.tlbs[0].scope = Scope::sm;
  EXPECT_EQ(std::get<std::string>(truths(model, 2000).at("tlb.1.scope")), "sm");
  EXPECT_EQ(number("tlb.1.ways"), 24);  // fully associative
  EXPECT_EQ(number("tlb.2.ways"), 8);
  EXPECT_EQ(number("tlb.2.entries"), 512);
  EXPECT_EQ(number("tlb.2.span"), 33554432);
  EXPECT_EQ(number("tlb.2.reach"), 17179869184);
  EXPECT_EQ(number("tlb.1.miss_cost"), 20);
  EXPECT_EQ(name("tlb.3.replacement"), "random");
}

TEST(Truth, LeavesOutWhatTheModelHasNot) {
  auto model = example();
  model.timing.shared_hit_cycles = 0;
  model.tlbs.clear();
  const auto found = truths(model, 2000);
  EXPECT_FALSE(found.contains("shared.hit_latency"));
  EXPECT_FALSE(found.contains("tlb.1.entries"));
  EXPECT_DOUBLE_EQ(std::get<double>(found.at("dram.latency")), 908);
}

TEST(Truth, TakesTheSharedPartFromTheL1) {
  auto model = example();
  model.caches[0].sets = 512;  // 256 KiB of 4 ways
  model.unified = UnifiedStorageModel{262144, {0, 8192, 16384, 32768}, 1024, 32, 2048};
  // Two blocks of 1024 threads reserve 2 KiB, so 8 KiB are shared and 496 sets are left.
  EXPECT_EQ(std::get<double>(truths(model, 1000).at("l1.capacity")), 496 * 4 * 128);
}

}  // namespace
}  // namespace gpusonde

// The truth by finding id, on a model whose figures are easy to follow.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "core/parity_span.hpp"
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

TEST(Truth, OfOperationsAndTheirMemories) {
  auto model = example();
  model.timing.register_read_cycles = 1;
  model.timing.texture_hit_cycles = 80;
  model.instructions = {{"ffma", 4, 1}, {"dfma", 63.5, 16}};
  model.constants = {{2048, 64, 27}, {32768, 256, 90}};
  model.cluster = {8, 33, 195, 20};
  model.unified.emplace();
  model.unified->total_bytes = 131072;
  model.unified->shared_choices_bytes = {8192};
  const auto found = truths(model, 2000);
  const auto number = [&](const std::string& id) { return std::get<double>(found.at(id)); };
  const auto name = [&](const std::string& id) { return std::get<std::string>(found.at(id)); };
  EXPECT_EQ(number("instr.ffma.true_latency"), 4);
  EXPECT_EQ(number("instr.dfma.true_latency"), 63.5);
  EXPECT_EQ(number("instr.dfma.completion_interval"), 16);
  EXPECT_EQ(number("instr.shared_load.true_latency"), 24);
  EXPECT_EQ(number("instr.shared_load.completion_interval"), 1);  // 128 bytes of 32 lanes
  EXPECT_EQ(number("operand.register_read"), 1);
  EXPECT_EQ(number("constant.2.hit_latency"), 90);
  EXPECT_EQ(number("constant.2.hit_latency_ns"), 45);
  EXPECT_EQ(number("constant.2.capacity"), 32768);
  EXPECT_FALSE(found.contains("constant.3.capacity"));
  EXPECT_EQ(number("texture.hit_latency"), 80);
  EXPECT_EQ(number("readonly.hit_latency"), 40);
  EXPECT_EQ(number("dsmem.latency"), 195);
  EXPECT_EQ(number("dsmem.self_latency"), 33);
  EXPECT_EQ(name("constant.shares_l1"), "no");
  EXPECT_EQ(name("texture.shares_l1"), "yes");
  EXPECT_EQ(name("readonly.shares_l1"), "yes");
  EXPECT_EQ(name("shared.shares_l1"), "yes");
  const auto plain = truths(example(), 2000);
  for (const auto* id : {"instr.ffma.true_latency", "operand.register_read", "constant.shares_l1",
                         "texture.hit_latency", "dsmem.latency", "shared.shares_l1"})
    EXPECT_FALSE(plain.contains(id)) << id;
}

TEST(Truth, OfManyLoadsIsWhatTheWidthsSay) {
  auto model = example();
  model.sm_count = 10;
  model.caches[0].scope = Scope::sm;
  model.caches[0].lines_per_cycle = 0.5;
  model.timing.shared_bytes_per_cycle = 96;
  model.timing.crossbar_lines_per_cycle = 2;
  model.timing.crossbar_bytes_per_cycle = 48;
  const auto found = truths(model, 2000);
  EXPECT_DOUBLE_EQ(std::get<double>(found.at("bandwidth.l1.read")), 10 * 2e9 * 64);
  EXPECT_DOUBLE_EQ(std::get<double>(found.at("bandwidth.shared.copy")), 10 * 2e9 * 96);
  EXPECT_DOUBLE_EQ(std::get<double>(found.at("crossbar.lines_per_cycle")), 1.5);  // sectors of 32 bytes
  EXPECT_DOUBLE_EQ(std::get<double>(found.at("load.l1.completion_interval")), 5);
  EXPECT_DOUBLE_EQ(std::get<double>(found.at("load.l2.idle_latency")), 300);
  model.caches[0].lines_per_cycle = 0.125;
  model.tlbs.assign(1, TlbModel{});
  model.tlbs.front().span_bytes = 4096;  // 16 of them: less than a quarter of L2
  const auto other = truths(model, 2000);
  EXPECT_DOUBLE_EQ(std::get<double>(other.at("load.l1.completion_interval")), 8);
  EXPECT_FALSE(other.contains("load.l2.idle_latency"));
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

using Texts = std::vector<std::string>;

/// `l1.set_masks` of an L1 with these sets and this function, or "absent".
Texts set_masks(
    std::uint32_t sets, const std::string& program,
    const std::function<void(DeviceModel&)>& change = [](DeviceModel&) {}) {
  auto model = example();
  model.caches[0].sets = sets;
  model.caches[0].set_function = *AddressFunction::parse(program, {"test"});
  change(model);
  const auto found = truths(model, 1000);
  const auto at = found.find("l1.set_masks");
  return at == found.end() ? Texts{"absent"} : std::get<Texts>(at->second);
}

TEST(Truth, GivesTheCanonicalMasksOfALinearL1) {
  EXPECT_EQ(set_masks(8, "return a / 128 % 8"), (Texts{"0x80", "0x100", "0x200"}));
  EXPECT_EQ(set_masks(8, "return a / 128"), (Texts{"0x80", "0x100", "0x200"}));  // % sets is the cache's
  EXPECT_EQ(set_masks(1, "return 0"), Texts{});
  EXPECT_EQ(set_masks(1, "return a / 128"), Texts{});
  // As published masks have them, bits inside the line play no part: 0x2080, 0x12000 and their sum 0x10080.
  EXPECT_EQ(set_masks(4, "return parity(a & 0x20ff) | parity(a & 0x1207f) << 1"), (Texts{"0x2080", "0x10080"}));
  EXPECT_EQ(set_masks(4, "return parity(a & 0x2080) | parity(a & 0x3080) << 1"), (Texts{"0x1000", "0x2080"}));
  // Exchanged and complemented sets are the same sets.
  EXPECT_EQ(set_masks(4, "return (parity(a & 0x3080) ^ 1) | parity(a & 0x1000) << 1"), (Texts{"0x1000", "0x2080"}));
}

TEST(Truth, GivesNoMasksWhereThereAreNone) {
  EXPECT_EQ(set_masks(6, "return a / 128 % 6"), Texts{"absent"});
  EXPECT_EQ(set_masks(8, "return a / 384 % 8"), Texts{"absent"});
  EXPECT_EQ(set_masks(4, "return (a / 128 + a / 65536) % 4"), Texts{"absent"});
  EXPECT_EQ(set_masks(4, "return parity(a & 0x80) | parity(a / 384 & 1) << 1"), Texts{"absent"});
}

TEST(Truth, TakesMasksOfAPhysicalIndexOnlyWithinAFrame) {
  const auto make_physical = [](DeviceModel& model) {
    model.caches[0].index = AddressSpace::physical_address;
    model.paging.frame_bytes = 64 << 10;
  };
  EXPECT_EQ(set_masks(4, "return parity(a & 0x8080) | parity(a & 0x100) << 1", make_physical),
            (Texts{"0x100", "0x8080"}));
  EXPECT_EQ(set_masks(4, "return parity(a & 0x10080) | parity(a & 0x100) << 1", make_physical), Texts{"absent"});
}

TEST(Truth, TakesTheMasksOfTheSetsThatAreLeft) {
  const auto share = [](std::uint64_t shared_bytes) {
    return [=](DeviceModel& model) { model.unified = UnifiedStorageModel{262144, {shared_bytes}, 1024, 32, 2048}; };
  };
  EXPECT_EQ(set_masks(8, "return a / 128 % 8", share(131072)), (Texts{"0x80", "0x100"}));
  EXPECT_EQ(set_masks(8, "return a / 128 % 8", share(65536)), Texts{"absent"});  // 6 sets
}

TEST(Truth, TellsFetchAndPartitions) {
  auto model = example();
  auto found = truths(model, 1000);
  EXPECT_EQ(std::get<double>(found.at("l2.fetch_granularity")), 32);
  EXPECT_EQ(std::get<double>(found.at("l2.partitions")), 1);
  EXPECT_FALSE(found.contains("l2.home_mask"));
  auto& l2 = model.caches[1];
  l2.fetch_bytes = 64;
  l2.partitions = 2;
  l2.home_function = AddressFunction::parities({0x2ab000});
  found = truths(model, 1000);
  EXPECT_EQ(std::get<double>(found.at("l2.fetch_granularity")), 64);
  EXPECT_EQ(std::get<double>(found.at("l2.partitions")), 2);
  EXPECT_EQ(std::get<std::string>(found.at("l2.home_mask")), "0xab000");  // within a frame of 2 MiB
  l2.home_function = *AddressFunction::parse("return parity(a & 0x2ab000) ^ (a >> 30) ^ parity(a & 0x7f)", {"test"});
  EXPECT_EQ(std::get<std::string>(truths(model, 1000).at("l2.home_mask")), "0xab000");
  l2.home_function = *AddressFunction::parse("return a / 384 % 2", {"test"});
  EXPECT_FALSE(truths(model, 1000).contains("l2.home_mask"));
}

TEST(Truth, OfTheRtx4090HasItsMasksInCanonicalForm) {
  const auto found = truths(*find_model("rtx4090"), 2600);
  const std::vector<std::uint64_t> printed{0xc3901e00, 0x119a80a0,  0x167041b0, 0xdbc21d80,
                                           0x47810400, 0x1b4e09180, 0xb6405400, 0xdc202c80};
  std::vector<std::uint64_t> of_lines;
  for (const auto mask : printed) of_lines.push_back(mask & ~std::uint64_t{0x7f});
  Texts expected;
  for (const auto mask : canonical_masks(of_lines)) expected.push_back(hex_mask(mask));
  EXPECT_EQ(std::get<Texts>(found.at("l1.set_masks")), expected);
  EXPECT_EQ(expected.size(), 8U);
  EXPECT_EQ(std::get<double>(found.at("l2.fetch_granularity")), 64);
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

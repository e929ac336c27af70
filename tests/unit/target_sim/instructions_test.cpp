// Pipelines, memories and clusters of a simulated GPU, with cycles counted by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "small_model.hpp"

namespace gpusonde {
namespace {

DeviceModel model_with_all() {
  auto model = small_model();
  model.shared_per_sm_bytes = 16 * k_kib;
  model.timing.shared_hit_cycles = 24;
  model.timing.register_read_cycles = 1;
  model.timing.texture_hit_cycles = 80;
  model.instructions = {{"ffma", 4, 1}, {"dfma", 8, 2}};
  model.constants = {{1024, 64, 27}, {8192, 64, 90}};
  model.cluster = {4, 33, 195, 20};
  return model;
}

template <class Sample>
Sample run(Target& target, const Experiment& experiment) {
  auto samples = target.run(std::span(&experiment, 1), {});
  EXPECT_TRUE(samples) << samples.error().message;
  return std::get<Sample>(samples->front());
}

/// Cycles of a link, from the difference of the two lengths; whole here, but for the clock's fraction.
double link(const InstructionSamples& s) {
  return static_cast<double>(s.long_cycles[0] - s.short_cycles[0]) /
         static_cast<double>(s.long_length - s.short_length);
}

TEST(SimInstructions, ChainsWaitForTheirLastOperationAndForThePipeline) {
  const auto target = make(model_with_all());
  const auto of = [&](Operation operation, std::uint32_t chains) {
    return link(run<InstructionSamples>(*target, InstructionExperiment{operation, chains, 1}));
  };
  EXPECT_EQ(of(Operation::ffma, 1), 4);
  EXPECT_EQ(of(Operation::ffma, 4), 4);
  EXPECT_EQ(of(Operation::ffma, 8), 8);  // a cycle each
  EXPECT_EQ(of(Operation::dfma, 4), 8);
  EXPECT_EQ(of(Operation::dfma, 16), 32);
  EXPECT_EQ(of(Operation::shared_register, 1), 24);
  EXPECT_EQ(of(Operation::shared_predicate, 1) - of(Operation::shared_immediate, 1), 1);
}

TEST(SimInstructions, OnlyWhatTheModelHas) {
  const auto target = make(model_with_all());
  EXPECT_EQ(target->capabilities().operations,
            (std::vector{Operation::ffma, Operation::dfma, Operation::shared_register, Operation::shared_immediate,
                         Operation::shared_predicate}));
  const Experiment lop3 = InstructionExperiment{Operation::lop3, 1, 1};
  const auto refused = target->run(std::span(&lop3, 1), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the operation lop3 cannot be timed on this device");
  EXPECT_TRUE(make(small_model())->capabilities().operations.empty());
  EXPECT_EQ(make(small_model())->capabilities().max_cluster_blocks, 0U);
}

double hop(Target& target, MemoryKind kind, std::uint64_t bytes, std::uint32_t stride) {
  const auto s = run<MemoryChaseSamples>(target, MemoryChaseExperiment{kind, bytes, stride, 1024, 1});
  return std::floor(static_cast<double>(s.cycles[0] - 2) / 1024 + 0.01);
}

TEST(SimMemories, ConstantsComeFromTheNearestLevelThatHoldsThem) {
  const auto target = make(model_with_all());
  EXPECT_EQ(hop(*target, MemoryKind::constant, 1024, 64), 27);
  EXPECT_EQ(hop(*target, MemoryKind::constant, 1024 + 64, 64), 90);
  EXPECT_EQ(hop(*target, MemoryKind::constant, 8192, 64), 90);
  EXPECT_EQ(hop(*target, MemoryKind::constant, 8192 + 64, 64), 200);  // L2
}

TEST(SimMemories, OthersHaveTheirLatencyWithinL1) {
  const auto target = make(model_with_all());
  EXPECT_EQ(hop(*target, MemoryKind::texture, 1024, 128), 80);  // 8 lines, all that L1 has
  EXPECT_EQ(hop(*target, MemoryKind::texture, 1152, 128), 200);
  EXPECT_EQ(hop(*target, MemoryKind::read_only, 1024, 128), 30);
  EXPECT_EQ(hop(*target, MemoryKind::shared, 8192, 128), 24);
}

TEST(SimMemories, TexturesPushTheRingOutOfL1AndConstantsDoNot) {
  const auto target = make(model_with_all());
  for (const auto kind : {MemoryKind::texture, MemoryKind::read_only, MemoryKind::constant}) {
    const auto s = run<StorageSharingSamples>(*target, StorageSharingExperiment{kind, 1024, 1024, 2});
    EXPECT_EQ(s.hops, 8U);
    EXPECT_NEAR(static_cast<double>(s.before_cycles[1]), 2 + 8 * 30, 1);
    EXPECT_NEAR(static_cast<double>(s.after_cycles[1]), 2 + 8 * (kind == MemoryKind::constant ? 30 : 200), 1);
  }
}

TEST(SimClusters, EveryPairIsAsFarAsItIs) {
  const auto target = make(model_with_all());
  const auto s = run<ClusterSamples>(*target, ClusterExperiment{4, 4096});
  ASSERT_EQ(s.cycles.size(), 16U);
  EXPECT_EQ(s.sms, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  for (std::size_t from = 0; from < 4; ++from)
    for (std::size_t to = 0; to < 4; ++to) {
      const double cycles = s.cycles[4 * from + to];
      EXPECT_NEAR(cycles, s.cycles[4 * to + from], 0.01);
      if (from == to)
        EXPECT_NEAR(cycles, 33, 0.01);
      else
        EXPECT_NEAR(cycles, 195, 10.01);
    }
  const auto [low, high] = std::minmax_element(s.cycles.begin(), s.cycles.end());
  EXPECT_GT(*high, 190);
  EXPECT_NEAR(*low, 33, 0.01);
}

}  // namespace
}  // namespace gpusonde

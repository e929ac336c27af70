// Loads of a warp in cycles that can be counted by hand: what queues, and what does not.
#include <gtest/gtest.h>

#include "small_model.hpp"
#include "target/sim/dram.hpp"

namespace gpusonde {
namespace {

using Readings = std::vector<std::uint32_t>;

/// L1 looks up a line in 2 cycles, the crossbar takes one a cycle, L2 a line in 4; DRAM has 2 channels of 2 banks with
/// rows of 1 KiB, opens one in 40 cycles and gives a column in 5.
DeviceModel gather_model() {
  auto model = small_model();
  model.caches[0].lines_per_cycle = 0.5;
  model.caches[0].sets = 64;
  model.caches[0].set_function = AddressFunction::modulo(128, 64);
  model.caches[1].lines_per_cycle = 0.25;
  model.caches[1].sets = 64;
  model.caches[1].set_function = AddressFunction::modulo(128, 64);
  model.timing.crossbar_lines_per_cycle = 1;
  model.timing.memory_mhz = 4000;  // 64 B a ns over 2 channels: a column takes the pins 1 ns
  auto& dram = model.dram;
  dram.channels_per_controller = 2;
  dram.banks = 2;
  dram.rows = 1 << 14;
  dram.channel_function = AddressFunction::modulo(1024, 2);
  dram.bank_function = AddressFunction::modulo(2048, 2);
  dram.row_function = AddressFunction::modulo(4096, 1 << 14);
  dram.activate_ns = 40;
  dram.column_ns = 5;
  return model;
}

Readings readings(const DeviceModel& model, std::vector<std::uint64_t> places, std::vector<SequenceStep> steps,
                  LoadPath path = LoadPath::global_cg, std::uint32_t lane_bytes = 8) {
  SequenceExperiment e;
  e.places = std::move(places);
  e.steps = std::move(steps);
  e.path = path;
  e.lane_bytes = lane_bytes;
  const auto target = make(model);
  auto samples = target->run(std::vector<Experiment>{e}, {});
  EXPECT_TRUE(samples) << (samples ? "" : samples.error().message);
  return samples ? std::get<SequenceSamples>(samples->front()).cycles : Readings{};
}

constexpr SequenceStep gather(std::uint32_t first, std::uint32_t count, std::uint32_t times = 1) {
  return {StepKind::gather, first, count, times};
}
constexpr SequenceStep timed(std::uint32_t first) { return {StepKind::time, first, 1, 1}; }
constexpr SequenceStep walk(std::uint32_t first) { return {StepKind::walk, first, 1, 1}; }
constexpr SequenceStep drop(std::uint32_t first, std::uint32_t count) { return {StepKind::drop, first, count, 1}; }

TEST(SimGather, OneLaneTakesWhatATimedLoadTakes) {
  const auto model = gather_model();
  EXPECT_EQ(readings(model, {0}, {gather(0, 1, 3)}, LoadPath::global_ca), (Readings{510, 40, 40}));
  EXPECT_EQ(readings(model, {0}, {gather(0, 1), timed(0)}), (Readings{510, 210}));
  // A row that is open.
  EXPECT_EQ(readings(model, {0, 128}, {timed(0), gather(1, 1), drop(0, 2), timed(0), gather(1, 1)}),
            (Readings{510, 470, 470, 470}));
}

TEST(SimGather, LanesOfOneLineAreOneRequest) {
  std::vector<std::uint64_t> line;
  for (std::uint64_t lane = 0; lane < 16; ++lane) line.push_back(8 * lane);
  EXPECT_EQ(readings(gather_model(), line, {gather(0, 16, 2)}, LoadPath::global_ca),
            (Readings{500 + 3 * 5 + 10, 40}));  // four columns, then L1
}

TEST(SimGather, LinesQueueAtL1sTags) {
  std::vector<std::uint64_t> lines;
  for (std::uint64_t lane = 0; lane < 32; ++lane) lines.push_back(128 * lane);
  const auto got = readings(gather_model(), lines, {gather(0, 32, 2), gather(0, 2)}, LoadPath::global_ca);
  EXPECT_EQ(got[1], 40 + 31 * 2U);
  EXPECT_EQ(got[2], 40 + 1 * 2U);
}

TEST(SimGather, LinesQueueAtTheirSlice) {
  std::vector<std::uint64_t> lines;
  for (std::uint64_t lane = 0; lane < 8; ++lane) lines.push_back(128 * lane);
  EXPECT_EQ(readings(gather_model(), lines, {gather(0, 8, 2)})[1], 210 + 7 * 4U);
  // Two slices serve half each; the second one's lines come a cycle later, by the crossbar.
  auto model = gather_model();
  model.caches[1].slices = 2;
  model.caches[1].slice_function = AddressFunction::modulo(128, 2);
  EXPECT_EQ(readings(model, lines, {gather(0, 8, 2)})[1], 210 + 3 * 4 + 1U);
}

TEST(SimGather, ColumnsOfARowFollowEachOther) {
  // Four sectors of each of two lines of an open row: eight columns of 5 cycles, the first one in the latency.
  std::vector<std::uint64_t> places;
  for (std::uint64_t i = 0; i < 8; ++i) places.push_back(32 * i);
  EXPECT_EQ(readings(gather_model(), places, {walk(0), drop(0, 8), gather(0, 8)}), (Readings{470 + 7 * 5}));
  EXPECT_EQ(readings(gather_model(), places, {walk(0), drop(0, 8), gather(0, 3)}), (Readings{470 + 2 * 5}));
}

TEST(SimGather, RowsOfABankAreOpenedInTurn) {
  // Rows of one bank are 4 KiB apart. Each takes 40 to open and 5 for its column.
  const auto model = gather_model();
  EXPECT_EQ(readings(model, {0, 4096, 8192}, {gather(0, 3)}), (Readings{510 + 2 * 45}));
  // Of different banks they are opened at once, and meet at the slice (4 cycles each).
  EXPECT_EQ(readings(model, {0, 1024, 2048}, {gather(0, 3)}), (Readings{510 + 2 * 4}));
}

TEST(SimGather, AChannelsPinsCarryOneAfterTheOther) {
  // Four columns take the pins 4 ns and their bank 20: two banks of a channel, the slice lets the second one in 4
  // later.
  auto model = gather_model();
  model.caches[1].lines_per_cycle = 1000;
  model.timing.crossbar_lines_per_cycle = 1000;
  std::vector<std::uint64_t> places;
  for (const std::uint64_t line : {0, 2048, 1024})
    for (std::uint64_t i = 0; i < 4; ++i) places.push_back(line + 32 * i);
  const auto both = readings(model, places, {gather(0, 8)})[0];
  EXPECT_EQ(both, 510 + 15 + 4U);
  std::vector<std::uint64_t> others(places.begin(), places.begin() + 4);
  others.insert(others.end(), places.begin() + 8, places.end());
  EXPECT_EQ(readings(model, others, {gather(0, 8)})[0], 510 + 15U);
}

TEST(SimGather, ServeAndLoadAgreeOnOneColumn) {
  auto model = gather_model();
  model.dram.refresh_fraction = 0.1;
  model.dram.refresh_stall_ns = 77;
  model.dram.refresh_interval_ns = 3907;
  sim::Dram queued(model.dram, 1000, 1);
  sim::Dram single(model.dram, 1000, 1);
  queued.reset(Random(3));
  single.reset(Random(3));
  Random random(1);
  int stalled = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto address = random.below(1 << 24) / 32 * 32;
    const double now = 613.0 * i;
    queued.clear_queues();
    const double cycles = single.load(address, now);
    EXPECT_DOUBLE_EQ(queued.serve(address, 1, 0, now), cycles) << i;
    stalled += cycles > 500 ? 1 : 0;
  }
  EXPECT_GT(stalled, 100);
}

TEST(SimGather, StampsGoOnWithEveryReading) {
  SequenceExperiment e;
  e.places = {0, 4096};
  e.steps = {timed(0), gather(0, 2), timed(0)};
  e.stamps = true;
  const auto target = make(gather_model());
  const auto samples = target->run(std::vector<Experiment>{e}, {});
  ASSERT_TRUE(samples) << samples.error().message;
  const auto& got = std::get<SequenceSamples>(samples->front());
  ASSERT_EQ(got.starts.size(), 3U);
  EXPECT_EQ(got.starts[1] - got.starts[0], got.cycles[0]);
  EXPECT_EQ(got.starts[2] - got.starts[1], got.cycles[1]);
  e.stamps = false;
  const auto without = target->run(std::vector<Experiment>{e}, {});
  EXPECT_TRUE(std::get<SequenceSamples>(without->front()).starts.empty());
}

}  // namespace
}  // namespace gpusonde

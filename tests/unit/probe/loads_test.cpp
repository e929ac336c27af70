// What is inferred from tables of streams and chases, and what is not claimed.
#include <gtest/gtest.h>

#include "core/units.hpp"
#include "probe/bandwidth_probe.hpp"
#include "probe/load_probe.hpp"
#include "probe/probes.hpp"

namespace gpusonde {
namespace {

/// 10 SMs at 1000 MHz; pins that carry 100 GB/s.
struct Fixture {
  Measurements measurements;
  DeviceInfo device;
  RunOptions options;

  Fixture() {
    device.sm_count = 10;
    device.nominal.memory_clock_mhz = 1000;
    device.nominal.bus_width_bits = 400;
    device.nominal.l2_bytes = 4 * k_mib;
    auto& clock = measurements.table("clock");
    for (int i = 0; i < 2; ++i) {
      clock.make<std::uint64_t>("cycles").push_back(20'000'000);
      clock.make<std::uint64_t>("wall_ns").push_back(20'000'000);
    }
  }
  [[nodiscard]] AnalysisInput input() const { return {measurements, device, options}; }
};

Finding find(const Analysis& analysis, const std::string& id) {
  for (const auto& finding : analysis.findings)
    if (finding.id == id) return finding;
  ADD_FAILURE() << id << " is not among the findings";
  return {};
}

std::string note_of(const Finding& finding) {
  for (const auto& [name, value] : finding.samples)
    if (name == "note") return std::get<std::string>(value);
  return {};
}

class Streams : public testing::Test, protected Fixture {
 protected:
  /// One choosing and five counting repetitions of a level, 10 ms each at that rate in GB/s.
  void add(const std::string& level, const std::string& transfer, double gb_per_s, std::uint64_t threads = 1024,
           double clock_part = 1) {
    for (std::uint64_t repetition = 0; repetition < 6; ++repetition)
      store(measurements.table("bandwidth.stream"),
            {level, transfer, threads, repetition, 32 * k_mib, static_cast<std::uint64_t>(gb_per_s * 1e7),
             1e7 * clock_part, 10'000'000, 10});
  }
  void add_state(const std::string& reasons, const std::string& ecc) {
    auto& table = measurements.table("bandwidth.state");
    table.make<std::string>("throttle_reasons").push_back(reasons);
    table.make<std::string>("ecc").push_back(ecc);
  }
  [[nodiscard]] Finding found(const std::string& id) const { return find(analyze_bandwidth(input()), id); }
};

TEST_F(Streams, GiveBytesASecond) {
  add("dram", "read", 92);
  const auto finding = found("bandwidth.dram.read");
  ASSERT_TRUE(finding.value) << finding.reason;
  EXPECT_NEAR(std::get<double>(*finding.value), 92e9, 1e6);
  EXPECT_NEAR(finding.interval->low, 92e9 * 0.9999, 1e7);  // a tick of the timer in 10 ms
  EXPECT_EQ(note_of(finding), "");
  EXPECT_EQ(found("bandwidth.l2.read").outcome, Outcome::skipped);
}

TEST_F(Streams, ThreadsAreChosenByTheFirstRepetition) {
  add("l2", "read", 300, 1024);
  add("l2", "read", 310, 2048);
  const auto finding = found("bandwidth.l2.read");
  ASSERT_TRUE(finding.value) << finding.reason;
  EXPECT_NEAR(std::get<double>(*finding.value), 310e9, 1e6);
}

TEST_F(Streams, MoreThanPinsCarryFails) {
  add("dram", "read", 104);
  const auto finding = found("bandwidth.dram.read");
  EXPECT_EQ(finding.outcome, Outcome::failed);
  EXPECT_EQ(finding.reason, "104.0 GB/s is more than the 100.0 GB/s that memory's pins carry");
  add("dram", "write", 100.005);  // within the timer's tick of what they carry
  const auto at_most = found("bandwidth.dram.write");
  ASSERT_TRUE(at_most.value) << at_most.reason;
  EXPECT_EQ(std::get<double>(*at_most.value), 100e9);
  EXPECT_EQ(at_most.interval->high, 100e9);
}

TEST_F(Streams, MoreThanAnSmsWidthFails) {
  add("shared", "read", 1280);  // 128 bytes a cycle of each of 10 SMs at 1 GHz
  add("shared", "write", 1320);
  EXPECT_EQ(found("bandwidth.shared.read").outcome, Outcome::ok);
  const auto finding = found("bandwidth.shared.write");
  EXPECT_EQ(finding.outcome, Outcome::failed);
  EXPECT_EQ(finding.reason, "132.0 bytes a cycle of each SM are more than the 128 that its shared memory has");
}

TEST_F(Streams, L1MustBringMoreThanWhatLiesBehindIt) {
  add("l1", "read", 640);
  store(measurements.table("bandwidth.stream"),
        {"past_l1", "read", 1024, 0, 32 * k_kib, 6'300'000'000, 1e7, 10'000'000, 10});
  const auto finding = found("bandwidth.l1.read");
  EXPECT_EQ(finding.outcome, Outcome::inconclusive);
  EXPECT_EQ(finding.reason, "640.0 GB/s, and past L1 630.0 GB/s: what was read did not stay in L1, or L1 is no faster");
}

TEST_F(Streams, ClocksThatWereHeldDownAreSaid) {
  add("dram", "read", 90, 1024, 0.95);
  add_state("power cap", "on");
  const auto finding = found("bandwidth.dram.read");
  ASSERT_TRUE(finding.value) << finding.reason;
  EXPECT_EQ(note_of(finding), "SM clock 950 MHz, 1000 at the beginning; clocks held down by: power cap; ECC on");
  add("l2", "read", 300, 1024, 0.5);
  EXPECT_EQ(found("bandwidth.l2.read").reason,
            "the SMs ran 500 of 1000 MHz over the time it took: they did not all run at once, or were held down");
}

class Chases : public testing::Test, protected Fixture {
 protected:
  void add_chains(const std::string& level, std::uint64_t chains, double round_cycles) {
    for (std::uint64_t repetition = 0; repetition < 5; ++repetition)
      store(measurements.table("load.chains"),
            {level, chains, 1, 1, repetition, 128 * k_mib, 1024, round_cycles, 1024 * round_cycles,
             static_cast<std::uint64_t>(1024 * round_cycles), 1024 * chains, 8 * 1024 * chains});
  }
  /// Whole lines of 10 SMs (one, for a single load), at a latency; `part` of them really under way.
  void add_point(std::uint64_t warps, double latency, double part = 1, std::uint64_t sms = 10) {
    constexpr std::uint64_t rounds = 4096;
    for (std::uint64_t repetition = 0; repetition < 5; ++repetition) {
      const double elapsed = rounds * latency;
      store(measurements.table("load.curve"),
            {"dram", 1, warps, sms, repetition, 128 * k_mib, rounds, latency, elapsed,
             static_cast<std::uint64_t>(elapsed / part), rounds * warps * sms, 128 * rounds * warps * sms});
    }
  }
  [[nodiscard]] Finding found(const std::string& id) const { return find(analyze_load(input()), id); }
};

TEST_F(Chases, TheLeastTimeALoadIsTheCompletionInterval) {
  add_chains("l2", 1, 200);
  add_chains("l2", 2, 200);
  add_chains("l2", 4, 240);
  add_chains("l2", 8, 480);
  const auto finding = found("load.l2.completion_interval");
  ASSERT_TRUE(finding.value) << finding.reason;
  EXPECT_DOUBLE_EQ(std::get<double>(*finding.value), 60);
  EXPECT_EQ(std::get<std::string>(finding.samples.back().second), "no");  // eight bring no more than four
  EXPECT_EQ(std::get<double>(finding.samples.front().second), 200);       // the true latency beside it
}

TEST_F(Chases, L1ThatIsAsFarAsL2IsNone) {
  add_chains("l1", 1, 195);
  add_chains("l2", 1, 200);
  EXPECT_EQ(found("load.l1.completion_interval").reason,
            "a load takes 195.0 cycles and one past L1 200.0: what was loaded did not stay in L1");
}

TEST_F(Chases, TheCurveHasAKnee) {
  add_point(1, 400, 1, 1);
  add_point(1, 400);
  add_point(2, 500);
  add_point(4, 900, 0.85);  // the last ones end alone
  const auto idle = found("load.dram.idle_latency");
  ASSERT_TRUE(idle.value) << idle.reason;
  EXPECT_EQ(std::get<double>(*idle.value), 400);
  EXPECT_NEAR(idle.interval->high, 400 * (1 + 4.0 / 128 + 0.002), 0.1);  // what L2 may still hold of the ring
  // 600 cycles lie a quarter of the way from 500 to 900: of 5.12 and 5.69 bytes a cycle 5.26.
  const double rate = 20 * 128 / 500.0 + 0.25 * (40 * 128 / 900.0 - 20 * 128 / 500.0);
  EXPECT_NEAR(std::get<double>(*found("load.dram.knee").value), rate * 1e9, 2e6);
  EXPECT_NEAR(std::get<double>(*found("load.dram.concurrency").value), rate * 600, 2);
  EXPECT_NEAR(std::get<double>(*found("load.dram.peak").value), 40 * 128 / 0.9e-6, 2e6);
  EXPECT_EQ(found("load.l2.peak").outcome, Outcome::skipped);
}

TEST_F(Chases, WithoutAKneeOrAgainstLittlesLawNothingIsClaimed) {
  add_point(1, 400, 1, 1);
  add_point(4, 500);
  EXPECT_EQ(found("load.dram.knee").reason,
            "latency reaches 1.25 times the idle one with all that was put under way, not 1.5");
  EXPECT_EQ(found("load.dram.peak").outcome, Outcome::ok);
  add_point(8, 700, 0.75);
  for (const auto* id : {"load.dram.knee", "load.dram.concurrency", "load.dram.peak"})
    EXPECT_EQ(
        found(id).reason,
        "with 10 KiB under way, what was moved over the whole time is 75 % of what their latency says: not all of "
        "them loaded all the time, or a clock changed")
        << id;
  EXPECT_EQ(found("load.dram.idle_latency").outcome, Outcome::ok);
}

class Crossbar : public testing::Test, protected Fixture {
 protected:
  void add(std::uint64_t sms, std::uint64_t threads, double rate) {
    auto& table = measurements.table("crossbar.throughput");
    for (std::uint64_t repetition = 0; repetition < 5; ++repetition) {
      table.make<std::uint64_t>("sms").push_back(sms);
      table.make<std::uint64_t>("threads_per_sm").push_back(threads);
      table.make<double>("lines_per_cycle").push_back(rate);
    }
  }
  [[nodiscard]] Finding found(const std::string& id) const { return find(crossbar_probe().analyze(input()), id); }
};

TEST_F(Crossbar, IsOneSmsWhereMoreLoadsAndMoreSmsLeaveItSo) {
  add(1, 512, 1.99);
  add(1, 1024, 2);
  add(2, 512, 3.98);
  add(2, 1024, 4);
  add(10, 512, 12);
  add(10, 1024, 12.1);
  EXPECT_DOUBLE_EQ(std::get<double>(*found("crossbar.lines_per_cycle").value), 2);
  EXPECT_DOUBLE_EQ(std::get<double>(*found("crossbar.all_lines_per_cycle").value), 12.1);
}

TEST_F(Crossbar, LatencyOrSlicesThatLimitAreNotIt) {
  add(1, 512, 1.5);
  add(1, 1024, 2);
  EXPECT_EQ(found("crossbar.lines_per_cycle").reason,
            "1024 threads an SM get 33.3 % more than 512: not what limits, but how many loads are under way");
  measurements = {};
  add(1, 512, 2);
  add(1, 1024, 2);
  add(2, 512, 2.5);
  add(2, 1024, 2.5);
  EXPECT_EQ(found("crossbar.lines_per_cycle").reason,
            "two SMs together get 1.25 times what one does: what limits is shared");
}

}  // namespace
}  // namespace gpusonde

#include "fake_line_kernels.hpp"

#include <algorithm>
#include <cstring>

#include "fake_driver.hpp"

namespace gpusonde::cuda::test {
namespace {

constexpr unsigned k_sm_count = 132;

/// Device memory by address, aliases too; what is not mapped reads 0 and is written nowhere.
template <class T>
T read(FakeDriver& fake, std::uint64_t address) {
  T value{};
  if (const void* host = fake.virtual_memory.host(address)) std::memcpy(&value, host, sizeof value);
  return value;
}
template <class T>
void write(FakeDriver& fake, std::uint64_t address, T value) {
  if (void* host = fake.virtual_memory.host(address)) std::memcpy(host, &value, sizeof value);
}
template <class T>
T exchange_add(FakeDriver& fake, std::uint64_t address, T added) {
  const auto before = read<T>(fake, address);
  write<T>(fake, address, static_cast<T>(before + added));
  return before;
}

/// False if another block of the SM came first.
bool take_sm(FakeDriver& fake, std::uint64_t taken, unsigned sm) {
  return exchange_add<std::uint32_t>(fake, taken + 4ULL * sm, 1) == 0;
}

void store(FakeDriver& fake, const SequenceParameters& p, unsigned reading, std::uint32_t cycles) {
  exchange_add<std::uint32_t>(fake, p.readings + 4ULL * reading, cycles);
  if (p.starts != 0) exchange_add<std::uint32_t>(fake, p.starts + 4ULL * reading, fake_start(reading));
}

void run_test(FakeDriver& fake, const SequenceParameters& p, unsigned test) {
  const auto words = read<SequenceTestWords>(fake, p.tests + sizeof(SequenceTestWords) * test);
  auto reading = words.first_reading;
  for (auto i = words.first_step; i < words.end_step; ++i) {
    const auto step = read<SequenceStepWords>(fake, p.steps + sizeof(SequenceStepWords) * i);
    for (unsigned turn = 0; turn < step.times; ++turn) {
      SequenceAction action{step.kind, {}};
      for (unsigned k = 0; k < step.count; ++k) {
        const auto place = read<std::uint64_t>(fake, p.places + 8ULL * (step.first + k));
        action.places.push_back(place);
        (void)read<std::uint64_t>(fake, p.base + place);  // must be mapped
        if (step.kind == 2) store(fake, p, reading++, fake_reading(place));
      }
      if (step.kind == 4) store(fake, p, reading++, fake_gather(action.places, p.lane_bytes));
      fake.sequence_actions.push_back(std::move(action));
    }
  }
}

}  // namespace

void run_sequence_kernel(FakeDriver& fake, const SequenceParameters& p, unsigned blocks) {
  fake.sequences.push_back({p, fake.limits[k_l2_fetch_limit], 0});
  if (p.sm != k_any_sm && fake.launches_until_sm > 1) {
    --fake.launches_until_sm;
    return;
  }
  for (unsigned block = 0; block < blocks; ++block) {
    if (!take_sm(fake, p.taken, p.sm == k_any_sm ? block % k_sm_count : p.sm)) continue;
    for (;;) {
      const auto test = p.first_test + exchange_add<std::uint32_t>(fake, p.claimed, 1);
      if (test >= p.end_test) break;
      run_test(fake, p, test);
      ++fake.sequences.back().tests;
    }
  }
}

void run_link_self(FakeDriver& fake, const LinkSelfParameters& p) {
  for (std::uint64_t i = 0; i < p.count; ++i) {
    const auto node = p.base + read<std::uint64_t>(fake, p.places + 8 * i);
    write<std::uint64_t>(fake, node, node);
  }
}

void run_line_map_kernel(FakeDriver& fake, const std::string& name, const LineMapParameters& p, unsigned blocks) {
  fake.line_maps.push_back(p);
  const bool atomic = name == "line_map_atomic";
  // Later SMs first: which block comes when is the device's to choose.
  for (unsigned sm = std::min({blocks, fake.sms_that_come, k_sm_count}); sm-- > 0;) {
    const auto turn = read<std::uint32_t>(fake, p.turns + 4ULL * sm);
    if (turn == k_any_sm || !take_sm(fake, p.taken, sm)) continue;
    for (auto i = p.first_place; i < p.end_place; ++i) {
      const auto place = read<std::uint64_t>(fake, p.places + 8ULL * i);
      // A place that was not linked leads elsewhere, at no time.
      const bool linked = read<std::uint64_t>(fake, p.base + place) == p.base + place;
      write<std::uint16_t>(fake, p.output + 2 * (std::uint64_t{turn} * p.place_count + i),
                           linked ? fake_eighths(sm, place, atomic) : std::uint16_t{0});
    }
    exchange_add<std::uint32_t>(fake, p.done, 1);
  }
}

namespace {

void leave_times(FakeDriver& fake, std::uint64_t at, std::uint64_t workers, std::uint64_t cycles, unsigned blocks) {
  auto result = read<LoadsResult>(fake, at);
  const auto arrived = std::min(blocks, fake.blocks_that_arrive);
  result.sum_cycles += workers * cycles + 10;
  result.most_cycles = std::max<unsigned long long>(result.most_cycles, cycles + 10);
  result.first_ns = std::min(result.first_ns, 7000ULL);
  result.last_ns = std::max(result.last_ns, 12000ULL);
  result.arrived += arrived;
  result.gave_up += arrived < blocks ? arrived : 0;
  write(fake, at, result);
}

}  // namespace

void run_loaded_kernel(FakeDriver& fake, const std::string& name, const LoadedChaseParameters& p, unsigned blocks,
                       unsigned threads) {
  fake.loaded_chases.push_back(p);
  if (name.starts_with("loaded_"))
    leave_times(fake, p.result, std::uint64_t{blocks} * threads / 32, 100ULL * p.rounds, blocks);
}

void run_stream_kernel(FakeDriver& fake, const StreamParameters& p, unsigned blocks) {
  fake.streams.push_back(p);
  leave_times(fake, p.result, blocks, 100ULL * p.turns, blocks);
}

void run_throughput_kernel(FakeDriver& fake, const ThroughputParameters& p, unsigned blocks) {
  const auto launch = fake.throughputs.size();
  fake.throughputs.push_back(p);
  // More blocks than are waited for would go on too early.
  fake.arrived_before.push_back(exchange_add<std::uint32_t>(fake, p.arrived, blocks));
  for (unsigned i = 0; i < p.place_count; ++i)
    (void)read<std::uint64_t>(fake, p.base + read<std::uint64_t>(fake, p.places + 8ULL * i));
  write(fake, p.cycles, std::max(read<std::uint64_t>(fake, p.cycles), fake_throughput_cycles(launch)));
}

}  // namespace gpusonde::cuda::test

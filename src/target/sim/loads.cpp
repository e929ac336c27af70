#include "target/sim/loads.hpp"

#include <algorithm>
#include <cmath>

#include "core/units.hpp"
#include "target/sim/interruption.hpp"
#include "target/sim/load_queues.hpp"
#include "target/sim/sim_clock.hpp"
#include "target/sim/storage_split.hpp"

namespace gpusonde::sim {
namespace {

constexpr std::uint32_t k_any_sm = 0;
constexpr std::uint64_t k_chase_loads = 20'000;  // of all chains, to be followed
constexpr std::uint64_t k_least_rounds = 4;
constexpr std::uint64_t k_stream_lines = 50'000;
constexpr std::uint64_t k_lines_under_way = 16'384;  // of all SMs: enough for every queue to be full
constexpr std::uint64_t k_piece_bytes = 512;         // 16 bytes a lane
constexpr std::uint64_t k_line_bytes = 128;
constexpr std::uint32_t k_sector_bytes = 32;
constexpr std::uint64_t k_loads_between_cancel_checks = 1 << 14;

/// 1, but for the model's noise.
double noise_factor(const DeviceModel& model, Random& random) {
  if (model.noise.run_fraction <= 0) return 1;
  return std::max(0.1, 1 + model.noise.run_fraction * random.normal());
}

/// What the global timer shows of a time that begins anywhere between its ticks.
std::uint64_t shown_ns(double cycles, double sm_mhz, Random& random) {
  const double start_ns = random.uniform() * k_timer_tick_ns;
  return timer_ns(start_ns + cycles_to_ns(cycles, sm_mhz)) - timer_ns(start_ns);
}

std::uint32_t sms_of(std::uint32_t asked, const DeviceModel& model) { return asked == 0 ? model.sm_count : asked; }

/// More than half of an SM's shared memory, so that it holds one block.
std::uint64_t shared_part(const DeviceModel& model) {
  if (!model.unified) return 0;
  return shared_part_bytes(*model.unified, StorageSplit{}, model.shared_per_sm_bytes / 2 + 1024);
}

/// Warps whose chains follow the ring: a chain's next load is sent when its last one has come back and the load before
/// it, in the warp's order, is sent.
class ChaseRun {
 public:
  ChaseRun(const DeviceModel& model, const LoadedChaseExperiment& e, LoadQueues& queues)
      : m_e(e),
        m_order(e.ring.order),
        m_queues(queues),
        m_chains(std::uint64_t{e.chains} * e.warps * sms_of(e.sms, model)),
        m_rounds(std::min<std::uint64_t>(e.rounds, std::max(k_least_rounds, k_chase_loads / m_chains))),
        m_first_rounds(m_chains == 1 || m_rounds == 1 ? 0 : std::max<std::uint64_t>(1, m_rounds / 4)),
        m_warps(m_chains / e.chains),
        m_back(m_chains, true) {
    m_queues.resize(m_chains);
  }

  /// False when cancelled.
  bool run(const CancelToken* cancel) {
    for (std::uint32_t warp = 0; warp < m_warps.size(); ++warp) send(warp, 0);
    for (std::uint64_t left = m_chains * m_rounds; left > 0; --left) {
      if (left % k_loads_between_cancel_checks == 0 && cancelled(cancel)) return false;
      const auto done = m_queues.next();
      Warp& warp = m_warps[done.id / m_e.chains];
      m_back[done.id] = true;
      ++warp.back;
      if (warp.back == m_first_rounds * m_e.chains) warp.begin = done.time;
      warp.end = done.time;
      send(done.id / m_e.chains, done.time);
    }
    return true;
  }

  /// Mean over warps, and that of the slowest over all rounds: what it was slower by in those that were followed
  /// comes of chance, and so less over more of them.
  [[nodiscard]] double round_cycles() const {
    double sum = 0;
    for (const auto& warp : m_warps) sum += round_cycles(warp);
    return sum / static_cast<double>(m_warps.size());
  }
  [[nodiscard]] double slowest_round_cycles() const {
    double most = 0;
    for (const auto& warp : m_warps) most = std::max(most, round_cycles(warp));
    const double mean = round_cycles();
    return mean + (most - mean) * std::sqrt(static_cast<double>(m_rounds - m_first_rounds) / m_e.rounds);
  }

 private:
  struct Warp {
    std::uint64_t sent = 0;
    std::uint64_t back = 0;
    double begin = 0;  ///< of the rounds that count
    double end = 0;
  };

  [[nodiscard]] double round_cycles(const Warp& warp) const {
    return (warp.end - warp.begin) / static_cast<double>(m_rounds - m_first_rounds);
  }

  void send(std::uint32_t number, double time) {
    Warp& warp = m_warps[number];
    while (warp.sent < m_rounds * m_e.chains) {
      const auto chain = number * m_e.chains + static_cast<std::uint32_t>(warp.sent % m_e.chains);
      if (!m_back[chain]) return;
      m_back[chain] = false;
      const std::uint64_t start = chain * m_order.p.node_count / m_chains;
      const std::uint64_t position = (start + warp.sent / m_e.chains) % m_order.p.node_count;
      m_queues.issue(chain,
                     {m_e.ring.first_byte + m_order.offset(position), number / m_e.warps,
                      m_e.whole_lines ? static_cast<std::uint32_t>(k_line_bytes) : k_sector_bytes},
                     time);
      ++warp.sent;
    }
  }

  const LoadedChaseExperiment& m_e;
  RingOrder m_order;
  LoadQueues& m_queues;
  std::uint64_t m_chains;
  std::uint64_t m_rounds;
  std::uint64_t m_first_rounds;  ///< that do not count: all begin at once
  std::vector<Warp> m_warps;
  std::vector<bool> m_back;
};

/// Warps that stream over the bytes in order: each piece of 512 bytes goes to whoever is free. A copy writes each
/// piece to the second half when it has been read.
class StreamRun {
 public:
  StreamRun(const DeviceModel& model, const BandwidthExperiment& e, LoadQueues& queues)
      : m_e(e), m_queues(queues), m_sms(sms_of(e.sms, model)) {
    const std::uint64_t most = std::uint64_t{e.threads_per_sm} * (e.threads_per_sm > 1024 ? 4 : 8) / 8;
    const auto lines = std::clamp(k_lines_under_way / m_sms, std::uint64_t{128}, most);
    m_pieces_per_sm = static_cast<std::uint32_t>(lines / k_lines_a_piece);
    m_cursors.assign(e.per_sm ? m_sms : 1, 0);
    m_pieces.resize(std::size_t{m_sms} * m_pieces_per_sm);
    m_queues.resize(m_pieces.size() * k_lines_a_piece);
  }

  /// Lines a cycle when all are busy; nothing when cancelled.
  std::optional<double> lines_per_cycle(const CancelToken* cancel) {
    const auto lines = std::max<std::uint64_t>(k_stream_lines, 5 * m_pieces.size() * k_lines_a_piece);
    const auto before = lines / 4;  // not all queues are full yet
    for (std::uint32_t piece = 0; piece < m_pieces.size(); ++piece) send(piece, 0);
    double first = 0;
    double last = 0;
    for (std::uint64_t done = 1; done <= lines; ++done) {
      if (done % k_loads_between_cancel_checks == 0 && cancelled(cancel)) return {};
      const auto back = m_queues.next();
      if (done == before) first = back.time;
      last = back.time;
      const auto piece = back.id / k_lines_a_piece;
      if (--m_pieces[piece].under_way == 0) send(piece, back.time);
    }
    return static_cast<double>(lines - before) / (last - first);
  }

 private:
  static constexpr std::uint32_t k_lines_a_piece = k_piece_bytes / k_line_bytes;
  struct Piece {
    std::uint64_t place = 0;
    std::uint32_t under_way = 0;
    bool to_write = false;  ///< of a copy: what was read is written next
  };

  void send(std::uint32_t number, double time) {
    Piece& piece = m_pieces[number];
    const auto sm = number % m_sms;
    const bool copies = m_e.transfer == Transfer::copy;
    const std::uint64_t half = copies ? m_e.bytes / 2 : m_e.bytes;
    if (copies && piece.to_write) {
      piece.place += half;
    } else {
      auto& cursor = m_cursors[m_e.per_sm ? sm : 0];
      piece.place = (m_e.per_sm ? sm * m_e.bytes : 0) + cursor;
      cursor = (cursor + k_piece_bytes) % half;
    }
    piece.to_write = copies && !piece.to_write;
    piece.under_way = k_lines_a_piece;
    for (std::uint32_t i = 0; i < k_lines_a_piece; ++i)
      m_queues.issue(number * k_lines_a_piece + i,
                     {piece.place + i * k_line_bytes, sm, static_cast<std::uint32_t>(k_line_bytes)}, time);
  }

  const BandwidthExperiment& m_e;
  LoadQueues& m_queues;
  std::uint32_t m_sms;
  std::uint32_t m_pieces_per_sm = 0;
  std::vector<std::uint64_t> m_cursors;
  std::vector<Piece> m_pieces;
};

/// Of one SM's own store, which serves all its warps one after the other.
double own_cycles(const BandwidthExperiment& e, double bytes_per_cycle, double latency) {
  return static_cast<double>(e.bytes) * e.passes / bytes_per_cycle + latency;
}

}  // namespace

Result<LoadedChaseSamples> run_loaded_chase(Machine& machine, const DeviceModel& model, const LoadedChaseExperiment& e,
                                            const ChaseSettings& settings, Random random, const CancelToken* cancel) {
  const auto shared = shared_part(model);
  machine.begin(e.path, k_any_sm, shared, random.fork(1));
  const std::uint64_t footprint = e.ring.footprint_bytes();
  const auto answer = loads_answer(machine, model, e.path, {footprint, footprint}, shared, settings.sm_mhz);
  Random noise = random.fork(0);
  LoadQueues queues(machine, model, e.path, answer, settings.sm_mhz, random.fork(2).uniform() * k_timer_tick_ns);
  ChaseRun run(model, e, queues);
  if (!run.run(cancel)) return interrupted();
  const double factor = noise_factor(model, noise);
  LoadedChaseSamples samples;
  samples.sm_count = sms_of(e.sms, model);
  samples.round_cycles = run.round_cycles() * factor;
  samples.elapsed_cycles = run.slowest_round_cycles() * factor * e.rounds;
  samples.wall_ns = shown_ns(samples.elapsed_cycles, settings.sm_mhz, noise);
  samples.loads = std::uint64_t{e.chains} * e.warps * samples.sm_count * e.rounds;
  samples.bytes = samples.loads * (e.whole_lines ? k_line_bytes : 8);
  return samples;
}

Result<BandwidthSamples> run_bandwidth(Machine& machine, const DeviceModel& model, const BandwidthExperiment& e,
                                       const ChaseSettings& settings, Random random, const CancelToken* cancel) {
  BandwidthSamples samples;
  samples.sm_count = sms_of(e.sms, model);
  Random noise = random.fork(0);
  const bool own_sets = e.per_sm || e.path == LoadPath::shared;
  samples.bytes = e.bytes * e.passes * (own_sets ? samples.sm_count : 1);
  if (e.path == LoadPath::shared) {
    samples.cycles = own_cycles(e, model.timing.shared_bytes_per_cycle, model.timing.shared_hit_cycles);
  } else {
    const auto shared = shared_part(model);
    // Writes go through to the level behind.
    const auto path = e.transfer == Transfer::read ? e.path : LoadPath::global_cg;
    machine.begin(path, k_any_sm, shared, random.fork(1));
    const std::uint64_t all_bytes = e.bytes * (own_sets ? samples.sm_count : 1);
    const auto answer = loads_answer(machine, model, path, {all_bytes, e.bytes}, shared, settings.sm_mhz);
    const auto& first = model.caches.front();
    if (answer.level == 0U && machine.path().size() == model.caches.size() && first.scope == Scope::sm) {
      samples.cycles = own_cycles(e, first.line_bytes * first.lines_per_cycle, first.hit.cycles(settings.sm_mhz));
    } else {
      LoadQueues queues(machine, model, path, answer, settings.sm_mhz, random.fork(2).uniform() * k_timer_tick_ns);
      const auto rate = StreamRun(model, e, queues).lines_per_cycle(cancel);
      if (!rate) return interrupted();
      samples.cycles = static_cast<double>(samples.bytes) / k_line_bytes / *rate;
    }
  }
  samples.cycles *= noise_factor(model, noise);
  samples.wall_ns = shown_ns(samples.cycles, settings.sm_mhz, noise);
  return samples;
}

}  // namespace gpusonde::sim

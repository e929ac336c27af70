#include "target/sim/load_queues.hpp"

#include <algorithm>

#include "target/sim/storage_split.hpp"

namespace gpusonde::sim {
namespace {

/// Models of the levels on a path, as the machine has them.
std::vector<const CacheModel*> levels_of(const DeviceModel& model, LoadPath path) {
  const bool near = path == LoadPath::global_ca || path == LoadPath::global_nc;
  std::vector<const CacheModel*> levels;
  for (const auto& cache : model.caches)
    if (near || cache.allocates_cg) levels.push_back(&cache);
  return levels;
}

double translation_cycles(const DeviceModel& model, std::uint64_t sm_bytes, double sm_mhz) {
  double cycles = 0;
  for (const auto& tlb : model.tlbs) {
    if (sm_bytes <= tlb.entries * tlb.span_bytes) break;
    cycles = tlb.miss.cycles(sm_mhz);
  }
  return cycles;
}

}  // namespace

LoadsAnswer loads_answer(const Machine& machine, const DeviceModel& model, LoadPath path, const LoadsReach& reach,
                         std::uint64_t shared_bytes, double sm_mhz) {
  LoadsAnswer answer;
  const auto levels = levels_of(model, path);
  bool translated = false;
  for (std::size_t level = 0; level < levels.size() && !answer.level; ++level) {
    const auto& cache = *levels[level];
    std::uint64_t capacity = cache.capacity_bytes();
    if (&cache == &model.caches.front() && model.unified)
      capacity = capacity / cache.sets * sets_left(cache.sets, *model.unified, shared_bytes);
    translated = translated || machine.path()[level]->translated();
    if ((cache.scope == Scope::sm ? reach.sm_bytes : reach.all_bytes) <= capacity) answer.level = level;
  }
  if (translated || !answer.level) answer.translation_cycles = translation_cycles(model, reach.sm_bytes, sm_mhz);
  return answer;
}

LoadQueues::LoadQueues(Machine& machine, const DeviceModel& model, LoadPath path, const LoadsAnswer& answer,
                       double sm_mhz, double origin_ns)
    : m_machine(machine),
      m_origin_ns(origin_ns),
      m_translation_cycles(answer.translation_cycles),
      m_memory_answers(!answer.level),
      m_out_cycles(1 / model.timing.crossbar_lines_per_cycle),
      m_column_bytes(model.dram.column_bytes),
      m_own_ports(model.sm_count),
      m_out_ports(model.sm_count),
      m_back_ports(model.sm_count) {
  if (model.timing.crossbar_bytes_per_cycle > 0) m_back_byte_cycles = 1 / model.timing.crossbar_bytes_per_cycle;
  const auto levels = levels_of(model, path);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const auto& cache = *levels[i];
    if (answer.level == i) m_answer_cycles = cache.hit.cycles(sm_mhz);
    m_fetched_bytes = cache.fetched_bytes();
    if (cache.scope == Scope::sm) {
      m_own_cycles = std::max(m_own_cycles, 1 / cache.lines_per_cycle);
      m_own_answers = m_own_answers || answer.level == i;
    } else if (m_shared == nullptr) {
      m_shared = machine.path()[i];
      m_half_way_cycles = cache.hit.cycles(sm_mhz) / 2;
      m_slice_byte_cycles = 1 / (cache.line_bytes * cache.lines_per_cycle);
      m_sides = cache.partitions;
      m_slices.resize(std::size_t{cache.slices} * cache.partitions);
    }
  }
  machine.dram().clear_queues();
}

void LoadQueues::issue(std::uint32_t id, const LineLoad& load, double time) {
  UnderWay& under_way = m_loads[id];
  under_way.load = load;
  under_way.physical = m_machine.pages().physical(load.place);
  if (m_shared != nullptr && !m_own_answers) {
    under_way.slice = m_shared->slice({k_buffer_address + load.place, under_way.physical});
    under_way.distance_cycles = m_shared->distance_cycles(under_way.slice);
  }
  push(time, id, m_own_cycles > 0 ? Stage::own : Stage::out);
}

LoadQueues::Done LoadQueues::next() {
  for (;;) {
    const Event event = m_events.top();
    m_events.pop();
    switch (event.stage) {
      case Stage::own: serve_own(event); break;
      case Stage::out: serve_out(event); break;
      case Stage::slice: serve_slice(event); break;
      case Stage::memory: serve_memory(event); break;
      case Stage::back: serve_back(event); break;
      case Stage::done: return {event.id, event.time};
    }
  }
}

void LoadQueues::serve_own(const Event& event) {
  const double begin = m_own_ports[m_loads[event.id].load.sm].begin(event.time, m_own_cycles);
  if (m_own_answers)
    push(begin + m_answer_cycles + m_translation_cycles, event.id, Stage::done);
  else
    push(begin, event.id, Stage::out);
}

void LoadQueues::serve_out(const Event& event) {
  const UnderWay& under_way = m_loads[event.id];
  const double begin = m_out_ports[under_way.load.sm].begin(event.time, m_out_cycles);
  push(begin + m_half_way_cycles + under_way.distance_cycles / 2, event.id,
       m_shared == nullptr ? Stage::memory : Stage::slice);
}

void LoadQueues::serve_slice(const Event& event) {
  const UnderWay& under_way = m_loads[event.id];
  const auto slices = m_slices.size() / m_sides;
  const auto side = m_sides == 1 ? 0 : m_machine.side(under_way.load.sm);
  const double begin =
      m_slices[side * slices + under_way.slice].begin(event.time, under_way.load.bytes * m_slice_byte_cycles);
  if (m_memory_answers) return push(begin, event.id, Stage::memory);
  // What is left of the whole way.
  const double rest = m_answer_cycles - m_half_way_cycles + under_way.distance_cycles / 2;
  push(begin + rest + m_translation_cycles, event.id, Stage::back);
}

// DRAM's latency is that of the whole way, so the way to here is taken off again.
void LoadQueues::serve_memory(const Event& event) {
  const UnderWay& under_way = m_loads[event.id];
  const auto columns = [this](std::uint32_t bytes) { return std::max(1U, bytes / m_column_bytes); };
  const auto brought = std::max(under_way.load.bytes, m_fetched_bytes);
  const double back = m_machine.dram().serve(under_way.physical, columns(brought), event.time - m_half_way_cycles,
                                             m_origin_ns, columns(under_way.load.bytes));
  push(back + under_way.distance_cycles / 2 + m_translation_cycles, event.id, Stage::back);
}

void LoadQueues::serve_back(const Event& event) {
  const UnderWay& under_way = m_loads[event.id];
  push(m_back_ports[under_way.load.sm].begin(event.time, under_way.load.bytes * m_back_byte_cycles), event.id,
       Stage::done);
}

}  // namespace gpusonde::sim

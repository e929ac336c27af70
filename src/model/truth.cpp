// What a perfect inference would find on a model, by finding id.
//
// Level names follow the load paths, as a measurement can tell them apart: the level that `.cg` goes past is
// l1, the next is l2, a third cache level is the far part of l2, and the last is dram. `dram.latency` is that of
// a random chase over far more than the last cache and the first-level TLB hold: every hop misses that TLB,
// opens a row, and meets a refresh as often as the model says.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <set>

#include "core/parity_span.hpp"
#include "core/units.hpp"
#include "model/device_model.hpp"
#include "model/enum_names.hpp"

namespace gpusonde {
namespace {

/// The access patterns that the coalescer is asked about: elements between lanes; -1: at random.
struct LanePatternName {
  const char* name;
  std::uint64_t width;
  int stride;
};
constexpr std::array<LanePatternName, 15> k_lane_patterns{{
    {"same address", 4, 0},
    {"stride 1", 4, 1},
    {"stride 2", 4, 2},
    {"stride 4", 4, 4},
    {"stride 8", 4, 8},
    {"stride 16", 4, 16},
    {"stride 32", 4, 32},
    {"stride 64", 4, 64},
    {"random", 4, -1},
    {"stride 1", 8, 1},
    {"stride 2", 8, 2},
    {"stride 16", 8, 16},
    {"stride 1", 16, 1},
    {"stride 2", 16, 2},
    {"stride 16", 16, 16},
}};

class Truths {
 public:
  Truths(const DeviceModel& model, double sm_mhz) : m_model(model), m_sm_mhz(sm_mhz) {}

  std::vector<std::pair<std::string, FindingValue>> all() {
    const auto& timing = m_model.timing;
    add("clock.sm", m_sm_mhz);
    add("timer.overhead", timing.timer_overhead_cycles);
    add("chain.index_overhead", timing.index_overhead_cycles);
    caches();
    add_latency("dram.latency", dram_cycles());
    for (std::size_t i = 0; i < m_model.tlbs.size(); ++i) tlb(fmt::format("tlb.{}", i + 1), m_model.tlbs[i]);
    dram();
    coalescer();
    if (timing.shared_hit_cycles > 0) add_latency("shared.hit_latency", timing.shared_hit_cycles);
    instructions();
    memories();
    loads();
    return std::move(m_truths);
  }

 private:
  void add(std::string id, FindingValue value) { m_truths.emplace_back(std::move(id), std::move(value)); }
  void count(std::string id, std::uint64_t value) { add(std::move(id), static_cast<double>(value)); }

  /// With its twins: of an index chain, and in nanoseconds.
  void add_latency(const std::string& id, double cycles) {
    const double index_cycles = cycles + m_model.timing.index_overhead_cycles;
    add(id, cycles);
    add(id + "_ns", cycles_to_ns(cycles, m_sm_mhz));
    add(id + "_index", index_cycles);
    add(id + "_index_ns", cycles_to_ns(index_cycles, m_sm_mhz));
  }

  void caches() {
    const CacheModel* near = nullptr;
    const CacheModel* far = nullptr;
    for (const auto& cache : m_model.caches) {
      if (!cache.allocates_cg) {
        cache_truths("l1", cache);
        count("l1.capacity", l1_sets_left(cache) * cache.capacity_bytes() / cache.sets);
        l1_set_masks(cache);
      } else if (near == nullptr) {
        near = &cache;
      } else {
        far = &cache;
      }
    }
    if (near == nullptr) return;
    cache_truths("l2", *near);
    count("l2.slices", near->slices);
    count("l2.sets_per_slice", near->sets);
    count("l2.fetch_granularity", near->fetched_bytes());
    partitions(*near);
    count("l2.capacity", (far == nullptr ? near : far)->capacity_bytes());
    if (far == nullptr) return;
    count("l2.near_capacity", near->capacity_bytes());
    add_latency("l2.far_latency", far->hit.cycles(m_sm_mhz));
  }

  void cache_truths(const std::string& name, const CacheModel& cache) {
    add_latency(name + ".hit_latency", cache.hit.cycles(m_sm_mhz));
    count(name + ".line_size", cache.line_bytes);
    count(name + ".sector_size", cache.sector_bytes);
    count(name + ".ways", cache.ways);
    if (name == "l1") count("l1.sets", cache.sets);
    add(name + ".replacement", std::string(to_string(cache.replacement)));
    const bool is_virtual_index = cache.index == AddressSpace::virtual_address;
    const bool is_virtual_tag = cache.tag == AddressSpace::virtual_address;
    add(name + ".addressing", std::string(is_virtual_index ? "VI" : "PI") + (is_virtual_tag ? "VT" : "PT"));
  }

  /// At best: with the shared part that blocks of 1024 threads leave. L1 loses whole sets to it.
  [[nodiscard]] std::uint64_t l1_sets_left(const CacheModel& cache) const {
    if (!m_model.unified) return cache.sets;
    const auto& unified = *m_model.unified;
    const auto needed = std::max(1U, unified.max_threads / 1024) * unified.reserved_per_block_bytes;
    auto shared_bytes = unified.shared_choices_bytes.back();
    for (const auto choice : unified.shared_choices_bytes)
      if (choice >= needed) shared_bytes = std::min(shared_bytes, choice);
    const auto sets = cache.sets * (unified.total_bytes - shared_bytes) / unified.total_bytes;
    return std::max<std::uint64_t>(sets, 1);
  }

  /// Only where the set is made of parities of virtual address bits. A physical index is one as far as it takes bits
  /// within a frame, which translation leaves alone.
  void l1_set_masks(const CacheModel& cache) {
    const auto sets = l1_sets_left(cache);
    auto masks = cache.set_function.address_masks();
    if (!masks || !std::has_single_bit(sets)) return;
    masks->resize(std::min(masks->size(), static_cast<std::size_t>(std::bit_width(sets)) - 1));
    std::uint64_t used_bits = 0;
    for (auto& mask : *masks) used_bits |= mask &= ~(std::uint64_t{cache.line_bytes} - 1);
    if (cache.index == AddressSpace::physical_address && used_bits >= m_model.paging.frame_bytes) return;
    std::vector<std::string> texts;
    for (const auto mask : canonical_masks(*masks)) texts.push_back(hex_mask(mask));
    add("l1.set_masks", std::move(texts));
  }

  void partitions(const CacheModel& cache) {
    count("l2.partitions", cache.partitions);
    if (cache.partitions != 2) return;
    const auto masks = cache.home_function.address_masks();
    if (!masks || masks->empty()) return;
    // Bits above the frame are a constant of each page to those who know virtual addresses only.
    const auto mask = masks->front() & ~(std::uint64_t{cache.line_bytes} - 1) & (m_model.paging.frame_bytes - 1);
    if (mask != 0) add("l2.home_mask", hex_mask(mask));
  }

  [[nodiscard]] double dram_cycles() const {
    const auto& dram = m_model.dram;
    double cycles = dram.latency.cycles(m_sm_mhz);
    if (!m_model.tlbs.empty()) cycles += m_model.tlbs.front().miss.cycles(m_sm_mhz);
    // The rest of a refresh is half of it on average.
    const double wait_ns = dram.refresh_stall_ns / (dram.refresh_waits == RefreshWait::rest ? 2 : 1);
    return cycles + ns_to_cycles(dram.refresh_fraction * wait_ns, m_sm_mhz);
  }

  void tlb(const std::string& name, const TlbModel& tlb) {
    count(name + ".entries", tlb.entries);
    count(name + ".span", tlb.span_bytes);
    count(name + ".reach", tlb.entries * tlb.span_bytes);
    add(name + ".miss_cost", tlb.miss.cycles(m_sm_mhz));
    count(name + ".ways", tlb.ways == 0 ? tlb.entries : tlb.ways);
    add(name + ".replacement", std::string(to_string(tlb.replacement)));
    add(name + ".scope", std::string(name_of(k_scope_names, tlb.scope)));
  }

  void dram() {
    const auto& dram = m_model.dram;
    count("dram.row_size", dram.row_bytes);
    add("dram.row_miss_extra_ns", dram.activate_ns);
    // As fast as a channel's pins carry columns at best.
    const double bytes_per_ns = m_model.memory_bytes_per_second() / 1e9;
    const double channels = std::max(1U, dram.controllers * dram.channels_per_controller);
    add("dram.column_ns", std::max(dram.column_ns, bytes_per_ns > 0 ? dram.column_bytes * channels / bytes_per_ns : 0));
    count("dram.banks", dram.banks);
    add("dram.refresh_fraction", dram.refresh_fraction);
    add("dram.refresh_stall_ns", dram.refresh_stall_ns);
    if (dram.refresh_fraction > 0) {
      add("dram.refresh_interval_ns", dram.refresh_interval_ns);
      add("dram.refresh_waits", std::string(name_of(k_refresh_wait_names, dram.refresh_waits)));
    }
    const double cycles = dram.latency.cycles(m_sm_mhz);
    add_in_both_units("dram.latency_tlb_hit", cycles);
    if (m_model.tlbs.empty()) return;
    add_in_both_units("dram.latency_tlb_miss", cycles + m_model.tlbs.front().miss.cycles(m_sm_mhz));
    add_in_both_units("dram.latency_cold", cycles + m_model.tlbs.back().miss.cycles(m_sm_mhz));
  }

  void add_in_both_units(const std::string& id, double cycles) {
    add(id, cycles);
    add(id + "_ns", cycles_to_ns(cycles, m_sm_mhz));
  }

  /// What a warp's 32 lanes ask for, by the names of the probe's patterns. Lanes of a random pattern have a line each.
  void coalescer() {
    const auto& cache = m_model.caches.front();
    if (!cache.allocates_cg) add("coalescer.line_cycles", 1 / cache.lines_per_cycle);
    std::vector<std::string> sectors, lines;
    for (const auto& [name, width, stride] : k_lane_patterns) {
      const auto of_random = stride < 0;
      std::set<std::uint64_t> line_numbers, sector_numbers;
      for (std::uint64_t lane = 0; lane < 32; ++lane) {
        const std::uint64_t first = lane * (of_random ? 1024 : static_cast<std::uint64_t>(stride) * width);
        line_numbers.insert(first / cache.line_bytes);
        for (std::uint64_t byte = first; byte < first + width; ++byte) sector_numbers.insert(byte / cache.sector_bytes);
      }
      const auto counted = [](std::size_t count, const char* noun) {
        return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
      };
      const auto line_text = counted(line_numbers.size(), "line");
      sectors.push_back(
          fmt::format("{} B, {}: {} in {}", width, name, counted(sector_numbers.size(), "sector"), line_text));
      lines.push_back(fmt::format("{} B, {}: {}", width, name, line_text));
    }
    add("coalescer.sectors", std::move(sectors));
    add("coalescer.lines", std::move(lines));
  }

  void operation(const std::string& name, double latency_cycles, double interval_cycles) {
    add(fmt::format("instr.{}.true_latency", name), latency_cycles);
    add(fmt::format("instr.{}.true_latency_ns", name), cycles_to_ns(latency_cycles, m_sm_mhz));
    add(fmt::format("instr.{}.completion_interval", name), interval_cycles);
  }

  void instructions() {
    const auto& timing = m_model.timing;
    for (const auto& each : m_model.instructions) operation(each.operation, each.latency_cycles, each.interval_cycles);
    if (timing.shared_hit_cycles <= 0) return;
    // 32 lanes of 4 bytes.
    operation("shared_load", timing.shared_hit_cycles, 128 / timing.shared_bytes_per_cycle);
    if (timing.register_read_cycles > 0) add("operand.register_read", timing.register_read_cycles);
  }

  void memories() {
    const auto& timing = m_model.timing;
    for (std::size_t i = 0; i < m_model.constants.size(); ++i) {
      add_latency(fmt::format("constant.{}.hit_latency", i + 1), m_model.constants[i].hit_cycles);
      count(fmt::format("constant.{}.capacity", i + 1), m_model.constants[i].bytes);
    }
    if (!m_model.constants.empty()) add("constant.shares_l1", std::string("no"));
    if (timing.texture_hit_cycles > 0) {
      add_latency("texture.hit_latency", timing.texture_hit_cycles);
      add("texture.shares_l1", std::string("yes"));
    }
    if (!m_model.caches.empty() && !m_model.caches.front().allocates_cg) {
      add_latency("readonly.hit_latency", m_model.caches.front().hit.cycles(m_sm_mhz));
      add("readonly.shares_l1", std::string("yes"));
    }
    if (m_model.unified) add("shared.shares_l1", std::string("yes"));
    if (m_model.cluster.max_blocks == 0) return;
    add_latency("dsmem.latency", m_model.cluster.remote_cycles);
    add_latency("dsmem.self_latency", m_model.cluster.self_cycles);
  }

  /// What follows from the model alone, without queues.
  void loads() {
    const auto& timing = m_model.timing;
    const double cycles_per_second = 1e6 * m_sm_mhz * m_model.sm_count;
    const CacheModel* shared = nullptr;
    for (const auto& cache : m_model.caches) {
      if (cache.allocates_cg && shared == nullptr) shared = &cache;
      if (cache.allocates_cg || cache.scope != Scope::sm) continue;
      add("bandwidth.l1.read", cache.line_bytes * cache.lines_per_cycle * cycles_per_second);
      add("load.l1.completion_interval", std::max(cache.hit.cycles(m_sm_mhz) / 8, 1 / cache.lines_per_cycle));
    }
    for (const auto* transfer : {"read", "write", "copy"})
      if (timing.shared_hit_cycles > 0)
        add(std::string("bandwidth.shared.") + transfer, timing.shared_bytes_per_cycle * cycles_per_second);
    if (shared == nullptr) return;
    // What comes back is a sector a line.
    double lines = timing.crossbar_lines_per_cycle;
    if (timing.crossbar_bytes_per_cycle > 0)
      lines = std::min(lines, timing.crossbar_bytes_per_cycle / shared->sector_bytes);
    add("crossbar.lines_per_cycle", lines);
    // Only where L2's quarter that is loaded does not miss a translation.
    const auto quarter = std::min<std::uint64_t>(shared->capacity_bytes() / 4, 8ULL << 20);
    if (!m_model.tlbs.empty() && m_model.tlbs.front().entries * m_model.tlbs.front().span_bytes < quarter) return;
    const double l2_cycles = shared->hit.cycles(m_sm_mhz);
    add("load.l2.idle_latency", l2_cycles);
    add("load.l2.idle_latency_ns", cycles_to_ns(l2_cycles, m_sm_mhz));
  }

  const DeviceModel& m_model;
  double m_sm_mhz;
  std::vector<std::pair<std::string, FindingValue>> m_truths;
};

}  // namespace

std::vector<std::pair<std::string, FindingValue>> truth_of(const DeviceModel& model, double sm_mhz) {
  return Truths(model, sm_mhz).all();
}

}  // namespace gpusonde

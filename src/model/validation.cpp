#include "model/validation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "core/random.hpp"
#include "core/units.hpp"
#include "model/enum_names.hpp"

namespace gpusonde {
namespace {

/// Notes the first thing that does not hold; later checks do nothing.
class Checker {
 public:
  explicit Checker(const DeviceModel& model) : m_model(model) {}

  std::optional<ModelIssue> run() {
    device();
    timing();
    for (std::size_t i = 0; i < m_model.caches.size(); ++i) cache(i);
    latencies_rise();
    if (m_model.unified) unified(*m_model.unified);
    for (std::size_t i = 0; i < m_model.tlbs.size(); ++i) tlb(i);
    paging();
    dram();
    for (std::size_t i = 0; i < m_model.instructions.size(); ++i) instruction(i);
    for (std::size_t i = 0; i < m_model.constants.size(); ++i) constant(i);
    cluster();
    at("noise", "noise");
    number("run_fraction", m_model.noise.run_fraction, 0, 0.5);
    number("hop_cycles", m_model.noise.hop_cycles, 0, 10000);
    return m_issue;
  }

 private:
  void at(std::string path, std::string name) {
    m_path = std::move(path);
    m_name = std::move(name);
  }
  void check(bool holds, std::string_view key, const std::string& what) {
    if (holds || m_issue) return;
    m_issue = ModelIssue{m_path.empty() ? std::string(key) : fmt::format("{}.{}", m_path, key),
                         m_name.empty() ? fmt::format("{} {}", key, what) : fmt::format("{}.{} {}", m_name, key, what)};
  }
  void number(std::string_view key, double value, double low, double high) {
    check(std::isfinite(value) && value >= low && value <= high, key,
          fmt::format("is {}; give {} to {}", value, low, high));
  }
  void above_zero(std::string_view key, double value, double high) {
    check(std::isfinite(value) && value > 0 && value <= high, key,
          fmt::format("is {}; give more than 0, at most {}", value, high));
  }
  void count(std::string_view key, std::uint64_t value, std::uint64_t high) {
    if (value == 0) return check(false, key, "is 0; give at least 1");
    check(value <= high, key, fmt::format("is {}; give at most {}", value, high));
  }
  void power_of_two(std::string_view key, std::uint64_t value, std::uint64_t low, std::uint64_t high) {
    check(std::has_single_bit(value) && value >= low && value <= high, key,
          fmt::format("is {}; give a power of two from {} to {}", format_bytes(value), format_bytes(low),
                      format_bytes(high)));
  }
  void latency(std::string_view key, const DomainLatency& latency) {
    check(std::isfinite(latency.sm_cycles) && latency.sm_cycles >= 0, key,
          fmt::format("has sm_cycles {}; give 0 or more", latency.sm_cycles));
    check(std::isfinite(latency.fixed_ns) && latency.fixed_ns >= 0, key,
          fmt::format("has fixed_ns {}; give 0 or more", latency.fixed_ns));
    check(cycles(latency) < 1e6, key, fmt::format("is {} cycles; give less than a million", cycles(latency)));
  }
  [[nodiscard]] double cycles(const DomainLatency& latency) const { return latency.cycles(m_model.timing.sm_mhz); }

  void device() {
    at("", "");
    check(!m_model.name.empty(), "name", "is empty; give the card's name");
    count("sm_count", m_model.sm_count, 1024);
    count("sms_per_tpc", m_model.sms_per_tpc, 64);
    count("sms_per_cpc", m_model.sms_per_cpc, 1024);
    count("sms_per_gpc", m_model.sms_per_gpc, 1024);
    check(m_model.sms_per_tpc == 0 || m_model.sms_per_cpc % m_model.sms_per_tpc == 0, "sms_per_cpc",
          fmt::format("is {}; give a multiple of the {} SMs of a TPC", m_model.sms_per_cpc, m_model.sms_per_tpc));
    check(m_model.sms_per_tpc == 0 || m_model.sms_per_gpc % m_model.sms_per_tpc == 0, "sms_per_gpc",
          fmt::format("is {}; give a multiple of the {} SMs of a TPC", m_model.sms_per_gpc, m_model.sms_per_tpc));
    count("memory_bytes", m_model.memory_bytes, 1ULL << 44);
    check(!m_model.caches.empty(), "cache", "is missing; describe at least one cache level as [[cache]]");
    check(m_model.caches.size() <= 4, "cache", fmt::format("has {} levels; give at most 4", m_model.caches.size()));
    check(m_model.tlbs.size() <= 4, "tlb", fmt::format("has {} levels; give at most 4", m_model.tlbs.size()));
  }

  void timing() {
    at("timing", "timing");
    const auto& timing = m_model.timing;
    above_zero("sm_mhz", timing.sm_mhz, 10000);
    above_zero("memory_mhz", timing.memory_mhz, 100000);
    number("index_overhead_cycles", timing.index_overhead_cycles, 0, 1000);
    number("timer_overhead_cycles", timing.timer_overhead_cycles, 0, 1000);
    number("per_hop_overhead_cycles", timing.per_hop_overhead_cycles, 0, 1000);
    number("loop_overhead_cycles", timing.loop_overhead_cycles, 0, 1000);
    number("shared_hit_cycles", timing.shared_hit_cycles, 0, 1000);
    above_zero("crossbar_lines_per_cycle", timing.crossbar_lines_per_cycle, 1024);
    number("crossbar_bytes_per_cycle", timing.crossbar_bytes_per_cycle, 0, 65536);
    above_zero("shared_bytes_per_cycle", timing.shared_bytes_per_cycle, 65536);
  }

  void cache(std::size_t level) {
    const auto& cache = m_model.caches[level];
    const auto due = fmt::format("l{}", level + 1);
    at(fmt::format("cache[{}]", level), due);
    check(cache.name == due, "name",
          fmt::format("is '{}'; name the cache levels l1, l2, l3, nearest first", cache.name));
    power_of_two("line_bytes", cache.line_bytes, 32, 4096);
    power_of_two("sector_bytes", cache.sector_bytes, 16, 4096);
    check(cache.sector_bytes <= cache.line_bytes && cache.line_bytes / cache.sector_bytes <= 32, "sector_bytes",
          fmt::format("is {}; a line of {} holds 1 to 32 sectors", cache.sector_bytes, cache.line_bytes));
    if (cache.fetch_bytes != 0) power_of_two("fetch_bytes", cache.fetch_bytes, cache.sector_bytes, cache.line_bytes);
    count("ways", cache.ways, 256);
    count("sets", cache.sets, 1ULL << 20);
    count("slices", cache.slices, 1024);
    check(cache.replacement != Replacement::tree_plru || std::has_single_bit(cache.ways), "ways",
          fmt::format("is {}; tree-plru needs a power of two", cache.ways));
    check(cache.tag == AddressSpace::physical_address || cache.index == AddressSpace::virtual_address, "tag",
          "is virtual where the index is physical; make the index virtual too");
    check(cache.capacity_bytes() <= m_model.memory_bytes, "sets",
          fmt::format("makes a cache of {}, larger than the memory; give fewer", format_bytes(cache.capacity_bytes())));
    latency("hit", cache.hit);
    check(cycles(cache.hit) > 0, "hit", "is 0 cycles; give more");
    number("slice_spread_cycles", cache.slice_spread_cycles, 0, cycles(cache.hit));
    reaches("slice_function", cache.slice_function, cache.slices, cache.line_bytes);
    reaches("set_function", cache.set_function, cache.sets, cache.line_bytes);
    partitions(cache);
    number("atomic_cycles", cache.atomic_cycles, 0, 10000);
    above_zero("lines_per_cycle", cache.lines_per_cycle, 1024);
  }

  void partitions(const CacheModel& cache) {
    check(cache.partitions == 1 || cache.partitions == 2, "partitions",
          fmt::format("is {}; give 1 or 2", cache.partitions));
    check(cache.partitions == 1 || cache.scope == Scope::gpu, "partitions",
          "is 2 where the scope is not gpu; give it the scope gpu");
    reaches("home_function", cache.home_function, cache.partitions, cache.line_bytes);
    number("far_cycles", cache.far_cycles, 0, 10000);
  }

  /// A function that leaves sets or slices out makes a smaller cache than the figures say. Checked on
  /// random lines, eight for each value, which reach all but a few.
  void reaches(std::string_view key, const AddressFunction& function, std::uint32_t count, std::uint32_t line_bytes) {
    constexpr std::uint32_t most_checked = 1U << 14;
    if (m_issue || count == 1 || count > most_checked) return;
    std::vector<bool> is_reached(count, false);
    std::uint32_t reached = 0;
    Random random(count);
    const auto lines = m_model.memory_bytes / line_bytes;
    for (std::uint32_t i = 0; i < 8 * count + 64; ++i) {
      const auto value = function(random.below(lines) * line_bytes) % count;
      if (!is_reached[value]) ++reached;
      is_reached[value] = true;
    }
    check(reached >= count - count / 4, key,
          fmt::format("reaches only {} of {} values; make it reach all of them", reached, count));
  }

  void latencies_rise() {
    for (std::size_t i = 1; i < m_model.caches.size(); ++i) {
      at(fmt::format("cache[{}]", i), m_model.caches[i].name);
      rises("hit", m_model.caches[i].hit, m_model.caches[i - 1]);
    }
    at("dram", "dram");
    if (!m_model.caches.empty()) rises("latency", m_model.dram.latency, m_model.caches.back());
  }
  void rises(std::string_view key, const DomainLatency& latency, const CacheModel& nearer) {
    check(cycles(latency) > cycles(nearer.hit), key,
          fmt::format("is {:.1f} cycles at {} MHz; give more than the {:.1f} of {}", cycles(latency),
                      m_model.timing.sm_mhz, cycles(nearer.hit), nearer.name));
  }

  void unified(const UnifiedStorageModel& unified) {
    at("unified", "unified");
    count("total_bytes", unified.total_bytes, 1ULL << 24);
    const auto& choices = unified.shared_choices_bytes;
    check(!choices.empty(), "shared_choices_bytes", "is empty; give the sizes the shared part can take");
    for (std::size_t i = 1; i < choices.size(); ++i)
      check(choices[i] > choices[i - 1], "shared_choices_bytes", "does not rise; give the sizes in ascending order");
    if (!choices.empty())
      check(choices.back() < unified.total_bytes, "shared_choices_bytes",
            fmt::format("goes to {}; leave some of the {} to L1", format_bytes(choices.back()),
                        format_bytes(unified.total_bytes)));
    count("max_blocks", unified.max_blocks, 1024);
    count("max_threads", unified.max_threads, 65536);
  }

  void tlb(std::size_t level) {
    const auto& tlb = m_model.tlbs[level];
    at(fmt::format("tlb[{}]", level), fmt::format("tlb {}", level + 1));
    check(!tlb.name.empty(), "name", "is empty; give it one");
    count("entries", tlb.entries, 1ULL << 20);
    check(tlb.ways == 0 || (tlb.entries % tlb.ways == 0), "ways",
          fmt::format("is {}; give a divisor of the {} entries, or 0 for fully associative", tlb.ways, tlb.entries));
    const auto ways = tlb.ways == 0 ? tlb.entries : tlb.ways;
    check(tlb.replacement != Replacement::tree_plru || std::has_single_bit(ways), "ways",
          fmt::format("is {}; tree-plru needs a power of two", ways));
    check(tlb.index == TlbIndex::modulo || ways == 0 || std::has_single_bit(tlb.entries / ways), "index",
          fmt::format("is folded with {} sets; give a power of two of them", ways == 0 ? 0 : tlb.entries / ways));
    power_of_two("span_bytes", tlb.span_bytes, 4 * k_kib, 64 * k_gib);
    latency("miss", tlb.miss);
  }

  void paging() {
    at("paging", "paging");
    const auto frame = m_model.paging.frame_bytes;
    power_of_two("frame_bytes", frame, 4 * k_kib, k_gib);
    check(frame == 0 || m_model.memory_bytes % frame == 0, "frame_bytes",
          fmt::format("is {}, which does not divide the memory of {} bytes; give a divisor", format_bytes(frame),
                      m_model.memory_bytes));
  }

  void dram() {
    at("dram", "dram");
    const auto& dram = m_model.dram;
    count("controllers", dram.controllers, 1024);
    count("channels_per_controller", dram.channels_per_controller, 64);
    count("banks", dram.banks, 4096);
    count("rows", dram.rows, 1ULL << 32);
    power_of_two("row_bytes", dram.row_bytes, 64, k_mib);
    power_of_two("column_bytes", dram.column_bytes, 8, dram.row_bytes);
    const double held = static_cast<double>(dram.controllers) * dram.channels_per_controller * dram.banks *
                        static_cast<double>(dram.rows) * dram.row_bytes;
    check(held >= static_cast<double>(m_model.memory_bytes), "rows",
          fmt::format("is {}: all rows hold {:.0f} bytes of the memory's {}; give more", dram.rows, held,
                      m_model.memory_bytes));
    latency("latency", dram.latency);
    const double slack_ns = cycles_to_ns(cycles(dram.latency), m_model.timing.sm_mhz);
    number("activate_ns", dram.activate_ns, 0, slack_ns);
    number("column_ns", dram.column_ns, 0, 1e6);
    number("refresh_fraction", dram.refresh_fraction, 0, 0.5);
    number("refresh_stall_ns", dram.refresh_stall_ns, 0, 1e6);
    above_zero("refresh_interval_ns", dram.refresh_interval_ns, 1e9);
    const double share = dram.refresh_interval_ns > 0 ? dram.refresh_stall_ns / dram.refresh_interval_ns : 0;
    check(dram.refresh_waits == RefreshWait::fixed || std::abs(dram.refresh_fraction - share) <= 0.01 * share,
          "refresh_fraction",
          fmt::format("is {:.4g} where loads wait for the rest of a refresh; give refresh_stall_ns / "
                      "refresh_interval_ns, which is {:.4g}, or leave it out",
                      dram.refresh_fraction, share));
  }

  void instruction(std::size_t i) {
    const auto& each = m_model.instructions[i];
    at(fmt::format("instruction[{}]", i), fmt::format("instruction {}", i + 1));
    check(std::find(k_pipeline_names.begin(), k_pipeline_names.end(), each.operation) != k_pipeline_names.end(),
          "operation", fmt::format("is '{}'; give {}", each.operation, fmt::join(k_pipeline_names, ", ")));
    for (std::size_t earlier = 0; earlier < i; ++earlier)
      check(m_model.instructions[earlier].operation != each.operation, "operation",
            fmt::format("is {} again; give each one once", each.operation));
    above_zero("interval_cycles", each.interval_cycles, 1000);
    number("latency_cycles", each.latency_cycles, each.interval_cycles, 1000);
  }

  void constant(std::size_t i) {
    const auto& level = m_model.constants[i];
    at(fmt::format("constant[{}]", i), fmt::format("constant {}", i + 1));
    power_of_two("line_bytes", level.line_bytes, 32, 512);
    count("bytes", level.bytes, k_mib);
    check(level.bytes % std::max(level.line_bytes, 1U) == 0, "bytes",
          fmt::format("is {}; give whole lines of {} bytes", level.bytes, level.line_bytes));
    above_zero("hit_cycles", level.hit_cycles, 1000);
    if (i == 0) return;
    const auto& nearer = m_model.constants[i - 1];
    check(level.bytes > nearer.bytes, "bytes",
          fmt::format("is {}; give more than the {} of the level before", level.bytes, nearer.bytes));
    check(level.hit_cycles > nearer.hit_cycles, "hit_cycles",
          fmt::format("is {}; give more than the {} of the level before", level.hit_cycles, nearer.hit_cycles));
  }

  void cluster() {
    const auto& cluster = m_model.cluster;
    at("cluster", "cluster");
    check(cluster.max_blocks != 1 && cluster.max_blocks <= 16, "max_blocks",
          fmt::format("is {}; give 2 to 16, or 0 for none", cluster.max_blocks));
    if (cluster.max_blocks == 0) return;
    above_zero("self_cycles", cluster.self_cycles, 10000);
    above_zero("remote_cycles", cluster.remote_cycles, 10000);
    number("remote_spread_cycles", cluster.remote_spread_cycles, 0, cluster.remote_cycles);
  }

  const DeviceModel& m_model;
  std::string m_path;
  std::string m_name;
  std::optional<ModelIssue> m_issue;
};

}  // namespace

std::optional<ModelIssue> find_issue(const DeviceModel& model) { return Checker(model).run(); }

Result<void> validate(const DeviceModel& model) {
  const auto issue = find_issue(model);
  if (!issue) return {};
  const auto& where = model.origin.empty() ? model.id : model.origin;
  return fail(ErrorKind::bad_input, fmt::format("{}: {}", where.empty() ? "model" : where, issue->message));
}

}  // namespace gpusonde

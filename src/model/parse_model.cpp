// From TOML text to a model: which keys there are, and where they go.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>

#include "model/device_model.hpp"
#include "model/program_position.hpp"
#include "model/toml_table.hpp"
#include "model/validation.hpp"

namespace gpusonde {
namespace {

class ModelReader {
 public:
  ModelReader(std::string_view text, const std::string& file) : m_text(text), m_file(file) {}

  Result<DeviceModel> read() {
    const auto parsed = toml::parse(m_text);
    if (!parsed) {
      const auto at = parsed.error().source().begin;
      return fail(ErrorKind::bad_input, fmt::format("{}:{}:{}: not TOML: {}", m_file, at.line, at.column,
                                                    std::string(parsed.error().description())));
    }
    DeviceModel model;
    model.id = std::filesystem::path(m_file).stem().string();
    model.origin = m_file;
    TomlTable root(parsed.table(), "", m_problems);
    device(root, model);
    root.finish();
    if (!m_problems.empty()) return tl::unexpected(m_problems.worst(m_file));
    if (const auto issue = find_issue(model)) {
      const auto at = position_of(parsed.table(), issue->path);
      return fail(ErrorKind::bad_input, fmt::format("{}:{}:{}: {}", m_file, at.line, at.column, issue->message));
    }
    return model;
  }

 private:
  void device(TomlTable& root, DeviceModel& model) {
    root.text("name", model.name);
    root.require("name", "the card's name");
    std::string capability;
    root.text("compute_capability", capability);
    if (root.has("compute_capability") && !read_capability(capability, model))
      root.wrong("compute_capability", "is not a compute capability; give one such as \"8.9\"");
    root.count("sm_count", model.sm_count);
    root.require("sm_count", "the number of SMs");
    root.count("sms_per_tpc", model.sms_per_tpc);
    root.count("sms_per_cpc", model.sms_per_cpc);
    root.count("sms_per_gpc", model.sms_per_gpc);
    root.bytes("memory_bytes", model.memory_bytes);
    root.require("memory_bytes", "the device memory, such as \"24 GiB\"");
    root.count("bus_width_bits", model.bus_width_bits);
    root.bytes("shared_per_sm_bytes", model.shared_per_sm_bytes);
    root.require("timing", "a table [timing] with sm_mhz");
    if (const auto* table = root.table("timing")) timing(*table, model.timing);
    for (const auto* table : root.tables("cache")) cache(*table, model.caches.emplace_back());
    root.require("cache", "at least one cache level as [[cache]]");
    if (const auto* table = root.table("unified")) unified(*table, model.unified.emplace());
    for (const auto* table : root.tables("tlb")) tlb(*table, model.tlbs.emplace_back());
    if (const auto* table = root.table("paging")) paging(*table, model.paging);
    root.require("dram", "a table [dram] with latency");
    if (const auto* table = root.table("dram")) dram(*table, model.dram);
    for (const auto* table : root.tables("instruction")) instruction(*table, model.instructions.emplace_back());
    for (const auto* table : root.tables("constant")) constant(*table, model.constants.emplace_back());
    if (const auto* table = root.table("cluster")) cluster(*table, model.cluster);
    if (const auto* table = root.table("noise")) noise(*table, model.noise);
  }

  static bool read_capability(const std::string& text, DeviceModel& model) {
    unsigned major = 0;
    unsigned minor = 0;
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    std::size_t at = 0;
    for (; at < text.size() && at < 3 && is_digit(text[at]); ++at)
      major = major * 10 + static_cast<unsigned>(text[at] - '0');
    if (at == 0 || at + 2 != text.size() || text[at] != '.' || !is_digit(text[at + 1])) return false;
    minor = static_cast<unsigned>(text[at + 1] - '0');
    model.compute_capability_major = major;
    model.compute_capability_minor = minor;
    return true;
  }

  void timing(const toml::table& table, TimingModel& timing) {
    TomlTable reader(table, "timing", m_problems);
    reader.number("sm_mhz", timing.sm_mhz);
    reader.require("sm_mhz", "the SM clock in MHz");
    reader.number("memory_mhz", timing.memory_mhz);
    reader.number("index_overhead_cycles", timing.index_overhead_cycles);
    reader.number("timer_overhead_cycles", timing.timer_overhead_cycles);
    reader.number("per_hop_overhead_cycles", timing.per_hop_overhead_cycles);
    reader.number("loop_overhead_cycles", timing.loop_overhead_cycles);
    reader.number("shared_hit_cycles", timing.shared_hit_cycles);
    reader.number("register_read_cycles", timing.register_read_cycles);
    reader.number("texture_hit_cycles", timing.texture_hit_cycles);
    reader.number("crossbar_lines_per_cycle", timing.crossbar_lines_per_cycle);
    reader.number("crossbar_bytes_per_cycle", timing.crossbar_bytes_per_cycle);
    reader.number("shared_bytes_per_cycle", timing.shared_bytes_per_cycle);
    reader.finish();
  }

  void cache(const toml::table& table, CacheModel& cache) {
    TomlTable reader(table, "cache", m_problems);
    reader.text("name", cache.name);
    reader.require("name", "l1, l2 or l3");
    reader.choice("scope", cache.scope, k_scope_names);
    reader.bytes("line_bytes", cache.line_bytes);
    reader.bytes("sector_bytes", cache.sector_bytes);
    reader.bytes("fetch_bytes", cache.fetch_bytes);
    reader.count("ways", cache.ways);
    reader.require("ways", "the lines of a set");
    reader.count("sets", cache.sets);
    reader.require("sets", "the sets of a slice");
    reader.count("slices", cache.slices);
    reader.count("partitions", cache.partitions);
    reader.choice("index", cache.index, k_address_space_names);
    reader.choice("tag", cache.tag, k_address_space_names);
    reader.choice("replacement", cache.replacement, k_replacement_names);
    latency(reader, "cache", "hit", cache.hit);
    reader.number("slice_spread_cycles", cache.slice_spread_cycles);
    reader.number("far_cycles", cache.far_cycles);
    reader.number("atomic_cycles", cache.atomic_cycles);
    reader.number("lines_per_cycle", cache.lines_per_cycle);
    reader.flag("allocates_cg", cache.allocates_cg);
    const auto unit = std::uint64_t{std::max(cache.line_bytes, 1U)};
    const auto slices = std::uint64_t{std::max(cache.slices, 1U)};
    const auto sets = std::uint64_t{std::max(cache.sets, 1U)};
    const auto partitions = std::uint64_t{std::max(cache.partitions, 1U)};
    cache.slice_function = function(reader, "slice", slices, AddressFunction::modulo(unit, slices));
    cache.set_function = function(reader, "set", sets, AddressFunction::modulo(unit * slices, sets));
    cache.home_function = function(reader, "home", partitions, AddressFunction::modulo(unit, partitions));
    reader.finish();
  }

  void unified(const toml::table& table, UnifiedStorageModel& unified) {
    TomlTable reader(table, "unified", m_problems);
    reader.bytes("total_bytes", unified.total_bytes);
    reader.bytes("shared_choices_bytes", unified.shared_choices_bytes);
    reader.bytes("reserved_per_block_bytes", unified.reserved_per_block_bytes);
    reader.count("max_blocks", unified.max_blocks);
    reader.count("max_threads", unified.max_threads);
    reader.finish();
  }

  void tlb(const toml::table& table, TlbModel& tlb) {
    TomlTable reader(table, "tlb", m_problems);
    reader.text("name", tlb.name);
    reader.count("entries", tlb.entries);
    reader.require("entries", "the number of translations it holds");
    reader.count("ways", tlb.ways);
    reader.choice("index", tlb.index, k_tlb_index_names);
    reader.bytes("span_bytes", tlb.span_bytes);
    reader.choice("replacement", tlb.replacement, k_replacement_names);
    reader.choice("scope", tlb.scope, k_scope_names);
    latency(reader, "tlb", "miss", tlb.miss);
    reader.finish();
  }

  void paging(const toml::table& table, PagingModel& paging) {
    TomlTable reader(table, "paging", m_problems);
    reader.bytes("frame_bytes", paging.frame_bytes);
    reader.choice("placement", paging.placement, k_placement_names);
    reader.finish();
  }

  void dram(const toml::table& table, DramModel& dram) {
    TomlTable reader(table, "dram", m_problems);
    reader.count("controllers", dram.controllers);
    reader.count("channels_per_controller", dram.channels_per_controller);
    reader.count("banks", dram.banks);
    reader.count("rows", dram.rows);
    reader.bytes("row_bytes", dram.row_bytes);
    reader.bytes("column_bytes", dram.column_bytes);
    latency(reader, "dram", "latency", dram.latency);
    reader.number("activate_ns", dram.activate_ns);
    reader.number("column_ns", dram.column_ns);
    reader.number("refresh_fraction", dram.refresh_fraction);
    reader.number("refresh_stall_ns", dram.refresh_stall_ns);
    reader.number("refresh_interval_ns", dram.refresh_interval_ns);
    reader.choice("refresh_waits", dram.refresh_waits, k_refresh_wait_names);
    // A refresh that loads wait out is met as often as it takes of the time.
    if (dram.refresh_waits == RefreshWait::rest && !reader.has("refresh_fraction") && dram.refresh_interval_ns > 0)
      dram.refresh_fraction = dram.refresh_stall_ns / dram.refresh_interval_ns;
    const auto row_bytes = std::uint64_t{std::max(dram.row_bytes, 1U)};
    const auto channels = std::max<std::uint64_t>(std::uint64_t{dram.controllers} * dram.channels_per_controller, 1);
    const auto banks = std::uint64_t{std::max(dram.banks, 1U)};
    dram.channel_function = function(reader, "channel", channels, AddressFunction::modulo(row_bytes, channels));
    dram.bank_function = function(reader, "bank", banks, AddressFunction::modulo(row_bytes * channels, banks));
    dram.row_function =
        function(reader, "row", dram.rows,
                 AddressFunction::modulo(row_bytes * channels * banks, std::max<std::uint64_t>(dram.rows, 1)));
    reader.finish();
  }

  void instruction(const toml::table& table, InstructionModel& instruction) {
    TomlTable reader(table, "instruction", m_problems);
    reader.text("operation", instruction.operation);
    reader.require("operation", "one such as \"ffma\"");
    reader.number("latency_cycles", instruction.latency_cycles);
    reader.require("latency_cycles", "the cycles from issue to use");
    reader.number("interval_cycles", instruction.interval_cycles);
    reader.require("interval_cycles", "the cycles until a warp's next independent one");
    reader.finish();
  }

  void constant(const toml::table& table, ConstantCacheModel& constant) {
    TomlTable reader(table, "constant", m_problems);
    reader.bytes("bytes", constant.bytes);
    reader.require("bytes", "its capacity");
    reader.bytes("line_bytes", constant.line_bytes);
    reader.number("hit_cycles", constant.hit_cycles);
    reader.require("hit_cycles", "the cycles of a hit");
    reader.finish();
  }

  void cluster(const toml::table& table, ClusterModel& cluster) {
    TomlTable reader(table, "cluster", m_problems);
    reader.count("max_blocks", cluster.max_blocks);
    reader.number("self_cycles", cluster.self_cycles);
    reader.number("remote_cycles", cluster.remote_cycles);
    reader.number("remote_spread_cycles", cluster.remote_spread_cycles);
    reader.finish();
  }

  void noise(const toml::table& table, NoiseModel& noise) {
    TomlTable reader(table, "noise", m_problems);
    reader.number("run_fraction", noise.run_fraction);
    reader.number("hop_cycles", noise.hop_cycles);
    reader.finish();
  }

  void latency(TomlTable& owner, std::string_view owner_name, std::string_view key, DomainLatency& latency) {
    owner.require(key, "a latency such as { sm_cycles = 40, fixed_ns = 0 }");
    const auto* table = owner.table(key);
    if (table == nullptr) return;
    TomlTable reader(*table, fmt::format("{}.{}", owner_name, key), m_problems);
    reader.number("sm_cycles", latency.sm_cycles);
    reader.number("fixed_ns", latency.fixed_ns);
    reader.finish();
  }

  /// WHAT_function as a program or WHAT_masks as parity masks, lowest bit first; else the plain one.
  AddressFunction function(TomlTable& reader, std::string_view what, std::uint64_t count, AddressFunction plain) {
    const auto function_key = fmt::format("{}_function", what);
    const auto masks_key = fmt::format("{}_masks", what);
    const auto* program = reader.program(function_key);
    std::vector<std::uint64_t> masks;
    reader.masks(masks_key, masks);
    if (reader.has(function_key) && reader.has(masks_key)) {
      reader.wrong(masks_key, fmt::format("stands beside {}; give one of them", function_key));
      return plain;
    }
    if (program != nullptr) {
      auto parsed =
          AddressFunction::parse(program->get(), position_of_content(m_text, m_file, program->source().begin));
      if (parsed) return *parsed;
      m_problems.add(program->source().begin, parsed.error());
      return plain;
    }
    if (masks.empty()) return plain;
    if (masks.size() > 32 || std::uint64_t{1} << masks.size() != count) {
      const auto remedy = std::has_single_bit(count) ? fmt::format("give {}", std::bit_width(count) - 1)
                                                     : fmt::format("write {} instead", function_key);
      reader.wrong(masks_key, fmt::format("has {} masks for {} values; {}", masks.size(), count, remedy));
      return plain;
    }
    return AddressFunction::parities(masks);
  }

  /// Of the value at the path, of the masks that a function is given by, or of the nearest table above.
  static toml::source_position position_of(const toml::table& root, std::string path) {
    constexpr std::string_view function_ending = "_function";
    if (path.ends_with(function_ending) && !toml::at_path(root, path))
      path.replace(path.size() - function_ending.size(), std::string::npos, "_masks");
    while (!path.empty()) {
      if (const auto found = toml::at_path(root, path)) return found.node()->source().begin;
      const auto dot = path.find_last_of(".[");
      path.resize(dot == std::string::npos ? 0 : dot);
    }
    return {1, 1};
  }

  std::string_view m_text;
  const std::string& m_file;
  TomlProblems m_problems;
};

}  // namespace

Result<DeviceModel> parse_model(std::string_view text, const std::string& file) {
  return ModelReader(text, file).read();
}

}  // namespace gpusonde

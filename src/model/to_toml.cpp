// From a model back to its file, every field written out.
#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "model/device_model.hpp"
#include "model/enum_names.hpp"

namespace gpusonde {
namespace {

/// A TOML basic string, on one line.
std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      fmt::format_to(std::back_inserter(out), "\\{}", c);
    else if (byte < 0x20 || byte == 0x7F)
      fmt::format_to(std::back_inserter(out), "\\u{:04X}", byte);
    else
      out += c;
  }
  return out + "\"";
}

/// A program as a literal string of lines, where its text allows that.
std::string program(const AddressFunction& function) {
  const auto& text = function.text();
  const bool is_plain =
      text.find("'''") == std::string::npos && text.find('\r') == std::string::npos && !text.ends_with('\'');
  return is_plain ? fmt::format("'''\n{}'''", text) : toml_string(text);
}

/// The shortest text that reads back to the same number.
std::string number(double value) {
  auto text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string latency(const DomainLatency& latency) {
  return fmt::format("{{ sm_cycles = {}, fixed_ns = {} }}", number(latency.sm_cycles), number(latency.fixed_ns));
}

class Writer {
 public:
  void head(std::string_view line) { fmt::format_to(std::back_inserter(m_text), "\n{}\n", line); }
  void line(std::string_view key, const std::string& value) {
    fmt::format_to(std::back_inserter(m_text), "{} = {}\n", key, value);
  }
  void line(std::string_view key, double value) { line(key, number(value)); }
  void line(std::string_view key, std::uint64_t value) { line(key, std::to_string(value)); }
  void line(std::string_view key, std::uint32_t value) { line(key, std::to_string(value)); }
  void word(std::string_view key, std::string_view value) { line(key, toml_string(value)); }
  [[nodiscard]] std::string take() { return std::move(m_text); }

 private:
  std::string m_text;
};

void write_device(Writer& writer, const DeviceModel& model) {
  writer.word("name", model.name);
  writer.word("compute_capability",
              fmt::format("{}.{}", model.compute_capability_major, model.compute_capability_minor));
  writer.line("sm_count", model.sm_count);
  writer.line("sms_per_tpc", model.sms_per_tpc);
  writer.line("sms_per_cpc", model.sms_per_cpc);
  writer.line("sms_per_gpc", model.sms_per_gpc);
  writer.line("memory_bytes", model.memory_bytes);
  writer.line("bus_width_bits", model.bus_width_bits);
  writer.line("shared_per_sm_bytes", model.shared_per_sm_bytes);
}

void write_timing(Writer& writer, const TimingModel& timing) {
  writer.head("[timing]");
  writer.line("sm_mhz", timing.sm_mhz);
  writer.line("memory_mhz", timing.memory_mhz);
  writer.line("index_overhead_cycles", timing.index_overhead_cycles);
  writer.line("timer_overhead_cycles", timing.timer_overhead_cycles);
  writer.line("per_hop_overhead_cycles", timing.per_hop_overhead_cycles);
  writer.line("loop_overhead_cycles", timing.loop_overhead_cycles);
  writer.line("shared_hit_cycles", timing.shared_hit_cycles);
  writer.line("register_read_cycles", timing.register_read_cycles);
  writer.line("texture_hit_cycles", timing.texture_hit_cycles);
  writer.line("crossbar_lines_per_cycle", timing.crossbar_lines_per_cycle);
  writer.line("crossbar_bytes_per_cycle", timing.crossbar_bytes_per_cycle);
  writer.line("shared_bytes_per_cycle", timing.shared_bytes_per_cycle);
}

void write_cache(Writer& writer, const CacheModel& cache) {
  writer.head("[[cache]]");
  writer.word("name", cache.name);
  writer.word("scope", name_of(k_scope_names, cache.scope));
  writer.line("line_bytes", cache.line_bytes);
  writer.line("sector_bytes", cache.sector_bytes);
  writer.line("fetch_bytes", cache.fetch_bytes);
  writer.line("ways", cache.ways);
  writer.line("sets", cache.sets);
  writer.line("slices", cache.slices);
  writer.line("partitions", cache.partitions);
  writer.word("index", name_of(k_address_space_names, cache.index));
  writer.word("tag", name_of(k_address_space_names, cache.tag));
  writer.word("replacement", to_string(cache.replacement));
  writer.line("hit", latency(cache.hit));
  writer.line("slice_spread_cycles", cache.slice_spread_cycles);
  writer.line("far_cycles", cache.far_cycles);
  writer.line("atomic_cycles", cache.atomic_cycles);
  writer.line("lines_per_cycle", cache.lines_per_cycle);
  writer.line("allocates_cg", std::string(cache.allocates_cg ? "true" : "false"));
  writer.line("slice_function", program(cache.slice_function));
  writer.line("set_function", program(cache.set_function));
  writer.line("home_function", program(cache.home_function));
}

void write_unified(Writer& writer, const UnifiedStorageModel& unified) {
  writer.head("[unified]");
  writer.line("total_bytes", unified.total_bytes);
  writer.line("shared_choices_bytes", fmt::format("[{}]", fmt::join(unified.shared_choices_bytes, ", ")));
  writer.line("reserved_per_block_bytes", unified.reserved_per_block_bytes);
  writer.line("max_blocks", unified.max_blocks);
  writer.line("max_threads", unified.max_threads);
}

void write_tlb(Writer& writer, const TlbModel& tlb) {
  writer.head("[[tlb]]");
  writer.word("name", tlb.name);
  writer.line("entries", tlb.entries);
  writer.line("ways", tlb.ways);
  writer.word("index", name_of(k_tlb_index_names, tlb.index));
  writer.line("span_bytes", tlb.span_bytes);
  writer.word("replacement", to_string(tlb.replacement));
  writer.word("scope", name_of(k_scope_names, tlb.scope));
  writer.line("miss", latency(tlb.miss));
}

void write_dram(Writer& writer, const DramModel& dram) {
  writer.head("[dram]");
  writer.line("controllers", dram.controllers);
  writer.line("channels_per_controller", dram.channels_per_controller);
  writer.line("banks", dram.banks);
  writer.line("rows", dram.rows);
  writer.line("row_bytes", dram.row_bytes);
  writer.line("column_bytes", dram.column_bytes);
  writer.line("latency", latency(dram.latency));
  writer.line("activate_ns", dram.activate_ns);
  writer.line("column_ns", dram.column_ns);
  writer.line("refresh_fraction", dram.refresh_fraction);
  writer.line("refresh_stall_ns", dram.refresh_stall_ns);
  writer.line("refresh_interval_ns", dram.refresh_interval_ns);
  writer.word("refresh_waits", name_of(k_refresh_wait_names, dram.refresh_waits));
  writer.line("channel_function", program(dram.channel_function));
  writer.line("bank_function", program(dram.bank_function));
  writer.line("row_function", program(dram.row_function));
}

void write_instructions(Writer& writer, const DeviceModel& model) {
  for (const auto& each : model.instructions) {
    writer.head("[[instruction]]");
    writer.word("operation", each.operation);
    writer.line("latency_cycles", each.latency_cycles);
    writer.line("interval_cycles", each.interval_cycles);
  }
  for (const auto& each : model.constants) {
    writer.head("[[constant]]");
    writer.line("bytes", each.bytes);
    writer.line("line_bytes", each.line_bytes);
    writer.line("hit_cycles", each.hit_cycles);
  }
  writer.head("[cluster]");
  writer.line("max_blocks", model.cluster.max_blocks);
  writer.line("self_cycles", model.cluster.self_cycles);
  writer.line("remote_cycles", model.cluster.remote_cycles);
  writer.line("remote_spread_cycles", model.cluster.remote_spread_cycles);
}

}  // namespace

std::string to_toml(const DeviceModel& model) {
  Writer writer;
  write_device(writer, model);
  write_timing(writer, model.timing);
  for (const auto& cache : model.caches) write_cache(writer, cache);
  if (model.unified) write_unified(writer, *model.unified);
  for (const auto& tlb : model.tlbs) write_tlb(writer, tlb);
  writer.head("[paging]");
  writer.line("frame_bytes", model.paging.frame_bytes);
  writer.word("placement", name_of(k_placement_names, model.paging.placement));
  write_dram(writer, model.dram);
  write_instructions(writer, model);
  writer.head("[noise]");
  writer.line("run_fraction", model.noise.run_fraction);
  writer.line("hop_cycles", model.noise.hop_cycles);
  return writer.take();
}

}  // namespace gpusonde

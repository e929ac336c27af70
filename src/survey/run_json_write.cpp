// A run as one JSON document. Laid out to be read by people too: a finding a line, a column a line.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "survey/run_file.hpp"

namespace gpusonde {
namespace {

using Json = nlohmann::ordered_json;

/// Bytes that are not UTF-8 (a host name, a path) become U+FFFD rather than an error.
std::string text_of(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// Whole numbers without a fraction: every number of a finding is read back as a double anyway.
Json number(double value) {
  constexpr double exact = 0x1p53;
  if (value == std::floor(value) && std::fabs(value) < exact && !(value == 0 && std::signbit(value)))
    return static_cast<std::int64_t>(value);
  return value;
}

Json value_json(const FindingValue& value) {
  if (const auto* real = std::get_if<double>(&value)) return number(*real);
  if (const auto* name = std::get_if<std::string>(&value)) return *name;
  return std::get<std::vector<std::string>>(value);
}

Json finding_json(const Finding& finding) {
  Json json{{"id", finding.id}, {"unit", finding.unit}, {"outcome", to_string(finding.outcome)}};
  if (!finding.reason.empty()) json["reason"] = finding.reason;
  if (finding.value && finding.outcome == Outcome::ok) json["value"] = value_json(*finding.value);
  if (finding.interval) json["interval"] = Json::array({number(finding.interval->low), number(finding.interval->high)});
  if (!finding.samples.empty()) {
    auto& samples = json["samples"] = Json::object();
    for (const auto& [key, sample] : finding.samples) {
      if (const auto* real = std::get_if<double>(&sample))
        samples[key] = number(*real);
      else
        samples[key] = std::get<std::string>(sample);
    }
  }
  if (finding.truth) json["truth"] = value_json(*finding.truth);
  if (finding.agrees) json["agrees"] = *finding.agrees;
  json["evidence"] = finding.evidence;
  return json;
}

Json device_json(const DeviceInfo& device) {
  const auto& nominal = device.nominal;
  Json json{
      {"kind", device.kind == DeviceKind::simulated ? "simulated" : "cuda"},
      {"name", device.name},
      {"uuid", device.uuid},
      {"pci_bus_id", device.pci_bus_id},
      {"compute_capability", fmt::format("{}.{}", device.compute_capability_major, device.compute_capability_minor)},
      {"sm_count", device.sm_count},
      {"memory_bytes", device.memory_bytes},
      {"nominal",
       {{"l2_bytes", nominal.l2_bytes},
        {"shared_per_sm_bytes", nominal.shared_per_sm_bytes},
        {"shared_per_block_bytes", nominal.shared_per_block_bytes},
        {"reserved_shared_per_block_bytes", nominal.reserved_shared_per_block_bytes},
        {"sm_clock_mhz", nominal.sm_clock_mhz},
        {"memory_clock_mhz", nominal.memory_clock_mhz},
        {"bus_width_bits", nominal.bus_width_bits}}},
  };
  if (!device.model_file.empty()) json["model_file"] = device.model_file;
  return json;
}

Json environment_json(const Environment& environment) {
  return {
      {"driver_version", environment.driver_version},
      {"cuda_version", environment.cuda_version},
      {"host", environment.host},
      {"os", environment.os},
      {"started_at", environment.started_at},
      {"finished_at", environment.finished_at},
      {"clocks",
       {{"sm_mhz_measured", number(environment.sm_mhz_measured)},
        {"sm_mhz_nvml", environment.clocks.sm_mhz},
        {"memory_mhz_nvml", environment.clocks.memory_mhz},
        {"throttle_reasons", environment.clocks.throttle_reasons}}},
      {"mig", environment.mig},
      {"ecc", environment.ecc},
      {"other_processes", environment.other_processes},
  };
}

Json options_json(const RunOptions& options) {
  Json values = Json::object();
  for (const auto& [key, value] : options.values) values[key] = value;
  return {{"seed", options.seed}, {"command_line", options.command_line}, {"values", std::move(values)}};
}

void append(std::string& out, std::uint64_t value) { fmt::format_to(std::back_inserter(out), "{}", value); }

/// Shortest text that reads back as the same double, always with a fraction or an exponent, so that
/// a column of doubles is told from one of integers. Not finite: null.
void append(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  const std::string_view text(digits, static_cast<std::size_t>(end - digits));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

void append(std::string& out, const std::string& value) { out += text_of(Json(value)); }

void append_column(std::string& out, const Column& column) {
  std::visit(
      [&](const auto& values) {
        out += '[';
        for (std::size_t i = 0; i < values.size(); ++i) {
          if (i > 0) out += ',';
          append(out, values[i]);
        }
        out += ']';
      },
      column);
}

void append_measurements(std::string& out, const Measurements& measurements) {
  out += '{';
  const char* between_tables = "\n";
  for (const auto& [name, table] : measurements.tables) {
    fmt::format_to(std::back_inserter(out), "{}    {}: {{", between_tables, text_of(Json(name)));
    const char* between_columns = "\n";
    for (const auto& [key, column] : table.columns) {
      fmt::format_to(std::back_inserter(out), "{}      {}: ", between_columns, text_of(Json(key)));
      append_column(out, column);
      between_columns = ",\n";
    }
    out += table.columns.empty() ? "}" : "\n    }";
    between_tables = ",\n";
  }
  out += measurements.tables.empty() ? "}" : "\n  }";
}

/// An empty array does not show what its elements would be, so empty columns are listed with their type.
Json empty_columns_json(const Measurements& measurements) {
  constexpr const char* names[] = {"integer", "number", "string"};
  static_assert(std::is_same_v<std::variant_alternative_t<0, Column>, std::vector<std::uint64_t>>);
  static_assert(std::is_same_v<std::variant_alternative_t<1, Column>, std::vector<double>>);
  Json json = Json::object();
  for (const auto& [name, table] : measurements.tables)
    for (const auto& [key, column] : table.columns)
      if (size(column) == 0) json[name][key] = names[column.index()];
  return json;
}

void append_member(std::string& out, std::string_view key, const Json& json) {
  fmt::format_to(std::back_inserter(out), ",\n  \"{}\": ", key);
  for (const char c : text_of(json, 2)) {
    out += c;
    if (c == '\n') out += "  ";
  }
}

}  // namespace

std::string to_json(const Run& run) {
  std::string out = fmt::format("{{\n  \"schema\": \"{}\"", k_run_schema);
  append_member(out, "tool",
                {{"name", run.tool.name},
                 {"version", run.tool.version},
                 {"commit", run.tool.commit},
                 {"kernels_sha256", run.tool.kernels_sha256}});
  append_member(out, "device", device_json(run.device));
  append_member(out, "environment", environment_json(run.environment));
  append_member(out, "options", options_json(run.options));
  fmt::format_to(std::back_inserter(out), ",\n  \"probes_done\": {}", text_of(Json(run.probes_done)));
  out += ",\n  \"findings\": [";
  const char* between = "\n";
  for (const auto& finding : run.findings) {
    fmt::format_to(std::back_inserter(out), "{}    {}", between, text_of(finding_json(finding)));
    between = ",\n";
  }
  out += run.findings.empty() ? "]" : "\n  ]";
  out += ",\n  \"measurements\": ";
  append_measurements(out, run.measurements);
  if (const auto empty = empty_columns_json(run.measurements); !empty.empty())
    append_member(out, "empty_columns", empty);
  out += "\n}\n";
  return out;
}

}  // namespace gpusonde

// A run from its JSON document. Keys that are not known are passed over: newer minor versions add some.
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "survey/run_file.hpp"
#include "survey/run_json_columns.hpp"
#include "survey/run_json_node.hpp"
#include "survey/run_json_syntax.hpp"

namespace gpusonde {
namespace {

using Json = JsonNode::Json;

constexpr std::string_view k_schema_name = "gpusonde-run/";
constexpr unsigned k_schema_major = 1;

/// Says why the document is not one that this program reads; empty when it is.
std::string foreign(const Json& json) {
  if (!json.is_object()) return fmt::format("this is no gpusonde run: it is {}, not an object", json.type_name());
  const auto found = json.find("schema");
  constexpr std::string_view remedy = "give a run.json that gpusonde wrote";
  if (found == json.end()) return fmt::format("this is no gpusonde run: \"schema\" is missing; {}", remedy);
  const auto schema = found->is_string() ? found->get<std::string>() : found->dump();
  unsigned major = 0;
  const char* const end = schema.data() + schema.size();
  if (!schema.starts_with(k_schema_name) ||
      std::from_chars(schema.data() + k_schema_name.size(), end, major).ec != std::errc{})
    return fmt::format("this is no gpusonde run: \"schema\" is \"{:.60}\", not \"{}\"; {}", schema, k_run_schema,
                       remedy);
  if (major > k_schema_major)
    return fmt::format("its schema {} is newer than {}, the newest that this gpusonde reads; use a newer gpusonde",
                       schema, k_run_schema);
  if (major < k_schema_major) return fmt::format("its schema {} is older than {}; measure again", schema, k_run_schema);
  return {};
}

DeviceInfo read_device(const JsonNode& node) {
  DeviceInfo out;
  const auto kind = node.at("kind").text();
  if (kind != "simulated" && kind != "cuda") node.at("kind").complain("simulated or cuda");
  out.kind = kind == "simulated" ? DeviceKind::simulated : DeviceKind::cuda;
  out.name = node.at("name").text();
  node.read("uuid", out.uuid);
  node.read("pci_bus_id", out.pci_bus_id);
  if (node.has("compute_capability")) {
    const auto text = node.at("compute_capability").text();
    const char* const end = text.data() + text.size();
    const auto major = std::from_chars(text.data(), end, out.compute_capability_major);
    const bool dot = major.ec == std::errc{} && major.ptr != end && *major.ptr == '.';
    if (!dot || std::from_chars(major.ptr + 1, end, out.compute_capability_minor).ec != std::errc{})
      node.at("compute_capability").complain("two numbers with a dot, such as \"9.0\"");
  }
  node.read("sm_count", out.sm_count);
  node.read("memory_bytes", out.memory_bytes);
  node.read("model_file", out.model_file);
  if (node.has("nominal")) {
    const auto nominal = node.at("nominal");
    nominal.read("l2_bytes", out.nominal.l2_bytes);
    nominal.read("shared_per_sm_bytes", out.nominal.shared_per_sm_bytes);
    nominal.read("shared_per_block_bytes", out.nominal.shared_per_block_bytes);
    nominal.read("reserved_shared_per_block_bytes", out.nominal.reserved_shared_per_block_bytes);
    nominal.read("sm_clock_mhz", out.nominal.sm_clock_mhz);
    nominal.read("memory_clock_mhz", out.nominal.memory_clock_mhz);
    nominal.read("bus_width_bits", out.nominal.bus_width_bits);
  }
  return out;
}

Environment read_environment(const JsonNode& node) {
  Environment out;
  node.read("driver_version", out.driver_version);
  node.read("cuda_version", out.cuda_version);
  node.read("host", out.host);
  node.read("os", out.os);
  node.read("started_at", out.started_at);
  node.read("finished_at", out.finished_at);
  node.read("mig", out.mig);
  node.read("ecc", out.ecc);
  node.read("other_processes", out.other_processes);
  if (node.has("clocks")) {
    const auto clocks = node.at("clocks");
    clocks.read("sm_mhz_measured", out.sm_mhz_measured);
    clocks.read("sm_mhz_nvml", out.clocks.sm_mhz);
    clocks.read("memory_mhz_nvml", out.clocks.memory_mhz);
    clocks.read("throttle_reasons", out.clocks.throttle_reasons);
  }
  return out;
}

RunOptions read_options(const JsonNode& node) {
  RunOptions out;
  node.read("seed", out.seed);
  node.read("command_line", out.command_line);
  if (node.has("values"))
    for (const auto& [key, value] : node.at("values").members()) out.values.emplace_back(key, value.text());
  return out;
}

FindingValue read_value(const JsonNode& node) {
  if (node.json().is_number()) return node.real();
  if (node.json().is_string()) return node.text();
  if (node.json().is_array()) return node.texts();
  node.complain("a number, a string or a list of strings");
}

Outcome read_outcome(const JsonNode& node) {
  const auto text = node.text();
  for (const auto outcome :
       {Outcome::ok, Outcome::unsupported, Outcome::skipped, Outcome::inconclusive, Outcome::failed})
    if (text == to_string(outcome)) return outcome;
  node.complain("ok, unsupported, skipped, inconclusive or failed");
}

Finding read_finding(const JsonNode& node) {
  Finding out;
  out.id = node.at("id").text();
  out.unit = node.at("unit").text();
  out.outcome = read_outcome(node.at("outcome"));
  node.read("reason", out.reason);
  node.read("evidence", out.evidence);
  if (out.outcome == Outcome::ok) out.value = read_value(node.at("value"));
  if (out.outcome != Outcome::ok && node.has("value")) node.at("value").complain("absent, since the outcome is not ok");
  if (node.has("interval")) {
    const auto interval = node.at("interval");
    if (interval.elements() != 2) interval.complain("a low and a high number");
    out.interval = Interval{interval.at(std::size_t{0}).real(), interval.at(std::size_t{1}).real()};
  }
  if (node.has("samples")) {
    for (const auto& [key, value] : node.at("samples").members()) {
      if (value.json().is_number())
        out.samples.emplace_back(key, value.real());
      else
        out.samples.emplace_back(key, value.text());
    }
  }
  if (node.has("truth")) out.truth = read_value(node.at("truth"));
  if (node.has("agrees")) out.agrees = node.at("agrees").truth();
  return out;
}

Run read_run(const JsonNode& document) {
  Run run;
  const auto tool = document.at("tool");
  tool.read("name", run.tool.name);
  tool.read("version", run.tool.version);
  tool.read("commit", run.tool.commit);
  tool.read("kernels_sha256", run.tool.kernels_sha256);
  run.device = read_device(document.at("device"));
  run.environment = read_environment(document.at("environment"));
  run.options = read_options(document.at("options"));
  document.read("probes_done", run.probes_done);
  const auto findings = document.at("findings");
  for (std::size_t i = 0; i < findings.elements(); ++i) run.findings.push_back(read_finding(findings.at(i)));
  run.measurements = read_measurements(document);
  return run;
}

}  // namespace

Result<Run> parse_run(std::string_view text, const std::string& file) {
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorKind::bad_input, fmt::format("{}: {}", file, what));
  };
  const auto json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return fail(ErrorKind::bad_input, file + ":" + json_syntax_error(text));
  if (const auto why = foreign(json); !why.empty()) return wrong(why);
  try {
    return read_run(JsonNode(json, ""));
  } catch (const Misfit& misfit) {
    return wrong(misfit.message);
  }
}

}  // namespace gpusonde

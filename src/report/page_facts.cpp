// Head of the page: what was measured, on what, how.
#include <fmt/format.h>

#include "core/units.hpp"
#include "report/escape.hpp"
#include "report/hierarchy_rows.hpp"
#include "report/page_parts.hpp"
#include "report/quantity.hpp"

namespace gpusonde::report {
namespace {

void fact(std::string& out, std::string_view term, std::string_view text) {
  if (!text.empty()) out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", xml_escape(term), xml_escape(text));
}

std::string positive(double value, std::string_view unit) {
  return value > 0 ? fmt::format("{:.0f} {}", value, unit) : std::string();
}

std::string bytes(std::uint64_t value) { return value == 0 ? std::string() : format_bytes(value); }

}  // namespace

std::string facts_html(const Run& run) {
  const auto& device = run.device;
  const auto& environment = run.environment;
  std::string throttled;
  for (const auto& reason : environment.clocks.throttle_reasons) throttled += (throttled.empty() ? "" : ", ") + reason;
  std::string out = "<dl class=\"facts\">\n";
  fact(out, "device", device_title(device));
  fact(out, "model", device.model_file);
  fact(out, "UUID", device.uuid);
  fact(out, "PCI id", device.pci_bus_id);
  if (device.compute_capability_major > 0)
    fact(out, "compute capability",
         fmt::format("{}.{}", device.compute_capability_major, device.compute_capability_minor));
  fact(out, "SMs", device.sm_count > 0 ? std::to_string(device.sm_count) : "");
  fact(out, "memory", bytes(device.memory_bytes));
  fact(out, "L2, stated", bytes(device.nominal.l2_bytes));
  fact(out, "SM clock, measured", positive(environment.sm_mhz_measured, "MHz"));
  fact(out, "SM clock, NVML", positive(environment.clocks.sm_mhz, "MHz"));
  fact(out, "memory clock, NVML", positive(environment.clocks.memory_mhz, "MHz"));
  fact(out, "clocks held down by", throttled);
  fact(out, "driver", environment.driver_version);
  fact(out, "CUDA", environment.cuda_version);
  fact(out, "MIG", environment.mig);
  fact(out, "ECC", environment.ecc);
  if (environment.other_processes > 0) fact(out, "other processes", std::to_string(environment.other_processes));
  fact(out, "host", environment.host);
  fact(out, "system", environment.os);
  fact(out, "started", environment.started_at);
  fact(out, "finished", environment.finished_at);
  fact(out, "seed", std::to_string(run.options.seed));
  fact(out, "command", run.options.command_line);
  fact(out, "tool", fmt::format("{} {} {}", run.tool.name, run.tool.version, run.tool.commit));
  return out + "</dl>\n";
}

std::string hierarchy_html(const Run& run) {
  const auto rows = hierarchy_rows(run);
  const bool simulated = run.device.kind == DeviceKind::simulated;
  std::string out =
      "<table id=\"hierarchy-table\"><thead><tr><th scope=\"col\">level</th><th scope=\"col\">hit, cycles</th>"
      "<th scope=\"col\">hit, ns</th><th scope=\"col\">between</th><th scope=\"col\">size</th>"
      "<th scope=\"col\">stated</th><th scope=\"col\">geometry</th>";
  out += simulated ? "<th scope=\"col\">truth</th></tr></thead><tbody>\n" : "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    out += fmt::format("<tr><th scope=\"row\">{}</th>", xml_escape(row.title));
    if (row.cycles.empty() && !row.trouble.empty())
      out += fmt::format("<td colspan=\"3\" class=\"trouble\">{}</td>", xml_escape(row.trouble));
    else
      out += fmt::format("<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n soft\">{}</td>",
                         xml_escape(row.cycles), xml_escape(row.ns), xml_escape(row.interval));
    out += fmt::format("<td class=\"n\">{}</td><td class=\"n soft\">{}</td><td>{}</td>", xml_escape(row.size),
                       xml_escape(row.stated), xml_escape(row.geometry));
    if (simulated) {
      const auto truth = truth_count(run, row.prefix);
      out += truth.known == 0 ? "<td></td>"
                              : fmt::format("<td class=\"{}\">{} {} of {}</td>", truth.wrong > 0 ? "bad" : "good",
                                            truth.wrong > 0 ? "✗" : "✓", truth.agreeing, truth.known);
    }
    out += "</tr>\n";
  }
  return rows.empty() ? "<p>No level was found.</p>\n" : out + "</tbody></table>\n";
}

}  // namespace gpusonde::report

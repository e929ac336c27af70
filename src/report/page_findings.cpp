// The table of findings.
#include <fmt/format.h>

#include <algorithm>

#include "report/columns.hpp"
#include "report/escape.hpp"
#include "report/page_parts.hpp"
#include "report/quantity.hpp"

namespace gpusonde::report {
namespace {

constexpr std::string_view k_evidence = "#/measurements/";

std::string samples_text(const Finding& finding) {
  std::string out;
  for (const auto& [key, value] : finding.samples) {
    if (!out.empty()) out += "; ";
    const auto* real = std::get_if<double>(&value);
    out += key + ": " + (real != nullptr ? plain_number(*real) : std::get<std::string>(value));
  }
  return out;
}

std::string evidence_html(const Run& run, const Finding& finding) {
  if (!finding.evidence.starts_with(k_evidence)) return xml_escape(finding.evidence);
  const auto name = finding.evidence.substr(k_evidence.size());
  const auto anchor = table_anchor(run, name);
  if (anchor.empty()) return xml_escape(name);
  return fmt::format("<a href=\"#{}\">{}</a>", anchor, xml_escape(name));
}

std::string exact(const std::optional<FindingValue>& value) {
  const auto* real = value ? std::get_if<double>(&*value) : nullptr;
  return real != nullptr ? shortest(*real) : std::string();
}

/// A program or a long list folds, a line each; anything else stands as it is.
std::string value_html(const FindingValue& value, std::string_view unit) {
  std::string lines;
  if (const auto* list = std::get_if<std::vector<std::string>>(&value); list != nullptr && list->size() > 3) {
    for (const auto& each : *list) lines += xml_escape(each) + "\n";
  } else if (const auto* text = std::get_if<std::string>(&value); text != nullptr) {
    if (text->find('\n') != std::string::npos)
      for (std::size_t from = 0; from < text->size();) {
        const auto end = std::min(text->find('\n', from), text->size());
        lines += xml_escape(std::string_view(*text).substr(from, end - from)) + "\n";
        from = end + 1;
      }
  }
  if (lines.empty()) return xml_escape(quantity(value, unit));
  return fmt::format("<details><summary>{}</summary><pre>{}</pre></details>", xml_escape(compact(value, unit)), lines);
}

}  // namespace

std::string findings_html(const Run& run) {
  const bool simulated = run.device.kind == DeviceKind::simulated;
  std::string out =
      "<table id=\"findings-table\"><thead><tr><th scope=\"col\">id</th><th scope=\"col\">outcome</th>"
      "<th scope=\"col\">value</th><th scope=\"col\">between</th>";
  if (simulated) out += "<th scope=\"col\">truth</th>";
  out += "<th scope=\"col\">rests on</th><th scope=\"col\">evidence</th></tr></thead><tbody>\n";
  for (const auto& finding : run.findings) {
    const auto outcome = to_string(finding.outcome);
    out += fmt::format("<tr><th scope=\"row\"><code>{}</code></th><td><span class=\"outcome {}\">{}</span></td>",
                       xml_escape(finding.id), outcome, outcome);
    if (finding.value)
      out += fmt::format("<td class=\"n\" title=\"{} {}\">{}</td><td class=\"n soft\">{}</td>",
                         xml_escape(exact(finding.value)), xml_escape(finding.unit),
                         value_html(*finding.value, finding.unit), xml_escape(interval_text(finding)));
    else
      out += fmt::format("<td colspan=\"2\" class=\"trouble\">{}</td>", xml_escape(finding.reason));
    if (simulated) {
      const auto truth = finding.truth ? value_html(*finding.truth, finding.unit) : std::string();
      const auto mark = !finding.agrees ? "" : *finding.agrees ? "✓ " : "✗ ";
      out += fmt::format("<td class=\"n {}\">{}{}</td>",
                         !finding.agrees   ? ""
                         : *finding.agrees ? "good"
                                           : "bad",
                         mark, truth);
    }
    out += fmt::format("<td class=\"soft\">{}</td><td>{}</td></tr>\n", xml_escape(samples_text(finding)),
                       evidence_html(run, finding));
  }
  return out + "</tbody></table>\n";
}

}  // namespace gpusonde::report

// One page with everything in it. It works without its script: the figures are static then. The policy
// in its head forbids every request, and lets only scripts with this page's mark run.
#include <fmt/format.h>

#include "core/random.hpp"
#include "report/escape.hpp"
#include "report/figure_instr.hpp"
#include "report/figure_latency.hpp"
#include "report/figure_map.hpp"
#include "report/figure_tlb.hpp"
#include "report/latency_view.hpp"
#include "report/outcome_count.hpp"
#include "report/page_data.hpp"
#include "report/page_parts.hpp"
#include "report/quantity.hpp"
#include "report/report.hpp"
#include "report/svg.hpp"
#include "survey/run_file.hpp"

namespace gpusonde::embedded {
extern const std::string_view report_d3;
extern const std::string_view report_frame_script;
extern const std::string_view report_script;
extern const std::string_view report_style;
extern const std::string_view report_sweep_script;
}  // namespace gpusonde::embedded

namespace gpusonde {
namespace {

using namespace report;

/// A mark that text inside the run cannot know, since it depends on all of it.
std::string script_mark(const Run& run) {
  std::uint64_t high = 1, low = 2;
  for (const char c : to_json(run)) {
    high = mix64(high ^ static_cast<unsigned char>(c));
    low = mix64(low + high);
  }
  return fmt::format("{:016x}{:016x}", high, low);
}

/// The static figure, which the script replaces by a live one where `data` says which that is.
std::string plot_section(std::size_t number, const std::string& data, const std::string& heading, const Figure& figure,
                         const std::string& numbers) {
  return fmt::format(
      "<section class=\"plot\" id=\"plot-{0}\"{1}><h3>{2}</h3>\n<div class=\"canvas\">{3}</div>\n{4}</section>\n",
      number, data, xml_escape(heading), figure.svg, numbers);
}

std::string table_link(const Run& run, const std::string& table) {
  return fmt::format("<p class=\"numbers\"><a href=\"#{}\">numbers of this plot</a></p>", table_anchor(run, table));
}

/// In the order of figures().
std::string plots_html(const Run& run) {
  std::string out;
  const auto drawn = figures(run);
  std::size_t next = 0;
  const auto add = [&](const std::string& data, const std::string& heading, const std::string& numbers) {
    out += plot_section(next, data, heading, drawn[next], numbers);
    ++next;
  };
  for (const auto& view : latency_views(run)) {
    if (!drawable(view)) continue;
    add(fmt::format(" data-plot=\"{}\"", next), policy_title(view.policy),
        fmt::format("<details class=\"numbers\"><summary>numbers of this plot</summary>\n{}</details>",
                    plot_table_html(view)));
  }
  const auto is_next = [&](std::string_view name) { return next < drawn.size() && drawn[next].name == name; };
  if (is_next("l1.capacity")) add("", "L1 by storage split", table_link(run, "derived.l1.capacity"));
  auto next_sweep = [sweep = std::size_t{0}]() mutable { return fmt::format(" data-sweep=\"{}\"", sweep++); };
  for (const auto& view : sweep_views(run.measurements))
    add(next_sweep(), "TLB sweep, " + policy_title(view.policy), table_link(run, "tlb.sweep"));
  if (is_next("tlb.alias")) add(next_sweep(), std::string(k_alias_title), table_link(run, "tlb.alias"));
  if (is_next("slices.map")) add("", std::string(k_map_heading), table_link(run, "slices.load"));
  if (is_next("slices.atomic")) add("", std::string(k_atomic_map_heading), table_link(run, "slices.atomic"));
  if (is_next("instr.intervals")) add("", std::string(k_intervals_heading), table_link(run, "derived.instr.intervals"));
  if (is_next("memories.cluster")) add("", std::string(k_cluster_map_heading), table_link(run, "memories.cluster"));
  if (is_next("bandwidth")) add("", "Bandwidth", table_link(run, "bandwidth.stream"));
  if (is_next("load.curve")) add("", "Latency against bandwidth", table_link(run, "derived.load.curve"));
  return out.empty() ? "<p>No curve was measured.</p>\n" : out;
}

}  // namespace

std::string html_report(const Run& run) {
  const auto mark = script_mark(run);
  const bool interactive = !embedded::report_d3.empty();
  const auto title = device_title(run.device);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src "
      "'unsafe-inline'; "
      "script-src 'nonce-{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{} · gpusonde</title>\n<style>\n{}{}</style>\n</head>\n<body>\n",
      mark, xml_escape(title), embedded::report_style, svg_style());
  out += fmt::format("<header><h1>{}</h1>\n<p class=\"count\">{}</p>\n</header>\n<main>\n", xml_escape(title),
                     count_line(outcome_count(run)));
  out += "<section id=\"hierarchy\"><h2>Hierarchy</h2>\n<div class=\"scroll\">" + hierarchy_html(run) +
         "</div></section>\n<section id=\"plots\"><h2>Curves</h2>\n";
  if (!interactive) out += "<p class=\"notice\">This gpusonde was built without d3: the figures are static.</p>\n";
  out += plots_html(run) + "</section>\n<section id=\"findings\"><h2>Findings</h2>\n<p>" +
         csv_link(findings_csv(run), "findings") + "</p>\n<div class=\"scroll\">" + findings_html(run) +
         "</div></section>\n<section id=\"measurements\"><h2>Measurements</h2>\n" + measurements_html(run) +
         "</section>\n<section id=\"setting\"><h2>Setting</h2>\n" + facts_html(run) + "</section>\n</main>\n";
  out += fmt::format("<script type=\"application/json\" id=\"page-data\">{}</script>\n", script_json(page_data(run)));
  if (interactive) out += fmt::format("<script nonce=\"{}\">{}</script>\n", mark, embedded::report_d3);
  out += fmt::format("<script nonce=\"{}\">{}{}{}</script>\n</body>\n</html>\n", mark, embedded::report_frame_script,
                     embedded::report_sweep_script, embedded::report_script);
  return out;
}

}  // namespace gpusonde

// What `tlb sweep` and `addressing` say on a terminal.
#include <fmt/format.h>

#include <algorithm>

#include "core/units.hpp"
#include "report/escape.hpp"
#include "report/quantity.hpp"
#include "report/report.hpp"
#include "report/sweep_view.hpp"
#include "report/text_table.hpp"

namespace gpusonde {
namespace {

using namespace report;

std::string bold(std::string_view text, const TextStyle& style) {
  return style.color ? fmt::format("\x1b[1m{}\x1b[0m\n", text) : fmt::format("{}\n", text);
}

std::string head(const Run& run, const TextStyle& style) {
  std::string text = clean(device_title(run.device));
  if (run.environment.sm_mhz_measured > 0) text += fmt::format(" · SM {:.0f} MHz", run.environment.sm_mhz_measured);
  return bold(text, style) + "\n";
}

std::string step_text(const SweepLine& line, const SweepStep& step) {
  const auto& last = line.points[step.last];
  const auto& first = line.points[step.first];
  return fmt::format("{:+.1f} at {:.0f} to {:.0f} ({})", step.to_cycles - step.from_cycles, last.nodes, first.nodes,
                     quantity(last.bytes, "bytes"));
}

std::vector<std::string> sweep_row(const std::string& policy, const SweepLine& line) {
  std::string steps;
  for (const auto& step : line.steps) steps += (steps.empty() ? "" : ", ") + step_text(line, step);
  const auto& first = line.points.front();
  const auto& last = line.points.back();
  return {policy,
          quantity(line.stride_bytes, "bytes"),
          fmt::format("{:.0f} to {:.0f}", first.nodes, last.nodes),
          quantity(last.bytes, "bytes"),
          quantity(first.cycles, "cycles"),
          quantity(last.cycles, "cycles"),
          steps.empty() ? "none" : steps};
}

void add_wrapped(std::string& out, const std::string& text, const TextStyle& style) {
  for (const auto& part : wrap(clean(text), std::max(40U, style.width) - 4)) out += "  " + part + "\n";
}

/// A sentence as it ends a line: with a capital and a full stop.
std::string sentence(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() = static_cast<char>(text.front() - 32);
  return text + ".";
}

void add_verdict(std::string& out, const Finding& finding, const std::string& title, const TextStyle& style) {
  const auto* value = finding.value ? std::get_if<std::string>(&*finding.value) : nullptr;
  out += bold(fmt::format("{}  {}", title, value != nullptr ? *value : to_string(finding.outcome)), style);
  std::string because = finding.reason;
  for (const auto& [key, text] : finding.samples)
    if (key == "because") because = std::get<std::string>(text);
  // The reasons of a verdict are joined by semicolons.
  for (std::size_t from = 0; from < because.size();) {
    const auto end = std::min(because.find("; ", from), because.size());
    add_wrapped(out, sentence(because.substr(from, end - from)), style);
    from = end + 2;
  }
  if (value != nullptr && *value == "VIVT")
    add_wrapped(out, "So a hit takes the virtual address alone, index and tag, and no translation.", style);
  if (value != nullptr && *value == "VIPT")
    add_wrapped(out, "So the set is found by the virtual address and the tag is physical.", style);
  if (value != nullptr && *value == "PIPT")
    add_wrapped(out, "So the address is translated before the cache is looked up, index and tag.", style);
  if (finding.truth) {
    const auto* truth = std::get_if<std::string>(&*finding.truth);
    if (truth != nullptr) add_wrapped(out, fmt::format("The model has {}.", *truth), style);
  }
  out += "\n";
}

}  // namespace

std::string sweep_text(const Run& run, const TextStyle& style) {
  std::string out = head(run, style);
  std::vector<std::vector<std::string>> rows;
  for (const auto& view : sweep_views(run.measurements))
    for (const auto& line : view.lines)
      if (!line.points.empty()) rows.push_back(sweep_row(clean(view.policy), line));
  if (rows.empty()) return out + "nothing was measured\n";
  for (const auto& text : text_table({{"policy", false, 0},
                                      {"stride", true, 0},
                                      {"nodes", true, 2},
                                      {"up to", true, 1},
                                      {"first", true, 0},
                                      {"last", true, 0},
                                      {"steps, by nodes", false, 0}},
                                     std::move(rows), std::max(40U, style.width)))
    out += text + "\n";
  return out;
}

std::string addressing_text(const Run& run, const TextStyle& style) {
  std::string out = head(run, style);
  for (const auto& [id, title] : {std::pair{"l1.addressing", "L1"}, std::pair{"l2.addressing", "L2"}})
    if (const auto* finding = run.finding(id)) add_verdict(out, *finding, title, style);
  return out;
}

}  // namespace gpusonde

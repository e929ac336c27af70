// What `cache l1`, `cache l2` and `slices` say on a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "report/columns.hpp"
#include "report/finding_text.hpp"
#include "report/quantity.hpp"
#include "report/report.hpp"

namespace gpusonde {
namespace {

using namespace report;

/// Findings of a command, in its order, then what else rests on its tables.
constexpr std::array<std::string_view, 11> k_cache_names{
    "line_size",      "sector_size",    "fetch_granularity", "ways",         "sets",       "slices",
    "sets_per_slice", "geometry_bytes", "set_masks",         "set_function", "replacement"};
constexpr std::array<std::string_view, 6> k_slice_names{"slices",         "partitions",     "home_mask",
                                                        "slice_function", "latency_spread", "sms_per_side"};

bool rests_on(const Finding& finding, std::string_view tables) {
  return finding.evidence.starts_with(fmt::format("#/measurements/{}.", tables)) ||
         finding.evidence.starts_with(fmt::format("#/measurements/derived.{}.", tables));
}

template <std::size_t N>
std::vector<FindingLine> lines_of(const Run& run, const std::string& prefix,
                                  const std::array<std::string_view, N>& names, std::string_view tables) {
  std::vector<FindingLine> out;
  std::set<std::string> taken;
  const auto take = [&](const Finding& finding) {
    if (taken.insert(finding.id).second) out.push_back({finding_title(finding.id), &finding, {}});
  };
  for (const auto name : names)
    if (const auto* finding = run.finding(fmt::format("{}.{}", prefix, name))) take(*finding);
  for (const auto& finding : run.findings)
    if (finding.id.starts_with(prefix + ".") && rests_on(finding, tables)) take(finding);
  return out;
}

/// Ways × sets × line against the capacity that was measured apart from them.
std::string capacity_note(const Run& run, const std::string& prefix, const Finding& geometry) {
  const auto* bytes = geometry.value ? std::get_if<double>(&*geometry.value) : nullptr;
  if (bytes == nullptr) return {};
  const auto* capacity = run.finding(prefix + ".capacity");
  const auto* measured = capacity != nullptr && capacity->value ? std::get_if<double>(&*capacity->value) : nullptr;
  if (measured == nullptr) return fmt::format("no {}.capacity was measured to hold it against", prefix);
  const auto interval = capacity->interval.value_or(Interval{*measured, *measured});
  if (interval.low <= *bytes && *bytes <= interval.high)
    return fmt::format("as {}.capacity, {}, measured apart from it", prefix, quantity(*measured, "bytes"));
  return fmt::format("{} {} than {}.capacity, {}, measured apart from it",
                     quantity(std::fabs(*bytes - *measured), "bytes"), *bytes > *measured ? "more" : "less", prefix,
                     quantity(*measured, "bytes"));
}

/// `256 sets were told apart by 12 to 17 lines each`.
std::string classes_text(const Run& run, const std::string& prefix) {
  const auto* table = run.measurements.find("derived.cache.sets");
  if (table == nullptr) return {};
  const auto level = texts(*table, "level");
  const auto lines = numbers(*table, "lines");
  double least = 0, most = 0;
  std::size_t classes = 0;
  for (std::size_t row = 0; row < std::min(level.size(), lines.size()); ++row) {
    if (level[row] != prefix) continue;
    least = classes == 0 ? lines[row] : std::min(least, lines[row]);
    most = std::max(most, lines[row]);
    ++classes;
  }
  if (classes == 0) return {};
  return fmt::format("{} class{} of lines that put each other out, {}{} lines in each", classes,
                     classes == 1 ? "" : "es", plain_number(least), least == most ? "" : " to " + plain_number(most));
}

/// `0-5 8 12-13`: ascending numbers, runs of them as one.
std::string ranges(std::vector<std::uint64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::string out;
  for (std::size_t from = 0, to = 0; from < numbers.size(); from = to) {
    to = from + 1;
    while (to < numbers.size() && numbers[to] == numbers[to - 1] + 1) ++to;
    out += fmt::format("{}{}", out.empty() ? "" : " ", numbers[from]);
    if (to - from > 1) out += fmt::format("-{}", numbers[to - 1]);
  }
  return out;
}

struct Side {
  std::vector<std::uint64_t> sms;
  double sum_cycles = 0;
};

void add_sides(TextPage& page, const Run& run) {
  const auto* table = run.measurements.find("derived.slices.sms");
  if (table == nullptr) return;
  const auto* sms = table->column<std::uint64_t>("sm");
  const auto sides = numbers(*table, "side");
  const auto cycles = numbers(*table, "mean_cycles");
  if (sms == nullptr || sides.size() != sms->size()) return;
  std::map<std::pair<bool, double>, Side> by_side;  // what is not known comes last
  for (std::size_t row = 0; row < sms->size(); ++row) {
    const bool unknown = std::isnan(sides[row]);
    auto& side = by_side[{unknown, unknown ? 0 : sides[row]}];
    side.sms.push_back((*sms)[row]);
    side.sum_cycles += row < cycles.size() ? cycles[row] : std::nan("");
  }
  if (by_side.empty()) return;
  page.blank();
  page.line("SMs by side", k_bold);
  for (const auto& [key, side] : by_side) {
    const auto count = side.sms.size();
    const double mean = side.sum_cycles / static_cast<double>(count);
    page.indented(fmt::format("{}  {} SM{}{}: {}", key.first ? "not known" : fmt::format("side {:.0f}", key.second),
                              count, count == 1 ? "" : "s",
                              std::isnan(mean) ? "" : fmt::format(", mean {}", quantity(mean, "cycles")),
                              ranges(side.sms)));
  }
}

void add_homes(TextPage& page, const Run& run) {
  const auto* table = run.measurements.find("derived.slices.lines");
  if (table == nullptr || table->rows() == 0) return;
  std::map<double, std::size_t> at_home;
  std::size_t sideless = 0, sliceless = 0;
  for (const double side : numbers(*table, "home_side")) std::isnan(side) ? ++sideless : ++at_home[side];
  for (const double slice : numbers(*table, "slice")) sliceless += std::isnan(slice) ? 1 : 0;
  page.blank();
  std::vector<std::string> parts{fmt::format("{} lines", table->rows())};
  for (const auto& [side, lines] : at_home) parts.push_back(fmt::format("{} at home on side {:.0f}", lines, side));
  if (sideless > 0) parts.push_back(fmt::format("{} with no clear home", sideless));
  if (sliceless > 0) parts.push_back(fmt::format("{} in no clear slice", sliceless));
  page.paragraph(parts);
}

}  // namespace

std::string cache_text(const Run& run, const TextStyle& style) {
  TextPage page(style);
  add_device_line(page, run);
  bool any = false;
  for (const std::string prefix : {"l1", "l2"}) {
    auto lines = lines_of(run, prefix, k_cache_names, "cache");
    const auto classes = classes_text(run, prefix);
    if (lines.empty() && classes.empty()) continue;
    for (auto& line : lines)
      if (line.finding->id == prefix + ".geometry_bytes") {
        line.title = prefix == "l1" ? "ways × sets × line" : "geometry";
        if (auto note = capacity_note(run, prefix, *line.finding); !note.empty()) line.notes.push_back(std::move(note));
      }
    page.blank();
    page.line(level_title(prefix), k_bold);
    add_findings(page, lines);
    if (!classes.empty()) page.indented(classes);
    any = true;
  }
  if (!any) page.line("nothing was measured");
  return std::move(page).finish();
}

std::string slices_text(const Run& run, const TextStyle& style) {
  TextPage page(style);
  add_device_line(page, run);
  const auto lines = lines_of(run, "l2", k_slice_names, "slices");
  if (lines.empty() && run.measurements.find("derived.slices.sms") == nullptr &&
      run.measurements.find("derived.slices.lines") == nullptr) {
    page.line("nothing was measured");
    return std::move(page).finish();
  }
  add_findings(page, lines);
  add_sides(page, run);
  add_homes(page, run);
  return std::move(page).finish();
}

}  // namespace gpusonde

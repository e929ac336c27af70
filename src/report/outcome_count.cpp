#include "report/outcome_count.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

namespace gpusonde::report {
namespace {

std::optional<std::chrono::sys_seconds> parse_time(const std::string& text) {
  int year = 0;
  unsigned month = 0, day = 0, hour = 0, minute = 0, second = 0;
  char zone = 0;
  if (std::sscanf(text.c_str(), "%4d-%2u-%2uT%2u:%2u:%2u%c", &year, &month, &day, &hour, &minute, &second, &zone) != 7)
    return {};
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  if (zone != 'Z' || !date.ok()) return {};
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second);
}

}  // namespace

OutcomeCount outcome_count(const Run& run) {
  OutcomeCount out;
  for (const auto& finding : run.findings) {
    switch (finding.outcome) {
      case Outcome::ok: ++out.ok; break;
      case Outcome::inconclusive: ++out.inconclusive; break;
      case Outcome::failed: ++out.failed; break;
      case Outcome::unsupported: ++out.unsupported; break;
      case Outcome::skipped: ++out.skipped; break;
    }
  }
  return out;
}

std::string count_line(const OutcomeCount& count) {
  auto text = fmt::format("{} finding{} ok, {} inconclusive, {} failed", count.ok, count.ok == 1 ? "" : "s",
                          count.inconclusive, count.failed);
  if (count.unsupported > 0 || count.skipped > 0) {
    text += " (";
    if (count.unsupported > 0) text += fmt::format("{} unsupported", count.unsupported);
    if (count.skipped > 0) text += fmt::format("{}{} skipped", count.unsupported > 0 ? ", " : "", count.skipped);
    text += ")";
  }
  return text;
}

std::optional<long long> seconds_between(const std::string& from, const std::string& to) {
  const auto a = parse_time(from);
  const auto b = parse_time(to);
  if (!a || !b || *b < *a) return {};
  return (*b - *a).count();
}

}  // namespace gpusonde::report

#include "report/quantity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/units.hpp"
#include "report/escape.hpp"
#include "report/text_table.hpp"

namespace gpusonde::report {
namespace {

/// At most `most` characters, and whether some were left out.
std::string cut(std::string_view text, std::size_t most) {
  const auto cleaned = clean(text);
  if (display_width(cleaned) <= most) return cleaned;
  std::string out;
  std::size_t left = most - 2;
  for (const char c : cleaned) {
    const bool begins = (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    if (begins && left-- == 0) break;
    out += c;
  }
  return out + " …";
}

}  // namespace

std::string plain_number(double value) {
  if (value == std::floor(value) && std::fabs(value) < 1e15) return fmt::format("{:.0f}", value);
  auto text = fmt::format("{:.4f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string quantity(double value, std::string_view unit) {
  if (unit == "cycles") return fmt::format("{:.1f} cyc", value);
  if (unit == "ns") return fmt::format("{:.1f} ns", value);
  if (unit == "bytes" && value >= 0 && value < 0x1p64) return format_bytes(static_cast<std::uint64_t>(value));
  if (unit == "MHz") return fmt::format("{:.0f} MHz", value);
  if (unit == "bytes/s") {
    constexpr std::array<std::string_view, 5> steps{"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
    std::size_t step = 0;
    for (; std::fabs(value) >= 1000 && step + 1 < steps.size(); ++step) value /= 1000;
    return fmt::format("{:.4g} {}", value, steps[step]);
  }
  if (unit.empty() || unit == "count") return plain_number(value);
  return fmt::format("{} {}", plain_number(value), unit);
}

std::string quantity(const FindingValue& value, std::string_view unit) {
  if (const auto* real = std::get_if<double>(&value)) return quantity(*real, unit);
  if (const auto* name = std::get_if<std::string>(&value)) return *name;
  return fmt::format("{}", fmt::join(std::get<std::vector<std::string>>(value), ", "));
}

std::string compact(const FindingValue& value, std::string_view unit) {
  constexpr std::size_t most = 40;
  const auto text = quantity(value, unit);
  if (const auto* list = std::get_if<std::vector<std::string>>(&value); list != nullptr && list->size() > 1)
    return display_width(text) <= most ? text
                                       : fmt::format("{}, … ({} in all)", cut(list->front(), most), list->size());
  const auto end = text.find('\n');
  if (end == std::string::npos || end + 1 == text.size()) return cut(std::string_view(text).substr(0, end), most);
  const auto lines = std::count(text.begin(), text.end(), '\n') + (text.ends_with('\n') ? 0 : 1);
  return fmt::format("{} ({} lines)", cut(text.substr(0, end), most), lines);
}

std::string interval_text(const Finding& finding) {
  if (!finding.interval || finding.interval->low == finding.interval->high) return {};
  const auto low = quantity(finding.interval->low, finding.unit);
  const auto high = quantity(finding.interval->high, finding.unit);
  const auto unit_at = low.rfind(' ');
  const bool same_unit = unit_at != std::string::npos && high.ends_with(low.substr(unit_at));
  return fmt::format("{} to {}", same_unit ? low.substr(0, unit_at) : low, high);
}

std::string level_title(std::string_view name) {
  if (name.starts_with("tlb.")) return fmt::format("TLB {}", name.substr(4));
  if (name == "l2.far") return "L2 far";
  std::string out;
  const bool short_name = name.size() <= 4;  // l1, l2, dram: abbreviations
  for (const char c : name) {
    if (c == '.')
      out += ' ';
    else
      out += short_name && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return out;
}

std::string device_title(const DeviceInfo& device) {
  return (device.kind == DeviceKind::simulated ? "simulated " : "") + clean(device.name);
}

}  // namespace gpusonde::report

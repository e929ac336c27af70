#include "report/quantity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>

#include "core/units.hpp"
#include "report/escape.hpp"

namespace gpusonde::report {

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
    return fmt::format("{:.1f} {}", value, steps[step]);
  }
  if (unit.empty() || unit == "count") return plain_number(value);
  return fmt::format("{} {}", plain_number(value), unit);
}

std::string quantity(const FindingValue& value, std::string_view unit) {
  if (const auto* real = std::get_if<double>(&value)) return quantity(*real, unit);
  if (const auto* name = std::get_if<std::string>(&value)) return *name;
  return fmt::format("{}", fmt::join(std::get<std::vector<std::string>>(value), ", "));
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

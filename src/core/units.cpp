#include "core/units.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace gpusonde {
namespace {

struct Suffix {
  std::string_view text;
  double factor;
};

constexpr std::array k_suffixes{
    Suffix{"TiB", 0x1p40}, Suffix{"GiB", 0x1p30}, Suffix{"MiB", 0x1p20}, Suffix{"KiB", 0x1p10}, Suffix{"TB", 1e12},
    Suffix{"GB", 1e9},     Suffix{"MB", 1e6},     Suffix{"KB", 1e3},     Suffix{"kB", 1e3},     Suffix{"T", 0x1p40},
    Suffix{"G", 0x1p30},   Suffix{"M", 0x1p20},   Suffix{"K", 0x1p10},   Suffix{"k", 0x1p10},   Suffix{"B", 1},
};

std::string format_with(std::uint64_t bytes, std::string_view gap) {
  constexpr std::array<std::string_view, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  double scaled = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (scaled >= 1024 && unit + 1 < units.size()) {
    scaled /= 1024;
    ++unit;
  }
  auto number = fmt::format("{:.2f}", scaled);
  while (number.back() == '0') number.pop_back();
  if (number.back() == '.') number.pop_back();
  return fmt::format("{}{}{}", number, gap, units[unit]);
}

}  // namespace

Result<std::uint64_t> parse_bytes(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return fail(ErrorKind::usage, fmt::format("'{}' {}; write a size such as 4KiB, 2MiB or 1GiB", text, why));
  };
  double number = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (code != std::errc{} || rest == text.data()) return wrong("is not a size");
  std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  while (!suffix.empty() && suffix.front() == ' ') suffix.remove_prefix(1);
  double factor = suffix.empty() ? 1 : 0;
  for (const auto& candidate : k_suffixes)
    if (candidate.text == suffix) factor = candidate.factor;
  if (factor == 0) return wrong("has an unknown unit");
  if (number < 0) return wrong("is negative");
  if (suffix.empty() && text.find('.') == std::string_view::npos) {
    std::uint64_t exact = 0;  // plain integers keep all 64 bits
    if (std::from_chars(text.data(), end, exact).ec != std::errc{}) return wrong("does not fit 64 bits");
    return exact;
  }
  const double bytes = number * factor;
  if (!(bytes < 0x1p64)) return wrong("does not fit 64 bits");
  if (bytes != std::floor(bytes)) return wrong("is not a whole number of bytes");
  return static_cast<std::uint64_t>(bytes);
}

std::string format_bytes(std::uint64_t bytes) { return format_with(bytes, " "); }

std::string format_bytes_compact(std::uint64_t bytes) { return format_with(bytes, ""); }

}  // namespace gpusonde

#include "report/scale.hpp"

#include <array>
#include <cstdint>

#include "core/units.hpp"
#include "report/quantity.hpp"

namespace gpusonde::report {

namespace {

std::vector<Tick> powers_of_two(double low, double high, std::size_t most, std::string (*label)(std::uint64_t)) {
  const int first = static_cast<int>(std::ceil(std::log2(low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log2(high) + 1e-9));
  int step = 1;  // of the exponent; 10 and its divisors keep 1 KiB, 1 MiB and 1 GiB among the labels
  for (const int candidate : {1, 2, 5, 10, 20}) {
    step = candidate;
    if (static_cast<std::size_t>((last - first) / step + 1) <= most) break;
  }
  std::vector<Tick> ticks;
  for (int exponent = first; exponent <= last; ++exponent) {
    const double value = std::exp2(exponent);
    const bool labelled = exponent >= 0 && exponent < 64 && exponent % step == 0;
    ticks.push_back({value, labelled ? label(static_cast<std::uint64_t>(value)) : ""});
  }
  return ticks;
}

std::string count_text(std::uint64_t count) {
  if (count < 1'000'000) return std::to_string(count);
  constexpr std::array<const char*, 5> units{" Mi", " Gi", " Ti", " Pi", " Ei"};
  std::size_t unit = 0;
  for (count >>= 20U; count >= 1024; count >>= 10U) ++unit;
  return std::to_string(count) + units[unit];
}

}  // namespace

std::vector<Tick> binary_ticks(double low, double high, std::size_t most) {
  return powers_of_two(low, high, most, format_bytes);
}

std::vector<Tick> count_ticks(double low, double high, std::size_t most) {
  return powers_of_two(low, high, most, count_text);
}

std::vector<Tick> decimal_ticks(double low, double high) {
  std::vector<Tick> ticks;
  const bool few = high / low < 3000;
  for (int exponent = static_cast<int>(std::floor(std::log10(low))); std::pow(10.0, exponent) <= high; ++exponent) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10.0, exponent);
      if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
      ticks.push_back({value, few || factor == 1.0 ? plain_number(value) : ""});
    }
  }
  return ticks;
}

std::vector<Tick> round_ticks(double low, double high, std::size_t most) {
  const double least_step = (high - low) / static_cast<double>(most);
  const double decade = std::pow(10.0, std::floor(std::log10(least_step)));
  double step = 10 * decade;
  for (const double factor : {5.0, 2.0, 1.0})
    if (factor * decade >= least_step * (1 - 1e-9)) step = factor * decade;
  std::vector<Tick> ticks;
  for (double n = std::ceil(low / step - 1e-9); n * step <= high + step * 1e-9; ++n)
    ticks.push_back({n * step, plain_number(n == 0 ? 0 : n * step)});
  return ticks;
}

std::vector<Tick> latency_ticks(double low, double high) {
  return high / low < 10 ? round_ticks(low, high, 9) : decimal_ticks(low, high);
}

}  // namespace gpusonde::report

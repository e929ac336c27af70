#include "report/scale.hpp"

#include <cstdint>

#include "core/units.hpp"
#include "report/quantity.hpp"

namespace gpusonde::report {

std::vector<Tick> binary_ticks(double low, double high, std::size_t most) {
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
    ticks.push_back({value, labelled ? format_bytes(static_cast<std::uint64_t>(value)) : ""});
  }
  return ticks;
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

}  // namespace gpusonde::report

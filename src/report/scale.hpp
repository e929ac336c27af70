// Axes: where a value is drawn, and which values get a tick.
#pragma once

#include <cmath>
#include <string>
#include <vector>

namespace gpusonde::report {

/// Maps [low, high] onto [from, to] pixels by logarithm. Precondition: 0 < low < high.
struct LogScale {
  double low = 1;
  double high = 10;
  double from = 0;
  double to = 1;

  [[nodiscard]] double operator()(double value) const {
    return from + (to - from) * std::log(value / low) / std::log(high / low);
  }
  [[nodiscard]] double at(double pixel) const { return low * std::pow(high / low, (pixel - from) / (to - from)); }
};

/// Maps [low, high] onto [from, to] pixels. Precondition: low < high.
struct LinearScale {
  double low = 0;
  double high = 1;
  double from = 0;
  double to = 1;

  [[nodiscard]] double operator()(double value) const { return from + (to - from) * (value - low) / (high - low); }
};

struct Tick {
  double value = 0;
  std::string label;  ///< empty for a minor tick
};

/// Powers of two within [low, high]; every second, fourth, ... is labelled so that at most `most` are.
[[nodiscard]] std::vector<Tick> binary_ticks(double low, double high, std::size_t most);
/// The same for numbers of things: `1`, `16384`, and from a million on `1 Mi`.
[[nodiscard]] std::vector<Tick> count_ticks(double low, double high, std::size_t most);
/// 1, 2, 5 times powers of ten within [low, high], all labelled while they are few, else powers of ten.
[[nodiscard]] std::vector<Tick> decimal_ticks(double low, double high);
/// Multiples of 1, 2 or 5 times a power of ten within [low, high], evenly spaced, at most `most`.
[[nodiscard]] std::vector<Tick> round_ticks(double low, double high, std::size_t most);
/// For a logarithmic axis of latencies: round_ticks over less than a decade, else decimal_ticks.
[[nodiscard]] std::vector<Tick> latency_ticks(double low, double high);

}  // namespace gpusonde::report

// A finding: one quantity of the device, with its outcome, interval and evidence.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gpusonde {

/// How an estimate ended. Only `ok` carries a value.
enum class Outcome { ok, unsupported, skipped, inconclusive, failed };

[[nodiscard]] std::string_view to_string(Outcome outcome) noexcept;

/// Closed interval in the finding's unit. For a structural quantity low == high.
struct Interval {
  double low = 0;
  double high = 0;
};

/// A number, a name (`lru`, `VIVT`), or a list of names or hexadecimal masks.
using FindingValue = std::variant<double, std::string, std::vector<std::string>>;

/// One entry of `samples`: how many, which clock, which TLB state.
using SampleValue = std::variant<double, std::string>;

/// Ids and units are listed in docs/findings.md. Invariant: `value` is set iff outcome is ok, and
/// `reason` is set otherwise.
struct Finding {
  std::string id;    ///< stable, e.g. `l1.hit_latency`
  std::string unit;  ///< `cycles`, `ns`, `bytes`, `MHz`, `count`, `name`, ...
  Outcome outcome = Outcome::inconclusive;
  std::string reason;                                        ///< one sentence when not ok
  std::optional<FindingValue> value;                         ///< only when ok
  std::optional<Interval> interval;                          ///< numeric values only
  std::vector<std::pair<std::string, SampleValue>> samples;  ///< what the value rests on
  std::string evidence;                                      ///< `#/measurements/NAME`
  std::optional<FindingValue> truth;                         ///< simulated devices only
  std::optional<bool> agrees;                                ///< truth lies in the interval
};

}  // namespace gpusonde

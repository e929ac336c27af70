// Values of findings as people read them.
#pragma once

#include <string>
#include <string_view>

#include "gpusonde/device.hpp"
#include "gpusonde/finding.hpp"

namespace gpusonde::report {

/// `40.0 cyc`, `15.4 ns`, `128 KiB`, `2600 MHz`, `4`, `1.2 TB/s`; an unknown unit is written out.
[[nodiscard]] std::string quantity(double value, std::string_view unit);
[[nodiscard]] std::string quantity(const FindingValue& value, std::string_view unit);
/// The same where there is one line for it: of a long list its first entry, of a text of several lines its first
/// line, and how many there are.
[[nodiscard]] std::string compact(const FindingValue& value, std::string_view unit);
/// `39.9 to 40.1 cyc`; empty for a single value, which the quantity itself says.
[[nodiscard]] std::string interval_text(const Finding& finding);
/// Up to four digits after the point, no trailing zeros.
[[nodiscard]] std::string plain_number(double value);
/// `l1` → `L1`, `l2.far` → `L2 far`, `dram` → `DRAM`, `tlb.2` → `TLB 2`.
[[nodiscard]] std::string level_title(std::string_view name);

/// `simulated RTX 4090`: a simulated device is never shown as if it were real.
[[nodiscard]] std::string device_title(const DeviceInfo& device);

}  // namespace gpusonde::report

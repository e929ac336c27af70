// The latency curve of one load path.
#pragma once

#include "gpusonde/device.hpp"
#include "report/latency_view.hpp"
#include "report/report.hpp"

namespace gpusonde::report {

/// Precondition: the view has a chain with at least two points of different size.
[[nodiscard]] Figure latency_figure(const LatencyView& view, const Run& run);

/// `L1 and L2 (ld.global.ca)`: what loads of this kind see.
[[nodiscard]] std::string policy_title(const std::string& policy);

}  // namespace gpusonde::report

// What a simulated experiment does when it is told to stop.
#pragma once

#include "core/cancel.hpp"
#include "gpusonde/error.hpp"

namespace gpusonde::sim {

[[nodiscard]] inline bool cancelled(const CancelToken* cancel) noexcept {
  return cancel != nullptr && cancel->requested();
}

[[nodiscard]] inline tl::unexpected<Error> interrupted() { return fail(ErrorKind::interrupted, "interrupted"); }

}  // namespace gpusonde::sim

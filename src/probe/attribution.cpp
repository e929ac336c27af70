#include <fmt/format.h>

#include "core/units.hpp"
#include "probe/hierarchy.hpp"

namespace gpusonde {
namespace {

enum class Vote { none, capacity, translation };

constexpr double k_margin = 0.3;  ///< of the rise; a vote must lie this near to one of the two levels

// The same lines page by page: near the upper level means the lines ran out.
Vote vote_of_page_grouped(double lower, double upper, double cycles) {
  const double rise = upper - lower;
  if (cycles >= upper - k_margin * rise) return Vote::capacity;
  if (cycles <= lower + k_margin * rise) return Vote::translation;
  return Vote::none;
}

// Fewer lines on the same pages: near the upper level means the translations ran out. Below the lower
// level it says nothing, since so few lines may fit a nearer cache yet.
Vote vote_of_sparse(double lower, double upper, double cycles) {
  const double rise = upper - lower;
  if (cycles >= upper - k_margin * rise) return Vote::translation;
  if (cycles <= lower + k_margin * rise && cycles >= lower - k_margin * rise) return Vote::capacity;
  return Vote::none;
}

}  // namespace

Attribution attribute_step(double lower_cycles, double upper_cycles, const StepControls& controls) {
  if (!controls.page_grouped_cycles && !controls.sparse_cycles)
    return {StepCause::unattributed, "no control was measured at this step"};
  double upper = upper_cycles;
  if (controls.random_cycles) {
    if (*controls.random_cycles < lower_cycles + 0.5 * (upper_cycles - lower_cycles))
      return {StepCause::unattributed,
              fmt::format("not reproduced: {:.1f} cycles when measured again at {}", *controls.random_cycles,
                          format_bytes(static_cast<std::uint64_t>(controls.size_bytes)))};
    upper = *controls.random_cycles;
  }
  std::string figures =
      fmt::format("at {}: {:.1f} cycles", format_bytes(static_cast<std::uint64_t>(controls.size_bytes)), upper);
  Vote grouped = Vote::none;
  Vote sparse = Vote::none;
  if (controls.page_grouped_cycles) {
    grouped = vote_of_page_grouped(lower_cycles, upper, *controls.page_grouped_cycles);
    figures += fmt::format(", page by page {:.1f}", *controls.page_grouped_cycles);
  }
  if (controls.sparse_cycles) {
    sparse = vote_of_sparse(lower_cycles, upper, *controls.sparse_cycles);
    figures += fmt::format(", fewer lines on the same pages {:.1f}", *controls.sparse_cycles);
  }
  const bool disagree = grouped != Vote::none && sparse != Vote::none && grouped != sparse;
  const Vote vote = grouped != Vote::none ? grouped : sparse;
  if (disagree || vote == Vote::none) return {StepCause::unattributed, "the controls do not settle it: " + figures};
  return {vote == Vote::capacity ? StepCause::capacity : StepCause::translation, figures};
}

}  // namespace gpusonde

// The largest count that stays resident, by bisection with a confirmed edge.
#include <fmt/format.h>

#include "inference/capacity.hpp"

namespace gpusonde {

Result<Estimate> bisect_resident(std::uint64_t low, std::uint64_t high,
                                 const std::function<Result<bool>(std::uint64_t)>& resident) {
  if (low >= high) return inconclusive(fmt::format("nothing lies between {} and {}", low, high));
  const auto at_low = resident(low);
  if (!at_low) return tl::unexpected(at_low.error());
  if (!*at_low) return inconclusive(fmt::format("even {} do not stay resident", low));
  const auto at_high = resident(high);
  if (!at_high) return tl::unexpected(at_high.error());
  if (*at_high) return inconclusive(fmt::format("{} still stay resident; the edge lies higher", high));

  while (high - low > 1) {
    const auto middle = low + (high - low) / 2;
    const auto answer = resident(middle);
    if (!answer) return tl::unexpected(answer.error());
    (*answer ? low : high) = middle;
  }

  // One wrong answer on the way leads to an edge that is none: asking its two sides again shows it.
  const auto below = resident(low);
  if (!below) return tl::unexpected(below.error());
  const auto above = resident(high);
  if (!above) return tl::unexpected(above.error());
  if (!*below || *above)
    return inconclusive(fmt::format("the edge between {} and {} was not confirmed when asked again", low, high));
  const auto value = static_cast<double>(low);
  return Estimate{Outcome::ok, value, {value, value}, {}};
}

}  // namespace gpusonde

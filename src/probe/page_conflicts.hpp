// Group testing over pages: the smallest sets of pages that push one page out of a translation cache. Such a set has
// as many pages as the cache has ways, whatever function of the address picks the set.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "gpusonde/error.hpp"
#include "probe/alias_places.hpp"

namespace gpusonde {

struct ConflictQuestion {
  std::uint64_t span_bytes = 0;  ///< of the level; pages are numbered by it
  std::uint64_t page_bytes = 0;
  std::uint64_t victim = 0;          ///< number of the page that is to be pushed out
  std::vector<std::uint64_t> flush;  ///< pages that keep nearer levels from answering; may be empty
  double step_cycles = 0;            ///< what pushing it out costs
};

/// Walks the places, which the caller times as it likes, and gives the reading of the last one, the victim's, in
/// cycles.
using ReadVictim = std::function<Result<double>(ListChaseExperiment chase)>;

struct ConflictSet {
  std::vector<std::uint64_t> pages;  ///< empty: none of at most `k_most_conflict_pages` was found
  std::uint64_t tests = 0;
};

inline constexpr std::size_t k_most_conflict_pages = 64;

/// Shrinks `pool` as long as it pushes the victim out, until no page can be left out, and then asks again three times.
/// Needs some ways squared times log(pool) laps. Errors: those of `read`.
[[nodiscard]] Result<ConflictSet> find_conflict_set(const ConflictQuestion& question, std::vector<std::uint64_t> pool,
                                                    const ReadVictim& read);

}  // namespace gpusonde

// The oracle of the geometry probes: is a line still in its cache after others were loaded? Many questions go into one
// experiment. From it, the smallest set of lines that pushes one line out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/cancel.hpp"
#include "experiment/experiment.hpp"
#include "gpusonde/error.hpp"
#include "target/target.hpp"

namespace gpusonde {

struct EvictionSettings {
  LoadPath path = LoadPath::global_ca;
  Region region = Region::buffer;
  bool at_once = true;       ///< questions may be asked on several SMs at once: L1's only
  std::uint32_t rounds = 1;  ///< times that the others are loaded
  std::uint32_t victim_touches = 1;
  bool drop_victim = false;  ///< first, so that its load is a new one whatever was asked before
  StorageSplit split;
  std::uint32_t sm = 0;  ///< where questions that follow each other are asked
};

/// Which of a list's places are loaded between the victim's two loads: [first, first + count).
struct EvictionQuestion {
  std::uint64_t victim = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// Readings of loads that hit and of loads that miss, and where they part.
struct HitReadings {
  double hit_cycles = 0;       ///< median
  double miss_cycles = 0;      ///< median
  double hit_high_cycles = 0;  ///< 99 % of hits are below
  double miss_low_cycles = 0;  ///< 99 % of misses are above
  double limit_cycles = 0;     ///< above: a miss
  std::string trouble;         ///< one sentence where they cannot be told apart
};

class EvictionOracle {
 public:
  EvictionOracle(Target& target, const CancelToken* cancel, const EvictionSettings& settings)
      : m_target(target), m_cancel(cancel), m_settings(settings) {}

  [[nodiscard]] const EvictionSettings& settings() const noexcept { return m_settings; }
  void set_rounds(std::uint32_t rounds) noexcept { m_settings.rounds = rounds; }
  void set_limit(double limit_cycles) noexcept { m_limit_cycles = limit_cycles; }

  /// The victim's reading after each question's others, `votes` readings a question, in order.
  [[nodiscard]] Result<std::vector<std::uint32_t>> readings(std::span<const std::uint64_t> places,
                                                            std::span<const EvictionQuestion> questions,
                                                            std::uint32_t votes);
  /// How many of `votes` say that the victim was pushed out.
  [[nodiscard]] Result<std::vector<std::uint32_t>> evictions(std::span<const std::uint64_t> places,
                                                             std::span<const EvictionQuestion> questions,
                                                             std::uint32_t votes);
  /// Questions asked so far, with votes.
  [[nodiscard]] std::uint64_t asked() const noexcept { return m_asked; }

 private:
  Target& m_target;
  const CancelToken* m_cancel;
  EvictionSettings m_settings;
  double m_limit_cycles = 0;
  std::uint64_t m_asked = 0;
};

/// Lines that, loaded once after a victim, push it out, and fewer do not.
struct EvictionSet {
  std::uint64_t victim = 0;
  std::vector<std::uint64_t> lines;    ///< empty: none was found
  std::string trouble;                 ///< why not
  bool pool_evicts = false;            ///< all of the pool push it out
  std::uint32_t evicted = 0;           ///< of `checks`, by all lines
  std::uint32_t evicted_less_one = 0;  ///< of `checks`, by all lines but one, each left out in turn
  std::uint32_t checks = 0;
  std::uint32_t evicted_cycles = 0;  ///< median of what the victim took then
};

/// The smallest prefix of the pool that pushes the victim out ends with a line that matters: that one is kept, the
/// prefix shortened by it, and so on until those kept suffice. As many steps as there are ways, each a search by
/// halves (or in as many parts as can be asked at once). `most_lines`: give up beyond. Errors: those of the target.
[[nodiscard]] Result<EvictionSet> find_eviction_set(EvictionOracle& oracle, std::uint64_t victim,
                                                    std::vector<std::uint64_t> pool, std::size_t most_lines);

}  // namespace gpusonde

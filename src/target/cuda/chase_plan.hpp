// Cuts a chase into launches that are short enough for a desktop's watchdog.
#pragma once

#include <cstdint>
#include <vector>

#include "experiment/experiment.hpp"

namespace gpusonde::cuda {

/// One launch: warm `warm_count` ring positions from `warm_first` on in parallel, walk `lead_hops`
/// untimed, then time `repetitions` times `hops` hops into results `first_repetition`, ... A repetition
/// may be spread over launches; its parts add up.
struct ChaseLaunch {
  std::uint64_t warm_first = 0;
  std::uint64_t warm_count = 0;
  std::uint64_t lead_hops = 0;
  std::uint64_t hops = 0;
  std::uint32_t repetitions = 0;
  std::uint32_t first_repetition = 0;

  friend bool operator==(const ChaseLaunch&, const ChaseLaunch&) = default;
};

/// What L1 (or shared memory) holds does not outlive a launch, so a ring that could fit there is warmed
/// in the launch that times it, and warmed again by one lap in each further one. What L2 holds stays.
/// `resident_bound_nodes`: so many nodes of 128 bytes can be resident at most (0: not known). A parallel
/// warm-up of a far larger ring replays only the end of the lap that can still be resident.
[[nodiscard]] std::vector<ChaseLaunch> plan_chase(const ChaseExperiment& experiment,
                                                  std::uint64_t resident_bound_nodes = 0);

/// The launches of a list's chase. Those of the warm-up are apart where it has an SM of its own.
struct ListChasePlan {
  std::vector<ChaseLaunch> warm_up;
  std::vector<ChaseLaunch> chase;
};

/// One launch where all hops fit it; else warm-up and timing apart, each in as many as it takes: what L2
/// holds stays, and what L1 holds a list of that many hops does not ask about.
[[nodiscard]] ListChasePlan plan_chase(const ListChaseExperiment& experiment);

/// Untimed hops before a timed chase that was warmed in parallel.
inline constexpr std::uint64_t k_lead_hops = 8;

/// Ring positions linked by one launch of kernel `link`.
inline constexpr std::uint64_t k_positions_a_link_launch = std::uint64_t{1} << 27;

}  // namespace gpusonde::cuda

// One cache set and the policies that may rule in it, written from their published descriptions and apart from the
// simulated GPU. A policy sees ways, never lines: which way was hit, which was filled, and which is to go.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/random.hpp"

namespace gpusonde {

inline constexpr std::uint32_t k_most_set_ways = 64;

class SetPolicy {
 public:
  SetPolicy() = default;
  SetPolicy(const SetPolicy&) = delete;
  SetPolicy& operator=(const SetPolicy&) = delete;
  virtual ~SetPolicy() = default;

  virtual void hit(std::uint32_t way) = 0;
  virtual void filled(std::uint32_t way) = 0;
  /// The way to fill when none is empty; `filled` follows.
  [[nodiscard]] virtual std::uint32_t victim() = 0;
  /// The way to fill when some are empty. Precondition: `empty`, a bit a way, is not 0.
  [[nodiscard]] virtual std::uint32_t empty_way(std::uint64_t empty) const {
    return static_cast<std::uint32_t>(std::countr_zero(empty));
  }
};

/// A policy to be tried. Variants of one family differ in what its name leaves open.
struct SetCandidate {
  std::string family;   ///< "lru", "fifo", "tree-plru", ...
  std::string variant;  ///< what sets it apart in its family; may be empty
  bool by_chance = false;
  /// What the policy remembers outlives the lines: an emptied set starts with it, unknown.
  bool stale = false;
  bool of_empty_sets = false;  ///< differs from another variant only in sets that were emptied
  std::function<std::unique_ptr<SetPolicy>(std::uint32_t ways, Random random)> make;
};

/// All of them: families in a fixed order, variants of one family together. Precondition: 2 <= ways <= 64.
[[nodiscard]] std::vector<SetCandidate> set_candidates(std::uint32_t ways);

/// Each adds its family's variants to a list.
/// lru, fifo, slru, lru-insertion, lru-behind-hits
void add_recency_policies(std::uint32_t ways, std::vector<SetCandidate>& list);
void add_tree_policies(std::uint32_t ways, std::vector<SetCandidate>& list);    // tree-plru
void add_nru_policies(std::vector<SetCandidate>& list);                         // nru, nru-on-hit
void add_rrip_policies(std::vector<SetCandidate>& list);                        // srrip
void add_random_policies(std::uint32_t ways, std::vector<SetCandidate>& list);  // random

/// The lines of one set. A line is a number below `line_count`.
class CacheSet {
 public:
  CacheSet(std::uint32_t ways, std::uint32_t line_count, std::unique_ptr<SetPolicy> policy);

  /// True on a hit; afterwards the line is there.
  bool access(std::uint32_t line);
  /// Empties all ways; what the policy remembers stays.
  void invalidate();

 private:
  std::vector<std::int8_t> m_way_of;    ///< of each line; -1: absent
  std::vector<std::uint32_t> m_holder;  ///< line of each way
  std::uint64_t m_all;                  ///< a bit a way
  std::uint64_t m_empty;
  std::unique_ptr<SetPolicy> m_policy;
};

}  // namespace gpusonde

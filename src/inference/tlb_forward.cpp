#include "inference/tlb_forward.hpp"

#include <algorithm>
#include <bit>

#include "core/random.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_own_address = 0x5A5A5ULL << 40;  // far from any place of a ring
constexpr std::uint32_t k_none = 0xFFFFFFFF;

std::uint32_t set_of(const TlbShape& shape, std::uint64_t number) {
  const std::uint32_t sets = shape.sets();
  if (!shape.folded || sets == 1) return static_cast<std::uint32_t>(number % sets);
  const auto bits = static_cast<unsigned>(std::countr_zero(sets));
  std::uint64_t folded = 0;
  for (std::uint64_t rest = number; rest != 0; rest >>= bits) folded ^= rest;
  return static_cast<std::uint32_t>(folded & (sets - 1));
}

/// Slots of a set are chained from the newest to the oldest; the policy says who is oldest.
class Level {
 public:
  Level(const TlbShape& shape, const TlbTrace& trace, Random random)
      : Level(shape, trace.spans(shift_of(shape)),
              shape.parts > 1 ? &trace.spans(shift_of(shape) - static_cast<unsigned>(std::countr_zero(shape.parts)))
                              : nullptr,
              random) {}

  /// True on a hit; afterwards the translation is there.
  bool access(std::size_t place) {
    return access_span(m_by_place[place],
                       m_parts == nullptr ? 1U : part_of(m_parts->numbers[m_parts->by_place[place]]));
  }
  bool access_own() { return access_span(static_cast<std::uint32_t>(m_set_of.size()) - 1, 1); }

  static unsigned shift_of(const TlbShape& shape) { return static_cast<unsigned>(std::countr_zero(shape.span_bytes)); }

 private:
  Level(const TlbShape& shape, const TlbTrace::Spans& spans, const TlbTrace::Spans* parts, Random random)
      : m_policy(shape.policy),
        m_ways(shape.ways == 0 ? shape.entries : shape.ways),
        m_by_place(spans.by_place),
        m_parts(parts),
        m_part_count(shape.parts),
        m_random(random),
        m_slot_of(spans.numbers.size(), k_none),
        m_holder(std::size_t{shape.sets()} * m_ways, k_none),
        m_held_parts(m_holder.size(), 0),
        m_newer(m_holder.size(), k_none),
        m_older(m_holder.size(), k_none),
        m_sets(shape.sets()) {
    m_set_of.reserve(spans.numbers.size());
    for (const auto number : spans.numbers) m_set_of.push_back(set_of(shape, number));
  }

  [[nodiscard]] std::uint32_t part_of(std::uint64_t number) const { return 1U << (number & (m_part_count - 1)); }

  bool access_span(std::uint32_t id, std::uint32_t part) {
    Set& set = m_sets[m_set_of[id]];
    if (const std::uint32_t slot = m_slot_of[id]; slot != k_none) {
      if (m_policy == TlbPolicy::lru && set.newest != slot) {
        unlink(set, slot);
        push(set, slot);
      }
      if (is_tree()) point_away(set, slot % m_ways);
      const bool held = (m_held_parts[slot] & part) != 0;
      m_held_parts[slot] |= part;
      return held;
    }
    const std::uint32_t first = m_set_of[id] * m_ways;
    std::uint32_t slot = first + set.used;
    if (set.used < m_ways) {
      ++set.used;
      if (m_policy == TlbPolicy::tree_plru_pointed) slot = empty_way(set, first);
    } else {
      slot = victim(set, first);
      m_slot_of[m_holder[slot]] = k_none;
      unlink(set, slot);
    }
    push(set, slot);
    if (is_tree()) point_away(set, slot % m_ways);
    m_holder[slot] = id;
    m_held_parts[slot] = part;
    m_slot_of[id] = slot;
    return false;
  }

  struct Set {
    std::uint32_t newest = k_none;
    std::uint32_t oldest = k_none;
    std::uint32_t used = 0;
    std::uint64_t tree = 0;  ///< bit of node n (root 1, children 2n and 2n + 1): the half to evict from
  };

  std::uint32_t victim(const Set& set, std::uint32_t first) {
    if (m_policy == TlbPolicy::random) return first + static_cast<std::uint32_t>(m_random.below(m_ways));
    if (!is_tree()) return set.oldest;
    std::uint32_t node = 1;
    while (node < m_ways) node = 2 * node + static_cast<std::uint32_t>(set.tree >> node & 1);
    return first + node - m_ways;
  }
  [[nodiscard]] bool is_tree() const {
    return m_policy == TlbPolicy::tree_plru || m_policy == TlbPolicy::tree_plru_pointed;
  }
  /// The empty way that the tree points nearest to.
  [[nodiscard]] std::uint32_t empty_way(const Set& set, std::uint32_t first) const {
    std::uint32_t low = 0;
    std::uint32_t high = m_ways;
    const auto has_empty = [&](std::uint32_t from, std::uint32_t to) {
      return std::find(m_holder.begin() + first + from, m_holder.begin() + first + to, k_none) !=
             m_holder.begin() + first + to;
    };
    for (std::uint32_t node = 1; high - low > 1;) {
      const std::uint32_t middle = low + (high - low) / 2;
      bool upper = (set.tree >> node & 1) != 0;
      if (!(upper ? has_empty(middle, high) : has_empty(low, middle))) upper = !upper;
      (upper ? low : high) = middle;
      node = 2 * node + (upper ? 1 : 0);
    }
    return first + low;
  }
  void point_away(Set& set, std::uint32_t way) const {
    for (std::uint32_t node = way + m_ways; node > 1; node /= 2) {
      const std::uint64_t bit = 1ULL << (node / 2);
      set.tree = node % 2 == 0 ? set.tree | bit : set.tree & ~bit;
    }
  }
  void unlink(Set& set, std::uint32_t slot) {
    (m_newer[slot] == k_none ? set.newest : m_older[m_newer[slot]]) = m_older[slot];
    (m_older[slot] == k_none ? set.oldest : m_newer[m_older[slot]]) = m_newer[slot];
  }
  void push(Set& set, std::uint32_t slot) {
    m_newer[slot] = k_none;
    m_older[slot] = set.newest;
    (set.newest == k_none ? set.oldest : m_newer[set.newest]) = slot;
    set.newest = slot;
  }

  TlbPolicy m_policy;
  std::uint32_t m_ways;
  const std::vector<std::uint32_t>& m_by_place;
  const TlbTrace::Spans* m_parts;
  std::uint32_t m_part_count;
  Random m_random;
  std::vector<std::uint32_t> m_set_of;
  std::vector<std::uint32_t> m_slot_of;
  std::vector<std::uint32_t> m_holder;
  std::vector<std::uint32_t> m_held_parts;
  std::vector<std::uint32_t> m_newer;
  std::vector<std::uint32_t> m_older;
  std::vector<Set> m_sets;
};

}  // namespace

std::string_view to_string(TlbPolicy policy) noexcept {
  switch (policy) {
    case TlbPolicy::lru: return "lru";
    case TlbPolicy::fifo: return "fifo";
    case TlbPolicy::tree_plru:
    case TlbPolicy::tree_plru_pointed: return "tree-plru";
    case TlbPolicy::random: break;
  }
  return "random";
}

TlbTrace::TlbTrace(std::vector<std::uint64_t> addresses, std::uint64_t warmup_hops, std::uint64_t counted_hops,
                   std::uint64_t own_every)
    : m_addresses(std::move(addresses)),
      m_warmup_hops(warmup_hops),
      m_counted_hops(counted_hops),
      m_own_every(own_every) {}

const TlbTrace::Spans& TlbTrace::spans(unsigned shift) const {
  const std::scoped_lock lock(m_cache->mutex);
  const auto [entry, fresh] = m_cache->spans.try_emplace(shift);
  Spans& spans = entry->second;
  if (!fresh) return spans;
  for (const auto address : m_addresses) spans.numbers.push_back(address >> shift);
  std::sort(spans.numbers.begin(), spans.numbers.end());
  spans.numbers.erase(std::unique(spans.numbers.begin(), spans.numbers.end()), spans.numbers.end());
  for (const auto address : m_addresses)
    spans.by_place.push_back(static_cast<std::uint32_t>(
        std::lower_bound(spans.numbers.begin(), spans.numbers.end(), address >> shift) - spans.numbers.begin()));
  spans.numbers.push_back(k_own_address >> shift);
  return spans;
}

TlbStream miss_stream(std::span<const TlbShape> known, const TlbTrace& trace, TlbTrace::Part part, std::uint64_t seed) {
  std::vector<Level> chain;
  std::uint64_t stream = 0;
  for (const auto& shape : known) chain.emplace_back(shape, trace, Random(seed).fork(stream++));
  TlbStream result;
  result.counted_hops = part.counted_hops;
  std::vector<std::uint64_t> counts(known.size(), 0);
  const auto own = static_cast<std::uint32_t>(trace.places());
  std::uint32_t place = 0;
  bool uses_own = false;
  const std::uint64_t total = part.warmup_hops + part.counted_hops;
  result.places.reserve(total);
  for (std::uint64_t hop = 0; hop < total; ++hop) {
    if (hop == part.warmup_hops) result.first_counted = result.places.size();
    std::size_t missed = 0;
    while (missed < chain.size() && !chain[missed].access(place)) ++missed;
    if (missed > 0 && hop >= part.warmup_hops) ++counts[missed - 1];
    if (missed == chain.size()) result.places.push_back(place);
    if (++place == own) place = 0;
    if (!part.with_own_page || hop < part.warmup_hops || trace.own_every() == 0 ||
        (hop + 1 - part.warmup_hops) % trace.own_every() != 0)
      continue;
    uses_own = true;
    missed = 0;
    while (missed < chain.size() && !chain[missed].access_own()) ++missed;
    if (missed == chain.size()) result.places.push_back(own);
  }
  for (const auto count : counts)
    result.shares.push_back(static_cast<double>(count) / static_cast<double>(part.counted_hops));
  result.whole_ring = !uses_own && result.places.size() == total && part.warmup_hops >= trace.places() &&
                      part.counted_hops % trace.places() == 0;
  return result;
}

/// Of a ring walked again and again, each place a part of a span of its own: a set that has more spans than ways loses
/// each before it comes again, whether by lru or fifo.
double cyclic_miss_share(const TlbShape& level, const TlbTrace::Spans& spans) {
  const std::uint32_t ways = level.ways == 0 ? level.entries : level.ways;
  std::vector<std::uint32_t> held(level.sets(), 0);
  std::vector<std::uint32_t> sets;
  for (std::size_t i = 0; i + 1 < spans.numbers.size(); ++i) {  // the last is the own page's
    sets.push_back(set_of(level, spans.numbers[i]));
    ++held[sets.back()];
  }
  std::uint64_t misses = 0;
  for (const auto id : spans.by_place) misses += held[sets[id]] > ways ? 1 : 0;
  return static_cast<double>(misses) / static_cast<double>(spans.by_place.size());
}

double miss_share(const TlbShape& level, const TlbTrace& trace, const TlbStream& stream, std::uint64_t seed) {
  const auto shift = Level::shift_of(level);
  const auto& parts = trace.spans(shift - static_cast<unsigned>(std::countr_zero(level.parts)));
  const bool own_parts = parts.numbers.size() == trace.places() + 1;  // the last is the own page's
  if (stream.whole_ring && own_parts && (level.policy == TlbPolicy::lru || level.policy == TlbPolicy::fifo))
    return cyclic_miss_share(level, trace.spans(shift));
  Level table(level, trace, Random(seed));
  const auto own = static_cast<std::uint32_t>(trace.places());
  std::uint64_t misses = 0;
  for (std::size_t i = 0; i < stream.places.size(); ++i) {
    const auto place = stream.places[i];
    const bool hit = place == own ? table.access_own() : table.access(place);
    misses += !hit && place != own && i >= stream.first_counted ? 1 : 0;
  }
  return static_cast<double>(misses) / static_cast<double>(stream.counted_hops);
}

std::vector<double> deepest_miss_shares(std::span<const TlbShape> levels, const TlbTrace& trace, TlbTrace::Part part,
                                        std::uint64_t seed) {
  if (levels.empty()) return {};
  auto stream = miss_stream(levels, trace, part, seed);
  return std::move(stream.shares);
}

}  // namespace gpusonde

// What a chain of translation caches would do with a given sequence of loads: the forward model that the
// fit of a measured curve is held against. Written apart from the simulated GPU, which knows the truth.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

namespace gpusonde {

/// tree_plru fills empty ways from the lowest on, tree_plru_pointed those that its tree points to: which of the two it
/// was is seen long after, since the tree of a walk that goes round keeps the order.
enum class TlbPolicy : std::uint8_t { lru, fifo, tree_plru, tree_plru_pointed, random };
[[nodiscard]] std::string_view to_string(TlbPolicy policy) noexcept;  // "lru", "fifo", "tree-plru" for both, "random"

/// One level. Which set: the span's number modulo the sets, or the exclusive or of its groups of log2(sets) bits.
struct TlbShape {
  std::uint32_t entries = 16;
  std::uint32_t ways = 0;  ///< 0: fully associative; else it divides entries
  std::uint64_t span_bytes = 2ULL << 20;
  TlbPolicy policy = TlbPolicy::lru;
  bool folded = false;  ///< only with a power of two of sets
  /// Parts of the span that are filled apart, each when it is first used: 1, 2, 4 ...
  std::uint32_t parts = 1;

  [[nodiscard]] std::uint32_t sets() const noexcept { return ways == 0 ? 1 : entries / ways; }
  bool operator==(const TlbShape&) const = default;
};

/// A ring of addresses, walked from its first one on: `warmup_hops` loads that do not count, then `counted_hops`.
/// `own_every`: after so many counted loads the measuring itself uses a page that is none of the ring's; 0: never.
class TlbTrace {
 public:
  TlbTrace(std::vector<std::uint64_t> addresses, std::uint64_t warmup_hops, std::uint64_t counted_hops,
           std::uint64_t own_every = 0);

  struct Spans {
    std::vector<std::uint32_t> by_place;  ///< dense numbers, one a place of the ring
    std::vector<std::uint64_t> numbers;   ///< address / span of each dense number; the last is the own page's
  };
  /// Worked out once for each span.
  [[nodiscard]] const Spans& spans(unsigned shift) const;

  struct Part {
    std::uint64_t warmup_hops = 0;
    std::uint64_t counted_hops = 0;
    bool with_own_page = true;
  };
  [[nodiscard]] Part measured() const noexcept { return {m_warmup_hops, m_counted_hops}; }
  /// Two laps of warm-up and one that counts, the own page left out: enough where nothing is left to chance.
  [[nodiscard]] Part one_lap() const noexcept { return {2 * m_addresses.size(), m_addresses.size(), false}; }
  [[nodiscard]] std::uint64_t own_every() const noexcept { return m_own_every; }
  [[nodiscard]] std::size_t places() const noexcept { return m_addresses.size(); }

 private:
  std::vector<std::uint64_t> m_addresses;
  std::uint64_t m_warmup_hops;
  std::uint64_t m_counted_hops;
  std::uint64_t m_own_every;
  struct Cache {
    std::mutex mutex;
    std::map<unsigned, Spans> spans;
  };
  std::unique_ptr<Cache> m_cache = std::make_unique<Cache>();
};

/// Share of counted loads whose translation misses levels 0..i and no further, for each i; loads that hit level 0
/// are the rest. Everything empty at first. `seed`: of random replacement.
/// Preconditions: span_bytes are powers of two, ways divide entries, tree-plru has a power of two of ways up to 64.
[[nodiscard]] std::vector<double> deepest_miss_shares(std::span<const TlbShape> levels, const TlbTrace& trace,
                                                      TlbTrace::Part part, std::uint64_t seed);

/// The loads that reach the level behind some known ones, so that tables for it are tried on those alone.
struct TlbStream {
  std::vector<std::uint32_t> places;  ///< of the ring; one past the last for the own page
  std::size_t first_counted = 0;      ///< index into places
  std::uint64_t counted_hops = 0;     ///< of all loads, those that stopped before too
  std::vector<double> shares;         ///< as deepest_miss_shares of the known levels
  bool whole_ring = false;            ///< every load reaches the level, nothing else does, and whole laps count
};
[[nodiscard]] TlbStream miss_stream(std::span<const TlbShape> known, const TlbTrace& trace, TlbTrace::Part part,
                                    std::uint64_t seed);
/// Share of all counted loads that miss a level behind the known ones too.
[[nodiscard]] double miss_share(const TlbShape& level, const TlbTrace& trace, const TlbStream& stream,
                                std::uint64_t seed);

}  // namespace gpusonde

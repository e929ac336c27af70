// The order in which a pointer chase visits its nodes. One definition for the host, the simulated
// GPU and the kernels (clang and nvcc), so this header includes nothing and uses plain types.
#pragma once

#if defined(__CUDA__) || defined(__CUDACC__)
#define GPUSONDE_HOST_DEVICE __attribute__((host)) __attribute__((device))
#else
#define GPUSONDE_HOST_DEVICE
#endif

namespace gpusonde {

/// A bijection on [0, n) without tables: add-multiply-xorshift rounds on the next power of two, with
/// cycle walking (fewer than two passes on average). Different seeds give unrelated orders, and so do
/// different tweaks of one seed. Precondition: 1 <= n <= 2^40.
struct Permutation {
  unsigned long long n = 1;
  unsigned long long mask = 0;
  unsigned long long key0 = 1;  ///< odd, as the others
  unsigned long long key1 = 1;
  unsigned long long key2 = 1;
  unsigned shift = 1;

  GPUSONDE_HOST_DEVICE constexpr Permutation(unsigned long long count, unsigned long long seed) : n(count) {
    unsigned bits = 1;
    while ((1ULL << bits) < n) ++bits;
    mask = (1ULL << bits) - 1;
    shift = (bits + 1) / 2;
    // Each key is added in one round and multiplied by in another. Fixed multipliers would leave the orders
    // of two seeds alike, up to a turn.
    key0 = mixed(seed + 0x9E3779B97F4A7C15ULL) | 1;
    key1 = mixed(key0 + 0x9E3779B97F4A7C15ULL) | 1;
    key2 = mixed(key1 + 0x9E3779B97F4A7C15ULL) | 1;
  }

  GPUSONDE_HOST_DEVICE constexpr unsigned long long operator()(unsigned long long i,
                                                               unsigned long long tweak = 0) const {
    unsigned long long x = i;
    do {
      x = ((x + key0) * key1) & mask;
      x ^= x >> shift;
      x = ((x + key1 + tweak) * key2) & mask;
      x ^= x >> shift;
      x = ((x + key2) * key0) & mask;
      x ^= x >> shift;
    } while (x >= n);
    return x;
  }

 private:
  GPUSONDE_HOST_DEVICE static constexpr unsigned long long mixed(unsigned long long x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
  }
};

/// The ring's geometry as the kernels see it. Position i of the ring (0 <= i < node_count) lies at
/// byte offset(i) from the ring's first byte.
struct RingOrderParameters {
  unsigned long long node_count = 1;
  unsigned long long stride_bytes = 128;
  unsigned long long group_nodes = 0;   ///< 0: one random order over all nodes; else group by group
  unsigned long long jitter_lines = 1;  ///< each node sits on one of this many 128-byte lines of its stride
  unsigned long long seed = 1;
};

/// Random order over the whole ring, or random inside consecutive groups of nodes that are visited
/// one group after the other (a page at a time), with optional jitter of each node inside its stride.
struct RingOrder {
  RingOrderParameters p;
  Permutation whole;
  Permutation last;  ///< order of the last, shorter group

  GPUSONDE_HOST_DEVICE constexpr explicit RingOrder(const RingOrderParameters& parameters)
      : p(parameters),
        whole(p.group_nodes == 0 ? p.node_count : (p.group_nodes < p.node_count ? p.group_nodes : p.node_count),
              p.seed),
        last(p.group_nodes != 0 && p.node_count % p.group_nodes != 0 ? p.node_count % p.group_nodes : 1, p.seed) {}

  /// Node (slot in address order) at a position of the ring.
  GPUSONDE_HOST_DEVICE constexpr unsigned long long node(unsigned long long position) const {
    if (p.group_nodes == 0) return whole(position);
    const unsigned long long group = position / p.group_nodes;
    const unsigned long long first = group * p.group_nodes;
    const unsigned long long inside = position - first;
    // The group's number as tweak: each group has an order of its own.
    return first + (first + p.group_nodes <= p.node_count ? whole(inside, group) : last(inside, group));
  }

  GPUSONDE_HOST_DEVICE constexpr unsigned long long offset_of_node(unsigned long long node) const {
    unsigned long long offset = node * p.stride_bytes;
    if (p.jitter_lines > 1) {
      unsigned long long h = (node + p.seed) * 0x9E3779B97F4A7C15ULL;
      h ^= h >> 31;
      h *= 0xBF58476D1CE4E5B9ULL;
      h ^= h >> 33;
      offset += (h % p.jitter_lines) * 128;
    }
    return offset;
  }

  /// Byte offset of a position of the ring.
  GPUSONDE_HOST_DEVICE constexpr unsigned long long offset(unsigned long long position) const {
    return offset_of_node(node(position));
  }
};

}  // namespace gpusonde

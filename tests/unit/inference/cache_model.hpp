// A small functional cache for the tests, written apart from the simulated GPU: lines of 128 bytes fall
// into sets by a hash of their physical address, frames of 2 MiB lie where chance puts them, and every
// set runs its own replacement under a cyclic walk in random order. Gives the miss fraction of a chase in
// its steady state.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "core/random.hpp"

namespace gpusonde::test {

enum class Policy { lru, fifo, random, tree_plru, nru };
enum class Hash { modulo, xor_fold, scrambled, rtx4090 };
enum class Frames { contiguous, scattered };

constexpr std::uint64_t k_line = 128;
constexpr std::uint64_t k_frame = 2ULL << 20;

inline std::uint32_t parity(std::uint64_t x) { return static_cast<std::uint32_t>(std::popcount(x) & 1); }

/// The RTX 4090's printed slice function (36 slices).
inline std::uint32_t rtx4090_slice(std::uint64_t a) {
  const std::uint32_t p1 = parity(a & 0x76A990400);
  const std::uint32_t p2 = parity(a & 0x2CCF7B000);
  const auto A =
      static_cast<std::uint32_t>(((a >> 15) + 2 * parity(a & 0x3C9041000) + parity(a & 0x2882B0800) + 2) % 3);
  const auto g = static_cast<int>(((a + (1 << 16)) >> 17) % 9);
  const int q0 = static_cast<int>(parity(a & 0x8000));
  const int q1 = static_cast<int>(parity(a & 0x5985E0500));
  const int q2 = static_cast<int>(parity(a & 0x2354E4400));
  const int q3 = static_cast<int>(parity(a & 0x3C9041000));
  const int carry = q0 + q1 + q2 >= 2 ? 1 : 0;
  const int start = (5 + 7 * q0 + 5 * q1 + 2 * q2 + q3 - carry) % 9;
  const int shift[] = {5, 0, 1};
  const int offset[] = {1, 0, 0};
  const int o = ((g - shift[A] - start) % 9 + 9) % 9;
  const int level = (q0 ^ q1 ^ q2) == 0 ? 2 : 1;
  const int d = o / 3;
  const int u = o % 3 >= level ? 1 : 0;
  const std::uint32_t controller = (2 * p1 + p2) * 3 + A;
  const int base = d == 0 ? 2 : (d == 1 && u == 0 ? 1 : 0);
  int b = q2 != 0 ? (1 - base + 3) % 3 : base;
  b = (b + offset[A]) % 3;
  return controller * 3 + static_cast<std::uint32_t>(b);
}

/// The printed set function of a slice (1024 sets).
inline std::uint32_t rtx4090_set(std::uint64_t a) {
  const std::uint64_t q = a / 1152;
  const std::uint64_t in = (a >> 15) % 9;
  const std::uint32_t bits[] = {parity(a & 0x0bd654c80) ^ parity(q & 0x00e500),
                                parity(a & 0x0bd654c80) ^ parity(q & 0x010000),
                                parity(a & 0x07aed8b80) ^ parity(q & 0x027c00),
                                parity(a & 0x03e313180) ^ parity(q & 0x045500),
                                parity(a & 0x03e313300) ^ parity(q & 0x080300),
                                parity(a & 0x0bd654e80) ^ parity(q & 0x104200),
                                parity(a & 0x0bd654c00) ^ parity(q & 0x200b00),
                                parity(a & 0x044dcb880) ^ parity(q & 0x401600),
                                parity(a & 0x000000200) ^ parity(q & 0x804600),
                                parity(a & 0x13bc21180) ^ parity(q & 0x006400) ^ (in == 2 || in == 6 ? 1U : 0U)};
  std::uint32_t set = 0;
  for (std::uint32_t i = 0; i < 10; ++i) set |= bits[i] << i;
  return set;
}

struct TestCache {
  std::uint32_t sets = 1024;  ///< all slices together
  std::uint32_t ways = 16;
  Policy policy = Policy::lru;
  Hash hash = Hash::modulo;
  Frames frames = Frames::scattered;
  std::uint64_t seed = 1;

  [[nodiscard]] double capacity() const { return double(sets) * ways * k_line; }
  [[nodiscard]] std::uint32_t set_of(std::uint64_t address) const {
    const auto line = address / k_line;
    switch (hash) {
      case Hash::modulo: return static_cast<std::uint32_t>(line % sets);
      case Hash::xor_fold: {
        // Low bits of the set number xor-ed with higher address bits; what is not a power of two by modulo.
        const auto mixed = line ^ (line >> 7) ^ (line >> 14) ^ (line >> 19);
        return static_cast<std::uint32_t>(((line & ~std::uint64_t{127}) | (mixed & 127)) % sets);
      }
      case Hash::scrambled: return static_cast<std::uint32_t>(mix64(line ^ seed) % sets);
      case Hash::rtx4090: break;
    }
    return rtx4090_slice(address) * 1024 + rtx4090_set(address);
  }
};

/// One set, walked cyclically: miss fraction in the steady state. The way of the very first lines is random,
/// so the state before the walk is not a tidy one.
inline double walk_set(Policy policy, std::uint32_t ways, std::uint32_t lines, Random& random) {
  if (lines <= ways) return 0;
  std::vector<std::uint32_t> in(ways, ~0U);
  std::vector<std::uint64_t> stamp(ways, 0);
  std::vector<bool> bit(2 * ways, false);
  std::uint64_t now = 0;
  for (auto&& b : bit) b = random.below(2) == 1;
  std::uint64_t misses = 0;
  std::uint64_t hops = 0;
  const std::uint32_t laps = policy == Policy::random ? 40 : 24;
  for (std::uint32_t lap = 0; lap < laps; ++lap)
    for (std::uint32_t line = 0; line < lines; ++line) {
      ++now;
      auto way = static_cast<std::uint32_t>(std::find(in.begin(), in.end(), line) - in.begin());
      const bool hit = way < ways;
      if (!hit) {
        way = static_cast<std::uint32_t>(std::find(in.begin(), in.end(), ~0U) - in.begin());
        if (way == ways) {
          if (policy == Policy::random) way = static_cast<std::uint32_t>(random.below(ways));
          if (policy == Policy::lru || policy == Policy::fifo)
            way = static_cast<std::uint32_t>(std::min_element(stamp.begin(), stamp.end()) - stamp.begin());
          if (policy == Policy::nru)
            way = static_cast<std::uint32_t>(std::find(bit.begin(), bit.begin() + ways, false) - bit.begin());
          if (policy == Policy::nru && way == ways) way = 0;
          if (policy == Policy::tree_plru) {
            std::uint32_t node = 1;
            while (node < ways) node = 2 * node + (bit[node] ? 1 : 0);
            way = node - ways;
          }
        }
        in[way] = line;
      }
      if (policy == Policy::lru || (policy == Policy::fifo && !hit)) stamp[way] = now;
      if (policy == Policy::tree_plru)
        for (auto node = way + ways; node > 1; node /= 2) bit[node / 2] = node % 2 == 0;
      if (policy == Policy::nru) {
        bit[way] = true;
        if (std::find(bit.begin(), bit.begin() + ways, false) == bit.begin() + ways) {
          std::fill(bit.begin(), bit.begin() + ways, false);
          bit[way] = true;
        }
      }
      if (2 * lap >= laps) {
        misses += hit ? 0U : 1U;
        ++hops;
      }
    }
  return static_cast<double>(misses) / static_cast<double>(hops);
}

/// Miss fraction at each of the ascending sizes: prefixes of one buffer.
inline std::vector<double> miss_curve(const TestCache& cache, const std::vector<double>& sizes) {
  Random random(cache.seed * 7919 + 17);
  std::vector<std::uint32_t> load(cache.sets, 0);
  std::vector<bool> taken(12288, false);  // frames of 24 GiB
  const auto start = random.below(4096);
  std::map<std::uint32_t, double> one_set;
  std::vector<double> result;
  std::uint64_t line = 0;
  std::uint64_t frame = 0;
  for (const double size : sizes) {
    const auto lines = static_cast<std::uint64_t>(size) / k_line;
    for (; line < lines; ++line) {
      const auto offset = line * k_line % k_frame;
      if (offset == 0) {
        frame = start + line * k_line / k_frame;
        if (cache.frames == Frames::scattered) {
          do frame = random.below(taken.size());
          while (taken[frame]);
        }
        taken[frame % taken.size()] = true;
      }
      ++load[cache.set_of(frame * k_frame + offset)];
    }
    std::map<std::uint32_t, std::uint32_t> histogram;
    for (const auto l : load) ++histogram[l];
    double misses = 0;
    for (const auto& [lines_in_set, count] : histogram) {
      if (lines_in_set <= cache.ways) continue;
      auto known = one_set.find(lines_in_set);
      if (known == one_set.end()) {
        double sum = 0;
        for (int i = 0; i < 16; ++i) sum += walk_set(cache.policy, cache.ways, lines_in_set, random);
        known = one_set.emplace(lines_in_set, sum / 16).first;
      }
      misses += double(lines_in_set) * count * known->second;
    }
    result.push_back(misses / static_cast<double>(lines));
  }
  return result;
}

}  // namespace gpusonde::test

// The windows among labelled addresses: runs in which a few bits take all, or most, combinations while the others
// stay. They are found by the order of the addresses, so a table that lost rows is still usable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gpusonde {

/// An address with its class, classes being counted from 0. Sheets are what differs by an unknown constant: pages.
struct ClassSample {
  std::uint64_t address = 0;
  std::int32_t class_index = 0;
  std::uint32_t sheet = 0;
};

struct AddressWindow {
  static constexpr std::int32_t k_missing = -1;

  std::uint64_t base = 0;                    ///< the window's bits are 0
  std::vector<std::int32_t> class_by_index;  ///< the index has the window's bits, packed
};

/// Windows of the same bits.
struct WindowGroup {
  std::uint64_t bits = 0;
  std::vector<AddressWindow> windows;
};

/// The bits of `index` put where `bits` has ones, and back.
[[nodiscard]] std::uint64_t spread_bits(std::uint64_t index, std::uint64_t bits) noexcept;
[[nodiscard]] std::uint64_t pack_bits(std::uint64_t address, std::uint64_t bits) noexcept;

struct SplitSamples {
  std::vector<WindowGroup> groups;  ///< by lowest bit, highest first
  std::vector<std::size_t> loose;   ///< positions of the samples in no window
};
[[nodiscard]] SplitSamples split_into_windows(std::span<const ClassSample> samples);

}  // namespace gpusonde

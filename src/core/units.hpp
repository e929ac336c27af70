// Sizes as users write and read them. Everywhere else a quantity carries its unit in its name
// (`_bytes`, `_cycles`, `_ns`, `_mhz`).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gpusonde/error.hpp"

namespace gpusonde {

inline constexpr std::uint64_t k_kib = 1024;
inline constexpr std::uint64_t k_mib = 1024 * k_kib;
inline constexpr std::uint64_t k_gib = 1024 * k_mib;

/// `4KiB`, `2MiB`, `1.5GiB`, `64K` (binary), `1KB` (1000), plain bytes. Errors: usage, one sentence
/// that begins with the text itself.
[[nodiscard]] Result<std::uint64_t> parse_bytes(std::string_view text);

/// `128 KiB`, `1.5 MiB`, `200 B`: the largest binary unit that keeps at most two decimals exact,
/// else two decimals.
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

/// The same without the space, for options and file names: `128KiB`.
[[nodiscard]] std::string format_bytes_compact(std::uint64_t bytes);

/// Cycles at a clock, in nanoseconds. Precondition: mhz > 0.
[[nodiscard]] constexpr double cycles_to_ns(double cycles, double mhz) noexcept { return cycles * 1000.0 / mhz; }
[[nodiscard]] constexpr double ns_to_cycles(double ns, double mhz) noexcept { return ns * mhz / 1000.0; }

}  // namespace gpusonde

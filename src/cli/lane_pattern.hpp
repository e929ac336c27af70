// Lanes of a warp as given on the command line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gpusonde/error.hpp"

namespace gpusonde::cli {

/// `stride=N` (elements; 0: one address), `random`, or a file that ends in .csv with a byte offset a row, 32 of them.
/// Errors: usage, bad_input (`file:line: what is wrong; what would be right`).
[[nodiscard]] Result<std::vector<std::uint64_t>> lanes_of(const std::string& pattern, std::uint32_t width,
                                                          std::uint64_t seed);
/// The offsets of such a file; `file` is its name in error messages.
[[nodiscard]] Result<std::vector<std::uint64_t>> parse_lanes(std::string_view text, const std::string& file,
                                                             std::uint32_t width);

}  // namespace gpusonde::cli

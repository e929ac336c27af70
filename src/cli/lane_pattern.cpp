#include "lane_pattern.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <fstream>
#include <iterator>

#include "inference/coalesce.hpp"

namespace gpusonde::cli {
namespace {

constexpr std::size_t k_lanes = 32;
constexpr std::uint64_t k_most_stride = 4096;
constexpr std::uint64_t k_end_bytes = 1ULL << 30;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Decimal, or hexadecimal with 0x; false for anything else.
bool parse_number(std::string_view text, std::uint64_t& value) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

Result<std::vector<std::uint64_t>> read_lanes(const std::string& file, std::uint32_t width) {
  std::ifstream in(file, std::ios::binary);
  if (!in)
    return fail(ErrorKind::bad_input, fmt::format("{}: cannot be read; give a CSV file of 32 byte offsets", file));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return parse_lanes(text, file, width);
}

}  // namespace

Result<std::vector<std::uint64_t>> parse_lanes(std::string_view text, const std::string& file, std::uint32_t width) {
  std::vector<std::uint64_t> lanes;
  std::size_t line_number = 0;
  const auto wrong = [&](const std::string& what) {
    return fail(ErrorKind::bad_input, fmt::format("{}:{}: {}", file, line_number, what));
  };
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto cell = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
    ++line_number;
    if (cell.empty() || cell.front() == '#') continue;
    std::uint64_t offset = 0;
    if (!parse_number(cell, offset)) {
      // A head above the numbers says what they are.
      if (line_number == 1 && std::isalpha(static_cast<unsigned char>(cell.front())) != 0) continue;
      return wrong(fmt::format("'{}' is no byte offset; give one whole number a row", cell));
    }
    if (lanes.size() == k_lanes) return wrong("a 33rd lane; a warp has 32, give 32 rows");
    if (offset % width != 0)
      return wrong(fmt::format("offset {} is no multiple of the {} B that a lane loads; give {} or another width",
                               offset, width, offset / width * width));
    if (offset >= k_end_bytes) return wrong(fmt::format("offset {} lies beyond 1 GiB; give smaller ones", offset));
    lanes.push_back(offset);
  }
  if (lanes.size() != k_lanes)
    return wrong(
        fmt::format("only {} lane{}; a warp has 32, give 32 rows", lanes.size(), lanes.size() == 1 ? "" : "s"));
  return lanes;
}

Result<std::vector<std::uint64_t>> lanes_of(const std::string& pattern, std::uint32_t width, std::uint64_t seed) {
  if (pattern == "random") return random_pattern(width, seed).lanes;
  if (pattern.ends_with(".csv")) return read_lanes(pattern, width);
  std::uint64_t stride = 0;
  if (pattern.starts_with("stride=") && parse_number(pattern.substr(7), stride) && stride <= k_most_stride)
    return stride_pattern(static_cast<std::uint32_t>(stride), width).lanes;
  return fail(ErrorKind::usage,
              fmt::format("--pattern {}: give stride=N with N from 0 to {}, random, or a file that ends in .csv",
                          pattern, k_most_stride));
}

}  // namespace gpusonde::cli

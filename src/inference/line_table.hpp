// A latency map turned so that what one line is, its latencies from all SMs, lies in one row: the form that distances
// between lines are taken in. Internal to the clustering of lines.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "inference/line_map.hpp"

namespace gpusonde {

/// Rows are padded with zeros to a multiple of the lanes, so that distances are sums over whole groups.
class LineTable {
 public:
  static constexpr std::size_t k_lanes = 8;

  LineTable() = default;
  explicit LineTable(const LineMap& map);
  /// `rows` empty rows.
  LineTable(std::size_t sms, std::size_t rows);

  [[nodiscard]] std::size_t sms() const noexcept { return m_sms; }
  [[nodiscard]] std::size_t lines() const noexcept { return m_lines; }
  [[nodiscard]] std::size_t width() const noexcept { return m_width; }
  [[nodiscard]] std::span<const float> row(std::size_t line) const { return {&m_cells[line * m_width], m_width}; }
  [[nodiscard]] std::span<float> row(std::size_t line) { return {&m_cells[line * m_width], m_width}; }

 private:
  std::size_t m_sms = 0;
  std::size_t m_lines = 0;
  std::size_t m_width = 0;
  std::vector<float> m_cells;
};

/// Sum over SMs of min(((a - b) * weight)^2, cap^2). Padded cells have weight 0. The cap keeps one reading that came
/// late from looking like another slice.
[[nodiscard]] float capped_distance(std::span<const float> a, std::span<const float> b, std::span<const float> weight,
                                    float cap);
/// The same, but may stop with any sum above `enough`.
[[nodiscard]] float capped_distance_up_to(std::span<const float> a, std::span<const float> b,
                                          std::span<const float> weight, float cap, float enough);

}  // namespace gpusonde

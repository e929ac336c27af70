// Rows of latencies and their distances.
#include "inference/line_table.hpp"

#include <algorithm>
#include <array>

namespace gpusonde {

LineTable::LineTable(std::size_t sms, std::size_t rows)
    : m_sms(sms),
      m_lines(rows),
      m_width((sms + k_lanes - 1) / k_lanes * k_lanes),
      m_cells(m_width * std::max<std::size_t>(rows, 1), 0.0F) {}

LineTable::LineTable(const LineMap& map) : LineTable(map.sms, map.lines) {
  // In blocks of lines, so that both sides stay in the cache.
  constexpr std::size_t k_block = 64;
  for (std::size_t first = 0; first < map.lines; first += k_block) {
    const std::size_t last = std::min(first + k_block, map.lines);
    for (std::size_t sm = 0; sm < map.sms; ++sm)
      for (std::size_t line = first; line < last; ++line) m_cells[line * m_width + sm] = map.at(sm, line);
  }
}

namespace {

// Lanes of their own let the compiler add several at a time without changing the order of any one sum.
float distance_of_part(const float* a, const float* b, const float* weight, std::size_t count, float most) {
  constexpr std::size_t k_lanes = LineTable::k_lanes;
  std::array<float, k_lanes> sums{};
  for (std::size_t i = 0; i < count; i += k_lanes)
    for (std::size_t lane = 0; lane < k_lanes; ++lane) {
      const float x = (a[i + lane] - b[i + lane]) * weight[i + lane];
      const float square = x * x;
      sums[lane] += square < most ? square : most;
    }
  float sum = 0;
  for (const float lane : sums) sum += lane;
  return sum;
}

}  // namespace

float capped_distance(std::span<const float> a, std::span<const float> b, std::span<const float> weight, float cap) {
  return distance_of_part(a.data(), b.data(), weight.data(), a.size(), cap * cap);
}

float capped_distance_up_to(std::span<const float> a, std::span<const float> b, std::span<const float> weight,
                            float cap, float enough) {
  constexpr std::size_t k_part = 2 * LineTable::k_lanes;
  float sum = 0;
  for (std::size_t i = 0; i < a.size() && sum <= enough; i += k_part)
    sum += distance_of_part(a.data() + i, b.data() + i, weight.data() + i, std::min(k_part, a.size() - i), cap * cap);
  return sum;
}

}  // namespace gpusonde

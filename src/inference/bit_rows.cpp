#include "inference/bit_rows.hpp"

#include <algorithm>

namespace gpusonde {

BitRow RowSpace::reduced(BitRow row) const noexcept {
  for (const auto& each : m_rows)
    if (row.test(each.lowest())) row ^= each;
  return row;
}

bool RowSpace::add(const BitRow& row) {
  const auto rest = reduced(row);
  if (!rest.any()) return false;
  const unsigned pivot = rest.lowest();
  for (auto& each : m_rows)
    if (each.test(pivot)) each ^= rest;
  const auto place =
      std::find_if(m_rows.begin(), m_rows.end(), [pivot](const BitRow& each) { return each.lowest() > pivot; });
  m_rows.insert(place, rest);
  m_pivots.set(pivot);
  return true;
}

RowSpace annihilator(const RowSpace& space, const BitRow& columns) {
  RowSpace result;
  const auto pivots = space.pivots();
  for (unsigned column = 0; column < k_bit_row_columns; ++column) {
    if (!columns.test(column) || pivots.test(column)) continue;
    auto mask = BitRow::unit(column);
    for (const auto& row : space.rows())
      if (row.test(column)) mask.set(row.lowest());
    result.add(mask);
  }
  return result;
}

}  // namespace gpusonde

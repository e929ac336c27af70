#include "inference/mask_basis.hpp"

#include <algorithm>
#include <bit>

namespace gpusonde {
namespace {

constexpr unsigned k_most_dimensions_enumerated = 18;

bool lighter(const BitRow& a, const BitRow& b) {
  const unsigned weight_a = a.weight();
  const unsigned weight_b = b.weight();
  return weight_a != weight_b ? weight_a < weight_b : a < b;
}

// Greedy is exact: independent rows are a matroid.
std::vector<BitRow> enumerated(const RowSpace& masks, const RowSpace& constant) {
  auto generators = masks.rows();
  generators.insert(generators.end(), constant.rows().begin(), constant.rows().end());
  std::vector<BitRow> all;
  BitRow sum;
  for (std::uint32_t code = 1; code < std::uint32_t{1} << generators.size(); ++code) {
    sum ^= generators[static_cast<std::size_t>(std::countr_zero(code))];  // Gray code: one row changes at a time
    all.push_back(sum);
  }
  std::sort(all.begin(), all.end(), lighter);
  RowSpace taken = constant;
  std::vector<BitRow> basis;
  for (const auto& row : all) {
    if (basis.size() == masks.rank()) break;
    if (taken.add(row)) basis.push_back(row);
  }
  return basis;
}

// Makes rows lighter by adding one row or two of the helpers, until none gets lighter.
void lighten(std::vector<BitRow>& rows, const std::vector<BitRow>& helpers) {
  for (bool changed = true; changed;) {
    changed = false;
    const auto take = [&](BitRow& row, const BitRow& other) {
      if (!lighter(other, row)) return;
      row = other;
      changed = true;
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::vector<BitRow> others = helpers;
      for (std::size_t j = 0; j < rows.size(); ++j)
        if (j != i) others.push_back(rows[j]);
      for (std::size_t j = 0; j < others.size(); ++j) {
        take(rows[i], rows[i] ^ others[j]);
        for (std::size_t k = 0; k < j; ++k) take(rows[i], rows[i] ^ others[j] ^ others[k]);
      }
    }
  }
}

}  // namespace

std::vector<BitRow> lightest_basis(const RowSpace& masks, const RowSpace& constant) {
  std::vector<BitRow> basis;
  if (masks.rank() + constant.rank() <= k_most_dimensions_enumerated) {
    basis = enumerated(masks, constant);
  } else {
    auto helpers = constant.rows();
    lighten(helpers, {});
    basis = masks.rows();
    lighten(basis, helpers);
  }
  std::sort(basis.begin(), basis.end(), [](const BitRow& a, const BitRow& b) {
    return a.lowest() != b.lowest() ? a.lowest() < b.lowest() : lighter(a, b);
  });
  return basis;
}

}  // namespace gpusonde

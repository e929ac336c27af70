// Groups among the lines that no class explains.
#include "inference/line_strays.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace gpusonde {
namespace {

constexpr std::size_t k_most_strays = 256;
constexpr float k_uncapped = std::numeric_limits<float>::max() / 4;

}  // namespace

std::vector<std::vector<std::size_t>> group_strays(const LineTable& table, std::span<const std::size_t> lines,
                                                   std::span<const std::size_t> strays, const LineModel& model) {
  const std::size_t step = (strays.size() + k_most_strays - 1) / k_most_strays;
  std::vector<std::size_t> some;
  std::vector<float> to_class;
  for (std::size_t i = 0; i < strays.size(); i += step) {
    some.push_back(strays[i]);
    const auto row = table.row(lines[strays[i]]);
    float least = std::numeric_limits<float>::infinity();
    for (std::size_t k = 0; k < model.count(); ++k)
      least = std::min(least, capped_distance(row, model.centres.row(k), model.weight, k_uncapped));
    to_class.push_back(least);
  }
  std::vector<std::size_t> parent(some.size());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (std::size_t a = 0; a < some.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const float square =
          capped_distance(table.row(lines[some[a]]), table.row(lines[some[b]]), model.weight, k_uncapped);
      if (4 * square < std::min(to_class[a], to_class[b])) parent[root(a)] = root(b);
    }
  std::vector<std::vector<std::size_t>> by_root(some.size());
  for (std::size_t i = 0; i < some.size(); ++i) by_root[root(i)].push_back(some[i]);
  std::erase_if(by_root, [](const auto& group) { return group.size() < 2; });
  return by_root;
}

}  // namespace gpusonde

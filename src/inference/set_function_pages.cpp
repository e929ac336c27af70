#include "inference/set_function_pages.hpp"

#include <algorithm>
#include <map>

#include "inference/agreement.hpp"
#include "inference/page_constants.hpp"

namespace gpusonde {
namespace {

/// The lines of one page in a group.
struct Part {
  std::size_t group = 0;
  std::uint64_t page = 0;
  LineGroup lines;
};

std::vector<Part> parts_of(const std::vector<LineGroup>& groups, std::uint64_t page_bytes) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::map<std::uint64_t, LineGroup> by_page;
    for (const auto line : groups[i]) by_page[line / page_bytes].push_back(line);
    for (auto& [page, lines] : by_page) parts.push_back({i, page, std::move(lines)});
  }
  return parts;
}

std::vector<PageConstant> constants_of(const std::vector<Part>& parts, const SetFunction& function) {
  std::vector<PageSighting> sightings;
  for (const auto& part : parts) {
    std::vector<std::uint64_t> values;
    for (const auto line : part.lines) values.push_back(function.value(line));
    sightings.push_back({part.group, part.page, most_common(std::move(values))});
  }
  return page_constants(sightings);
}

}  // namespace

std::optional<bool> PagedSetFit::may_share_set(std::uint64_t a, std::uint64_t b) const {
  const auto value_a = fit.function.value(a);
  const auto value_b = fit.function.value(b);
  if (a / page_bytes == b / page_bytes) return value_a == value_b;
  const auto constant_of = [&](std::uint64_t line) -> const PageConstant* {
    const auto at = std::lower_bound(pages.begin(), pages.end(), line / page_bytes,
                                     [](const PageConstant& each, std::uint64_t page) { return each.page < page; });
    return at == pages.end() || at->page != line / page_bytes ? nullptr : &*at;
  };
  const auto* page_a = constant_of(a);
  const auto* page_b = constant_of(b);
  if (page_a == nullptr || page_b == nullptr || page_a->cluster != page_b->cluster) return std::nullopt;
  return (value_a ^ page_a->constant) == (value_b ^ page_b->constant);
}

PagedSetFit fit_set_function_in_pages(const std::vector<LineGroup>& groups, const std::vector<LinePair>& non_conflicts,
                                      const SetFeatures& features, std::uint64_t page_bytes,
                                      const SetFitOptions& options) {
  PagedSetFit result;
  result.page_bytes = page_bytes;
  if (features.quotient_bits != 0 || !features.residues.empty() || features.address_bits >= page_bytes) {
    result.fit.reason = "within pages only parities of the offset's bits can be looked for";
    return result;
  }
  const auto parts = parts_of(groups, page_bytes);
  std::vector<LineGroup> lines;
  auto in_pages = options;
  in_pages.group_pools.clear();
  std::map<std::uint64_t, std::uint32_t> pools;
  for (const auto& part : parts) {
    lines.push_back(part.lines);
    in_pages.group_pools.push_back(
        pools.try_emplace(part.page, static_cast<std::uint32_t>(pools.size())).first->second);
  }
  std::vector<LinePair> within;
  std::copy_if(non_conflicts.begin(), non_conflicts.end(), std::back_inserter(within),
               [&](const LinePair& pair) { return pair.first / page_bytes == pair.second / page_bytes; });
  result.fit = fit_set_function(lines, within, features, in_pages);
  for (auto& contradiction : result.fit.contradictions) contradiction.group = parts[contradiction.group].group;
  if (result.fit.ok() && !result.fit.function.modulo) result.pages = constants_of(parts, result.fit.function);
  return result;
}

}  // namespace gpusonde

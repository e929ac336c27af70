// What the tables of a cache's geometry say, read back.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "inference/set_function_pages.hpp"
#include "probe/cache_geometry.hpp"
#include "probe/slices_probe.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_line_bytes = 128;

/// What the set number of L2 may be made of where physical addresses are known: bits, bits of the quotient by the odd
/// part of the slices, and residues at the shifts that choose the slice.
void add_slice_features(const ClassFunction& slice, std::uint64_t last_address, SetFeatures& features) {
  std::uint64_t slices = slice.classes.size();
  const std::uint64_t odd = slices >> std::countr_zero(slices);
  if (odd < 3) return;
  features.quotient_divisor = k_line_bytes * odd;
  features.quotient_bits = static_cast<unsigned>(std::bit_width(last_address / features.quotient_divisor));
  std::uint32_t largest = 0;
  for (const auto& term : slice.key.terms) largest = std::max(largest, term.modulus);
  const auto add = [&](SetFeatures::Residue residue) {
    const bool there = std::any_of(features.residues.begin(), features.residues.end(), [&](const auto& r) {
      return r.shift == residue.shift && r.addend == residue.addend && r.modulus == residue.modulus;
    });
    if (!there && residue.modulus <= 64) features.residues.push_back(residue);
  };
  for (const auto& term : slice.key.terms) {
    add({term.shift, term.addend, largest});
    add({term.shift, 0, largest});
    // The shift that a term names may stand for one bit less, that bit being among the masks.
    if (term.shift > 7) add({term.shift - 1, 0, largest});
  }
}

}  // namespace

const std::vector<std::uint64_t>& numbers(const Table& table, std::string_view name) {
  static const std::vector<std::uint64_t> k_none;
  const auto* column = table.column<std::uint64_t>(name);
  return column == nullptr ? k_none : *column;
}

std::string cache_table(const CacheAsked& asked, std::string_view part) {
  return fmt::format("cache.{}.{}", asked.level, part);
}

SetEvidence read_set_evidence(const Measurements& measurements, const CacheAsked& asked) {
  SetEvidence evidence;
  const auto* table = measurements.find(cache_table(asked, "lines"));
  if (table == nullptr) return evidence;
  const auto& group = numbers(*table, "group");
  const auto* role = table->column<std::string>("role");
  evidence.physical = table->column<std::uint64_t>("physical_address") != nullptr;
  const auto& address = numbers(*table, evidence.physical ? "physical_address" : "virtual_address");
  if (role == nullptr || group.size() != address.size() || role->size() != address.size()) return evidence;
  std::map<std::uint64_t, LineGroup> groups;
  std::map<std::uint64_t, std::uint64_t> victims;
  for (std::size_t i = 0; i < address.size(); ++i) {
    const auto& what = (*role)[i];
    if (what == "victim") victims[group[i]] = address[i];
    if (what == "apart")
      evidence.apart.emplace_back(victims[group[i]], address[i]);
    else
      groups[group[i]].push_back(address[i]);
    evidence.address_bits |= address[i] ^ address.front();
  }
  evidence.address_bits &= ~(k_line_bytes - 1);
  for (auto& [number, lines] : groups) evidence.groups.push_back(std::move(lines));
  return evidence;
}

WaysEvidence read_ways(const Measurements& measurements, const CacheAsked& asked) {
  WaysEvidence evidence;
  const auto* table = measurements.find(cache_table(asked, "searches"));
  if (table == nullptr) return evidence;
  const auto& ways = numbers(*table, "ways");
  const auto& candidates = numbers(*table, "candidates");
  const auto& members = numbers(*table, "members");
  const auto* trouble = table->column<std::string>("trouble");
  std::map<std::uint64_t, std::uint64_t> counts;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    ++evidence.searches;
    if (ways[i] == 0) {
      if (trouble != nullptr && i < trouble->size()) evidence.trouble = (*trouble)[i];
      continue;
    }
    ++evidence.found;
    ++counts[ways[i]];
    if (i < candidates.size() && i < members.size()) {
      evidence.candidates += candidates[i];
      evidence.members += members[i];
    }
  }
  for (const auto& [number, count] : counts)
    if (count > evidence.agree) {
      evidence.agree = count;
      evidence.ways = number;
    }
  return evidence;
}

SetsHint sets_by_chance(const WaysEvidence& ways) {
  if (ways.candidates == 0 || ways.members == 0) return {};
  const auto members = static_cast<double>(ways.members);
  const auto candidates = static_cast<double>(ways.candidates);
  // Of a Poisson count, 3 standard deviations with the wider side's.
  const double most = members + 3 * std::sqrt(members) + 4.5;
  const double least = std::max(0.5, members - 3 * std::sqrt(members));
  return {std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::floor(candidates / most))),
          static_cast<std::uint64_t>(std::ceil(candidates / least))};
}

std::optional<SetFunctionFit> fit_sets(const Measurements& measurements, const CacheAsked& asked) {
  auto evidence = read_set_evidence(measurements, asked);
  if (evidence.groups.empty()) return std::nullopt;
  SetFeatures features;
  SetFitOptions options;
  options.sets_hint = sets_by_chance(read_ways(measurements, asked));
  if (!asked.own && !evidence.physical) {
    constexpr std::uint64_t k_page_bytes = 2ULL << 20;
    features.address_bits = (k_page_bytes - 1) & ~(k_line_bytes - 1);
    // What is found in pages is part of the function, so the count of sets says nothing about it.
    options.sets_hint = {};
    return fit_set_function_in_pages(evidence.groups, evidence.apart, features, k_page_bytes, options).fit;
  }
  features.address_bits = evidence.address_bits;
  if (!asked.own) {
    const auto slices = fit_slices(measurements);
    if (slices && slices->ok() && slices->physical) {
      std::uint64_t last = 0;
      for (const auto& group : evidence.groups) last = std::max(last, *std::max_element(group.begin(), group.end()));
      add_slice_features(*slices->function(), last, features);
      for (const auto& group : evidence.groups)
        options.group_pools.push_back((*slices->function())(group.front()).value_or(0xFFFF));
    }
  }
  return fit_set_function(evidence.groups, evidence.apart, features, options);
}

}  // namespace gpusonde

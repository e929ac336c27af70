#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/parity_span.hpp"
#include "inference/replacement.hpp"
#include "probe/cache_geometry.hpp"
#include "probe/findings.hpp"
#include "probe/slices_probe.hpp"

namespace gpusonde {
namespace {

constexpr double k_line_bytes = 128;
constexpr double k_clear = 0.95;           // share of tests that must agree
constexpr std::uint64_t k_least_sets = 3;  // that searches must end with

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Hits by distance from the word that was loaded.
using HitsByDelta = std::map<std::uint64_t, double>;

/// Up to where everything is there and from where nothing is.
Estimate block_size(const HitsByDelta& hits) {
  std::uint64_t size = 0;
  for (const auto& [delta, hit] : hits) {
    if (size == 0 && hit >= k_clear) continue;
    if (hit > 1 - k_clear)
      return inconclusive(fmt::format("{:.0f} % of words {} B on are there after a load", 100 * hit, delta));
    if (size == 0) size = delta;
  }
  if (size == 0)
    return inconclusive(fmt::format("all words up to {} B on are there after a load", hits.rbegin()->first));
  if ((size & (size - 1)) != 0)
    return inconclusive(fmt::format("words are there up to {} B on, which is no power of two", size));
  return exactly(static_cast<double>(size));
}

class CacheAnalysis {
 public:
  CacheAnalysis(const AnalysisInput& input, const CacheAsked& asked) : m_input(input), m_asked(asked) {}

  Analysis run() {
    const auto* readings = find("readings");
    if (readings == nullptr) {
      give_up(Outcome::skipped, "not measured");
      return std::move(m_analysis);
    }
    if (const auto trouble = readings_trouble(*readings); !trouble.empty()) {
      give_up(Outcome::inconclusive, trouble);
      return std::move(m_analysis);
    }
    sectors();
    line();
    ways_and_sets();
    replacement();
    return std::move(m_analysis);
  }

 private:
  [[nodiscard]] std::string id(std::string_view name) const { return fmt::format("{}.{}", m_asked.level, name); }
  [[nodiscard]] const Table* find(std::string_view part) const {
    return m_input.measurements.find(cache_table(m_asked, part));
  }
  [[nodiscard]] std::string evidence(std::string_view part) const {
    return "#/measurements/" + cache_table(m_asked, part);
  }
  [[nodiscard]] std::string sets_id() const { return id(m_asked.own ? "sets" : "sets_per_slice"); }
  void add(Finding finding) { m_analysis.findings.push_back(std::move(finding)); }

  void give_up(Outcome outcome, const std::string& reason) {
    for (const auto& [name, unit] :
         {std::pair{"line_size", "bytes"}, std::pair{"sector_size", "bytes"}, std::pair{"ways", "count"}})
      add(not_ok(id(name), unit, outcome, reason, evidence("readings")));
    add(not_ok(sets_id(), "count", outcome, reason, evidence("readings")));
    add(not_ok(id(m_asked.own ? "set_masks" : "set_function"), m_asked.own ? "hex list" : "text", outcome, reason,
               evidence("readings")));
    if (!m_asked.own) add(not_ok("l2.fetch_granularity", "bytes", outcome, reason, evidence("readings")));
    add(not_ok(id("replacement"), "name", outcome, reason, evidence("readings")));
  }

  [[nodiscard]] std::string readings_trouble(const Table& table) const {
    const auto* kind = table.column<std::string>("kind");
    const auto* low = table.column<double>("low_cycles");
    const auto* high = table.column<double>("high_cycles");
    if (kind == nullptr || low == nullptr || high == nullptr || table.rows() < 2) return "its readings are incomplete";
    double hit_high = 0;
    double miss_low = 0;
    for (std::size_t i = 0; i < table.rows(); ++i) {
      if ((*kind)[i] == "hit") hit_high = (*high)[i];
      if ((*kind)[i] == "miss") miss_low = (*low)[i];
    }
    if (miss_low >= 1.1 * hit_high) return {};
    return fmt::format("hits and misses read alike: hits up to {:.0f} cycles, misses from {:.0f} on{}", hit_high,
                       miss_low,
                       m_asked.own ? "; L1 may be switched off, or other work disturbs" : "; other work may disturb");
  }

  void sectors() {
    const auto* table = find("sectors");
    if (table == nullptr) return;
    const auto& limit = numbers(*table, "limit_bytes");
    const auto& prefetch = numbers(*table, "prefetch_bytes");
    const auto& delta = numbers(*table, "delta_bytes");
    const auto& hits = numbers(*table, "hits");
    const auto& tests = numbers(*table, "tests");
    std::map<std::pair<std::uint64_t, std::uint64_t>, HitsByDelta> ways;
    for (std::size_t i = 0; i < table->rows(); ++i) ways[{limit[i], prefetch[i]}][delta[i]] = share(hits[i], tests[i]);
    SampleList samples;
    auto fetched = block_size(ways[{0, 0}]);
    auto smallest = fetched;
    bool limits_tried = false;
    for (const auto& [way, by_delta] : ways) {
      const auto size = block_size(by_delta);
      if (way.first != 0) limits_tried = true;
      if (way.second == 0 && smallest.ok() && (!size.ok() || size.value < smallest.value)) smallest = size;
      if (way == std::pair<std::uint64_t, std::uint64_t>{0, 0}) continue;
      samples.emplace_back(way.first != 0 ? fmt::format("limit_{}", way.first) : fmt::format("prefetch_{}", way.second),
                           size.ok() ? SampleValue(size.value) : SampleValue(size.reason));
    }
    if (m_asked.own) {
      if (fetched.ok())
        samples.emplace_back("because", std::string("a load brings one sector, so a slot may hold part of a line"));
      add(make_finding(id("sector_size"), "bytes", fetched, evidence("sectors"), samples));
      return;
    }
    if (smallest.ok() && !limits_tried && smallest.value > 32)
      smallest = inconclusive(fmt::format("a miss brings {:.0f} B here, which may be several sectors", smallest.value));
    add(make_finding(id("sector_size"), "bytes", smallest, evidence("sectors")));
    add(make_finding("l2.fetch_granularity", "bytes", fetched, evidence("sectors"), samples));
  }

  void line() {
    const auto* table = find("tags");
    if (table == nullptr || table->rows() == 0) {
      add(not_ok(id("line_size"), "bytes", Outcome::inconclusive, "no set of lines was found that pushes another out",
                 evidence("searches")));
      return;
    }
    const auto& delta = numbers(*table, "delta_bytes");
    const auto& pushed = numbers(*table, "pushed_out");
    const auto& stays = numbers(*table, "stays_with_one_fewer");
    const auto& tests = numbers(*table, "tests");
    // Both answers say yes for a word of the same line, and one at least says no for another's.
    HitsByDelta same;
    for (std::size_t i = 0; i < table->rows(); ++i)
      same[delta[i]] = std::min(share(pushed[i], tests[i]), share(stays[i], tests[i]));
    Estimate size = inconclusive({});
    std::uint64_t bytes = 0;
    for (const auto& [distance, yes] : same) {
      if (bytes == 0 && yes >= 0.9) continue;
      if (yes > 0.25) {
        size.reason = fmt::format("of words {} B apart {:.0f} % seem to share a tag", distance, 100 * yes);
        add(make_finding(id("line_size"), "bytes", size, evidence("tags")));
        return;
      }
      if (bytes == 0) bytes = distance;
    }
    if (bytes == 0 || (bytes & (bytes - 1)) != 0)
      size.reason = fmt::format("words share a tag up to {} B apart", bytes == 0 ? same.rbegin()->first : bytes);
    else
      size = exactly(static_cast<double>(bytes));
    add(make_finding(id("line_size"), "bytes", size, evidence("tags")));
  }

  void ways_and_sets() {
    const auto ways = read_ways(m_input.measurements, m_asked);
    Estimate estimate;
    if (ways.found < k_least_sets)
      estimate = inconclusive(fmt::format("{} of {} searches ended with a set of lines{}", ways.found, ways.searches,
                                          ways.trouble.empty() ? "" : "; the last one: " + ways.trouble));
    else if (ways.agree * 5 < ways.found * 4)
      estimate =
          inconclusive(fmt::format("only {} of {} sets of lines have {} lines", ways.agree, ways.found, ways.ways));
    else
      estimate = exactly(static_cast<double>(ways.ways));
    m_ways = estimate.ok() ? ways.ways : 0;
    SampleList samples{{"sets_found", static_cast<double>(ways.found)},
                       {"searches", static_cast<double>(ways.searches)}};
    add(make_finding(id("ways"), "count", estimate, evidence("searches"), samples));
    sets(ways);
  }

  void sets(const WaysEvidence& ways) {
    // Every line drawn at random is in the set of every other: there is one.
    if (m_asked.own && m_ways != 0 && ways.candidates >= 1000 && ways.members == ways.candidates) {
      one_set(ways.members);
      return;
    }
    const auto fit = m_ways == 0 ? std::nullopt : fit_sets(m_input.measurements, m_asked);
    if (!fit) {
      const std::string reason = m_ways == 0 ? "the ways are not known" : "no lines of a set were stored";
      add(not_ok(sets_id(), "count", Outcome::inconclusive, reason, evidence("searches")));
      add(not_ok(id(m_asked.own ? "set_masks" : "set_function"), m_asked.own ? "hex list" : "text",
                 Outcome::inconclusive, reason, evidence("searches")));
      return;
    }
    const auto hint = sets_by_chance(ways);
    const auto by_chance =
        hint.high == 0 ? std::string("no line drawn at random met a set")
                       : fmt::format("a random line meets a set as if there were {} to {}", hint.low, hint.high);
    SampleList samples{{"because", by_chance}};
    Estimate count = inconclusive(fmt::format("{}; {}", fit->reason, by_chance));
    const bool whole = m_asked.own || read_set_evidence(m_input.measurements, m_asked).physical;
    if (whole && fit->ok() && fit->complete)
      count = exactly(static_cast<double>(fit->function.set_count()));
    else if (whole && fit->ok())
      count.reason = fmt::format("at least {}: the function found may be part of a finer one; {}",
                                 fit->function.set_count(), by_chance);
    else if (!m_asked.own)
      count = sets_by_capacity(hint, by_chance, samples);
    samples.emplace_back("groups", static_cast<double>(fit->groups));
    samples.emplace_back("groups_explained", static_cast<double>(fit->explained_groups));
    profile(samples);
    add(make_finding(sets_id(), "count", count, evidence("lines"), samples));
    function(*fit, whole);
  }

  void one_set(std::uint64_t lines) {
    const std::string because = fmt::format("all of {} lines drawn at random push each other out", lines);
    SampleList samples;
    samples.emplace_back("because", because);
    add(make_finding(sets_id(), "count", exactly(1), evidence("searches"), samples));
    Finding masks;
    masks.id = id("set_masks");
    masks.unit = "hex list";
    masks.outcome = Outcome::ok;
    masks.value.emplace(std::in_place_type<std::vector<std::string>>);
    masks.samples = std::move(samples);
    masks.evidence = evidence("searches");
    add(std::move(masks));
  }

  /// The stated capacity in slices of so many ways, if that is a whole number that chance agrees with.
  [[nodiscard]] Estimate sets_by_capacity(const SetsHint& hint, const std::string& by_chance,
                                          SampleList& samples) const {
    const auto* load = m_input.measurements.find("slices.load");
    const auto stated = m_input.device.nominal.l2_bytes;
    if (load == nullptr || stated == 0 || hint.high == 0)
      return inconclusive(fmt::format("the set function needs physical addresses; {}", by_chance));
    const auto clusters = clusters_of(read_map(*load), m_input.measurements);
    if (!clusters.ok()) return inconclusive(fmt::format("the number of slices is not known; {}", by_chance));
    const std::uint64_t divisor = clusters.count * m_ways * static_cast<std::uint64_t>(k_line_bytes);
    const auto sets = stated / divisor;
    if (stated % divisor != 0 || sets < hint.low || sets > hint.high)
      return inconclusive(fmt::format("{} B in {} slices of {} ways are {:.1f} sets; {}", stated, clusters.count,
                                      m_ways, static_cast<double>(stated) / static_cast<double>(divisor), by_chance));
    samples.front().second =
        fmt::format("the stated capacity in {} slices of {} ways; {}", clusters.count, m_ways, by_chance);
    return exactly(static_cast<double>(sets));
  }

  /// How many lines each set was seen to hold.
  void profile(SampleList& samples) {
    const auto* table = find("profile");
    if (table == nullptr) return;
    const auto& set = numbers(*table, "set");
    const auto& lines = numbers(*table, "lines");
    const auto& stays = numbers(*table, "first_stays");
    const auto& tests = numbers(*table, "tests");
    std::map<std::uint64_t, std::uint64_t> held;  // by set
    for (std::size_t i = 0; i < table->rows(); ++i) {
      auto& most = held[set[i]];
      if (stays[i] == tests[i]) most = std::max(most, lines[i]);
    }
    std::map<std::uint64_t, std::uint64_t> sets_by_ways;
    std::uint64_t total = 0;
    for (const auto& [number, count] : held) {
      ++sets_by_ways[count];
      total += count;
    }
    std::string text;
    for (const auto& [count, number] : sets_by_ways)
      text += fmt::format("{}{} of {} hold {}", text.empty() ? "" : ", ", number, held.size(), count);
    samples.emplace_back("sets_looked_at", text);
    samples.emplace_back("lines_they_hold", static_cast<double>(total));
    Table derived;
    for (const auto& [number, count] : held) {
      derived.make<std::string>("level").emplace_back(m_asked.level);
      derived.make<std::uint64_t>("class").push_back(number);
      derived.make<std::uint64_t>("lines").push_back(count);
    }
    m_analysis.derived.emplace_back("derived.cache.sets", std::move(derived));
  }

  void function(const SetFunctionFit& fit, bool whole) {
    const auto name = id(m_asked.own ? "set_masks" : "set_function");
    const std::string unit = m_asked.own ? "hex list" : "text";
    Finding finding;
    finding.id = name;
    finding.unit = unit;
    finding.evidence = evidence("lines");
    finding.samples = {{"groups", static_cast<double>(fit.groups)},
                       {"differences", static_cast<double>(fit.differences)},
                       {"held_out_groups", static_cast<double>(fit.held_out_groups)},
                       {"non_conflicts", static_cast<double>(fit.non_conflicts)}};
    const auto refuse = [&](std::string reason) {
      finding.outcome = Outcome::inconclusive;
      finding.reason = std::move(reason);
    };
    if (!fit.ok())
      refuse(fit.reason);
    else if (whole && !fit.complete)
      refuse("what was found may be part of a finer function");
    else if (m_asked.own && fit.function.modulo)
      refuse(fmt::format("the sets are no parities of address bits: address / {} % {}{}",
                         fit.function.modulo->unit_bytes, fit.function.modulo->sets,
                         fit.function.masks.empty() ? "" : ", and parities"));
    else {
      finding.outcome = Outcome::ok;
      if (m_asked.own) {
        std::vector<std::uint64_t> masks;
        for (const auto& mask : fit.function.masks) masks.push_back(mask.address);
        std::vector<std::string> texts;
        for (const auto mask : canonical_masks(std::move(masks))) texts.push_back(hex_mask(mask));
        finding.value = std::move(texts);
      } else {
        finding.value = fit.function.text();
      }
    }
    add(std::move(finding));
  }

  void replacement() {
    const auto* table = find("policy");
    if (table == nullptr || m_ways == 0) {
      add(not_ok(id("replacement"), "name", Outcome::inconclusive,
                 m_ways == 1 ? "one way: nothing is chosen" : "no set of lines was walked over", evidence("searches")));
      return;
    }
    const auto* start = table->column<std::string>("start");
    const auto* walk = table->column<std::string>("walk");
    const auto* hits = table->column<std::string>("hits");
    std::vector<ObservedSequence> observed;
    for (std::size_t i = 0; start != nullptr && walk != nullptr && hits != nullptr && i < table->rows(); ++i) {
      ObservedSequence sequence;
      std::uint16_t line = 0;
      bool any = false;
      for (const char c : (*walk)[i] + " ") {
        if (c >= '0' && c <= '9') {
          line = static_cast<std::uint16_t>(10 * line + (c - '0'));
          any = true;
        } else if (any) {
          sequence.sequence.lines.push_back(line);
          line = 0;
          any = false;
        }
      }
      for (const char c : (*hits)[i]) {
        sequence.sequence.observed.push_back(c != '.');
        if (c != '.') sequence.hit.push_back(c == '1');
      }
      sequence.start = (*start)[i] == "empty" ? SetStart::empty : SetStart::foreign;
      if (sequence.sequence.observed.size() == sequence.sequence.lines.size()) observed.push_back(std::move(sequence));
    }
    const auto fit = infer_replacement(static_cast<std::uint32_t>(m_ways), observed);
    Finding finding;
    finding.id = id("replacement");
    finding.unit = "name";
    finding.outcome = fit.outcome;
    finding.evidence = evidence("policy");
    if (fit.outcome == Outcome::ok)
      finding.value = fit.policy;
    else
      finding.reason = fit.reason;
    if (!fit.variant.empty()) finding.samples.emplace_back("variant", fit.variant);
    for (const auto& each : fit.agreements)
      finding.samples.emplace_back(each.policy, fmt::format("{:.1f} % of {}", 100 * each.agreement, each.predicted));
    add(std::move(finding));
  }

  const AnalysisInput& m_input;
  const CacheAsked& m_asked;
  Analysis m_analysis;
  std::uint64_t m_ways = 0;
};

}  // namespace

Analysis analyze_cache(const AnalysisInput& input, const CacheAsked& asked) {
  return CacheAnalysis(input, asked).run();
}

}  // namespace gpusonde

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "core/random.hpp"
#include "inference/replacement.hpp"
#include "inference/statistics.hpp"
#include "probe/cache_geometry.hpp"
#include "probe/cache_pool.hpp"
#include "probe/eviction.hpp"
#include "probe/run_one.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_reading_lines = 256;
constexpr std::uint64_t k_delta_lines = 64;         // tries a distance
constexpr std::uint64_t k_delta_room_bytes = 4096;  // of a try, so that none meets another's lines
constexpr std::size_t k_most_ways = 64;
// A function of eleven bits needs some two dozen sets to be told from chance.
constexpr std::size_t k_wanted_groups = 26;
constexpr std::size_t k_wanted_groups_in_pages = 12;  // no set function of L2 comes of them but by luck
constexpr std::size_t k_most_searches = 60;
constexpr std::size_t k_candidates = 4096;
constexpr std::size_t k_apart_a_group = 24;
constexpr std::size_t k_profiled_sets = 512;

class CacheMeasurement {
 public:
  CacheMeasurement(ProbeContext& context, const CacheAsked& asked)
      : m_context(context),
        m_asked(asked),
        m_pool(context, asked),
        m_random(mix64(context.options.seed ^ (asked.own ? 0x11 : 0x12))),
        m_oracle(context.target, context.cancel, settings()) {}

  Result<void> run() {
    const auto& paths = m_context.target.capabilities().paths;
    if (std::find(paths.begin(), paths.end(), m_asked.path) == paths.end()) return {};
    if (auto r = m_pool.prepare(); !r) return r;
    using Step = Result<void> (CacheMeasurement::*)();
    for (const auto& [doing, fraction, step] :
         {std::tuple<const char*, double, Step>{"hits and misses", 0.0, &CacheMeasurement::readings},
          {"sectors", 0.05, &CacheMeasurement::sectors},
          {"lines that push each other out", 0.1, &CacheMeasurement::groups},
          {"lines and tags", 0.6, &CacheMeasurement::tags},
          {"ways, set by set", 0.7, &CacheMeasurement::profile},
          {"replacement", 0.85, &CacheMeasurement::policy}}) {
      if (m_context.progress) m_context.progress({m_asked.level, doing, fraction});
      if (auto r = (this->*step)(); !r) return r;
      if (m_stop) return {};
    }
    return {};
  }

 private:
  [[nodiscard]] EvictionSettings settings() const {
    EvictionSettings s;
    s.path = m_asked.path;
    s.at_once = m_asked.own;
    s.drop_victim = !m_asked.own && m_context.target.capabilities().drops_lines;
    return s;
  }
  [[nodiscard]] SequenceExperiment sequence() const {
    SequenceExperiment e;
    e.path = m_asked.path;
    e.at_once = m_asked.own;
    if (!e.at_once) e.sm = 0;
    e.tests.clear();
    return e;
  }
  Table& table(std::string_view part) { return m_context.measurements.table(cache_table(m_asked, part)); }
  std::uint64_t random_line() { return m_pool.random_place(m_random); }

  Result<SequenceSamples> ask(SequenceExperiment e) {
    return run_one<SequenceSamples>(m_context.target, m_context.cancel, std::move(e));
  }

  // A hit is the second load of a line. A miss is the first: of L1, one that L2 answers.
  Result<void> readings() {
    auto hits = sequence();
    auto misses = sequence();
    if (m_asked.own) misses.path = LoadPath::global_cg;
    for (std::uint64_t i = 0; i < k_reading_lines; ++i) {
      const auto place = static_cast<std::uint32_t>(i);
      const auto line = random_line();
      for (auto* e : {&hits, &misses}) {
        const bool twice = e == &hits || m_asked.own;
        e->tests.push_back(static_cast<std::uint32_t>(e->steps.size()));
        e->places.push_back(line);
        if (m_oracle.settings().drop_victim && e == &misses) e->steps.push_back({StepKind::drop, place, 1, 1});
        if (twice) e->steps.push_back({StepKind::walk, place, 1, 1});
        e->steps.push_back({StepKind::time, place, 1, 1});
      }
    }
    const auto missed = ask(std::move(misses));
    if (!missed) return tl::unexpected(missed.error());
    const auto hit = ask(std::move(hits));
    if (!hit) return tl::unexpected(hit.error());
    auto& readings = table("readings");
    double hit_high = 0;
    double miss_low = 0;
    for (const bool is_hit : {true, false}) {
      const auto& cycles = is_hit ? hit->cycles : missed->cycles;
      const std::vector<double> values(cycles.begin(), cycles.end());
      readings.make<std::string>("kind").emplace_back(is_hit ? "hit" : "miss");
      readings.make<double>("cycles").push_back(median(values));
      readings.make<double>("low_cycles").push_back(quantile(values, 0.01));
      readings.make<double>("high_cycles").push_back(quantile(values, 0.99));
      readings.make<std::uint64_t>("loads").push_back(values.size());
      if (is_hit)
        hit_high = quantile(values, 0.99);
      else
        miss_low = quantile(values, 0.01);
    }
    // Nearer to the hits: a row of DRAM that is open, or another partition, answers sooner than what was seen here.
    m_limit = hit_high + (miss_low - hit_high) / 4;
    m_stop = miss_low < 1.1 * hit_high;
    m_oracle.set_limit(m_limit);
    return {};
  }

  // After a load of one word, which others are there? A line's worth of distances from a far-aligned address.
  Result<void> sectors() {
    struct Way {
      std::uint32_t limit, prefetch;
    };
    std::vector<Way> ways{{0, 0}};
    if (!m_asked.own) {
      for (const auto limit : m_context.target.capabilities().fetch_limits_bytes) ways.push_back({limit, 0});
      for (const auto size : m_context.target.capabilities().prefetch_sizes_bytes) ways.push_back({0, size});
    }
    auto& found = table("sectors");
    for (const auto& way : ways) {
      auto e = sequence();
      e.fetch_limit_bytes = way.limit;
      e.prefetch_bytes = way.prefetch;
      constexpr std::array<std::uint64_t, 8> k_deltas{8, 16, 32, 64, 96, 128, 256, 512};
      for (const auto delta : k_deltas)
        for (std::uint64_t i = 0; i < k_delta_lines; ++i) {
          const auto first = static_cast<std::uint32_t>(e.places.size());
          const auto base = random_line() / k_delta_room_bytes * k_delta_room_bytes;
          e.places.push_back(base);
          e.places.push_back(base + delta);
          e.tests.push_back(static_cast<std::uint32_t>(e.steps.size()));
          if (m_oracle.settings().drop_victim) e.steps.push_back({StepKind::drop, first, 2, 1});
          e.steps.push_back({StepKind::walk, first, 1, 1});
          e.steps.push_back({StepKind::time, first + 1, 1, 1});
        }
      const auto samples = ask(std::move(e));
      if (!samples) return tl::unexpected(samples.error());
      for (std::size_t d = 0; d < k_deltas.size(); ++d) {
        std::uint64_t hits = 0;
        for (std::uint64_t i = 0; i < k_delta_lines; ++i)
          hits += samples->cycles[d * k_delta_lines + i] <= m_limit ? 1 : 0;
        found.make<std::uint64_t>("limit_bytes").push_back(way.limit);
        found.make<std::uint64_t>("prefetch_bytes").push_back(way.prefetch);
        found.make<std::uint64_t>("delta_bytes").push_back(k_deltas[d]);
        found.make<std::uint64_t>("hits").push_back(hits);
        found.make<std::uint64_t>("tests").push_back(k_delta_lines);
      }
    }
    return {};
  }

  struct Group {
    std::uint64_t victim;
    std::vector<std::uint64_t> lines;
    std::vector<std::uint64_t> members;
  };

  Result<void> groups() {
    std::size_t pool_lines = m_pool.first_size();
    const auto wanted = m_asked.own || m_pool.physical() ? k_wanted_groups : k_wanted_groups_in_pages;
    std::size_t failed_in_a_row = 0;
    for (std::size_t search = 0; search < k_most_searches && m_groups.size() < wanted; ++search) {
      const auto victim = m_pool.victim(m_random);
      auto found = find_eviction_set(m_oracle, victim, m_pool.lines(victim, pool_lines, m_random), k_most_ways);
      if (!found) return tl::unexpected(found.error());
      std::uint64_t candidates = 0;
      Group group{victim, found->lines, {}};
      if (!found->lines.empty()) {
        failed_in_a_row = 0;
        auto apart = members_of(group, candidates);
        if (!apart) return tl::unexpected(apart.error());
        if (auto r = store(group, *apart); !r) return r;
      }
      store_search(*found, pool_lines, candidates, group.members.size());
      if (!found->lines.empty()) {
        m_groups.push_back(std::move(group));
        continue;
      }
      if (!found->pool_evicts && pool_lines < m_pool.most_size()) {
        pool_lines = std::min(2 * pool_lines, m_pool.most_size());
        continue;
      }
      // Loaded once, lines may not push out one of a policy by chance, or one that was seen to be used.
      if (++failed_in_a_row == 6 && m_groups.empty() && m_asked.own) m_oracle.set_rounds(16);
      if (failed_in_a_row >= (m_groups.empty() ? (m_asked.own ? 9U : 6U) : 12U)) break;
      if (m_pool.costly() && failed_in_a_row >= 8) break;
    }
    return {};
  }

  // Lines at random that can stand in for one of the group's.
  Result<std::vector<std::uint64_t>> members_of(Group& group, std::uint64_t& tried) {
    auto kept = group.lines;
    kept.pop_back();
    std::vector<std::uint64_t> candidates;
    for (std::size_t i = 0; i < k_candidates; ++i) {
      const auto line = m_pool.candidate(group.victim, m_random);
      if (line != group.victim && std::find(group.lines.begin(), group.lines.end(), line) == group.lines.end())
        candidates.push_back(line);
    }
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    tried = candidates.size();
    const auto once = stand_in(group.victim, kept, candidates, 1);
    if (!once) return tl::unexpected(once.error());
    std::vector<std::uint64_t> likely;
    std::vector<std::uint64_t> apart;
    for (std::size_t i = 0; i < candidates.size(); ++i) ((*once)[i] != 0 ? likely : apart).push_back(candidates[i]);
    // A line in a member's place by mistake would spoil the group: each must do it five times more.
    const auto again = stand_in(group.victim, kept, likely, 5);
    if (!again) return tl::unexpected(again.error());
    for (std::size_t i = 0; i < likely.size(); ++i)
      if ((*again)[i] == 5) group.members.push_back(likely[i]);
    for (std::size_t i = apart.size(); i > 1; --i) std::swap(apart[i - 1], apart[m_random.below(i)]);
    apart.resize(std::min(apart.size(), k_apart_a_group));
    return apart;
  }

  Result<std::vector<std::uint32_t>> stand_in(std::uint64_t victim, const std::vector<std::uint64_t>& kept,
                                              const std::vector<std::uint64_t>& lines, std::uint32_t votes) {
    std::vector<std::uint64_t> places;
    std::vector<EvictionQuestion> questions;
    for (const auto line : lines) {
      questions.push_back(
          {victim, static_cast<std::uint32_t>(places.size()), static_cast<std::uint32_t>(kept.size() + 1)});
      places.insert(places.end(), kept.begin(), kept.end());
      places.push_back(line);
    }
    if (questions.empty()) return std::vector<std::uint32_t>{};
    return m_oracle.evictions(places, questions, votes);
  }

  Result<void> store(const Group& group, const std::vector<std::uint64_t>& apart) {
    auto& lines = table("lines");
    std::vector<std::uint64_t> places{group.victim};
    std::vector<const char*> roles{"victim"};
    const auto add = [&](const std::vector<std::uint64_t>& more, const char* role) {
      places.insert(places.end(), more.begin(), more.end());
      roles.insert(roles.end(), more.size(), role);
    };
    add(group.lines, "set");
    add(group.members, "member");
    add(apart, "apart");
    const auto addresses = m_pool.addresses(places);
    if (!addresses) return tl::unexpected(addresses.error());
    for (std::size_t i = 0; i < places.size(); ++i) {
      lines.make<std::uint64_t>("group").push_back(m_groups.size());
      lines.make<std::string>("role").emplace_back(roles[i]);
      lines.make<std::uint64_t>(m_pool.physical() ? "physical_address" : "virtual_address").push_back((*addresses)[i]);
    }
    return {};
  }

  void store_search(const EvictionSet& set, std::size_t pool_lines, std::uint64_t candidates, std::uint64_t members) {
    auto& searches = table("searches");
    searches.make<std::uint64_t>("ways").push_back(set.lines.size());
    searches.make<std::uint64_t>("evicted").push_back(set.evicted);
    searches.make<std::uint64_t>("evicted_less_one").push_back(set.evicted_less_one);
    searches.make<std::uint64_t>("checks").push_back(set.checks);
    searches.make<std::uint64_t>("evicted_cycles").push_back(set.evicted_cycles);
    searches.make<std::uint64_t>("pool_lines").push_back(pool_lines);
    searches.make<std::uint64_t>("rounds").push_back(m_oracle.settings().rounds);
    searches.make<std::uint64_t>("candidates").push_back(candidates);
    searches.make<std::uint64_t>("members").push_back(members);
    searches.make<std::string>("trouble").push_back(set.trouble);
  }

  // Does a word some bytes on share the victim's tag? Then what pushes the victim out pushes that out too, and the two
  // of them with one line fewer still have room. Not both are loaded for the first answer: that would be a second use
  // of the line, and a policy may keep lines that are used again.
  Result<void> tags() {
    if (m_groups.empty()) return {};
    constexpr std::array<std::uint64_t, 6> k_deltas{32, 64, 96, 128, 256, 512};
    constexpr std::uint32_t k_votes = 4;
    auto e = sequence();
    for (const auto delta : k_deltas)
      for (const auto& group : m_groups)
        for (std::uint32_t vote = 0; vote < k_votes; ++vote)
          for (const bool all : {true, false}) {
            const auto first = static_cast<std::uint32_t>(e.places.size());
            const auto count = static_cast<std::uint32_t>(group.lines.size() - (all ? 0 : 1));
            const auto base = group.victim / 1024 * 1024;
            const auto other = base + ((group.victim - base) ^ delta);
            e.places.push_back(group.victim);
            e.places.push_back(other);
            e.places.insert(e.places.end(), group.lines.begin(), group.lines.begin() + count);
            e.tests.push_back(static_cast<std::uint32_t>(e.steps.size()));
            if (m_oracle.settings().drop_victim) e.steps.push_back({StepKind::drop, first, 2, 1});
            if (all)
              e.steps.push_back({StepKind::walk, first + 1, 1, 1});
            else
              e.steps.push_back({StepKind::walk, first, 2, 1});
            if (count != 0) e.steps.push_back({StepKind::walk, first + 2, count, m_oracle.settings().rounds});
            e.steps.push_back({StepKind::time, all ? first + 1 : first, 1, 1});
          }
    const auto samples = ask(std::move(e));
    if (!samples) return tl::unexpected(samples.error());
    auto& found = table("tags");
    std::size_t at = 0;
    for (const auto delta : k_deltas) {
      std::uint64_t pushed_out = 0;
      std::uint64_t stays = 0;
      const std::size_t tests = m_groups.size() * k_votes;
      for (std::size_t i = 0; i < tests; ++i, at += 2) {
        pushed_out += samples->cycles[at] > m_limit ? 1 : 0;
        stays += samples->cycles[at + 1] <= m_limit ? 1 : 0;
      }
      found.make<std::uint64_t>("delta_bytes").push_back(delta);
      found.make<std::uint64_t>("pushed_out").push_back(pushed_out);
      found.make<std::uint64_t>("stays_with_one_fewer").push_back(stays);
      found.make<std::uint64_t>("tests").push_back(tests);
    }
    return {};
  }

  // With the set function known: so many lines of one set, and then is the first still there? For every set, or some.
  Result<void> profile() {
    if (m_groups.size() < 2) return {};
    const auto fit = fit_sets(m_context.measurements, m_asked);
    if (!fit || !fit->ok() || !m_asked.own) return {};
    const auto ways = read_ways(m_context.measurements, m_asked).ways;
    const std::size_t most = ways + 2;
    const auto sets = fit->function.set_count();
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(sets, k_profiled_sets));
    std::map<std::uint64_t, std::vector<std::uint64_t>> by_set;
    std::size_t full = 0;
    for (std::uint64_t tries = 0; full < wanted && tries < 40 * sets * most; tries += 4096) {
      std::vector<std::uint64_t> places(4096);
      for (auto& place : places) place = random_line();
      const auto addresses = m_pool.addresses(places);
      if (!addresses) return tl::unexpected(addresses.error());
      for (std::size_t i = 0; i < places.size(); ++i) {
        auto& lines = by_set[fit->function.value((*addresses)[i])];
        if (lines.size() < most && std::find(lines.begin(), lines.end(), places[i]) == lines.end()) {
          lines.push_back(places[i]);
          if (lines.size() == most) ++full;
        }
      }
    }
    std::erase_if(by_set, [most](const auto& set) { return set.second.size() < most; });
    while (by_set.size() > wanted) by_set.erase(std::prev(by_set.end()));
    if (by_set.empty()) return {};
    auto& found = table("profile");
    constexpr std::uint32_t k_votes = 4;
    auto e = sequence();
    for (const auto& [set, lines] : by_set) {
      const auto first = static_cast<std::uint32_t>(e.places.size());
      e.places.insert(e.places.end(), lines.begin(), lines.end());
      for (std::uint32_t count = 1; count <= most; ++count)
        for (std::uint32_t vote = 0; vote < k_votes; ++vote) {
          e.tests.push_back(static_cast<std::uint32_t>(e.steps.size()));
          e.steps.push_back({StepKind::walk, first, count, 1});
          e.steps.push_back({StepKind::time, first, 1, 1});
        }
    }
    const auto samples = ask(std::move(e));
    if (!samples) return tl::unexpected(samples.error());
    std::size_t at = 0;
    for (const auto& [set, lines] : by_set)
      for (std::uint64_t count = 1; count <= most; ++count) {
        std::uint64_t stays = 0;
        for (std::uint32_t vote = 0; vote < k_votes; ++vote) stays += samples->cycles[at++] <= m_limit ? 1 : 0;
        found.make<std::uint64_t>("set").push_back(set);
        found.make<std::uint64_t>("lines").push_back(count);
        found.make<std::uint64_t>("first_stays").push_back(stays);
        found.make<std::uint64_t>("tests").push_back(k_votes);
      }
    return {};
  }

  // Walks over lines of one set, every load timed.
  Result<void> policy() {
    const auto ways = static_cast<std::uint32_t>(read_ways(m_context.measurements, m_asked).ways);
    if (ways < 2) return {};
    std::size_t done = 0;
    for (std::size_t g = 0; g < m_groups.size() && done < k_policy_groups; ++g) {
      const auto& group = m_groups[g];
      if (group.lines.size() != ways) continue;
      std::vector<std::uint64_t> lines{group.victim};
      lines.insert(lines.end(), group.lines.begin(), group.lines.end());
      lines.insert(lines.end(), group.members.begin(), group.members.end());
      const auto planned =
          plan_replacement_sequences(ways, static_cast<std::uint32_t>(lines.size()), m_context.options.seed + g);
      if (planned.empty()) continue;
      ++done;
      auto e = sequence();
      for (const auto& walk : planned) {
        const auto first = static_cast<std::uint32_t>(e.places.size());
        for (const auto line : walk.lines) e.places.push_back(lines[line]);
        e.tests.push_back(static_cast<std::uint32_t>(e.steps.size()));
        e.steps.push_back({StepKind::time, first, static_cast<std::uint32_t>(walk.lines.size()), 1});
      }
      const auto samples = ask(std::move(e));
      if (!samples) return tl::unexpected(samples.error());
      auto& found = table("policy");
      std::size_t at = 0;
      for (std::size_t s = 0; s < planned.size(); ++s) {
        std::string walk;
        std::string hits;
        // Of a cache that is not emptied the set may hold some of these lines: what the first two laps find is left
        // out.
        const std::size_t unseen = m_asked.own ? 0 : 2 * (std::size_t{ways} + 1);
        for (const auto line : planned[s].lines) {
          walk += fmt::format("{}{}", walk.empty() ? "" : " ", line);
          const char read = samples->cycles[at++] <= m_limit ? '1' : '0';
          hits += hits.size() < unseen ? '.' : read;
        }
        found.make<std::uint64_t>("group").push_back(g);
        found.make<std::string>("start").emplace_back(m_asked.own ? "empty" : "foreign");
        found.make<std::string>("walk").push_back(std::move(walk));
        found.make<std::string>("hits").push_back(std::move(hits));
      }
    }
    return {};
  }
  static constexpr std::size_t k_policy_groups = 1;

  ProbeContext& m_context;
  const CacheAsked& m_asked;
  CachePool m_pool;
  Random m_random;
  EvictionOracle m_oracle;
  double m_limit = 0;
  bool m_stop = false;
  std::vector<Group> m_groups;
};

}  // namespace

Result<void> measure_cache(ProbeContext& context, const CacheAsked& asked) {
  return CacheMeasurement(context, asked).run();
}

}  // namespace gpusonde

// Curves over nodes and strides, then, for the levels found on them, replacement and scope.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "core/units.hpp"
#include "inference/statistics.hpp"
#include "probe/alias_places.hpp"
#include "probe/chase_mean.hpp"
#include "probe/page_conflicts.hpp"
#include "probe/tlb_probe.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_most_nodes = 8192;
constexpr std::uint64_t k_widest_stride_bytes = 1ULL << 30;
constexpr std::uint64_t k_least_stride_bytes = 32ULL << 10;
constexpr std::uint64_t k_least_nodes = 64;  // fewer at a stride say nothing
constexpr double k_wanted_sigma_cycles = 0.4;
constexpr std::uint32_t k_least_repetitions = 32;
constexpr std::uint32_t k_most_repetitions = 256;
constexpr std::size_t k_batch = 64;
constexpr int k_refinements = 5;
constexpr std::uint64_t k_parts = 8;
constexpr std::size_t k_refined_strides = 3;
constexpr std::size_t k_most_scope_sms = 512;
constexpr std::uint64_t k_scope_rounds = 5;  // with pages of their own
constexpr std::uint64_t k_scope_tries = 8;

class TlbMeasurement {
 public:
  explicit TlbMeasurement(ProbeContext& context)
      : m_context(context), m_table(context.measurements.table("tlb.alias")), m_seed(context.options.seed) {}

  Result<void> run() {
    m_space = m_context.target.alias_space();
    if (m_space.page_bytes == 0) return fail(ErrorKind::unsupported, m_space.why_not);
    auto& space = m_context.measurements.table("tlb.space");
    space.make<std::uint64_t>("page_bytes").push_back(m_space.page_bytes);
    space.make<std::uint64_t>("span_bytes").push_back(m_space.span_bytes);
    space.make<std::uint64_t>("max_pages").push_back(m_space.max_pages);
    space.make<std::uint64_t>("seed").push_back(m_seed);
    space.make<std::uint64_t>("own_pages").push_back(m_space.uses_own_page ? 1 : 0);
    if (auto r = calibrate(); !r) return r;
    if (auto r = coarse(); !r) return r;
    if (auto r = below_the_page(); !r) return r;
    if (auto r = refine(); !r) return r;
    if (auto r = at_half_the_stride(); !r) return r;
    const auto fits = fit_tlb(read_alias_curves(m_context.measurements, true), TlbFitEffort::best);
    if (auto r = replacement(fits); !r) return r;
    if (auto r = conflicts(fits); !r) return r;
    return scope(fits);
  }

 private:
  Result<std::vector<ChaseSamples>> chase(const std::vector<ListChaseExperiment>& chases, const std::string& doing) {
    std::vector<ChaseSamples> all;
    for (std::size_t first = 0; first < chases.size(); first += k_batch) {
      const auto last = std::min(chases.size(), first + k_batch);
      if (m_context.progress) m_context.progress({"tlb", doing, m_fraction});
      const std::vector<Experiment> batch(chases.begin() + static_cast<std::ptrdiff_t>(first),
                                          chases.begin() + static_cast<std::ptrdiff_t>(last));
      auto samples = m_context.target.run(batch, {m_context.cancel, {}});
      if (!samples) return tl::unexpected(samples.error());
      for (auto& sample : *samples) all.push_back(std::move(std::get<ChaseSamples>(sample)));
    }
    return all;
  }

  // The scatter of equal walks says how many a point needs.
  Result<void> calibrate() {
    const auto lists = alias_lists(m_space.page_bytes, k_least_nodes, m_space.page_bytes, m_seed);
    const auto walks =
        chase({alias_chase(lists.control, {2 * k_least_nodes, k_least_nodes, k_least_repetitions})}, "noise");
    if (!walks) return tl::unexpected(walks.error());
    std::vector<double> values;
    for (const auto cycles : walks->front().cycles)
      values.push_back(static_cast<double>(cycles) / static_cast<double>(k_least_nodes));
    // The first walk still finds things cold, and one may meet an interrupt.
    values.erase(values.begin());
    values.erase(std::max_element(values.begin(), values.end()));
    const double middle = median(values);
    double squares = 0;
    for (const double value : values) squares += (value - middle) * (value - middle);
    m_relative_noise = std::sqrt(squares / static_cast<double>(values.size())) / middle;
    const double wanted = 2 * std::pow(m_relative_noise * middle / k_wanted_sigma_cycles, 2);
    m_repetitions = std::clamp(std::bit_ceil(static_cast<std::uint32_t>(std::min(wanted, 1e6))), k_least_repetitions,
                               k_most_repetitions);
    return {};
  }

  [[nodiscard]] std::uint64_t most_nodes(std::uint64_t stride) const {
    return std::min(
        {k_most_nodes, m_space.span_bytes / stride, m_space.max_pages, most_alias_nodes(stride, m_space.page_bytes)});
  }

  [[nodiscard]] std::vector<std::uint64_t> coarse_nodes(std::uint64_t stride) const {
    const double step = m_context.options.quick ? 0.5 : 0.25;
    std::vector<std::uint64_t> nodes;
    for (double octave = 1; octave <= 20; octave += step) {
      const auto count = static_cast<std::uint64_t>(std::llround(std::exp2(octave)));
      if (count > most_nodes(stride)) break;
      if (nodes.empty() || nodes.back() != count) nodes.push_back(count);
    }
    return nodes;
  }

  // Measures points and stores them. The control depends on the stride only below the page.
  Result<void> measure(std::uint64_t stride, const std::vector<std::uint64_t>& nodes) {
    std::vector<ListChaseExperiment> chases;
    std::vector<std::uint64_t> wanted;
    std::vector<bool> has_control;
    for (const auto count : nodes) {
      if (!m_done.emplace(stride, count).second) continue;
      auto lists = alias_lists(stride, count, m_space.page_bytes, m_seed);
      const auto timing = alias_timing(count, m_repetitions);
      wanted.push_back(count);
      has_control.push_back(stride >= m_space.page_bytes && m_controls.contains(count));
      chases.push_back(alias_chase(std::move(lists.aliased), timing));
      if (!has_control.back()) chases.push_back(alias_chase(std::move(lists.control), timing));
    }
    const auto walks = chase(chases, fmt::format("stride {}", format_bytes(stride)));
    if (!walks) return tl::unexpected(walks.error());
    std::size_t at = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const double aliased = mean_hop_cycles((*walks)[at++]);
      const double control = has_control[i] ? m_controls[wanted[i]] : mean_hop_cycles((*walks)[at++]);
      if (stride >= m_space.page_bytes) m_controls[wanted[i]] = control;
      add_row(stride, wanted[i], aliased, control);
    }
    return {};
  }

  void add_row(std::uint64_t stride, std::uint64_t nodes, double aliased, double control) {
    m_table.make<std::uint64_t>("stride_bytes").push_back(stride);
    m_table.make<std::uint64_t>("nodes").push_back(nodes);
    add_reading(m_table, aliased, control);
  }
  void add_reading(Table& table, double aliased, double control) const {
    const double sigma = m_relative_noise * std::sqrt((aliased * aliased + control * control) / m_repetitions);
    table.make<double>("alias_cycles").push_back(aliased);
    table.make<double>("control_cycles").push_back(control);
    table.make<double>("penalty_cycles").push_back(aliased - control);
    table.make<double>("sigma_cycles").push_back(sigma);
    table.make<std::uint64_t>("repetitions").push_back(m_repetitions);
  }

  Result<void> coarse() {
    std::vector<std::uint64_t> strides;
    for (auto stride = m_space.page_bytes; stride <= k_widest_stride_bytes; stride *= 2)
      if (most_nodes(stride) >= k_least_nodes) strides.push_back(stride);
    for (std::size_t i = 0; i < strides.size(); ++i) {
      m_fraction = 0.6 * static_cast<double>(i) / static_cast<double>(strides.size());
      auto measured = measure(strides[i], coarse_nodes(strides[i]));
      if (measured) continue;
      if (i == 0 || measured.error().kind != ErrorKind::measurement) return measured;
      // The driver maps no more: what was measured up to here stands, and the findings say how far it goes.
      m_context.measurements.table("tlb.refused").make<std::uint64_t>("stride_bytes").push_back(strides[i]);
      m_context.measurements.table("tlb.refused").make<std::string>("reason").push_back(measured.error().message);
      break;
    }
    return {};
  }

  // A step that is sharp at the page's own size may belong to a span below it.
  Result<void> below_the_page() {
    if (!sharp_at(m_space.page_bytes)) return {};
    for (auto stride = m_space.page_bytes; stride / 2 >= k_least_stride_bytes; stride /= 2) {
      m_fraction = 0.6;
      if (auto r = measure(stride / 2, coarse_nodes(stride / 2)); !r) return r;
    }
    return {};
  }

  [[nodiscard]] std::vector<TlbPoint> points() const { return read_alias_curves(m_context.measurements, false); }

  [[nodiscard]] bool sharp_at(std::uint64_t stride) const {
    const auto all = points();
    double lower = 0;
    for (const auto& upper : penalty_plateaus(all)) {
      const auto steps = tlb_steps(all, lower, upper);
      if (const auto step = steps.find(stride); step != steps.end() && step->second.sharp()) return true;
      lower = upper.cycles;
    }
    return false;
  }

  // Where a step is sharp, points are put between those it leads over, down to one node.
  Result<void> refine() {
    for (int round = 0; round < k_refinements; ++round) {
      m_fraction = 0.6 + 0.05 * round;
      std::map<std::uint64_t, std::set<std::uint64_t>> wanted;
      const auto all = points();
      double lower = 0;
      for (const auto& upper : penalty_plateaus(all)) {
        std::size_t strides = 0;
        for (const auto& [stride, step] : tlb_steps(all, lower, upper)) {
          if (!step.sharp()) continue;
          if (++strides > k_refined_strides) break;
          add_between(all, stride, step, 0.12 * (upper.at(stride) - lower), wanted[stride]);
        }
        lower = upper.cycles;
      }
      bool more = false;
      for (const auto& [stride, nodes] : wanted) {
        more = more || !nodes.empty();
        if (auto r = measure(stride, {nodes.begin(), nodes.end()}); !r) return r;
      }
      if (!more) return {};
    }
    return {};
  }

  // Whether a step that is sharp at one stride is so at half of it too, twice as many nodes out, tells a span from half
  // a span; the coarse curves may end before that.
  Result<void> at_half_the_stride() {
    const auto all = points();
    std::map<std::uint64_t, std::set<std::uint64_t>> wanted;
    double lower = 0;
    for (const auto& upper : penalty_plateaus(all)) {
      const auto steps = tlb_steps(all, lower, upper);
      lower = upper.cycles;
      const auto sharp = std::find_if(steps.begin(), steps.end(), [](const auto& step) { return step.second.sharp(); });
      if (sharp == steps.end()) continue;
      const auto stride = sharp->first / 2;
      const auto most =
          std::min({m_space.span_bytes / stride, m_space.max_pages, most_alias_nodes(stride, m_space.page_bytes)});
      for (const double beyond : {1.0, 1.04, 1.1, 1.2, 1.4, 1.7, 2.0}) {
        const auto nodes = static_cast<std::uint64_t>(2 * beyond * static_cast<double>(sharp->second.first_nodes));
        if (nodes > most_nodes(stride) && nodes <= most) wanted[stride].insert(nodes);
      }
    }
    for (const auto& [stride, nodes] : wanted)
      if (auto r = measure(stride, {nodes.begin(), nodes.end()}); !r) return r;
    return {};
  }

  static void add_between(const std::vector<TlbPoint>& all, std::uint64_t stride, const TlbStep& step,
                          double least_rise, std::set<std::uint64_t>& nodes) {
    std::map<std::uint64_t, double> curve;
    for (const auto& point : all)
      if (point.stride_bytes == stride) curve[point.nodes] = point.penalty_cycles;
    for (auto right = std::next(curve.begin()); right != curve.end(); ++right) {
      const auto left = std::prev(right);
      const auto gap = right->first - left->first;
      const bool inside = left->first >= step.clean_nodes && right->first <= step.full_nodes;
      if (!inside || gap < 2 || right->second - left->second < least_rise) continue;
      for (std::uint64_t part = 1; part < k_parts; ++part) {
        const auto between = left->first + gap * part / k_parts;
        if (between > left->first && between < right->first) nodes.insert(between);
      }
    }
  }

  // One list a level that tells replacement policies apart.
  Result<void> replacement(const std::vector<TlbLevelFit>& fits) {
    m_fraction = 0.85;
    auto& table = m_context.measurements.table("tlb.replacement");
    for (std::size_t i = 0; i < fits.size(); ++i) {
      if (fits[i].candidates.empty()) break;
      const auto& shape = fits[i].candidates.front().shape;
      const std::uint64_t pages = 5ULL * std::max(1U, shape.entries / 2);
      auto lists = hot_and_cold_lists(shape.entries, shape.span_bytes, m_space.page_bytes);
      if (pages * shape.span_bytes > m_space.span_bytes || pages > m_space.max_pages || lists.aliased.empty()) continue;
      const auto timing = alias_timing(lists.aliased.size(), m_repetitions);
      const auto walks =
          chase({alias_chase(std::move(lists.aliased), timing), alias_chase(std::move(lists.control), timing)},
                fmt::format("replacement of level {}", i + 1));
      if (!walks) return tl::unexpected(walks.error());
      table.make<std::uint64_t>("level").push_back(i + 1);
      table.make<std::uint64_t>("entries").push_back(shape.entries);
      table.make<std::uint64_t>("span_bytes").push_back(shape.span_bytes);
      add_reading(table, mean_hop_cycles((*walks)[0]), mean_hop_cycles((*walks)[1]));
    }
    return {};
  }

  // Ways by group testing, of the first two levels: of the second with two numbers of pages that flush the first.
  Result<void> conflicts(const std::vector<TlbLevelFit>& fits) {
    m_fraction = 0.87;
    double below = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(2, fits.size()); ++i) {
      if (fits[i].candidates.empty()) return {};
      const auto& best = fits[i].candidates.front();
      const bool chance = best.shape.policy == TlbPolicy::random;
      const bool large = best.shape.ways == 0 && best.shape.entries > k_most_conflict_pages;
      if (!chance && !large) {
        const auto nearer = i == 0 ? 0U : fits[0].candidates.front().shape.entries;
        for (const std::uint64_t flush :
             i == 0 ? std::vector<std::uint64_t>{0} : std::vector<std::uint64_t>{2ULL * nearer, 3ULL * nearer})
          if (auto r = conflict(i + 1, best, best.penalty_cycles - below, flush); !r) return r;
      }
      below = best.penalty_cycles;
    }
    return {};
  }

  Result<void> conflict(std::size_t level, const TlbCandidate& best, double step, std::uint64_t flush_pages) {
    const auto& shape = best.shape;
    ConflictQuestion question{shape.span_bytes, m_space.page_bytes, 0, {}, step};
    for (std::uint64_t i = 1; i <= flush_pages; ++i) question.flush.push_back(i);
    const std::uint64_t numbers = 4ULL * shape.entries;
    const std::uint64_t wanted = shape.entries + shape.entries / 2 + 8;
    const auto first = flush_pages + 1;
    const auto laps = m_context.target.capabilities().max_per_hop_hops;
    if ((first + numbers) * shape.span_bytes > m_space.span_bytes || wanted + flush_pages + 16 > laps ||
        wanted + flush_pages + 16 > most_alias_nodes(shape.span_bytes, m_space.page_bytes))
      return {};
    const Permutation order(numbers, m_seed + level);
    std::vector<std::uint64_t> pool;
    for (std::uint64_t i = 0; i < wanted; ++i) pool.push_back(first + order(i));
    const auto read = [&](ListChaseExperiment lap) -> Result<double> {
      lap.hops = lap.places.size();
      lap.warmup_hops = 2 * lap.places.size();
      lap.repetitions = 1;
      lap.timing = HopTiming::per_hop;
      const auto walks = chase({std::move(lap)}, fmt::format("ways of level {}", level));
      if (!walks) return tl::unexpected(walks.error());
      return static_cast<double>(walks->front().hop_cycles.back());
    };
    const auto found = find_conflict_set(question, std::move(pool), read);
    if (!found) return tl::unexpected(found.error());
    auto& table = m_context.measurements.table("tlb.conflict");
    table.make<std::uint64_t>("level").push_back(level);
    table.make<std::uint64_t>("span_bytes").push_back(shape.span_bytes);
    table.make<std::uint64_t>("flush_pages").push_back(flush_pages);
    table.make<std::uint64_t>("set_pages").push_back(found->pages.size());
    table.make<std::uint64_t>("tests").push_back(found->tests);
    table.make<std::string>("pages").push_back(fmt::format("{}", fmt::join(found->pages, " ")));
    return {};
  }

  /// Whether a few places find room at once in every table that stands.
  static bool fits_all(const std::vector<TlbLevelFit>& fits, const std::vector<std::uint64_t>& places) {
    const TlbTrace trace(places, 0, 0);
    for (const auto& fit : fits)
      for (const auto& candidate : fit.candidates)
        if (deepest_miss_shares(std::span(&candidate.shape, 1), trace, trace.one_lap(), 1).front() > 0) return false;
    return true;
  }

  static std::vector<std::uint64_t> scope_pattern(const std::vector<TlbLevelFit>& fits, std::uint64_t pages,
                                                  std::uint64_t span) {
    std::vector<std::uint64_t> places;
    for (std::uint64_t i = 0; i < k_scope_tries * pages && places.size() < pages; ++i) {
      places.push_back(i * span + places.size() * 37 % 256 * 128);
      if (!fits_all(fits, places)) places.pop_back();
    }
    return places;
  }

  // Pages that SM 0 has just used, seen from each other SM: the penalty says which level the two share. Each SM
  // gets pages of its own, since a question fills tables itself.
  Result<void> scope(const std::vector<TlbLevelFit>& fits) {
    m_fraction = 0.9;
    const auto sms = std::min<std::uint64_t>(m_context.target.device().sm_count, k_most_scope_sms);
    if (fits.empty() || fits.front().candidates.empty() || sms < 2 || !m_context.target.capabilities().sm_choice)
      return {};
    // The sum of the levels' spans: a step of one span of each and some more, so that neither level gets two pages
    // in one of its entries, nor all of them in one set.
    std::set<std::uint64_t> spans;
    for (const auto& fit : fits)
      if (!fit.candidates.empty()) spans.insert(fit.candidates.front().shape.span_bytes);
    const auto span = std::accumulate(spans.begin(), spans.end(), std::uint64_t{0});
    const auto pages = std::min<std::uint64_t>(k_scope_pages, fits.front().candidates.front().shape.entries);
    std::vector<ListChaseExperiment> chases;
    std::vector<std::uint64_t> asked;
    // Pages by whose number none of the tables that stand gets too many in a set: first the pattern, then one copy a
    // question, far enough on to share no entry.
    const auto pattern = scope_pattern(fits, pages, span);
    if (pattern.size() < pages) return {};
    const auto widest = *spans.rbegin();
    // A power of two, so that each copy is at home in the sets as the first one is, whichever way they are numbered.
    const auto length = std::bit_ceil(pattern.back() + widest);
    const auto rounds = std::clamp<std::uint64_t>(m_space.span_bytes / length / sms, 1, k_scope_rounds);
    for (std::uint64_t sm = 1; sm < sms; ++sm)
      for (std::uint64_t round = 0; round < rounds; ++round) {
        const std::uint64_t first = (sm * rounds + round) * length;
        if (first + length > m_space.span_bytes) break;
        std::vector<std::uint64_t> places;
        for (const auto place : pattern) places.push_back(first + place);
        auto question = alias_chase(std::move(places), {16, 8, 1});
        question.timing = HopTiming::per_hop;
        question.split.block_threads = 32;  // many blocks are launched to reach one SM
        question.sm = static_cast<std::uint32_t>(sm);
        question.warmup_sm = 0;
        chases.push_back(question);
        question.warmup_sm.reset();  // the same loads once the SM has them itself
        chases.push_back(question);
        asked.push_back(sm);
      }
    const auto walks = chase(chases, "scope");
    if (!walks) return tl::unexpected(walks.error());
    std::map<std::uint64_t, std::vector<double>> penalties;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const auto& after = (*walks)[2 * i].hop_cycles;
      const auto& own = (*walks)[2 * i + 1].hop_cycles;
      for (std::size_t hop = 1; hop < after.size(); ++hop)  // the first hop also fetches code
        penalties[asked[i]].push_back(static_cast<double>(after[hop]) - static_cast<double>(own[hop]));
    }
    auto& table = m_context.measurements.table("tlb.scope");
    for (const auto& [sm, values] : penalties) {
      table.make<std::uint64_t>("primed_sm").push_back(0);
      table.make<std::uint64_t>("sm").push_back(sm);
      table.make<double>("penalty_cycles").push_back(median(values));
    }
    return {};
  }

  ProbeContext& m_context;
  Table& m_table;
  std::uint64_t m_seed;
  AliasSpace m_space;
  double m_relative_noise = 0;
  std::uint32_t m_repetitions = k_least_repetitions;
  std::set<std::pair<std::uint64_t, std::uint64_t>> m_done;
  std::map<std::uint64_t, double> m_controls;  ///< by nodes, for strides of a page and more
  double m_fraction = 0;
};

}  // namespace

Result<void> measure_tlb(ProbeContext& context) {
  auto measured = TlbMeasurement(context).run();
  context.target.release_aliases();
  return measured;
}

AliasSpaceRow alias_space_row(const Measurements& measurements) {
  const auto* table = measurements.find("tlb.space");
  if (table == nullptr || table->rows() == 0) return {};
  const auto value = [&](std::string_view name) {
    const auto* column = table->column<std::uint64_t>(name);
    return column == nullptr ? 0 : column->front();
  };
  return {value("page_bytes"), value("span_bytes"), value("seed"), value("own_pages") != 0};
}

std::shared_ptr<const TlbTrace> alias_trace(std::vector<std::uint64_t> places, const AliasTiming& timing,
                                            const AliasSpaceRow& space) {
  return std::make_shared<TlbTrace>(std::move(places), timing.warmup_hops, timing.hops * timing.repetitions,
                                    space.uses_own_page ? timing.hops : 0);
}

std::vector<TlbPoint> read_alias_curves(const Measurements& measurements, bool with_loads) {
  const auto space = alias_space_row(measurements);
  const auto* table = measurements.find("tlb.alias");
  if (space.page_bytes == 0 || table == nullptr) return {};
  const auto* stride = table->column<std::uint64_t>("stride_bytes");
  const auto* nodes = table->column<std::uint64_t>("nodes");
  const auto* penalty = table->column<double>("penalty_cycles");
  const auto* sigma = table->column<double>("sigma_cycles");
  const auto* repetitions = table->column<std::uint64_t>("repetitions");
  if (!stride || !nodes || !penalty || !sigma || !repetitions) return {};
  std::vector<TlbPoint> points;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    TlbPoint point{(*stride)[row], (*nodes)[row], (*penalty)[row], (*sigma)[row], {}, {}};
    if (with_loads) {
      auto lists = alias_lists(point.stride_bytes, point.nodes, space.page_bytes, space.seed);
      const auto timing = alias_timing(point.nodes, static_cast<std::uint32_t>((*repetitions)[row]));
      point.trace = alias_trace(std::move(lists.aliased), timing, space);
      if (point.stride_bytes < space.page_bytes) point.control = alias_trace(std::move(lists.control), timing, space);
    }
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace gpusonde

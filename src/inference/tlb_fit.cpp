#include "inference/tlb_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "core/units.hpp"
#include "inference/statistics.hpp"

namespace gpusonde {
namespace {

constexpr double k_plateau_octaves = 0.5;
constexpr double k_plateau_fraction = 0.02;  // of its value, over a flat stretch
constexpr double k_merge_fraction = 0.07;    // plateaus closer than this are one
constexpr double k_least_step_cycles = 1.0;
constexpr double k_model_fraction = 0.012;  // of a penalty: what the tables may differ from the device by
constexpr double k_walk_fraction = 0.05;    // likewise of a walk, which depends on where the page table lies
constexpr double k_walk_growth = 0.06;      // over the last half octave of a curve that has ended
constexpr double k_chance = 5;              // loads after each other do not miss independently, here and there
constexpr double k_floor_cycles = 0.08;
constexpr double k_worst_misfit = 1.6;  // mean square residual beyond which nothing is claimed
constexpr std::size_t k_most_points = 48;
constexpr std::size_t k_screening_points = 14;
constexpr int k_most_halvings = 8;
constexpr std::uint64_t k_least_span_bytes = 4096;
constexpr std::size_t k_first_screening = 4;
constexpr std::size_t k_finalists = 8;
constexpr double k_widest_search = 0.06;   // of the entries, either way
constexpr std::int64_t k_most_sizes = 32;  // of one form
constexpr std::size_t k_most_threads = 16;
constexpr double k_steep = 1.3;
constexpr double k_widest_reach = 1.03;  // times the least
constexpr double k_least_scale = 0.05;   // the residuals' own scale tells fits apart, down to this misfit
constexpr double k_same_height = 0.015;
constexpr double k_hopeless = 6;  // times the best: not evaluated to the end

/// Policies that may fit where lru does.
constexpr std::array k_relatives{TlbPolicy::fifo, TlbPolicy::tree_plru, TlbPolicy::tree_plru_pointed};

/// Ascending in nodes.
using Curve = std::vector<const TlbPoint*>;

std::map<std::uint64_t, Curve> curves_of(std::span<const TlbPoint> points) {
  std::map<std::uint64_t, Curve> curves;
  for (const auto& point : points) curves[point.stride_bytes].push_back(&point);
  for (auto& [stride, curve] : curves)
    std::sort(curve.begin(), curve.end(), [](const auto* a, const auto* b) { return a->nodes < b->nodes; });
  return curves;
}

double octaves(std::uint64_t low, std::uint64_t high) {
  return std::log2(static_cast<double>(high) / static_cast<double>(low));
}

struct Stretch {
  double mean = 0;
  double octaves = 0;
  std::uint64_t stride = 0;
};

/// Longest flat stretches of a curve, each beginning where the one before ends.
void add_stretches(const Curve& curve, std::vector<Stretch>& stretches) {
  for (std::size_t first = 0; first < curve.size();) {
    double low = curve[first]->penalty_cycles;
    double high = low;
    double sum = 0;
    std::size_t end = first;
    for (; end < curve.size(); ++end) {
      const double value = curve[end]->penalty_cycles;
      low = std::min(low, value);
      high = std::max(high, value);
      const double allowed = std::max({4 * curve[end]->sigma_cycles, k_plateau_fraction * std::abs(high), 0.3});
      if (high - low > allowed) break;
      sum += value;
    }
    const std::size_t count = end - first;
    const double length = octaves(curve[first]->nodes, curve[end - 1]->nodes);
    if (count >= 3 && length >= k_plateau_octaves) {
      stretches.push_back({sum / static_cast<double>(count), length, curve[first]->stride_bytes});
      first = end;
    } else {
      ++first;
    }
  }
}

/// What is known of the levels before the one to be fitted.
struct Known {
  std::vector<TlbShape> shapes;
  std::vector<double> penalties;
};

bool by_chance(const TlbShape& shape) { return shape.policy == TlbPolicy::random; }

constexpr std::size_t k_own_page_matters = 1024;  // nodes; with more, one page more or less is nothing

/// The loads of a point that reach the level to be fitted. As measured where chance or the own page play a part, and
/// several times while chance is felt; else over one lap, which the others repeat.
class Streams {
 public:
  Streams(const TlbTrace& trace, const Known& known)
      : m_trace(&trace), m_known(&known), m_chance(std::any_of(known.shapes.begin(), known.shapes.end(), by_chance)) {}

  /// Shares of the known levels, then of the one that is tried; the load's deepest miss counts.
  [[nodiscard]] std::vector<double> shares(const TlbShape& shape) {
    const bool chance = m_chance || by_chance(shape);
    const std::size_t runs = !chance ? 1 : m_trace->places() < 256 ? 4 : m_trace->places() < 1024 ? 2 : 1;
    const bool own_page = m_trace->own_every() != 0 && m_trace->places() < k_own_page_matters;
    auto& streams = chance || own_page ? m_measured : m_lap;
    const auto part = chance || own_page ? m_trace->measured() : m_trace->one_lap();
    {
      const std::scoped_lock lock(m_mutex);
      while (streams.size() < (m_chance ? runs : 1))
        streams.push_back(miss_stream(m_known->shapes, *m_trace, part, streams.size() + 1));
    }
    std::vector<double> sum(m_known->shapes.size() + 1, 0.0);
    for (std::size_t run = 0; run < runs; ++run) {
      const auto& stream = streams[std::min(run, streams.size() - 1)];
      const double missed = miss_share(shape, *m_trace, stream, run + 1);
      for (std::size_t i = 0; i < stream.shares.size(); ++i) sum[i] += stream.shares[i];
      if (!stream.shares.empty()) sum[stream.shares.size() - 1] -= missed;
      sum.back() += missed;
    }
    for (auto& share : sum) share /= static_cast<double>(runs);
    return sum;
  }

 private:
  const TlbTrace* m_trace;
  const Known* m_known;
  bool m_chance;
  std::mutex m_mutex;
  std::vector<TlbStream> m_measured;
  std::vector<TlbStream> m_lap;
};

std::map<std::uint64_t, TlbStep> steps_of(const std::map<std::uint64_t, Curve>& curves, double lower,
                                          const TlbPlateau& upper) {
  std::map<std::uint64_t, TlbStep> steps;
  for (const auto& [stride, curve] : curves) {
    if (!upper.by_stride.empty() && !upper.by_stride.contains(stride)) continue;
    const double height = upper.at(stride) - lower;
    TlbStep step;
    const TlbPoint* before = nullptr;
    for (const auto* point : curve) {
      const double value = point->penalty_cycles;
      const double tolerance = std::max({4 * point->sigma_cycles, 0.05 * height, 0.15});
      if (step.first_nodes == 0 && value <= lower + tolerance) {
        if (value >= lower - tolerance) step.clean_nodes = point->nodes;
      } else if (step.first_nodes == 0) {
        step.first_nodes = point->nodes;
      }
      const double half = lower + height / 2;
      if (step.half_nodes == 0 && value >= half) {
        step.half_nodes = static_cast<double>(point->nodes);
        if (before != nullptr)
          step.half_nodes -= (value - half) / std::max(1e-9, value - before->penalty_cycles) *
                             static_cast<double>(point->nodes - before->nodes);
      }
      if (step.full_nodes == 0 && value >= lower + 0.9 * height) step.full_nodes = point->nodes;
      before = point;
    }
    if (step.clean_nodes != 0 && step.first_nodes != 0 && step.full_nodes != 0) steps[stride] = step;
  }
  return steps;
}

/// Whether at least two strides, and more than half of them, end at one height.
bool common_height(const std::map<std::uint64_t, double>& tops) {
  std::size_t most = 0;
  for (const auto& [stride, top] : tops)
    most =
        std::max(most, static_cast<std::size_t>(std::count_if(tops.begin(), tops.end(), [top = top](const auto& other) {
                   return std::abs(other.second - top) <= std::max(k_same_height * top, k_least_step_cycles);
                 })));
  return most >= 2 && 2 * most > tops.size();
}

/// A last plateau at a height of its own for each stride, where curves end so.
void add_walk(const std::map<std::uint64_t, Curve>& curves, double sigma, std::vector<TlbPlateau>& plateaus) {
  const double below = plateaus.empty() ? 0 : plateaus.back().cycles;
  TlbPlateau walk;
  std::vector<double> tops;
  for (const auto& [stride, curve] : curves) {
    const double top = curve.back()->penalty_cycles;
    if (top < 1.15 * below + std::max(5 * sigma, 2 * k_least_step_cycles)) continue;
    double low = top;
    double high = top;
    std::size_t count = 0;
    for (auto point = curve.rbegin();
         point != curve.rend() && octaves((*point)->nodes, curve.back()->nodes) <= k_plateau_octaves + 0.05; ++point) {
      low = std::min(low, (*point)->penalty_cycles);
      high = std::max(high, (*point)->penalty_cycles);
      ++count;
    }
    if (count < 3 || high - low > k_walk_growth * high) continue;
    const std::map<std::uint64_t, Curve> one{{stride, curve}};
    const auto step = steps_of(one, below, TlbPlateau{top, {}});
    if (step.empty() || !step.begin()->second.sharp()) continue;
    walk.by_stride[stride] = top;
    tops.push_back(top);
  }
  if (tops.size() < 2) return;
  walk.cycles = median(tops);
  plateaus.push_back(std::move(walk));
}

/// Fits one level behind known ones.
class LevelFitter {
 public:
  LevelFitter(const std::map<std::uint64_t, Curve>& curves, const Known& known, double below, const TlbPlateau& above,
              bool last, TlbFitEffort effort)
      : m_curves(curves),
        m_known(known),
        m_below(below),
        m_above(above),
        m_last(last),
        m_effort(effort),
        m_knees(steps_of(curves, below, above)) {}

  TlbLevelFit fit() {
    TlbLevelFit result;
    result.plateau_cycles = m_above.cycles;
    if (m_knees.empty()) {
      result.trouble = "no curve shows where the step begins and ends";
      return result;
    }
    result.reach_bytes = agreed_reach();
    const auto& last = *m_knees.rbegin();
    result.knee_nodes = last.second.half_nodes;
    result.knee_stride_bytes = last.first;
    const auto sharp =
        std::find_if(m_knees.begin(), m_knees.end(), [](const auto& knee) { return knee.second.sharp(); });
    if (sharp == m_knees.end()) {
      result.trouble = "the step is gradual at every stride, so that the nodes of a span cannot be told apart";
      return result;
    }
    choose_points(sharp->first);
    result.points = m_points.size();
    screen(sharp->first);
    refine();
    if (m_evaluated.empty() || m_evaluated.front().misfit > k_worst_misfit) {
      result.trouble = m_evaluated.empty()
                           ? "no table was tried"
                           : fmt::format(
                                 "no table of one replacement policy fits the curves: the best misses them by "
                                 "{:.1f} times what the measurement allows",
                                 std::sqrt(m_evaluated.front().misfit));
      return result;
    }
    keep_standing(result);
    return result;
  }

 private:
  // What is mapped when the step begins, whatever table it is: at strides up to an entry's span, nodes times stride.
  [[nodiscard]] Interval agreed_reach() const {
    std::vector<Interval> seen;
    for (const auto& [stride, knee] : m_knees) {
      // A gradual step begins unseen, beyond what is mapped.
      if (static_cast<double>(knee.full_nodes) > k_steep * static_cast<double>(knee.clean_nodes)) return {};
      seen.push_back({static_cast<double>(knee.clean_nodes) * static_cast<double>(stride),
                      static_cast<double>(knee.first_nodes) * static_cast<double>(stride)});
      if (seen.size() == 2) break;
    }
    if (seen.size() < 2) return {};
    const Interval both{std::max(seen[0].low, seen[1].low), std::min(seen[0].high, seen[1].high)};
    return both.low <= both.high && both.high <= k_widest_reach * both.low ? both : Interval{};
  }

  [[nodiscard]] bool usable(const TlbPoint& point) const {
    // Above its plateau a later level has a part in it.
    return m_last || point.penalty_cycles <= m_above.cycles + std::max(4 * point.sigma_cycles, 0.04 * m_above.cycles);
  }

  // Points around the step, of the strides near the sharp one, spread evenly over what there is.
  void choose_points(std::uint64_t sharp) {
    std::vector<const TlbPoint*> all;
    for (const auto& [stride, curve] : m_curves) {
      const auto knee = m_knees.find(stride);
      for (const auto* point : curve) {
        if (!usable(*point)) continue;
        if (knee != m_knees.end() &&
            (point->nodes < knee->second.clean_nodes / 4 || point->nodes > 3 * knee->second.full_nodes))
          continue;
        // A curve without the step says where it is not.
        if (knee == m_knees.end() && point->nodes < curve.back()->nodes / 4) continue;
        all.push_back(point);
      }
    }
    // Near the sharp stride every point counts; farther off, fewer do.
    std::vector<const TlbPoint*> near;
    std::vector<const TlbPoint*> far;
    for (const auto* point : all) {
      if (at_an_edge(*point) || (point->stride_bytes == sharp / 2 && !m_knees.contains(sharp / 2))) {
        m_points.push_back(point);
        continue;
      }
      (point->stride_bytes >= sharp / 2 && point->stride_bytes <= 2 * sharp ? near : far).push_back(point);
    }
    take(near, k_most_points / 2);
    take(far, k_most_points / 3);
    for (const auto* point : near)
      if (point->stride_bytes == sharp || point->stride_bytes * 2 == sharp || point->stride_bytes == sharp * 2)
        m_screening.push_back(point);
    thin(m_screening, k_screening_points);
  }
  // The last point before a sharp step and the first ones in it decide about single entries.
  [[nodiscard]] bool at_an_edge(const TlbPoint& point) const {
    std::size_t strides = 0;
    for (const auto& [stride, knee] : m_knees) {
      if (!knee.sharp()) continue;
      if (++strides > 3) return false;
      if (stride != point.stride_bytes) continue;
      return point.nodes == knee.clean_nodes || point.nodes == knee.first_nodes || point.nodes == knee.full_nodes;
    }
    return false;
  }
  static void thin(std::vector<const TlbPoint*>& points, std::size_t most) {
    if (points.size() <= most) return;
    std::vector<const TlbPoint*> kept;
    for (std::size_t i = 0; i < most; ++i) kept.push_back(points[i * (points.size() - 1) / (most - 1)]);
    points = std::move(kept);
  }
  void take(std::vector<const TlbPoint*> points, std::size_t most) {
    thin(points, most);
    m_points.insert(m_points.end(), points.begin(), points.end());
  }

  /// Misfit and penalty of a shape over some points; given up, with a misfit beyond the bound, once that is passed.
  [[nodiscard]] TlbCandidate evaluate(const TlbShape& shape, std::span<const TlbPoint* const> points,
                                      double bound) const {
    const std::size_t here = m_known.shapes.size();
    const double count = static_cast<double>(std::max<std::size_t>(1, points.size()));
    double at_plateau = 0;  // misfit if the penalty is the plateau's
    std::vector<Residual> residuals;
    for (const auto* point : points) {
      const auto share = shares(*point, shape);
      double rest = point->penalty_cycles;
      for (std::size_t i = 0; i < here; ++i) rest -= share[i] * m_known.penalties[i];
      const double above = m_above.at(point->stride_bytes);
      double variance = expected_variance(*point);
      if (by_chance(shape)) {
        const double even = std::clamp(share[here] * (1 - share[here]), 0.0, 0.25);
        variance += above * above * k_chance * even / static_cast<double>(point->trace->measured().counted_hops);
      }
      residuals.push_back({point->stride_bytes, share[here], rest, variance});
      // The penalty may lie a little off the plateau, which a lenient residual allows for.
      const double off = std::max(0.0, std::abs(rest - share[here] * above) - 0.05 * share[here] * above);
      at_plateau += off * off / variance;
      if (at_plateau > bound * count) return {shape, m_above.cycles, at_plateau / count};
    }
    TlbCandidate candidate{shape, 0, 0};
    const auto penalties = fitted_penalties(residuals);
    std::vector<double> values;
    for (const auto& [stride, penalty] : penalties) values.push_back(penalty);
    candidate.penalty_cycles = median(values);
    for (const auto& [stride, share, rest, variance] : residuals) {
      const double residual = rest - share * penalties.at(stride);
      candidate.misfit += residual * residual / variance / count;
    }
    return candidate;
  }

  [[nodiscard]] std::vector<double> shares(const TlbPoint& point, const TlbShape& shape) const {
    auto result = streams(*point.trace).shares(shape);
    if (point.control) {
      const auto less = streams(*point.control).shares(shape);
      for (std::size_t i = 0; i < result.size(); ++i) result[i] -= less[i];
    }
    return result;
  }
  [[nodiscard]] Streams& streams(const TlbTrace& trace) const {
    const std::scoped_lock lock(m_mutex);
    const auto found = m_streams.find(&trace);
    return found != m_streams.end() ? found->second : m_streams.try_emplace(&trace, trace, m_known).first->second;
  }

  struct Residual {
    std::uint64_t stride;
    double share, rest, variance;
  };

  /// Least squares; one for all strides unless the plateau has one for each. Near the plateau, or what is taken for a
  /// table's overflow is something else.
  [[nodiscard]] std::map<std::uint64_t, double> fitted_penalties(const std::vector<Residual>& residuals) const {
    std::map<std::uint64_t, std::pair<double, double>> sums;
    for (const auto& [stride, share, rest, variance] : residuals) {
      auto& [weighted, weights] = sums[m_above.by_stride.empty() ? 0 : stride];
      weighted += share * rest / variance;
      weights += share * share / variance;
    }
    std::map<std::uint64_t, double> penalties;
    for (const auto& residual : residuals) {
      const auto& [weighted, weights] = sums[m_above.by_stride.empty() ? 0 : residual.stride];
      const double above = m_above.at(residual.stride);
      penalties[residual.stride] = std::clamp(weights > 0 ? weighted / weights : above, 0.93 * above, 1.07 * above);
    }
    return penalties;
  }

  [[nodiscard]] double expected_variance(const TlbPoint& point) const {
    const double fraction = m_above.by_stride.empty() ? k_model_fraction : k_walk_fraction;
    const double model = fraction * m_above.at(point.stride_bytes);
    return point.sigma_cycles * point.sigma_cycles + model * model + k_floor_cycles * k_floor_cycles;
  }

  [[nodiscard]] std::vector<std::uint32_t> ways_choices(std::uint32_t entries) const {
    std::vector<std::uint32_t> choices{0};
    for (const std::uint32_t ways : {1U, 2U, 3U, 4U, 5U, 6U, 8U, 10U, 12U, 16U, 20U, 24U, 32U, 64U})
      if (ways < entries) choices.push_back(ways);
    return choices;
  }

  static std::uint32_t rounded(double entries, std::uint32_t ways) {
    const std::uint32_t unit = std::max(1U, ways);
    return std::max(unit, static_cast<std::uint32_t>(std::llround(entries / unit)) * unit);
  }

  static bool possible(const TlbShape& shape) {
    if (shape.ways != 0 && (shape.ways >= shape.entries || shape.entries % shape.ways != 0)) return false;
    if (shape.folded && (!std::has_single_bit(shape.sets()) || shape.sets() == 1)) return false;
    if (shape.policy != TlbPolicy::tree_plru && shape.policy != TlbPolicy::tree_plru_pointed) return true;
    const auto ways = shape.ways == 0 ? shape.entries : shape.ways;
    return std::has_single_bit(ways) && ways <= 64 && ways >= 2;
  }

  void consider(std::vector<TlbCandidate>& into, const TlbShape& shape, std::span<const TlbPoint* const> points) const {
    if (!possible(shape)) return;
    if (std::any_of(into.begin(), into.end(), [&](const TlbCandidate& c) { return c.shape == shape; })) return;
    double best = 1e9;
    for (const auto& candidate : into) best = std::min(best, candidate.misfit);
    into.push_back(evaluate(shape, points, k_hopeless * best + 4));
  }

  static void sort(std::vector<TlbCandidate>& candidates) {
    std::sort(candidates.begin(), candidates.end(),
              [](const TlbCandidate& a, const TlbCandidate& b) { return a.misfit < b.misfit; });
  }

  // Every kind of table at a few sizes over a few points; the best kinds go on.
  void screen(std::uint64_t sharp) {
    std::vector<TlbShape> shapes;
    const auto add_shape = [&](const TlbShape& shape) {
      if (possible(shape) && std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
    };
    for (const std::uint64_t span : {sharp / 2, sharp, sharp * 2}) {
      const auto& knee = m_knees.contains(span) ? m_knees.at(span) : m_knees.at(sharp);
      const double scale =
          m_knees.contains(span) ? 1.0 : static_cast<double>(sharp) / static_cast<double>(std::max(span, sharp));
      const double least = std::max(1.0, static_cast<double>(knee.clean_nodes) * scale);
      for (const auto ways : ways_choices(static_cast<std::uint32_t>(knee.first_nodes))) {
        std::vector<std::uint32_t> sizes;
        for (const double guess : {1.0, 0.95, 0.85}) sizes.push_back(rounded(least * guess, ways));
        if (ways != 0)  // sets are mostly a power of two
          for (const std::uint32_t times : {1U, 2U})
            sizes.push_back(std::bit_floor(static_cast<std::uint32_t>(std::max(1.0, least / ways))) * ways * times);
        for (const auto entries : sizes)
          for (const bool folded : {false, true})
            for (const auto policy : {TlbPolicy::lru, TlbPolicy::random})
              if (ways != 0 || !folded) add_shape({entries, ways, span, policy, folded});
      }
    }
    // Those that do best over the first points are evaluated in full, and say when to give up on the others.
    const auto few = std::span(m_screening).first(std::min(k_first_screening, m_screening.size()));
    auto all = evaluate_each(shapes, few, 1e9);
    sort(all);
    std::vector<TlbShape> first;
    for (const auto& candidate : all)
      if (first.size() < k_finalists) first.push_back(candidate.shape);
    all = evaluate_each(first, m_screening, 1e9);
    double best = 1e9;
    for (const auto& candidate : all) best = std::min(best, candidate.misfit);
    std::erase_if(shapes,
                  [&](const TlbShape& shape) { return std::find(first.begin(), first.end(), shape) != first.end(); });
    const auto others = evaluate_each(shapes, m_screening, k_hopeless * best + 4);
    all.insert(all.end(), others.begin(), others.end());
    sort(all);
    for (const auto& candidate : all) {
      const auto same = [&](const TlbCandidate& c) {
        return c.shape.ways == candidate.shape.ways && c.shape.span_bytes == candidate.shape.span_bytes &&
               c.shape.policy == candidate.shape.policy && c.shape.folded == candidate.shape.folded;
      };
      if (std::any_of(m_kinds.begin(), m_kinds.end(), same)) continue;
      m_kinds.push_back(candidate);
      if (m_kinds.size() == k_finalists) break;
    }
  }

  // Sizes are refined over all points by steps that halve; then other policies of the same form are tried.
  void refine() {
    std::vector<std::vector<TlbCandidate>> tried(m_kinds.size());
    in_parallel(m_kinds.size(), [&](std::size_t i) { tried[i] = sizes_of(m_kinds[i]); });
    for (const auto& candidates : tried)
      for (const auto& candidate : candidates) add(candidate);
    sort(m_evaluated);
    if (m_evaluated.empty() || m_evaluated.front().misfit > k_worst_misfit || m_effort == TlbFitEffort::best) return;
    widen();
    sort(m_evaluated);
  }

  [[nodiscard]] double standing_bound() const {
    const double best = m_evaluated.front().misfit;
    // Where chance plays a part, one run of it is compared with others.
    const bool chance =
        by_chance(m_evaluated.front().shape) || std::any_of(m_known.shapes.begin(), m_known.shapes.end(), by_chance);
    const double scale = m_above.by_stride.empty() && !chance ? k_least_scale : 1.0;
    return best + std::max(0.25 * best, 12 * std::max(scale, best) / static_cast<double>(m_points.size()));
  }

  std::vector<TlbCandidate> sizes_of(const TlbCandidate& kind) const {
    auto best = evaluate(kind.shape, m_points, 1e9);
    const std::uint32_t unit = std::max(1U, kind.shape.ways);
    std::vector<TlbCandidate> tried{best};
    for (std::uint32_t steps = std::max(1U, kind.shape.entries / unit / 8); steps > 0; steps /= 2) {
      for (bool moved = true; moved;) {
        moved = false;
        for (const int sign : {-1, 1}) {
          auto shape = best.shape;
          const auto change = static_cast<std::int64_t>(steps) * unit * sign;
          if (static_cast<std::int64_t>(shape.entries) + change < static_cast<std::int64_t>(unit)) continue;
          shape.entries = static_cast<std::uint32_t>(shape.entries + change);
          const auto before = tried.size();
          consider(tried, shape, m_points);
          if (tried.size() == before || tried.back().misfit >= best.misfit) continue;
          best = tried.back();
          moved = true;
        }
      }
    }
    if (best.misfit < 4 * k_worst_misfit && best.shape.policy == TlbPolicy::lru) {
      for (const auto policy : k_relatives) {
        auto shape = best.shape;
        shape.policy = policy;
        consider(tried, shape, m_points);
      }
    }
    return tried;
  }

  /// On the machine's cores; nothing depends on their number.
  template <class Work>
  static void in_parallel(std::size_t count, const Work& work) {
    std::atomic<std::size_t> next{0};
    const auto loop = [&] {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    };
    std::vector<std::jthread> threads;
    const auto most = std::min<std::size_t>(std::max(1U, std::thread::hardware_concurrency()), k_most_threads);
    for (std::size_t i = 1; i < std::min(most, count); ++i) threads.emplace_back(loop);
    loop();
  }

  [[nodiscard]] std::vector<TlbCandidate> evaluate_each(const std::vector<TlbShape>& shapes,
                                                        std::span<const TlbPoint* const> points, double bound) const {
    std::vector<TlbCandidate> results(shapes.size());
    in_parallel(shapes.size(), [&](std::size_t i) { results[i] = evaluate(shapes[i], points, bound); });
    return results;
  }

  // Every other form beside the best one, at sizes near its own: what fits as well stands too. Sizes are tried one by
  // one, since numbers of sets that hardly differ may spread the same pages quite differently.
  void widen() {
    const auto best = m_evaluated.front().shape;
    std::vector<TlbShape> shapes;
    const auto add_form = [&](std::uint64_t span, std::uint32_t ways, const std::set<std::uint32_t>& sizes,
                              bool folded) {
      std::size_t nth = 0;
      for (const auto entries : sizes) {
        shapes.push_back({entries, ways, span, TlbPolicy::lru, folded});
        // What chance makes of a size changes slowly with it.
        if (nth++ % 3 == 0 || entries == best.entries)
          shapes.push_back({entries, ways, span, TlbPolicy::random, folded});
      }
    };
    for (const bool folded : {false, true}) {
      for (const auto ways : ways_choices(best.entries + 1))
        add_form(best.span_bytes, ways, sizes_near(best.entries, ways, folded), folded);
      // Of other spans, the same form: the reach may stay, or the number of entries.
      for (const auto span : {best.span_bytes / 2, best.span_bytes * 2})
        for (const auto entries : {best.entries, 2 * best.entries, best.entries / 2})
          for (const auto ways : std::set<std::uint32_t>{0, best.ways})
            if (entries > 0) add_form(span, ways, sizes_close(entries, ways, folded), folded);
    }
    // Sets by remainder look the same at strides beyond sets times span: more entries of a smaller span, as many ways.
    auto alike = best;
    alike.ways = best.ways == 0 ? best.entries : best.ways;
    alike.folded = false;
    for (int halvings = 1; halvings <= k_most_halvings && alike.span_bytes > 2 * k_least_span_bytes; ++halvings) {
      alike.entries *= 2;
      alike.span_bytes /= 2;
      for (const auto policy : {TlbPolicy::lru, TlbPolicy::random}) {
        shapes.push_back(alike);
        shapes.back().policy = policy;
      }
    }
    evaluate_all(shapes);
    // An entry may map twice as much in two parts, each filled when first used.
    shapes.clear();
    for (const auto& candidate : m_evaluated) {
      if (candidate.shape.policy != TlbPolicy::lru || candidate.misfit > standing_bound()) continue;
      auto shape = candidate.shape;
      shape.parts = 2;
      shapes.push_back(shape);
      shape.span_bytes *= 2;
      shape.entries = candidate.shape.entries / 2;
      for (const bool folded : {false, true}) {
        shape.folded = folded;
        for (const auto entries : sizes_close(shape.entries, shape.ways, folded)) {
          shapes.push_back(shape);
          shapes.back().entries = entries;
        }
      }
    }
    evaluate_all(shapes);
    // Where lru fits, its relatives may.
    shapes.clear();
    for (const auto& candidate : m_evaluated)
      if (candidate.shape.policy == TlbPolicy::lru && candidate.misfit <= standing_bound())
        for (const auto policy : k_relatives) {
          shapes.push_back(candidate.shape);
          shapes.back().policy = policy;
        }
    evaluate_all(shapes);
  }

  /// Keeps those that stand.
  void evaluate_all(std::vector<TlbShape> shapes) {
    std::erase_if(shapes, [this](const TlbShape& shape) {
      return !possible(shape) || std::any_of(m_evaluated.begin(), m_evaluated.end(),
                                             [&](const TlbCandidate& c) { return c.shape == shape; });
    });
    const double bound = standing_bound();
    for (const auto& result : evaluate_each(shapes, m_points, bound))
      if (result.misfit <= bound) add(result);
  }

  static std::set<std::uint32_t> sizes_close(std::uint32_t middle, std::uint32_t ways, bool folded) {
    if (folded) return sizes_near(middle, ways, folded);
    const auto nearest = rounded(middle, ways);
    const std::uint32_t unit = std::max(1U, ways);
    return {nearest > unit ? nearest - unit : nearest, nearest, nearest + unit};
  }

  static std::set<std::uint32_t> sizes_near(std::uint32_t middle, std::uint32_t ways, bool folded) {
    const std::uint32_t unit = std::max(1U, ways);
    std::set<std::uint32_t> sizes;
    if (folded && ways == 0) return sizes;
    if (!folded) {
      const auto nearest = static_cast<std::int64_t>(rounded(middle, ways) / unit);
      const auto reach = std::max<std::int64_t>(2, static_cast<std::int64_t>(k_widest_search * middle / unit));
      const auto step = std::max<std::int64_t>(1, (2 * reach + 1) / k_most_sizes);
      for (std::int64_t i = -reach; i <= reach; ++i)
        if ((i % step == 0 || std::abs(i) <= 4) && nearest + i > 0)
          sizes.insert(static_cast<std::uint32_t>((nearest + i) * unit));
    }
    const auto power = std::bit_floor(std::max(1U, middle / unit)) * unit;
    for (const auto size : {power, 2 * power})
      if (std::abs(double{1} * size - middle) <= 0.3 * middle) sizes.insert(size);
    return sizes;
  }

  void add(const TlbCandidate& candidate) {
    if (std::none_of(m_evaluated.begin(), m_evaluated.end(),
                     [&](const TlbCandidate& c) { return c.shape == candidate.shape; }))
      m_evaluated.push_back(candidate);
  }

  // What the best does not beat clearly stands beside it.
  void keep_standing(TlbLevelFit& result) const {
    const double bound = standing_bound();
    for (const auto& candidate : m_evaluated)
      if (candidate.misfit <= bound) result.candidates.push_back(candidate);
    // Of sets, a power of two is the likelier number: it is the one that is named, beside all that fit.
    const auto likely = [](const TlbCandidate& c) { return c.shape.ways != 0 && std::has_single_bit(c.shape.sets()); };
    const auto first = std::find_if(result.candidates.begin(), result.candidates.end(), likely);
    if (first != result.candidates.end() && result.candidates.front().shape.ways != 0)
      std::rotate(result.candidates.begin(), first, first + 1);
    const double value = result.candidates.front().penalty_cycles;
    double error = k_model_fraction * value;
    if (m_above.by_stride.empty()) {
      double weights = 0;
      for (const auto* point : m_points)
        if (point->penalty_cycles >= m_below + 0.9 * (m_above.cycles - m_below))
          weights += 1 / expected_variance(*point);
      error = std::max({0.1, error, 2.5 / std::sqrt(std::max(1e-9, weights))});
    }
    result.penalty_cycles = {value - error, value + error};
    for (const auto& candidate : result.candidates) {
      result.penalty_cycles.low = std::min(result.penalty_cycles.low, candidate.penalty_cycles - error);
      result.penalty_cycles.high = std::max(result.penalty_cycles.high, candidate.penalty_cycles + error);
    }
    for (const auto& [stride, above] : m_above.by_stride) {
      result.penalty_cycles.low = std::min(result.penalty_cycles.low, 0.93 * above);
      result.penalty_cycles.high = std::max(result.penalty_cycles.high, 1.05 * above);
    }
  }

  const std::map<std::uint64_t, Curve>& m_curves;
  const Known& m_known;
  double m_below;
  const TlbPlateau& m_above;
  bool m_last;
  TlbFitEffort m_effort;
  std::map<std::uint64_t, TlbStep> m_knees;
  std::vector<const TlbPoint*> m_points;
  std::vector<const TlbPoint*> m_screening;
  std::vector<TlbCandidate> m_kinds;
  std::vector<TlbCandidate> m_evaluated;
  mutable std::mutex m_mutex;  ///< of what is worked out when first needed
  mutable std::map<const TlbTrace*, Streams> m_streams;
};

}  // namespace

std::vector<TlbPlateau> penalty_plateaus(std::span<const TlbPoint> points) {
  const auto curves = curves_of(points);
  std::vector<Stretch> stretches;
  double sigma = 0;
  for (const auto& [stride, curve] : curves) {
    add_stretches(curve, stretches);
    for (const auto* point : curve) sigma = std::max(sigma, point->sigma_cycles);
  }
  std::sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) { return a.mean < b.mean; });
  std::vector<TlbPlateau> plateaus;
  double sum = 0;
  double weight = 0;
  double last = 0;
  std::map<std::uint64_t, double> tops;  // the highest stretch of each stride
  const auto close = [&] {
    if (common_height(tops)) plateaus.push_back({sum / weight, {}});
    sum = weight = 0;
    tops.clear();
  };
  for (const auto& stretch : stretches) {
    const double gap = std::max({k_merge_fraction * stretch.mean, 4 * sigma, k_least_step_cycles});
    if (stretch.mean < gap) continue;  // no penalty
    if (weight > 0 && stretch.mean - last > gap) close();
    sum += stretch.mean * stretch.octaves;
    weight += stretch.octaves;
    tops[stretch.stride] = std::max(tops[stretch.stride], stretch.mean);
    last = stretch.mean;
  }
  close();
  add_walk(curves, sigma, plateaus);
  return plateaus;
}

std::map<std::uint64_t, TlbStep> tlb_steps(std::span<const TlbPoint> points, double lower_cycles,
                                           const TlbPlateau& upper) {
  return steps_of(curves_of(points), lower_cycles, upper);
}

double predicted_penalty(const TlbPoint& point, std::span<const TlbShape> levels, std::span<const double> penalties) {
  const Known before{{levels.begin(), levels.end() - 1}, {}};
  const auto sum = [&](const TlbTrace& trace) {
    Streams streams(trace, before);
    const auto shares = streams.shares(levels.back());
    double cycles = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) cycles += shares[i] * penalties[i];
    return cycles;
  };
  return sum(*point.trace) - (point.control ? sum(*point.control) : 0);
}

std::vector<TlbLevelFit> fit_tlb(std::span<const TlbPoint> points, TlbFitEffort effort) {
  const auto curves = curves_of(points);
  const auto plateaus = penalty_plateaus(points);
  std::vector<TlbLevelFit> fits;
  Known known;
  for (std::size_t i = 0; i < plateaus.size(); ++i) {
    if (!fits.empty() && !fits.back().trouble.empty()) {
      TlbLevelFit fit;
      fit.plateau_cycles = plateaus[i].cycles;
      fit.trouble = "the level before it could not be told, and every load passes that one first";
      fits.push_back(std::move(fit));
      continue;
    }
    LevelFitter fitter(curves, known, i == 0 ? 0 : known.penalties.back(), plateaus[i], i + 1 == plateaus.size(),
                       effort);
    fits.push_back(fitter.fit());
    if (!fits.back().candidates.empty()) {
      known.shapes.push_back(fits.back().candidates.front().shape);
      known.penalties.push_back(fits.back().candidates.front().penalty_cycles);
    }
  }
  return fits;
}

}  // namespace gpusonde

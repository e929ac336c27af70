#include "inference/tlb_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "core/units.hpp"
#include "inference/statistics.hpp"

namespace gpusonde {
namespace {

constexpr double k_plateau_octaves = 0.5;
constexpr double k_plateau_fraction = 0.02;  // of its value, over a flat stretch
constexpr double k_merge_fraction = 0.07;    // plateaus closer than this are one
constexpr double k_least_step_cycles = 1.0;
constexpr double k_model_fraction = 0.012;  // of a penalty: what the tables may differ from the device by
constexpr double k_floor_cycles = 0.08;
constexpr double k_worst_misfit = 2.5;  // mean square residual beyond which nothing is claimed
constexpr std::size_t k_most_points = 48;
constexpr std::size_t k_screening_points = 14;
constexpr std::size_t k_finalists = 8;
constexpr double k_hopeless = 6;  // times the best: not evaluated to the end

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

/// As measured where chance plays a part, as a mean of several runs while they are short; else over one lap, which
/// the others repeat.
std::vector<double> shares(std::span<const TlbShape> levels, const TlbTrace& trace) {
  const bool chance =
      std::any_of(levels.begin(), levels.end(), [](const TlbShape& s) { return s.policy == TlbPolicy::random; });
  if (!chance) return deepest_miss_shares(levels, trace, trace.one_lap(), 1);
  const int runs = trace.places() < 256 ? 6 : trace.places() < 1024 ? 3 : 1;
  auto sum = deepest_miss_shares(levels, trace, trace.measured(), 1);
  for (int run = 1; run < runs; ++run) {
    const auto more = deepest_miss_shares(levels, trace, trace.measured(), static_cast<std::uint64_t>(run) + 1);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
  }
  for (auto& share : sum) share /= runs;
  return sum;
}

std::vector<double> net_shares(const TlbPoint& point, std::span<const TlbShape> levels) {
  auto result = shares(levels, *point.trace);
  if (point.control) {
    const auto less = shares(levels, *point.control);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] -= less[i];
  }
  return result;
}

std::map<std::uint64_t, TlbStep> steps_of(const std::map<std::uint64_t, Curve>& curves, double lower, double upper) {
  std::map<std::uint64_t, TlbStep> steps;
  const double height = upper - lower;
  for (const auto& [stride, curve] : curves) {
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

/// Fits one level behind known ones.
class LevelFitter {
 public:
  LevelFitter(const std::map<std::uint64_t, Curve>& curves, const Known& known, double below, double above,
              std::optional<double> next)
      : m_curves(curves),
        m_known(known),
        m_below(below),
        m_above(above),
        m_next(next),
        m_knees(steps_of(curves, below, above)) {}

  TlbLevelFit fit() {
    TlbLevelFit result;
    result.plateau_cycles = m_above;
    if (m_knees.empty()) {
      result.trouble = "no curve shows where the step begins and ends";
      return result;
    }
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
  [[nodiscard]] double step() const { return m_above - m_below; }

  [[nodiscard]] bool usable(const TlbPoint& point) const {
    // Above its plateau a later level has a part in it.
    return !m_next || point.penalty_cycles <= m_above + std::max(4 * point.sigma_cycles, 0.04 * m_above);
  }

  // Points around the step, of the strides near the sharp one, spread evenly over what there is.
  void choose_points(std::uint64_t sharp) {
    std::vector<const TlbPoint*> all;
    for (const auto& [stride, curve] : m_curves) {
      if (stride < sharp / 4) continue;
      const auto knee = m_knees.find(stride);
      for (const auto* point : curve) {
        if (!usable(*point)) continue;
        if (knee != m_knees.end() &&
            (point->nodes < knee->second.clean_nodes / 4 || point->nodes > 3 * knee->second.full_nodes))
          continue;
        if (knee == m_knees.end() && point->nodes < curve.back()->nodes / 8) continue;
        all.push_back(point);
      }
    }
    // Near the sharp stride every point counts; farther off, fewer do.
    std::vector<const TlbPoint*> near;
    std::vector<const TlbPoint*> far;
    for (const auto* point : all) {
      if (at_an_edge(*point)) {
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
    auto levels = m_known.shapes;
    levels.push_back(shape);
    const std::size_t here = levels.size() - 1;
    const double count = static_cast<double>(std::max<std::size_t>(1, points.size()));
    double weighted = 0;
    double weights = 0;
    double at_plateau = 0;  // misfit if the penalty is the plateau's
    struct Residual {
      double share, rest, variance;
    };
    std::vector<Residual> residuals;
    for (const auto* point : points) {
      const auto share = net_shares(*point, levels);
      double rest = point->penalty_cycles;
      for (std::size_t i = 0; i < here; ++i) rest -= share[i] * m_known.penalties[i];
      const double variance = expected_variance(*point);
      residuals.push_back({share[here], rest, variance});
      weighted += share[here] * rest / variance;
      weights += share[here] * share[here] / variance;
      // The penalty may lie a little off the plateau, which a lenient residual allows for.
      const double off = std::max(0.0, std::abs(rest - share[here] * m_above) - 0.05 * share[here] * m_above);
      at_plateau += off * off / variance;
      if (at_plateau > bound * count) return {shape, m_above, at_plateau / count};
    }
    TlbCandidate candidate{shape, weights > 0 ? weighted / weights : 0, 0};
    // The penalty is that of the plateau, or what is taken for a table's overflow is something else.
    candidate.penalty_cycles = std::clamp(candidate.penalty_cycles, 0.93 * m_above, 1.07 * m_above);
    for (const auto& [share, rest, variance] : residuals) {
      const double residual = rest - share * candidate.penalty_cycles;
      candidate.misfit += residual * residual / variance / count;
    }
    return candidate;
  }

  [[nodiscard]] double expected_variance(const TlbPoint& point) const {
    const double model = k_model_fraction * m_above;
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

  void consider(std::vector<TlbCandidate>& into, const TlbShape& shape, std::span<const TlbPoint* const> points) const {
    if (shape.folded && (!std::has_single_bit(shape.sets()) || shape.sets() == 1)) return;
    if (shape.policy == TlbPolicy::tree_plru) {
      const auto ways = shape.ways == 0 ? shape.entries : shape.ways;
      if (!std::has_single_bit(ways) || ways > 64 || ways < 2) return;
    }
    if (std::any_of(into.begin(), into.end(), [&](const TlbCandidate& c) { return c.shape == shape; })) return;
    if (shape.ways != 0 && shape.ways >= shape.entries) return;
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
    std::vector<TlbCandidate> all;
    for (const std::uint64_t span : {sharp / 2, sharp, sharp * 2}) {
      const auto& knee = m_knees.contains(span) ? m_knees.at(span) : m_knees.at(sharp);
      const double scale =
          m_knees.contains(span) ? 1.0 : static_cast<double>(sharp) / static_cast<double>(std::max(span, sharp));
      const double least = std::max(1.0, static_cast<double>(knee.clean_nodes) * scale);
      const auto biggest = static_cast<std::uint32_t>(knee.first_nodes);
      for (const auto ways : ways_choices(biggest)) {
        for (const bool folded : {false, true}) {
          if (ways == 0 && folded) continue;
          for (const double guess : {1.0, 0.95, 0.85}) {
            const TlbShape shape{rounded(least * guess, ways), ways, span, TlbPolicy::lru, folded};
            if (guess == 1.0 || ways != 0) consider(all, shape, m_screening);
            auto random = shape;
            random.policy = TlbPolicy::random;
            consider(all, random, m_screening);
          }
        }
        if (ways != 0) {  // sets are mostly a power of two
          const auto entries = std::bit_floor(static_cast<std::uint32_t>(std::max(1.0, least / ways))) * ways;
          for (const auto count : {entries, 2 * entries})
            for (const bool folded : {false, true})
              for (const auto policy : {TlbPolicy::lru, TlbPolicy::random})
                consider(all, {count, ways, span, policy, folded}, m_screening);
        }
      }
    }
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
    for (const auto& kind : m_kinds) {
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
      for (auto& candidate : tried) add(candidate);
      if (best.misfit < 4 * k_worst_misfit && best.shape.policy == TlbPolicy::lru) {
        for (const auto policy : {TlbPolicy::fifo, TlbPolicy::tree_plru}) {
          auto shape = best.shape;
          shape.policy = policy;
          consider(m_evaluated, shape, m_points);
        }
      }
    }
    sort(m_evaluated);
  }
  void add(const TlbCandidate& candidate) {
    if (std::none_of(m_evaluated.begin(), m_evaluated.end(),
                     [&](const TlbCandidate& c) { return c.shape == candidate.shape; }))
      m_evaluated.push_back(candidate);
  }

  // What the best does not beat clearly stands beside it.
  void keep_standing(TlbLevelFit& result) const {
    const double best = m_evaluated.front().misfit;
    const double slack = std::max(0.25 * best, 10.0 / static_cast<double>(m_points.size()));
    for (const auto& candidate : m_evaluated)
      if (candidate.misfit <= best + slack) result.candidates.push_back(candidate);
    double weights = 0;
    for (const auto* point : m_points) {
      if (point->penalty_cycles >= m_below + 0.9 * step()) weights += 1 / expected_variance(*point);
    }
    result.penalty_error_cycles = std::max(0.1, 2.5 / std::sqrt(std::max(1e-9, weights)));
  }

  const std::map<std::uint64_t, Curve>& m_curves;
  const Known& m_known;
  double m_below;
  double m_above;
  std::optional<double> m_next;
  std::map<std::uint64_t, TlbStep> m_knees;
  std::vector<const TlbPoint*> m_points;
  std::vector<const TlbPoint*> m_screening;
  std::vector<TlbCandidate> m_kinds;
  std::vector<TlbCandidate> m_evaluated;
};

}  // namespace

std::vector<double> penalty_plateaus(std::span<const TlbPoint> points) {
  std::vector<Stretch> stretches;
  double sigma = 0;
  for (const auto& [stride, curve] : curves_of(points)) {
    add_stretches(curve, stretches);
    for (const auto* point : curve) sigma = std::max(sigma, point->sigma_cycles);
  }
  std::sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) { return a.mean < b.mean; });
  std::vector<double> values;
  double sum = 0;
  double weight = 0;
  double last = 0;
  std::set<std::uint64_t> strides;
  const auto close = [&] {
    if (strides.size() > 1) values.push_back(sum / weight);
    sum = weight = 0;
    strides.clear();
  };
  for (const auto& stretch : stretches) {
    const double gap = std::max({k_merge_fraction * stretch.mean, 4 * sigma, k_least_step_cycles});
    if (stretch.mean < gap) continue;  // no penalty
    if (weight > 0 && stretch.mean - last > gap) close();
    sum += stretch.mean * stretch.octaves;
    weight += stretch.octaves;
    strides.insert(stretch.stride);
    last = stretch.mean;
  }
  close();
  return values;
}

std::map<std::uint64_t, TlbStep> tlb_steps(std::span<const TlbPoint> points, double lower_cycles, double upper_cycles) {
  return steps_of(curves_of(points), lower_cycles, upper_cycles);
}

double predicted_penalty(const TlbPoint& point, std::span<const TlbShape> levels, std::span<const double> penalties) {
  const auto share = net_shares(point, levels);
  double sum = 0;
  for (std::size_t i = 0; i < share.size(); ++i) sum += share[i] * penalties[i];
  return sum;
}

std::vector<TlbLevelFit> fit_tlb(std::span<const TlbPoint> points) {
  const auto curves = curves_of(points);
  const auto plateaus = penalty_plateaus(points);
  std::vector<TlbLevelFit> fits;
  Known known;
  for (std::size_t i = 0; i < plateaus.size(); ++i) {
    if (!fits.empty() && !fits.back().trouble.empty()) {
      TlbLevelFit fit;
      fit.plateau_cycles = plateaus[i];
      fit.trouble = "the level before it could not be told, and every load passes that one first";
      fits.push_back(std::move(fit));
      continue;
    }
    LevelFitter fitter(curves, known, i == 0 ? 0 : known.penalties.back(), plateaus[i],
                       i + 1 < plateaus.size() ? std::optional(plateaus[i + 1]) : std::nullopt);
    fits.push_back(fitter.fit());
    if (!fits.back().candidates.empty()) {
      known.shapes.push_back(fits.back().candidates.front().shape);
      known.penalties.push_back(fits.back().candidates.front().penalty_cycles);
    }
  }
  return fits;
}

}  // namespace gpusonde

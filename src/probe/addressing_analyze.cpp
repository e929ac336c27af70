// The verdicts, and the figures each rests on. The rules of the sweep are those of the VIVT document: a hit that waits
// for no translation is virtual; one that does is not.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>

#include "core/units.hpp"
#include "inference/statistics.hpp"
#include "probe/addressing_probe.hpp"
#include "probe/findings.hpp"

namespace gpusonde {
namespace {

constexpr double k_all_share = 0.9;
constexpr double k_none_share = 0.0002;  // strays among thousands of readings
constexpr double k_crowded = 1.15;       // times the spread lines' latency
constexpr double k_no_step = 0.25;       // of what translation costs past L1
constexpr double k_step_low = 0.6;
constexpr double k_step_high = 1.5;
constexpr double k_l1_region = 0.4;  // of the way from an L1 hit to an L2 hit
constexpr std::uint64_t k_first_nodes = 4;
constexpr std::uint64_t k_most_l1_nodes = 256;

struct AliasRows {
  std::vector<double> first, again, home;
};

AliasRows alias_rows(const Measurements& measurements, const std::string& policy) {
  AliasRows rows;
  const auto* table = measurements.find("addressing.alias");
  if (table == nullptr) return rows;
  const auto* policies = table->column<std::string>("policy");
  const auto* readings = table->column<std::string>("first_readings");
  const auto* again = table->column<double>("again_cycles");
  const auto* home = table->column<double>("home_cycles");
  if (!policies || !readings || !again || !home) return rows;
  for (std::size_t row = 0; row < policies->size(); ++row) {
    if ((*policies)[row] != policy) continue;
    std::istringstream words((*readings)[row]);
    for (double value = 0; words >> value;) rows.first.push_back(value);
    rows.again.push_back((*again)[row]);
    rows.home.push_back((*home)[row]);
  }
  return rows;
}

// A first reading through the other address is a hit when it lies nearer to a hit than to the next level: for L1 the
// same lines past L1 are the next level; for L2, which has none that is cheap to ask, a quarter more is a miss.
void add_alias_answer(const Measurements& measurements, const std::string& policy, AddressingEvidence& evidence) {
  const auto rows = alias_rows(measurements, policy);
  if (rows.first.empty()) return;
  const double hit = median(rows.again);
  double limit = 1.25 * hit;
  if (policy == "ca") {
    const auto past = alias_rows(measurements, "cg");
    if (past.again.empty()) return;
    limit = (hit + median(past.again)) / 2;
    if (median(past.again) < 1.3 * hit) return;  // L1 and L2 are not apart
  }
  evidence.first_cycles = median(rows.first);
  evidence.again_cycles = hit;
  evidence.tested = rows.first.size();
  evidence.hits = static_cast<std::uint64_t>(
      std::count_if(rows.first.begin(), rows.first.end(), [limit](double cycles) { return cycles < limit; }));
  const double share = static_cast<double>(evidence.hits) / static_cast<double>(evidence.tested);
  evidence.alias = share >= k_all_share      ? AliasAnswer::all_hit
                   : share <= k_none_share   ? AliasAnswer::none_hit
                   : share < 1 - k_all_share ? AliasAnswer::some_hit
                                             : AliasAnswer::unknown;
}

void add_index_answer(const Measurements& measurements, const std::string& policy, AddressingEvidence& evidence) {
  const auto* table = measurements.find("addressing.index");
  if (table == nullptr) return;
  const auto* policies = table->column<std::string>("policy");
  const auto* same = table->column<double>("same_offset_cycles");
  const auto* spread = table->column<double>("spread_cycles");
  if (!policies || !same || !spread) return;
  for (std::size_t row = 0; row < policies->size(); ++row) {
    if ((*policies)[row] != policy) continue;
    evidence.crowds_known = true;
    evidence.same_offset_cycles = (*same)[row];
    evidence.spread_cycles = (*spread)[row];
    evidence.crowds = (*same)[row] > k_crowded * (*spread)[row];
  }
}

/// cycles by policy, stride and nodes.
using Sweep = std::map<std::uint64_t, std::map<std::uint64_t, std::map<std::string, double>>>;

Sweep read_sweep(const Measurements& measurements, const char* name) {
  Sweep sweep;
  const auto* table = measurements.find(name);
  if (table == nullptr) return sweep;
  const auto* policy = table->column<std::string>("policy");
  const auto* stride = table->column<std::uint64_t>("stride_bytes");
  const auto* nodes = table->column<std::uint64_t>("nodes");
  const auto* cycles = table->column<double>("cycles_per_access");
  if (!policy || !stride || !nodes || !cycles) return sweep;
  for (std::size_t row = 0; row < table->rows(); ++row)
    sweep[(*stride)[row]][(*nodes)[row]][(*policy)[row]] = (*cycles)[row];
  return sweep;
}

struct StrideAnswer {
  double past_cycles = 0;  ///< mean cost of the pages past L1, and with L1, over the same points
  double l1_cycles = 0;
  std::uint64_t nodes = 0;
  std::size_t points = 0;
  SweepAnswer answer = SweepAnswer::unknown;
};

std::optional<double> mean_of_first(const std::map<std::uint64_t, std::map<std::string, double>>& curve,
                                    const std::string& policy) {
  double sum = 0;
  double count = 0;
  for (const auto& [nodes, cycles] : curve) {
    if (nodes > k_first_nodes || !cycles.contains(policy)) continue;
    sum += cycles.at(policy);
    ++count;
  }
  if (count == 0) return {};
  return sum / count;
}

// Points beyond the first step past L1 whose lines still lie in L1.
StrideAnswer answer_of(const std::map<std::uint64_t, std::map<std::string, double>>& curve, bool is_l1) {
  StrideAnswer answer;
  const auto hit = mean_of_first(curve, is_l1 ? "ca" : "cg");
  const auto past = mean_of_first(curve, "cg");
  if (!hit || !past || (is_l1 && *hit > 0.6 * *past)) return answer;
  const double least = least_step_cycles(*past);
  std::uint64_t first = 0;
  for (const auto& [nodes, cycles] : curve) {
    if (!cycles.contains("cg") || !cycles.contains(is_l1 ? "ca" : "cg")) continue;
    const double cost = cycles.at("cg") - *past;
    if (cost < least) {
      first = 0;  // a lone reading is no step
      answer = {};
      continue;
    }
    if (first == 0) first = nodes;
    if (nodes > 4 * first || nodes > k_most_l1_nodes) break;
    answer.past_cycles += cost;
    answer.l1_cycles += cycles.at(is_l1 ? "ca" : "cg") - *hit;
    answer.nodes = nodes;
    ++answer.points;
  }
  if (answer.points < 2) return {};
  answer.past_cycles /= static_cast<double>(answer.points);
  answer.l1_cycles /= static_cast<double>(answer.points);
  const double share = answer.l1_cycles / answer.past_cycles;
  // A rise by about as much as an L1 miss costs may be just that.
  if (is_l1 && share > k_no_step && answer.past_cycles > k_l1_region * (*past - *hit)) return answer;
  answer.answer = std::abs(share) <= k_no_step                  ? SweepAnswer::no_step
                  : share >= k_step_low && share <= k_step_high ? SweepAnswer::step
                                                                : SweepAnswer::unknown;
  return answer;
}

bool add_sweep_answer(const Sweep& sweep, bool is_l1, AddressingEvidence& evidence) {
  std::size_t unclear = 0;
  for (const auto& [stride, curve] : sweep) {
    const auto answer = answer_of(curve, is_l1);
    if (answer.points == 0) continue;
    if (answer.answer == SweepAnswer::unknown) {
      ++unclear;
      continue;
    }
    if (evidence.sweep != SweepAnswer::unknown && evidence.sweep != answer.answer) {
      evidence.sweep = SweepAnswer::unknown;
      evidence.sweep_note = "the strides of the sweep disagree";
      return true;
    }
    if (evidence.sweep == SweepAnswer::unknown || answer.points > 2) {
      evidence.translation_cycles = answer.past_cycles;
      evidence.hit_cycles = answer.l1_cycles;
      evidence.sweep_nodes = answer.nodes;
      evidence.sweep_stride_bytes = stride;
    }
    evidence.sweep = answer.answer;
  }
  if (evidence.sweep == SweepAnswer::unknown)
    evidence.sweep_note = unclear > 0 ? "what the pages cost a hit is neither nothing nor what they cost past L1"
                                      : "no stride shows pages that cost something while their lines are still hits";
  return evidence.sweep != SweepAnswer::unknown;
}

std::string alias_sentence(const AddressingEvidence& e) {
  return fmt::format(
      "{} of {} loads hit through a second address of a line loaded before ({:.0f} cycles the first time, "
      "{:.0f} again)",
      e.hits, e.tested, e.first_cycles, e.again_cycles);
}

std::string sweep_sentence(const AddressingEvidence& e) {
  if (e.sweep == SweepAnswer::unknown) return e.sweep_note;
  return fmt::format("with {} nodes {} apart{} translation costs {:.1f} cycles past L1 and {:.1f} on a hit",
                     e.sweep_nodes, format_bytes(e.sweep_stride_bytes), e.over_aliases ? " over aliases" : "",
                     e.translation_cycles, e.hit_cycles);
}

void add_finding(Analysis& analysis, const std::string& id, const AddressingEvidence& evidence) {
  const auto verdict = addressing_verdict(evidence);
  SampleList samples{
      {"alias_hits", static_cast<double>(evidence.hits)},  {"alias_tested", static_cast<double>(evidence.tested)},
      {"alias_first_cycles", evidence.first_cycles},       {"alias_again_cycles", evidence.again_cycles},
      {"translation_cycles", evidence.translation_cycles}, {"translation_on_hit_cycles", evidence.hit_cycles}};
  Finding finding;
  finding.id = id;
  finding.unit = "name";
  finding.evidence = "#/measurements/addressing.alias";
  if (evidence.tested == 0) {
    finding.outcome = Outcome::skipped;
    finding.reason = "the alias test was not run";
  } else if (verdict.name.empty()) {
    finding.outcome = Outcome::inconclusive;
    finding.reason = verdict.reason;
    finding.samples = std::move(samples);
  } else {
    finding.outcome = Outcome::ok;
    finding.value = verdict.name;
    samples.emplace_back("because", verdict.reason);
    finding.samples = std::move(samples);
  }
  analysis.findings.push_back(std::move(finding));
}

}  // namespace

AddressingEvidence addressing_evidence(const Measurements& measurements, const std::string& policy) {
  AddressingEvidence evidence;
  add_alias_answer(measurements, policy, evidence);
  add_index_answer(measurements, policy, evidence);
  const bool is_l1 = policy == "ca";
  if (!add_sweep_answer(read_sweep(measurements, "tlb.sweep"), is_l1, evidence)) {
    auto over_aliases = evidence;
    over_aliases.sweep = SweepAnswer::unknown;
    over_aliases.over_aliases = true;
    if (add_sweep_answer(read_sweep(measurements, "addressing.sweep"), is_l1, over_aliases)) evidence = over_aliases;
  }
  return evidence;
}

AddressingVerdict addressing_verdict(const AddressingEvidence& e) {
  const auto both = alias_sentence(e) + "; " + sweep_sentence(e);
  if (e.alias == AliasAnswer::unknown) return {"", "the alias test is not clear: " + both};
  if (e.sweep == SweepAnswer::unknown) return {"", "the sweep says nothing: " + both};
  const bool translated = e.sweep == SweepAnswer::step;
  if (e.alias == AliasAnswer::none_hit && !translated) return {"VIVT", both};
  if (e.alias == AliasAnswer::some_hit && translated)
    return {"VIPT", both + "; a line is found through those addresses that share its set"};
  if (e.alias == AliasAnswer::all_hit && translated) {
    if (!e.crowds_known) return {"", "PIPT or VIPT: where its index comes from was not measured; " + both};
    const auto index = fmt::format("lines at one offset of many pages take {:.1f} cycles, spread over the pages {:.1f}",
                                   e.same_offset_cycles, e.spread_cycles);
    if (e.crowds)
      return {"",
              fmt::format("PIPT, or VIPT with an index of offset bits alone, which translation does not change: {}; "
                          "{}",
                          index, both)};
    return {"PIPT", both + "; " + index + ", so the index has bits of the physical page"};
  }
  return {"", "the two probes disagree: " + both};
}

Analysis analyze_addressing(const AnalysisInput& input) {
  Analysis analysis;
  add_finding(analysis, "l1.addressing", addressing_evidence(input.measurements, "ca"));
  add_finding(analysis, "l2.addressing", addressing_evidence(input.measurements, "cg"));
  return analysis;
}

}  // namespace gpusonde

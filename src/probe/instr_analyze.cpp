#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <sstream>

#include "probe/findings.hpp"
#include "probe/instr_probe.hpp"
#include "probe/probes.hpp"

namespace gpusonde {
namespace {

constexpr const char* k_evidence = "#/measurements/instr.chains";

/// The reason in `instr.missing`; empty where there is none.
std::string missing_reason(const Measurements& measurements, std::string_view operation) {
  const auto* table = measurements.find("instr.missing");
  const auto* names = table == nullptr ? nullptr : table->column<std::string>("operation");
  const auto* reasons = table == nullptr ? nullptr : table->column<std::string>("reason");
  if (names == nullptr || reasons == nullptr) return {};
  for (std::size_t row = 0; row < std::min(names->size(), reasons->size()); ++row)
    if ((*names)[row] == operation) return (*reasons)[row];
  return {};
}

/// Numbers between blanks.
std::vector<double> readings(const std::string& text) {
  std::vector<double> values;
  std::istringstream in(text);
  for (double value = 0; in >> value;) values.push_back(value);
  return values;
}

class InstrAnalysis {
 public:
  explicit InstrAnalysis(const AnalysisInput& input)
      : m_measurements(input.measurements), m_clock(sm_clock_estimate(input.measurements)) {}

  Analysis run() {
    for (std::size_t i = 0; i < k_operation_count; ++i) {
      const auto operation = static_cast<Operation>(i);
      if (operation != Operation::shared_immediate && operation != Operation::shared_predicate) timed(operation);
    }
    register_read();
    if (m_curves.rows() > 0) m_analysis.derived.emplace_back("derived.instr.intervals", std::move(m_curves));
    return std::move(m_analysis);
  }

 private:
  /// Why there is nothing to infer from.
  [[nodiscard]] Estimate absent(Operation operation) const {
    const auto reason = missing_reason(m_measurements, to_string(operation));
    if (!reason.empty()) return {Outcome::unsupported, 0, {}, reason};
    return {Outcome::skipped, 0, {}, "not measured"};
  }

  void timed(Operation operation) {
    const auto id = operation_id(operation);
    const auto curve = chain_times(m_measurements, to_string(operation));
    const auto latency = curve.empty() ? absent(operation) : true_latency(curve);
    const auto interval = curve.empty() ? absent(operation) : completion_interval(curve);
    SampleList samples;
    if (!curve.empty()) samples.emplace_back("chains", static_cast<double>(curve.back().chains));
    const auto latency_id = fmt::format("instr.{}.true_latency", id);
    m_analysis.findings.push_back(make_finding(latency_id, "cycles", latency, k_evidence));
    m_analysis.findings.push_back(make_finding(latency_id + "_ns", "ns", in_ns(latency, m_clock), k_evidence));
    m_analysis.findings.push_back(
        make_finding(fmt::format("instr.{}.completion_interval", id), "cycles", interval, k_evidence, samples));
    for (const auto& point : curve) add_point(id, point);
  }

  void add_point(const std::string& id, const ChainTimes& point) {
    const auto estimate = cycles_an_operation(point);
    constexpr double missing = std::numeric_limits<double>::quiet_NaN();
    m_curves.make<std::string>("operation").push_back(id);
    m_curves.make<std::uint64_t>("chains").push_back(point.chains);
    m_curves.make<double>("cycles").push_back(estimate.ok() ? estimate.value : missing);
    m_curves.make<double>("low_cycles").push_back(estimate.ok() ? estimate.interval.low : missing);
    m_curves.make<double>("high_cycles").push_back(estimate.ok() ? estimate.interval.high : missing);
  }

  /// A link is a comparison and the load that waits for it, with an address of either kind.
  void register_read() {
    const auto of = [&](Operation operation) {
      const auto curve = chain_times(m_measurements, to_string(operation));
      return curve.empty() ? absent(operation) : true_latency(curve);
    };
    const auto with_register = of(Operation::shared_predicate);
    const auto immediate = of(Operation::shared_immediate);
    auto cycles = difference(with_register, immediate);
    if (cycles.ok() && cycles.interval.high < 0)
      cycles = inconclusive(fmt::format("a load with an immediate address takes {:.1f} cycles more", -cycles.value));
    SampleList samples;
    if (cycles.ok())
      samples = {{"link_register_cycles", with_register.value}, {"link_immediate_cycles", immediate.value}};
    m_analysis.findings.push_back(make_finding("operand.register_read", "cycles", cycles, k_evidence, samples));
  }

  const Measurements& m_measurements;
  Estimate m_clock;
  Table m_curves;
  Analysis m_analysis;
};

}  // namespace

std::string operation_id(Operation operation) {
  return operation == Operation::shared_register ? "shared_load" : std::string(to_string(operation));
}

std::vector<ChainTimes> chain_times(const Measurements& measurements, std::string_view operation) {
  const auto* table = measurements.find("instr.chains");
  if (table == nullptr) return {};
  const auto* names = table->column<std::string>("operation");
  const auto* chains = table->column<std::uint64_t>("chains");
  const auto* short_length = table->column<std::uint64_t>("short_length");
  const auto* long_length = table->column<std::uint64_t>("long_length");
  const auto* short_cycles = table->column<std::string>("short_cycles");
  const auto* long_cycles = table->column<std::string>("long_cycles");
  if (!names || !chains || !short_length || !long_length || !short_cycles || !long_cycles) return {};
  std::map<std::uint64_t, ChainTimes> by_chains;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    if ((*names)[row] != operation || (*chains)[row] == 0) continue;
    auto& times = by_chains[(*chains)[row]];
    times = {(*chains)[row], static_cast<double>((*short_length)[row]), static_cast<double>((*long_length)[row]),
             readings((*short_cycles)[row]), readings((*long_cycles)[row])};
  }
  std::vector<ChainTimes> curve;
  for (auto& [count, times] : by_chains) curve.push_back(std::move(times));
  return curve;
}

Analysis analyze_instr(const AnalysisInput& input) { return InstrAnalysis(input).run(); }

}  // namespace gpusonde

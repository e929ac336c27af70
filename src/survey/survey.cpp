#include "survey/survey.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <map>

namespace gpusonde {
namespace {

std::string now_utc() {
  const auto now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", utc);
}

bool same_value(const FindingValue& a, const FindingValue& b) {
  if (a.index() != b.index()) return false;
  return a == b;
}

// Truth is joined only here, after every probe has spoken.
void join_truth(Finding& finding, const Truth& truth) {
  const auto known =
      std::find_if(truth.begin(), truth.end(), [&](const auto& entry) { return entry.first == finding.id; });
  if (known == truth.end()) return;
  finding.truth = known->second;
  if (finding.outcome != Outcome::ok) return;
  const auto* number = std::get_if<double>(&known->second);
  if (number != nullptr && finding.interval) {
    const double slack = 1e-9 * std::abs(*number);
    finding.agrees = finding.interval->low - slack <= *number && *number <= finding.interval->high + slack;
  } else {
    finding.agrees = same_value(*finding.value, known->second);
  }
}

/// What probes said of tables that have not changed since.
using Analyses = std::map<std::string, Analysis, std::less<>>;

void infer(Run& run, const Truth& truth, Analyses& analyses) {
  auto& tables = run.measurements.tables;
  std::erase_if(tables, [](const auto& entry) { return entry.first.starts_with("derived."); });
  run.findings.clear();
  std::vector<std::pair<std::string, Table>> derived;
  for (const auto* probe : probe_list()) {
    const bool started =
        std::find(run.probes_done.begin(), run.probes_done.end(), probe->name()) != run.probes_done.end();
    if (!started) continue;
    auto known = analyses.find(probe->name());
    if (known == analyses.end() || probe->looks_ahead())
      known =
          analyses
              .insert_or_assign(std::string(probe->name()), probe->analyze({run.measurements, run.device, run.options}))
              .first;
    for (auto finding : known->second.findings) {
      join_truth(finding, truth);
      run.findings.push_back(std::move(finding));
    }
    for (const auto& table : known->second.derived) derived.push_back(table);
  }
  for (auto& [name, table] : derived) run.measurements.table(name) = std::move(table);
  if (const auto* clock = run.finding("clock.sm"); clock != nullptr && clock->value)
    run.environment.sm_mhz_measured = std::get<double>(*clock->value);
}

// A probe that failed half-way speaks as far as what it stored goes, and says that it failed.
void add_failed(Run& run, const Probe& probe, const Error& error) {
  const auto outcome = error.kind == ErrorKind::interrupted   ? Outcome::skipped
                       : error.kind == ErrorKind::unsupported ? Outcome::unsupported
                                                              : Outcome::failed;
  for (const auto& spec : probe.findings()) {
    if (run.finding(spec.id) != nullptr) continue;
    Finding finding;
    finding.id = spec.id;
    finding.unit = spec.unit;
    finding.outcome = outcome;
    finding.reason = error.message;
    run.findings.push_back(std::move(finding));
  }
}

bool wanted(const SurveyRequest& request, const Probe& probe) {
  return request.probes.empty() ||
         std::find(request.probes.begin(), request.probes.end(), probe.name()) != request.probes.end();
}

}  // namespace

SurveyResult run_survey(Target& target, const SurveyRequest& request) {
  SurveyResult result;
  Run& run = result.run;
  if (request.resume) {
    run = *request.resume;
  } else {
    run.device = target.device();
    run.environment = target.environment();
    run.environment.started_at = now_utc();
    run.options = request.options;
  }
  run.tool = {"gpusonde", GPUSONDE_VERSION, GPUSONDE_COMMIT, target.kernels_sha256()};
  const auto save = [&] {
    run.environment.finished_at = now_utc();
    if (!request.save) return true;
    if (auto saved = request.save(run); !saved) {
      result.error = saved.error();
      return false;
    }
    return true;
  };
  Analyses analyses;
  for (const auto* probe : probe_list()) {
    if (!wanted(request, *probe)) continue;
    if (std::find(run.probes_done.begin(), run.probes_done.end(), probe->name()) != run.probes_done.end()) continue;
    std::erase_if(run.measurements.tables, [&](const auto& entry) {
      const auto tables = probe->tables();
      return std::find(tables.begin(), tables.end(), entry.first) != tables.end();
    });
    ProbeContext context{target, request.probe, run.measurements, request.cancel, request.progress};
    auto measured = request.cancel != nullptr && request.cancel->requested()
                        ? Result<void>(fail(ErrorKind::interrupted, "interrupted"))
                        : probe->measure(context);
    run.environment.clocks = target.clocks();
    run.probes_done.emplace_back(probe->name());
    analyses.erase(std::string(probe->name()));
    infer(run, request.truth, analyses);
    if (!measured) {
      run.probes_done.pop_back();  // not complete: --resume measures it again
      add_failed(run, *probe, measured.error());
      result.error = measured.error();
      save();
      return result;
    }
    if (!save()) return result;
  }
  return result;
}

Run analyze(const Run& stored) {
  Run run = stored;
  Truth truth;
  for (const auto& finding : stored.findings)
    if (finding.truth) truth.emplace_back(finding.id, *finding.truth);
  Analyses analyses;
  infer(run, truth, analyses);
  return run;
}

}  // namespace gpusonde

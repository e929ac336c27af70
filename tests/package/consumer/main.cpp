// A program of someone else's: reads and makes findings with the installed library.
#include <cstdio>
#include <gpusonde/device.hpp>
#include <gpusonde/error.hpp>
#include <gpusonde/run.hpp>

namespace {

gpusonde::Result<double> hit_latency(const gpusonde::Run& run) {
  const gpusonde::Finding* finding = run.finding("l1.hit_latency");
  if (finding == nullptr || finding->outcome != gpusonde::Outcome::ok)
    return gpusonde::fail(gpusonde::ErrorKind::bad_input, "the run has no L1 latency");
  return std::get<double>(*finding->value);
}

bool expect(bool holds, const char* what) {
  if (!holds) std::fprintf(stderr, "not so: %s\n", what);
  return holds;
}

}  // namespace

int main() {
  gpusonde::Run run;
  bool good = expect(!hit_latency(run).has_value(), "an empty run has no latency");
  good &= expect(gpusonde::exit_code(hit_latency(run).error().kind) == 2, "bad input is exit code 2");

  gpusonde::Finding finding;
  finding.id = "l1.hit_latency";
  finding.unit = "cycles";
  finding.outcome = gpusonde::Outcome::ok;
  finding.value = 40.0;
  run.findings.push_back(finding);
  good &= expect(hit_latency(run).value() == 40.0, "the finding is found");

  run.measurements.table("timer").make<std::uint64_t>("cycles").assign({2, 2, 3});
  good &= expect(run.measurements.find("timer")->rows() == 3, "the table has three rows");
  good &= expect(gpusonde::to_string(gpusonde::Outcome::inconclusive) == "inconclusive", "outcomes have names");
  return good ? 0 : 1;
}

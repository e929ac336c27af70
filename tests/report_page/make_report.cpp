// Writes the reports of a run, for looking at and for the browser test:
// make_report FOLDER [partitioned|simulated|swept|hostile|RUN.json]
#include <cstdio>
#include <string>

#include "../unit/survey/run_sample.hpp"
#include "report/report.hpp"
#include "survey/run_file.hpp"

int main(int count, char** words) {
  if (count < 2) return 2;
  const std::string which = count > 2 ? words[2] : "partitioned";
  gpusonde::Run run;
  if (which == "partitioned")
    run = gpusonde::sample::partitioned();
  else if (which == "simulated")
    run = gpusonde::sample::simulated();
  else if (which == "swept")
    run = gpusonde::sample::swept();
  else if (which == "hostile")
    run = gpusonde::sample::hostile();
  else if (auto loaded = gpusonde::load_run(which); loaded)
    run = std::move(*loaded);
  else
    return std::fprintf(stderr, "%s\n", loaded.error().message.c_str()), 1;
  const auto written = gpusonde::write_reports(run, words[1]);
  if (!written) std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return written ? 0 : 1;
}

// CSV, the list of outputs, and the folder they are written to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "../survey/run_sample.hpp"
#include "report/escape.hpp"
#include "report/report.hpp"
#include "survey/run_file.hpp"

namespace gpusonde {
namespace {

namespace fs = std::filesystem;

/// RFC 4180, written anew from the standard.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      rows.back().back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      rows.back().emplace_back();
    } else if (c == '\n' && !quoted) {
      rows.push_back({""});
    } else {
      rows.back().back() += c;
    }
  }
  rows.pop_back();
  return rows;
}

TEST(Csv, FindingsAreReadBack) {
  auto run = sample::simulated();
  Finding masks = sample::ok("l1.set_masks", "hex list", 0, 0, 0);
  masks.value = std::vector<std::string>{"0x80", "0x100"};
  masks.interval.reset();
  run.findings.push_back(masks);
  run.findings.push_back(sample::not_ok("x", "count", Outcome::failed, "a \"reason\", with\nall"));
  const auto rows = read_csv(findings_csv(run));
  ASSERT_EQ(rows.size(), run.findings.size() + 1);
  EXPECT_EQ(rows[0],
            (std::vector<std::string>{"id", "unit", "outcome", "value", "low", "high", "truth", "agrees", "reason"}));
  EXPECT_EQ(rows[3],
            (std::vector<std::string>{"l1.hit_latency", "cycles", "ok", "40", "39.9", "40.1", "40", "true", ""}));
  EXPECT_EQ(rows[8], (std::vector<std::string>{"l2.far_latency", "cycles", "unsupported", "", "", "", "", "",
                                               "the L2 has one partition"}));
  EXPECT_EQ(rows[rows.size() - 2][3], "0x80 0x100");
  EXPECT_EQ(rows.back().back(), "a \"reason\", with\nall");
}

TEST(Csv, ATableKeepsEveryDigitAndLeavesMissingValuesEmpty) {
  Table table;
  table.make<std::uint64_t>("size_bytes") = {~0ULL, 128};
  table.make<double>("latency_cycles") = {0.1, sample::k_nan};
  table.make<std::string>("note") = {"a,b", ""};
  EXPECT_EQ(table_csv(table), "size_bytes,latency_cycles,note\n18446744073709551615,0.1,\"a,b\"\n128,,\n");
}

TEST(Reports, WritesEveryFileOfTheList) {
  std::string name = (fs::temp_directory_path() / "gpusonde-test-XXXXXX").string();
  const fs::path folder = ::mkdtemp(name.data());
  const auto run = sample::partitioned();
  const auto written = write_reports(run, folder / "deep" / "er");
  ASSERT_TRUE(written) << written.error().message;
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder / "deep" / "er"))
    if (entry.is_regular_file()) found.insert(fs::relative(entry.path(), folder / "deep" / "er").string());
  EXPECT_EQ(found, (std::set<std::string>{"run.json", "report.txt", "report.html", "findings.csv",
                                          "figures/latency.ca.svg", "figures/latency.cg.svg", "figures/l1.capacity.svg",
                                          "data/latency.curve.csv", "data/derived.latency.levels.csv",
                                          "data/derived.latency.transitions.csv", "data/derived.l1.capacity.csv"}));
  const auto back = load_run(folder / "deep" / "er");
  ASSERT_TRUE(back);
  EXPECT_EQ(to_json(*back), to_json(run));
  fs::remove_all(folder);
}

TEST(Reports, FileNamesStayInTheFolderAndApart) {
  auto run = sample::simulated();
  for (const char* name : {"../../evil", "..", "a/b", "a_b"})
    run.measurements.table(name).make<double>("x").push_back(1);
  std::set<std::string> names;
  for (const auto& kind : report_list())
    for (const auto& file : kind.make(run)) {
      EXPECT_TRUE(names.insert(file.name).second) << file.name;
      const fs::path path(file.name);
      EXPECT_EQ(path, path.lexically_normal());
      EXPECT_FALSE(path.string().starts_with(".."));
      EXPECT_LE(std::distance(path.begin(), path.end()), 2);
    }
  EXPECT_TRUE(names.contains("data/a_b.csv"));
  EXPECT_TRUE(names.contains("data/a_b-2.csv"));
}

TEST(Reports, AFolderThatCannotBeWrittenIsAnOutputError) {
  const auto written = write_reports(sample::simulated(), "/dev/null/results");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::output);
}

TEST(Escape, MakesTextHarmless) {
  EXPECT_EQ(report::xml_escape("<a b=\"c\" d='e'>&\n\x01"),
            "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp; \xEF\xBF\xBD");
  EXPECT_EQ(report::clean("\xC3\xA9\xC3\xED\xA0\x80\xF4\x90\x80\x80|"),
            "\xC3\xA9"
            "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD|");
  EXPECT_EQ(report::script_json("{\"a\":\"</script>&\"}"), "{\"a\":\"\\u003c/script\\u003e\\u0026\"}");
  EXPECT_EQ(report::percent_encode("a,b\n\"\xC3\xA9#"), "a,b%0A%22%C3%A9%23");
}

}  // namespace
}  // namespace gpusonde

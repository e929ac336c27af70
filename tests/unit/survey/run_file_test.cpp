// run.json: what is written is read back the same, and what cannot be read is named with its place.
#include "survey/run_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "run_sample.hpp"

namespace gpusonde {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "gpusonde-test-XXXXXX").string();
    m_path = ::mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    fs::permissions(m_path, fs::perms::owner_all);
    fs::remove_all(m_path);
  }
  [[nodiscard]] fs::path operator/(const char* name) const { return m_path / name; }

 private:
  fs::path m_path;
};

std::string content(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream out;
  out << stream.rdbuf();
  return out.str();
}

std::string error_of(const std::string& text) {
  const auto run = parse_run(text, "run.json");
  return run ? "no error" : run.error().message;
}

TEST(RunFile, ReadsBackWhatItWrote) {
  for (const auto& run : {sample::simulated(), sample::partitioned()}) {
    const auto text = to_json(run);
    const auto back = parse_run(text, "run.json");
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(to_json(*back), text);
    EXPECT_EQ(back->device.name, run.device.name);
    EXPECT_EQ(back->device.kind, run.device.kind);
    EXPECT_EQ(back->device.compute_capability_major, run.device.compute_capability_major);
    EXPECT_EQ(back->device.memory_bytes, run.device.memory_bytes);
    EXPECT_EQ(back->device.nominal.l2_bytes, run.device.nominal.l2_bytes);
    EXPECT_EQ(back->environment.clocks.throttle_reasons, run.environment.clocks.throttle_reasons);
    EXPECT_EQ(back->environment.sm_mhz_measured, run.environment.sm_mhz_measured);
    EXPECT_EQ(back->options.values, run.options.values);
    EXPECT_EQ(back->probes_done, run.probes_done);
    ASSERT_EQ(back->findings.size(), run.findings.size());
    for (std::size_t i = 0; i < run.findings.size(); ++i) {
      EXPECT_EQ(back->findings[i].id, run.findings[i].id);
      EXPECT_EQ(back->findings[i].outcome, run.findings[i].outcome);
      EXPECT_EQ(back->findings[i].value, run.findings[i].value);
      EXPECT_EQ(back->findings[i].truth, run.findings[i].truth);
      EXPECT_EQ(back->findings[i].agrees, run.findings[i].agrees);
      EXPECT_EQ(back->findings[i].samples, run.findings[i].samples);
      EXPECT_EQ(back->findings[i].reason, run.findings[i].reason);
    }
  }
}

TEST(RunFile, KeepsColumnTypesAndEveryBit) {
  gpusonde::Run run;
  run.device.name = "x";
  auto& table = run.measurements.table("t");
  const std::vector<std::uint64_t> whole{0, 1, (1ULL << 53) + 1, ~0ULL};
  const std::vector<double> real{40, 0.1, -0.0, 5e-324};
  const std::vector<std::string> text{"40", "", "null", "\"\\\n\t\u00e9"};
  table.make<std::uint64_t>("whole") = whole;
  table.make<double>("real") = real;
  table.make<std::string>("text") = text;
  auto& missing = run.measurements.table("missing");
  missing.make<double>("all") = {sample::k_nan, sample::k_nan};
  auto& empty = run.measurements.table("empty");
  empty.make<std::string>("s");
  empty.make<std::uint64_t>("u");
  empty.make<double>("d");
  (void)run.measurements.table("none");

  const auto back = parse_run(to_json(run), "run.json");
  ASSERT_TRUE(back) << back.error().message;
  const auto* read = back->measurements.find("t");
  ASSERT_NE(read, nullptr);
  ASSERT_NE(read->column<std::uint64_t>("whole"), nullptr);
  EXPECT_EQ(*read->column<std::uint64_t>("whole"), whole);
  ASSERT_NE(read->column<double>("real"), nullptr);
  for (std::size_t i = 0; i < real.size(); ++i)
    EXPECT_EQ(std::bit_cast<std::uint64_t>((*read->column<double>("real"))[i]), std::bit_cast<std::uint64_t>(real[i]));
  ASSERT_NE(read->column<std::string>("text"), nullptr);
  EXPECT_EQ(*read->column<std::string>("text"), text);
  const auto* nulls = back->measurements.find("missing")->column<double>("all");
  ASSERT_NE(nulls, nullptr);
  ASSERT_EQ(nulls->size(), 2U);
  EXPECT_TRUE(std::isnan((*nulls)[1]));
  EXPECT_NE(back->measurements.find("empty")->column<std::string>("s"), nullptr);
  EXPECT_NE(back->measurements.find("empty")->column<std::uint64_t>("u"), nullptr);
  EXPECT_NE(back->measurements.find("empty")->column<double>("d"), nullptr);
  ASSERT_NE(back->measurements.find("none"), nullptr);
  EXPECT_TRUE(back->measurements.find("none")->columns.empty());
}

TEST(RunFile, WritesTheContractsKeys) {
  const auto json = ordered_json::parse(to_json(sample::simulated()));
  EXPECT_EQ(json["schema"], "gpusonde-run/1.0");
  EXPECT_EQ(json["device"]["kind"], "simulated");
  EXPECT_EQ(json["device"]["compute_capability"], "8.9");
  EXPECT_EQ(json["device"]["nominal"]["l2_bytes"], 72 << 20);
  EXPECT_EQ(json["device"]["model_file"], "rtx4090");
  EXPECT_EQ(json["environment"]["clocks"]["sm_mhz_measured"], 2600);
  EXPECT_EQ(json["options"]["seed"], 1);
  EXPECT_EQ(json["options"]["values"]["preset"], "log");
  const auto& l1 = json["findings"][2];
  EXPECT_EQ(l1["id"], "l1.hit_latency");
  EXPECT_EQ(l1["value"], 40);
  EXPECT_EQ(l1["interval"], ordered_json::parse("[39.9, 40.1]"));
  EXPECT_EQ(l1["truth"], 40);
  EXPECT_EQ(l1["agrees"], true);
  const auto& far = json["findings"][7];
  EXPECT_EQ(far["outcome"], "unsupported");
  EXPECT_FALSE(far.contains("value"));
  EXPECT_FALSE(far.contains("interval"));
  EXPECT_TRUE(json["measurements"]["derived.latency.transitions"]["capacity_bytes"][1].is_null());
  EXPECT_FALSE(ordered_json::parse(to_json(sample::partitioned()))["device"].contains("model_file"));
}

TEST(RunFile, NeverWritesAValueBesideAnotherOutcome) {
  gpusonde::Run run;
  auto finding = sample::not_ok("l1.ways", "count", Outcome::inconclusive, "too noisy");
  finding.value = 4.0;
  run.findings = {finding};
  EXPECT_FALSE(ordered_json::parse(to_json(run))["findings"][0].contains("value"));
}

TEST(RunFile, WritesValidJsonWhateverTheTexts) {
  const auto text = to_json(sample::hostile());
  EXPECT_TRUE(ordered_json::accept(text));
  const auto back = parse_run(text, "run.json");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_NE(back->device.name.find("</script>"), std::string::npos);
}

TEST(RunFile, BrokenJsonIsNamedByLineAndColumn) {
  EXPECT_THAT(error_of("{\n  \"schema\": \"gpusonde-run/1.0\",\n  oops\n}"),
              testing::StartsWith("run.json:3:3: invalid literal"));
  EXPECT_EQ(error_of(" \n"), "run.json:1:1: the file is empty; give a run.json that gpusonde wrote");
  EXPECT_THAT(error_of("{\"schema\": 1e999}"), testing::StartsWith("run.json:1:16: "));
  auto cut = to_json(sample::simulated());
  cut.resize(cut.size() / 2);
  EXPECT_THAT(error_of(cut), testing::HasSubstr("unexpected end of input"));
  const auto error = parse_run("[1,", "x.json");
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().kind, ErrorKind::bad_input);
}

TEST(RunFile, ForeignDocumentsAreSaidToBeForeign) {
  EXPECT_THAT(error_of("{}"), testing::StartsWith("run.json: this is no gpusonde run: \"schema\" is missing"));
  EXPECT_THAT(error_of("[1, 2]"), testing::StartsWith("run.json: this is no gpusonde run: it is array"));
  EXPECT_THAT(error_of("{\"schema\": \"hwloc/2\"}"),
              testing::HasSubstr("\"schema\" is \"hwloc/2\", not \"gpusonde-run/1.0\""));
  EXPECT_THAT(error_of("{\"schema\": 3}"), testing::HasSubstr("this is no gpusonde run"));
  EXPECT_THAT(error_of("{\"schema\": \"gpusonde-run/2.0\"}"), testing::HasSubstr("use a newer gpusonde"));
}

TEST(RunFile, AnotherShapeIsNamedByItsPath) {
  const auto changed = [](const char* pointer, const ordered_json& value) {
    auto json = ordered_json::parse(to_json(sample::simulated()));
    json[ordered_json::json_pointer(pointer)] = value;
    return error_of(json.dump());
  };
  EXPECT_EQ(changed("/findings/3/outcome", "okay"),
            "run.json: /findings/3/outcome: is \"okay\"; must be ok, unsupported, skipped, inconclusive or failed");
  EXPECT_EQ(changed("/findings/7/value", 3),
            "run.json: /findings/7/value: is 3; must be absent, since the outcome is not ok");
  EXPECT_EQ(changed("/device/kind", "toaster"), "run.json: /device/kind: is \"toaster\"; must be simulated or cuda");
  EXPECT_EQ(changed("/device/sm_count", -1),
            "run.json: /device/sm_count: is -1; must be a whole number from 0 to 4294967295");
  EXPECT_THAT(changed("/measurements/timer/cycles/1", "x"),
              testing::StartsWith("run.json: /measurements/timer/cycles/1: is \"x\""));
  EXPECT_THAT(changed("/measurements/clock/wall_ns", ordered_json::array({1, 2})),
              testing::HasSubstr("as long as the table's other columns (1 values, not 2)"));
  EXPECT_EQ(changed("/findings", 7), "run.json: /findings: is 7; must be an array");
  auto json = ordered_json::parse(to_json(sample::simulated()));
  json.erase("device");
  EXPECT_EQ(error_of(json.dump()), "run.json: /: has no \"device\"; it is required");
}

TEST(RunFile, NewerMinorVersionsAreRead) {
  auto json = ordered_json::parse(to_json(sample::simulated()));
  json["schema"] = "gpusonde-run/1.7";
  json["novelty"] = {1, 2, 3};
  json["findings"][0]["novelty"] = true;
  EXPECT_EQ(error_of(json.dump()), "no error");
}

TEST(RunFile, SavesAndLoadsAFileOrItsFolder) {
  const Folder folder;
  const auto path = folder / "run.json";
  ASSERT_TRUE(save_run(sample::simulated(), path));
  EXPECT_EQ(content(path), to_json(sample::simulated()));
  ASSERT_TRUE(load_run(path));
  const auto run = load_run(folder / ".");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->findings.size(), sample::simulated().findings.size());
}

TEST(RunFile, ReplacesAFileWholeAndKeepsItsMode) {
  const Folder folder;
  const auto path = folder / "run.json";
  ASSERT_TRUE(write_file(path, "old"));
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(path, folder / "link.json");
  ASSERT_TRUE(write_file(folder / "link.json", "new"));
  EXPECT_EQ(content(path), "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link.json"));
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "."), fs::directory_iterator()), 2) << "a temporary is left";
}

TEST(RunFile, SaysWhatCannotBeWrittenAndTheWayOut) {
  const Folder folder;
  ASSERT_TRUE(write_file(folder / "file", "x"));
  const auto inside_file = prepare_output_folder(folder / "file" / "results");
  ASSERT_FALSE(inside_file);
  EXPECT_EQ(inside_file.error().kind, ErrorKind::output);
  EXPECT_THAT(inside_file.error().message, testing::HasSubstr("results: Not a directory; a file stands where"));
  const auto is_file = prepare_output_folder(folder / "file");
  ASSERT_FALSE(is_file);
  EXPECT_THAT(is_file.error().message, testing::HasSubstr("choose another folder with -o"));
  EXPECT_EQ(content(folder / "file"), "x");
  const auto over_folder = write_file(folder / ".", "x");
  ASSERT_FALSE(over_folder);
  EXPECT_THAT(over_folder.error().message, testing::HasSubstr("Is a directory"));
  const auto full = write_file("/dev/full", "x");
  ASSERT_FALSE(full);
  EXPECT_THAT(full.error().message, testing::HasSubstr("/dev/full: No space left on device; free some space"));
}

TEST(RunFile, PreparesANestedFolderAndLeavesNothingInIt) {
  const Folder folder;
  ASSERT_TRUE(prepare_output_folder(folder / "a" / "b"));
  EXPECT_TRUE(fs::is_empty(folder / "a" / "b"));
}

TEST(RunFile, FindsOutBeforehandThatAFolderIsReadOnly) {
  const Folder folder;
  fs::permissions(folder / ".", fs::perms::owner_read | fs::perms::owner_exec);
  // Root may write anywhere, so it tries as nobody.
  constexpr uid_t k_nobody = 65534;
  const bool root = ::geteuid() == 0;
  if (root) {
    ASSERT_EQ(::seteuid(k_nobody), 0);
  }
  const auto result = prepare_output_folder(folder / ".");
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, testing::HasSubstr("Permission denied; choose a folder that you may write to"));
}

TEST(RunFile, AMissingFileIsBadInput) {
  const auto run = load_run("/nonexistent/run.json");
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().kind, ErrorKind::bad_input);
  EXPECT_EQ(run.error().message,
            "cannot read /nonexistent/run.json: No such file or directory; give a run.json that gpusonde wrote, or its "
            "folder");
}

TEST(RunFile, ReadsTensOfMegabytes) {
  auto run = sample::simulated();
  auto& values = run.measurements.table("big").make<double>("latency_cycles");
  for (int i = 0; i < 2'000'000; ++i) values.push_back(300 + 0.001 * i);
  const auto text = to_json(run);
  EXPECT_GT(text.size(), 14'000'000U);
  const auto back = parse_run(text, "run.json");
  ASSERT_TRUE(back);
  EXPECT_EQ(*back->measurements.find("big")->column<double>("latency_cycles"), values);
}

}  // namespace
}  // namespace gpusonde

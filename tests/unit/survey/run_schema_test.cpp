// What is written fits docs/schema/run-1.0.json, by the judgement of another implementation. Skipped
// where python3 has no jsonschema.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "run_sample.hpp"
#include "survey/run_file.hpp"

namespace gpusonde {
namespace {

namespace fs = std::filesystem;

class RunSchema : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("python3 -c 'import jsonschema' 2>/dev/null") != 0) GTEST_SKIP() << "python3-jsonschema is missing";
    std::string name = (fs::temp_directory_path() / "gpusonde-test-XXXXXX").string();
    m_folder = ::mkdtemp(name.data());
  }
  void TearDown() override {
    if (!m_folder.empty()) fs::remove_all(m_folder);
  }

  [[nodiscard]] bool fits(const std::string& json) const {
    std::ofstream(m_folder / "run.json") << json;
    std::ofstream(m_folder / "check.py")
        << "import json, sys, jsonschema\n"
           "schema = json.load(open(sys.argv[1]))\n"
           "jsonschema.Draft7Validator.check_schema(schema)\n"
           "errors = list(jsonschema.Draft7Validator(schema).iter_errors(json.load(open(sys.argv[2]))))\n"
           "for e in errors[:5]: print(list(e.absolute_path), e.message[:200])\n"
           "sys.exit(3 if errors else 0)\n";
    const std::string command = "python3 '" + (m_folder / "check.py").string() +
                                "' '" GPUSONDE_SOURCE_DIR "/docs/schema/run-1.0.json' '" +
                                (m_folder / "run.json").string() + "'";
    const int status = std::system(command.c_str());
    EXPECT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3))
        << "the check itself failed";
    return WEXITSTATUS(status) == 0;
  }

 private:
  fs::path m_folder;
};

TEST_F(RunSchema, WhatIsWrittenFits) {
  auto with_empty = sample::simulated();
  with_empty.measurements.table("none").make<std::string>("x");
  EXPECT_TRUE(fits(to_json(sample::simulated())));
  EXPECT_TRUE(fits(to_json(sample::partitioned())));
  EXPECT_TRUE(fits(to_json(sample::hostile())));
  EXPECT_TRUE(fits(to_json(with_empty)));
  EXPECT_TRUE(fits(to_json(gpusonde::Run{})));
}

TEST_F(RunSchema, ABreachOfTheContractDoesNot) {
  const auto good = nlohmann::ordered_json::parse(to_json(sample::simulated()));
  const auto breach = [&](const char* pointer, const nlohmann::ordered_json& value) {
    auto json = good;
    json[nlohmann::ordered_json::json_pointer(pointer)] = value;
    return fits(json.dump());
  };
  EXPECT_TRUE(breach("/novelty", 1)) << "new keys are allowed";
  EXPECT_FALSE(breach("/findings/7/value", 3)) << "a value beside an outcome that is not ok";
  EXPECT_FALSE(breach("/findings/2/outcome", "okay"));
  EXPECT_FALSE(breach("/device/kind", "toaster"));
  EXPECT_FALSE(breach("/schema", "gpusonde-run/2.0"));
  EXPECT_FALSE(breach("/measurements/timer/cycles/0", true));
  auto json = good;
  json["findings"][2].erase("value");
  EXPECT_FALSE(fits(json.dump())) << "ok without a value";
}

}  // namespace
}  // namespace gpusonde

// Sweeps as CSV: what is accepted, where an error is said to be, and that appending loses nothing.
#include "survey/sweep_csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "core/random.hpp"
#include "survey/csv_cells.hpp"

namespace gpusonde {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;
using namespace std::string_literals;

const std::string k_header =
    "policy,stride_bytes,bytes,nodes,cycles_per_access,low_cycles,high_cycles,ns_per_access,sm_mhz";
const std::string k_few = "policy,stride_bytes,bytes,nodes,cycles_per_access,ns_per_access,sm_mhz\n";

const std::vector<std::uint64_t>& whole(const Table& table, const char* name) {
  return *table.column<std::uint64_t>(name);
}
const std::vector<double>& real(const Table& table, const char* name) { return *table.column<double>(name); }

TEST(SweepCsv, ReadsWhatItWrites) {
  EXPECT_EQ(sweep_csv_header(), k_header);
  const auto table = parse_sweep_csv(k_header + "\ncg,2097152,33554432,16,281.25,280,283.5,142,1980\n", "a.csv");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ((*table->column<std::string>("policy"))[0], "cg");
  EXPECT_EQ(whole(*table, "stride_bytes")[0], 2097152U);
  EXPECT_EQ(whole(*table, "bytes")[0], 33554432U);
  EXPECT_EQ(whole(*table, "nodes")[0], 16U);
  EXPECT_EQ(real(*table, "cycles_per_access")[0], 281.25);
  EXPECT_EQ(real(*table, "low_cycles")[0], 280);
  EXPECT_EQ(real(*table, "high_cycles")[0], 283.5);
  EXPECT_EQ(real(*table, "ns_per_access")[0], 142);
  EXPECT_EQ(real(*table, "sm_mhz")[0], 1980);
}

TEST(SweepCsv, ColumnsMayStandInAnyOrderAndOthersBetweenThem) {
  const auto table = parse_sweep_csv(
      "\xEF\xBB\xBF"
      "note, nodes ,\"bytes\",sm_mhz,ns_per_access,cycles_per_access,policy,stride_bytes\r\n"
      "\"a \"\"b\"\",\nc\",4,8388608,,, 31.5 ,ca,2097152\r\n"
      "\r\n"
      ",8,16777216,1980,16,32,\"cg\",2097152",
      "a.csv");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_THAT(whole(*table, "nodes"), testing::ElementsAre(4, 8));
  EXPECT_THAT(whole(*table, "bytes"), testing::ElementsAre(8388608, 16777216));
  EXPECT_THAT(*table->column<std::string>("policy"), testing::ElementsAre("ca", "cg"));
  EXPECT_THAT(real(*table, "low_cycles"), testing::ElementsAre(31.5, 32)) << "as the median where it is absent";
  EXPECT_TRUE(std::isnan(real(*table, "sm_mhz")[0])) << "an unknown clock";
  EXPECT_EQ(real(*table, "ns_per_access")[1], 16);
}

struct Malformed {
  std::string text;
  const char* place;
  const char* says;
};

TEST(SweepCsv, SaysWhereItIsWrong) {
  const std::string row = "ca,4096,8192,2,31.5,16,1980\n";
  const Malformed cases[] = {
      {"", "1:1", "is empty"},
      {"\n \n\r\n", "1:1", "is empty"},
      {k_few, "1:71", "no row follows"},
      {"policy,stride_bytes,bytes,cycles_per_access,ns_per_access,sm_mhz\n", "1:1", "column 'nodes' is missing"},
      {"size,latency\n1,2\n", "1:1", "column 'policy' is missing"},
      {"policy,nodes,bytes,nodes\n", "1:20", "column 'nodes' is there twice"},
      {k_few + "ca,4096,8192,2,fast,16,1980\n", "2:16", "cycles_per_access 'fast' is not a number"},
      {k_few + row + row + "ca,4096,8192,2,31.5,16,1980 MHz\n", "4:24", "sm_mhz '1980 MHz' is not a number"},
      {k_few + "ca,4096,8192,2,31.5,16,nan\n", "2:24", "sm_mhz 'nan' is not a number"},
      {k_few + "ca,4096,8192,2,1e999,16,1980\n", "2:16", "is not a number"},
      {k_few + "ca,4096,8192,2,,16,1980\n", "2:16", "cycles_per_access '' is not a number"},
      {k_few + "ca,4096,8192,2,-31.5,16,1980\n", "2:16", "is too small"},
      {k_few + "ca,4096,8192,2,31.5,16,0\n", "2:24", "is too small"},
      {k_few + "ca,4096,8192,0,31.5,16,1980\n", "2:14", "nodes '0' is too small; give at least 1"},
      {k_few + row + "ca,4096,8192,-2,31.5,16,1980\n", "3:14", "nodes '-2' is too small; give at least 1"},
      {k_few + "ca,4096,8192,2.5,31.5,16,1980\n", "2:14", "nodes '2.5' is not a whole number"},
      {k_few + "ca,4KiB,8192,2,31.5,16,1980\n", "2:4", "stride_bytes '4KiB' is not a whole number"},
      {k_few + "ca,4096,18446744073709551616,2,31.5,16,1980\n", "2:9", "is too large"},
      {k_few + "l1,4096,8192,2,31.5,16,1980\n", "2:1", "policy 'l1' is no load policy; give ca or cg"},
      {k_few + row + "ca,4096,8192,2,31.5,16\n", "3:23", "6 cells in a row; give 7"},
      {k_few + "ca,4096,8192,2,31.5,16,1980,9\n", "2:29", "8 cells in a row; give 7"},
      {k_few + "ca,4096,8192,2,31.5,16,\"1980\nca,", "2:24", "a quote opens here and never closes"},
      {k_few + "\"ca\"x,4096,8192,2,31.5,16,1980\n", "2:5", "text follows a closing quote"},
      {k_few + "ca,4096,81"s + '\0' + "92,2,31.5,16,1980\n", "2:11", "byte 0x00 does not belong in a text"},
      {"\x89PNG\r\n\x1a\n"s + "\0\0"s, "1:1", "missing"},
      {"\x7f"
       "ELF\x02\x01\x01\0\0"s,
       "1:5", "byte 0x02"},
      {"p\0o\0l\0"s, "1:2", "byte 0x00"},
      {"note,"s + k_few + "\xC3\xA9\xE2\x82\xAC,ca,4096,8192,x,31.5,16,1980\n", "2:17", "nodes 'x'"},
      {"note,"s + k_few + "\"two\nlines\",ca,4096,8192,x,31.5,16,1980\n", "3:21", "nodes 'x'"},
      {"\xEF\xBB\xBFpolicy,policy", "1:8", "twice"},
      {"policy,nodes\rca,4,\r", "1:1", "missing"},
  };
  for (const auto& [text, place, says] : cases) {
    const auto table = parse_sweep_csv(text, "some/a.csv");
    ASSERT_FALSE(table) << text;
    EXPECT_EQ(table.error().kind, ErrorKind::bad_input);
    EXPECT_THAT(table.error().message, StartsWith("some/a.csv:"s + place + ": ")) << text;
    EXPECT_THAT(table.error().message, HasSubstr(says)) << text;
    EXPECT_THAT(table.error().message, HasSubstr("; ")) << "a remedy";
    EXPECT_EQ(table.error().message.find_first_of("\n\r\0"s), std::string::npos) << text;
  }
}

TEST(SweepCsv, AMessageShowsNoMoreOfACellThanAPersonReads) {
  EXPECT_EQ(shown_cell("\x1b[31m\xC3\xA9"), "?[31m??");
  EXPECT_EQ(shown_cell(std::string(1000, 'x')), std::string(40, 'x') + "...");
}

/// Numbers of every magnitude, some of them unknown.
Table random_sweep(Random& rng) {
  Table table;
  const std::size_t rows = 1 + rng.below(20);
  for (std::size_t i = 0; i < rows; ++i) table.make<std::string>("policy").push_back(rng.below(2) == 0 ? "ca" : "cg");
  for (const char* name : {"stride_bytes", "bytes", "nodes"})
    for (std::size_t i = 0; i < rows; ++i)
      table.make<std::uint64_t>(name).push_back(1 + (rng.next() >> (1 + rng.below(63))));
  for (const std::string name : {"cycles_per_access", "low_cycles", "high_cycles", "ns_per_access", "sm_mhz"})
    for (std::size_t i = 0; i < rows; ++i) {
      const double value = std::ldexp(1 + static_cast<double>(rng.next() >> 12), static_cast<int>(rng.below(80)) - 90);
      const bool unknown = name != "cycles_per_access" && rng.below(4) == 0;
      table.make<double>(name).push_back(unknown ? std::nan("") : value);
    }
  return table;
}

void expect_equal(const Table& a, const Table& b) {
  ASSERT_EQ(a.columns.size(), b.columns.size());
  for (std::size_t i = 0; i < a.columns.size(); ++i) {
    EXPECT_EQ(a.columns[i].first, b.columns[i].first);
    if (const auto* left = std::get_if<std::vector<double>>(&a.columns[i].second)) {
      const auto& right = std::get<std::vector<double>>(b.columns[i].second);
      ASSERT_EQ(left->size(), right.size());
      for (std::size_t row = 0; row < right.size(); ++row)
        EXPECT_TRUE((*left)[row] == right[row] || (std::isnan((*left)[row]) && std::isnan(right[row])));
    } else {
      EXPECT_EQ(a.columns[i].second, b.columns[i].second);
    }
  }
}

class SweepFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "gpusonde-sweep-XXXXXX").string();
    m_folder = ::mkdtemp(name.data());
    m_path = m_folder / "sweep.csv";
  }
  void TearDown() override { fs::remove_all(m_folder); }

  void write(const std::string& text) const { std::ofstream(m_path, std::ios::binary) << text; }
  [[nodiscard]] std::string content() const {
    std::ostringstream out;
    out << std::ifstream(m_path, std::ios::binary).rdbuf();
    return std::move(out).str();
  }
  [[nodiscard]] static Table one_row() { return *parse_sweep_csv(k_header + "\nca,4096,8192,2,31.5,31,32,16,\n", ""); }

  fs::path m_folder;
  fs::path m_path;
};

TEST_F(SweepFile, EveryNumberComesBackAsItWas) {
  Random rng(7);
  for (int n = 0; n < 50; ++n) {
    fs::remove(m_path);
    const auto table = random_sweep(rng);
    ASSERT_TRUE(append_sweep_csv(m_path, table));
    const auto back = parse_sweep_csv(content(), "a.csv");
    ASSERT_TRUE(back) << back.error().message;
    expect_equal(table, *back);
  }
}

TEST_F(SweepFile, AppendingKeepsWhatWasThere) {
  ASSERT_TRUE(check_append(m_path)) << "an absent file is made";
  ASSERT_TRUE(append_sweep_csv(m_path, one_row()));
  EXPECT_EQ(content(), k_header + "\nca,4096,8192,2,31.5,31,32,16,\n");
  ASSERT_TRUE(append_sweep_csv(m_path, one_row()));
  EXPECT_EQ(content(), k_header + "\nca,4096,8192,2,31.5,31,32,16,\nca,4096,8192,2,31.5,31,32,16,\n");

  const std::string foreign = "\xEF\xBB\xBF" + k_header + "\r\ncg , 1,2,\"3\",4,5,6,7,8";
  write(foreign);
  ASSERT_TRUE(check_append(m_path));
  ASSERT_TRUE(append_sweep_csv(m_path, one_row()));
  EXPECT_EQ(content(), foreign + "\nca,4096,8192,2,31.5,31,32,16,\n") << "byte for byte, with a newline at the end";
  EXPECT_EQ(parse_sweep_csv(content(), "")->rows(), 2U);

  write("");
  ASSERT_TRUE(append_sweep_csv(m_path, one_row()));
  EXPECT_EQ(content(), k_header + "\nca,4096,8192,2,31.5,31,32,16,\n") << "an empty file gets the header";
}

TEST_F(SweepFile, OtherColumnsAreRefusedAndTheFileIsKept) {
  const struct {
    std::string text;
    const char* place;
    const char* says;
  } cases[] = {
      {k_few, ":1:51: ", "column 6 is 'ns_per_access' where a sweep has 'low_cycles'"},
      {"bytes," + k_header, ":1:1: ", "column 1 is 'bytes' where a sweep has 'policy'"},
      {k_header + ",note\n", ":1:95: ", "column 10 is 'note' where a sweep has nothing"},
      {k_header.substr(0, k_header.rfind(',')), ":1:87: ", "column 9 is nothing where a sweep has 'sm_mhz'"},
      {"no table\0"s, ":1:9: ", "byte 0x00"},
  };
  for (const auto& [text, place, says] : cases) {
    write(text);
    for (const auto& refused : {check_append(m_path), append_sweep_csv(m_path, one_row())}) {
      ASSERT_FALSE(refused) << text;
      EXPECT_EQ(refused.error().kind, ErrorKind::bad_input);
      EXPECT_THAT(refused.error().message, StartsWith(m_path.string() + place));
      EXPECT_THAT(refused.error().message, HasSubstr(says));
    }
    EXPECT_EQ(content(), text);
  }
}

TEST_F(SweepFile, WhatCannotBeAppendedToIsFoundBefore) {
  for (const auto& path : {m_folder, fs::path("/dev/null"), m_folder / "absent" / "a.csv"}) {
    const auto refused = check_append(path);
    ASSERT_FALSE(refused) << path;
    EXPECT_EQ(refused.error().kind, ErrorKind::output);
    EXPECT_THAT(refused.error().message, HasSubstr(path.string()));
    EXPECT_FALSE(append_sweep_csv(path, one_row()));
  }
}

TEST_F(SweepFile, AFileBeyondReasonIsNotRead) {
  for (const auto& path : {m_folder, m_folder / "absent.csv"}) {
    const auto text = read_input_text(path);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().kind, ErrorKind::bad_input);
    EXPECT_THAT(text.error().message, StartsWith("cannot read " + path.string() + ": "));
  }
  write("x");
  fs::resize_file(m_path, (std::uintmax_t{1} << 30) + 1);  // a hole: nothing lies on the disk
  const auto text = read_input_text(m_path);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, ErrorKind::bad_input);
  EXPECT_THAT(text.error().message, HasSubstr("is larger than 1 GiB; "));
}

}  // namespace
}  // namespace gpusonde

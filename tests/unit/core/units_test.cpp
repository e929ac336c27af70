#include "core/units.hpp"

#include <gtest/gtest.h>

#include "core/random.hpp"

namespace gpusonde {
namespace {

TEST(ParseBytes, TakesBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_bytes("4KiB").value(), 4096U);
  EXPECT_EQ(parse_bytes("2MiB").value(), 2097152U);
  EXPECT_EQ(parse_bytes("1GiB").value(), 1073741824U);
  EXPECT_EQ(parse_bytes("1.5GiB").value(), 1610612736U);
  EXPECT_EQ(parse_bytes("64K").value(), 65536U);
  EXPECT_EQ(parse_bytes("64 KiB").value(), 65536U);
  EXPECT_EQ(parse_bytes("1KB").value(), 1000U);
  EXPECT_EQ(parse_bytes("3MB").value(), 3000000U);
  EXPECT_EQ(parse_bytes("200").value(), 200U);
  EXPECT_EQ(parse_bytes("200B").value(), 200U);
  EXPECT_EQ(parse_bytes("0").value(), 0U);
  EXPECT_EQ(parse_bytes("18446744073709551615").value(), ~std::uint64_t{0});
}

TEST(ParseBytes, RefusesTheRestInOneSentence) {
  for (const char* text : {"", " ", "KiB", "4XiB", "-4KiB", "-1", "1.5", "0.3KiB", "18446744073709551616",
                           "99999999TiB", "4KiBs", "nan", "inf", "0x10", "1e3", "4 4", "+4"}) {
    const auto result = parse_bytes(text);
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().kind, ErrorKind::usage);
    EXPECT_EQ(result.error().message.rfind("'" + std::string(text) + "'", 0), 0U) << result.error().message;
  }
}

TEST(FormatBytes, UsesTheLargestUnit) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(200), "200 B");
  EXPECT_EQ(format_bytes(131072), "128 KiB");
  EXPECT_EQ(format_bytes(1572864), "1.5 MiB");
  EXPECT_EQ(format_bytes(72ULL << 20), "72 MiB");
  EXPECT_EQ(format_bytes(24ULL << 30), "24 GiB");
  EXPECT_EQ(format_bytes_compact(131072), "128KiB");
}

TEST(FormatBytes, ReadsBackWhereTwoDecimalsAreExact) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const auto bytes = random.between(1, 1000) << (10 * random.below(4));
    EXPECT_EQ(parse_bytes(format_bytes_compact(bytes)).value(), bytes);
    EXPECT_EQ(parse_bytes(format_bytes(bytes)).value(), bytes);
  }
}

TEST(Clocks, CyclesAndNanoseconds) {
  EXPECT_NEAR(cycles_to_ns(40, 2600), 15.3846, 1e-4);
  EXPECT_NEAR(ns_to_cycles(127.4, 2600), 331.24, 1e-9);
}

}  // namespace
}  // namespace gpusonde

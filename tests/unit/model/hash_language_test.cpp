// What hash programs mean, on values worked out by hand, and what is said about programs that mean nothing.
#include <gtest/gtest.h>

#include <string>

#include "model/address_function.hpp"

namespace gpusonde {
namespace {

std::uint32_t value_of(const std::string& text, std::uint64_t address) {
  const auto function = AddressFunction::parse(text, {"f.toml"});
  if (!function) {
    ADD_FAILURE() << function.error().message;
    return 0;
  }
  return (*function)(address);
}

std::string error_of(const std::string& text) {
  const auto function = AddressFunction::parse(text, {"f.toml", 10, 1});
  return function ? "no error" : function.error().message;
}

TEST(HashLanguage, BindsLikeC) {
  EXPECT_EQ(value_of("return 2 + 3 * 4", 0), 14U);
  EXPECT_EQ(value_of("return 20 - 3 - 4", 0), 13U);
  EXPECT_EQ(value_of("return 100 / 7 % 5", 0), 4U);
  EXPECT_EQ(value_of("return 1 + 1 << 3", 0), 16U);
  EXPECT_EQ(value_of("return 1 << 2 < 5", 0), 1U);
  EXPECT_EQ(value_of("return 3 & 1 == 1", 0), 1U);  // 3 & (1 == 1)
  EXPECT_EQ(value_of("return 6 ^ 2 & 3", 0), 4U);   // 6 ^ (2 & 3)
  EXPECT_EQ(value_of("return 1 | 2 ^ 3", 0), 1U);   // 1 | (2 ^ 3)
  EXPECT_EQ(value_of("return 0 && 0 || 1", 0), 1U);
  EXPECT_EQ(value_of("return 1 || 0 && 0", 0), 1U);
  EXPECT_EQ(value_of("return 0 ? 1 : 0 ? 2 : 3", 0), 3U);
  EXPECT_EQ(value_of("return a == 5 ? 7 : 9", 5), 7U);
  EXPECT_EQ(value_of("return a == 5 ? 7 : 9", 6), 9U);
  EXPECT_EQ(value_of("return !0 + 1", 0), 2U);
  EXPECT_EQ(value_of("return ~a & 0xff", 0x0f), 0xf0U);
  EXPECT_EQ(value_of("return -a & 0xff", 1), 0xffU);
  EXPECT_EQ(value_of("return !!a", 77), 1U);
}

TEST(HashLanguage, Compares) {
  for (const std::uint64_t a : {4, 5, 6}) {
    EXPECT_EQ(value_of("return a < 5", a), a < 5 ? 1U : 0U);
    EXPECT_EQ(value_of("return a <= 5", a), a <= 5 ? 1U : 0U);
    EXPECT_EQ(value_of("return a > 5", a), a > 5 ? 1U : 0U);
    EXPECT_EQ(value_of("return a >= 5", a), a >= 5 ? 1U : 0U);
    EXPECT_EQ(value_of("return a != 5", a), a != 5 ? 1U : 0U);
  }
}

TEST(HashLanguage, HasParityTablesNamesAndComments) {
  EXPECT_EQ(value_of("return parity(a & 0xF0)", 0x70), 1U);
  EXPECT_EQ(value_of("return parity(a)", 0x8000000000000001), 0U);
  EXPECT_EQ(value_of("return [5, 0, 1][a % 3]", 8), 1U);
  EXPECT_EQ(value_of("return [5, 2 * 3, 1][a]", 4), 6U);  // the index is taken modulo the length
  EXPECT_EQ(value_of("# a comment\n\nx = a / 3  # another\n y = x + 1\nreturn y * x\n\n", 10), 12U);
  EXPECT_EQ(value_of("x = (a +\n   1)\nreturn x", 4), 5U);  // lines go on inside parentheses
  EXPECT_EQ(value_of("a1 = a\nreturnx = a1\r\nreturn returnx\r\n", 4), 4U);
}

TEST(HashLanguage, HasAValueEverywhere) {
  EXPECT_EQ(value_of("return 7 / (a & 1)", 2), 0U);
  EXPECT_EQ(value_of("return 7 % (a & 1)", 2), 0U);
  EXPECT_EQ(value_of("return a << 64", 1), 0U);
  EXPECT_EQ(value_of("return a >> (a + 63)", 1), 0U);
  EXPECT_EQ(value_of("return (a - 1) >> 32", 0), 0xFFFFFFFFU);  // wraps at 2^64
}

TEST(HashLanguage, ErrorsPointAtTheToken) {
  EXPECT_EQ(
      error_of("x = 1\ny = x +\nreturn y"),
      "f.toml:11:8: the end of line stands where a value should; write a, a name, a number, parity(...) or (...)");
  EXPECT_EQ(error_of("foo = 1\nreturn fo"), "f.toml:11:8: 'fo' is not defined; did you mean 'foo'?");
  EXPECT_EQ(error_of("return xyzzy"), "f.toml:10:8: 'xyzzy' is not defined; define it on a line above");
  EXPECT_EQ(error_of("x = 1"), "f.toml:10:6: the program ends without a value; end it with `return ...`");
  EXPECT_EQ(error_of(""), "f.toml:10:1: the program ends without a value; end it with `return ...`");
  EXPECT_EQ(error_of("return (a + 1"),
            "f.toml:10:14: the end of the program stands where ')' should close the '(' of line 10");
  EXPECT_EQ(error_of("return [1, 2]"),
            "f.toml:10:14: the end of the program follows the table; say which entry: [...][i]");
  EXPECT_EQ(error_of("return [1, a][0]"),
            "f.toml:10:12: a table's entry depends on the address; tables hold constants");
  EXPECT_EQ(error_of("return 1\nx = 2"), "f.toml:11:1: 'x' follows the value of `return`; end the program there");
  EXPECT_EQ(error_of("x = 1\nx = 2\nreturn x"), "f.toml:11:1: 'x' is defined already; choose another name");
  EXPECT_EQ(error_of("a = 1\nreturn a"), "f.toml:10:1: 'a' is the address and cannot be defined; choose another name");
  EXPECT_EQ(error_of("x 1"), "f.toml:10:3: '1' follows 'x'; write `x = ...`");
  EXPECT_EQ(error_of("x = 1 2"),
            "f.toml:10:7: '2' follows the expression; begin a new line or put an operator before it");
  EXPECT_EQ(error_of("+ 1"), "f.toml:10:1: '+' cannot begin a line; write `name = ...` or `return ...`");
  EXPECT_EQ(error_of("return a ? 1"),
            "f.toml:10:13: the end of the program stands where ':' and the other choice should; write c ? x : y");
  EXPECT_EQ(error_of("return a % (3 - 3)"), "f.toml:10:12: the divisor is 0; give at least 1");
  EXPECT_EQ(error_of("return 0xZZ"), "f.toml:10:8: '0xZZ' is not a number; write a decimal or 0x number below 2^64");
  EXPECT_EQ(error_of("return 99999999999999999999"),
            "f.toml:10:8: '99999999999999999999' is not a number; write a decimal or 0x number below 2^64");
  EXPECT_EQ(error_of("return a @ 1"),
            "f.toml:10:10: '@' has no meaning here; the language has names, numbers and the operators of C");
  EXPECT_EQ(error_of("return parity a"), "f.toml:10:15: 'a' follows 'parity'; write parity(...)");
}

TEST(HashLanguage, RefusesWhatIsTooDeepOrTooLong) {
  const auto deep = "return " + std::string(5000, '(') + "a" + std::string(5000, ')');
  EXPECT_NE(error_of(deep).find("nested too deep; give parts of it names"), std::string::npos);
  const auto bangs = "return " + std::string(5000, '~') + "a";
  EXPECT_NE(error_of(bangs).find("nested too deep"), std::string::npos);
  std::string lengthy = "return 0";
  for (int i = 0; i < 2000; ++i) lengthy += " + a * " + std::to_string(i + 2);
  EXPECT_NE(error_of(lengthy).find("more than 1024 operations; shorten it"), std::string::npos);
}

TEST(AddressFunctions, OfModuloAndParities) {
  EXPECT_EQ(AddressFunction()(12345), 0U);
  const auto modulo = AddressFunction::modulo(128, 36);
  const auto parities = AddressFunction::parities({0x180, 0x300, 0xFFFFFFFFFFFFFF80});
  for (std::uint64_t a = 0; a < 100000; a += 61) {
    ASSERT_EQ(modulo(a), a / 128 % 36);
    const auto bit = [&](unsigned i) { return static_cast<std::uint32_t>(a >> i & 1); };
    std::uint32_t all = 0;
    for (unsigned i = 7; i < 64; ++i) all ^= bit(i);
    ASSERT_EQ(parities(a), (bit(7) ^ bit(8)) | (bit(8) ^ bit(9)) << 1 | all << 2);
  }
  for (const auto& function : {modulo, parities, AddressFunction()}) {
    const auto again = AddressFunction::parse(function.text(), {"again"});
    ASSERT_TRUE(again) << again.error().message;
    for (std::uint64_t a = 0; a < 100000; a += 61) ASSERT_EQ((*again)(a), function(a));
  }
}

}  // namespace
}  // namespace gpusonde

// Programs made at random, each beside the same function written in C++: compiled, evaluated as it stands, and
// worked out directly, it must be one function.
#include "model/hash_compiler.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "model/hash_parser.hpp"

namespace gpusonde {
namespace {

struct Program {
  std::string text;
  std::function<std::uint64_t(std::uint64_t)> value;
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : m_random(seed) {}

  /// The address or a word made from it.
  Program word() {
    const auto divisor = m_random.between(1, 3000);
    const auto offset = m_random.next() >> m_random.below(64);
    const auto shift = m_random.below(40);
    switch (m_random.below(6)) {
      case 0: return {fmt::format("(a / {})", divisor), [=](auto a) { return a / divisor; }};
      case 1: return {fmt::format("((a + {}) >> {})", offset, shift), [=](auto a) { return (a + offset) >> shift; }};
      case 2: return {fmt::format("(a >> {})", shift), [=](auto a) { return a >> shift; }};
      case 3: return {fmt::format("(a ^ a >> {})", shift), [=](auto a) { return a ^ a >> shift; }};
      default: return {"a", [](auto a) { return a; }};
    }
  }

  /// A value in a small range.
  Program small(int depth) {
    if (depth == 0 || m_random.below(4) == 0) return leaf();
    const auto x = small(depth - 1);
    const auto y = small(depth - 1);
    const auto z = small(depth - 1);
    const auto constant = m_random.between(1, 9);
    switch (m_random.below(14)) {
      case 0: return {"(" + x.text + " ^ " + y.text + ")", [=](auto a) { return x.value(a) ^ y.value(a); }};
      case 1: return {"(" + x.text + " | " + y.text + ")", [=](auto a) { return x.value(a) | y.value(a); }};
      case 2: return {"(" + x.text + " & " + y.text + ")", [=](auto a) { return x.value(a) & y.value(a); }};
      case 3: return {"(" + x.text + " + " + y.text + ")", [=](auto a) { return x.value(a) + y.value(a); }};
      case 4: return {fmt::format("({} * {})", x.text, constant), [=](auto a) { return x.value(a) * constant; }};
      case 5: return {fmt::format("({} % {})", x.text, constant), [=](auto a) { return x.value(a) % constant; }};
      case 6:
        return {fmt::format("(({} + 1000 - {}) % 7)", x.text, y.text),
                [=](auto a) { return (x.value(a) + 1000 - y.value(a)) % 7; }};
      case 7:
        return {fmt::format("({} ? {} : {})", x.text, y.text, z.text),
                [=](auto a) { return x.value(a) != 0 ? y.value(a) : z.value(a); }};
      case 8:
        return {fmt::format("({} < {})", x.text, y.text),
                [=](auto a) { return std::uint64_t{x.value(a) < y.value(a)}; }};
      case 9:
        return {fmt::format("({} == {})", x.text, y.text),
                [=](auto a) { return std::uint64_t{x.value(a) == y.value(a)}; }};
      case 10:
        return {fmt::format("[3, 1, 4, 1, 5][{}]", x.text), [=](auto a) {
                  constexpr std::uint64_t table[] = {3, 1, 4, 1, 5};
                  return table[x.value(a) % 5];
                }};
      case 11: return {fmt::format("({} << {})", x.text, constant), [=](auto a) { return x.value(a) << constant; }};
      case 12: {
        const auto w = word();
        return {fmt::format("((({} >> 3) + {} + {}) % {})", w.text, x.text, y.text, constant),
                [=](auto a) { return ((w.value(a) >> 3) + x.value(a) + y.value(a)) % constant; }};
      }
      default: return {"!" + x.text, [=](auto a) { return std::uint64_t{x.value(a) == 0}; }};
    }
  }

 private:
  Program leaf() {
    const auto w = word();
    const auto mask = m_random.next() & m_random.next() & m_random.next();
    const auto divisor = m_random.between(1, 40);
    switch (m_random.below(4)) {
      case 0: return {fmt::format("({} % {})", w.text, divisor), [=](auto a) { return w.value(a) % divisor; }};
      case 1: return {fmt::format("({} >> 20 & 3)", w.text), [=](auto a) { return w.value(a) >> 20 & 3; }};
      default:
        return {fmt::format("parity({} & {:#x})", w.text, mask),
                [=](auto a) { return static_cast<std::uint64_t>(std::popcount(w.value(a) & mask) & 1); }};
    }
  }

  Random m_random;
};

std::vector<std::uint64_t> addresses(Random& random) {
  std::vector<std::uint64_t> made{0, 1, 127, 128, ~std::uint64_t{0}, ~std::uint64_t{0} - 127};
  for (int i = 0; i < 60; ++i) made.push_back(random.next() >> random.below(64));
  return made;
}

TEST(HashCompiler, CompiledAndInterpretedAndDirectAgreeOnRandomPrograms) {
  int compiled_count = 0;
  int tabulated_count = 0;
  constexpr int programs = 3000;
  for (int seed = 0; seed < programs; ++seed) {
    Generator generator(static_cast<std::uint64_t>(seed));
    const auto program = generator.small(seed % 5);
    const auto expression = parse_hash_program("x = " + program.text + "\nreturn x", {"random"});
    ASSERT_TRUE(expression) << expression.error().message << " in " << program.text;
    const auto compiled = compile(*expression);
    if (compiled) ++compiled_count;
    if (compiled && !compiled->table.empty()) ++tabulated_count;
    Random random(static_cast<std::uint64_t>(seed) + 77);
    for (const auto address : addresses(random)) {
      const auto expected = program.value(address);
      ASSERT_EQ(evaluate(*expression, address), expected)
          << "seed " << seed << " at " << address << ": " << program.text;
      if (!compiled) continue;
      ASSERT_EQ((*compiled)(address), static_cast<std::uint32_t>(expected))
          << "seed " << seed << " at " << address << ": " << program.text;
    }
  }
  // The comparison is empty when nothing compiles, and one-sided when everything does without a table.
  EXPECT_GT(compiled_count, programs / 2);
  EXPECT_GT(tabulated_count, programs / 5);
}

std::optional<CompiledFunction> compiled(const std::string& text) {
  const auto expression = parse_hash_program(text, {"given"});
  if (!expression) ADD_FAILURE() << expression.error().message;
  return compile(*expression);
}

TEST(HashCompiler, NeedsNoTableForParitiesAndPlainRemainders) {
  for (const auto* text : {"return a / 128 % 111892", "return a / 393216 % 65536", "return a / 7 % 5000000",
                           "return parity(a & 0x980) | parity(a / 3 & 0x70) << 1", "return (a >> 7) & 1023"}) {
    const auto function = compiled(text);
    ASSERT_TRUE(function) << text;
    EXPECT_TRUE(function->table.empty()) << text;
  }
}

TEST(HashCompiler, KeepsOnlyWhatIsNotLinearInTheTable) {
  // One parity of five decides nothing in the remainder's test; it is added after the table.
  const auto function = compiled("return (parity(a & 0xF80) ^ (a >> 15) % 9 == 2) | parity(a & 0x780) << 1");
  ASSERT_TRUE(function);
  EXPECT_EQ(function->table.size(), 9U);
}

TEST(HashCompiler, LeavesOtherShapesToTheInterpreter) {
  EXPECT_FALSE(compiled("return a * a >> 20"));
  EXPECT_FALSE(compiled("return a < 0x100000"));
  EXPECT_FALSE(compiled("return (a % 1009) * (a % 1013) * (a % 1019) % 7"));  // over 2^20 combinations
}

}  // namespace
}  // namespace gpusonde

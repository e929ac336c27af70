// Operations on a fake driver, and their PTX through ptxas where there is one: what is compiled has as many machine
// instructions more in the long chain as it should, and of the right kind.
#include "target/cuda/instruction_runner.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "fake_target.hpp"
#include "target/cuda/instruction_ptx.hpp"

namespace gpusonde::cuda {
namespace {

using test::FakeDriver;
using test::open;
using test::run_one;

TEST(InstructionRunner, TakesTheTurnsAfterTheFirst) {
  FakeDriver fake;
  const auto target = open(fake);
  const auto samples = run_one(*target, InstructionExperiment{Operation::ffma, 4, 3});
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  const auto& s = std::get<InstructionSamples>(*samples);
  EXPECT_EQ(s.short_length, 24U);  // 96 operations in all
  EXPECT_EQ(s.long_length, 72U);
  EXPECT_EQ(s.short_cycles, (std::vector<std::uint64_t>{201, 202, 203}));
  EXPECT_EQ(s.long_cycles, (std::vector<std::uint64_t>{501, 502, 503}));
  ASSERT_EQ(fake.memories.instructions.size(), 2U);
  EXPECT_EQ(fake.memories.instructions[0].turns, 4U);
  EXPECT_EQ(fake.launches.back().kernel, "ffma_4_long");
  EXPECT_EQ(fake.launches.back().blocks, 1U);
  EXPECT_EQ(fake.launches.back().threads, 32U);
}

TEST(InstructionRunner, EveryLaneHasItsOperands) {
  FakeDriver fake;
  const auto target = open(fake);
  ASSERT_TRUE(run_one(*target, InstructionExperiment{Operation::dfma, 1, 1}).has_value());
  const auto& p = fake.memories.instructions.back();
  for (std::uint64_t lane = 0; lane < 32; ++lane) {
    InstructionOperands operands;
    std::memcpy(&operands, reinterpret_cast<const void*>(p.operands + 64 * lane), sizeof operands);
    EXPECT_EQ(operands.zero, 0U);
    EXPECT_EQ(operands.a, 0x3FF0000000000000U);  // 1.0
    EXPECT_EQ(operands.b, 0x3FF0000000000000U);
  }
}

TEST(InstructionRunner, CompilesAModuleOnce) {
  FakeDriver fake;
  const auto target = open(fake);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(run_one(*target, InstructionExperiment{Operation::imad, 2, 1}).has_value());
  EXPECT_EQ(fake.made.size(), 1U);
  ASSERT_TRUE(run_one(*target, InstructionExperiment{Operation::imad, 3, 1}).has_value());
  EXPECT_EQ(fake.made.size(), 2U);
}

TEST(InstructionRunner, NoImmediateAddressFromCapability9On) {
  FakeDriver fake;
  const InstructionExperiment immediate{Operation::shared_immediate, 1, 1};
  const auto samples = run_one(*open(fake), immediate);
  ASSERT_FALSE(samples.has_value());
  EXPECT_EQ(samples.error().kind, ErrorKind::unsupported);
  fake.compute_capability_major = 8;
  EXPECT_TRUE(run_one(*open(fake), immediate).has_value());
}

TEST(InstructionRunner, WhatTheDriverCannotCompileIsNamed) {
  FakeDriver fake;
  const auto target = open(fake);
  ASSERT_TRUE(run_one(*target, TimerExperiment{}).has_value());
  fake.load_result = 218;
  fake.load_log = "line 3; fatal";
  const auto samples = run_one(*target, InstructionExperiment{Operation::lop3, 1, 1});
  ASSERT_FALSE(samples.has_value());
  EXPECT_EQ(
      samples.error().message,
      "the driver cannot compile the kernels of 'lop3_1': CUDA_ERROR_FAKE (218): a fake failure; it says: line 3; "
      "fatal");
}

std::string find_ptxas() {
  for (const auto* path : {"/usr/local/cuda/bin/ptxas", "/usr/bin/ptxas"})
    if (std::filesystem::exists(path)) return path;
  return {};
}

/// Machine instructions of a kernel by opcode, of 16 bytes each. Source: ELF-64.
using Opcodes = std::map<std::uint32_t, int>;
std::map<std::string, Opcodes> opcodes_of(const std::string& cubin) {
  const auto get = [&](std::size_t at, std::size_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, cubin.data() + at, bytes);
    return value;
  };
  const auto headers = get(0x28, 8), size = get(0x3A, 2), count = get(0x3C, 2), names = get(0x3E, 2);
  const auto strings = get(headers + names * size + 0x18, 8);
  std::map<std::string, Opcodes> found;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto header = headers + i * size;
    const std::string name = cubin.data() + strings + get(header, 4);
    if (!name.starts_with(".text.")) continue;
    const auto offset = get(header + 0x18, 8), bytes = get(header + 0x20, 8);
    for (std::uint64_t at = 0; at < bytes; at += 16) ++found[name.substr(6)][get(offset + at, 2) & 0xFFF];
  }
  return found;
}

struct Compiled {
  Opcodes shorter, longer;
};
Compiled compiled(const std::string& ptxas, Operation operation, std::uint32_t chains, const std::string& chip) {
  const auto folder = std::filesystem::temp_directory_path() / ("gpusonde-ptx-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const auto name = instruction_module_name(operation, chains);
  std::ofstream(folder / "in.ptx") << instruction_ptx(operation, chains, 8, 24);
  const auto command =
      ptxas + " -arch=" + chip + " " + (folder / "in.ptx").string() + " -o " + (folder / "out.cubin").string();
  Compiled result;
  if (std::system(command.c_str()) == 0) {
    std::ifstream in(folder / "out.cubin", std::ios::binary);
    const std::string cubin{std::istreambuf_iterator<char>(in), {}};
    auto all = opcodes_of(cubin);
    result = {all[name + "_short"], all[name + "_long"]};
  }
  std::filesystem::remove_all(folder);
  return result;
}

// Opcodes as ptxas writes them since Volta: FFMA, IMAD, IMAD.WIDE, IADD3, LOP3, MUFU, DADD, DFMA, HFMA2, LDS, ISETP.
constexpr std::uint32_t k_lds = 0x984, k_isetp = 0x20C;
const std::map<Operation, std::uint32_t> k_opcodes{{Operation::ffma, 0x223},
                                                   {Operation::imad, 0x224},
                                                   {Operation::imad_wide, 0x225},
                                                   {Operation::iadd3, 0x210},
                                                   {Operation::lop3, 0x212},
                                                   {Operation::mufu_ex2, 0x308},
                                                   {Operation::dadd, 0x229},
                                                   {Operation::dfma, 0x22B},
                                                   {Operation::shared_register, k_lds},
                                                   {Operation::shared_predicate, k_lds}};

TEST(InstructionPtx, TheLongChainHasTheOperationsMoreAndNothingElse) {
  const auto ptxas = find_ptxas();
  if (ptxas.empty()) GTEST_SKIP() << "no ptxas here";
  for (const std::string chip : {"sm_80", "sm_90"})
    for (const auto& [operation, opcode] : k_opcodes) {
      const std::uint32_t chains = operation == Operation::shared_predicate ? 1 : 4;
      const auto [shorter, longer] = compiled(ptxas, operation, chains, chip);
      ASSERT_FALSE(longer.empty()) << to_string(operation) << " " << chip;
      const int more = static_cast<int>(16 * chains);
      Opcodes extra;
      for (const auto& [code, count] : longer) {
        const auto before = shorter.find(code);
        const int difference = count - (before == shorter.end() ? 0 : before->second);
        constexpr std::uint32_t k_nop = 0x918, k_bar_sync = 0x944;  // padding, and where paths join
        if (difference != 0 && code != k_nop && code != k_bar_sync) extra[code] = difference;
      }
      Opcodes expected{{opcode, more}};
      if (operation == Operation::shared_predicate) expected[k_isetp] = more;
      EXPECT_EQ(extra, expected) << to_string(operation) << " " << chip;
    }
}

TEST(InstructionPtx, ALoadWithAnImmediateAddressIsOneWherePossible) {
  const auto ptxas = find_ptxas();
  if (ptxas.empty()) GTEST_SKIP() << "no ptxas here";
  const auto [shorter, longer] = compiled(ptxas, Operation::shared_immediate, 1, "sm_89");
  ASSERT_FALSE(longer.empty());
  EXPECT_EQ(longer.at(k_lds) - shorter.at(k_lds), 16);
  EXPECT_EQ(longer.at(k_isetp) - shorter.at(k_isetp), 16);
}

}  // namespace
}  // namespace gpusonde::cuda

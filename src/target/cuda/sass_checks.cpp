#include "target/cuda/sass_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>

namespace gpusonde::cuda {
namespace {

// A load as one architecture or another writes it: all of `parts` among the opcode's parts, in any order,
// and none of `not_parts`.
struct LoadForm {
  std::string_view parts;
  std::string_view not_parts;
};
struct ExpectedLoad {
  std::string_view path;  ///< in the kernel's name
  std::string_view shown;
  std::array<LoadForm, 3> forms;  ///< any of them
};
// Volta and Turing write no scope for .ca (or CTA), later chips SM.
constexpr std::array k_loads{
    ExpectedLoad{"_ca_",
                 "LDG.E...STRONG.SM",
                 {LoadForm{"LDG E STRONG SM", "CONSTANT"}, LoadForm{"LDG E STRONG CTA", "CONSTANT"},
                  LoadForm{"LDG E", "STRONG CONSTANT"}}},
    ExpectedLoad{"_cg_", "LDG.E...STRONG.GPU", {LoadForm{"LDG E STRONG GPU", "CONSTANT"}}},
    ExpectedLoad{"_cv_", "LDG.E...STRONG.SYS", {LoadForm{"LDG E STRONG SYS", "CONSTANT"}}},
    ExpectedLoad{"_nc_", "LDG.E...CONSTANT", {LoadForm{"LDG E CONSTANT", "STRONG"}}},
    ExpectedLoad{"_shared_", "LDS", {LoadForm{"LDS", ""}}},
};

std::vector<std::string> words(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream{std::string(text)};
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool has(const std::vector<std::string>& parts, const std::string& part) {
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

bool is_form(const std::string& opcode, const LoadForm& form) {
  if (form.parts.empty()) return false;
  const auto parts = words(opcode, '.');
  for (const auto& part : words(form.parts, ' '))
    if (!has(parts, part)) return false;
  for (const auto& part : words(form.not_parts, ' '))
    if (has(parts, part)) return false;
  return true;
}

bool is_load(const SassInstruction& i) {
  const auto name = i.opcode.substr(0, i.opcode.find('.'));
  return name == "LDG" || name == "LD" || name == "LDS" || name == "LDL";
}

bool is_clock_read(const SassInstruction& i) { return i.operands.find("SR_CLOCK") != std::string::npos; }

using Code = std::span<const SassInstruction>;

// From the first clock read to the last, both included; empty when there are fewer than two.
Code timed_code(Code code) {
  const auto first = std::find_if(code.begin(), code.end(), is_clock_read);
  const auto last = std::find_if(code.rbegin(), code.rend(), is_clock_read).base();
  if (first == code.end() || last - first < 2) return {};
  return code.subspan(static_cast<std::size_t>(first - code.begin()), static_cast<std::size_t>(last - first));
}

// Loops with a load in them, each from its first instruction to its branch back, in code order.
std::vector<Code> timed_loops(Code code) {
  std::vector<Code> loops;
  for (std::size_t end = 0; end < code.size(); ++end) {
    const auto& branch = code[end];
    if (!branch.target || *branch.target > branch.address) continue;
    const auto begin =
        std::find_if(code.begin(), code.end(), [&](const SassInstruction& i) { return i.address == *branch.target; });
    if (begin == code.end()) continue;
    const auto first = static_cast<std::size_t>(begin - code.begin());
    const auto loop = code.subspan(first, end - first + 1);
    if (std::any_of(loop.begin(), loop.end(), is_load)) loops.push_back(loop);
  }
  return loops;
}

std::ptrdiff_t count_loads(Code loop) { return std::count_if(loop.begin(), loop.end(), is_load); }

// Shared memory is addressed with 32 bits, and ptxas drops the upper half of a node that nothing reads.
SassCheck check_loads(const ExpectedLoad& expected, bool pointer, const std::vector<Code>& loops) {
  const bool narrow_allowed = expected.path == "_shared_";
  const auto shown = std::string(expected.shown) + (!pointer         ? " of 32 bits"
                                                    : narrow_allowed ? " of 64 bits or their lower half"
                                                                     : " of 64 bits");
  SassCheck check{fmt::format("every timed load is {}", shown), true, ""};
  for (const auto& loop : loops)
    for (const auto& i : loop) {
      if (!is_load(i)) continue;
      const bool form = std::any_of(expected.forms.begin(), expected.forms.end(),
                                    [&](const LoadForm& f) { return is_form(i.opcode, f); });
      const bool wide = has(words(i.opcode, '.'), "64");
      const bool passed = form && (wide == pointer || (pointer && narrow_allowed));
      if (check.detail.empty() || (check.passed && !passed)) check.detail = i.opcode;
      check.passed = check.passed && passed;
    }
  return check;
}

SassCheck check_count(std::ptrdiff_t expected, const std::vector<Code>& loops) {
  std::ptrdiff_t most = 0;
  for (const auto& loop : loops) most = std::max(most, count_loads(loop));
  return {fmt::format("{} load{} a turn of the timed loop", expected, expected == 1 ? "" : "s"), most == expected,
          fmt::format("{}", most)};
}

// The instruction that makes the machine wait: the first reader of what the loop's last load brought,
// before the next clock read. A further turn of the loop is no reader: the last turn has none after it.
SassCheck check_wait(Code code, Code loop) {
  SassCheck check{"the second clock read waits for the last load", false,
                  "nothing reads the loaded register before it"};
  const auto last_load = std::find_if(loop.rbegin(), loop.rend(), is_load);
  const auto loaded = destination_register(*last_load);
  if (!loaded) return check;
  const auto begin =
      std::find_if(code.begin(), code.end(), [&](const SassInstruction& i) { return i.address == last_load->address; });
  for (auto i = begin + 1; i != code.end() && !is_clock_read(*i); ++i) {
    if (!reads_register(*i, *loaded)) continue;
    check.passed = true;
    check.detail = fmt::format("{} {}", i->opcode, i->operands);
    return check;
  }
  return check;
}

std::vector<SassCheck> check_chase(const SassFunction& function, const ExpectedLoad& expected) {
  const auto code = timed_code(function.instructions);
  const auto loops = timed_loops(code);
  if (loops.empty()) return {{"there is a timed loop with a load", false, "no loop with a load between clock reads"}};
  const bool pointer = function.name.find("_pointer") != std::string::npos;
  const bool per_hop = function.name.find("_timed") != std::string::npos;
  return {check_loads(expected, pointer, loops), check_count(per_hop ? 1 : 64, loops), check_wait(code, loops.back())};
}

SassCheck check_no_loads(const SassFunction& function) {
  const auto code = timed_code(function.instructions);
  const auto loads = std::count_if(code.begin(), code.end(), is_load);
  return {"no load between the clock reads", !code.empty() && loads == 0,
          code.empty() ? "fewer than two clock reads" : fmt::format("{}", loads)};
}

}  // namespace

std::vector<SassCheck> check_sass(const SassFunction& function) {
  if (function.name.rfind("chase_", 0) == 0) {
    for (const auto& expected : k_loads)
      if (function.name.find(expected.path) != std::string::npos) return check_chase(function, expected);
  }
  if (function.name == "timer" || function.name == "loop_overhead" || function.name == "spin_clock")
    return {check_no_loads(function)};
  return {};
}

SassCheck check_architecture(const std::string& found, const std::string& device) {
  return {fmt::format("machine code is for {}", device), found == device, found.empty() ? "not told" : found};
}

}  // namespace gpusonde::cuda

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

bool contains(Code outer, Code inner) {
  return outer.data() <= inner.data() && inner.data() + inner.size() <= outer.data() + outer.size();
}

// Loops with a load in them and no such loop inside, each from its first instruction to its branch back,
// in order.
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
    if (std::none_of(loop.begin(), loop.end(), is_load)) continue;
    if (std::none_of(loops.begin(), loops.end(), [&](Code inner) { return contains(loop, inner); }))
      loops.push_back(loop);
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

// Loads in a turn of each loop, in order.
SassCheck check_count(const std::vector<std::ptrdiff_t>& expected, const std::vector<Code>& loops) {
  std::vector<std::ptrdiff_t> counts;
  for (const auto& loop : loops) counts.push_back(count_loads(loop));
  return {fmt::format("loads in a turn of the timed loops: {}", fmt::join(expected, ", ")), counts == expected,
          fmt::format("{}", fmt::join(counts, ", "))};
}

// Per-hop loops, which ptxas may unroll: clock, load, clock, over and over.
SassCheck check_pairs(const std::vector<Code>& loops) {
  SassCheck check{"one load between the two clock reads of a hop", true, ""};
  for (const auto& loop : loops) {
    std::string events;
    for (const auto& i : loop)
      if (is_load(i) || is_clock_read(i)) events += is_load(i) ? 'L' : 'C';
    check.detail += (check.detail.empty() ? "" : ", ") + events;
    for (std::size_t k = 0; k < events.size(); k += 3) check.passed = check.passed && events.substr(k, 3) == "CLC";
  }
  return check;
}

// Loads a clock read must wait for: each in a per-hop loop, the last of any other.
std::vector<const SassInstruction*> awaited_loads(Code loop, bool per_hop) {
  std::vector<const SassInstruction*> loads;
  for (const auto& i : loop)
    if (is_load(i)) loads.push_back(&i);
  if (!per_hop) loads.erase(loads.begin(), loads.end() - 1);
  return loads;
}

// What makes the machine wait for a load: a reader of the loaded register between that load and the next
// clock read. Another load that reads it does not hold up the clock read, and another loop may be
// skipped, so neither counts.
const SassInstruction* waiting_instruction(Code code, Code loop, const SassInstruction* load,
                                           const std::vector<Code>& loops) {
  const auto loaded = destination_register(*load);
  if (!loaded) return nullptr;
  const auto in_another_loop = [&](const SassInstruction* i) {
    return std::any_of(loops.begin(), loops.end(),
                       [&](Code other) { return other.data() != loop.data() && contains(other, Code(i, 1)); });
  };
  for (const auto* i = load + 1; i != code.data() + code.size() && !is_clock_read(*i); ++i)
    if (!is_load(*i) && !in_another_loop(i) && reads_register(*i, *loaded)) return i;
  return nullptr;
}

SassCheck check_wait(Code code, const std::vector<Code>& loops, bool per_hop) {
  SassCheck check{"the second clock read waits for the last load", true, ""};
  for (const auto& loop : loops) {
    for (const auto* load : awaited_loads(loop, per_hop)) {
      const auto* waiting = waiting_instruction(code, loop, load, loops);
      if (waiting == nullptr) return {check.what, false, "nothing reads the loaded register before it"};
      check.detail = fmt::format("{} {}", waiting->opcode, waiting->operands);
    }
  }
  return check;
}

std::vector<SassCheck> check_chase(const SassFunction& function, const ExpectedLoad& expected) {
  const auto code = timed_code(function.instructions);
  const bool pointer = function.name.find("_pointer") != std::string::npos;
  const bool per_hop = function.name.find("_timed") != std::string::npos;
  auto loops = timed_loops(code);
  // A per-hop loop reads the clock itself; others in its midst copy samples.
  if (per_hop) std::erase_if(loops, [](Code loop) { return std::none_of(loop.begin(), loop.end(), is_clock_read); });
  if (loops.empty()) return {{"there is a timed loop with a load", false, "no loop with a load between clock reads"}};
  return {check_loads(expected, pointer, loops), per_hop ? check_pairs(loops) : check_count({64, 8}, loops),
          check_wait(code, loops, per_hop)};
}

/// From each first clock read to the one after it, both included.
std::vector<Code> clock_pairs(Code code) {
  std::vector<Code> pairs;
  for (std::size_t i = 0, begin = code.size(); i < code.size(); ++i) {
    if (!is_clock_read(code[i])) continue;
    if (begin == code.size()) {
      begin = i;
    } else {
      pairs.push_back(code.subspan(begin, i - begin + 1));
      begin = code.size();
    }
  }
  return pairs;
}

// The timed loads of a sequence: one of a place, and one of a gather for each width. What brings the next place comes
// before the first clock read.
std::vector<SassCheck> check_sequence(const SassFunction& function, const ExpectedLoad& expected) {
  const auto code = timed_code(function.instructions);
  if (code.empty()) return {{"there is a timed load", false, "fewer than two clock reads"}};
  const auto pairs = clock_pairs(code);
  std::string events;
  bool one_each = std::count_if(code.begin(), code.end(), is_clock_read) % 2 == 0;
  for (const auto& pair : pairs) {
    const auto loads = std::count_if(pair.begin(), pair.end(), is_load);
    one_each = one_each && loads == 1;
    events += (events.empty() ? "C" : ", C") + std::string(static_cast<std::size_t>(loads), 'L') + "C";
  }
  const SassCheck one{"one load between two clock reads", one_each, events};
  if (!one.passed) return {one};
  std::optional<SassCheck> form;
  SassCheck wait{"the second clock read waits for the load", true, ""};
  for (const auto& pair : pairs) {
    const auto load = std::find_if(pair.begin(), pair.end(), is_load);
    const auto* waiting = waiting_instruction(pair, pair, &*load, {});
    if (wait.passed)
      wait.detail = waiting == nullptr ? "nothing reads the loaded register before it"
                                       : fmt::format("{} {}", waiting->opcode, waiting->operands);
    wait.passed = wait.passed && waiting != nullptr;
    // Nothing reads the upper half of what a sequence loads, so ptxas may drop it.
    const auto parts = words(load->opcode, '.');
    auto checked = check_loads(expected, has(parts, "64"), {pair});
    if (!form || form->passed) form = std::move(checked);
  }
  return {*form, one, wait};
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
  if (function.name.rfind("sequence_", 0) == 0) {
    // The path may be the name's last part.
    for (const auto& expected : k_loads)
      if ((function.name + "_").find(expected.path) != std::string::npos) return check_sequence(function, expected);
  }
  if (function.name == "timer" || function.name == "loop_overhead" || function.name == "spin_clock")
    return {check_no_loads(function)};
  return {};
}

SassCheck check_architecture(const std::string& found, const std::string& device) {
  return {fmt::format("machine code is for {}", device), found == device, found.empty() ? "not told" : found};
}

}  // namespace gpusonde::cuda

#include "target/cuda/sass_parser.hpp"

#include <cctype>
#include <charconv>
#include <map>
#include <regex>

namespace gpusonde::cuda {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  return value;
}

// `/*01a0*/  @P0 LDG.E.64 R2, [R2.64] ;  /* encoding */`
std::optional<SassInstruction> instruction_of(std::string_view line) {
  line = trimmed(line);
  if (line.substr(0, 2) != "/*") return std::nullopt;
  const auto close = line.find("*/");
  if (close == std::string_view::npos) return std::nullopt;
  const auto digits = line.substr(2, close - 2);
  const auto address = hexadecimal(digits);
  if (!address || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) return std::nullopt;
  auto rest = trimmed(line.substr(close + 2));
  const auto semicolon = rest.find(';');
  if (semicolon == std::string_view::npos) return std::nullopt;  // the second half of an encoding
  rest = trimmed(rest.substr(0, semicolon));
  SassInstruction instruction;
  instruction.address = *address;
  if (!rest.empty() && rest.front() == '{') rest = trimmed(rest.substr(1));
  if (!rest.empty() && rest.front() == '@') {
    const auto space = rest.find(' ');
    instruction.guard = rest.substr(0, space);
    rest = space == std::string_view::npos ? std::string_view{} : trimmed(rest.substr(space));
  }
  const auto space = rest.find(' ');
  instruction.opcode = rest.substr(0, space);
  if (space != std::string_view::npos) instruction.operands = trimmed(rest.substr(space));
  return instruction;
}

// nvdisasm: `.L_x_3:` before an instruction.
std::optional<std::string> label_of(std::string_view line) {
  line = trimmed(line);
  if (line.size() < 3 || line.substr(0, 2) != ".L" || line.back() != ':') return std::nullopt;
  return std::string(line.substr(0, line.size() - 1));
}

// nvdisasm: `.text.NAME:`; cuobjdump: `Function : NAME`.
std::optional<std::string> function_name_of(std::string_view line) {
  line = trimmed(line);
  constexpr std::string_view k_nvdisasm = ".text.";
  constexpr std::string_view k_cuobjdump = "Function : ";
  if (line.substr(0, k_nvdisasm.size()) == k_nvdisasm && line.back() == ':')
    return std::string(line.substr(k_nvdisasm.size(), line.size() - k_nvdisasm.size() - 1));
  if (line.substr(0, k_cuobjdump.size()) == k_cuobjdump) return std::string(line.substr(k_cuobjdump.size()));
  return std::nullopt;
}

std::optional<std::uint64_t> branch_target(const SassInstruction& instruction,
                                           const std::map<std::string, std::uint64_t>& labels) {
  if (instruction.opcode.rfind("BRA", 0) != 0) return std::nullopt;
  const auto& operands = instruction.operands;
  if (const auto open = operands.find("`("); open != std::string::npos) {
    const auto label = labels.find(operands.substr(open + 2, operands.find(')', open) - open - 2));
    return label == labels.end() ? std::nullopt : std::optional(label->second);
  }
  if (const auto digits = operands.rfind("0x"); digits != std::string::npos)
    return hexadecimal(operands.substr(digits + 2));
  return std::nullopt;
}

void resolve_branches(SassFunction& function, const std::map<std::string, std::uint64_t>& labels) {
  for (auto& instruction : function.instructions) instruction.target = branch_target(instruction, labels);
}

}  // namespace

std::vector<SassFunction> parse_sass(std::string_view text) {
  std::vector<SassFunction> functions;
  std::map<std::string, std::uint64_t> labels;  // of the function being read
  std::vector<std::string> waiting;             // labels whose instruction is still to come
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (const auto name = function_name_of(line)) {
      if (!functions.empty()) resolve_branches(functions.back(), labels);
      labels.clear();
      waiting.clear();
      functions.push_back({.name = *name, .text = {}, .instructions = {}});
    }
    if (functions.empty()) continue;
    functions.back().text += std::string(line) + '\n';
    if (auto label = label_of(line)) waiting.push_back(std::move(*label));
    if (auto instruction = instruction_of(line)) {
      for (auto& label : waiting) labels[std::move(label)] = instruction->address;
      waiting.clear();
      functions.back().instructions.push_back(std::move(*instruction));
    }
  }
  if (!functions.empty()) resolve_branches(functions.back(), labels);
  return functions;
}

std::string sass_architecture(std::string_view text) {
  // `.target sm_90`, `arch = sm_90`, or a header flag EF_CUDA_SM90.
  static const std::regex s_plain(R"((?:\.target\s+|arch = )(sm_\d+a?))");
  static const std::regex s_flag(R"(EF_CUDA_SM\(?(\d+)\)?)");
  std::match_results<std::string_view::const_iterator> match;
  const auto head = text.substr(0, 4096);
  if (std::regex_search(head.begin(), head.end(), match, s_plain)) return match[1];
  if (std::regex_search(head.begin(), head.end(), match, s_flag)) return "sm_" + match[1].str();
  return {};
}

bool reads_register(const SassInstruction& instruction, unsigned number) {
  const auto comma = instruction.operands.find(',');
  if (comma == std::string::npos) return false;
  const std::string name = "R" + std::to_string(number);
  const auto& text = instruction.operands;
  for (auto at = text.find(name, comma); at != std::string::npos; at = text.find(name, at + 1)) {
    const bool starts = std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0;  // not UR2, not R12
    const auto after = at + name.size();
    if (starts && (after == text.size() || std::isdigit(static_cast<unsigned char>(text[after])) == 0)) return true;
  }
  return false;
}

std::optional<unsigned> destination_register(const SassInstruction& instruction) {
  const std::string_view operands = instruction.operands;
  if (operands.size() < 2 || operands.front() != 'R') return std::nullopt;
  unsigned number = 0;
  const auto [end, error] = std::from_chars(operands.data() + 1, operands.data() + operands.size(), number);
  if (error != std::errc{}) return std::nullopt;
  return number;
}

}  // namespace gpusonde::cuda

#include "model/address_function.hpp"

#include <fmt/format.h>

#include <bit>
#include <optional>
#include <utility>

#include "model/compiled_function.hpp"
#include "model/expression.hpp"
#include "model/hash_compiler.hpp"
#include "model/hash_parser.hpp"
#include "model/linear_form.hpp"

namespace gpusonde {

struct AddressFunction::Program {
  std::string text;
  Expression expression;
  std::optional<CompiledFunction> compiled;
};

namespace {

/// For texts made here, which are right.
AddressFunction parse_own(const std::string& text) { return *AddressFunction::parse(text, {"built-in function"}); }

}  // namespace

AddressFunction::AddressFunction() {
  static const AddressFunction zero = parse_own("return 0");
  m_program = zero.m_program;
}

Result<AddressFunction> AddressFunction::parse(std::string_view text, const SourcePosition& position) {
  auto expression = parse_hash_program(text, position);
  if (!expression) return tl::unexpected(expression.error());
  auto program = std::make_shared<Program>();
  program->text = std::string(text);
  program->compiled = compile(*expression);
  program->expression = std::move(*expression);
  return AddressFunction(std::shared_ptr<const Program>(std::move(program)));
}

AddressFunction AddressFunction::modulo(std::uint64_t unit, std::uint64_t count) {
  return parse_own(fmt::format("return a / {} % {}", unit, count));
}

AddressFunction AddressFunction::parities(const std::vector<std::uint64_t>& masks) {
  std::string text = "return 0";
  for (std::size_t i = 0; i < masks.size(); ++i) text += fmt::format(" | parity(a & {:#x}) << {}", masks[i], i);
  return parse_own(text);
}

std::uint32_t AddressFunction::operator()(std::uint64_t address) const noexcept {
  if (m_program->compiled) return (*m_program->compiled)(address);
  return static_cast<std::uint32_t>(evaluate(m_program->expression, address));
}

std::optional<std::vector<std::uint64_t>> AddressFunction::address_masks() const {
  const auto& expression = m_program->expression;
  const auto form = linear_forms(expression)[expression.root];
  if (!form) return std::nullopt;
  const auto value_bits = form->varying_bits() & 0xFFFFFFFF;
  std::vector<std::uint64_t> masks(static_cast<std::size_t>(std::bit_width(value_bits)), 0);
  for (std::size_t bit = 0; bit < masks.size(); ++bit) {
    for (const auto& [word, mask] : form->bits[bit]) {
      if (expression.nodes[word].op != Op::address) return std::nullopt;
      masks[bit] = mask;
    }
  }
  return masks;
}

const std::string& AddressFunction::text() const noexcept { return m_program->text; }

}  // namespace gpusonde

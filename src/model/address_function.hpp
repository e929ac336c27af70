// Hash functions of a model: which slice, set, channel or bank an address belongs to. Written in the
// model file as a small program, compiled once into lookup tables.
//
//   The language: one `name = expression` a line, the last line `return expression`; `#` comments.
//   Values are unsigned 64-bit integers; `a` is the address. Operators, loosest first: `c ? x : y`,
//   `||`, `&&`, `|`, `^`, `&`, `== !=`, `< <= > >=`, `<< >>`, `+ -`, `* / %`, unary `! ~ -`;
//   `parity(x)`, `[v0, v1, ...][i]` table lookup, decimal and 0x numbers, parentheses. Every program has a
//   value for every address: x / 0 and x % 0 are 0, shifts by 64 or more give 0, a table's index is taken
//   modulo its length. Differences below 0 wrap at 2^64, so write `(x + 9 - y) % 9`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpusonde/error.hpp"

namespace gpusonde {

/// Where a program begins in its file, for error messages `file:line:col: what; what would be right`.
struct SourcePosition {
  std::string file;
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

/// A compiled function of an address. Cheap to copy, safe to call from several threads.
/// Calling costs some ten to thirty nanoseconds: parities are table lookups, and what remains is a
/// finite function of parities and small moduli, tabulated when it has at most 2^20 entries.
class AddressFunction {
 public:
  /// The constant 0 (one slice, one set).
  AddressFunction();
  /// Errors: bad_input with position.
  [[nodiscard]] static Result<AddressFunction> parse(std::string_view text, const SourcePosition& position);
  /// (address / unit) % count: the plain, unhashed function. Precondition: unit, count > 0.
  [[nodiscard]] static AddressFunction modulo(std::uint64_t unit, std::uint64_t count);
  /// Bit i of the value is the parity of address & masks[i]. At most 32 masks.
  [[nodiscard]] static AddressFunction parities(const std::vector<std::uint64_t>& masks);

  [[nodiscard]] std::uint32_t operator()(std::uint64_t address) const noexcept;
  /// For each bit of the value, lowest first, the address bits whose parity it is but for a constant; without the
  /// bits above the last that depends on the address. Nothing when some bit is not such a parity, or not seen to be.
  [[nodiscard]] std::optional<std::vector<std::uint64_t>> address_masks() const;
  /// The program text it was parsed from or an equivalent one; parses back to the same function.
  [[nodiscard]] const std::string& text() const noexcept;
  /// Same text.
  bool operator==(const AddressFunction& other) const noexcept { return text() == other.text(); }

 private:
  struct Program;
  explicit AddressFunction(std::shared_ptr<const Program> program) : m_program(std::move(program)) {}

  std::shared_ptr<const Program> m_program;
};

}  // namespace gpusonde

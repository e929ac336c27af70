// Reads the tables of a TOML file into fields: types and names are checked here, with the place in the
// file; whether the figures make sense is validation's.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gpusonde/error.hpp"
#include "model/device_model.hpp"
#include "model/enum_names.hpp"
#include "model/nearest_name.hpp"
#include "model/toml.hpp"

namespace gpusonde {

/// What is wrong with a file. Only the most telling one is reported: a mistyped key before the key
/// that is missing because of it, else the first in the file.
class TomlProblems {
 public:
  void add(toml::source_position at, std::string message, bool is_missing_key = false);
  /// For errors that carry their position already.
  void add(toml::source_position at, Error error);
  [[nodiscard]] bool empty() const noexcept { return m_problems.empty(); }
  /// Precondition: not empty.
  [[nodiscard]] Error worst(const std::string& file) const;

 private:
  struct Problem {
    bool is_missing_key = false;
    toml::source_position at;
    std::string message;
    bool has_position = false;  ///< in the message
  };
  std::vector<Problem> m_problems;
};

/// One table. Each reading function leaves the field alone when the key is absent, and notes a problem
/// when the value is of the wrong type. The name, e.g. `cache` or `cache.hit`, is used in messages.
class TomlTable {
 public:
  TomlTable(const toml::table& table, std::string name, TomlProblems& problems)
      : m_table(table), m_name(std::move(name)), m_problems(problems) {}

  void number(std::string_view key, double& value);
  void count(std::string_view key, std::uint32_t& value);
  void count(std::string_view key, std::uint64_t& value);
  /// An integer or a text such as "128 KiB".
  void bytes(std::string_view key, std::uint32_t& value);
  void bytes(std::string_view key, std::uint64_t& value);
  void bytes(std::string_view key, std::vector<std::uint64_t>& values);
  void masks(std::string_view key, std::vector<std::uint64_t>& values);
  void text(std::string_view key, std::string& value);
  void flag(std::string_view key, bool& value);
  template <class T, std::size_t N>
  void choice(std::string_view key, T& value, const std::array<EnumName<T>, N>& names);
  /// A text or nothing, with the node for its position.
  [[nodiscard]] const toml::value<std::string>* program(std::string_view key);
  /// nullptr when absent.
  [[nodiscard]] const toml::table* table(std::string_view key);
  [[nodiscard]] std::vector<const toml::table*> tables(std::string_view key);

  [[nodiscard]] bool has(std::string_view key) const { return m_table.contains(key); }
  void require(std::string_view key, std::string_view what_to_give);
  /// Notes a problem with the value of a key.
  void wrong(std::string_view key, std::string_view what);
  /// Notes the keys that nothing asked for.
  void finish();

 private:
  const toml::node* find(std::string_view key);
  void wrong_type(std::string_view key, const toml::node& node, std::string_view wanted);
  bool read_bytes(std::string_view key, const toml::node& node, std::uint64_t& value);
  [[nodiscard]] std::string full_name(std::string_view key) const;

  const toml::table& m_table;
  std::string m_name;
  TomlProblems& m_problems;
  std::vector<std::string> m_known;
};

template <class T, std::size_t N>
void TomlTable::choice(std::string_view key, T& value, const std::array<EnumName<T>, N>& names) {
  std::string word;
  text(key, word);
  if (word.empty() && !has(key)) return;
  std::vector<std::string> known;
  for (const auto& each : names) {
    if (each.name == word) {
      value = each.value;
      return;
    }
    known.emplace_back(each.name);
  }
  if (m_table.get(key)->is_string()) wrong(key, fmt::format("is '{}'; give {}", word, one_of(known)));
}

}  // namespace gpusonde

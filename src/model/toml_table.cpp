#include "model/toml_table.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/units.hpp"

namespace gpusonde {
namespace {

std::string_view type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table: return "a table";
    case toml::node_type::array: return "a list";
    case toml::node_type::string: return "a text";
    case toml::node_type::integer: return "an integer";
    case toml::node_type::floating_point: return "a number with a fraction";
    case toml::node_type::boolean: return "true or false";
    default: break;
  }
  return "a date or time";
}

}  // namespace

void TomlProblems::add(toml::source_position at, std::string message, bool is_missing_key) {
  m_problems.push_back({is_missing_key, at, std::move(message), false});
}

void TomlProblems::add(toml::source_position at, Error error) {
  m_problems.push_back({false, at, std::move(error.message), true});
}

Error TomlProblems::worst(const std::string& file) const {
  const auto rank = [](const Problem& problem) {
    return std::tuple(problem.is_missing_key, problem.at.line, problem.at.column);
  };
  const auto& worst =
      *std::min_element(m_problems.begin(), m_problems.end(),
                        [&](const Problem& one, const Problem& other) { return rank(one) < rank(other); });
  if (worst.has_position) return {ErrorKind::bad_input, worst.message};
  return {ErrorKind::bad_input, fmt::format("{}:{}:{}: {}", file, worst.at.line, worst.at.column, worst.message)};
}

const toml::node* TomlTable::find(std::string_view key) {
  m_known.emplace_back(key);
  return m_table.get(key);
}

std::string TomlTable::full_name(std::string_view key) const {
  return m_name.empty() ? std::string(key) : fmt::format("{}.{}", m_name, key);
}

void TomlTable::wrong(std::string_view key, std::string_view what) {
  m_problems.add(m_table.get(key)->source().begin, fmt::format("{} {}", full_name(key), what));
}

void TomlTable::wrong_type(std::string_view key, const toml::node& node, std::string_view wanted) {
  m_problems.add(node.source().begin, fmt::format("{} is {}; give {}", full_name(key), type_name(node), wanted));
}

void TomlTable::number(std::string_view key, double& value) {
  const auto* node = find(key);
  if (node == nullptr) return;
  if (const auto read = node->value<double>(); node->is_number() && read)
    value = *read;
  else
    wrong_type(key, *node, "a number");
}

void TomlTable::count(std::string_view key, std::uint64_t& value) {
  const auto* node = find(key);
  if (node == nullptr) return;
  const auto* integer = node->as_integer();
  if (integer == nullptr)
    wrong_type(key, *node, "an integer");
  else if (integer->get() < 0)
    wrong(key, fmt::format("is {}; give 0 or more", integer->get()));
  else
    value = static_cast<std::uint64_t>(integer->get());
}

void TomlTable::count(std::string_view key, std::uint32_t& value) {
  std::uint64_t wide = value;
  count(key, wide);
  if (wide > std::numeric_limits<std::uint32_t>::max())
    wrong(key, fmt::format("is {}; give less than 2^32", wide));
  else
    value = static_cast<std::uint32_t>(wide);
}

bool TomlTable::read_bytes(std::string_view key, const toml::node& node, std::uint64_t& value) {
  if (const auto* integer = node.as_integer()) {
    if (integer->get() >= 0) {
      value = static_cast<std::uint64_t>(integer->get());
      return true;
    }
    m_problems.add(node.source().begin, fmt::format("{} is {}; give 0 or more", full_name(key), integer->get()));
    return false;
  }
  const auto* text = node.as_string();
  if (text == nullptr) {
    wrong_type(key, node, "bytes or a size such as \"128 KiB\"");
    return false;
  }
  const auto read = parse_bytes(text->get());
  if (!read) {
    m_problems.add(node.source().begin, fmt::format("{}: {}", full_name(key), read.error().message));
    return false;
  }
  value = *read;
  return true;
}

void TomlTable::bytes(std::string_view key, std::uint64_t& value) {
  if (const auto* node = find(key)) read_bytes(key, *node, value);
}

void TomlTable::bytes(std::string_view key, std::uint32_t& value) {
  std::uint64_t wide = value;
  bytes(key, wide);
  if (wide > std::numeric_limits<std::uint32_t>::max())
    wrong(key, fmt::format("is {}; give less than 4 GiB", format_bytes(wide)));
  else
    value = static_cast<std::uint32_t>(wide);
}

void TomlTable::bytes(std::string_view key, std::vector<std::uint64_t>& values) {
  const auto* node = find(key);
  if (node == nullptr) return;
  const auto* list = node->as_array();
  if (list == nullptr) return wrong_type(key, *node, "a list of sizes");
  values.clear();
  for (const auto& each : *list)
    if (!read_bytes(key, each, values.emplace_back())) return;
}

void TomlTable::masks(std::string_view key, std::vector<std::uint64_t>& values) {
  const auto* node = find(key);
  if (node == nullptr) return;
  const auto* list = node->as_array();
  if (list == nullptr) return wrong_type(key, *node, "a list of masks such as [0x80, 0x100]");
  std::vector<std::uint64_t> read;
  for (const auto& each : *list) {
    const auto* integer = each.as_integer();
    if (integer == nullptr) return wrong_type(key, each, "integers such as 0x80");
    if (integer->get() <= 0) {
      m_problems.add(each.source().begin, fmt::format("{}: the mask {} selects no bit; give a mask above 0",
                                                      full_name(key), integer->get()));
      return;
    }
    read.push_back(static_cast<std::uint64_t>(integer->get()));
  }
  values = std::move(read);
}

void TomlTable::text(std::string_view key, std::string& value) {
  const auto* node = find(key);
  if (node == nullptr) return;
  if (const auto* text = node->as_string())
    value = text->get();
  else
    wrong_type(key, *node, "a text in quotes");
}

void TomlTable::flag(std::string_view key, bool& value) {
  const auto* node = find(key);
  if (node == nullptr) return;
  if (const auto* flag = node->as_boolean())
    value = flag->get();
  else
    wrong_type(key, *node, "true or false");
}

const toml::value<std::string>* TomlTable::program(std::string_view key) {
  const auto* node = find(key);
  if (node == nullptr) return nullptr;
  if (!node->is_string()) wrong_type(key, *node, "a program in quotes, such as \"return a / 128 % 64\"");
  return node->as_string();
}

const toml::table* TomlTable::table(std::string_view key) {
  const auto* node = find(key);
  if (node == nullptr) return nullptr;
  if (!node->is_table()) wrong_type(key, *node, "a table");
  return node->as_table();
}

std::vector<const toml::table*> TomlTable::tables(std::string_view key) {
  std::vector<const toml::table*> found;
  const auto* node = find(key);
  if (node == nullptr) return found;
  const auto* list = node->as_array();
  if (list == nullptr) {
    wrong_type(key, *node, fmt::format("tables headed [[{}]]", full_name(key)));
    return found;
  }
  for (const auto& each : *list) {
    if (each.is_table())
      found.push_back(each.as_table());
    else
      wrong_type(key, each, fmt::format("tables headed [[{}]]", full_name(key)));
  }
  return found;
}

void TomlTable::require(std::string_view key, std::string_view what_to_give) {
  if (has(key)) return;
  m_problems.add(m_table.source().begin, fmt::format("{} is missing; give {}", full_name(key), what_to_give), true);
}

void TomlTable::finish() {
  for (const auto& [key, node] : m_table) {
    if (std::find(m_known.begin(), m_known.end(), key.str()) != m_known.end()) continue;
    const auto nearest = nearest_name(key.str(), m_known);
    const auto where = m_name.empty() ? std::string("a model") : m_name;
    const auto remedy = nearest.empty() ? fmt::format("its keys are {}", fmt::join(m_known, ", "))
                                        : fmt::format("did you mean '{}'?", nearest);
    m_problems.add(key.source().begin, fmt::format("'{}' is not a key of {}; {}", key.str(), where, remedy));
  }
}

}  // namespace gpusonde

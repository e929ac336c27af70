// One place in a JSON document that is being read: the value and its path, so that a complaint can
// name both. Reading throws Misfit, which never leaves parse_run.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace gpusonde {

/// `/findings/3/unit: is a number; must be a string`
struct Misfit {
  std::string message;
};

class JsonNode {
 public:
  using Json = nlohmann::ordered_json;

  JsonNode(const Json& json, std::string path) : m_json(&json), m_path(std::move(path)) {}

  [[nodiscard]] const Json& json() const noexcept { return *m_json; }

  [[noreturn]] void complain(std::string_view must) const {
    throw Misfit{fmt::format("{}: is {}; must be {}", m_path.empty() ? "/" : m_path, shown(), must)};
  }

  [[nodiscard]] bool has(const std::string& key) const { return m_json->is_object() && m_json->contains(key); }
  [[nodiscard]] JsonNode at(const std::string& key) const {
    if (!m_json->is_object()) complain("an object");
    const auto found = m_json->find(key);
    if (found == m_json->end())
      throw Misfit{fmt::format("{}: has no \"{}\"; it is required", m_path.empty() ? "/" : m_path, key)};
    return {*found, m_path + "/" + key};
  }
  [[nodiscard]] JsonNode at(std::size_t index) const { return {(*m_json)[index], fmt::format("{}/{}", m_path, index)}; }

  /// Members in the order of the document; complains about anything but an object.
  [[nodiscard]] std::vector<std::pair<std::string, JsonNode>> members() const {
    if (!m_json->is_object()) complain("an object");
    std::vector<std::pair<std::string, JsonNode>> out;
    for (const auto& [key, value] : m_json->items()) out.emplace_back(key, JsonNode{value, m_path + "/" + key});
    return out;
  }
  /// Number of elements; complains about anything but an array.
  [[nodiscard]] std::size_t elements() const {
    if (!m_json->is_array()) complain("an array");
    return m_json->size();
  }

  [[nodiscard]] std::string text() const {
    if (!m_json->is_string()) complain("a string");
    return m_json->get<std::string>();
  }
  [[nodiscard]] double real() const {
    if (!m_json->is_number()) complain("a number");
    return m_json->get<double>();
  }
  [[nodiscard]] bool truth() const {
    if (!m_json->is_boolean()) complain("true or false");
    return m_json->get<bool>();
  }
  template <class T>
  [[nodiscard]] T whole() const {
    if (!m_json->is_number_unsigned() || m_json->get<std::uint64_t>() > std::numeric_limits<T>::max())
      complain(fmt::format("a whole number from 0 to {}", std::numeric_limits<T>::max()));
    return static_cast<T>(m_json->get<std::uint64_t>());
  }
  [[nodiscard]] std::vector<std::string> texts() const {
    std::vector<std::string> out(elements());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = at(i).text();
    return out;
  }

  /// A member that may be absent: newer and older minor versions differ in those.
  void read(const std::string& key, std::string& out) const {
    if (has(key)) out = at(key).text();
  }
  void read(const std::string& key, double& out) const {
    if (has(key)) out = at(key).real();
  }
  void read(const std::string& key, std::uint64_t& out) const {
    if (has(key)) out = at(key).whole<std::uint64_t>();
  }
  void read(const std::string& key, std::uint32_t& out) const {
    if (has(key)) out = at(key).whole<std::uint32_t>();
  }
  void read(const std::string& key, std::vector<std::string>& out) const {
    if (has(key)) out = at(key).texts();
  }

 private:
  /// The value itself where it is short, else its type.
  [[nodiscard]] std::string shown() const {
    if (m_json->is_object()) return "an object";
    if (m_json->is_array()) return "an array";
    auto text = m_json->dump(-1, ' ', false, Json::error_handler_t::replace);
    return text.size() <= 40 ? text : std::string("a ") + m_json->type_name();
  }

  const Json* m_json;
  std::string m_path;
};

}  // namespace gpusonde

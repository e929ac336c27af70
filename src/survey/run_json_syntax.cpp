// The parser's own message says where only for some errors, so the text is walked once more with a
// handler that is told the position of any.
#include "survey/run_json_syntax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace gpusonde {
namespace {

using Json = nlohmann::ordered_json;

struct Locator : nlohmann::json_sax<Json> {
  std::size_t position = 0;
  std::string what;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(Json::binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(std::string&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception& error) override {
    position = at;
    what = error.what();
    return false;
  }
};

/// `[json.exception.parse_error.101] parse error at line 1, column 9: syntax error while parsing object
/// key - invalid literal; last read: '...'; expected string literal` without all that comes before
/// `invalid literal`.
std::string plain(std::string what) {
  for (const std::string_view lead : {"] ", ": ", " - "})
    if (const auto at = what.find(lead); at != std::string::npos) what.erase(0, at + lead.size());
  return what;
}

}  // namespace

std::string json_syntax_error(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return "1:1: the file is empty; give a run.json that gpusonde wrote";
  Locator locator;
  Json::sax_parse(text, &locator);
  // The position counts bytes read, the offending one included.
  const auto before = text.substr(0, std::min(text.size(), std::max<std::size_t>(locator.position, 1) - 1));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto line_start = before.rfind('\n');
  const auto column = before.size() - (line_start == std::string_view::npos ? 0 : line_start + 1) + 1;
  return fmt::format("{}:{}: {}", line, column, plain(locator.what));
}

}  // namespace gpusonde

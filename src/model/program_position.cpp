#include "model/program_position.hpp"

namespace gpusonde {

SourcePosition position_of_content(std::string_view text, const std::string& file, toml::source_position opening) {
  std::size_t at = 0;
  for (std::uint32_t line = 1; line < opening.line && at < text.size(); ++at)
    if (text[at] == '\n') ++line;
  for (std::uint32_t column = 1; column < opening.column && at < text.size(); ++at)
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) ++column;  // one column a UTF-8 character
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  const auto rest = text.substr(at);
  const bool is_multi_line = rest.substr(0, 3) == "\"\"\"" || rest.substr(0, 3) == "'''";
  if (!is_multi_line) return {file, opening.line, opening.column + 1};
  const auto content = rest.substr(3);
  const bool begins_on_next_line = content.substr(0, 1) == "\n" || content.substr(0, 2) == "\r\n";
  if (begins_on_next_line) return {file, opening.line + 1, 1};  // TOML leaves that first line end out
  return {file, opening.line, opening.column + 3};
}

}  // namespace gpusonde

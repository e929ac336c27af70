#include "report/text_table.hpp"

#include <algorithm>

namespace gpusonde::report {
namespace {

constexpr std::size_t k_gap = 2;

std::vector<std::size_t> widths_of(const std::vector<TextColumn>& columns,
                                   const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::size_t widest = 0;
    for (const auto& row : rows) widest = std::max(widest, display_width(row[c]));
    widths.push_back(widest == 0 ? 0 : std::max(widest, display_width(columns[c].head)));
  }
  return widths;
}

std::string line_of(const std::vector<TextColumn>& columns, const std::vector<std::string>& cells,
                    const std::vector<std::size_t>& widths, std::size_t indent) {
  std::string line(indent, ' ');
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const std::string pad(widths[c] - display_width(cells[c]), ' ');
    line += columns[c].right ? pad + cells[c] : cells[c] + pad;
    line += std::string(k_gap, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty() && !word.empty()) line += ' ';
    line += word;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> text_table(std::vector<TextColumn> columns, std::vector<std::vector<std::string>> rows,
                                    std::size_t width, std::size_t indent) {
  auto widths = widths_of(columns, rows);
  const auto drop = [&](std::size_t c) {
    const auto at = static_cast<std::ptrdiff_t>(c);
    columns.erase(columns.begin() + at);
    widths.erase(widths.begin() + at);
    for (auto& row : rows) row.erase(row.begin() + at);
  };
  for (std::size_t c = columns.size(); c-- > 0;)
    if (widths[c] == 0) drop(c);
  while (true) {
    std::size_t total = indent;
    for (const auto w : widths) total += w + k_gap;
    const auto least = std::max_element(columns.begin(), columns.end(),
                                        [](const auto& a, const auto& b) { return a.priority < b.priority; });
    if (total <= width + k_gap || least == columns.end() || least->priority == 0) break;
    drop(static_cast<std::size_t>(least - columns.begin()));
  }
  std::vector<std::string> lines;
  std::vector<std::string> heads;
  for (const auto& column : columns) heads.push_back(column.head);
  if (std::any_of(heads.begin(), heads.end(), [](const auto& head) { return !head.empty(); }))
    lines.push_back(line_of(columns, heads, widths, indent));
  for (const auto& row : rows) lines.push_back(line_of(columns, row, widths, indent));
  return lines;
}

}  // namespace gpusonde::report

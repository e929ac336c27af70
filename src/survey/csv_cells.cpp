#include "survey/csv_cells.hpp"

#include <fmt/format.h>

#include <utility>

namespace gpusonde {
namespace {

constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";

unsigned char byte_of(char c) { return static_cast<unsigned char>(c); }

bool belongs_to_text(char c) { return byte_of(c) >= 0x20 || c == '\t' || c == '\n' || c == '\r'; }

bool continues_character(char c) { return (byte_of(c) & 0xC0U) == 0x80U; }

}  // namespace

tl::unexpected<Error> csv_error(const std::string& file, CsvPlace place, std::string_view what) {
  return fail(ErrorKind::bad_input, fmt::format("{}:{}:{}: {}", file, place.line, place.column, what));
}

std::string shown_cell(std::string_view text) {
  constexpr std::size_t k_most = 40;
  std::string out;
  for (const char c : text.substr(0, k_most)) out += byte_of(c) >= 0x20 && byte_of(c) < 0x7F ? c : '?';
  return text.size() > k_most ? out + "..." : out;
}

CsvReader::CsvReader(std::string_view text, std::string file) : m_text(text), m_file(std::move(file)) {
  if (m_text.starts_with(k_byte_order_mark)) m_text.remove_prefix(k_byte_order_mark.size());
}

bool CsvReader::at_row_end() const noexcept { return at_end() || m_text[m_at] == '\n' || m_text[m_at] == '\r'; }

void CsvReader::advance() noexcept {
  const char c = m_text[m_at++];
  const bool ends_line = c == '\n' || (c == '\r' && (at_end() || m_text[m_at] != '\n'));
  if (ends_line) {
    ++m_place.line;
    m_place.column = 1;
  } else if (c != '\r' && !continues_character(c)) {
    ++m_place.column;
  }
}

void CsvReader::skip_blanks() noexcept {
  while (!at_end() && (m_text[m_at] == ' ' || m_text[m_at] == '\t')) advance();
}

Result<void> CsvReader::take(std::string& into) {
  const char c = m_text[m_at];
  if (!belongs_to_text(c))
    return csv_error(
        m_file, m_place,
        fmt::format("byte 0x{:02x} does not belong in a text; give a CSV file in UTF-8, not a binary one", byte_of(c)));
  into += c;
  advance();
  return {};
}

Result<void> CsvReader::quoted(CsvCell& into) {
  const auto opened = m_place;
  advance();
  while (true) {
    if (at_end())
      return csv_error(m_file, opened, "a quote opens here and never closes; close it, or write \"\" for a quote");
    if (m_text[m_at] == '"') {
      advance();
      if (at_end() || m_text[m_at] != '"') break;
    }
    if (auto taken = take(into.text); !taken) return taken;
  }
  skip_blanks();
  if (at_row_end() || m_text[m_at] == ',') return {};
  return csv_error(m_file, m_place, "text follows a closing quote; give a comma, or the next line");
}

Result<void> CsvReader::plain(CsvCell& into) {
  while (!at_row_end() && m_text[m_at] != ',')
    if (auto taken = take(into.text); !taken) return taken;
  const auto last = into.text.find_last_not_of(" \t");
  into.text.resize(last == std::string::npos ? 0 : last + 1);
  return {};
}

Result<CsvCell> CsvReader::cell() {
  skip_blanks();
  CsvCell out{{}, m_place};
  const bool is_quoted = !at_end() && m_text[m_at] == '"';
  if (auto read = is_quoted ? quoted(out) : plain(out); !read) return tl::unexpected(read.error());
  return out;
}

Result<bool> CsvReader::next(std::vector<CsvCell>& row) {
  row.clear();
  while (!at_end()) {
    auto read = cell();
    if (!read) return tl::unexpected(read.error());
    row.push_back(std::move(*read));
    if (!at_row_end()) {
      advance();  // the comma; a row that ends with one has an empty last cell
      if (!at_end()) continue;
      row.push_back({{}, m_place});
    }
    m_row_end = m_place;
    if (!at_end()) advance();
    if (!at_end() && m_text[m_at - 1] == '\r' && m_text[m_at] == '\n') advance();
    if (row.size() > 1 || !row.front().text.empty()) return true;
    row.clear();  // a blank line
  }
  return false;
}

}  // namespace gpusonde

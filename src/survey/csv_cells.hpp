// CSV after RFC 4180, cell by cell, each with the place where it stands.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "gpusonde/error.hpp"

namespace gpusonde {

/// Line and column from 1; the column counts characters, not bytes.
struct CsvPlace {
  std::size_t line = 1;
  std::size_t column = 1;
};

struct CsvCell {
  std::string text;  ///< without quotes and the blanks around
  CsvPlace place;
};

/// Error at a place of a file: `file:line:column: what`.
[[nodiscard]] tl::unexpected<Error> csv_error(const std::string& file, CsvPlace place, std::string_view what);
/// A cell as it can be shown in a message: plain characters, cut when long.
[[nodiscard]] std::string shown_cell(std::string_view text);

/// Reads row after row. The text must outlive the reader.
class CsvReader {
 public:
  /// A byte order mark at the beginning is skipped.
  CsvReader(std::string_view text, std::string file);

  /// The next row that is not blank, into `row`; false at the end of the text. Errors: bad_input for a
  /// quote that never closes, for text after a closing quote, and for bytes that no text has.
  [[nodiscard]] Result<bool> next(std::vector<CsvCell>& row);
  /// Where the last row that was read ends.
  [[nodiscard]] CsvPlace row_end() const noexcept { return m_row_end; }

 private:
  [[nodiscard]] bool at_end() const noexcept { return m_at >= m_text.size(); }
  [[nodiscard]] bool at_row_end() const noexcept;
  void advance() noexcept;
  void skip_blanks() noexcept;
  [[nodiscard]] Result<CsvCell> cell();
  [[nodiscard]] Result<void> plain(CsvCell& into);
  [[nodiscard]] Result<void> quoted(CsvCell& into);
  [[nodiscard]] Result<void> take(std::string& into);

  std::string_view m_text;
  std::string m_file;
  std::size_t m_at = 0;
  CsvPlace m_place;
  CsvPlace m_row_end;
};

}  // namespace gpusonde

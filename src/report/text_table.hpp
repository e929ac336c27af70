// Aligned columns for a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpusonde::report {

/// Columns that a terminal gives to a text: code points, wide scripts aside.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// Breaks at blanks into lines of at most `width`; a longer word stands alone.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);

struct TextColumn {
  std::string head;
  bool right = false;  ///< numbers end at one edge
  int priority = 0;    ///< columns of the highest number go first when the line is too long
};

/// Rows under the heads (left out when all are empty), two blanks between columns, `indent` before.
/// Empty columns are left out.
[[nodiscard]] std::vector<std::string> text_table(std::vector<TextColumn> columns,
                                                  std::vector<std::vector<std::string>> rows, std::size_t width,
                                                  std::size_t indent = 0);

}  // namespace gpusonde::report

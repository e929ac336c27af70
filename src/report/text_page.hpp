// What every text for a terminal is written with: lines made harmless, in colour or not, in Unicode or not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/report.hpp"

namespace gpusonde::report {

/// Paints, as the terminal's escape sequences number them.
inline constexpr std::string_view k_bold = "1";
inline constexpr std::string_view k_dim = "2";
inline constexpr std::string_view k_red = "31";
inline constexpr std::string_view k_green = "32";
inline constexpr std::string_view k_yellow = "33";

/// Every character that the reports themselves draw with has a plain twin; any other becomes `?`.
[[nodiscard]] std::string ascii(std::string_view text);

class TextPage {
 public:
  explicit TextPage(const TextStyle& style);

  /// One line, made harmless. What lies beyond the width stays: wrap before, or use `indented`.
  void line(std::string_view text, std::string_view paint = {});
  /// One line as it is, with the escape sequences it may have.
  void raw_line(std::string_view text);
  /// An empty line, unless there is one.
  void blank();
  /// Parts joined by ` · `, broken between parts; empty ones are left out.
  void paragraph(const std::vector<std::string>& parts, std::string_view paint = {});
  /// Wrapped; the first line stands `indent` in, further ones `hang` more. Blanks in a row stay where nothing is
  /// to be wrapped.
  void indented(std::string_view text, std::string_view paint = {}, std::size_t indent = 2, std::size_t hang = 2);

  /// A cell as it will be shown, so that its width is known before the columns are aligned.
  [[nodiscard]] std::string shown(std::string_view text) const;
  [[nodiscard]] std::size_t width() const noexcept { return m_width; }
  [[nodiscard]] const TextStyle& style() const noexcept { return m_style; }
  [[nodiscard]] std::string finish() &&;

 private:
  TextStyle m_style;
  std::size_t m_width;
  std::string m_out;
};

/// The device and its measured clock, and an empty line.
void add_device_line(TextPage& page, const Run& run);

}  // namespace gpusonde::report

// A small writer of SVG. Colours are classes with a light and a dark form, so that a figure reads on
// either ground; it also paints a ground of its own.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpusonde::report {

/// The classes' colours and sizes; every figure carries them, and so does a page that draws its own.
[[nodiscard]] std::string_view svg_style();

/// Classes `h0` to `h15`, from few to much, with `heat`.
inline constexpr std::size_t k_heat_shades = 16;

class Svg {
 public:
  Svg(double width, double height, std::string_view title, std::string_view description);

  void rect(double x, double y, double width, double height, std::string_view css, double radius = 0);
  void line(double x1, double y1, double x2, double y2, std::string_view css);
  void circle(double x, double y, double radius, std::string_view css);
  void diamond(double x, double y, double radius, std::string_view css);
  void polyline(const std::vector<std::pair<double, double>>& points, std::string_view css);
  void polygon(const std::vector<std::pair<double, double>>& points, std::string_view css);
  /// `anchor`: start, middle or end. The text is escaped here.
  void text(double x, double y, std::string_view text, std::string_view css, std::string_view anchor = "start");
  void text_upwards(double x, double y, std::string_view text, std::string_view css);
  /// `data` in the path language of SVG.
  void path(std::string_view data, std::string_view css);
  void open_group(std::string_view css);
  /// A group in units of its own: its origin at (x, y), its units as wide and high as given.
  void open_scaled(double x, double y, double unit_width, double unit_height);
  void close_group();

  [[nodiscard]] std::string finish() &&;

 private:
  std::string m_out;
};

/// Pixels that a text takes, by a mean advance of a sans-serif face; errs on the wide side.
[[nodiscard]] double text_width(std::string_view text, double font_size);

/// Moves label positions apart until they are `gap` pixels from each other, within [low, high], in
/// their order, no further than needed. Sorted input.
[[nodiscard]] std::vector<double> spread_labels(std::vector<double> wanted, double gap, double low, double high);

}  // namespace gpusonde::report

#include "report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/escape.hpp"
#include "report/text_table.hpp"

namespace gpusonde::report {
namespace {

constexpr std::string_view k_style = R"(
.gs text{font-family:system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;font-size:12px}
.gs .ground{fill:#ffffff}.gs .ink{fill:#1f2328}.gs .soft{fill:#59636e}
.gs .title{font-size:17px;font-weight:600}.gs .strong{font-weight:600}
.gs .halo{paint-order:stroke;stroke:#ffffff;stroke-width:4px;stroke-linejoin:round}
.gs .grid{stroke:#e4e8ec;stroke-width:1}.gs .minor{stroke:#f1f3f5}.gs .axis{stroke:#818b96;stroke-width:1}
.gs .edge{stroke:#59636e;stroke-width:1.2}.gs .guide{stroke:#818b96;stroke-width:1;stroke-dasharray:1 4}
.gs .step{stroke:#a15c00;stroke-width:1.4;stroke-dasharray:6 4}.gs .steptext{fill:#8a4b00}
.gs .plateau{stroke:#1f2328;stroke-width:1.2;stroke-opacity:.75}
.gs .s0{stroke:#0969da;fill:#0969da}.gs .s1{stroke:#c2410c;fill:#c2410c}.gs .s2{stroke:#1a7f37;fill:#1a7f37}
.gs .s3{stroke:#8250df;fill:#8250df}.gs .s4{stroke:#bf3989;fill:#bf3989}.gs .s5{stroke:#0e7490;fill:#0e7490}
.gs .s6{stroke:#8a6300;fill:#8a6300}.gs .s7{stroke:#59636e;fill:#59636e}
.gs .curve{fill:none;stroke-width:1.8;stroke-linejoin:round}.gs .range{stroke:none;fill-opacity:.22}
.gs .dot{stroke:none}.gs .thin{stroke-width:1;stroke-opacity:.7}
.gs .knee{fill:none;stroke:#1f2328;stroke-width:1.3}.gs .ink-line{stroke:#1f2328}
.gs .predicted{stroke-width:1.6;stroke-dasharray:6 4}
.gs .b0{fill:#1a7f37;fill-opacity:.10}.gs .b1{fill:#0969da;fill-opacity:.09}.gs .b2{fill:#8250df;fill-opacity:.11}
.gs .b3{fill:#bf8700;fill-opacity:.13}.gs .b4{fill:#59636e;fill-opacity:.10}
.gs .heat{shape-rendering:crispEdges}.gs rect.heat{stroke:none}.gs .void{fill:#ffffff;stroke:#ffffff}
.gs .h0{fill:#440154;stroke:#440154}.gs .h1{fill:#481a6c;stroke:#481a6c}.gs .h2{fill:#472f7d;stroke:#472f7d}
.gs .h3{fill:#414487;stroke:#414487}.gs .h4{fill:#39568c;stroke:#39568c}.gs .h5{fill:#31688e;stroke:#31688e}
.gs .h6{fill:#2a788e;stroke:#2a788e}.gs .h7{fill:#23888e;stroke:#23888e}.gs .h8{fill:#1f988b;stroke:#1f988b}
.gs .h9{fill:#22a884;stroke:#22a884}.gs .h10{fill:#35b779;stroke:#35b779}.gs .h11{fill:#54c568;stroke:#54c568}
.gs .h12{fill:#7ad151;stroke:#7ad151}.gs .h13{fill:#a5db36;stroke:#a5db36}.gs .h14{fill:#d2e21b;stroke:#d2e21b}
.gs .h15{fill:#fde725;stroke:#fde725}
.gs .seam{stroke:#ffffff;stroke-width:.7;stroke-opacity:.7}.gs .wide{stroke-width:3;stroke-opacity:1}
.gs .bar{fill:#0969da}.gs .bar2{fill:#818b96;fill-opacity:.35}
@media (prefers-color-scheme:dark){
.gs .ground{fill:#0d1117}.gs .ink{fill:#e6edf3}.gs .soft{fill:#9198a1}
.gs .halo{stroke:#0d1117}.gs .seam{stroke:#0d1117}.gs .void{fill:#0d1117;stroke:#0d1117}
.gs .grid{stroke:#262c36}.gs .minor{stroke:#1a1f27}.gs .axis{stroke:#6e7681}
.gs .edge{stroke:#9198a1}.gs .guide{stroke:#6e7681}
.gs .step{stroke:#e3a008}.gs .steptext{fill:#e9b949}.gs .plateau{stroke:#e6edf3}
.gs .s0{stroke:#58a6ff;fill:#58a6ff}.gs .s1{stroke:#ff9e64;fill:#ff9e64}.gs .s2{stroke:#56d364;fill:#56d364}
.gs .s3{stroke:#bc8cff;fill:#bc8cff}.gs .s4{stroke:#f778ba;fill:#f778ba}.gs .s5{stroke:#39c5cf;fill:#39c5cf}
.gs .s6{stroke:#d4a72c;fill:#d4a72c}.gs .s7{stroke:#9198a1;fill:#9198a1}
.gs .knee{stroke:#e6edf3}.gs .ink-line{stroke:#e6edf3}
.gs .b0{fill:#56d364;fill-opacity:.13}.gs .b1{fill:#58a6ff;fill-opacity:.13}.gs .b2{fill:#bc8cff;fill-opacity:.15}
.gs .b3{fill:#e3b341;fill-opacity:.15}.gs .b4{fill:#9198a1;fill-opacity:.13}
.gs .bar{fill:#58a6ff}.gs .bar2{fill:#9198a1;fill-opacity:.35}
}
.gs .curve{fill:none}.gs .range{stroke:none}.gs .dot{stroke:none}.gs .predicted{fill:none}
)";

std::string joined(const std::vector<std::pair<double, double>>& points) {
  std::string out;
  for (const auto& [x, y] : points) out += fmt::format("{}{:.1f},{:.1f}", out.empty() ? "" : " ", x, y);
  return out;
}

}  // namespace

std::string_view svg_style() { return k_style; }

Svg::Svg(double width, double height, std::string_view title, std::string_view description) {
  m_out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gs\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\">\n<title>{2}</title>\n<desc>{3}</desc>\n<style>{4}</style>\n",
      width, height, xml_escape(title), xml_escape(description), k_style);
  rect(0, 0, width, height, "ground", 8);
}

void Svg::rect(double x, double y, double width, double height, std::string_view css, double radius) {
  m_out +=
      fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{:.0f}\" class=\"{}\"/>\n",
                  x, y, std::max(width, 0.0), std::max(height, 0.0), radius, css);
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view css) {
  m_out += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2, y2,
                       css);
}

void Svg::circle(double x, double y, double radius, std::string_view css) {
  m_out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" class=\"{}\"/>\n", x, y, radius, css);
}

void Svg::diamond(double x, double y, double radius, std::string_view css) {
  polygon({{x, y - radius}, {x + radius, y}, {x, y + radius}, {x - radius, y}}, css);
}

void Svg::polyline(const std::vector<std::pair<double, double>>& points, std::string_view css) {
  m_out += fmt::format("<polyline points=\"{}\" class=\"{}\"/>\n", joined(points), css);
}

void Svg::polygon(const std::vector<std::pair<double, double>>& points, std::string_view css) {
  m_out += fmt::format("<polygon points=\"{}\" class=\"{}\"/>\n", joined(points), css);
}

void Svg::text(double x, double y, std::string_view text, std::string_view css, std::string_view anchor) {
  m_out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", x, y, anchor, css,
                       xml_escape(text));
}

void Svg::text_upwards(double x, double y, std::string_view text, std::string_view css) {
  m_out += fmt::format(
      "<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" text-anchor=\"middle\" class=\"{}\">{}</text>\n", x, y,
      css, xml_escape(text));
}

void Svg::path(std::string_view data, std::string_view css) {
  m_out += fmt::format("<path d=\"{}\" class=\"{}\"/>\n", data, css);
}

void Svg::open_scaled(double x, double y, double unit_width, double unit_height) {
  m_out +=
      fmt::format("<g transform=\"translate({:.1f} {:.1f}) scale({:.6f} {:.6f})\">\n", x, y, unit_width, unit_height);
}

void Svg::open_group(std::string_view css) { m_out += fmt::format("<g class=\"{}\">\n", css); }

void Svg::close_group() { m_out += "</g>\n"; }

std::string Svg::finish() && { return std::move(m_out) + "</svg>\n"; }

double text_width(std::string_view text, double font_size) {
  return 0.6 * font_size * static_cast<double>(display_width(text));
}

std::vector<double> spread_labels(std::vector<double> wanted, double gap, double low, double high) {
  // Forward pass keeps the gap from above, backward pass pushes what ran over the end back in.
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = std::max(wanted[i], i == 0 ? low : wanted[i - 1] + gap);
  for (std::size_t i = wanted.size(); i-- > 0;)
    wanted[i] = std::min(wanted[i], i + 1 == wanted.size() ? high : wanted[i + 1] - gap);
  return wanted;
}

}  // namespace gpusonde::report

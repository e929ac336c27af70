// Figures read back from their text: where things stand.
#pragma once

#include <cmath>
#include <regex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "report/report.hpp"

namespace gpusonde::svg_text {

inline const Figure& find(const std::vector<Figure>& all, const std::string& name) {
  for (const auto& figure : all)
    if (figure.name == name) return figure;
  throw std::runtime_error("no figure " + name);
}

inline std::vector<std::smatch> all_matches(const std::string& text, const std::regex& pattern) {
  return {std::sregex_iterator(text.begin(), text.end(), pattern), std::sregex_iterator()};
}

inline std::vector<std::pair<double, double>> curve_points(const std::string& svg, const std::string& css) {
  std::smatch found;
  if (!std::regex_search(svg, found, std::regex("<polyline points=\"([^\"]*)\" class=\"" + css + " curve\"")))
    return {};
  const std::string points = found[1];
  std::vector<std::pair<double, double>> out;
  for (const auto& match : all_matches(points, std::regex("([-.0-9]+),([-.0-9]+)")))
    out.emplace_back(std::stod(match[1]), std::stod(match[2]));
  return out;
}

inline double label_x(const std::string& svg, const std::string& label) {
  std::smatch found;
  if (!std::regex_search(svg, found, std::regex("<text x=\"([-.0-9]+)\"[^>]*>" + label + "<"))) return NAN;
  return std::stod(found[1]);
}

/// Every element opened is closed, in order.
inline bool well_formed(const std::string& svg) {
  std::vector<std::string> open;
  for (const auto& match : all_matches(svg, std::regex("<(/?)([a-z]+)[^>]*?(/?)>"))) {
    if (match[1] == "/") {
      if (open.empty() || open.back() != match[2]) return false;
      open.pop_back();
    } else if (match[3] != "/") {
      open.push_back(match[2]);
    }
  }
  return open.empty();
}

}  // namespace gpusonde::svg_text

#include "report/finding_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "report/escape.hpp"
#include "report/quantity.hpp"
#include "report/text_table.hpp"

namespace gpusonde::report {
namespace {

constexpr std::size_t k_detail_indent = 4;
constexpr std::size_t k_most_samples = 4;
constexpr std::size_t k_longest_in_a_cell = 28;

std::vector<std::string> text_lines(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

/// What a value shows below its line: masks with their bits, a program. Empty where its cell says it all.
std::vector<std::string> details(const FindingValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (const auto bits = bits_of(*text); !bits.empty()) return {*text};
    auto lines = text_lines(*text);
    return lines.size() > 1 || display_width(clean(*text)) > k_longest_in_a_cell ? lines : std::vector<std::string>{};
  }
  const auto* list = std::get_if<std::vector<std::string>>(&value);
  if (list == nullptr) return {};
  const bool masks = std::any_of(list->begin(), list->end(), [](const auto& each) { return !bits_of(each).empty(); });
  return masks || display_width(clean(quantity(value, ""))) > k_longest_in_a_cell ? *list : std::vector<std::string>{};
}

/// Nothing below, or one mask, of which only the bits stand below.
bool stands_in_a_cell(const std::vector<std::string>& below) {
  return below.empty() || (below.size() == 1 && !bits_of(below.front()).empty());
}

std::string value_cell(const FindingValue& value, std::string_view unit) {
  const auto below = details(value);
  if (stands_in_a_cell(below)) return quantity(value, unit);
  const bool masks = !bits_of(below.front()).empty();
  if (std::holds_alternative<std::string>(value))
    return below.size() == 1 ? "below" : fmt::format("{} lines", below.size());
  return fmt::format("{} {}", below.size(), masks ? "masks" : "names");
}

std::string truth_cell(const Finding& finding) {
  if (!finding.truth) return {};
  if (finding.value && finding.agrees == true) return "✓";
  const bool short_enough = stands_in_a_cell(details(*finding.truth));
  const auto model = short_enough ? quantity(*finding.truth, finding.unit) : "another, below";
  if (finding.value && finding.agrees == false) return "✗ the model has " + model;
  return short_enough ? "the model has " + model : "";
}

std::string sample_text(const SampleValue& value) {
  const auto* real = std::get_if<double>(&value);
  return real != nullptr ? plain_number(*real) : std::get<std::string>(value);
}

class FindingWriter {
 public:
  FindingWriter(TextPage& page, const FindingLine& line) : m_page(page), m_line(line), m_finding(*line.finding) {}

  void below() {
    if (m_finding.value) {
      add_details(*m_finding.value);
      if (m_finding.agrees == false && m_finding.truth && !details(*m_finding.truth).empty()) {
        m_page.indented("the model has", k_red, k_detail_indent);
        add_details(*m_finding.truth);
      }
    } else {
      m_page.indented(m_finding.reason, k_yellow, k_detail_indent);
    }
    for (const auto& note : m_line.notes) m_page.indented(note, {}, k_detail_indent);
    because();
  }

 private:
  void add_details(const FindingValue& value) {
    const auto below = details(value);
    const bool alone = stands_in_a_cell(below);
    std::size_t widest = 0;
    for (const auto& each : below)
      if (!bits_of(each).empty()) widest = std::max(widest, each.size());
    for (const auto& each : below) {
      const auto bits = bits_of(each);
      if (!bits.empty())
        // A mask alone stands in the value's cell.
        m_page.indented((alone ? "" : fmt::format("{:<{}}  ", each, widest)) + "bits " + bits, {}, k_detail_indent,
                        alone ? 2 : widest + 2);
      else
        m_page.indented(each, {}, k_detail_indent);
    }
  }
  void because() {
    std::string rests_on;
    std::size_t said = 0;
    for (const auto& [key, value] : m_finding.samples) {
      if (key == "because") {
        m_page.indented("because " + sample_text(value), k_dim, k_detail_indent);
        continue;
      }
      if (++said > k_most_samples) continue;
      rests_on += fmt::format("{}{} {}", rests_on.empty() ? "" : " · ", finding_title(key), sample_text(value));
    }
    if (said > k_most_samples) rests_on += fmt::format(" · {} more in run.json", said - k_most_samples);
    if (!rests_on.empty()) m_page.indented("because " + rests_on, k_dim, k_detail_indent);
  }

  TextPage& m_page;
  const FindingLine& m_line;
  const Finding& m_finding;
};

}  // namespace

void add_findings(TextPage& page, const std::vector<FindingLine>& lines) {
  std::vector<std::vector<std::string>> cells;
  for (const auto& [title, finding, notes] : lines) {
    const bool exact = finding->value && finding->interval && finding->interval->low == finding->interval->high;
    cells.push_back({page.shown(title),
                     page.shown(finding->value ? value_cell(*finding->value, finding->unit)
                                               : std::string(to_string(finding->outcome))),
                     exact            ? "="
                     : finding->value ? page.shown(interval_text(*finding))
                                      : "",
                     page.shown(truth_cell(*finding))});
  }
  const auto rows =
      text_table({{"", false, 0}, {"", false, 0}, {"", false, 2}, {"", false, 1}}, std::move(cells), page.width(), 2);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& finding = *lines[i].finding;
    page.line(rows[i], !finding.value ? k_yellow : finding.agrees == false ? k_red : std::string_view{});
    FindingWriter(page, lines[i]).below();
  }
}

std::string bits_of(std::string_view mask) {
  if (!mask.starts_with("0x")) return {};
  std::uint64_t value = 0;
  const auto* const end = mask.data() + mask.size();
  const auto [rest, code] = std::from_chars(mask.data() + 2, end, value, 16);
  if (code != std::errc{} || rest != end) return {};
  std::string out;
  for (unsigned bit = 0; bit < 64; ++bit)
    if ((value >> bit & 1U) != 0) out += fmt::format("{}{}", out.empty() ? "" : " ", bit);
  return out.empty() ? "none" : out;
}

std::string finding_title(std::string_view id) {
  const auto dot = id.rfind('.');
  std::string title(dot == std::string_view::npos ? id : id.substr(dot + 1));
  std::replace(title.begin(), title.end(), '_', ' ');
  return title;
}

}  // namespace gpusonde::report

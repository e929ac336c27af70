#include "report/text_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/escape.hpp"
#include "report/quantity.hpp"
#include "report/text_table.hpp"

namespace gpusonde::report {

std::string ascii(std::string_view text) {
  static constexpr std::pair<std::string_view, std::string_view> k_plain[] = {
      {" · ", ", "}, {"×", "x"}, {"✓", "ok"}, {"✗", "WRONG"}, {"→", "to"}, {"–", "-"},
      {"±", "+-"},   {"µ", "u"}, {"│", "|"},  {"…", "..."},   {"≤", "<="}, {"≥", ">="}};
  std::string out;
  while (!text.empty()) {
    const auto twin = std::find_if(std::begin(k_plain), std::end(k_plain),
                                   [&](const auto& entry) { return text.starts_with(entry.first); });
    if (twin != std::end(k_plain)) {
      out += twin->second;
      text.remove_prefix(twin->first.size());
      continue;
    }
    const auto byte = static_cast<unsigned char>(text.front());
    if (byte < 0x80)
      out += text.front();
    else if ((byte & 0xC0U) != 0x80U)
      out += '?';
    text.remove_prefix(1);
  }
  return out;
}

TextPage::TextPage(const TextStyle& style) : m_style(style), m_width(std::max(40U, style.width)) {}

std::string TextPage::shown(std::string_view text) const {
  const auto cleaned = clean(text);
  return m_style.unicode ? cleaned : ascii(cleaned);
}

void TextPage::line(std::string_view text, std::string_view paint) {
  if (m_style.color && !paint.empty())
    m_out += fmt::format("\x1b[{}m{}\x1b[0m\n", paint, shown(text));
  else
    m_out += shown(text) + "\n";
}

void TextPage::raw_line(std::string_view text) { m_out.append(text).append("\n"); }

void TextPage::blank() {
  if (!m_out.ends_with("\n\n")) m_out += '\n';
}

void TextPage::paragraph(const std::vector<std::string>& parts, std::string_view paint) {
  std::string current;
  for (const auto& part : parts) {
    if (part.empty()) continue;
    const auto longer = current.empty() ? part : current + " · " + part;
    if (!current.empty() && display_width(longer) > m_width) {
      line(current, paint);
      current = part;
    } else {
      current = longer;
    }
  }
  if (!current.empty()) line(current, paint);
}

void TextPage::indented(std::string_view text, std::string_view paint, std::size_t indent, std::size_t hang) {
  std::string before(indent, ' ');
  const auto whole = shown(text);
  if (indent + display_width(whole) <= m_width) return line(before + whole, paint);
  for (const auto& part : wrap(whole, m_width - indent - hang)) {
    line(before + part, paint);
    before.assign(indent + hang, ' ');
  }
}

std::string TextPage::finish() && { return std::move(m_out); }

void add_device_line(TextPage& page, const Run& run) {
  const double mhz = run.environment.sm_mhz_measured;
  page.paragraph({device_title(run.device), mhz > 0 ? fmt::format("SM {:.0f} MHz", mhz) : ""}, k_bold);
  page.blank();
}

}  // namespace gpusonde::report

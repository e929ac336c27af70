#include "survey/ncu_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "survey/csv_cells.hpp"

namespace gpusonde {
namespace {

std::string_view line_with(std::string_view text, std::string_view part) {
  const auto at = text.find(part);
  if (at == std::string_view::npos) return {};
  const auto begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

std::string first_words(std::string_view text) {
  for (const auto part : {"==ERROR==", "==WARNING=="})
    if (const auto line = line_with(text, part); !line.empty()) return shown_cell(line);
  return shown_cell(text.substr(0, text.find('\n')));
}

/// With commas between thousands, as ncu prints it.
std::optional<double> number(std::string text) {
  std::erase(text, ',');
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return {};
  return value;
}

struct Columns {
  std::size_t launch = 0;
  std::size_t kernel = 0;
  std::size_t counter = 0;
  std::size_t value = 0;
};

std::optional<Columns> columns_of(const std::vector<CsvCell>& head) {
  const auto find = [&](std::string_view name) {
    return static_cast<std::size_t>(
        std::find_if(head.begin(), head.end(), [&](const auto& cell) { return cell.text == name; }) - head.begin());
  };
  const Columns columns{find("ID"), find("Kernel Name"), find("Metric Name"), find("Metric Value")};
  if (std::max({columns.launch, columns.kernel, columns.counter, columns.value}) >= head.size()) return {};
  return columns;
}

}  // namespace

const double* CountedLaunch::find(std::string_view counter) const noexcept {
  for (const auto& [name, value] : counters)
    if (name == counter) return &value;
  return nullptr;
}

Result<std::vector<CountedLaunch>> parse_ncu_csv(std::string_view text, std::string_view kernel) {
  if (text.find("ERR_NVGPUCTRPERM") != std::string_view::npos)
    return fail(ErrorKind::unsupported,
                "hardware counters are forbidden to this user; run as root, or load the driver with "
                "NVreg_RestrictProfilingToAdminUsers=0");
  const auto begin = text.find("\"ID\"");
  const auto no_table = [&] {
    return fail(
        ErrorKind::unsupported,
        fmt::format("ncu printed no table of counters, but: {}; check that it runs by hand", first_words(text)));
  };
  if (begin == std::string_view::npos) return no_table();
  CsvReader reader(text.substr(begin), "ncu");
  std::vector<CsvCell> row;
  auto more = reader.next(row);
  const auto columns = more && *more ? columns_of(row) : std::nullopt;
  if (!columns)
    return fail(ErrorKind::unsupported, fmt::format("ncu's table has other columns than are known: {}",
                                                    shown_cell(text.substr(begin, text.find('\n', begin) - begin))));
  std::vector<CountedLaunch> launches;
  std::string last;
  const auto needed = std::max({columns->launch, columns->kernel, columns->counter, columns->value});
  for (;;) {
    more = reader.next(row);
    if (!more || !*more) break;
    if (row.size() <= needed || !row[columns->kernel].text.starts_with(kernel)) continue;
    if (launches.empty() || row[columns->launch].text != last) launches.emplace_back();
    last = row[columns->launch].text;
    const auto value = number(row[columns->value].text);
    if (!value)
      return fail(ErrorKind::unsupported,
                  fmt::format("ncu gives {} as '{}', which is no number", shown_cell(row[columns->counter].text),
                              shown_cell(row[columns->value].text)));
    launches.back().counters.emplace_back(row[columns->counter].text, *value);
  }
  if (launches.empty()) return no_table();
  return launches;
}

Result<double> counter_slope(const std::vector<CountedLaunch>& launches, std::string_view counter,
                             double further_loads) {
  if (launches.size() != 2)
    return fail(ErrorKind::unsupported, fmt::format("ncu counted {} launches, not two; run again", launches.size()));
  const double* first = launches[0].find(counter);
  const double* second = launches[1].find(counter);
  if (first == nullptr || second == nullptr)
    return fail(ErrorKind::unsupported, fmt::format("this device, or this version of ncu, has no counter {}", counter));
  return (*second - *first) / further_loads;
}

}  // namespace gpusonde

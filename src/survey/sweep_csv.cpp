#include "survey/sweep_csv.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <system_error>
#include <vector>

#include "survey/csv_cells.hpp"
#include "survey/run_file.hpp"

namespace gpusonde {
namespace {

namespace fs = std::filesystem;

enum class Kind { policy, count, latency, latency_if_there, known_or_empty };

struct SweepColumn {
  std::string_view name;
  Kind kind;
};

constexpr std::array<SweepColumn, 9> k_columns{{{"policy", Kind::policy},
                                                {"stride_bytes", Kind::count},
                                                {"bytes", Kind::count},
                                                {"nodes", Kind::count},
                                                {"cycles_per_access", Kind::latency},
                                                {"low_cycles", Kind::latency_if_there},
                                                {"high_cycles", Kind::latency_if_there},
                                                {"ns_per_access", Kind::known_or_empty},
                                                {"sm_mhz", Kind::known_or_empty}}};
constexpr std::size_t k_cycles_column = 4;

/// Where each of our columns stands in the file.
using Places = std::array<std::optional<std::size_t>, k_columns.size()>;

std::size_t index_of(std::string_view name) {
  std::size_t i = 0;
  while (i < k_columns.size() && k_columns[i].name != name) ++i;
  return i;
}

template <class T>
std::optional<T> whole_text(std::string_view text) {
  T value{};
  const auto* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || stop != end) return {};
  return value;
}

/// Reads the cells of one file into a table, and says where one is wrong.
class SweepRows {
 public:
  SweepRows(const std::string& file, Table& table) : m_file(file), m_table(table) {
    for (const auto& column : k_columns) {
      if (column.kind == Kind::policy)
        m_table.make<std::string>(column.name);
      else if (column.kind == Kind::count)
        m_table.make<std::uint64_t>(column.name);
      else
        m_table.make<double>(column.name);
    }
  }

  Result<void> header(const std::vector<CsvCell>& row) {
    for (std::size_t at = 0; at < row.size(); ++at) {
      const auto column = index_of(row[at].text);
      if (column == k_columns.size()) continue;
      if (m_places[column])
        return csv_error(m_file, row[at].place,
                         fmt::format("column '{}' is there twice; keep one of them", row[at].text));
      m_places[column] = at;
    }
    for (std::size_t column = 0; column < k_columns.size(); ++column)
      if (!m_places[column] && k_columns[column].kind != Kind::latency_if_there)
        return csv_error(m_file, row.front().place,
                         fmt::format("column '{}' is missing; the first line names the columns, as in '{}'",
                                     k_columns[column].name, sweep_csv_header()));
    m_width = row.size();
    return {};
  }

  Result<void> row(const std::vector<CsvCell>& row, CsvPlace end) {
    if (row.size() != m_width)
      return csv_error(m_file, row.size() < m_width ? end : row[m_width].place,
                       fmt::format("{} cells in a row; give {}, as in the first line", row.size(), m_width));
    for (std::size_t column = 0; column < k_columns.size(); ++column) {
      const auto at = m_places[column] ? *m_places[column] : *m_places[k_cycles_column];
      if (auto taken = cell(k_columns[column], row[at]); !taken) return taken;
    }
    return {};
  }

 private:
  Result<void> cell(const SweepColumn& column, const CsvCell& cell) {
    switch (column.kind) {
      case Kind::policy: return policy(column, cell);
      case Kind::count: return count(column, cell);
      default: return real(column, cell);
    }
  }

  Result<void> policy(const SweepColumn& column, const CsvCell& cell) {
    if (cell.text != "ca" && cell.text != "cg") return wrong(column, cell, "is no load policy; give ca or cg");
    m_table.make<std::string>(column.name).push_back(cell.text);
    return {};
  }

  Result<void> count(const SweepColumn& column, const CsvCell& cell) {
    const bool digits = !cell.text.empty() && cell.text.find_first_not_of("0123456789") == std::string::npos;
    const auto value = whole_text<std::uint64_t>(cell.text);
    if (digits && !value)
      return wrong(column, cell,
                   fmt::format("is too large; give at most {}", std::numeric_limits<std::uint64_t>::max()));
    if (value ? *value == 0 : whole_text<std::int64_t>(cell.text).has_value())
      return wrong(column, cell, "is too small; give at least 1");
    if (!value) return wrong(column, cell, "is not a whole number; give digits alone, as in 4096");
    m_table.make<std::uint64_t>(column.name).push_back(*value);
    return {};
  }

  Result<void> real(const SweepColumn& column, const CsvCell& cell) {
    auto& into = m_table.make<double>(column.name);
    if (cell.text.empty() && column.kind != Kind::latency) {
      into.push_back(std::numeric_limits<double>::quiet_NaN());
      return {};
    }
    const auto value = whole_text<double>(cell.text);
    if (!value || !std::isfinite(*value)) return wrong(column, cell, "is not a number; give one, as in 281.5");
    if (*value <= 0) return wrong(column, cell, "is too small; give what was measured, more than 0");
    into.push_back(*value);
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> wrong(const SweepColumn& column, const CsvCell& cell,
                                            std::string_view what) const {
    return csv_error(m_file, cell.place, fmt::format("{} '{}' {}", column.name, shown_cell(cell.text), what));
  }

  const std::string& m_file;
  Table& m_table;
  Places m_places;
  std::size_t m_width = 0;
};

std::string cell_text(const Column& column, std::size_t row) {
  if (const auto* texts = std::get_if<std::vector<std::string>>(&column)) return (*texts)[row];
  if (const auto* counts = std::get_if<std::vector<std::uint64_t>>(&column)) return std::to_string((*counts)[row]);
  const double value = std::get<std::vector<double>>(column)[row];
  if (!std::isfinite(value)) return {};
  std::array<char, 32> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

std::string rows_text(const Table& table) {
  std::string out;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (const auto& wanted : k_columns) {
      if (wanted.name != k_columns.front().name) out += ',';
      for (const auto& [name, column] : table.columns)
        if (name == wanted.name) out += cell_text(column, row);
    }
    out += '\n';
  }
  return out;
}

/// The file's text when it can be appended to; empty when it is absent.
Result<std::string> appendable(const fs::path& path) {
  std::error_code code;
  const auto status = fs::status(path, code);
  if (fs::exists(status) && !fs::is_regular_file(status))
    return fail(ErrorKind::output,
                fmt::format("cannot append to {}: it is not a plain file; name another one", path.string()));
  const auto folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  errno = 0;
  if (!fs::is_directory(folder, code) || ::access(folder.c_str(), W_OK | X_OK) != 0)
    return fail(ErrorKind::output,
                fmt::format("cannot write {}: {}; name a file in a folder that you may write to", path.string(),
                            std::generic_category().message(errno != 0 ? errno : ENOTDIR)));
  if (!fs::exists(status)) return std::string();
  auto text = read_input_text(path);
  if (!text || text->empty()) return text;

  CsvReader reader(*text, path.string());
  std::vector<CsvCell> row;
  if (auto read = reader.next(row); !read) return tl::unexpected(read.error());
  for (std::size_t i = 0; i < std::max(row.size(), k_columns.size()); ++i) {
    const auto name = i < row.size() ? fmt::format("'{}'", shown_cell(row[i].text)) : std::string("nothing");
    const auto ours = i < k_columns.size() ? fmt::format("'{}'", k_columns[i].name) : std::string("nothing");
    if (i < row.size() && i < k_columns.size() && row[i].text == k_columns[i].name) continue;
    return csv_error(path.string(), i < row.size() ? row[i].place : reader.row_end(),
                     fmt::format("column {} is {} where a sweep has {}, so nothing is appended; name another file, or "
                                 "give this one the columns '{}'",
                                 i + 1, name, ours, sweep_csv_header()));
  }
  return text;
}

}  // namespace

std::string sweep_csv_header() {
  std::string out;
  for (const auto& column : k_columns) out.append(out.empty() ? "" : ",").append(column.name);
  return out;
}

Result<Table> parse_sweep_csv(std::string_view text, const std::string& file) {
  CsvReader reader(text, file);
  Table table;
  SweepRows rows(file, table);
  std::vector<CsvCell> row;
  auto read = reader.next(row);
  if (!read) return tl::unexpected(read.error());
  if (!*read)
    return csv_error(file, {},
                     fmt::format("the file is empty; give a table with the columns '{}'", sweep_csv_header()));
  if (auto header = rows.header(row); !header) return tl::unexpected(header.error());
  while (true) {
    read = reader.next(row);
    if (!read) return tl::unexpected(read.error());
    if (!*read) break;
    if (auto taken = rows.row(row, reader.row_end()); !taken) return tl::unexpected(taken.error());
  }
  if (table.rows() == 0)
    return csv_error(file, reader.row_end(), "no row follows the names of the columns; give one a measured point");
  return table;
}

Result<std::string> read_input_text(const fs::path& path) {
  constexpr std::size_t k_most_bytes = std::size_t{1} << 30;
  constexpr std::string_view k_remedy = "give a CSV or a run.json that gpusonde wrote";
  const auto cannot_read = [&](int why) {
    return fail(ErrorKind::bad_input, fmt::format("cannot read {}: {}; {}", path.string(),
                                                  std::generic_category().message(why != 0 ? why : EIO), k_remedy));
  };
  const auto too_large = [&] {
    return fail(ErrorKind::bad_input, fmt::format("{} is larger than 1 GiB; {}", path.string(), k_remedy));
  };
  std::error_code code;
  if (fs::is_directory(path, code)) return cannot_read(EISDIR);
  if (fs::is_regular_file(path, code)) {
    const auto size = fs::file_size(path, code);
    if (!code && size > k_most_bytes) return too_large();
  }
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return cannot_read(errno);
  std::string text;
  std::vector<char> block(std::size_t{1} << 20);
  while (stream && text.size() <= k_most_bytes) {  // a pipe has no size beforehand
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
  }
  if (stream.bad()) return cannot_read(errno);
  if (text.size() > k_most_bytes) return too_large();
  return text;
}

Result<void> check_append(const fs::path& path) {
  if (auto text = appendable(path); !text) return tl::unexpected(text.error());
  return {};
}

Result<void> append_sweep_csv(const fs::path& path, const Table& table) {
  auto text = appendable(path);
  if (!text) return tl::unexpected(text.error());
  if (text->empty()) *text = sweep_csv_header();
  if (!text->ends_with('\n')) *text += '\n';
  *text += rows_text(table);
  return write_file(path, *text);
}

}  // namespace gpusonde

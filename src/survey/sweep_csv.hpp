// TLB sweeps as CSV: what `gpusonde plot` reads, and what a measurement is appended to. Columns are those
// of the table tlb.sweep (docs/measurements.md).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "gpusonde/error.hpp"
#include "gpusonde/run.hpp"

namespace gpusonde {

/// The columns as they are written, joined by commas, without a newline.
[[nodiscard]] std::string sweep_csv_header();

/// A table with the columns of tlb.sweep, from columns in any order; others are ignored, and low_cycles
/// and high_cycles are cycles_per_access where they are absent. A cell of ns_per_access or sm_mhz may be
/// empty: not known. A byte order mark, CRLF, blank lines, and blanks around a cell are accepted.
/// Errors: bad_input `file:line:column: what; what would be right`, both counted from 1, the column in
/// characters, at the start of the cell.
[[nodiscard]] Result<Table> parse_sweep_csv(std::string_view text, const std::string& file);

/// The whole file as text, at most 1 GiB. Errors: bad_input.
[[nodiscard]] Result<std::string> read_input_text(const std::filesystem::path& path);

/// Whether a sweep can be appended: the file is absent or empty, or begins with exactly the header that
/// we write. Errors: bad_input, which names the first column that differs; output.
[[nodiscard]] Result<void> check_append(const std::filesystem::path& path);

/// Appends the rows of `table`, which has all columns of tlb.sweep. The file is made when absent and
/// replaced as a whole, with all that it held; a last line without its newline gets one.
/// Errors: as check_append.
[[nodiscard]] Result<void> append_sweep_csv(const std::filesystem::path& path, const Table& table);

}  // namespace gpusonde

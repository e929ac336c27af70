// The run's file format: docs/schema/run-1.0.json.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "gpusonde/error.hpp"
#include "gpusonde/run.hpp"

namespace gpusonde {

inline constexpr std::string_view k_run_schema = "gpusonde-run/1.0";

/// One JSON document, with a trailing newline. Equal runs give equal bytes.
[[nodiscard]] std::string to_json(const Run& run);

/// Errors: bad_input `file:line:col: what; what would be right` for broken JSON, `file: /path/in/json: ...`
/// for a document of another shape, and one that says which schema was found for a foreign one.
[[nodiscard]] Result<Run> parse_run(std::string_view text, const std::string& file);
[[nodiscard]] Result<Run> load_run(const std::filesystem::path& path);

/// Writes atomically (temporary file in the same folder, fsync, rename). Errors: output.
[[nodiscard]] Result<void> write_file(const std::filesystem::path& path, std::string_view content);
[[nodiscard]] Result<void> save_run(const Run& run, const std::filesystem::path& path);

/// Creates the folder if needed and proves that a file can be written there. Errors: output.
[[nodiscard]] Result<void> prepare_output_folder(const std::filesystem::path& folder);

}  // namespace gpusonde

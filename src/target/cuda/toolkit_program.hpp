// Programs of the CUDA toolkit, where they are installed, and the files that they are given.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpusonde/error.hpp"

namespace gpusonde::cuda {

/// Path of a program on PATH or in /usr/local/cuda/bin; empty when it is not there.
[[nodiscard]] std::string find_toolkit_program(std::string_view name);

enum class ErrorStream : std::uint8_t { dropped, joined };

struct ProgramOutput {
  std::string text;
  int status = 0;  ///< as waitpid tells it
};

/// What a program prints, run without a shell, however it ends. Errors: measurement (cannot run).
[[nodiscard]] Result<ProgramOutput> run_program(const std::vector<std::string>& command, ErrorStream errors);

/// `command` could not do its work: what is said of it.
[[nodiscard]] std::string cannot_run(const std::vector<std::string>& command, std::string_view why);

/// A file in the folder for temporary ones, gone with this.
class TemporaryFile {
 public:
  /// `suffix`: `.cubin`
  TemporaryFile(std::string_view bytes, std::string_view suffix);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();
  [[nodiscard]] bool written() const noexcept { return m_written; }
  [[nodiscard]] const std::string& path() const noexcept { return m_path; }

 private:
  std::string m_path;
  bool m_written = false;
};

}  // namespace gpusonde::cuda

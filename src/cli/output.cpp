// What goes to stdout and stderr, and how.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "commands.hpp"

namespace gpusonde::cli {

int report_error(const Error& error) {
  fmt::print(stderr, "gpusonde: error: {}\n", error.message);
  return exit_code(error.kind);
}

void report_warning(const GlobalOptions& global, const std::string& message) {
  if (!global.quiet) fmt::print(stderr, "gpusonde: warning: {}\n", message);
}

int write_stdout(const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto written = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) return 0;  // the reader has had enough
    if (written < 0)
      return report_error(
          {ErrorKind::output, fmt::format("stdout cannot be written ({}); direct it elsewhere", std::strerror(errno))});
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

bool use_color(const GlobalOptions& global, int file_descriptor) {
  if (global.color != ColorChoice::automatic) return global.color == ColorChoice::always;
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* terminal = std::getenv("TERM");
  if (terminal == nullptr || std::string_view(terminal) == "dumb") return false;
  return ::isatty(file_descriptor) == 1;
}

}  // namespace gpusonde::cli

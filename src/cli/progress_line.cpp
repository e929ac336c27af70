#include "progress_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace gpusonde::cli {
namespace {

double seconds(std::chrono::steady_clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

ProgressLine::ProgressLine(const GlobalOptions& global) : m_quiet(global.quiet) {
  const char* terminal = std::getenv("TERM");
  m_terminal = ::isatty(STDERR_FILENO) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

void ProgressLine::show(const Progress& progress) {
  if (m_quiet) return;
  const auto now = Clock::now();
  if (progress.probe != m_probe) {
    m_probe = progress.probe;
    m_probe_started = now;
    m_last = {};
    if (!m_terminal) fmt::print(stderr, "{}: {}\n", m_probe, progress.doing);
  }
  if (!m_terminal || seconds(now - m_last) < 0.05) return;
  m_last = now;
  m_shown = true;
  std::string left;
  const double elapsed = seconds(now - m_probe_started);
  if (progress.fraction > 0.02 && elapsed > 0.3)
    left = fmt::format(", {:.0f} s left", elapsed * (1 - progress.fraction) / progress.fraction + 0.5);
  fmt::print(stderr, "\r\x1b[K{:<9} {:3.0f} %  {}{}", m_probe, 100 * progress.fraction, progress.doing, left);
  std::fflush(stderr);
}

void ProgressLine::clear() {
  if (m_shown) fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  m_shown = false;
}

}  // namespace gpusonde::cli

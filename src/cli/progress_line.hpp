// Progress on stderr: one line that is overwritten on a terminal, one line a probe elsewhere.
#pragma once

#include <chrono>
#include <string>

#include "commands.hpp"
#include "probe/probe.hpp"

namespace gpusonde::cli {

class ProgressLine {
 public:
  explicit ProgressLine(const GlobalOptions& global);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  void show(const Progress& progress);
  /// Takes the line away, before anything else is printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool m_terminal = false;
  bool m_quiet = false;
  bool m_shown = false;
  std::string m_probe;
  Clock::time_point m_started = Clock::now();
  Clock::time_point m_probe_started = Clock::now();
  Clock::time_point m_last{};
};

}  // namespace gpusonde::cli

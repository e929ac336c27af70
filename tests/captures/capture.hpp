// Reads a compressed capture.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "gpusonde/run.hpp"
#include "survey/run_file.hpp"

namespace gpusonde {

/// Text of a gzip file below the source folder; empty when it cannot be read.
inline std::string read_compressed(const std::string& file) {
  const std::string command = "gzip -dc '" GPUSONDE_SOURCE_DIR "/" + file + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  char buffer[1 << 16];
  while (const auto count = std::fread(buffer, 1, sizeof buffer, pipe.get())) text.append(buffer, count);
  return text;
}

inline Result<Run> read_capture(const std::string& name) {
  return parse_run(read_compressed("tests/captures/" + name), name);
}

}  // namespace gpusonde

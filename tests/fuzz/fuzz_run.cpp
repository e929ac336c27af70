// A run document is read, or refused with the file's name; what is read is written and read again the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "survey/run_file.hpp"
#include "survey/survey.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto run = gpusonde::parse_run({reinterpret_cast<const char*>(data), size}, "run.json");
  if (!run) {
    if (run.error().message.rfind("run.json", 0) != 0) std::abort();
    return 0;
  }
  const auto text = gpusonde::to_json(*run);
  const auto again = gpusonde::parse_run(text, "again.json");
  if (!again || gpusonde::to_json(*again) != text) std::abort();
  (void)gpusonde::analyze(*run);
  return 0;
}

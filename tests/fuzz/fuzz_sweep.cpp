// A CSV is read or refused with its place in one sentence; what is read has all columns of one length.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "survey/sweep_csv.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto table = gpusonde::parse_sweep_csv({reinterpret_cast<const char*>(data), size}, "a.csv");
  if (!table) {
    const auto& message = table.error().message;
    const bool one_sentence = message.find_first_of("\r\n") == std::string::npos && message.starts_with("a.csv:");
    if (!one_sentence) std::abort();
    return 0;
  }
  for (const auto& [name, column] : table->columns)
    if (gpusonde::size(column) != table->rows()) std::abort();
  return 0;
}

// A size is parsed or refused with a sentence; a small one that is written reads back the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/units.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = gpusonde::parse_bytes({reinterpret_cast<const char*>(data), size});
  if (!bytes && bytes.error().message.empty()) std::abort();
  if (bytes && *bytes < 1024 && gpusonde::parse_bytes(gpusonde::format_bytes_compact(*bytes)) != *bytes) std::abort();
  return 0;
}

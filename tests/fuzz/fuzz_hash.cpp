// A hash program is compiled, or refused with its place; a compiled one has a value for every address.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/address_function.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto function = gpusonde::AddressFunction::parse({reinterpret_cast<const char*>(data), size}, {"fuzz", 1, 1});
  if (!function) {
    if (function.error().message.rfind("fuzz:", 0) != 0) std::abort();
    return 0;
  }
  for (const std::uint64_t address : {0ULL, 128ULL, 0x123456780ULL, ~0ULL}) (void)(*function)(address);
  return 0;
}

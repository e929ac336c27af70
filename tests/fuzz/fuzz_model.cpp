// A model file is read, or refused with its place; a model that is read is valid and can be written and read.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/device_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto model = gpusonde::parse_model({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
  if (!model) {
    if (model.error().message.rfind("fuzz.toml:", 0) != 0) std::abort();
    return 0;
  }
  if (!gpusonde::validate(*model)) std::abort();
  if (!gpusonde::parse_model(gpusonde::to_toml(*model), "again.toml")) std::abort();
  return 0;
}

// Where an address belongs on a model, as a table: the line, set and slice of each cache, and the channel,
// controller, bank and row of the memory behind them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/device_model.hpp"

namespace gpusonde::cli {

struct CachePlace {
  std::uint32_t slice = 0;
  std::uint32_t set = 0;
};

struct AddressPlace {
  std::uint64_t address = 0;
  std::uint64_t line = 0;          ///< first byte of the last cache's line
  std::vector<CachePlace> caches;  ///< nearest first, each by the first byte of its own line
  std::uint32_t channel = 0;       ///< of all controllers together
  std::uint32_t controller = 0;
  std::uint32_t bank = 0;
  std::uint32_t row = 0;
};

[[nodiscard]] AddressPlace place_of(const DeviceModel& model, std::uint64_t address);

/// Aligned columns under a line that names the model; a set by virtual addresses says so in its head. A cache of
/// one slice has no slice column.
[[nodiscard]] std::string places_text(const DeviceModel& model, const std::vector<std::uint64_t>& addresses);
/// `address,line,l1_slice,l1_set,...,channel,controller,bank,row`: the same columns for every model of as many
/// caches, addresses as 0x numbers.
[[nodiscard]] std::string places_csv(const DeviceModel& model, const std::vector<std::uint64_t>& addresses);
/// One document: the model, its caches, and a list with an entry an address.
[[nodiscard]] std::string places_json(const DeviceModel& model, const std::vector<std::uint64_t>& addresses);

}  // namespace gpusonde::cli

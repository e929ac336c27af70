#include "address_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/units.hpp"
#include "report/escape.hpp"

namespace gpusonde::cli {
namespace {

bool is_virtual(const CacheModel& cache) { return cache.index == AddressSpace::virtual_address; }

/// A column of whole numbers: as wide as its head and its largest value.
struct NumberColumn {
  std::string head;
  std::size_t width = 0;

  NumberColumn(std::string title, std::uint64_t largest)
      : head(std::move(title)), width(std::max(head.size(), fmt::formatted_size("{}", largest))) {}
};

constexpr std::string_view k_gap = "  ";

std::vector<NumberColumn> number_columns(const DeviceModel& model) {
  std::vector<NumberColumn> columns;
  for (const auto& cache : model.caches) {
    if (cache.slices > 1) columns.emplace_back(cache.name + " slice", cache.slices - 1);
    columns.emplace_back(cache.name + (is_virtual(cache) ? " set (virtual)" : " set"), cache.sets - 1);
  }
  const auto& dram = model.dram;
  columns.emplace_back("channel", std::uint64_t{dram.controllers} * dram.channels_per_controller - 1);
  columns.emplace_back("controller", dram.controllers - 1);
  columns.emplace_back("bank", dram.banks - 1);
  columns.emplace_back("row", dram.rows - 1);
  return columns;
}

}  // namespace

AddressPlace place_of(const DeviceModel& model, std::uint64_t address) {
  AddressPlace place;
  place.address = address;
  place.line = address;
  for (const auto& cache : model.caches) {
    place.line = address - address % cache.line_bytes;
    place.caches.push_back(
        {cache.slice_function(place.line) % cache.slices, cache.set_function(place.line) % cache.sets});
  }
  const auto& dram = model.dram;
  place.channel = dram.channel_function(place.line) % (dram.controllers * dram.channels_per_controller);
  place.controller = place.channel / dram.channels_per_controller;
  place.bank = dram.bank_function(place.line) % dram.banks;
  place.row = dram.row_function(place.line);
  return place;
}

std::string places_text(const DeviceModel& model, const std::vector<std::uint64_t>& addresses) {
  const auto columns = number_columns(model);
  // Addresses have leading zeros, so that equal bits stand below each other.
  const auto digits = fmt::formatted_size("{:x}", model.memory_bytes - 1);
  auto out =
      fmt::format("{} · {} · physical addresses{}\n\n", report::clean(model.name), format_bytes(model.memory_bytes),
                  std::any_of(model.caches.begin(), model.caches.end(), is_virtual)
                      ? "; a set marked (virtual) takes the address as a virtual one"
                      : "");
  auto to = std::back_inserter(out);
  fmt::format_to(to, "{:<{}}  {:<{}}", "address", digits + 2, "line", digits + 2);
  for (const auto& column : columns) fmt::format_to(to, "{}{:>{}}", k_gap, column.head, column.width);
  out += '\n';
  for (const auto address : addresses) {
    const auto place = place_of(model, address);
    fmt::format_to(to, "0x{:0{}x}  0x{:0{}x}", place.address, digits, place.line, digits);
    std::size_t next = 0;
    const auto add = [&](std::uint64_t value) { fmt::format_to(to, "{}{:>{}}", k_gap, value, columns[next++].width); };
    for (std::size_t i = 0; i < model.caches.size(); ++i) {
      if (model.caches[i].slices > 1) add(place.caches[i].slice);
      add(place.caches[i].set);
    }
    add(place.channel);
    add(place.controller);
    add(place.bank);
    add(place.row);
    out += '\n';
  }
  return out;
}

std::string places_csv(const DeviceModel& model, const std::vector<std::uint64_t>& addresses) {
  std::string out = "address,line";
  for (const auto& cache : model.caches) out += fmt::format(",{0}_slice,{0}_set", cache.name);
  out += ",channel,controller,bank,row\n";
  auto to = std::back_inserter(out);
  for (const auto address : addresses) {
    const auto place = place_of(model, address);
    fmt::format_to(to, "{:#x},{:#x}", place.address, place.line);
    for (const auto& cache : place.caches) fmt::format_to(to, ",{},{}", cache.slice, cache.set);
    fmt::format_to(to, ",{},{},{},{}\n", place.channel, place.controller, place.bank, place.row);
  }
  return out;
}

std::string places_json(const DeviceModel& model, const std::vector<std::uint64_t>& addresses) {
  using Json = nlohmann::ordered_json;
  Json caches = Json::array();
  for (const auto& cache : model.caches)
    caches.push_back({{"name", cache.name},
                      {"line_bytes", cache.line_bytes},
                      {"slices", cache.slices},
                      {"sets", cache.sets},
                      {"index", is_virtual(cache) ? "virtual" : "physical"}});
  Json list = Json::array();
  for (const auto address : addresses) {
    const auto place = place_of(model, address);
    Json entry{{"address", fmt::format("{:#x}", place.address)}, {"line", fmt::format("{:#x}", place.line)}};
    for (std::size_t i = 0; i < place.caches.size(); ++i)
      entry[model.caches[i].name] = {{"slice", place.caches[i].slice}, {"set", place.caches[i].set}};
    entry["dram"] = {
        {"channel", place.channel}, {"controller", place.controller}, {"bank", place.bank}, {"row", place.row}};
    list.push_back(std::move(entry));
  }
  const Json document{{"model", model.id},
                      {"name", model.name},
                      {"memory_bytes", model.memory_bytes},
                      {"caches", std::move(caches)},
                      {"addresses", std::move(list)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gpusonde::cli

// `gpusonde hash ADDRESS... --model NAME`: which slice, set, channel, bank and row addresses belong to, by the
// functions of a model. Nothing is measured.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <memory>

#include "address_places.hpp"
#include "commands.hpp"
#include "core/units.hpp"

namespace gpusonde::cli {
namespace {

struct HashRequest {
  std::vector<std::string> addresses;
  std::string model;
};

/// `0x1f80`, or what sizes are written as. `where` begins the error: empty, or `stdin:3: `.
Result<std::uint64_t> parse_address(std::string_view text, const std::string& where) {
  if (text.starts_with("0x") || text.starts_with("0X")) {
    std::uint64_t value = 0;
    const auto* const end = text.data() + text.size();
    const auto [rest, code] = std::from_chars(text.data() + 2, end, value, 16);
    if (code == std::errc{} && rest == end) return value;
  } else if (const auto value = parse_bytes(text)) {
    return *value;
  }
  return fail(ErrorKind::usage,
              fmt::format("{}'{}' is not an address; write one such as 0x1f80, 8064 or 2MiB", where, text));
}

Result<void> check_inside(const DeviceModel& model, std::uint64_t address, const std::string& where) {
  if (address < model.memory_bytes) return {};
  return fail(ErrorKind::usage, fmt::format("{}address {:#x} lies beyond the {} of {}; give one below {:#x}", where,
                                            address, format_bytes(model.memory_bytes), model.name, model.memory_bytes));
}

Result<void> add_address(const DeviceModel& model, std::string_view text, const std::string& where,
                         std::vector<std::uint64_t>& addresses) {
  const auto address = parse_address(text, where);
  if (!address) return tl::unexpected(address.error());
  if (auto inside = check_inside(model, *address, where); !inside) return inside;
  addresses.push_back(*address);
  return {};
}

/// One address a line; empty lines are passed over.
Result<void> add_from_stdin(const DeviceModel& model, std::vector<std::uint64_t>& addresses) {
  std::string line;
  for (std::size_t number = 1; std::getline(std::cin, line); ++number) {
    constexpr std::string_view blanks = " \t\r";
    const auto from = line.find_first_not_of(blanks);
    if (from == std::string::npos) continue;
    const auto text = std::string_view(line).substr(from, line.find_last_not_of(blanks) + 1 - from);
    if (auto added = add_address(model, text, fmt::format("stdin:{}: ", number), addresses); !added) return added;
  }
  return {};
}

Result<std::vector<std::uint64_t>> addresses_of(const HashRequest& request, const DeviceModel& model) {
  if (std::count(request.addresses.begin(), request.addresses.end(), "-") > 1)
    return fail(ErrorKind::usage, "'-' is given twice, and stdin can be read once; give it once");
  std::vector<std::uint64_t> addresses;
  for (const auto& text : request.addresses) {
    auto added = text == "-" ? add_from_stdin(model, addresses) : add_address(model, text, "", addresses);
    if (!added) return tl::unexpected(added.error());
  }
  if (addresses.empty())
    return fail(ErrorKind::usage,
                "no address is given; write one such as 0x1f80 or 2MiB, or - to read them from stdin");
  return addresses;
}

int print_hash(const CommandContext& context, const HashRequest& request) {
  if (request.model.empty())
    return report_error({ErrorKind::usage, fmt::format("--model is missing; give one of {}, or FILE.toml",
                                                       fmt::join(built_in_models(), ", "))});
  const auto model = find_model(request.model);
  if (!model) return report_error(model.error());
  const auto addresses = addresses_of(request, *model);
  if (!addresses) return report_error(addresses.error());
  if (context.global.json) return write_stdout(places_json(*model, *addresses));
  return write_stdout(context.global.csv ? places_csv(*model, *addresses) : places_text(*model, *addresses));
}

}  // namespace

void add_hash(CLI::App& app, CommandContext& context) {
  auto* command = app.add_subcommand("hash", "Slice, set, channel, bank and row of addresses, by a model");
  const auto request = std::make_shared<HashRequest>();
  command->add_option("address", request->addresses, "Physical: 0x1f80, 8064, 2MiB; - reads stdin, one a line");
  command->add_option("--model", request->model, "A built-in model, or FILE.toml");
  command->callback(
      [&context, request] { context.action = [&context, request] { return print_hash(context, *request); }; });
}

}  // namespace gpusonde::cli

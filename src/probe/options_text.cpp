#include "probe/options_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <type_traits>

#include "core/units.hpp"

namespace gpusonde {
namespace {

template <class T>
struct Choice {
  std::string_view name;
  T value;
};

template <class T, std::size_t N>
Result<T> choose(const Choice<T> (&choices)[N], std::string_view what, std::string_view text) {
  std::vector<std::string_view> names;
  for (const auto& choice : choices) {
    if (choice.name == text) return choice.value;
    names.push_back(choice.name);
  }
  return fail(ErrorKind::usage,
              fmt::format("{} '{}' is not known; choose from {}", what, text, fmt::join(names, ", ")));
}

// A comma list without repetitions, in the order given.
template <class T, std::size_t N>
Result<std::vector<T>> choose_list(const Choice<T> (&choices)[N], std::string_view what, std::string_view text) {
  std::vector<T> values;
  while (true) {
    const auto comma = text.find(',');
    const auto value = choose(choices, what, text.substr(0, comma));
    if (!value) return tl::unexpected(value.error());
    if (std::find(values.begin(), values.end(), *value) == values.end()) values.push_back(*value);
    if (comma == std::string_view::npos) return values;
    text.remove_prefix(comma + 1);
  }
}

constexpr Choice<LoadPath> k_policies[] = {
    {"ca", LoadPath::global_ca}, {"cg", LoadPath::global_cg}, {"cv", LoadPath::global_cv}, {"nc", LoadPath::global_nc}};
constexpr Choice<ChainKind> k_chains[] = {{"pointer", ChainKind::pointer}, {"index", ChainKind::index}};
constexpr Choice<SizePreset> k_presets[] = {
    {"dense", SizePreset::dense}, {"log", SizePreset::log}, {"quick", SizePreset::quick}};
constexpr Choice<std::optional<Warmup>> k_warmups[] = {
    {"serial", Warmup::serial}, {"parallel", Warmup::parallel}, {"auto", std::nullopt}};

template <class T, std::size_t N>
std::string name_of(const Choice<T> (&choices)[N], const T& value) {
  for (const auto& choice : choices)
    if (choice.value == value) return std::string(choice.name);
  return {};
}

template <class T, std::size_t N>
std::string names_of(const Choice<T> (&choices)[N], const std::vector<T>& values) {
  std::vector<std::string> names;
  for (const auto& value : values) names.push_back(name_of(choices, value));
  return fmt::format("{}", fmt::join(names, ","));
}

// The whole of a text as a number that T holds.
template <class T>
Result<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc() && end == text.data() + text.size()) return value;
  if constexpr (std::is_floating_point_v<T>)
    return fail(ErrorKind::usage, fmt::format("'{}' is not a number; give one, such as 0.9", text));
  else
    return fail(ErrorKind::usage,
                fmt::format("'{}' is not a whole number from 0 to {}", text, std::numeric_limits<T>::max()));
}

Result<std::vector<std::uint64_t>> parse_sizes(std::string_view text) {
  std::vector<std::uint64_t> sizes;
  while (true) {
    const auto comma = text.find(',');
    auto bytes = parse_bytes(std::string(text.substr(0, comma)));
    if (!bytes) return tl::unexpected(bytes.error());
    sizes.push_back(*bytes);
    if (comma == std::string_view::npos) return sizes;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<std::vector<LoadPath>> parse_policies(const std::string& text) {
  return choose_list(k_policies, "policy", text);
}
Result<std::vector<ChainKind>> parse_chains(const std::string& text) { return choose_list(k_chains, "chain", text); }
Result<SizePreset> parse_preset(const std::string& text) { return choose(k_presets, "preset", text); }
Result<std::optional<Warmup>> parse_warmup(const std::string& text) { return choose(k_warmups, "warm-up", text); }

OptionValues to_values(const ProbeOptions& options) {
  const auto& latency = options.latency;
  const auto& sweep = options.sweep;
  const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
  return {{"preset", name_of(k_presets, latency.preset)},
          {"min", std::to_string(latency.min_bytes)},
          {"max", std::to_string(latency.max_bytes)},
          {"points-per-octave", std::to_string(latency.points_per_octave)},
          {"policy", names_of(k_policies, latency.policies)},
          {"chain", names_of(k_chains, latency.chains)},
          {"subtract-overhead", flag(latency.subtract_overhead)},
          {"warmup", name_of(k_warmups, latency.warmup)},
          {"hops", std::to_string(latency.hops)},
          {"sweep-strides", fmt::format("{}", fmt::join(sweep.strides_bytes, ","))},
          {"sweep-min-bytes", std::to_string(sweep.min_bytes)},
          {"sweep-max-bytes", std::to_string(sweep.max_bytes)},
          {"sweep-max-mem-frac", fmt::format("{}", sweep.max_mem_fraction)},
          {"sweep-policy", names_of(k_policies, sweep.policies)},
          {"sweep-step", std::to_string(sweep.step)},
          {"sweep-laps", std::to_string(sweep.laps)},
          {"map-lines", std::to_string(options.map_lines)},
          {"map-only", flag(options.map_only)},
          {"quick", flag(options.quick)},
          {"thorough", flag(options.thorough)}};
}

Result<ProbeOptions> probe_options_from(const OptionValues& values) {
  ProbeOptions options;
  auto& latency = options.latency;
  auto& sweep = options.sweep;
  for (const auto& [name, text] : values) {
    const auto take = [&option = name](auto parsed, auto& into) -> Result<void> {
      if (!parsed)
        return fail(ErrorKind::bad_input, fmt::format("option {} in the run: {}", option, parsed.error().message));
      into = static_cast<std::remove_reference_t<decltype(into)>>(std::move(*parsed));
      return {};
    };
    Result<void> taken;
    if (name == "preset") taken = take(parse_preset(text), latency.preset);
    if (name == "min") taken = take(parse_bytes(text), latency.min_bytes);
    if (name == "max") taken = take(parse_bytes(text), latency.max_bytes);
    if (name == "points-per-octave") taken = take(parse_bytes(text), latency.points_per_octave);
    if (name == "policy") taken = take(parse_policies(text), latency.policies);
    if (name == "chain") taken = take(parse_chains(text), latency.chains);
    if (name == "warmup") taken = take(parse_warmup(text), latency.warmup);
    if (name == "hops") taken = take(parse_bytes(text), latency.hops);
    if (name == "sweep-strides") taken = take(parse_sizes(text), sweep.strides_bytes);
    if (name == "sweep-min-bytes") taken = take(parse_bytes(text), sweep.min_bytes);
    if (name == "sweep-max-bytes") taken = take(parse_bytes(text), sweep.max_bytes);
    if (name == "sweep-max-mem-frac") taken = take(parse_number<double>(text), sweep.max_mem_fraction);
    if (name == "sweep-policy") taken = take(parse_policies(text), sweep.policies);
    if (name == "sweep-step") taken = take(parse_number<std::uint64_t>(text), sweep.step);
    if (name == "sweep-laps") taken = take(parse_number<std::uint32_t>(text), sweep.laps);
    if (name == "subtract-overhead") latency.subtract_overhead = text == "true";
    if (name == "map-lines") taken = take(parse_number<std::uint64_t>(text), options.map_lines);
    if (name == "map-only") options.map_only = text == "true";
    if (name == "quick") options.quick = text == "true";
    if (name == "thorough") options.thorough = text == "true";
    if (!taken) return tl::unexpected(taken.error());
  }
  return options;
}

}  // namespace gpusonde

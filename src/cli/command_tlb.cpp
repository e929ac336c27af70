// `gpusonde tlb`: the translation caches, and the sweep by stride over memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/units.hpp"
#include "device_choice.hpp"
#include "measure_command.hpp"
#include "probe/options_text.hpp"
#include "probe/sweep_plan.hpp"
#include "survey/run_file.hpp"
#include "survey/sweep_csv.hpp"

namespace gpusonde::cli {
namespace {

namespace fs = std::filesystem;

constexpr double k_least_factor = 1.01;
constexpr double k_largest_factor = 1024;
constexpr std::uint64_t k_line_bytes = 128;

struct SweepTexts {
  std::string strides, stride_min, stride_max, min_bytes, max_bytes, policy = "ca,cg";
  std::optional<double> stride_factor;  ///< empty: 2
  double max_mem_frac = 0.9;
  std::optional<std::int64_t> step;  ///< signed, so that CLI11 does not wrap what is below 0
  bool shuffle = false;
  std::uint32_t laps = 2;
  std::string csv;  ///< a file; `-`: stdout; empty: none
  bool append = false;
};

Result<std::uint64_t> bytes_of(const char* option, const std::string& text) {
  if (text.empty()) return 0;
  auto bytes = parse_bytes(text);
  if (!bytes) return fail(ErrorKind::usage, fmt::format("{} {}", option, bytes.error().message));
  if (*bytes == 0)
    return fail(ErrorKind::usage, fmt::format("{} 0: give at least a line, 128 B, such as 2MiB", option));
  return bytes;
}

Result<std::vector<std::uint64_t>> listed_strides(const std::string& text) {
  std::vector<std::uint64_t> strides;
  for (std::size_t from = 0; from <= text.size();) {
    const auto comma = std::min(text.find(',', from), text.size());
    const auto stride = bytes_of("--strides", text.substr(from, comma - from));
    if (!stride) return tl::unexpected(stride.error());
    if (*stride == 0) return fail(ErrorKind::usage, "--strides has an empty entry; give sizes such as 2MiB,32MiB");
    if (std::find(strides.begin(), strides.end(), *stride) == strides.end()) strides.push_back(*stride);
    from = comma + 1;
  }
  return strides;
}

Result<std::uint64_t> end_of_range(const char* option, const std::string& text) {
  const auto bytes = bytes_of(option, text);
  if (bytes && *bytes % k_line_bytes != 0)
    return fail(ErrorKind::usage, fmt::format("{} {}: give a multiple of a line, 128 B", option, format_bytes(*bytes)));
  return bytes;
}

// Each a whole number of lines, since a factor such as 1.5 leads between them.
Result<std::vector<std::uint64_t>> strides_between(const SweepTexts& texts) {
  const auto low = end_of_range("--stride-min", texts.stride_min);
  if (!low) return tl::unexpected(low.error());
  const auto high = end_of_range("--stride-max", texts.stride_max);
  if (!high) return tl::unexpected(high.error());
  if (*low > *high)
    return fail(ErrorKind::usage,
                fmt::format("--stride-min {} lies above --stride-max {}", format_bytes(*low), format_bytes(*high)));
  const auto first = static_cast<double>(*low) / k_line_bytes;
  const auto last = static_cast<double>(*high) / k_line_bytes;
  std::vector<std::uint64_t> strides;
  for (double lines = first; std::round(lines) <= last; lines *= texts.stride_factor.value_or(2)) {
    const auto stride = k_line_bytes * static_cast<std::uint64_t>(std::llround(lines));
    if (strides.empty() || strides.back() != stride) strides.push_back(stride);
  }
  return strides;
}

Result<std::vector<std::uint64_t>> strides_of(const SweepTexts& texts) {
  const bool range = !texts.stride_min.empty() || !texts.stride_max.empty();
  if (range && !texts.strides.empty())
    return fail(ErrorKind::usage, "--strides excludes --stride-min and --stride-max; choose one way");
  if (range && (texts.stride_min.empty() || texts.stride_max.empty()))
    return fail(ErrorKind::usage, "--stride-min and --stride-max belong together; give both");
  if (texts.stride_factor && !(*texts.stride_factor >= k_least_factor && *texts.stride_factor <= k_largest_factor))
    return fail(ErrorKind::usage, fmt::format("--stride-factor {}: give {} to {}, such as 2", *texts.stride_factor,
                                              k_least_factor, k_largest_factor));
  if (texts.stride_factor && !range)
    return fail(ErrorKind::usage,
                "--stride-factor leads from one stride to the next; give --stride-min and --stride-max");
  if (range) return strides_between(texts);
  if (!texts.strides.empty()) return listed_strides(texts.strides);
  return SweepOptions{}.strides_bytes;
}

Result<SweepOptions> sweep_options(const SweepTexts& texts) {
  SweepOptions options;
  auto strides = strides_of(texts);
  if (!strides) return tl::unexpected(strides.error());
  options.strides_bytes = std::move(*strides);
  const auto least = bytes_of("--min-bytes", texts.min_bytes);
  if (!least) return tl::unexpected(least.error());
  const auto most = bytes_of("--max-bytes", texts.max_bytes);
  if (!most) return tl::unexpected(most.error());
  options.min_bytes = *least;
  options.max_bytes = *most;
  auto policies = parse_policies(texts.policy);
  if (!policies) return tl::unexpected(policies.error());
  options.policies = std::move(*policies);
  if (texts.shuffle && texts.step) return fail(ErrorKind::usage, "--step and --shuffle exclude each other; choose one");
  if (texts.step && *texts.step < 1)
    return fail(ErrorKind::usage,
                fmt::format("--step {}: give at least 1, or leave it out for a random order", *texts.step));
  options.max_mem_fraction = texts.max_mem_frac;
  options.step = static_cast<std::uint64_t>(texts.step.value_or(0));
  options.laps = texts.laps;
  return options;
}

void warn_of_small_strides(const GlobalOptions& global, const SweepOptions& options, Target& target) {
  const auto page = target.alias_space().page_bytes;
  for (const auto stride : options.strides_bytes)
    if (stride < page)
      return report_warning(global,
                            fmt::format("a stride of {} puts several nodes on a page of {}: steps are not by pages",
                                        format_bytes(stride), format_bytes(page)));
}

// Said before measuring: a file that cannot be written, or that would be more than replaced.
Result<void> check_csv(const std::string& file, bool append) {
  const auto wrong = [&](std::string_view why) {
    return fail(ErrorKind::output, fmt::format("--csv {}: {}", file, why));
  };
  std::error_code ignored;
  const fs::path path(file);
  const auto folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ignored)) return wrong("there is no such folder; make it, or name another one");
  if (fs::is_directory(path, ignored)) return wrong("is a folder; name a file");
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored))
    return wrong("is no plain file; name another one, or none, for stdout");
  if (append)
    if (auto possible = check_append(path); !possible) return possible;
  if (!prepare_output_folder(folder)) return wrong("cannot be written there; name a file in another folder");
  return {};
}

int sweep(CommandContext& context, const SweepTexts& texts) {
  auto options = sweep_options(texts);
  if (!options) return report_error(options.error());
  const bool to_file = !texts.csv.empty() && texts.csv != "-";
  if (texts.append && !to_file)
    return report_error({ErrorKind::usage, "--append needs a file to append to; give --csv FILE"});
  if (texts.csv == "-") context.global.csv = true;
  if (context.global.json && context.global.csv)
    return report_error({ErrorKind::usage, "--json and --csv exclude each other; choose one, or give --csv a file"});
  MeasureRequest request;
  request.opened = [&context, sweep = *options, file = to_file ? texts.csv : "",
                    append = texts.append](Target& target) -> Result<void> {
    if (auto possible = check_sweep(sweep, target.capabilities().max_ring_bytes); !possible) return possible;
    if (!file.empty())
      if (auto possible = check_csv(file, append); !possible) return possible;
    warn_of_small_strides(context.global, sweep, target);
    return {};
  };
  request.probe.quick = context.global.quick;
  request.probe.sweep = std::move(*options);
  request.probes = {"clock", "sweep"};
  request.csv_table = "tlb.sweep";
  request.text = sweep_text;
  if (to_file)
    request.also = [file = texts.csv, append = texts.append, first = true](const Run& run) mutable -> Result<void> {
      const auto* table = run.measurements.find("tlb.sweep");
      if (table == nullptr || table->rows() == 0) return {};
      const bool more = append || !first;  // several devices go to one file
      first = false;
      return more ? append_sweep_csv(file, *table) : write_file(file, table_csv(*table));
    };
  return measure(context, request);
}

int info(const CommandContext& context) {
  bool by_default = false;
  const auto labels = device_labels(context.global, by_default);
  if (!labels) return report_error(labels.error());
  auto all = nlohmann::ordered_json::array();
  std::string text;
  for (const auto& label : *labels) {
    auto device = open_device(label, context.global.seed, sim_choices(context.global));
    if (!device) return report_error(device.error());
    const auto space = device->target->alias_space();
    const auto memory = device->target->device().memory_bytes;
    const auto available = device->target->capabilities().max_ring_bytes;
    const auto used = allowed_bytes(SweepOptions{}, available);
    all.push_back({{"device", label},
                   {"name", device->target->device().name},
                   {"memory_bytes", memory},
                   {"available_bytes", available},
                   {"sweep_bytes", used},
                   {"page_bytes", space.page_bytes},
                   {"alias_span_bytes", space.span_bytes},
                   {"alias_max_pages", space.max_pages},
                   {"why_not", space.why_not}});
    text += fmt::format("{}\n", device->target->device().name);
    text += fmt::format("  memory       {}, of which {} can be had and a sweep uses {}\n", format_bytes(memory),
                        format_bytes(available), format_bytes(used));
    if (space.page_bytes == 0)
      text += fmt::format("  aliases      none: {}\n", space.why_not);
    else
      text += fmt::format(
          "  page         {}, the smallest that is mapped\n"
          "  aliases      one page of memory, at up to {} of the {} addresses of {}\n",
          format_bytes(space.page_bytes), space.max_pages, space.span_bytes / space.page_bytes,
          format_bytes(space.span_bytes));
  }
  return write_stdout(context.global.json ? (all.size() == 1 ? all.front() : all).dump(2) + "\n" : text);
}

void add_sweep(CLI::App& tlb, CommandContext& context) {
  auto* command = tlb.add_subcommand("sweep", "Latency of one node a stride over memory, with L1 and past it");
  const auto texts = std::make_shared<SweepTexts>();
  command->add_option("--strides", texts->strides, "A comma list; default 2MiB,8MiB,32MiB,64MiB");
  command->add_option("--stride-min", texts->stride_min, "Strides from here ...");
  command->add_option("--stride-max", texts->stride_max, "... to here ...");
  command->add_option("--stride-factor", texts->stride_factor, "... each so many times the one before; default 2");
  command->add_option("--min-bytes", texts->min_bytes, "Smallest working set");
  command->add_option("--max-bytes", texts->max_bytes, "Largest working set, the same for all strides");
  command->add_option("--max-mem-frac", texts->max_mem_frac, "Share of the free memory that may be used")
      ->capture_default_str();
  command->add_option("--policy", texts->policy, "Load paths: ca, cg, cv, nc; a comma list")->capture_default_str();
  command->add_option("--step", texts->step, "Node i leads to node i + N; else the order is random");
  command->add_flag("--shuffle", texts->shuffle, "A random order; the default");
  command->add_option("--laps", texts->laps, "Timed laps, after one that warms up")->capture_default_str();
  command->add_option("--csv", texts->csv, "Write the points to this file; without a name to stdout")
      ->expected(0, 1)
      ->default_str("-");
  command->add_flag("--append", texts->append, "Add to the file, which must have the same columns");
  command->callback([&context, texts] { context.action = [&context, texts] { return sweep(context, *texts); }; });
}

}  // namespace

void add_tlb(CLI::App& app, CommandContext& context) {
  auto* command = app.add_subcommand("tlb", "Translation caches: entries, span, ways, replacement, scope, cost");
  const auto wants_info = std::make_shared<bool>(false);
  command->add_flag("--info", *wants_info, "Page size, and how much memory a sweep would use");
  add_sweep(*command, context);
  for (auto* sub : command->get_subcommands({})) sub->fallthrough();
  command->callback([command, &context, wants_info] {
    if (!command->get_subcommands().empty()) return;
    context.action = [&context, wants_info] {
      if (*wants_info) return info(context);
      MeasureRequest request;
      request.probe.quick = context.global.quick;
      request.probes = {"clock", "tlb"};
      request.csv_table = "tlb.alias";
      return measure(context, request);
    };
  });
}

}  // namespace gpusonde::cli

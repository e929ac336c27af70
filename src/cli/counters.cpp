#include "counters.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "device_choice.hpp"
#include "library/open_device.hpp"
#include "survey/ncu_csv.hpp"
#include "target/cuda/toolkit_program.hpp"

namespace gpusonde::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t k_loads = 256;
constexpr const char* k_kernel = "sequence_ca";
struct Counter {
  const char* name;
  const char* metric;
  double of_the_list;  ///< that reading the places of the lanes adds to each load: 32 of 8 bytes
};
constexpr std::array<Counter, 3> k_counters{{
    {"requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 1},
    {"sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 8},
    {"tags", "l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld.sum", 2},
}};

Result<std::vector<CounterReading>> read(const std::string& ncu, const std::string& device,
                                         const std::vector<std::uint64_t>& lanes, std::uint32_t width) {
  std::error_code none;
  const auto self = fs::read_symlink("/proc/self/exe", none);
  const cuda::TemporaryFile file(fmt::format("{}\n", fmt::join(lanes, "\n")), ".csv");
  if (self.empty() || !file.written())
    return fail(ErrorKind::unsupported,
                "cannot write a temporary file for ncu's run; set TMPDIR to a folder that can be written");
  std::string metrics;
  for (const auto& counter : k_counters) metrics += (metrics.empty() ? "" : ",") + std::string(counter.metric);
  auto output = cuda::run_program({ncu, "--csv", "--clock-control", "none", "--cache-control", "none", "--metrics",
                                   metrics, self.string(), "counter-run", "-d", device, "--pattern", file.path(),
                                   "--width", std::to_string(width), "--times", std::to_string(k_loads)},
                                  cuda::ErrorStream::joined);
  if (!output) return fail(ErrorKind::unsupported, output.error().message);
  const auto launches = parse_ncu_csv(output->text, k_kernel);
  if (!launches) return tl::unexpected(launches.error());
  std::vector<CounterReading> readings;
  for (const auto& [name, metric, of_the_list] : k_counters) {
    const auto slope = counter_slope(*launches, metric, k_loads);
    if (!slope) return tl::unexpected(slope.error());
    readings.push_back({name, *slope - of_the_list});
  }
  return readings;
}

}  // namespace

CounterReader counter_reader(const CommandContext& context, bool asked) {
  if (!asked) return {};
  bool by_default = false;
  const auto labels = device_labels(context.global, by_default);
  const auto refuse = [](const std::string& why) -> CounterReader {
    return [why](const std::vector<std::uint64_t>&, std::uint32_t) -> Result<std::vector<CounterReading>> {
      return fail(ErrorKind::unsupported, why);
    };
  };
  if (!labels || labels->empty() || is_simulated(labels->front()))
    return refuse("a simulated GPU has no hardware counters; choose a real one with -d");
  if (labels->size() > 1) return refuse("counters are read of one device at a time; choose one with -d");
  const auto ncu = cuda::find_toolkit_program("ncu");
  if (ncu.empty()) return refuse("ncu was not found; install Nsight Compute, or put its folder into PATH");
  // Numbers as this program reads them.
  ::setenv("LC_ALL", "C", 1);
  return [ncu, device = labels->front()](const std::vector<std::uint64_t>& lanes, std::uint32_t width) {
    return read(ncu, device, lanes, width);
  };
}

}  // namespace gpusonde::cli

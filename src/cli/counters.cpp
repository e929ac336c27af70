#include "counters.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "device_choice.hpp"
#include "library/open_device.hpp"
#include "survey/ncu_csv.hpp"

extern char** environ;

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

std::string find_ncu() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(std::string(path != nullptr ? path : "") + ":/usr/local/cuda/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (!folder.empty() && ::access((folder + "/ncu").c_str(), X_OK) == 0) return folder + "/ncu";
  return {};
}

/// All that a program says, on either stream, whatever its exit status.
Result<std::string> words_of(const std::vector<std::string>& command) {
  const auto broken = [&](const char* why) {
    return fail(ErrorKind::unsupported,
                fmt::format("cannot run {} ({}); check that it works by hand", command[0], why));
  };
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return broken(std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::vector<char*> arguments;
  for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawn(&child, command[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string text;
  std::array<char, 65536> piece{};
  while (error == 0) {
    const auto count = ::read(ends[0], piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  ::close(ends[0]);
  if (error != 0) return broken(std::strerror(error));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return text;
}

/// The pattern as a file for the counted run, gone with this.
class LaneFile {
 public:
  explicit LaneFile(const std::vector<std::uint64_t>& lanes) {
    std::error_code none;
    const auto folder = fs::temp_directory_path(none);
    m_path = ((folder.empty() ? fs::path("/tmp") : folder) / "gpusonde-XXXXXX.csv").string();
    const int file = mkstemps(m_path.data(), 4);
    if (file < 0) return;
    std::string text;
    for (const auto lane : lanes) text += fmt::format("{}\n", lane);
    m_written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::close(file);
  }
  LaneFile(const LaneFile&) = delete;
  LaneFile& operator=(const LaneFile&) = delete;
  ~LaneFile() {
    std::error_code ignored;
    fs::remove(m_path, ignored);
  }
  [[nodiscard]] bool written() const noexcept { return m_written; }
  [[nodiscard]] const std::string& path() const noexcept { return m_path; }

 private:
  std::string m_path;
  bool m_written = false;
};

Result<std::vector<CounterReading>> read(const std::string& ncu, const std::string& device,
                                         const std::vector<std::uint64_t>& lanes, std::uint32_t width) {
  std::error_code none;
  const auto self = fs::read_symlink("/proc/self/exe", none);
  const LaneFile file(lanes);
  if (self.empty() || !file.written())
    return fail(ErrorKind::unsupported,
                "cannot write a temporary file for ncu's run; set TMPDIR to a folder that can be written");
  std::string metrics;
  for (const auto& counter : k_counters) metrics += (metrics.empty() ? "" : ",") + std::string(counter.metric);
  const auto text = words_of({ncu, "--csv", "--clock-control", "none", "--cache-control", "none", "--metrics", metrics,
                              self.string(), "counter-run", "-d", device, "--pattern", file.path(), "--width",
                              std::to_string(width), "--times", std::to_string(k_loads)});
  if (!text) return tl::unexpected(text.error());
  const auto launches = parse_ncu_csv(*text, k_kernel);
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
  const auto ncu = find_ncu();
  if (ncu.empty()) return refuse("ncu was not found; install Nsight Compute, or put its folder into PATH");
  // Numbers as this program reads them.
  ::setenv("LC_ALL", "C", 1);
  return [ncu, device = labels->front()](const std::vector<std::uint64_t>& lanes, std::uint32_t width) {
    return read(ncu, device, lanes, width);
  };
}

}  // namespace gpusonde::cli

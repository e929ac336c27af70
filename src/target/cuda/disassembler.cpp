#include "target/cuda/disassembler.hpp"

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

extern char** environ;

namespace gpusonde::cuda {
namespace {

class TemporaryFile {
 public:
  explicit TemporaryFile(std::span<const std::uint8_t> bytes) {
    std::error_code none;
    auto folder = std::filesystem::temp_directory_path(none);
    m_path = (folder.empty() ? std::filesystem::path("/tmp") : folder) / "gpusonde-XXXXXX";
    m_path += ".cubin";
    auto name = m_path.string();
    const int file = mkstemps(name.data(), 6);
    if (file < 0) return;
    m_path = name;
    m_written = ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    ::close(file);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(m_path, ignored);
  }
  [[nodiscard]] bool written() const noexcept { return m_written; }
  [[nodiscard]] std::string path() const { return m_path.string(); }

 private:
  std::filesystem::path m_path;
  bool m_written = false;
};

std::string read_all(int file) {
  std::string text;
  std::array<char, 65536> piece{};
  for (;;) {
    const auto count = ::read(file, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

std::string find_disassembler() {
  const char* path = std::getenv("PATH");
  const std::string folders = std::string(path != nullptr ? path : "") + ":/usr/local/cuda/bin";
  for (const char* tool : {"nvdisasm", "cuobjdump"}) {
    std::istringstream stream(folders);
    for (std::string folder; std::getline(stream, folder, ':');) {
      if (folder.empty()) continue;
      const auto candidate = folder + "/" + tool;
      if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    }
  }
  return {};
}

Result<std::string> output_of(const std::vector<std::string>& command) {
  const auto broken = [&](const std::string& why) {
    return fail(ErrorKind::measurement,
                fmt::format("cannot run {} ({}); check that it works by hand", command[0], why));
  };
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return broken(std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawn(&child, command[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string text = error == 0 ? read_all(ends[0]) : std::string{};
  ::close(ends[0]);
  if (error != 0) return broken(std::strerror(error));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return broken(fmt::format("it ended with status {}", status));
  return text;
}

Result<std::string> disassemble(const std::string& disassembler, std::span<const std::uint8_t> cubin) {
  const TemporaryFile file(cubin);
  if (!file.written())
    return fail(ErrorKind::measurement,
                "cannot write a temporary file for the disassembler; set TMPDIR to a folder that "
                "can be written");
  if (std::filesystem::path(disassembler).filename() == "cuobjdump")
    return output_of({disassembler, "-sass", file.path()});
  return output_of({disassembler, file.path()});
}

}  // namespace gpusonde::cuda

#include "target/cuda/toolkit_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <sstream>

extern char** environ;

namespace gpusonde::cuda {
namespace {

namespace fs = std::filesystem;

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

std::string find_toolkit_program(std::string_view name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(std::string(path != nullptr ? path : "") + ":/usr/local/cuda/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.empty()) continue;
    const auto candidate = fmt::format("{}/{}", folder, name);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

std::string cannot_run(const std::vector<std::string>& command, std::string_view why) {
  return fmt::format("cannot run {} ({}); check that it works by hand", command[0], why);
}

Result<ProgramOutput> run_program(const std::vector<std::string>& command, ErrorStream errors) {
  const auto broken = [&](int error) {
    return fail(ErrorKind::measurement, cannot_run(command, std::strerror(error)));
  };
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return broken(errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (errors == ErrorStream::joined)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  else
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawn(&child, command[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  ProgramOutput output;
  if (error == 0) output.text = read_all(ends[0]);
  ::close(ends[0]);
  if (error != 0) return broken(error);
  while (::waitpid(child, &output.status, 0) < 0 && errno == EINTR) {
  }
  return output;
}

TemporaryFile::TemporaryFile(std::string_view bytes, std::string_view suffix) {
  std::error_code none;
  const auto folder = fs::temp_directory_path(none);
  m_path = ((folder.empty() ? fs::path("/tmp") : folder) / fmt::format("gpusonde-XXXXXX{}", suffix)).string();
  const int file = mkstemps(m_path.data(), static_cast<int>(suffix.size()));
  if (file < 0) return;
  m_written = ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  ::close(file);
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  fs::remove(m_path, ignored);
}

}  // namespace gpusonde::cuda

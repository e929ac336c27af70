// Runs and results on disk. A file appears whole or not at all: it is written beside its place under
// another name, flushed, and renamed.
#include "survey/run_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

namespace gpusonde {
namespace {

namespace fs = std::filesystem;

std::string_view remedy(int code) {
  switch (code) {
    case EACCES:
    case EPERM:
    case EROFS: return "choose a folder that you may write to with -o";
    case ENOSPC:
    case EDQUOT: return "free some space there, or choose another folder with -o";
    case ENOTDIR:
    case EEXIST: return "a file stands where the folder should be; choose another folder with -o";
    case EISDIR: return "a folder stands where the file should be; remove it, or choose another folder with -o";
    case ENAMETOOLONG: return "choose a shorter name with -o";
    default: return "choose another folder with -o";
  }
}

tl::unexpected<Error> cannot_write(const fs::path& path, int code) {
  return fail(ErrorKind::output, fmt::format("cannot write {}: {}; {}", path.string(),
                                             std::generic_category().message(code), remedy(code)));
}

/// Closes on every way out.
class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : m_fd(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (m_fd >= 0) ::close(m_fd);
  }
  [[nodiscard]] int get() const noexcept { return m_fd; }
  /// errno of the close, or 0: on some file systems a full disk shows only here.
  [[nodiscard]] int close() noexcept {
    const int result = ::close(m_fd);
    m_fd = -1;
    return result == 0 ? 0 : errno;
  }

 private:
  int m_fd;
};

/// 0, or the errno of what failed.
int write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const auto written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

int write_and_flush(const fs::path& path, int flags, std::string_view content, const struct stat* like) {
  Descriptor file(::open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666));
  if (file.get() < 0) return errno;
  if (const int code = write_all(file.get(), content); code != 0) return code;
  if (like != nullptr) (void)::fchmod(file.get(), like->st_mode & 07777);  // keep what the user had set
  // Pipes and terminals cannot be flushed to disk; that is no failure.
  if (::fsync(file.get()) != 0 && errno != EINVAL && errno != EROFS) return errno;
  return file.close();
}

/// Another name in the same folder, so that the rename stays within one file system.
fs::path temporary_beside(const fs::path& path) {
  static std::atomic<unsigned> counter{0};
  return path.parent_path() / fmt::format(".{}.{}-{}.tmp", path.filename().string(), ::getpid(), counter++);
}

void flush_folder(const fs::path& folder) {
  const Descriptor descriptor(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() >= 0) (void)::fsync(descriptor.get());  // the name; best effort
}

}  // namespace

Result<void> write_file(const fs::path& path, std::string_view content) {
  // A link stays a link: what it points at is replaced.
  std::error_code ignored;
  fs::path place = fs::is_symlink(path, ignored) ? fs::canonical(path, ignored) : path;
  if (place.empty()) place = path;
  struct stat there {};
  const bool exists = ::stat(place.c_str(), &there) == 0;
  if (exists && S_ISDIR(there.st_mode)) return cannot_write(path, EISDIR);
  if (exists && !S_ISREG(there.st_mode)) {  // /dev/stdout, a pipe: never replaced by a file
    const int code = write_and_flush(place, 0, content, nullptr);
    if (code != 0) return cannot_write(path, code);
    return {};
  }
  const auto temporary = temporary_beside(place);
  int code = write_and_flush(temporary, O_CREAT | O_EXCL, content, exists ? &there : nullptr);
  if (code == 0 && ::rename(temporary.c_str(), place.c_str()) != 0) code = errno;
  if (code != 0) {
    ::unlink(temporary.c_str());
    return cannot_write(path, code);
  }
  flush_folder(place.parent_path());
  return {};
}

Result<void> save_run(const Run& run, const fs::path& path) { return write_file(path, to_json(run)); }

Result<Run> load_run(const fs::path& path) {
  std::error_code ignored;
  const auto place = fs::is_directory(path, ignored) ? path / "run.json" : path;  // the folder of a survey
  errno = 0;
  std::ifstream stream(place, std::ios::binary);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  if (!stream || stream.bad())
    return fail(ErrorKind::bad_input,
                fmt::format("cannot read {}: {}; give a run.json that gpusonde wrote, or its folder", place.string(),
                            std::generic_category().message(errno != 0 ? errno : EIO)));
  return parse_run(std::move(text).str(), place.string());
}

Result<void> prepare_output_folder(const fs::path& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) return cannot_write(folder, code.value());
  if (!fs::is_directory(folder, code)) return cannot_write(folder, ENOTDIR);
  const auto trial = temporary_beside(folder / "run.json");
  const int failed = write_and_flush(trial, O_CREAT | O_EXCL, "gpusonde", nullptr);
  ::unlink(trial.c_str());
  if (failed != 0) return cannot_write(folder, failed);
  return {};
}

}  // namespace gpusonde

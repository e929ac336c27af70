// Errors as values: what went wrong, in one sentence, and the exit code it leads to.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace gpusonde {

/// Why an operation could not be done. Each kind has one process exit code, see `exit_code`.
enum class ErrorKind {
  usage,        ///< an option or argument is wrong (exit 2)
  bad_input,    ///< a file given as input is wrong (exit 2)
  output,       ///< a result cannot be written (exit 2)
  no_device,    ///< no driver, or no such device (exit 3)
  unsupported,  ///< the device or driver cannot do it (exit 1)
  measurement,  ///< a kernel or an allocation failed (exit 1)
  interrupted,  ///< the user stopped it (exit 130)
};

/// One sentence that names the thing and the way out, without a trailing newline.
struct Error {
  ErrorKind kind = ErrorKind::measurement;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

/// Process exit code that belongs to an error kind.
[[nodiscard]] int exit_code(ErrorKind kind) noexcept;

/// Shorthand: `return fail(ErrorKind::usage, "...");`
[[nodiscard]] inline tl::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}

}  // namespace gpusonde

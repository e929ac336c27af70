#include "target/cuda/disassembler.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <filesystem>

#include "target/cuda/toolkit_program.hpp"

namespace gpusonde::cuda {

std::string find_disassembler() {
  auto found = find_toolkit_program("nvdisasm");
  return found.empty() ? find_toolkit_program("cuobjdump") : found;
}

Result<std::string> output_of(const std::vector<std::string>& command) {
  auto output = run_program(command, ErrorStream::dropped);
  if (!output) return tl::unexpected(output.error());
  if (!WIFEXITED(output->status) || WEXITSTATUS(output->status) != 0)
    return fail(ErrorKind::measurement, cannot_run(command, fmt::format("it ended with status {}", output->status)));
  return std::move(output->text);
}

Result<std::string> disassemble(const std::string& disassembler, std::span<const std::uint8_t> cubin) {
  const TemporaryFile file({reinterpret_cast<const char*>(cubin.data()), cubin.size()}, ".cubin");
  if (!file.written())
    return fail(ErrorKind::measurement,
                "cannot write a temporary file for the disassembler; set TMPDIR to a folder that "
                "can be written");
  if (std::filesystem::path(disassembler).filename() == "cuobjdump")
    return output_of({disassembler, "-sass", file.path()});
  return output_of({disassembler, file.path()});
}

}  // namespace gpusonde::cuda

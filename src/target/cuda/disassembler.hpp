// A disassembler of the CUDA toolkit, where one is installed. gpusonde works without.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gpusonde/error.hpp"

namespace gpusonde::cuda {

/// Path of nvdisasm or else cuobjdump on PATH or in /usr/local/cuda/bin; empty when there is none.
[[nodiscard]] std::string find_disassembler();

/// What the disassembler prints for a cubin. Errors: measurement.
[[nodiscard]] Result<std::string> disassemble(const std::string& disassembler, std::span<const std::uint8_t> cubin);

/// What a program prints on stdout, run without a shell. Errors: measurement (cannot run, exit not 0).
[[nodiscard]] Result<std::string> output_of(const std::vector<std::string>& command);

}  // namespace gpusonde::cuda

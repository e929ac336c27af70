// From embedded PTX to checked machine code.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "target/cuda/cuda_target.hpp"
#include "target/cuda/driver_table.hpp"

namespace gpusonde::cuda {

/// A module's kernels and the PTX of each, in the module's order.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> split_ptx(std::string_view module_ptx);

/// The cubin the driver makes of a module, as `cuModuleLoadData` would. Needs a current context.
[[nodiscard]] Result<std::vector<std::uint8_t>> compile(const DriverTable& driver, const std::string& name,
                                                        std::string_view ptx);

/// Adds SASS and checks to the kernels, from what a disassembler printed for their module.
void add_machine_code(std::vector<KernelCode>& kernels, std::string_view disassembly, const std::string& architecture);

}  // namespace gpusonde::cuda

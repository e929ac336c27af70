#include "target/cuda/handles.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "core/units.hpp"

namespace gpusonde::cuda {
namespace {

// "ptxas application ptx input, line 3; error : ..." and not the blank lines around it.
std::string_view first_line(std::string_view log) {
  while (!log.empty() && (log.front() == '\n' || log.front() == ' ')) log.remove_prefix(1);
  return log.substr(0, log.find('\n'));
}

}  // namespace

Result<Context> Context::retain(const DriverTable& driver, Device device) {
  ContextHandle handle = nullptr;
  if (const auto result = driver.primary_ctx_retain(&handle, device); result != k_success)
    return tl::unexpected(driver_error(driver, result, "cannot open a context on the GPU"));
  Context context(driver, device, handle);
  if (const auto used = context.use(); !used) return tl::unexpected(used.error());
  return context;
}

Context::~Context() {
  if (m_handle != nullptr) m_driver->primary_ctx_release(m_device);
}

Result<void> Context::use() const {
  if (const auto result = m_driver->ctx_set_current(m_handle); result != k_success)
    return tl::unexpected(driver_error(*m_driver, result, "cannot use the GPU's context"));
  return {};
}

Result<Module> Module::load(const DriverTable& driver, const char* name, const char* ptx) {
  std::array<char, 4096> log{};
  std::array options{JitOption::error_log, JitOption::error_log_bytes};
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
  ModuleHandle handle = nullptr;
  const auto result = driver.module_load_data_ex(&handle, ptx, options.size(), options.data(), values.data());
  if (result != k_success) {
    log.back() = '\0';
    const auto line = first_line(log.data());
    auto error = driver_error(driver, result, fmt::format("the driver cannot compile the kernels of '{}'", name));
    error.kind = ErrorKind::unsupported;
    if (!line.empty()) error.message += fmt::format("; it says: {}", line);
    return tl::unexpected(std::move(error));
  }
  return Module(driver, handle);
}

Module::~Module() {
  if (m_handle != nullptr) m_driver->module_unload(m_handle);
}

Result<FunctionHandle> Module::function(const char* name) const {
  FunctionHandle function = nullptr;
  if (const auto result = m_driver->module_get_function(&function, m_handle, name); result != k_success)
    return tl::unexpected(driver_error(*m_driver, result, fmt::format("kernel {} is not in its module", name)));
  return function;
}

Result<DevicePointer> Module::variable(const char* name) const {
  DevicePointer address = 0;
  if (const auto result = m_driver->module_get_global(&address, nullptr, m_handle, name); result != k_success)
    return tl::unexpected(driver_error(*m_driver, result, fmt::format("variable {} is not in its module", name)));
  return address;
}

Result<DeviceMemory> DeviceMemory::allocate(const DriverTable& driver, std::size_t bytes) {
  DevicePointer address = 0;
  const auto result = driver.mem_alloc(&address, bytes);
  if (result == k_out_of_memory) {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    driver.mem_get_info(&free_bytes, &total_bytes);
    return fail(ErrorKind::measurement,
                fmt::format("the GPU cannot give {} of memory ({} of {} are free); choose a smaller --max or end other "
                            "programs on it",
                            format_bytes(bytes), format_bytes(free_bytes), format_bytes(total_bytes)));
  }
  if (result != k_success)
    return tl::unexpected(driver_error(driver, result, fmt::format("cannot allocate {}", format_bytes(bytes))));
  return DeviceMemory(driver, address, bytes);
}

DeviceMemory::~DeviceMemory() {
  if (m_address != 0) m_driver->mem_free(m_address);
}

}  // namespace gpusonde::cuda

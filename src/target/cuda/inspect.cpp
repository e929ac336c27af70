#include "target/cuda/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "target/cuda/device_list.hpp"
#include "target/cuda/disassembler.hpp"
#include "target/cuda/handles.hpp"
#include "target/cuda/kernel_modules.hpp"
#include "target/cuda/sass_checks.hpp"

namespace gpusonde {
namespace cuda {

std::vector<std::pair<std::string, std::string>> split_ptx(std::string_view ptx) {
  constexpr std::string_view k_entry = ".visible .entry ";
  std::vector<std::pair<std::string, std::string>> kernels;
  for (auto at = ptx.find(k_entry); at != std::string_view::npos; at = ptx.find(k_entry, at + 1)) {
    const auto name = ptx.substr(at + k_entry.size(), ptx.find('(', at) - at - k_entry.size());
    const auto end = ptx.find("\n}\n", at);
    const auto length = end == std::string_view::npos ? std::string_view::npos : end + 3 - at;
    kernels.emplace_back(name, ptx.substr(at, length));
  }
  return kernels;
}

Result<std::vector<std::uint8_t>> compile(const DriverTable& driver, const std::string& name, std::string_view ptx) {
  const auto failed = [&](DriverResult result) {
    auto error = driver_error(driver, result, fmt::format("the driver cannot compile the kernels of '{}'", name));
    error.kind = ErrorKind::unsupported;
    return tl::unexpected(std::move(error));
  };
  LinkHandle link = nullptr;
  if (const auto result = driver.link_create(0, nullptr, nullptr, &link); result != k_success) return failed(result);
  std::string image(ptx);  // the driver takes it as not const
  void* cubin = nullptr;
  std::size_t size = 0;
  auto result =
      driver.link_add_data(link, k_jit_input_ptx, image.data(), image.size() + 1, name.c_str(), 0, nullptr, nullptr);
  if (result == k_success) result = driver.link_complete(link, &cubin, &size);
  std::vector<std::uint8_t> bytes;
  if (result == k_success) {  // the cubin goes with the link state
    const auto* first = static_cast<const std::uint8_t*>(cubin);
    bytes.assign(first, first + size);
  }
  driver.link_destroy(link);
  if (result != k_success) return failed(result);
  return bytes;
}

void add_machine_code(std::vector<KernelCode>& kernels, std::string_view disassembly, const std::string& architecture) {
  const auto found = sass_architecture(disassembly);
  for (const auto& function : parse_sass(disassembly)) {
    const auto kernel =
        std::find_if(kernels.begin(), kernels.end(), [&](const KernelCode& k) { return k.name == function.name; });
    if (kernel == kernels.end() || function.instructions.empty()) continue;
    kernel->sass = function.text;
    kernel->checks = check_sass(function);
    kernel->checks.push_back(check_architecture(found, architecture));
  }
}

namespace {

SassReport ptx_report(const std::string& wanted) {
  SassReport report;
  for (const auto& module : kernel_modules()) {
    bool used = false;
    for (auto& [name, ptx] : split_ptx(module.ptx)) {
      if (name.find(wanted) == std::string::npos) continue;
      report.kernels.push_back({.name = name, .ptx = ptx, .sass = {}, .checks = {}});
      used = true;
    }
    if (used) report.modules.push_back({.name = std::string(module.name), .ptx = std::string(module.ptx), .cubin = {}});
  }
  return report;
}

bool runs_on(const std::string& name, std::uint32_t capability) {
  for (const auto& module : kernel_modules())
    if (module.name == name) return module.least_capability <= capability;
  return false;
}

std::string kernel_names() {
  std::string names;
  for (const auto& module : kernel_modules())
    for (const auto& [name, ptx] : split_ptx(module.ptx)) names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace
}  // namespace cuda

Result<SassReport> inspect_kernels(const std::optional<std::string>& device, const std::string& kernel) {
  auto report = cuda::ptx_report(kernel);
  if (report.kernels.empty())
    return fail(ErrorKind::usage,
                fmt::format("no kernel has '{}' in its name; there are: {}", kernel, cuda::kernel_names()));
  report.disassembler = cuda::find_disassembler();
  if (!device) return report;
  const auto loaded = cuda::load_driver();
  if (!loaded) return tl::unexpected(loaded.error());
  const auto& driver = **loaded;
  const auto devices = cuda::list_devices(driver);
  if (!devices) return tl::unexpected(devices.error());
  const auto ordinal = cuda::find_device(*devices, *device);
  if (!ordinal) return tl::unexpected(ordinal.error());
  const auto& info = (*devices)[static_cast<std::size_t>(*ordinal)];
  report.architecture = fmt::format("sm_{}{}", info.compute_capability_major, info.compute_capability_minor);
  cuda::Device handle = 0;
  if (const auto result = driver.device_get(&handle, *ordinal); result != cuda::k_success)
    return tl::unexpected(cuda::driver_error(driver, result, "cannot open the GPU"));
  const auto context = cuda::Context::retain(driver, handle);
  if (!context) return tl::unexpected(context.error());
  const auto capability = info.compute_capability_major * 10 + info.compute_capability_minor;
  for (auto& module : report.modules) {
    if (!cuda::runs_on(module.name, capability)) continue;
    auto cubin = cuda::compile(driver, module.name, module.ptx);
    if (!cubin) return tl::unexpected(cubin.error());
    module.cubin = std::move(*cubin);
    if (report.disassembler.empty()) continue;
    const auto text = cuda::disassemble(report.disassembler, module.cubin);
    if (!text) return tl::unexpected(text.error());
    cuda::add_machine_code(report.kernels, *text, report.architecture);
  }
  return report;
}

std::string architecture_info() {
  const auto disassembler = cuda::find_disassembler();
  std::string text =
      "PTX: 6.0 for sm_70; runs on compute capability 7.0 (Volta) and later, with any driver since CUDA 9\n"
      "     sequence_l2: 7.4 for sm_80; for L2 prefetch sizes and dropped lines, with a driver since CUDA 11.4\n"
      "     cluster: 7.8 for sm_90; for shared memory of other SMs, with a driver since CUDA 11.8\n";
  if (disassembler.empty())
    return text + "disassembler: none (nvdisasm or cuobjdump of the CUDA toolkit is not on PATH)\n";
  text += fmt::format("disassembler: {}\n", disassembler);
  if (const auto version = cuda::output_of({disassembler, "--version"})) text += *version;
  return text;
}

}  // namespace gpusonde

#include "target/cuda/device_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

namespace gpusonde::cuda {
namespace {

std::string uuid_text(const DeviceUuid& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid.bytes[i]);
  }
  return text;
}

std::uint32_t attribute(const DriverTable& driver, DeviceAttribute which, Device device) {
  int value = 0;
  if (driver.device_get_attribute(&value, which, device) != k_success || value < 0) return 0;
  return static_cast<std::uint32_t>(value);
}

Result<DeviceInfo> describe(const DriverTable& driver, Device device) {
  DeviceInfo info;
  info.kind = DeviceKind::cuda;
  std::array<char, 256> text{};
  if (const auto result = driver.device_get_name(text.data(), text.size() - 1, device); result != k_success)
    return tl::unexpected(driver_error(driver, result, "cannot ask the driver for a GPU's name"));
  info.name = text.data();
  DeviceUuid uuid{};
  if (driver.device_get_uuid(&uuid, device) == k_success) info.uuid = uuid_text(uuid);
  text.fill('\0');
  if (driver.device_get_pci_bus_id(text.data(), text.size() - 1, device) == k_success) info.pci_bus_id = text.data();
  std::size_t bytes = 0;
  if (driver.device_total_mem(&bytes, device) == k_success) info.memory_bytes = bytes;
  const auto get = [&](DeviceAttribute which) { return attribute(driver, which, device); };
  info.compute_capability_major = get(DeviceAttribute::compute_capability_major);
  info.compute_capability_minor = get(DeviceAttribute::compute_capability_minor);
  info.sm_count = get(DeviceAttribute::sm_count);
  info.nominal.l2_bytes = get(DeviceAttribute::l2_bytes);
  info.nominal.shared_per_sm_bytes = get(DeviceAttribute::shared_bytes_per_sm);
  info.nominal.shared_per_block_bytes = get(DeviceAttribute::shared_bytes_per_block_optin);
  info.nominal.reserved_shared_per_block_bytes = get(DeviceAttribute::reserved_shared_bytes_per_block);
  info.nominal.sm_clock_mhz = get(DeviceAttribute::clock_rate_khz) / 1000;
  info.nominal.memory_clock_mhz = get(DeviceAttribute::memory_clock_rate_khz) / 1000;
  info.nominal.bus_width_bits = get(DeviceAttribute::memory_bus_width_bits);
  return info;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::optional<std::size_t> as_index(const std::string& name) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return index;
}

// `0000:1b:00.0` is also meant by `1b:00.0` and, as NVML writes it, by `00000000:1B:00.0`.
bool is_pci_id(const DeviceInfo& device, const std::string& name) {
  const auto tail = [](const std::string& id) {
    const auto bus = id.rfind(':') == std::string::npos ? std::string::npos : id.rfind(':', id.rfind(':') - 1);
    return bus == std::string::npos ? id : id.substr(bus + 1);
  };
  const auto have = lower(device.pci_bus_id);
  const auto want = lower(name);
  if (have.empty() || tail(have) != tail(want)) return false;
  if (tail(want) == want) return true;
  const auto domain = [](const std::string& id) { return std::strtoul(id.c_str(), nullptr, 16); };
  return domain(have) == domain(want);
}

std::string what_there_is(const std::vector<DeviceInfo>& devices) {
  std::string text;
  for (std::size_t i = 0; i < devices.size(); ++i)
    text +=
        fmt::format("{}{} {} ({}, {})", i == 0 ? "" : "; ", i, devices[i].name, devices[i].uuid, devices[i].pci_bus_id);
  return text;
}

}  // namespace

Result<std::vector<DeviceInfo>> list_devices(const DriverTable& driver) {
  int count = 0;
  if (const auto result = driver.device_get_count(&count); result != k_success)
    return tl::unexpected(driver_error(driver, result, "cannot count the GPUs"));
  if (count == 0)
    return fail(ErrorKind::no_device,
                "the NVIDIA driver finds no GPU; check nvidia-smi and CUDA_VISIBLE_DEVICES, or choose a simulated GPU, "
                "e.g. -d sim:rtx4090");
  std::vector<DeviceInfo> devices;
  for (int i = 0; i < count; ++i) {
    Device device = 0;
    if (const auto result = driver.device_get(&device, i); result != k_success)
      return tl::unexpected(driver_error(driver, result, fmt::format("cannot open GPU {}", i)));
    auto info = describe(driver, device);
    if (!info) return tl::unexpected(info.error());
    devices.push_back(std::move(*info));
  }
  return devices;
}

Result<int> find_device(const std::vector<DeviceInfo>& devices, const std::string& name) {
  if (const auto index = as_index(name)) {
    if (*index < devices.size()) return static_cast<int>(*index);
    return fail(ErrorKind::no_device,
                fmt::format("there is no device {}; choose from: {}", name, what_there_is(devices)));
  }
  std::vector<int> found;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto uuid = lower(devices[i].uuid);
    const bool by_uuid = name.size() >= 5 && lower(name).rfind("gpu-", 0) == 0 && uuid.rfind(lower(name), 0) == 0;
    if (by_uuid || is_pci_id(devices[i], name)) found.push_back(static_cast<int>(i));
  }
  if (found.size() == 1) return found.front();
  return fail(ErrorKind::no_device, fmt::format("{} '{}'; choose from: {}",
                                                found.empty() ? "there is no device" : "several devices begin with",
                                                name, what_there_is(devices)));
}

}  // namespace gpusonde::cuda

#include "target/cuda/driver_table.hpp"

#include <fmt/format.h>

#include "target/cuda/shared_library.hpp"

namespace gpusonde::cuda {
namespace {

constexpr int k_oldest_driver = 9000;  // PTX 6.0 came with CUDA 9

Result<DriverTable> open_driver() {
  SharedLibrary library("libcuda.so.1");
  if (!library.opened())
    return fail(ErrorKind::no_device,
                "no NVIDIA driver on this machine (libcuda.so.1 is not there); install it, or choose a simulated GPU, "
                "e.g. -d sim:rtx4090");
  DriverTable table;
  library.get(table.init, "cuInit");
  library.get(table.driver_get_version, "cuDriverGetVersion");
  library.get(table.get_error_name, "cuGetErrorName");
  library.get(table.get_error_string, "cuGetErrorString");
  library.get(table.device_get_count, "cuDeviceGetCount");
  library.get(table.device_get, "cuDeviceGet");
  library.get(table.device_get_name, "cuDeviceGetName");
  library.get(table.device_get_attribute, "cuDeviceGetAttribute");
  library.get(table.device_get_uuid, "cuDeviceGetUuid");
  library.get(table.device_get_pci_bus_id, "cuDeviceGetPCIBusId");
  library.get(table.device_total_mem, "cuDeviceTotalMem_v2");
  library.get(table.primary_ctx_retain, "cuDevicePrimaryCtxRetain");
  library.get(table.primary_ctx_release, "cuDevicePrimaryCtxRelease");
  library.get(table.ctx_set_current, "cuCtxSetCurrent");
  library.get(table.ctx_synchronize, "cuCtxSynchronize");
  library.get(table.ctx_get_limit, "cuCtxGetLimit");
  library.get(table.ctx_set_limit, "cuCtxSetLimit");
  library.get(table.module_load_data_ex, "cuModuleLoadDataEx");
  library.get(table.module_unload, "cuModuleUnload");
  library.get(table.module_get_function, "cuModuleGetFunction");
  library.get(table.func_set_attribute, "cuFuncSetAttribute");
  library.get(table.occupancy_max_active_blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  library.get(table.mem_get_info, "cuMemGetInfo_v2");
  library.get(table.mem_alloc, "cuMemAlloc_v2");
  library.get(table.mem_free, "cuMemFree_v2");
  library.get(table.memset_d8, "cuMemsetD8_v2");
  library.get(table.memcpy_dtoh, "cuMemcpyDtoH_v2");
  library.get(table.memcpy_htod, "cuMemcpyHtoD_v2");
  library.get(table.launch_kernel, "cuLaunchKernel");
  library.get(table.link_create, "cuLinkCreate_v2");
  library.get(table.link_add_data, "cuLinkAddData_v2");
  library.get(table.link_complete, "cuLinkComplete");
  library.get(table.link_destroy, "cuLinkDestroy");
  library.get_optional(table.mem_get_allocation_granularity, "cuMemGetAllocationGranularity");
  library.get_optional(table.mem_create, "cuMemCreate");
  library.get_optional(table.mem_release, "cuMemRelease");
  library.get_optional(table.mem_address_reserve, "cuMemAddressReserve");
  library.get_optional(table.mem_address_free, "cuMemAddressFree");
  library.get_optional(table.mem_map, "cuMemMap");
  library.get_optional(table.mem_unmap, "cuMemUnmap");
  library.get_optional(table.mem_set_access, "cuMemSetAccess");
  library.get_optional(table.module_get_global, "cuModuleGetGlobal_v2");
  library.get_optional(table.texture_create, "cuTexObjectCreate");
  library.get_optional(table.texture_destroy, "cuTexObjectDestroy");
  library.get_optional(table.launch_kernel_ex, "cuLaunchKernelEx");
  if (!library.missing().empty())
    return fail(ErrorKind::no_device, fmt::format("the NVIDIA driver is too old (it has no {}); install one of CUDA 9 "
                                                  "or later (driver 384 or later)",
                                                  library.missing()));
  return table;
}

Result<DriverTable> open_and_start() {
  auto table = open_driver();
  if (table) {
    if (const auto started = start_driver(*table); !started) return tl::unexpected(started.error());
  }
  return table;
}

}  // namespace

bool DriverTable::has_virtual_memory() const noexcept {
  return mem_get_allocation_granularity != nullptr && mem_create != nullptr && mem_release != nullptr &&
         mem_address_reserve != nullptr && mem_address_free != nullptr && mem_map != nullptr && mem_unmap != nullptr &&
         mem_set_access != nullptr;
}

Result<void> start_driver(const DriverTable& driver) {
  int version = 0;
  if (driver.driver_get_version(&version) == k_success && version < k_oldest_driver)
    return fail(ErrorKind::no_device,
                fmt::format("the NVIDIA driver is too old (it supports CUDA {}.{}); install one of CUDA 9 or later "
                            "(driver 384 or later)",
                            version / 1000, version % 1000 / 10));
  const auto result = driver.init(0);
  if (result == k_no_device)
    return fail(ErrorKind::no_device,
                "the NVIDIA driver finds no GPU; check nvidia-smi and CUDA_VISIBLE_DEVICES, or choose a simulated GPU, "
                "e.g. -d sim:rtx4090");
  if (result != k_success) {
    auto error = driver_error(driver, result, "cannot start the NVIDIA driver");
    error.kind = ErrorKind::no_device;
    return tl::unexpected(std::move(error));
  }
  return {};
}

Result<const DriverTable*> load_driver() {
  static const Result<DriverTable> s_table = open_and_start();
  if (!s_table) return tl::unexpected(s_table.error());
  return &*s_table;
}

std::string driver_words(const DriverTable& driver, DriverResult result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (driver.get_error_name(result, &name) != k_success || name == nullptr) name = "unknown CUDA error";
  if (driver.get_error_string(result, &text) != k_success || text == nullptr) text = "no description";
  if (result == k_launch_timeout)
    text = "the display watchdog stopped it; use a GPU that drives no display, or smaller working sets";
  return fmt::format("{} ({}): {}", name, result, text);
}

Error driver_error(const DriverTable& driver, DriverResult result, const std::string& doing) {
  return Error{ErrorKind::measurement, fmt::format("{}: {}", doing, driver_words(driver, result))};
}

Result<void> driver_done(const DriverTable& driver, DriverResult result, const std::string& doing) {
  if (result == k_success) return {};
  return tl::unexpected(driver_error(driver, result, doing));
}

}  // namespace gpusonde::cuda

// The CUDA driver API, as far as it is used, opened at run time. Types and numbers are declared here so
// that nothing needs CUDA headers. Source: CUDA driver API reference, cuda.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpusonde/error.hpp"

namespace gpusonde::cuda {

using DriverResult = int;  ///< CUresult
using Device = int;        ///< CUdevice
using DevicePointer = std::uint64_t;
struct ContextTag;
struct ModuleTag;
struct FunctionTag;
struct StreamTag;
struct LinkTag;
using ContextHandle = ContextTag*;
using ModuleHandle = ModuleTag*;
using FunctionHandle = FunctionTag*;
using StreamHandle = StreamTag*;
using LinkHandle = LinkTag*;
struct DeviceUuid {
  unsigned char bytes[16];
};
using PhysicalHandle = unsigned long long;  ///< CUmemGenericAllocationHandle

/// CUmemLocation
struct MemoryLocation {
  int type = 0;
  int id = 0;
};
/// CUmemAllocationProp
struct PhysicalProperties {
  int type = 0;
  int requested_handle_types = 0;
  MemoryLocation location;
  void* win32_handle_meta_data = nullptr;
  struct {
    unsigned char compression_type = 0;
    unsigned char gpu_direct_rdma_capable = 0;
    unsigned short usage = 0;
    unsigned char reserved[4] = {};
  } flags;
};
static_assert(sizeof(PhysicalProperties) == 32);
/// CUmemAccessDesc
struct MemoryAccess {
  MemoryLocation location;
  int flags = 0;
};
static_assert(sizeof(MemoryAccess) == 12);
inline constexpr int k_pinned_memory = 1;        ///< CU_MEM_ALLOCATION_TYPE_PINNED
inline constexpr int k_on_device = 1;            ///< CU_MEM_LOCATION_TYPE_DEVICE
inline constexpr int k_minimum_granularity = 0;  ///< CU_MEM_ALLOC_GRANULARITY_MINIMUM
inline constexpr int k_read_and_write = 3;       ///< CU_MEM_ACCESS_FLAGS_PROT_READWRITE

using TextureObject = unsigned long long;  ///< CUtexObject
/// CUDA_RESOURCE_DESC, as far as it describes linear memory.
struct LinearResource {
  int type = 2;  ///< CU_RESOURCE_TYPE_LINEAR
  int padding = 0;
  DevicePointer address = 0;
  int format = 3;  ///< CU_AD_FORMAT_UNSIGNED_INT32
  unsigned channels = 1;
  std::size_t bytes = 0;
  int reserved[26] = {};
  unsigned flags = 0;
  unsigned tail = 0;
};
static_assert(sizeof(LinearResource) == 144);
/// CUDA_TEXTURE_DESC
struct TextureSettings {
  int address_mode[3] = {1, 1, 1};  ///< CU_TR_ADDRESS_MODE_CLAMP
  int filter_mode = 0;              ///< CU_TR_FILTER_MODE_POINT
  unsigned flags = 1;               ///< CU_TRSF_READ_AS_INTEGER
  unsigned max_anisotropy = 0;
  int mipmap_filter_mode = 0;
  float mipmap_levels[3] = {};
  float border_color[4] = {};
  int reserved[12] = {};
};
static_assert(sizeof(TextureSettings) == 104);

/// CUlaunchAttribute, for the shape of a cluster.
struct LaunchAttribute {
  int id = 4;  ///< CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
  int padding = 0;
  unsigned cluster[3] = {1, 1, 1};
  unsigned reserved[13] = {};
};
static_assert(sizeof(LaunchAttribute) == 72);
/// CUlaunchConfig
struct LaunchConfig {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned dynamic_shared_bytes = 0;
  StreamHandle stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};
static_assert(sizeof(LaunchConfig) == 56);

inline constexpr int k_l2_fetch_limit = 5;  ///< CU_LIMIT_MAX_L2_FETCH_GRANULARITY, since CUDA 11

inline constexpr DriverResult k_success = 0;
inline constexpr DriverResult k_out_of_memory = 2;
inline constexpr DriverResult k_no_device = 100;
inline constexpr DriverResult k_launch_timeout = 702;

/// CUdevice_attribute
enum class DeviceAttribute : int {
  max_threads_per_block = 1,
  clock_rate_khz = 13,
  sm_count = 16,
  memory_clock_rate_khz = 36,
  memory_bus_width_bits = 37,
  l2_bytes = 38,
  compute_capability_major = 75,
  compute_capability_minor = 76,
  shared_bytes_per_sm = 81,
  shared_bytes_per_block_optin = 97,
  virtual_memory_management = 102,
  reserved_shared_bytes_per_block = 111,
};
/// CUfunction_attribute
enum class FunctionAttribute : int {
  max_dynamic_shared_bytes = 8,
  preferred_shared_carveout_percent = 9,
};
/// CUjit_option and CUjitInputType
enum class JitOption : int { error_log = 5, error_log_bytes = 6 };
inline constexpr int k_jit_input_ptx = 1;

/// One pointer a function, under its name in the driver without `cu`.
struct DriverTable {
  DriverResult (*init)(unsigned flags) = nullptr;
  DriverResult (*driver_get_version)(int* version) = nullptr;
  DriverResult (*get_error_name)(DriverResult, const char** name) = nullptr;
  DriverResult (*get_error_string)(DriverResult, const char** text) = nullptr;
  DriverResult (*device_get_count)(int* count) = nullptr;
  DriverResult (*device_get)(Device* device, int ordinal) = nullptr;
  DriverResult (*device_get_name)(char* name, int length, Device) = nullptr;
  DriverResult (*device_get_attribute)(int* value, DeviceAttribute, Device) = nullptr;
  DriverResult (*device_get_uuid)(DeviceUuid*, Device) = nullptr;
  DriverResult (*device_get_pci_bus_id)(char* id, int length, Device) = nullptr;
  DriverResult (*device_total_mem)(std::size_t* bytes, Device) = nullptr;
  DriverResult (*primary_ctx_retain)(ContextHandle*, Device) = nullptr;
  DriverResult (*primary_ctx_release)(Device) = nullptr;
  DriverResult (*ctx_set_current)(ContextHandle) = nullptr;
  DriverResult (*ctx_synchronize)() = nullptr;
  DriverResult (*ctx_get_limit)(std::size_t* value, int limit) = nullptr;
  DriverResult (*ctx_set_limit)(int limit, std::size_t value) = nullptr;
  DriverResult (*module_load_data_ex)(ModuleHandle*, const void* image, unsigned option_count, JitOption* options,
                                      void** values) = nullptr;
  DriverResult (*module_unload)(ModuleHandle) = nullptr;
  DriverResult (*module_get_function)(FunctionHandle*, ModuleHandle, const char* name) = nullptr;
  DriverResult (*func_set_attribute)(FunctionHandle, FunctionAttribute, int value) = nullptr;
  DriverResult (*occupancy_max_active_blocks)(int* blocks, FunctionHandle, int block_threads,
                                              std::size_t dynamic_shared_bytes) = nullptr;
  DriverResult (*mem_get_info)(std::size_t* free_bytes, std::size_t* total_bytes) = nullptr;
  DriverResult (*mem_alloc)(DevicePointer*, std::size_t bytes) = nullptr;
  DriverResult (*mem_free)(DevicePointer) = nullptr;
  DriverResult (*memset_d8)(DevicePointer, unsigned char value, std::size_t count) = nullptr;
  DriverResult (*memcpy_dtoh)(void* host, DevicePointer, std::size_t bytes) = nullptr;
  DriverResult (*memcpy_htod)(DevicePointer, const void* host, std::size_t bytes) = nullptr;
  DriverResult (*launch_kernel)(FunctionHandle, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                unsigned block_y, unsigned block_z, unsigned dynamic_shared_bytes, StreamHandle,
                                void** parameters, void** extra) = nullptr;
  DriverResult (*link_create)(unsigned option_count, JitOption* options, void** values, LinkHandle*) = nullptr;
  DriverResult (*link_add_data)(LinkHandle, int type, void* data, std::size_t size, const char* name,
                                unsigned option_count, JitOption* options, void** values) = nullptr;
  DriverResult (*link_complete)(LinkHandle, void** cubin, std::size_t* size) = nullptr;
  DriverResult (*link_destroy)(LinkHandle) = nullptr;

  // Virtual memory management, since CUDA 10.2: null in an older driver.
  DriverResult (*mem_get_allocation_granularity)(std::size_t* bytes, const PhysicalProperties*, int option) = nullptr;
  DriverResult (*mem_create)(PhysicalHandle*, std::size_t bytes, const PhysicalProperties*,
                             unsigned long long flags) = nullptr;
  DriverResult (*mem_release)(PhysicalHandle) = nullptr;
  DriverResult (*mem_address_reserve)(DevicePointer*, std::size_t bytes, std::size_t alignment, DevicePointer wanted,
                                      unsigned long long flags) = nullptr;
  DriverResult (*mem_address_free)(DevicePointer, std::size_t bytes) = nullptr;
  DriverResult (*mem_map)(DevicePointer, std::size_t bytes, std::size_t offset, PhysicalHandle,
                          unsigned long long flags) = nullptr;
  DriverResult (*mem_unmap)(DevicePointer, std::size_t bytes) = nullptr;
  DriverResult (*mem_set_access)(DevicePointer, std::size_t bytes, const MemoryAccess*, std::size_t count) = nullptr;

  // Textures, a module's variables, and launches with attributes (since CUDA 11.8): null where the driver has none.
  DriverResult (*module_get_global)(DevicePointer*, std::size_t* bytes, ModuleHandle, const char* name) = nullptr;
  DriverResult (*texture_create)(TextureObject*, const LinearResource*, const TextureSettings*,
                                 const void* view) = nullptr;
  DriverResult (*texture_destroy)(TextureObject) = nullptr;
  DriverResult (*launch_kernel_ex)(const LaunchConfig*, FunctionHandle, void** parameters, void** extra) = nullptr;

  /// Whether the driver has all of the virtual memory management.
  [[nodiscard]] bool has_virtual_memory() const noexcept;
};

/// The table of `libcuda.so.1`, opened and initialised once a process. Errors: no_device: no driver, a
/// driver older than CUDA 9, no GPU.
[[nodiscard]] Result<const DriverTable*> load_driver();

/// Calls init and checks the version; part of load_driver, apart for tests.
[[nodiscard]] Result<void> start_driver(const DriverTable& driver);

/// What the driver says about a failure: "CUDA_ERROR_... (number): text".
[[nodiscard]] std::string driver_words(const DriverTable& driver, DriverResult result);

/// `doing` failed, in the driver's words: "cannot launch kernel link: CUDA_ERROR_...: text".
[[nodiscard]] Error driver_error(const DriverTable& driver, DriverResult result, const std::string& doing);

/// Nothing when a call succeeded, else that error.
[[nodiscard]] Result<void> driver_done(const DriverTable& driver, DriverResult result, const std::string& doing);

}  // namespace gpusonde::cuda

// Owners of what the driver hands out: released when they go out of scope, moved but never copied.
#pragma once

#include <utility>

#include "target/cuda/driver_table.hpp"

namespace gpusonde::cuda {

/// The device's primary context, current on the thread that retained it.
class Context {
 public:
  [[nodiscard]] static Result<Context> retain(const DriverTable& driver, Device device);
  Context(Context&& other) noexcept
      : m_driver(other.m_driver), m_device(other.m_device), m_handle(std::exchange(other.m_handle, nullptr)) {}
  Context& operator=(Context&&) = delete;
  ~Context();

  /// Makes it current on the calling thread.
  [[nodiscard]] Result<void> use() const;

 private:
  Context(const DriverTable& driver, Device device, ContextHandle handle)
      : m_driver(&driver), m_device(device), m_handle(handle) {}
  const DriverTable* m_driver;
  Device m_device;
  ContextHandle m_handle;
};

/// A module compiled by the driver from PTX.
class Module {
 public:
  /// Errors: unsupported (the driver cannot compile it for this GPU; the first line of its log).
  [[nodiscard]] static Result<Module> load(const DriverTable& driver, const char* name, const char* ptx);
  Module(Module&& other) noexcept : m_driver(other.m_driver), m_handle(std::exchange(other.m_handle, nullptr)) {}
  Module& operator=(Module&&) = delete;
  ~Module();

  [[nodiscard]] Result<FunctionHandle> function(const char* name) const;
  /// Precondition: the driver has module_get_global.
  [[nodiscard]] Result<DevicePointer> variable(const char* name) const;

 private:
  Module(const DriverTable& driver, ModuleHandle handle) : m_driver(&driver), m_handle(handle) {}
  const DriverTable* m_driver;
  ModuleHandle m_handle;
};

/// Device memory.
class DeviceMemory {
 public:
  /// Errors: measurement (out of memory: one sentence with what is free).
  [[nodiscard]] static Result<DeviceMemory> allocate(const DriverTable& driver, std::size_t bytes);
  DeviceMemory(DeviceMemory&& other) noexcept
      : m_driver(other.m_driver), m_address(std::exchange(other.m_address, 0)), m_bytes(other.m_bytes) {}
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  ~DeviceMemory();

  [[nodiscard]] DevicePointer address() const noexcept { return m_address; }
  [[nodiscard]] std::size_t bytes() const noexcept { return m_bytes; }

 private:
  DeviceMemory(const DriverTable& driver, DevicePointer address, std::size_t bytes)
      : m_driver(&driver), m_address(address), m_bytes(bytes) {}
  const DriverTable* m_driver;
  DevicePointer m_address;
  std::size_t m_bytes;
};

}  // namespace gpusonde::cuda

// A library opened at run time, and one function of it at a time put into a table.
#pragma once

#include <dlfcn.h>

#include <string>

namespace gpusonde::cuda {

class SharedLibrary {
 public:
  explicit SharedLibrary(const char* name) : m_handle(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {}
  // Never closed: the driver does not take kindly to being unloaded while its threads run.

  [[nodiscard]] bool opened() const noexcept { return m_handle != nullptr; }

  /// Sets `function` to the symbol, and remembers the first that is missing.
  template <class Function>
  void get(Function*& function, const char* symbol) {
    get_optional(function, symbol);
    if (function == nullptr && m_missing.empty()) m_missing = symbol;
  }
  /// Sets `function` to the symbol, or to null where the library has none.
  template <class Function>
  void get_optional(Function*& function, const char* symbol) {
    function = reinterpret_cast<Function*>(dlsym(m_handle, symbol));
  }
  [[nodiscard]] const std::string& missing() const noexcept { return m_missing; }

 private:
  void* m_handle;
  std::string m_missing;
};

}  // namespace gpusonde::cuda

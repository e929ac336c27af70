// One flag that says stop: set by Ctrl-C or a timeout, read between pieces of work.
#pragma once

#include <atomic>

namespace gpusonde {

class CancelToken {
 public:
  void request() noexcept { m_requested.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool requested() const noexcept { return m_requested.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> m_requested{false};
};

}  // namespace gpusonde

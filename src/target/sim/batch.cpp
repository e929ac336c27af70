#include "target/sim/batch.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace gpusonde::sim {
namespace {

class Batch {
 public:
  Batch(std::size_t count, std::size_t workers) : m_count(count), m_running(workers) {}

  void work_through(std::size_t worker, const std::function<bool(std::size_t, std::size_t)>& work) {
    for (;;) {
      std::size_t index = 0;
      {
        const std::scoped_lock lock(m_mutex);
        if (m_stopped || m_next == m_count) break;
        index = m_next++;
      }
      const bool ok = work(worker, index);
      const std::scoped_lock lock(m_mutex);
      if (ok)
        ++m_done;
      else
        m_stopped = true;
      m_changed.notify_one();
    }
    const std::scoped_lock lock(m_mutex);
    --m_running;
    m_changed.notify_one();
  }

  bool report(const std::function<void(std::size_t)>& on_done) {
    std::size_t reported = 0;
    std::unique_lock lock(m_mutex);
    for (;;) {
      m_changed.wait(lock, [&] { return m_done > reported || m_running == 0; });
      if (m_done == reported) return m_done == m_count;
      ++reported;
      if (!on_done) continue;
      lock.unlock();
      on_done(reported);
      lock.lock();
    }
  }

 private:
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::size_t m_count;
  std::size_t m_running;
  std::size_t m_next = 0;
  std::size_t m_done = 0;
  bool m_stopped = false;
};

}  // namespace

bool run_batch(std::size_t count, std::size_t workers,
               const std::function<bool(std::size_t worker, std::size_t index)>& work,
               const std::function<void(std::size_t done)>& on_done) {
  if (workers <= 1) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!work(0, i)) return false;
      if (on_done) on_done(i + 1);
    }
    return true;
  }
  Batch batch(count, workers);
  std::vector<std::jthread> threads;
  for (std::size_t worker = 0; worker < workers; ++worker)
    threads.emplace_back([&, worker] { batch.work_through(worker, work); });
  return batch.report(on_done);
}

}  // namespace gpusonde::sim

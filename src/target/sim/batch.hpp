// Independent pieces of work on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace gpusonde::sim {

/// Calls work(worker, i) once for each i below `count`, on `workers` threads (0 counts as 1); worker is
/// below that number and used by one thread at a time. on_done(k), if given, is called on the calling
/// thread with k = 1, 2, ... as pieces finish. Stops handing out pieces once work returns false.
/// Returns true if all pieces were done.
bool run_batch(std::size_t count, std::size_t workers,
               const std::function<bool(std::size_t worker, std::size_t index)>& work,
               const std::function<void(std::size_t done)>& on_done);

}  // namespace gpusonde::sim

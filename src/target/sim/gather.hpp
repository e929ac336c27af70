// One load of one warp on the simulated GPU: its lanes' lines as requests that queue on their way.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/device_model.hpp"
#include "target/sim/machine.hpp"

namespace gpusonde::sim {

/// Lanes fall together to one request a line, which asks for the sectors that they need. Requests queue where one is
/// served after the other: at L1's tags, at the SM's way into the crossbar, at their slice, at their bank and at the
/// pins of their channel. One that finds all of them free takes as long as a load of one lane.
class Gather {
 public:
  Gather(Machine& machine, const DeviceModel& model, double ns_per_cycle);

  /// Cycles until the last lane's data are there, of a load that begins at a time. Precondition: at least one lane.
  double load(const LoadBlock& lanes, double now_ns);

 private:
  struct Request {
    std::size_t lane = 0;       ///< the first of its lanes
    std::uint32_t sectors = 0;  ///< that no level has answered yet
    double late_cycles = 0;     ///< waited so far
    double extra_cycles = 0;    ///< translation
    double arrival_cycles = 0;  ///< at the queue that comes next
  };

  void make_requests(const LoadBlock& lanes);
  void pass(std::size_t level, const LoadBlock& lanes);
  void answer(std::size_t level, const LoadBlock& lanes);
  void from_dram(const LoadBlock& lanes, double now_ns);
  [[nodiscard]] std::uint32_t hits(CacheLevel& cache, const Request& request, std::uint32_t set,
                                   const LoadBlock& lanes);
  void translate(const LoadBlock& lanes);
  /// All requests through one server each; `server` gives its number.
  template <class Number>
  void queue(double cycles_each, Number server);

  Machine& m_machine;
  const DeviceModel& m_model;
  double m_ns_per_cycle;
  std::uint32_t m_line_bytes;
  std::uint32_t m_sector_bytes;
  std::vector<const CacheModel*> m_levels;  ///< of the machine's path
  std::vector<Request> m_requests;
  std::vector<double> m_free;
  double m_done_cycles = 0;
};

}  // namespace gpusonde::sim

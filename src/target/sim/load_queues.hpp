// What loads of many SMs wait for: each SM's way into the crossbar and back, the slices, and DRAM.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "experiment/experiment.hpp"
#include "model/device_model.hpp"
#include "target/sim/machine.hpp"

namespace gpusonde::sim {

/// Which level answers all loads of an experiment, and what translation adds to each. Decided once, by whether the
/// working set fits: nothing is followed line by line, so a set well below or above a capacity is told right, and one
/// near it is not. Likewise a set beyond a TLB's reach misses it with every load.
struct LoadsAnswer {
  std::optional<std::size_t> level;  ///< of the machine's path; empty: DRAM
  double translation_cycles = 0;
};

/// What SMs ask for: all together, and each of them.
struct LoadsReach {
  std::uint64_t all_bytes = 0;
  std::uint64_t sm_bytes = 0;
};

/// Precondition: the machine has begun an experiment on the path, with the shared part.
[[nodiscard]] LoadsAnswer loads_answer(const Machine& machine, const DeviceModel& model, LoadPath path,
                                       const LoadsReach& reach, std::uint64_t shared_bytes, double sm_mhz);

/// A load of a line, or of part of it.
struct LineLoad {
  std::uint64_t place = 0;  ///< byte offset in the buffer
  std::uint32_t sm = 0;
  std::uint32_t bytes = 0;  ///< that the lanes ask for, whole sectors
};

/// Loads go from queue to queue in the order of time. One that meets no other takes what the model says; of DRAM,
/// further columns of a row take their time too. Distances to slices are those from SM 0, for all SMs.
class LoadQueues {
 public:
  LoadQueues(Machine& machine, const DeviceModel& model, LoadPath path, const LoadsAnswer& answer, double sm_mhz,
             double origin_ns);

  /// How many loads can be under way; each is named by its number.
  void resize(std::size_t loads) { m_loads.resize(loads); }
  /// Sends a load at a time, in cycles, not before that of the last one that came back.
  void issue(std::uint32_t id, const LineLoad& load, double time);

  struct Done {
    std::uint32_t id;
    double time;
  };
  /// The next load that has come back. Precondition: one is under way.
  [[nodiscard]] Done next();

 private:
  enum class Stage : std::uint8_t { own, out, slice, memory, back, done };
  struct Event {
    double time;
    std::uint32_t id;
    Stage stage;
    bool operator>(const Event& other) const noexcept { return time > other.time; }
  };
  struct UnderWay {
    LineLoad load;
    std::uint64_t physical = 0;
    std::uint32_t slice = 0;
    double distance_cycles = 0;
  };
  /// Serves one after the other: gives when it begins, and is busy for as long as it takes.
  struct Server {
    double free_at = 0;
    double begin(double arrival, double cycles) {
      const double begin = arrival > free_at ? arrival : free_at;
      free_at = begin + cycles;
      return begin;
    }
  };

  void push(double time, std::uint32_t id, Stage stage) { m_events.push({time, id, stage}); }
  void serve_own(const Event& event);
  void serve_out(const Event& event);
  void serve_slice(const Event& event);
  void serve_memory(const Event& event);
  void serve_back(const Event& event);

  Machine& m_machine;
  double m_origin_ns;
  double m_translation_cycles;
  const CacheLevel* m_shared = nullptr;  ///< the first level that SMs share; null: there is none
  bool m_own_answers = false;
  bool m_memory_answers = true;
  double m_half_way_cycles = 0;  ///< of a mean hit in the first shared level
  double m_answer_cycles = 0;    ///< mean hit in the level that answers
  double m_own_cycles = 0;       ///< that a line keeps the SM's own cache busy; 0: there is none on the path
  double m_out_cycles;           ///< a request
  double m_back_byte_cycles = 0;
  double m_slice_byte_cycles = 0;
  std::uint32_t m_column_bytes;
  std::uint32_t m_fetched_bytes = 0;
  std::uint32_t m_sides = 1;
  std::vector<Server> m_own_ports;
  std::vector<Server> m_out_ports;
  std::vector<Server> m_back_ports;
  std::vector<Server> m_slices;  ///< by side and slice
  std::vector<UnderWay> m_loads;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> m_events;
};

}  // namespace gpusonde::sim

// DRAM behind the last cache: the row that each bank holds open, and refresh.
#pragma once

#include <cstdint>
#include <vector>

#include "core/random.hpp"
#include "model/device_model.hpp"

namespace gpusonde::sim {

class Dram {
 public:
  /// `column_bus_ns`: how long a channel's pins carry one column; 0: no time.
  Dram(const DramModel& model, double sm_mhz, double column_bus_ns = 0);

  /// Closes all rows and lets the refresh of each channel begin at a time of its own.
  void reset(Random random);

  /// Opens the row of a load that is not timed.
  void touch(std::uint64_t physical) noexcept;

  /// Cycles of a load that begins at a time: the model's latency, less the activation if the row is open,
  /// more the stall, or the rest of it, if its channel refreshes. A refresh leaves rows open; a load takes one column,
  /// so `column_ns` plays no part.
  double load(std::uint64_t physical, double now_ns) noexcept;

  /// When a load of some columns of one row has come back, that reaches DRAM's queues `arrival` cycles into a time
  /// that began at `origin_ns`. It waits until its bank has done what came before (an activation if the row was not
  /// open, and `column_ns` a column) and until its channel's pins are free. Loads arrive in the order of the calls.
  /// `awaited`: of the columns, those that it waits for; 0: all.
  double serve(std::uint64_t physical, std::uint32_t columns, double arrival, double origin_ns,
               std::uint32_t awaited = 0) noexcept;
  /// No load is under way any more; rows stay open.
  void clear_queues() noexcept;

  /// Banks of all channels.
  [[nodiscard]] std::size_t banks() const noexcept { return m_open_rows.size(); }

 private:
  struct Place {
    std::uint32_t channel;
    std::size_t bank;  ///< of all channels
    std::uint32_t row;
  };
  [[nodiscard]] Place place(std::uint64_t physical) const noexcept;
  /// What a load waits that meets its channel at a time.
  [[nodiscard]] double refresh_cycles(std::uint32_t channel, double now_ns) const noexcept;

  AddressFunction m_channel_function;
  AddressFunction m_bank_function;
  AddressFunction m_row_function;
  std::uint32_t m_channels;
  std::uint32_t m_banks;
  double m_latency_cycles;
  double m_activate_cycles;
  double m_stall_cycles;
  double m_column_cycles;
  double m_bus_cycles;
  double m_ns_per_cycle;
  double m_interval_ns;
  double m_window_ns;
  bool m_waits_out;                        ///< the rest of a refresh
  std::vector<std::uint64_t> m_open_rows;  ///< row + 1 of each bank; 0: none
  std::vector<double> m_phase_ns;          ///< of each channel's refresh
  std::vector<double> m_bank_free;         ///< cycles
  std::vector<double> m_bus_free;          ///< of each channel, cycles
};

}  // namespace gpusonde::sim

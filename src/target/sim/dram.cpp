#include "target/sim/dram.hpp"

#include <algorithm>
#include <cmath>

#include "core/units.hpp"

namespace gpusonde::sim {

Dram::Dram(const DramModel& model, double sm_mhz, double column_bus_ns)
    : m_channel_function(model.channel_function),
      m_bank_function(model.bank_function),
      m_row_function(model.row_function),
      m_channels(std::max(1U, model.controllers * model.channels_per_controller)),
      m_banks(std::max(1U, model.banks)),
      m_latency_cycles(model.latency.cycles(sm_mhz)),
      m_activate_cycles(ns_to_cycles(model.activate_ns, sm_mhz)),
      m_stall_cycles(ns_to_cycles(model.refresh_stall_ns, sm_mhz)),
      m_column_cycles(ns_to_cycles(model.column_ns, sm_mhz)),
      m_bus_cycles(ns_to_cycles(column_bus_ns, sm_mhz)),
      m_ns_per_cycle(cycles_to_ns(1.0, sm_mhz)),
      m_interval_ns(model.refresh_interval_ns),
      m_window_ns(model.refresh_fraction * model.refresh_interval_ns),
      m_waits_out(model.refresh_waits == RefreshWait::rest),
      m_open_rows(std::size_t{m_channels} * m_banks, 0),
      m_phase_ns(m_channels, 0.0),
      m_bank_free(m_open_rows.size(), 0.0),
      m_bus_free(m_channels, 0.0) {}

void Dram::reset(Random random) {
  std::fill(m_open_rows.begin(), m_open_rows.end(), 0);
  for (double& phase : m_phase_ns) phase = random.uniform() * m_interval_ns;
  clear_queues();
}

void Dram::clear_queues() noexcept {
  std::fill(m_bank_free.begin(), m_bank_free.end(), 0.0);
  std::fill(m_bus_free.begin(), m_bus_free.end(), 0.0);
}

double Dram::serve(std::uint64_t physical, std::uint32_t columns, double arrival, double origin_ns,
                   std::uint32_t awaited) noexcept {
  const Place at = place(physical);
  const std::uint64_t row = std::uint64_t{at.row} + 1;
  const bool open = m_open_rows[at.bank] == row;
  m_open_rows[at.bank] = row;
  double begin = std::max(arrival, m_bank_free[at.bank]);
  begin += refresh_cycles(at.channel, origin_ns + begin * m_ns_per_cycle);
  const double activated = begin + (open ? 0 : m_activate_cycles);
  m_bank_free[at.bank] = activated + columns * m_column_cycles;
  // The pins carry the columns one after the other, at most as fast as the bank gives them.
  const double carried = std::max(activated, m_bus_free[at.channel]);
  m_bus_free[at.channel] = carried + columns * m_bus_cycles;
  const double further = ((awaited == 0 ? columns : awaited) - 1) * std::max(m_column_cycles, m_bus_cycles);
  return carried + further + m_latency_cycles - m_activate_cycles;
}

Dram::Place Dram::place(std::uint64_t physical) const noexcept {
  const std::uint32_t channel = m_channel_function(physical) % m_channels;
  const std::uint32_t bank = m_bank_function(physical) % m_banks;
  return {channel, std::size_t{channel} * m_banks + bank, m_row_function(physical)};
}

double Dram::refresh_cycles(std::uint32_t channel, double now_ns) const noexcept {
  if (m_window_ns <= 0) return 0;
  const double intervals = (now_ns + m_phase_ns[channel]) / m_interval_ns;
  const double since_ns = (intervals - std::floor(intervals)) * m_interval_ns;
  if (since_ns >= m_window_ns) return 0;
  return m_waits_out ? m_stall_cycles * (1 - since_ns / m_window_ns) : m_stall_cycles;
}

void Dram::touch(std::uint64_t physical) noexcept {
  const Place at = place(physical);
  m_open_rows[at.bank] = std::uint64_t{at.row} + 1;
}

double Dram::load(std::uint64_t physical, double now_ns) noexcept {
  const Place at = place(physical);
  double cycles = m_latency_cycles;
  const std::uint64_t row = std::uint64_t{at.row} + 1;
  if (m_open_rows[at.bank] == row) cycles -= m_activate_cycles;
  m_open_rows[at.bank] = row;
  cycles += refresh_cycles(at.channel, now_ns);
  return cycles;
}

}  // namespace gpusonde::sim

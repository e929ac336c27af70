#include "target/sim/dram.hpp"

#include <algorithm>
#include <cmath>

#include "core/units.hpp"

namespace gpusonde::sim {

Dram::Dram(const DramModel& model, double sm_mhz)
    : m_channel_function(model.channel_function),
      m_bank_function(model.bank_function),
      m_row_function(model.row_function),
      m_channels(std::max(1U, model.controllers * model.channels_per_controller)),
      m_banks(std::max(1U, model.banks)),
      m_latency_cycles(model.latency.cycles(sm_mhz)),
      m_activate_cycles(ns_to_cycles(model.activate_ns, sm_mhz)),
      m_stall_cycles(ns_to_cycles(model.refresh_stall_ns, sm_mhz)),
      m_interval_ns(model.refresh_interval_ns),
      m_window_ns(model.refresh_fraction * model.refresh_interval_ns),
      m_open_rows(std::size_t{m_channels} * m_banks, 0),
      m_phase_ns(m_channels, 0.0) {}

void Dram::reset(Random random) {
  std::fill(m_open_rows.begin(), m_open_rows.end(), 0);
  for (double& phase : m_phase_ns) phase = random.uniform() * m_interval_ns;
}

Dram::Place Dram::place(std::uint64_t physical) const noexcept {
  const std::uint32_t channel = m_channel_function(physical) % m_channels;
  const std::uint32_t bank = m_bank_function(physical) % m_banks;
  return {channel, std::size_t{channel} * m_banks + bank, m_row_function(physical)};
}

bool Dram::refreshing(std::uint32_t channel, double now_ns) const noexcept {
  if (m_window_ns <= 0) return false;
  const double intervals = (now_ns + m_phase_ns[channel]) / m_interval_ns;
  return (intervals - std::floor(intervals)) * m_interval_ns < m_window_ns;
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
  if (refreshing(at.channel, now_ns)) cycles += m_stall_cycles;
  return cycles;
}

}  // namespace gpusonde::sim

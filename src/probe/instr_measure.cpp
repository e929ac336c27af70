#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "probe/instr_probe.hpp"

namespace gpusonde {
namespace {

constexpr std::array<std::uint32_t, 8> k_chains{1, 2, 3, 4, 6, 8, 12, 16};
constexpr std::array<std::uint32_t, 4> k_quick_chains{1, 8, 12, 16};
constexpr std::uint32_t k_repetitions = 32;

bool predicated(Operation operation) {
  return operation == Operation::shared_immediate || operation == Operation::shared_predicate;
}

std::string why_missing(Operation operation, const DeviceInfo& device) {
  if (operation == Operation::shared_immediate && device.compute_capability_major >= 9)
    return "from compute capability 9.0 on no shared load has an immediate address";
  if (device.kind == DeviceKind::simulated) return "the model does not say";
  return "this device has no such operation";
}

std::vector<InstructionExperiment> plan(const ProbeContext& context) {
  std::vector<InstructionExperiment> experiments;
  const std::span<const std::uint32_t> all =
      context.options.quick ? std::span<const std::uint32_t>(k_quick_chains) : k_chains;
  for (const auto operation : context.target.capabilities().operations)
    for (const auto chains : all)
      if (chains == 1 || !predicated(operation)) experiments.push_back({operation, chains, k_repetitions});
  return experiments;
}

void note_missing(ProbeContext& context) {
  const auto& known = context.target.capabilities().operations;
  for (std::size_t i = 0; i < k_operation_count; ++i) {
    const auto operation = static_cast<Operation>(i);
    if (std::find(known.begin(), known.end(), operation) != known.end()) continue;
    auto& table = context.measurements.table("instr.missing");
    table.make<std::string>("operation").emplace_back(to_string(operation));
    table.make<std::string>("reason").push_back(why_missing(operation, context.target.device()));
  }
}

void store(Table& table, const InstructionExperiment& experiment, const InstructionSamples& samples) {
  table.make<std::string>("operation").emplace_back(to_string(experiment.operation));
  table.make<std::uint64_t>("chains").push_back(experiment.chains);
  table.make<std::uint64_t>("short_length").push_back(samples.short_length);
  table.make<std::uint64_t>("long_length").push_back(samples.long_length);
  table.make<std::string>("short_cycles").push_back(fmt::format("{}", fmt::join(samples.short_cycles, " ")));
  table.make<std::string>("long_cycles").push_back(fmt::format("{}", fmt::join(samples.long_cycles, " ")));
}

}  // namespace

Result<void> measure_instr(ProbeContext& context) {
  note_missing(context);
  const auto planned = plan(context);
  if (planned.empty()) return {};
  const std::vector<Experiment> experiments(planned.begin(), planned.end());
  const auto on_done = [&](std::size_t done) {
    if (!context.progress) return;
    const auto& now = planned[std::min(done, planned.size() - 1)];
    context.progress({"instr", std::string(to_string(now.operation)),
                      static_cast<double>(done) / static_cast<double>(planned.size())});
  };
  on_done(0);
  auto samples = context.target.run(experiments, {context.cancel, on_done});
  if (!samples) return tl::unexpected(samples.error());
  auto& table = context.measurements.table("instr.chains");
  for (std::size_t i = 0; i < planned.size(); ++i)
    store(table, planned[i], std::get<InstructionSamples>((*samples)[i]));
  return {};
}

}  // namespace gpusonde

// `gpusonde devices` and `gpusonde models`: what can be measured here.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "core/units.hpp"
#include "model/device_model.hpp"
#include "target/cuda/cuda_target.hpp"

namespace gpusonde::cli {
namespace {

int print_devices(const CommandContext& context) {
  const auto devices = list_cuda_devices();
  if (!devices) {
    report_error(devices.error());
    if (!context.global.json) fmt::print(stderr, "simulated devices: gpusonde models\n");
    return exit_code(devices.error().kind);
  }
  auto document = nlohmann::ordered_json::array();
  std::string text;
  for (std::size_t i = 0; i < devices->size(); ++i) {
    const auto& d = (*devices)[i];
    document.push_back(
        {{"index", i},
         {"name", d.name},
         {"uuid", d.uuid},
         {"pci_bus_id", d.pci_bus_id},
         {"compute_capability", fmt::format("{}.{}", d.compute_capability_major, d.compute_capability_minor)},
         {"sm_count", d.sm_count},
         {"memory_bytes", d.memory_bytes},
         {"l2_bytes", d.nominal.l2_bytes}});
    text += fmt::format("{}  {}  sm_{}{}  {} SMs  L2 {}  memory {}  {}  {}\n", i, d.name, d.compute_capability_major,
                        d.compute_capability_minor, d.sm_count, format_bytes(d.nominal.l2_bytes),
                        format_bytes(d.memory_bytes), d.pci_bus_id, d.uuid);
  }
  return write_stdout(context.global.json ? document.dump(2) + "\n" : text);
}

int print_models(const CommandContext& context, const std::string& name) {
  if (!name.empty()) {
    const auto model = find_model(name);
    if (!model) return report_error(model.error());
    const auto built_in = built_in_models();
    const bool known = std::find(built_in.begin(), built_in.end(), name) != built_in.end();
    return write_stdout(known ? std::string(built_in_model_text(name)) : to_toml(*model));
  }
  auto document = nlohmann::ordered_json::array();
  std::string text;
  for (const auto& id : built_in_models()) {
    const auto model = find_model(id);
    if (!model) return report_error(model.error());
    std::string caches;
    for (const auto& cache : model->caches)
      caches += fmt::format("  {} {}", cache.name, format_bytes(cache.capacity_bytes()));
    document.push_back(
        {{"id", id}, {"name", model->name}, {"memory_bytes", model->memory_bytes}, {"sm_count", model->sm_count}});
    text += fmt::format("sim:{:<10} {:<26}{}  memory {}\n", id, model->name, caches, format_bytes(model->memory_bytes));
  }
  return write_stdout(context.global.json ? document.dump(2) + "\n" : text);
}

}  // namespace

void add_devices(CLI::App& app, CommandContext& context) {
  app.add_subcommand("devices", "NVIDIA devices the driver sees")->callback([&context] {
    context.action = [&context] { return print_devices(context); };
  });
}

void add_models(CLI::App& app, CommandContext& context) {
  auto* command = app.add_subcommand("models", "Simulated devices; with a name, its model file");
  const auto name = std::make_shared<std::string>();
  command->add_option("name", *name, "A built-in model, or a file to check");
  command->callback([&context, name] { context.action = [&context, name] { return print_models(context, *name); }; });
}

}  // namespace gpusonde::cli

#include "fake_memory_kernels.hpp"

#include <cstring>

#include "fake_driver.hpp"

namespace gpusonde::cuda::test {
namespace {

FakeDriver* g_fake = nullptr;

template <class T>
T read(std::uint64_t address) {
  T value{};
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}
template <class T>
void write(std::uint64_t address, T value) {
  std::memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
}
void add(std::uint64_t address, std::uint64_t value) { write(address, read<std::uint64_t>(address) + value); }

// One hop, as the machine makes it: from the place of a node to that of the next.
std::uint64_t hop(const FakeDriver& fake, const std::string& name, const MemoryChaseParameters& p,
                  std::uint64_t place) {
  if (name == "memory_constant") {
    std::uint32_t next = 0;
    std::memcpy(&next, fake.memories.constant_bank.data() + place, 4);
    return next;
  }
  if (name == "memory_texture") {
    const auto& texture = fake.memories.textures.alive.at(p.texture);
    return std::uint64_t{4} * read<std::uint32_t>(texture.address + place);
  }
  if (name == "memory_read_only") return read<std::uint64_t>(p.ring + place) - p.ring;
  return read<std::uint64_t>(p.ring + place);  // shared: places, to which the kernel adds its own base
}

DriverResult launch_cluster(const LaunchConfig* config, FunctionHandle function, void** parameters, void**) {
  auto& fake = *g_fake;
  if (fake.memories.cluster_result != k_success) return fake.memories.cluster_result;
  const auto& p = *static_cast<const ClusterParameters*>(parameters[0]);
  fake.launches.push_back({*reinterpret_cast<const std::string*>(function), config->grid[0], config->block[0],
                           config->dynamic_shared_bytes});
  for (int i = 0; i < 3; ++i) fake.memories.cluster_shape[static_cast<std::size_t>(i)] = config->attributes->cluster[i];
  for (unsigned from = 0; from < p.blocks; ++from) {
    write(p.sms + 4 * from, fake.memories.cluster_on_one_sm ? 3U : 2 * from + 1);
    for (unsigned to = 0; to < p.blocks; ++to)
      write(p.cycles + 4 * (from * p.blocks + to), p.hops * fake_cluster_cycles(from, to));
  }
  return k_success;
}

}  // namespace

void run_instruction_kernel(FakeDriver& fake, const std::string& name, const InstructionParameters& p) {
  fake.memories.instructions.push_back(p);
  for (std::uint64_t turn = 0; turn < p.turns; ++turn)
    add(p.results + 8 * turn, fake_turn_cycles(name.ends_with("_long"), turn));
}

void run_memory_kernel(FakeDriver& fake, const std::string& name, const MemoryChaseParameters& p) {
  fake.memories.chases.push_back(p);
  std::uint64_t place = 0;
  for (std::uint64_t i = 0; i < p.lead_hops + std::uint64_t{p.hops} * p.repetitions; ++i)
    place = hop(fake, name, p, place);
  if (fake.memories.chase_goes_astray) place = hop(fake, name, p, place);
  for (unsigned i = 0; i < p.repetitions; ++i) add(p.results + 8 * i, 10ULL * p.hops + i);
  write(p.reached, place);
}

void run_sharing_kernel(FakeDriver& fake, const std::string& name, const SharingParameters& p) {
  fake.memories.sharings.push_back(p);
  std::uint64_t node = p.ring;
  std::uint64_t visited = 0;
  for (unsigned i = 0; i < p.hops; ++i) {
    node = read<std::uint64_t>(node);
    visited += node - p.ring;
  }
  // A lap comes back, by way of every line.
  const bool whole = node == p.ring && visited == std::uint64_t{128} * p.hops * (p.hops - 1) / 2;
  add(p.results, whole ? 32ULL * p.hops : 0);
  add(p.results + 8, (name == "sharing_constant" ? 32ULL : 200ULL) * p.hops);
}

void fill_memory_functions(FakeDriver& fake) {
  g_fake = &fake;
  fake.table.module_get_global = [](DevicePointer* address, std::size_t* bytes, ModuleHandle, const char* name) {
    if (std::string_view(name) != "constant_bank") return 500;
    *address = reinterpret_cast<DevicePointer>(g_fake->memories.constant_bank.data());
    if (bytes != nullptr) *bytes = g_fake->memories.constant_bank.size();
    return k_success;
  };
  fake.table.texture_create = [](TextureObject* object, const LinearResource* resource, const TextureSettings*,
                                 const void*) {
    auto& textures = g_fake->memories.textures;
    *object = textures.next++;
    textures.alive[*object] = *resource;
    return k_success;
  };
  fake.table.texture_destroy = [](TextureObject object) {
    return g_fake->memories.textures.alive.erase(object) == 1 ? k_success : 1;
  };
  fake.table.launch_kernel_ex = launch_cluster;
}

}  // namespace gpusonde::cuda::test

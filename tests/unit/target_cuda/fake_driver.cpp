#include "fake_driver.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "target/cuda/kernel_modules.hpp"

namespace gpusonde::cuda::test {
namespace {

FakeDriver* g_fake = nullptr;
constexpr std::uint64_t k_hop_cycles = 10;
constexpr DriverResult k_not_found = 500;

std::uint64_t word(std::uint64_t address) {
  std::uint64_t value = 0;
  if (const void* host = g_fake->virtual_memory.host(address)) std::memcpy(&value, host, 8);
  return value;
}
void set_word(std::uint64_t address, std::uint64_t value) {
  if (void* host = g_fake->virtual_memory.host(address)) std::memcpy(host, &value, 8);
}
void add(std::uint64_t address, std::uint64_t value) { set_word(address, word(address) + value); }
const std::string& name_of(FunctionHandle function) { return *reinterpret_cast<const std::string*>(function); }

void link(const LinkParameters& p) {
  for (auto i = p.first; i < p.first + p.count; ++i) {
    const auto here = p.buffer + p.first_byte + p.order.offset(i);
    const auto next = p.first_byte + p.order.offset((i + 1) % p.order.p.node_count);
    if (p.index_chain != 0) {
      const auto element = static_cast<std::uint32_t>(next / 4);
      std::memcpy(reinterpret_cast<void*>(here), &element, 4);
    } else {
      const auto address = p.buffer + next;
      std::memcpy(reinterpret_cast<void*>(here), &address, 8);
    }
  }
}

void link_list(const LinkListParameters& p) {
  g_fake->list_links.push_back(p);
  for (std::uint64_t i = 0; i < p.count; ++i) {
    const auto place = word(p.places + 8 * i);
    set_word(p.slots + (p.slot_bytes != 0 ? place % p.slot_bytes : place),
             p.nodes + word(p.places + 8 * ((i + 1) % p.count)));
  }
}

// Follows the ring in memory, so a ring that was not linked, or not resumed where it was left, shows.
std::uint64_t walk(const ChaseParameters& p, bool index, std::uint64_t offset, std::uint64_t hops) {
  for (std::uint64_t i = 0; i < hops; ++i) {
    if (index) {
      std::uint32_t element = 0;
      std::memcpy(&element, reinterpret_cast<const void*>(p.buffer + offset), 4);
      offset = std::uint64_t{element} * 4;
    } else {
      offset = word(p.buffer + offset) - p.buffer;
    }
  }
  return offset;
}

void chase(const std::string& name, const ChaseParameters& p) {
  g_fake->chases.push_back(p);
  if (p.sm != k_any_sm && g_fake->launches_until_sm > 1) {
    --g_fake->launches_until_sm;
    return;
  }
  const bool in_shared = name.find("_shared_") != std::string::npos;
  const bool index = name.find("_index") != std::string::npos;
  const auto total = p.lead_hops + p.hops * p.repetitions;
  for (std::uint32_t i = 0; i < p.repetitions; ++i) {
    add(p.results + 16 * (p.first_repetition + i), k_hop_cycles * p.hops);
    add(p.results + 16 * (p.first_repetition + i) + 8, k_hop_cycles * p.hops);
  }
  if (name.ends_with("_timed")) {
    for (std::uint64_t i = 0; i < p.hops * p.repetitions; ++i) {
      const auto cycles = static_cast<std::uint16_t>(i);
      std::memcpy(reinterpret_cast<void*>(p.samples + 2 * i), &cycles, 2);
    }
  }
  ChaseState state{};
  state.position = in_shared ? p.start : walk(p, index, p.start, total);
  g_fake->ends.push_back(state.position);
  state.claimed = 1;
  state.sm = p.sm == k_any_sm ? 7 : p.sm;
  std::memcpy(reinterpret_cast<void*>(p.state), &state, sizeof state);
}

void run_clock_kernel(const std::string& name, const ClockParameters& p) {
  if (name == "timer") {
    for (std::uint64_t i = 0; i < p.amount; ++i) add(p.results + 8 * i, 2);
  } else {
    add(p.results, name == "spin_clock" ? 2 * p.amount : 4 * p.amount);
    add(p.results + 8, p.amount);
  }
}

DriverResult launch(FunctionHandle function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                    unsigned shared_bytes, StreamHandle, void** parameters, void**) {
  const auto& name = name_of(function);
  g_fake->launches.push_back({name, blocks, threads, shared_bytes});
  if (name == "link")
    link(*static_cast<const LinkParameters*>(parameters[0]));
  else if (name == "link_list")
    link_list(*static_cast<const LinkListParameters*>(parameters[0]));
  else if (name.starts_with("sequence_"))
    run_sequence_kernel(*g_fake, *static_cast<const SequenceParameters*>(parameters[0]), blocks);
  else if (name == "link_self")
    run_link_self(*g_fake, *static_cast<const LinkSelfParameters*>(parameters[0]));
  else if (name.starts_with("line_map_"))
    run_line_map_kernel(*g_fake, name, *static_cast<const LineMapParameters*>(parameters[0]), blocks);
  else if (name == "throughput")
    run_throughput_kernel(*g_fake, *static_cast<const ThroughputParameters*>(parameters[0]), blocks);
  else if (name.starts_with("memory_"))
    run_memory_kernel(*g_fake, name, *static_cast<const MemoryChaseParameters*>(parameters[0]));
  else if (name.starts_with("sharing_"))
    run_sharing_kernel(*g_fake, name, *static_cast<const SharingParameters*>(parameters[0]));
  else if (name.ends_with("_short") || name.ends_with("_long"))
    run_instruction_kernel(*g_fake, name, *static_cast<const InstructionParameters*>(parameters[0]));
  else if (name.starts_with("loaded_") || name == "link_lines" || name == "touch_ring" || name == "place_chains")
    run_loaded_kernel(*g_fake, name, *static_cast<const LoadedChaseParameters*>(parameters[0]), blocks, threads);
  else if (name.starts_with("stream_"))
    run_stream_kernel(*g_fake, *static_cast<const StreamParameters*>(parameters[0]), blocks);
  else if (name.starts_with("chase_"))
    chase(name, *static_cast<const ChaseParameters*>(parameters[0]));
  else
    run_clock_kernel(name, *static_cast<const ClockParameters*>(parameters[0]));
  if (g_fake->on_launch) g_fake->on_launch();
  return k_success;
}

// An H200, as its driver describes it.
DriverResult attribute(int* value, DeviceAttribute which, Device) {
  switch (which) {
    case DeviceAttribute::max_threads_per_block: *value = 1024; break;
    case DeviceAttribute::clock_rate_khz: *value = 1980000; break;
    case DeviceAttribute::sm_count: *value = 132; break;
    case DeviceAttribute::memory_clock_rate_khz: *value = 3201000; break;
    case DeviceAttribute::memory_bus_width_bits: *value = 6144; break;
    case DeviceAttribute::l2_bytes: *value = 60 << 20; break;
    case DeviceAttribute::compute_capability_major: *value = g_fake->compute_capability_major; break;
    case DeviceAttribute::compute_capability_minor: *value = 0; break;
    case DeviceAttribute::shared_bytes_per_sm: *value = 233472; break;
    case DeviceAttribute::shared_bytes_per_block_optin: *value = 232448; break;
    case DeviceAttribute::virtual_memory_management: *value = g_fake->virtual_memory.supported ? 1 : 0; break;
    case DeviceAttribute::reserved_shared_bytes_per_block: *value = 1024; break;
  }
  return k_success;
}

DriverResult allocate(DevicePointer* address, std::size_t bytes) {
  if (g_fake->alloc_result != k_success) return g_fake->alloc_result;
  if (bytes > g_fake->free_bytes) return k_out_of_memory;
  std::vector<std::uint8_t> block(bytes, 0xAA);
  *address = reinterpret_cast<DevicePointer>(block.data());
  g_fake->memory.emplace(*address, std::move(block));
  return k_success;
}

void fill_memory(DriverTable& t) {
  t.mem_get_info = [](std::size_t* free_bytes, std::size_t* total_bytes) {
    *free_bytes = g_fake->free_bytes;
    *total_bytes = std::size_t{4} << 30;
    return k_success;
  };
  t.mem_alloc = allocate;
  t.mem_free = [](DevicePointer address) { return g_fake->memory.erase(address) == 1 ? k_success : 1; };
  t.memset_d8 = [](DevicePointer address, unsigned char value, std::size_t count) {
    std::memset(reinterpret_cast<void*>(address), value, count);
    return k_success;
  };
  t.memcpy_htod = [](DevicePointer address, const void* host, std::size_t bytes) {
    std::memcpy(reinterpret_cast<void*>(address), host, bytes);
    return k_success;
  };
  t.memcpy_dtoh = [](void* host, DevicePointer address, std::size_t bytes) {
    std::memcpy(host, reinterpret_cast<const void*>(address), bytes);
    return k_success;
  };
}

void fill_devices(DriverTable& t) {
  t.init = [](unsigned) { return g_fake->init_result; };
  t.driver_get_version = [](int* version) {
    *version = g_fake->version;
    return k_success;
  };
  t.get_error_name = [](DriverResult, const char** name) {
    *name = "CUDA_ERROR_FAKE";
    return k_success;
  };
  t.get_error_string = [](DriverResult, const char** text) {
    *text = "a fake failure";
    return k_success;
  };
  t.device_get_count = [](int* count) {
    *count = g_fake->device_count;
    return k_success;
  };
  t.device_get = [](Device* device, int ordinal) {
    *device = ordinal;
    return k_success;
  };
  t.device_get_name = [](char* name, int length, Device) {
    std::strncpy(name, "Fake H200", static_cast<std::size_t>(length));
    return k_success;
  };
  t.device_get_attribute = attribute;
  t.device_get_uuid = [](DeviceUuid* uuid, Device device) {
    for (int i = 0; i < 16; ++i) uuid->bytes[i] = static_cast<unsigned char>(16 * device + i);
    return k_success;
  };
  t.device_get_pci_bus_id = [](char* id, int, Device device) {
    std::strcpy(id, device == 0 ? "0000:1b:00.0" : "0000:9a:00.0");
    return k_success;
  };
  t.device_total_mem = [](std::size_t* bytes, Device) {
    *bytes = std::size_t{4} << 30;
    return k_success;
  };
}

void fill_modules(DriverTable& t) {
  t.primary_ctx_retain = [](ContextHandle* context, Device) {
    ++g_fake->contexts;
    *context = reinterpret_cast<ContextHandle>(g_fake);
    return k_success;
  };
  t.primary_ctx_release = [](Device) {
    --g_fake->contexts;
    return k_success;
  };
  t.ctx_set_current = [](ContextHandle) { return k_success; };
  t.ctx_synchronize = [] { return g_fake->synchronize_result; };
  t.ctx_get_limit = [](std::size_t* value, int limit) {
    *value = g_fake->limits[limit];
    return g_fake->limit_result;
  };
  t.ctx_set_limit = [](int limit, std::size_t value) {
    if (g_fake->limit_result == k_success) g_fake->limits[limit] = value;
    return g_fake->limit_result;
  };
  t.module_load_data_ex = [](ModuleHandle* module, const void* image, unsigned, JitOption*, void** values) {
    if (g_fake->load_result != k_success) {
      std::strcpy(static_cast<char*>(values[0]), g_fake->load_log.c_str());
      return g_fake->load_result;
    }
    ++g_fake->modules;
    bool embedded = false;
    for (const auto& known : kernel_modules())
      if (known.ptx.data() == image) {
        g_fake->loaded.emplace_back(known.name);
        embedded = true;
      }
    if (!embedded) image = g_fake->made.emplace_back(static_cast<const char*>(image)).c_str();
    *module = reinterpret_cast<ModuleHandle>(const_cast<void*>(image));
    return k_success;
  };
  t.module_unload = [](ModuleHandle) {
    --g_fake->modules;
    return k_success;
  };
  t.module_get_function = [](FunctionHandle* function, ModuleHandle module, const char* name) {
    const std::string_view ptx = reinterpret_cast<const char*>(module);
    if (ptx.find(std::string(".entry ") + name + "(") == std::string_view::npos) return k_not_found;
    auto& known = g_fake->functions[name];
    if (!known) known = std::make_unique<std::string>(name);
    *function = reinterpret_cast<FunctionHandle>(known.get());
    return k_success;
  };
  t.func_set_attribute = [](FunctionHandle function, FunctionAttribute which, int value) {
    if (which == FunctionAttribute::preferred_shared_carveout_percent) g_fake->carveouts[name_of(function)] = value;
    return k_success;
  };
  t.occupancy_max_active_blocks = [](int* blocks, FunctionHandle, int threads, std::size_t) {
    *blocks = std::min(32, g_fake->resident_threads / threads);
    return k_success;
  };
  t.launch_kernel = launch;
}

}  // namespace

FakeDriver::FakeDriver() {
  g_fake = this;
  fill_devices(table);
  fill_modules(table);
  fill_memory(table);
  virtual_memory.fill(table);
  fill_memory_functions(*this);
}

FakeDriver::~FakeDriver() { g_fake = nullptr; }

}  // namespace gpusonde::cuda::test

// A model written as TOML reads back as the same model.
#include <gtest/gtest.h>

#include "core/random.hpp"
#include "model/device_model.hpp"
#include "model/random_model.hpp"

namespace gpusonde {
namespace {

void expect_round_trip(const DeviceModel& model) {
  const auto text = to_toml(model);
  auto again = parse_model(text, "again.toml");
  ASSERT_TRUE(again) << again.error().message << "\n" << text;
  again->id = model.id;
  again->origin = model.origin;
  EXPECT_TRUE(*again == model) << text;
  EXPECT_EQ(to_toml(*again), text);
}

TEST(RoundTrip, OfTheBuiltInModels) {
  for (const auto& name : built_in_models()) expect_round_trip(*find_model(name));
}

TEST(RoundTrip, OfRandomModels) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) expect_round_trip(random_model(seed, {1, 3, 0.03, true}));
}

TEST(RoundTrip, OfRandomTranslation) {
  for (std::uint64_t seed = 0; seed < 300; ++seed)
    expect_round_trip(random_model(seed, {.max_noise = 0.02, .any_translation = true}));
}

TEST(RoundTrip, OfRandomGeometry) {
  for (std::uint64_t seed = 0; seed < 300; ++seed)
    expect_round_trip(random_model(seed, {.max_noise = 0.02, .any_geometry = true}));
}

TEST(RoundTrip, OfRandomPipelines) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto model = random_model(seed, {.any_pipelines = true});
    ASSERT_TRUE(validate(model)) << validate(model).error().message;
    expect_round_trip(model);
  }
}

TEST(RoundTrip, OfEveryFieldAwayFromItsDefault) {
  auto model = random_model(3, {2, 2, 0.03, true});
  model.name = "a \"quoted\\name\" with \t and ü";
  model.compute_capability_major = 12;
  model.compute_capability_minor = 1;
  model.sms_per_tpc = 3;
  model.sms_per_gpc = 12;
  model.bus_width_bits = 320;
  model.shared_per_sm_bytes = 102400;
  model.timing = {1234.5, 9751, 6.25, 3, 11, 5, 23.5, 96.5};
  model.timing.crossbar_lines_per_cycle = 1.75;
  model.timing.crossbar_bytes_per_cycle = 48.25;
  model.caches[0].scope = Scope::gpc;
  model.caches[0].sector_bytes = 64;
  model.caches[1].fetch_bytes = 128;
  model.caches[1].partitions = 2;
  model.caches[1].home_function = *AddressFunction::parse("return parity(a & 0x3000) # side\n", {"test"});
  model.caches[1].far_cycles = 210.5;
  model.caches[1].atomic_cycles = 17;
  model.caches[1].lines_per_cycle = 0.75;
  model.caches[1].slices = 3;
  model.caches[1].slice_function = *AddressFunction::parse("# '''\nreturn a / 128 % 3\n", {"test"});
  model.caches[1].index = AddressSpace::virtual_address;
  model.caches[1].replacement = Replacement::srrip;
  model.caches[1].slice_spread_cycles = 12.5;
  model.unified = UnifiedStorageModel{262144, {0, 8192, 233472}, 2048, 24, 1536};
  model.tlbs = {{"first", 32, 4, TlbIndex::folded, 16ULL << 20, Replacement::fifo, Scope::tpc, {1.5, 2.5}},
                {"second", 2048, 8, TlbIndex::modulo, 32ULL << 20, Replacement::nru, Scope::gpc, {0, 40}}};
  model.paging = {64ULL << 10, Placement::contiguous};
  model.dram.column_bytes = 64;
  model.dram.activate_ns = 40.5;
  model.dram.column_ns = 3.5;
  model.dram.refresh_fraction = 0.015;
  model.dram.refresh_stall_ns = 199;
  model.dram.refresh_interval_ns = 1950;
  model.timing.register_read_cycles = 1.25;
  model.timing.texture_hit_cycles = 77.5;
  model.instructions = {{"ffma", 4.5, 0.5}, {"dfma", 63.57, 16}};
  model.constants = {{1024, 32, 27.5}, {32768, 256, 90.25}};
  model.cluster = {16, 33.5, 195.5, 20.25};
  model.noise = {0.01, 1.5};
  const auto valid = validate(model);
  ASSERT_TRUE(valid) << valid.error().message;
  expect_round_trip(model);
}

TEST(RoundTrip, EqualityLooksIntoFunctions) {
  auto model = random_model(1);
  const auto same = model;
  EXPECT_TRUE(model == same);
  model.caches[0].set_function = AddressFunction::modulo(128, 7);
  EXPECT_FALSE(model == same);
  auto sided = same;
  sided.caches[0].home_function = AddressFunction::parities({0x1000});
  EXPECT_FALSE(sided == same);
}

}  // namespace
}  // namespace gpusonde

// What chases of many warps, and streams, may ask of a device.
#include <gtest/gtest.h>

#include "core/units.hpp"
#include "target/target.hpp"

namespace gpusonde {
namespace {

constexpr std::uint32_t k_sms = 4;

Capabilities some_capabilities() {
  Capabilities capabilities;
  capabilities.max_ring_bytes = 1 * k_mib;
  capabilities.max_shared_ring_bytes = 64 * k_kib;
  capabilities.paths = {LoadPath::global_ca, LoadPath::global_cg, LoadPath::shared};
  return capabilities;
}

template <class Kind>
std::string said(const Kind& e, const Capabilities& capabilities = some_capabilities()) {
  const auto checked = check(e, capabilities, k_sms);
  return checked ? "" : checked.error().message;
}

LoadedChaseExperiment chase() {
  LoadedChaseExperiment e;
  e.ring.order.node_count = 8192;
  return e;
}

BandwidthExperiment stream() {
  BandwidthExperiment e;
  e.bytes = 256 * k_kib;
  return e;
}

TEST(CheckLoads, TakesWhatTheDeviceHas) {
  EXPECT_EQ(said(chase()), "");
  auto e = chase();
  e.sms = 0;
  e.warps = 32;
  e.chains = 8;
  e.whole_lines = true;
  EXPECT_EQ(said(e), "");
  EXPECT_EQ(said(stream()), "");
  auto s = stream();
  s.per_sm = true;
  EXPECT_EQ(said(s), "");
  s.path = LoadPath::shared;
  s.bytes = 64 * k_kib;
  s.threads_per_sm = 2048;
  EXPECT_EQ(said(s), "");
}

TEST(CheckLoads, SaysWhatIsWrongWithAChase) {
  auto e = chase();
  e.path = LoadPath::global_cv;
  EXPECT_EQ(said(e), "a chase of many warps by 'cv' loads; choose ca or cg");
  e = chase();
  e.path = LoadPath::global_ca;
  e.whole_lines = true;
  EXPECT_EQ(said(e), "a chase of whole lines goes past L1; choose cg");
  e = chase();
  e.chains = 3;
  EXPECT_EQ(said(e), "3 chains of a warp: give 1, 2, 4 or 8");
  e = chase();
  e.warps = 33;
  EXPECT_EQ(said(e), "33 warps of an SM: give 1 to 32");
  e = chase();
  e.sms = 5;
  EXPECT_EQ(said(e), "5 SMs: this device has 4");
  e = chase();
  e.rounds = 12;
  EXPECT_EQ(said(e), "12 rounds after 0: give multiples of 8 up to 131072, and at least 8 timed ones");
  e = chase();
  e.ring.order.stride_bytes = 64;
  e.whole_lines = true;
  EXPECT_EQ(said(e), "a ring at 0 with a stride of 64 B: whole lines need multiples of 128");
  e = chase();
  e.ring.first_byte = 128;
  EXPECT_EQ(
      said(e),
      "a working set of 8192 nodes every 128 B does not fit the 1 MiB this device can give; choose a smaller one");
  e = chase();
  e.ring.order.node_count = 64;
  e.sms = 0;
  e.warps = 32;
  EXPECT_EQ(said(e), "128 chains in a ring of 64 nodes; give at least a node a chain");
  auto without = some_capabilities();
  without.paths = {LoadPath::global_ca};
  EXPECT_EQ(said(chase(), without), "this device has no 'cg' loads");
}

TEST(CheckLoads, SaysWhatIsWrongWithAStream) {
  auto e = stream();
  e.path = LoadPath::global_nc;
  EXPECT_EQ(said(e), "a stream by 'nc' loads; choose ca, cg or shared");
  e = stream();
  e.path = LoadPath::global_ca;
  e.transfer = Transfer::copy;
  EXPECT_EQ(said(e), "a stream that writes through L1, which keeps nothing of it; choose cg");
  e = stream();
  e.threads_per_sm = 512;
  EXPECT_EQ(said(e), "512 threads an SM: give 1024 or 2048");
  e = stream();
  e.threads_per_sm = 2048;
  e.sms = 2;
  EXPECT_EQ(said(e), "2048 threads on 2 of 4 SMs: more than 1024 only on all");
  e = stream();
  e.bytes = 1000;
  EXPECT_EQ(said(e), "a stream over 1000 B: give a multiple of 32 KiB");
  e = stream();
  e.per_sm = true;
  e.bytes = 512 * k_kib;
  EXPECT_EQ(said(e), "a stream over 4 times 512 KiB does not fit the 1 MiB this device can give; choose a smaller set");
  e = stream();
  e.path = LoadPath::shared;
  EXPECT_EQ(said(e),
            "a stream over 1 times 256 KiB does not fit the 64 KiB this device can give; choose a smaller set");
  e = stream();
  e.passes = 0;
  EXPECT_EQ(said(e), "0 passes over 256 KiB: give 1 to 262144");
}

}  // namespace
}  // namespace gpusonde

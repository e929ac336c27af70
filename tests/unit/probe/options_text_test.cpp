#include "probe/options_text.hpp"

#include <gtest/gtest.h>

namespace gpusonde {
namespace {

TEST(OptionsText, options_come_back_from_their_text) {
  ProbeOptions options;
  options.latency.preset = SizePreset::dense;
  options.latency.min_bytes = 8192;
  options.latency.max_bytes = 1 << 20;
  options.latency.points_per_octave = 7;
  options.latency.policies = {LoadPath::global_nc, LoadPath::global_cg};
  options.latency.chains = {ChainKind::index};
  options.latency.subtract_overhead = true;
  options.latency.warmup = Warmup::parallel;
  options.latency.hops = 64;
  options.quick = true;
  options.thorough = false;
  const auto again = probe_options_from(to_values(options));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_values(*again), to_values(options));
  EXPECT_EQ(again->latency.policies, options.latency.policies);
  EXPECT_EQ(again->latency.warmup, options.latency.warmup);
  EXPECT_EQ(again->latency.max_bytes, options.latency.max_bytes);
}

TEST(OptionsText, unknown_words_are_refused_with_what_there_is) {
  EXPECT_EQ(parse_policies("ca,xx").error().message, "policy 'xx' is not known; choose from ca, cg, cv, nc");
  EXPECT_EQ(parse_chains("list").error().message, "chain 'list' is not known; choose from pointer, index");
  EXPECT_EQ(parse_warmup("warm").error().message, "warm-up 'warm' is not known; choose from serial, parallel, auto");
  EXPECT_FALSE(*parse_warmup("auto"));
  const auto foreign = probe_options_from({{"preset", "huge"}});
  EXPECT_EQ(foreign.error().kind, ErrorKind::bad_input);
}

}  // namespace
}  // namespace gpusonde

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

TEST(OptionsText, the_sweep_comes_back_from_its_text) {
  ProbeOptions options;
  options.sweep.strides_bytes = {3 << 20, 128, 1ULL << 33};
  options.sweep.min_bytes = 4 << 20;
  options.sweep.max_bytes = 1ULL << 40;
  options.sweep.max_mem_fraction = 0.1;
  options.sweep.policies = {LoadPath::global_cv, LoadPath::global_ca};
  options.sweep.step = 5;
  options.sweep.laps = 17;
  const auto again = probe_options_from(to_values(options));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->sweep.strides_bytes, options.sweep.strides_bytes);
  EXPECT_EQ(again->sweep.min_bytes, options.sweep.min_bytes);
  EXPECT_EQ(again->sweep.max_bytes, options.sweep.max_bytes);
  EXPECT_EQ(again->sweep.max_mem_fraction, 0.1) << "to the last bit";
  EXPECT_EQ(again->sweep.policies, options.sweep.policies);
  EXPECT_EQ(again->sweep.step, 5U);
  EXPECT_EQ(again->sweep.laps, 17U);
  EXPECT_EQ(again->latency.policies, ProbeOptions{}.latency.policies) << "the two studies' policies are apart";
}

TEST(OptionsText, the_sweep_has_names_of_its_own) {
  const OptionValues expected = {{"sweep-strides", "2097152,8388608,33554432,67108864"},
                                 {"sweep-min-bytes", "0"},
                                 {"sweep-max-bytes", "0"},
                                 {"sweep-max-mem-frac", "0.9"},
                                 {"sweep-policy", "ca,cg"},
                                 {"sweep-step", "0"},
                                 {"sweep-laps", "2"}};
  OptionValues written;
  for (const auto& value : to_values({}))
    if (value.first.starts_with("sweep-")) written.push_back(value);
  EXPECT_EQ(written, expected);
}

TEST(OptionsText, a_run_without_a_sweep_has_the_default_one) {
  const auto old = probe_options_from({{"preset", "log"}, {"hops", "64"}});
  ASSERT_TRUE(old);
  EXPECT_EQ(old->sweep.strides_bytes, SweepOptions{}.strides_bytes);
  EXPECT_EQ(old->sweep.laps, SweepOptions{}.laps);
}

TEST(OptionsText, a_sweep_edited_by_hand_is_refused_with_its_name) {
  for (const auto& [name, text] : OptionValues{{"sweep-strides", ""},
                                               {"sweep-strides", "2097152,"},
                                               {"sweep-strides", "wide"},
                                               {"sweep-min-bytes", "-1"},
                                               {"sweep-max-bytes", "much"},
                                               {"sweep-max-mem-frac", "0.9x"},
                                               {"sweep-max-mem-frac", ""},
                                               {"sweep-policy", "zz"},
                                               {"sweep-step", "-1"},
                                               {"sweep-step", "1.5"},
                                               {"sweep-laps", "4294967298"}}) {
    const auto refused = probe_options_from({{name, text}});
    ASSERT_FALSE(refused) << name << " " << text;
    EXPECT_EQ(refused.error().kind, ErrorKind::bad_input);
    EXPECT_EQ(refused.error().message.find("option " + name + " in the run: "), 0U) << refused.error().message;
  }
  EXPECT_EQ(probe_options_from({{"sweep-laps", "many"}}).error().message,
            "option sweep-laps in the run: 'many' is not a whole number from 0 to 4294967295");
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

// What the recovery tests share: how many random models they try, and the survey of one.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "model/device_model.hpp"
#include "survey/survey.hpp"
#include "target/sim/sim_target.hpp"

namespace gpusonde {

/// GPUSONDE_RECOVERY_MODELS, or `few`, which every commit has the time for.
inline std::uint64_t models_wanted(std::uint64_t few) {
  const char* wanted = std::getenv("GPUSONDE_RECOVERY_MODELS");
  return wanted == nullptr ? few : std::strtoull(wanted, nullptr, 10);
}

/// Probes of a simulated GPU, with the model's truth beside what they find.
inline Run survey_of(const DeviceModel& model, const SimOptions& options, std::vector<std::string> probes,
                     SurveyRequest request = {}) {
  auto target = make_sim_target(model, options);
  EXPECT_TRUE(target) << target.error().message;
  request.probes = std::move(probes);
  request.probe.seed = options.seed;
  request.truth = truth_of(model, model.timing.sm_mhz);
  auto result = run_survey(**target, request);
  EXPECT_FALSE(result.error) << result.error->message;
  return std::move(result.run);
}

}  // namespace gpusonde

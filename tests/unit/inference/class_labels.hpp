// Labels for tests of class functions: a program of the hash language as the truth, with scrambled ids and wrong
// labels.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "model/address_function.hpp"

namespace gpusonde {

inline AddressFunction program(const std::string& text) {
  auto parsed = AddressFunction::parse(text, {"test"});
  EXPECT_TRUE(parsed) << text;
  return parsed.value_or(AddressFunction());
}

/// The slice function printed in a model file.
inline AddressFunction slice_function_of(const std::string& model) {
  std::ifstream file(std::string(GPUSONDE_SOURCE_DIR) + "/models/" + model + ".toml");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string opening = "slice_function = '''\n";
  const auto begin = text.find(opening) + opening.size();
  return program(text.substr(begin, text.find("'''", begin) - begin));
}

/// Other numbers for the same classes: no order, no zero, gaps.
inline std::uint32_t scrambled(std::uint32_t class_id) {
  return static_cast<std::uint32_t>(mix64(class_id) >> 40) * 1000 + class_id;
}

template <class Function>
std::vector<std::uint32_t> labels_of(const std::vector<std::uint64_t>& addresses, const Function& function) {
  std::vector<std::uint32_t> labels;
  for (const auto address : addresses) labels.push_back(function(address));
  return labels;
}

/// Each label replaced, at this rate, by that of another address.
inline void spoil(std::vector<std::uint32_t>& labels, double rate, std::uint64_t seed) {
  Random random(seed);
  for (auto& label : labels)
    if (random.uniform() < rate) label = labels[random.below(labels.size())];
}

}  // namespace gpusonde

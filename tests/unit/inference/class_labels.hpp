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
#include "core/units.hpp"
#include "inference/class_fit.hpp"
#include "inference/class_fit_pages.hpp"
#include "inference/class_plan.hpp"
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

/// Of so many random lines, those predicted wrongly or not at all.
template <class Function>
std::size_t not_predicted(const ClassFunction& found, const Function& truth, std::uint64_t memory_bytes, int lines) {
  Random random(99);
  std::size_t count = 0;
  for (int i = 0; i < lines; ++i) {
    const auto address = random.below(memory_bytes / 128) * 128;
    count += found(address) == truth(address) ? 0 : 1;
  }
  return count;
}

template <class Function>
ClassFit fit_of(const Function& truth, std::uint64_t memory_bytes, double wrong_labels = 0) {
  const auto plan = plan_class_addresses(memory_bytes).value();
  auto labels = labels_of(plan, truth);
  spoil(labels, wrong_labels, 5);
  return fit_class_function(plan, labels);
}

inline constexpr std::uint64_t k_page_bytes = 2 * k_mib;

struct Labelled {
  std::vector<std::uint64_t> frames;  ///< physical address by page number
  std::vector<PageSample> samples;
};

template <class Function>
Labelled labelled_pages(const Function& truth, std::size_t count, std::uint64_t seed, double wrong_labels = 0) {
  Random random(seed);
  Labelled pages;
  for (std::size_t page = 0; page < count; ++page) {
    pages.frames.push_back(random.below(24 * k_gib / k_page_bytes) * k_page_bytes);
    const auto offsets = plan_page_offsets(k_page_bytes, seed + page).value();
    for (const auto offset : offsets) {
      const bool wrong = random.uniform() < wrong_labels;
      pages.samples.push_back({page, offset, truth(wrong ? random.below(24 * k_gib) : pages.frames[page] + offset)});
    }
  }
  return pages;
}

template <class Function>
void expect_all_lines(const PageFit& fit, const Labelled& pages, const Function& truth) {
  std::size_t wrong = 0;
  for (std::size_t page = 0; page < pages.frames.size(); ++page)
    for (std::uint64_t offset = 0; offset < k_page_bytes; offset += 128)
      wrong += fit.label(page, offset) == truth(pages.frames[page] + offset) ? 0 : 1;
  EXPECT_EQ(wrong, 0U);
}

}  // namespace gpusonde

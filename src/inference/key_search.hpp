// What fits over all memory and fits within pages share: numbering the classes, splitting the samples, and going from
// a hypothesis of residues to the key of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inference/address_windows.hpp"
#include "inference/class_function.hpp"
#include "inference/residue_search.hpp"

namespace gpusonde {

/// The labels that occur, ascending.
[[nodiscard]] std::vector<std::uint32_t> distinct_labels(std::span<const std::uint32_t> labels);

struct FitData {
  std::vector<WindowGroup> groups;
  std::vector<ClassSample> training;  ///< windows and most of the loose samples
  std::vector<ClassSample> held_out;
  std::uint64_t varying_bits = 0;  ///< within a sheet
  std::uint32_t sheets = 1;
};
/// Sheets are numbered from 0.
[[nodiscard]] FitData prepare(std::span<const ClassSample> samples);

/// What keeps the data from being looked at, or nothing.
[[nodiscard]] std::optional<std::string> too_little(const FitData& data, std::size_t class_count);

/// Tries hypotheses until `attempt` returns nothing, which means that one passed; then nothing is returned, else why
/// none does, or why the likeliest ones do not. One term comes before two, fewer keys before more, and labels that are
/// all right before labels that may be wrong at the rate that `attempt` is given.
using HypothesisTrial = std::function<std::optional<std::string>(const ResidueHypothesis&, double label_error_rate)>;
[[nodiscard]] std::optional<std::string> search_residues(const FitData& data, double label_error_rate,
                                                         const HypothesisTrial& attempt);

/// The smallest key under a hypothesis; nothing when its table is too large to be looked at.
[[nodiscard]] std::optional<ClassKey> key_under(const ResidueHypothesis& hypothesis, const FitData& data,
                                                double label_error_rate);
/// What to say when there is none.
[[nodiscard]] std::string too_many_keys(const ResidueHypothesis& hypothesis);

/// How a function does on the samples kept aside.
struct Trial {
  std::size_t samples = 0;
  std::size_t wrong = 0;
  std::size_t never_seen = 0;
  std::vector<std::size_t> samples_of_class;

  void add(std::int32_t predicted, std::int32_t class_index);
};
/// Enough is predicted, and no more is wrong than wrong labels explain. Guessing does not pass.
[[nodiscard]] bool passes(const Trial& trial, double label_error_rate);
/// More samples are outvoted by others of their key than wrong labels explain.
[[nodiscard]] bool contradicts(std::size_t outvoted, std::size_t samples, double label_error_rate);
/// The trial's figures as half a sentence.
[[nodiscard]] std::string to_text(const Trial& trial);

}  // namespace gpusonde

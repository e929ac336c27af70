// Slices of L2, without counters: lines of one slice look alike from all SMs. Which line is of which slice, by what
// function of the address, where lines are at home, and how many slices answer at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "inference/class_fit.hpp"
#include "inference/class_fit_pages.hpp"
#include "inference/line_clusters.hpp"
#include "inference/sm_sides.hpp"
#include "probe/probe.hpp"

namespace gpusonde {

[[nodiscard]] Result<void> measure_slices(ProbeContext& context);
[[nodiscard]] Analysis analyze_slices(const AnalysisInput& input);

/// A table of latencies, lines by SMs, as a map.
struct StoredMap {
  std::vector<std::uint64_t> places;
  std::vector<std::uint32_t> sms;
  LineMap map;
};
[[nodiscard]] StoredMap read_map(const Table& table);
/// What a target gave, as a map.
[[nodiscard]] LineMap line_map_of(const LineMapSamples& samples);
/// Places at which the buffer's pages begin.
[[nodiscard]] std::vector<std::uint64_t> whole_pages(const Target& target, std::uint64_t page_bytes);
/// The label of a line whose class, or home, is not clear.
inline constexpr std::uint64_t k_no_class = 0xFFFFFFFF;

void store_map(Table& table, const std::vector<std::uint64_t>& places, const LineMapSamples& samples);

/// Classes of the lines of `slices.load`.
[[nodiscard]] LineClusters clusters_of(const StoredMap& load, const Measurements& measurements);

/// Functions that give the class, of the labels in `slices.labels`: over physical addresses where these were told.
struct SliceFit {
  bool physical = false;
  std::optional<ClassFit> whole;
  std::optional<PageFit> pages;

  [[nodiscard]] bool ok() const noexcept { return (whole && whole->ok()) || (pages && pages->ok()); }
  [[nodiscard]] const ClassFunction* function() const noexcept;
  [[nodiscard]] std::string reason() const;
};
/// Nothing without labels.
[[nodiscard]] std::optional<SliceFit> fit_slices(const Measurements& measurements);
/// Likewise the side that lines are at home on, of `slices.home`.
[[nodiscard]] std::optional<PageFit> fit_homes(const Measurements& measurements);

/// The class of every place whose page is known.
class SliceLabels {
 public:
  SliceLabels(SliceFit fit, std::uint64_t page_bytes, std::vector<std::uint64_t> frames, std::uint64_t slices);

  [[nodiscard]] std::uint64_t slices() const noexcept { return m_slices; }
  [[nodiscard]] std::optional<std::uint32_t> operator()(std::uint64_t place) const;
  [[nodiscard]] std::uint64_t random_place(Random& random) const;

 private:
  SliceFit m_fit;
  std::uint64_t m_page_bytes;
  std::vector<std::uint64_t> m_pages;   ///< numbers of the pages whose lines have a class
  std::vector<std::uint64_t> m_frames;  ///< physical address by page; empty: the fit is of pages
  std::uint64_t m_slices;
};
/// Nothing where the slices were not measured, or have no function. Errors: those of the target.
[[nodiscard]] Result<std::optional<SliceLabels>> slice_labels(const Measurements& measurements, Target& target);

}  // namespace gpusonde

// What is read back from the tables of the slices probe, for its own analysis and for the geometry of L2.
#include <fmt/format.h>

#include <algorithm>

#include "probe/slices_probe.hpp"

namespace gpusonde {
namespace {

constexpr double k_eighth = 0.125;
constexpr std::uint64_t k_line_bytes = 128;

const std::vector<std::uint64_t>* numbers(const Table* table, std::string_view name) {
  return table == nullptr ? nullptr : table->column<std::uint64_t>(name);
}

std::vector<PageSample> page_samples(const Table& table, std::string_view label_column) {
  const auto* page = table.column<std::uint64_t>("page");
  const auto* offset = table.column<std::uint64_t>("offset_bytes");
  const auto* label = table.column<std::uint64_t>(label_column);
  std::vector<PageSample> samples;
  if (page == nullptr || offset == nullptr || label == nullptr) return samples;
  for (std::size_t i = 0; i < table.rows(); ++i)
    if ((*label)[i] != k_no_class)
      samples.push_back({(*page)[i], (*offset)[i], static_cast<std::uint32_t>((*label)[i])});
  return samples;
}

}  // namespace

StoredMap read_map(const Table& table) {
  StoredMap stored;
  if (const auto* places = table.column<std::uint64_t>("place_bytes")) stored.places = *places;
  std::vector<const std::vector<std::uint64_t>*> columns;
  for (const auto& [name, column] : table.columns) {
    unsigned sm = 0;
    int used = 0;
    if (std::sscanf(name.c_str(), "sm_%u_eighth_cycles%n", &sm, &used) != 1 || used != static_cast<int>(name.size()))
      continue;
    const auto* values = std::get_if<std::vector<std::uint64_t>>(&column);
    if (values == nullptr || values->size() != stored.places.size()) continue;
    stored.sms.push_back(sm);
    columns.push_back(values);
  }
  stored.map.sms = columns.size();
  stored.map.lines = stored.places.size();
  for (const auto* column : columns)
    for (const auto eighths : *column)
      stored.map.cycles.push_back(static_cast<float>(k_eighth * static_cast<double>(eighths)));
  return stored;
}

LineMap line_map_of(const LineMapSamples& samples) {
  LineMap map{samples.sms.size(), samples.eighth_cycles.size() / samples.sms.size(), {}};
  map.cycles.reserve(samples.eighth_cycles.size());
  for (const auto eighths : samples.eighth_cycles) map.cycles.push_back(static_cast<float>(k_eighth * eighths));
  return map;
}

std::vector<std::uint64_t> whole_pages(const Target& target, std::uint64_t page_bytes) {
  std::vector<std::uint64_t> places;
  for (std::uint64_t place = 0; place + page_bytes <= target.capabilities().max_ring_bytes; place += page_bytes)
    places.push_back(place);
  return places;
}

void store_map(Table& table, const std::vector<std::uint64_t>& places, const LineMapSamples& samples) {
  auto& column = table.make<std::uint64_t>("place_bytes");
  column.insert(column.end(), places.begin(), places.end());
  for (std::size_t i = 0; i < samples.sms.size(); ++i) {
    auto& values = table.make<std::uint64_t>(fmt::format("sm_{}_eighth_cycles", samples.sms[i]));
    const auto first = samples.eighth_cycles.begin() + static_cast<std::ptrdiff_t>(i * places.size());
    values.insert(values.end(), first, first + static_cast<std::ptrdiff_t>(places.size()));
  }
}

LineClusters clusters_of(const StoredMap& load, const Measurements& measurements) {
  // The first rows are consecutive lines, kept for their pattern: only lines at random fall evenly on all slices.
  std::size_t consecutive = 0;
  if (const auto* plan = measurements.find("slices.plan"))
    if (const auto* counts = plan->column<std::uint64_t>("consecutive_lines"); counts != nullptr && !counts->empty())
      consecutive = static_cast<std::size_t>(counts->front());
  LineMap random{load.map.sms, load.map.lines - std::min(consecutive, load.map.lines), {}};
  LineMap first{load.map.sms, load.map.lines - random.lines, {}};
  for (std::size_t sm = 0; sm < load.map.sms; ++sm)
    for (std::size_t line = 0; line < load.map.lines; ++line)
      (line < first.lines ? first : random).cycles.push_back(load.map.at(sm, line));
  auto clusters = cluster_lines(random, {.even_spread = true});
  auto labels = assign(clusters, first);
  labels.insert(labels.end(), clusters.label.begin(), clusters.label.end());
  clusters.label = std::move(labels);
  return clusters;
}

const ClassFunction* SliceFit::function() const noexcept {
  if (whole && whole->ok()) return &whole->function;
  if (pages && pages->ok()) return &pages->function;
  return nullptr;
}

std::string SliceFit::reason() const { return whole ? whole->reason : pages ? pages->reason : std::string(); }

std::optional<SliceFit> fit_slices(const Measurements& measurements) {
  const auto* table = measurements.find("slices.labels");
  if (table == nullptr || table->rows() == 0) return std::nullopt;
  SliceFit fit;
  if (const auto* physical = numbers(table, "physical_address")) {
    const auto* slice = numbers(table, "slice");
    if (slice == nullptr) return std::nullopt;
    std::vector<std::uint64_t> addresses;
    std::vector<std::uint32_t> labels;
    for (std::size_t i = 0; i < physical->size(); ++i) {
      if ((*slice)[i] == k_no_class) continue;
      addresses.push_back((*physical)[i]);
      labels.push_back(static_cast<std::uint32_t>((*slice)[i]));
    }
    fit.physical = true;
    fit.whole = fit_class_function(addresses, labels);
    return fit;
  }
  fit.pages = fit_class_function_in_pages(page_samples(*table, "slice"));
  return fit;
}

std::optional<PageFit> fit_homes(const Measurements& measurements) {
  const auto* table = measurements.find("slices.home");
  if (table == nullptr || table->rows() == 0) return std::nullopt;
  return fit_class_function_in_pages(page_samples(*table, "home_side"));
}

SliceLabels::SliceLabels(SliceFit fit, std::uint64_t page_bytes, std::vector<std::uint64_t> frames,
                         std::uint64_t slices)
    : m_fit(std::move(fit)), m_page_bytes(page_bytes), m_frames(std::move(frames)), m_slices(slices) {
  if (m_fit.physical) {
    for (std::uint64_t page = 0; page < m_frames.size(); ++page) m_pages.push_back(page);
    return;
  }
  for (const auto& page : m_fit.pages->pages)
    if (page.matched) m_pages.push_back(page.page);
}

std::optional<std::uint32_t> SliceLabels::operator()(std::uint64_t place) const {
  const auto page = place / m_page_bytes;
  if (!m_fit.physical) return m_fit.pages->label(page, place % m_page_bytes);
  if (page >= m_frames.size()) return std::nullopt;
  return m_fit.whole->function(m_frames[page] + place % m_page_bytes);
}

std::uint64_t SliceLabels::random_place(Random& random) const {
  const auto page = m_pages[random.below(m_pages.size())];
  return page * m_page_bytes + random.below(m_page_bytes / k_line_bytes) * k_line_bytes;
}

Result<std::optional<SliceLabels>> slice_labels(const Measurements& measurements, Target& target) {
  auto fit = fit_slices(measurements);
  const auto* plan = measurements.find("slices.plan");
  const auto* page_bytes = numbers(plan, "page_bytes");
  if (!fit || !fit->ok() || page_bytes == nullptr || page_bytes->empty()) return std::optional<SliceLabels>();
  std::vector<std::uint64_t> frames;
  if (fit->physical) {
    auto addresses = target.physical_addresses(whole_pages(target, page_bytes->front()));
    if (!addresses) return tl::unexpected(addresses.error());
    frames = std::move(*addresses);
  }
  const auto slices = fit->function()->classes.size();
  return SliceLabels(std::move(*fit), page_bytes->front(), std::move(frames), slices);
}

}  // namespace gpusonde

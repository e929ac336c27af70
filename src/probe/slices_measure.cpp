#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "inference/class_plan.hpp"
#include "probe/run_one.hpp"
#include "probe/slices_probe.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_line_bytes = 128;
constexpr std::uint64_t k_consecutive_lines = 512;
constexpr std::size_t k_most_map_lines = 1 << 15;  // of an experiment
constexpr std::uint64_t k_whole_pages = 3;         // of which about half of the lines are labelled
constexpr std::uint64_t k_sampled_pages = 96;      // and some lines of so many more
constexpr std::uint64_t k_page_samples = 64;
// SMs that measure at a time meet in the slices: classes are told from one after the other, and lines then put to them
// by a few at once.
constexpr std::uint32_t k_sms_at_once = 4;
constexpr std::uint64_t k_random_memory_bytes = 8ULL << 30;
constexpr std::uint64_t k_home_pages = 24;
constexpr std::uint64_t k_home_whole_pages = 2;
constexpr std::size_t k_contention_lines = 2048;

std::vector<std::uint64_t> each_once(std::vector<std::uint64_t> places) {
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

class SlicesMeasurement {
 public:
  explicit SlicesMeasurement(ProbeContext& context) : m_context(context), m_random(mix64(context.options.seed ^ 0x51)) {
    const auto& capabilities = context.target.capabilities();
    m_memory_bytes = std::min(capabilities.max_ring_bytes, k_random_memory_bytes);
    const auto page = context.target.alias_space().page_bytes;
    m_page_bytes = page == 0 ? 2ULL << 20 : page;
  }

  Result<void> run() {
    auto& plan = m_context.measurements.table("slices.plan");
    // Classes are told from lines at random: of few lines at least half are.
    const auto consecutive =
        std::min({k_consecutive_lines, m_context.options.map_lines / 2, m_memory_bytes / k_line_bytes});
    plan.make<std::uint64_t>("page_bytes").push_back(m_page_bytes);
    plan.make<std::uint64_t>("consecutive_lines").push_back(consecutive);
    say("lines from every SM", 0);
    std::vector<std::uint64_t> places(consecutive);
    for (std::uint64_t i = 0; i < consecutive; ++i) places[i] = i * k_line_bytes;
    const std::uint64_t random_lines = m_context.options.map_lines - std::min(m_context.options.map_lines, consecutive);
    add_random(places, random_lines, consecutive * k_line_bytes, m_memory_bytes);
    const auto load = map(places, LineOperation::load, 1);
    if (!load) return tl::unexpected(load.error());
    store_map(m_context.measurements.table("slices.load"), places, *load);
    m_clusters = clusters_of(read_map(*m_context.measurements.find("slices.load")), m_context.measurements);
    if (auto r = homes(); !r) return r;
    if (m_context.options.map_only || m_clusters.count < 2) return {};
    if (auto r = labels(); !r) return r;
    return contention();
  }

 private:
  void say(const char* doing, double fraction) {
    if (m_context.progress) m_context.progress({"slices", doing, fraction});
  }

  /// Lines at random, each once, none below `first` bytes.
  void add_random(std::vector<std::uint64_t>& places, std::uint64_t count, std::uint64_t first, std::uint64_t end) {
    const std::uint64_t lines = (end - std::min(first, end)) / k_line_bytes;
    const Permutation order(std::max<std::uint64_t>(lines, 1), m_random.next());
    for (std::uint64_t i = 0; i < std::min(count, lines); ++i) places.push_back(first + order(i) * k_line_bytes);
  }

  Result<LineMapSamples> map(const std::vector<std::uint64_t>& places, LineOperation operation, std::uint32_t at_once) {
    LineMapSamples all;
    std::vector<std::vector<std::uint16_t>> rows;
    for (std::size_t begin = 0; begin < places.size(); begin += k_most_map_lines) {
      const auto end = std::min(places.size(), begin + k_most_map_lines);
      LineMapExperiment e;
      e.places.assign(places.begin() + static_cast<std::ptrdiff_t>(begin),
                      places.begin() + static_cast<std::ptrdiff_t>(end));
      e.operation = operation;
      e.hops = 8;
      e.repetitions = 2;
      e.sms_at_once = std::min(at_once, m_context.target.device().sm_count);
      const auto part = run_one<LineMapSamples>(m_context.target, m_context.cancel, std::move(e));
      if (!part) return tl::unexpected(part.error());
      rows.resize(part->sms.size());
      const auto count = end - begin;
      for (std::size_t i = 0; i < part->sms.size(); ++i)
        rows[i].insert(rows[i].end(), part->eighth_cycles.begin() + static_cast<std::ptrdiff_t>(i * count),
                       part->eighth_cycles.begin() + static_cast<std::ptrdiff_t>((i + 1) * count));
      all.sms = part->sms;
      all.base_address = part->base_address;
    }
    for (const auto& row : rows) all.eighth_cycles.insert(all.eighth_cycles.end(), row.begin(), row.end());
    return all;
  }

  struct PagePlan {
    std::uint64_t pages = 0;
    std::uint64_t first_pages = 0;         ///< of them, with more lines
    std::uint64_t lines_of_first = ~0ULL;  ///< of each; all that are planned where there are fewer
    std::uint64_t lines_of_others = k_page_samples;
  };
  /// Pages and offsets of lines in them: many of a few, some of all others. The last ones planned for a page, which are
  /// lines at random.
  Result<std::vector<std::pair<std::uint64_t, std::uint64_t>>> page_lines(const PagePlan& plan) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> lines;
    const auto pages = m_memory_bytes / m_page_bytes;
    for (std::uint64_t page = 0; page < std::min(pages, plan.pages); ++page) {
      const auto offsets = plan_page_offsets(m_page_bytes, m_context.options.seed + page);
      if (!offsets) return tl::unexpected(offsets.error());
      const auto keep = std::min<std::uint64_t>(offsets->size(),
                                                page < plan.first_pages ? plan.lines_of_first : plan.lines_of_others);
      for (std::size_t i = offsets->size() - keep; i < offsets->size(); ++i) lines.emplace_back(page, (*offsets)[i]);
    }
    return lines;
  }

  Result<void> homes() {
    say("where lines are at home", 0.15);
    const auto planned = page_lines({.pages = k_home_pages, .first_pages = k_home_whole_pages, .lines_of_first = 2048});
    if (!planned) return tl::unexpected(planned.error());
    const auto& lines = *planned;
    std::vector<std::uint64_t> places;
    for (const auto& [page, offset] : lines) places.push_back(page * m_page_bytes + offset);
    const auto unique = each_once(places);
    const auto atomic = map(unique, LineOperation::atomic, k_sms_at_once);
    if (!atomic) return tl::unexpected(atomic.error());
    store_map(m_context.measurements.table("slices.atomic"), unique, *atomic);
    const auto sides = split_sides(read_map(*m_context.measurements.find("slices.atomic")).map);
    if (sides.outcome != Outcome::ok || sides.sides != 2) return {};
    auto& home = m_context.measurements.table("slices.home");
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto at =
          static_cast<std::size_t>(std::lower_bound(unique.begin(), unique.end(), places[i]) - unique.begin());
      home.make<std::uint64_t>("page").push_back(lines[i].first);
      home.make<std::uint64_t>("offset_bytes").push_back(lines[i].second);
      home.make<std::uint64_t>("home_side")
          .push_back(sides.line_home[at] < 0 ? k_no_class : static_cast<std::uint64_t>(sides.line_home[at]));
    }
    return {};
  }

  /// The class of each place, by its latency from every SM.
  Result<std::vector<std::uint64_t>> classes(const std::vector<std::uint64_t>& places) {
    const auto unique = each_once(places);
    std::vector<std::int32_t> labels;
    for (std::size_t begin = 0; begin < unique.size(); begin += k_most_map_lines) {
      const auto end = std::min(unique.size(), begin + k_most_map_lines);
      const std::vector<std::uint64_t> part(unique.begin() + static_cast<std::ptrdiff_t>(begin),
                                            unique.begin() + static_cast<std::ptrdiff_t>(end));
      const auto samples = map(part, LineOperation::load, k_sms_at_once);
      if (!samples) return tl::unexpected(samples.error());
      const auto found = assign(m_clusters, line_map_of(*samples));
      labels.insert(labels.end(), found.begin(), found.end());
      if (m_context.progress)
        say("lines of which slice", 0.3 + 0.5 * static_cast<double>(end) / static_cast<double>(unique.size()));
    }
    std::vector<std::uint64_t> result;
    for (const auto place : places) {
      const auto at = std::lower_bound(unique.begin(), unique.end(), place) - unique.begin();
      const auto label = labels[static_cast<std::size_t>(at)];
      result.push_back(label < 0 ? k_no_class : static_cast<std::uint64_t>(label));
    }
    return result;
  }

  Result<void> labels() {
    say("lines of which slice", 0.3);
    if (m_context.target.capabilities().physical_addresses) return physical_labels();
    const auto lines = page_lines({.pages = k_whole_pages + k_sampled_pages, .first_pages = k_whole_pages});
    if (!lines) return tl::unexpected(lines.error());
    std::vector<std::uint64_t> places;
    for (const auto& [page, offset] : *lines) places.push_back(page * m_page_bytes + offset);
    const auto found = classes(places);
    if (!found) return tl::unexpected(found.error());
    auto& table = m_context.measurements.table("slices.labels");
    for (std::size_t i = 0; i < lines->size(); ++i) {
      table.make<std::uint64_t>("page").push_back((*lines)[i].first);
      table.make<std::uint64_t>("offset_bytes").push_back((*lines)[i].second);
      table.make<std::uint64_t>("slice").push_back((*found)[i]);
    }
    keep_by_slice(places, *found);
    return {};
  }

  void keep_by_slice(const std::vector<std::uint64_t>& places, const std::vector<std::uint64_t>& classes) {
    for (std::size_t i = 0; i < places.size(); ++i)
      if (classes[i] != k_no_class) m_by_slice[classes[i]].push_back(places[i]);
  }

  Result<void> physical_labels() {
    const auto page_places = whole_pages(m_context.target, m_page_bytes);
    const auto frames = m_context.target.physical_addresses(page_places);
    if (!frames) return tl::unexpected(frames.error());
    std::map<std::uint64_t, std::uint64_t> place_of;
    for (std::size_t i = 0; i < page_places.size(); ++i) place_of[(*frames)[i]] = page_places[i];
    const auto memory = place_of.empty() ? 0 : place_of.rbegin()->first + m_page_bytes;
    const auto planned = plan_class_addresses(memory, {.seed = m_context.options.seed});
    if (!planned) return tl::unexpected(planned.error());
    std::vector<std::uint64_t> addresses;
    std::vector<std::uint64_t> places;
    for (const auto address : *planned) {
      const auto page = place_of.find(address / m_page_bytes * m_page_bytes);
      if (page == place_of.end()) continue;
      addresses.push_back(address);
      places.push_back(page->second + address % m_page_bytes);
    }
    const auto found = classes(places);
    if (!found) return tl::unexpected(found.error());
    auto& table = m_context.measurements.table("slices.labels");
    table.make<std::uint64_t>("physical_address") = std::move(addresses);
    table.make<std::uint64_t>("slice") = *found;
    keep_by_slice(places, *found);
    return {};
  }

  // All SMs load lines of 1, 2, 4 ... slices: each answers on its own, so k of them k times as many.
  Result<void> contention() {
    say("how many slices answer at once", 0.9);
    std::vector<std::uint64_t> counts;
    for (std::uint64_t k = 1; k < m_by_slice.size(); k *= 2) counts.push_back(k);
    counts.push_back(m_by_slice.size());
    std::vector<Experiment> experiments;
    for (const auto k : counts) {
      ThroughputExperiment e;
      std::uint64_t taken = 0;
      for (auto& [slice, places] : m_by_slice) {
        if (taken == k) break;
        ++taken;
        places = each_once(std::move(places));
        // As many of each, or those with more would be asked more.
        const auto count = std::max<std::size_t>(1, k_contention_lines / m_by_slice.size());
        for (std::size_t i = 0; i < count; ++i) e.places.push_back(places[i % places.size()]);
      }
      experiments.emplace_back(std::move(e));
    }
    auto samples = m_context.target.run(experiments, {m_context.cancel, {}});
    if (!samples) return tl::unexpected(samples.error());
    auto& table = m_context.measurements.table("slices.contention");
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const auto& throughput = std::get<ThroughputSamples>((*samples)[i]);
      table.make<std::uint64_t>("slices").push_back(counts[i]);
      table.make<std::uint64_t>("lines").push_back(throughput.lines);
      table.make<double>("cycles").push_back(throughput.cycles);
      table.make<double>("lines_per_cycle").push_back(static_cast<double>(throughput.lines) / throughput.cycles);
    }
    return {};
  }

  ProbeContext& m_context;
  Random m_random;
  std::uint64_t m_memory_bytes = 0;
  std::uint64_t m_page_bytes = 0;
  LineClusters m_clusters;
  std::map<std::uint64_t, std::vector<std::uint64_t>> m_by_slice;
};

}  // namespace

Result<void> measure_slices(ProbeContext& context) { return SlicesMeasurement(context).run(); }

}  // namespace gpusonde

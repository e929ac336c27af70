// What a survey says on a terminal: the device, the hierarchy one line a level, what could not be told
// and why, and the count. Drawn in Unicode; a last pass turns it into ASCII where that is asked for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/units.hpp"
#include "report/columns.hpp"
#include "report/escape.hpp"
#include "report/hierarchy_rows.hpp"
#include "report/latency_view.hpp"
#include "report/operation_table.hpp"
#include "report/outcome_count.hpp"
#include "report/quantity.hpp"
#include "report/report.hpp"
#include "report/text_page.hpp"
#include "report/text_table.hpp"

namespace gpusonde {
namespace {

using namespace report;

class TextWriter {
 public:
  TextWriter(const Run& run, const TextStyle& style) : m_run(run), m_page(style) {}

  std::string write() {
    head();
    levels();
    chains();
    clocks();
    addressing();
    splits();
    steps();
    operations();
    others();
    disagreements();
    not_told();
    count();
    return std::move(m_page).finish();
  }

 private:
  void head() {
    const auto& device = m_run.device;
    const auto& environment = m_run.environment;
    m_page.paragraph(
        {device_title(device),
         device.compute_capability_major == 0
             ? ""
             : fmt::format("sm_{}{}", device.compute_capability_major, device.compute_capability_minor),
         device.sm_count == 0 ? "" : fmt::format("{} SMs", device.sm_count),
         environment.sm_mhz_measured > 0 ? fmt::format("SM {:.0f} MHz", environment.sm_mhz_measured) : "",
         environment.clocks.memory_mhz > 0 ? fmt::format("memory {} MHz", environment.clocks.memory_mhz) : "",
         fmt::format("seed {}", m_run.options.seed)},
        k_bold);
    m_page.paragraph({device.uuid, device.pci_bus_id,
                      environment.driver_version.empty() ? "" : "driver " + environment.driver_version,
                      environment.cuda_version.empty() ? "" : "CUDA " + environment.cuda_version, environment.host,
                      environment.mig == "on" ? "MIG on" : "", environment.ecc.empty() ? "" : "ECC " + environment.ecc},
                     k_dim);
    std::string reasons;
    for (const auto& reason : environment.clocks.throttle_reasons) reasons += (reasons.empty() ? "" : ", ") + reason;
    if (!reasons.empty()) m_page.line("clocks held down by: " + reasons, k_yellow);
    if (environment.other_processes > 0)
      m_page.line(fmt::format("{} other process{} on this device: latencies may be disturbed",
                              environment.other_processes, environment.other_processes == 1 ? "" : "es"),
                  k_yellow);
    m_page.blank();
  }

  [[nodiscard]] std::string truth_cell(const std::string& prefix) const {
    const auto truth = truth_count(m_run, prefix);
    if (truth.known == 0) return {};
    return fmt::format("{} {} of {}", truth.wrong > 0 ? "✗" : "✓", truth.agreeing, truth.known);
  }

  void levels() {
    std::vector<std::vector<std::string>> cells;
    for (const auto& row : hierarchy_rows(m_run)) {
      m_shown.insert(row.ids.begin(), row.ids.end());
      std::vector<std::string> line_cells{row.title, row.cycles, row.ns,       row.interval,
                                          row.size,  row.stated, row.geometry, truth_cell(row.prefix)};
      for (auto& text : line_cells) text = m_page.shown(text);
      // A level without a latency says why in the list of what could not be told.
      if (row.cycles.empty() && !row.trouble.empty()) line_cells[1] = "?";
      cells.push_back(std::move(line_cells));
    }
    if (cells.empty()) return;
    for (const auto& text : text_table({{"", false, 0},
                                        {"hit", true, 0},
                                        {"", true, 0},
                                        {"between", true, 4},
                                        {"size", true, 0},
                                        {"stated", true, 3},
                                        {"geometry", false, 2},
                                        {"truth", false, 1}},
                                       std::move(cells), m_page.width()))
      m_page.line(text);
    m_page.blank();
  }

  /// What the index chain reads where both were measured.
  void chains() {
    const auto* overhead = m_run.finding("chain.index_overhead");
    std::string text;
    for (const auto& [id, title] : {std::pair{"l1.hit_latency", "L1"}, std::pair{"l2.hit_latency", "L2"},
                                    std::pair{"l2.far_latency", "L2 far"}, std::pair{"dram.latency", "DRAM"}}) {
      const auto* twin = m_run.finding(std::string(id) + "_index");
      if (twin == nullptr || !twin->value || m_run.finding(id) == nullptr) continue;
      text += fmt::format("{}{} {}", text.empty() ? "" : " · ", title, quantity(*twin->value, twin->unit));
      m_shown.insert(twin->id);
      m_shown.insert(twin->id + "_ns");
    }
    if (overhead != nullptr && overhead->value) {
      m_shown.insert(overhead->id);
      text += fmt::format("{}+{} a hop", text.empty() ? "" : " · ", quantity(*overhead->value, overhead->unit));
    }
    if (!text.empty()) m_page.line("index chain  " + text);
  }

  void clocks() {
    std::string text;
    for (const auto& [id, title] : {std::pair{"clock.sm", "SM"}, std::pair{"timer.overhead", "two clock reads"},
                                    std::pair{"timer.loop_overhead", "empty loop"}}) {
      const auto* finding = m_run.finding(id);
      if (finding == nullptr || !finding->value) continue;
      m_shown.insert(id);
      text += fmt::format("{}{} {}", text.empty() ? "" : " · ", title, quantity(*finding->value, finding->unit));
    }
    if (!text.empty()) m_page.line("clock        " + text);
  }

  void addressing() {
    std::string text;
    for (const auto& [id, title] : {std::pair{"l1.addressing", "L1"}, std::pair{"l2.addressing", "L2"}}) {
      const auto* finding = m_run.finding(id);
      if (finding == nullptr || !finding->value) continue;
      m_shown.insert(id);
      text += fmt::format("{}{} {}", text.empty() ? "" : " · ", title, quantity(*finding->value, finding->unit));
    }
    if (!text.empty()) m_page.line("addressing   " + text);
  }

  void splits() {
    const auto* table = m_run.measurements.find("derived.l1.capacity");
    if (table == nullptr || table->rows() < 2) return;
    const auto carveout = numbers(*table, "carveout_percent");
    const auto threads = numbers(*table, "block_threads");
    const auto shared = numbers(*table, "shared_config_bytes");
    const auto capacity = numbers(*table, "capacity_bytes");
    const auto outcome = texts(*table, "outcome");
    const auto note = texts(*table, "note");
    std::vector<std::vector<std::string>> cells;
    for (std::size_t row = 0; row < std::min({carveout.size(), threads.size(), capacity.size()}); ++row) {
      const bool ok = std::isfinite(capacity[row]);
      cells.push_back({carveout[row] < 0 ? "driver's" : fmt::format("{:.0f} %", carveout[row]),
                       fmt::format("{:.0f} threads", threads[row]),
                       row < shared.size() && shared[row] > 0 ? quantity(shared[row], "bytes") : "?",
                       m_page.shown(ok ? quantity(capacity[row], "bytes") : outcome[row]),
                       m_page.shown(ok ? "" : note[row])});
    }
    m_page.blank();
    m_page.line("L1 by storage split", k_bold);
    for (const auto& text : text_table({{"carve-out", true, 0},
                                        {"block", true, 0},
                                        {"shared part", true, 0},
                                        {"stays in L1", true, 0},
                                        {"", false, 1}},
                                       std::move(cells), m_page.width(), 2))
      m_page.line(text);
  }

  void steps() {
    const auto found = distinct_steps(m_run);
    if (found.empty()) return;
    m_page.blank();
    m_page.line("steps that are no level", k_bold);
    for (const auto& [policies, step] : found) {
      const auto where = fmt::format("+{:.1f} cyc, {} → {} ({}): ", step.rise_cycles,
                                     quantity(step.from_bytes, "bytes"), quantity(step.to_bytes, "bytes"), policies);
      m_page.indented(where + (step.translation || step.note.empty() ? "" : "unattributed: ") +
                      (step.note.empty() ? "unattributed" : step.note));
    }
  }

  void operations() {
    if (operations_of(m_run).empty()) return;
    m_page.blank();
    m_page.line("operations, in cycles", k_bold);
    add_operation_table(m_page, m_run, false, m_shown);
  }

  /// Findings that no line above shows. A twin in nanoseconds goes with its value in cycles.
  void others() {
    std::vector<std::vector<std::string>> cells;
    for (const auto& finding : m_run.findings) {
      const bool twin =
          finding.id.ends_with("_ns") && m_run.finding(finding.id.substr(0, finding.id.size() - 3)) != nullptr;
      if (!finding.value || twin || m_shown.contains(finding.id)) continue;
      cells.push_back({m_page.shown(finding.id), m_page.shown(compact(*finding.value, finding.unit)),
                       m_page.shown(interval_text(finding))});
    }
    if (cells.empty()) return;
    m_page.blank();
    m_page.line("also found", k_bold);
    for (const auto& text :
         text_table({{"", false, 0}, {"", true, 0}, {"", false, 1}}, std::move(cells), m_page.width(), 2))
      m_page.line(text);
  }

  void disagreements() {
    bool first = true;
    for (const auto& finding : m_run.findings) {
      if (finding.agrees != false || !finding.value || !finding.truth) continue;
      if (first) {
        m_page.blank();
        m_page.line("the model says otherwise", k_bold);
      }
      first = false;
      const auto between = interval_text(finding);
      m_page.indented(fmt::format("{}: {}{}, the model has {}", finding.id, compact(*finding.value, finding.unit),
                                  between.empty() ? "" : " (" + between + ")", compact(*finding.truth, finding.unit)),
                      k_red);
    }
  }

  void not_told() {
    std::vector<std::string> lines;
    std::string ids;
    std::string why;  // one reason often holds for several findings that follow each other
    const auto close = [&] {
      if (!ids.empty()) lines.push_back(fmt::format("{}: {}", ids, why));
    };
    for (const auto& finding : m_run.findings) {
      const bool twin =
          finding.id.ends_with("_ns") && m_run.finding(finding.id.substr(0, finding.id.size() - 3)) != nullptr;
      if (finding.outcome == Outcome::ok || twin) continue;
      auto reason = fmt::format("{}: {}", to_string(finding.outcome), finding.reason);
      if (!ids.empty() && reason == why) {
        ids += ", " + finding.id;
        continue;
      }
      close();
      ids = finding.id;
      why = std::move(reason);
    }
    close();
    if (lines.empty()) return;
    m_page.blank();
    m_page.line("what could not be told", k_bold);
    for (const auto& text : lines) m_page.indented(text, k_yellow);
  }

  void count() {
    const auto counts = outcome_count(m_run);
    m_page.blank();
    m_page.line(count_line(counts) + elapsed(), counts.failed > 0         ? k_red
                                                : counts.inconclusive > 0 ? k_yellow
                                                                          : k_green);
  }

  /// Whole seconds between the time stamps, where both are there.
  [[nodiscard]] std::string elapsed() const {
    const auto seconds = seconds_between(m_run.environment.started_at, m_run.environment.finished_at);
    return seconds ? fmt::format(" in {} s", *seconds) : "";
  }

  const Run& m_run;
  TextPage m_page;
  std::set<std::string> m_shown;
};

}  // namespace

std::string text_report(const Run& run, const TextStyle& style) { return TextWriter(run, style).write(); }

}  // namespace gpusonde

#include "probe/dram_probe.hpp"

namespace gpusonde {

Result<void> measure_dram(ProbeContext& context) {
  const auto& capabilities = context.target.capabilities();
  DramBench bench(context);
  auto& plan = bench.table("dram.plan");
  plan.make<std::uint64_t>("drops_lines").push_back(capabilities.drops_lines ? 1 : 0);
  plan.make<std::uint64_t>("page_bytes").push_back(bench.page_bytes());
  plan.make<std::uint64_t>("pages").push_back(bench.pages().size());
  plan.make<std::uint64_t>("fetch_limit_bytes").push_back(bench.fetch_limit_bytes());
  if (!capabilities.drops_lines) return {};
  if (bench.pages().size() < 2) return fail(ErrorKind::measurement, "DRAM's rows need memory of at least two pages");
  const auto rows = measure_dram_rows(bench);
  if (!rows) return tl::unexpected(rows.error());
  if (rows->contrast.ok())
    if (auto r = measure_dram_banks(bench, *rows); !r) return r;
  if (auto r = measure_dram_refresh(bench); !r) return r;
  return measure_dram_latency(bench);
}

}  // namespace gpusonde

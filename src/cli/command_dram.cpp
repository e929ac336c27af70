// `gpusonde dram`: rows, banks, columns, refresh, and latency by what translation finds.
#include "measure_command.hpp"

namespace gpusonde::cli {

void add_dram(CLI::App& app, CommandContext& context) {
  add_probe_command(app, context,
                    {"dram",
                     "Rows, banks, columns and refresh of DRAM, and its latency by translation",
                     {"clock", "dram"},
                     "dram.latency",
                     dram_text});
}

}  // namespace gpusonde::cli

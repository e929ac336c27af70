// `gpusonde addressing`: are the caches virtual or physical, and how one can tell.
#include "measure_command.hpp"

namespace gpusonde::cli {

void add_addressing(CLI::App& app, CommandContext& context) {
  add_probe_command(app, context,
                    {"addressing",
                     "Virtual or physical: index and tag of L1 and L2, and why",
                     {"clock", "sweep", "addressing"},
                     "addressing.alias",
                     addressing_text});
}

}  // namespace gpusonde::cli

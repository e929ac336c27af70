// `gpusonde crossbar`, `bandwidth` and `load`: what many loads at once bring, and how long each then takes.
#include "measure_command.hpp"

namespace gpusonde::cli {

void add_crossbar(CLI::App& app, CommandContext& context) {
  add_probe_command(app, context,
                    {"crossbar",
                     "Line requests that an SM is served in a cycle",
                     {"clock", "crossbar"},
                     "crossbar.throughput",
                     crossbar_text});
}

void add_bandwidth(CLI::App& app, CommandContext& context) {
  add_probe_command(app, context,
                    {"bandwidth",
                     "Bytes a second read, written and copied at each level",
                     {"clock", "bandwidth"},
                     "bandwidth.stream",
                     bandwidth_text});
}

void add_load(CLI::App& app, CommandContext& context) {
  add_probe_command(app, context,
                    {"load",
                     "Latency while loads overlap, and against bandwidth",
                     {"clock", "load"},
                     "derived.load.curve",
                     load_text});
}

}  // namespace gpusonde::cli

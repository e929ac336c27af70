// `gpusonde instr` and `gpusonde memories`: operations, and the memories that have instructions of their own.
#include "measure_command.hpp"

namespace gpusonde::cli {

void add_instr(CLI::App& app, CommandContext& context) {
  add_probe_command(app, context,
                    {"instr",
                     "True latency and completion interval of operations",
                     {"clock", "instr"},
                     "derived.instr.intervals",
                     instr_text});
}

void add_memories(CLI::App& app, CommandContext& context) {
  add_probe_command(app, context,
                    {"memories",
                     "Constant, texture, read-only and shared memory, and that of other SMs",
                     {"clock", "memories"},
                     "memories.chase",
                     memories_text});
}

}  // namespace gpusonde::cli

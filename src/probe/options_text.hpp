// Probe options as text, so that a run says how it was made and an interrupted one can go on the same way.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gpusonde/error.hpp"
#include "probe/probe.hpp"

namespace gpusonde {

using OptionValues = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] OptionValues to_values(const ProbeOptions& options);
/// Unknown names are ignored (an older or newer tool wrote them). Errors: bad_input.
[[nodiscard]] Result<ProbeOptions> probe_options_from(const OptionValues& values);

/// `ca,cg` and `pointer,index`, `dense`, `serial`. Errors: usage, naming what there is.
[[nodiscard]] Result<std::vector<LoadPath>> parse_policies(const std::string& text);
[[nodiscard]] Result<std::vector<ChainKind>> parse_chains(const std::string& text);
[[nodiscard]] Result<SizePreset> parse_preset(const std::string& text);
/// `auto` gives an empty optional.
[[nodiscard]] Result<std::optional<Warmup>> parse_warmup(const std::string& text);

}  // namespace gpusonde

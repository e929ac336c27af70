// Which known name a mistyped one was meant to be, for error messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpusonde {

/// The known name with the least edit distance, or that the name is the beginning of; empty when none is
/// nearer than half the name's length.
[[nodiscard]] std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

/// `l1, l2 or l3`. Precondition: not empty.
[[nodiscard]] std::string one_of(const std::vector<std::string>& names);

}  // namespace gpusonde

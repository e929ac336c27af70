// Where and why a text is not JSON.
#pragma once

#include <string>
#include <string_view>

namespace gpusonde {

/// `line:col: what; what would be right`. Precondition: the text is not valid JSON.
[[nodiscard]] std::string json_syntax_error(std::string_view text);

}  // namespace gpusonde

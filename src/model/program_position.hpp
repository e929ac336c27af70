// Where the content of a TOML string begins in its file, behind its quotes, so that an error inside a hash
// program points at the very place.
#pragma once

#include <string>
#include <string_view>

#include "model/address_function.hpp"
#include "model/toml_table.hpp"

namespace gpusonde {

/// `opening` is the position of the string's first quote. Exact for literal strings ('...', '''...''') and
/// for basic ones without escapes.
[[nodiscard]] SourcePosition position_of_content(std::string_view text, const std::string& file,
                                                 toml::source_position opening);

}  // namespace gpusonde

// Text that comes from a run may hold anything; here it is made harmless for where it goes.
#pragma once

#include <string>
#include <string_view>

namespace gpusonde::report {

/// Valid UTF-8 without control characters: each byte that is neither becomes U+FFFD, tabs and newlines
/// become blanks.
[[nodiscard]] std::string clean(std::string_view text);
/// For element content and quoted attributes of HTML and XML; cleans first.
[[nodiscard]] std::string xml_escape(std::string_view text);
/// For JSON inside a script element: `<`, `>` and `&` as \u escapes, so that nothing can close it.
[[nodiscard]] std::string script_json(std::string_view json);
/// For a `data:` URL.
[[nodiscard]] std::string percent_encode(std::string_view text);
/// A name as a file name: letters, digits, dot, dash and underscore stay, the rest becomes `_`.
[[nodiscard]] std::string file_stem(std::string_view text);

}  // namespace gpusonde::report

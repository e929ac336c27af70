// toml++, with parse errors as values.
#pragma once

#define TOML_EXCEPTIONS 0
// toml++ 3.3 asserts, and lets clang assume, that a key begins with a key's character, which a malformed file
// need not do; its own error for that follows the assertion. So assertions are off in every build.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

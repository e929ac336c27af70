// SHA-256 (FIPS 180-4), to name the kernels that ran.
#pragma once

#include <string>
#include <string_view>

namespace gpusonde::cuda {

/// 64 hexadecimal digits.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace gpusonde::cuda

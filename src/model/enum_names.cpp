#include "model/enum_names.hpp"

namespace gpusonde {

std::string_view to_string(Replacement policy) noexcept { return name_of(k_replacement_names, policy); }

}  // namespace gpusonde

// The words for a model's enumerations, as model files and findings write them.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "model/device_model.hpp"

namespace gpusonde {

template <class T>
struct EnumName {
  std::string_view name;
  T value;
};

inline constexpr std::array<EnumName<Replacement>, 6> k_replacement_names{{
    {"lru", Replacement::lru},
    {"fifo", Replacement::fifo},
    {"tree-plru", Replacement::tree_plru},
    {"nru", Replacement::nru},
    {"srrip", Replacement::srrip},
    {"random", Replacement::random},
}};

inline constexpr std::array<EnumName<AddressSpace>, 2> k_address_space_names{{
    {"virtual", AddressSpace::virtual_address},
    {"physical", AddressSpace::physical_address},
}};

inline constexpr std::array<EnumName<Scope>, 6> k_scope_names{{
    {"sm", Scope::sm},
    {"tpc", Scope::tpc},
    {"cpc", Scope::cpc},
    {"gpc", Scope::gpc},
    {"partition", Scope::partition},
    {"gpu", Scope::gpu},
}};

inline constexpr std::array<EnumName<Placement>, 2> k_placement_names{{
    {"contiguous", Placement::contiguous},
    {"random", Placement::random},
}};

inline constexpr std::array<EnumName<TlbIndex>, 2> k_tlb_index_names{{
    {"modulo", TlbIndex::modulo},
    {"folded", TlbIndex::folded},
}};

/// Operations that have a pipeline.
inline constexpr std::array<std::string_view, 9> k_pipeline_names{"ffma",     "imad", "imad_wide", "iadd3", "lop3",
                                                                  "mufu_ex2", "dadd", "dfma",      "hfma2"};

inline constexpr std::array<EnumName<RefreshWait>, 2> k_refresh_wait_names{{
    {"fixed", RefreshWait::fixed},
    {"rest", RefreshWait::rest},
}};

/// Precondition: the value is in the list.
template <class T, std::size_t N>
[[nodiscard]] constexpr std::string_view name_of(const std::array<EnumName<T>, N>& names, T value) noexcept {
  for (const auto& each : names)
    if (each.value == value) return each.name;
  return {};
}

}  // namespace gpusonde

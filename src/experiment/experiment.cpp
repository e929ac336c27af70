#include "experiment/experiment.hpp"

#include <array>

namespace gpusonde {

std::string_view to_string(LoadPath path) noexcept {
  switch (path) {
    case LoadPath::global_ca: return "ca";
    case LoadPath::global_cg: return "cg";
    case LoadPath::global_cv: return "cv";
    case LoadPath::global_nc: return "nc";
    case LoadPath::shared: break;
  }
  return "shared";
}

std::string_view to_string(ChainKind kind) noexcept { return kind == ChainKind::pointer ? "pointer" : "index"; }

std::string_view to_string(Warmup warmup) noexcept {
  switch (warmup) {
    case Warmup::none: return "none";
    case Warmup::serial: return "serial";
    case Warmup::parallel: break;
  }
  return "parallel";
}

std::string_view to_string(Operation operation) noexcept {
  constexpr std::array<std::string_view, k_operation_count> k_names{"ffma",
                                                                    "imad",
                                                                    "imad_wide",
                                                                    "iadd3",
                                                                    "lop3",
                                                                    "mufu_ex2",
                                                                    "dadd",
                                                                    "dfma",
                                                                    "hfma2",
                                                                    "shared_register",
                                                                    "shared_immediate",
                                                                    "shared_predicate"};
  return k_names[static_cast<std::size_t>(operation)];
}

std::string_view to_string(MemoryKind kind) noexcept {
  switch (kind) {
    case MemoryKind::constant: return "constant";
    case MemoryKind::texture: return "texture";
    case MemoryKind::read_only: return "read_only";
    case MemoryKind::shared: break;
  }
  return "shared";
}

}  // namespace gpusonde

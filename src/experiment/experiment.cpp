#include "experiment/experiment.hpp"

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

}  // namespace gpusonde

#include "target/cuda/host_facts.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

namespace gpusonde::cuda {

void fill_host(Environment& environment) {
  utsname names{};
  if (uname(&names) != 0) return;
  environment.host = names.nodename;
  environment.os = fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

}  // namespace gpusonde::cuda

#include "target/cuda/list_chase.hpp"

namespace gpusonde::cuda {
namespace {

constexpr std::size_t k_places_limit_bytes = std::size_t{1} << 30;

// The chase kernels take an order for their parallel warm-up, which a list has none of.
RingOrder no_order() { return RingOrder({.node_count = 1, .stride_bytes = 8}); }

ChaseRequest request_of(const ListChaseExperiment& e) {
  return {.path = e.path,
          .chain = ChainKind::pointer,
          .timing = e.timing,
          .hops = e.hops,
          .repetitions = e.repetitions,
          .split = e.split};
}

Result<void> link(const ListChaseExperiment& e, const ListResources& list, const ChaseResources& r) {
  const std::uint64_t count = e.places.size();
  const auto places = list.places.at_least(8 * count, k_places_limit_bytes);
  if (!places) return tl::unexpected(places.error());
  if (const auto result = r.driver.memcpy_htod(*places, e.places.data(), 8 * count); result != k_success)
    return tl::unexpected(driver_error(r.driver, result, "cannot copy a list of places to the GPU"));
  const bool aliased = e.region == Region::aliases;
  const LinkListParameters parameters{*places, count, aliased ? list.aliases.home() : r.buffer,
                                      aliased ? list.aliases.space().page_bytes : 0,
                                      aliased ? list.aliases.base() : r.buffer};
  return r.launcher.launch(ModuleId::base, "link_list", link_shape(count), parameters);
}

}  // namespace

Result<ChaseSamples> run_list_chase(const ListChaseExperiment& e, const ListResources& list,
                                    const ChaseResources& resources) {
  const bool aliased = e.region == Region::aliases;
  ChaseSession session(request_of(e), {no_order(), aliased ? list.aliases.base() : resources.buffer, 0}, resources);
  // Both, before anything is mapped or launched: an SM that is not there must not be found out half-way.
  if (auto r = session.choose_sm(e.warmup_sm); !r) return tl::unexpected(r.error());
  if (auto r = session.choose_sm(e.sm); !r) return tl::unexpected(r.error());
  if (auto r = session.prepare("link_list"); !r) return tl::unexpected(r.error());
  if (aliased) {
    if (auto r = list.aliases.map(e.places); !r) return tl::unexpected(r.error());
  }
  if (auto r = link(e, list, resources); !r) return tl::unexpected(r.error());
  session.start_at(e.places.front());
  const auto plan = plan_chase(e);
  if (!plan.warm_up.empty()) {
    if (auto r = session.choose_sm(e.warmup_sm); !r) return tl::unexpected(r.error());
    for (const auto& launch : plan.warm_up) {
      if (auto r = session.launch(launch); !r) return tl::unexpected(r.error());
    }
    if (auto r = session.choose_sm(e.sm); !r) return tl::unexpected(r.error());
  }
  for (const auto& launch : plan.chase) {
    if (auto r = session.launch(launch); !r) return tl::unexpected(r.error());
  }
  return session.collect();
}

}  // namespace gpusonde::cuda

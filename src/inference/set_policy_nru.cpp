// Not recently used: a bit a way, set by a use; the victim is a way whose bit is clear. `nru-on-hit` leaves the bit
// clear when a line comes in, so that lines hit again are protected from those touched once.
#include <array>
#include <utility>

#include "inference/set_policy.hpp"

namespace gpusonde {
namespace {

enum class NruClear : std::uint8_t {
  all_others,  ///< when the last bit is set, all but that one
  all,         ///< when the last bit is set, that one too
  when_needed  ///< all, once a victim is sought and none is clear
};

struct NruShape {
  bool set_on_fill = true;
  NruClear clear = NruClear::all_others;
  bool rotating = false;  ///< the victim is sought from behind the last one on, or else from the lowest way
  bool fills_from_top = false;
};

class NruPolicy : public SetPolicy {
 public:
  NruPolicy(std::uint32_t ways, NruShape shape)
      : m_ways(ways), m_all(ways == k_most_set_ways ? ~0ULL : (1ULL << ways) - 1), m_shape(shape) {}

  void hit(std::uint32_t way) override {
    m_used |= 1ULL << way;
    if (m_used != m_all || m_shape.clear == NruClear::when_needed) return;
    m_used = m_shape.clear == NruClear::all ? 0 : 1ULL << way;
  }
  void filled(std::uint32_t way) override {
    if (m_shape.set_on_fill) return hit(way);
    m_used &= ~(1ULL << way);
  }
  std::uint32_t victim() override {
    if (m_used == m_all) m_used = 0;
    const std::uint64_t clear = m_all & ~m_used;
    const std::uint64_t from_hand = clear & (~0ULL << m_hand);
    const auto way = static_cast<std::uint32_t>(std::countr_zero(from_hand != 0 ? from_hand : clear));
    if (m_shape.rotating) m_hand = way + 1 == m_ways ? 0 : way + 1;
    return way;
  }
  [[nodiscard]] std::uint32_t empty_way(std::uint64_t empty) const override {
    return m_shape.fills_from_top ? static_cast<std::uint32_t>(std::bit_width(empty)) - 1 : SetPolicy::empty_way(empty);
  }

 private:
  std::uint32_t m_ways;
  std::uint64_t m_all;
  NruShape m_shape;
  std::uint64_t m_used = 0;
  std::uint32_t m_hand = 0;
};

std::string text_of(const NruShape& shape, bool stale) {
  std::string text = shape.clear == NruClear::all_others ? "clears all others"
                     : shape.clear == NruClear::all      ? "clears all"
                                                         : "clears when none is left";
  text += shape.rotating ? ", rotating victim" : ", lowest victim";
  if (shape.fills_from_top) text += ", fills from the top";
  if (stale) text += ", bits outlive the lines";
  return text;
}

}  // namespace

void add_nru_policies(std::vector<SetCandidate>& list) {
  for (const bool set_on_fill : {true, false})
    for (const auto clear : {NruClear::all_others, NruClear::all, NruClear::when_needed})
      for (const bool rotating : {false, true})
        for (const bool fills_from_top : {false, true})
          for (const bool stale : {false, true}) {
            const NruShape shape{set_on_fill, clear, rotating, fills_from_top};
            list.push_back({set_on_fill ? "nru" : "nru-on-hit", text_of(shape, stale), false, stale,
                            stale || fills_from_top,
                            [shape](std::uint32_t ways, Random) { return std::make_unique<NruPolicy>(ways, shape); }});
          }
}

}  // namespace gpusonde

// Re-reference interval prediction (Jaleel et al. 2010): a small age a way. The victim has the highest age; while none
// has it, all grow older. Only the static kind is here: one that puts lines in at an age by chance would need so many
// accesses to be told that it stays unnamed.
#include <algorithm>
#include <utility>

#include "inference/set_policy.hpp"

namespace gpusonde {
namespace {

struct RripShape {
  std::uint8_t highest = 3;
  std::uint8_t inserted = 2;
  bool hit_to_zero = true;  ///< or else one younger
  bool rotating = false;    ///< the victim is sought from behind the last one on, or else from the lowest way
  bool fills_from_top = false;
};

class RripPolicy : public SetPolicy {
 public:
  RripPolicy(std::uint32_t ways, RripShape shape) : m_ages(ways, shape.highest), m_shape(shape) {}

  void hit(std::uint32_t way) override {
    if (m_shape.hit_to_zero) {
      m_ages[way] = 0;
    } else if (m_ages[way] > 0) {
      --m_ages[way];
    }
  }
  void filled(std::uint32_t way) override { m_ages[way] = m_shape.inserted; }
  std::uint32_t victim() override {
    const auto oldest = *std::max_element(m_ages.begin(), m_ages.end());
    for (auto& age : m_ages) age = static_cast<std::uint8_t>(age + m_shape.highest - oldest);
    const auto from_hand = m_ages.begin() + m_hand;
    auto found = std::find(from_hand, m_ages.end(), m_shape.highest);
    if (found == m_ages.end()) found = std::find(m_ages.begin(), from_hand, m_shape.highest);
    const auto way = static_cast<std::uint32_t>(found - m_ages.begin());
    if (m_shape.rotating) m_hand = way + 1 == m_ages.size() ? 0 : way + 1;
    return way;
  }
  [[nodiscard]] std::uint32_t empty_way(std::uint64_t empty) const override {
    return m_shape.fills_from_top ? static_cast<std::uint32_t>(std::bit_width(empty)) - 1 : SetPolicy::empty_way(empty);
  }

 private:
  std::vector<std::uint8_t> m_ages;
  RripShape m_shape;
  std::uint32_t m_hand = 0;
};

void add(std::vector<SetCandidate>& list, RripShape shape, bool stale) {
  std::string text = "ages to " + std::to_string(shape.highest) + ", inserts at " + std::to_string(shape.inserted);
  text += shape.hit_to_zero ? ", a hit sets 0" : ", a hit takes 1 off";
  text += shape.rotating ? ", rotating victim" : ", lowest victim";
  if (shape.fills_from_top) text += ", fills from the top";
  if (stale) text += ", hand outlives the lines";
  list.push_back({"srrip", text, false, stale, stale || shape.fills_from_top,
                  [shape](std::uint32_t ways, Random) { return std::make_unique<RripPolicy>(ways, shape); }});
}

}  // namespace

void add_rrip_policies(std::vector<SetCandidate>& list) {
  for (const bool rotating : {false, true})
    for (const bool from_top : {false, true})
      for (const bool stale : {false, true}) {
        if (stale && !rotating) continue;
        add(list, {3, 2, true, rotating, from_top}, stale);
        add(list, {3, 2, false, rotating, from_top}, stale);
        // Put in at 3 and set to 0 by a hit, a line has one of two ages: that is nru-on-hit.
        add(list, {3, 3, false, rotating, from_top}, stale);
      }
  for (const bool to_zero : {true, false}) add(list, {7, 6, to_zero, false, false}, false);
}

}  // namespace gpusonde

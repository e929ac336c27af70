#include "target/cuda/alias_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/units.hpp"

namespace gpusonde::cuda {
namespace {

constexpr std::uint64_t k_most_span_bytes = 16 * 1024 * k_gib;  // a GPU has 47 bits or more of virtual addresses
constexpr std::uint64_t k_least_span_bytes = 16 * k_gib;
// No page of the space's own is larger, so what a place's offset is aligned to, its address is.
constexpr std::uint64_t k_base_alignment = k_gib;
constexpr std::uint64_t k_most_pages = 131072;

}  // namespace

AliasMemory::~AliasMemory() { close(); }

const AliasSpace& AliasMemory::space() {
  if (m_asked) return m_space;
  m_asked = true;
  if (const auto opened = open(); !opened) {
    close();
    m_space = {0, 0, 0, opened.error().message};
  }
  return m_space;
}

Result<void> AliasMemory::open() {
  if (!m_driver.has_virtual_memory())
    return fail(ErrorKind::unsupported,
                "the NVIDIA driver has no virtual memory management; install one of CUDA 10.2 or later (driver 440 or "
                "later)");
  int supported = 0;
  if (m_driver.device_get_attribute(&supported, DeviceAttribute::virtual_memory_management, m_device) != k_success ||
      supported == 0)
    return fail(ErrorKind::unsupported, "this GPU or driver mode has no virtual memory management");
  const auto page_bytes = PhysicalMemory::granularity(m_driver, m_device);
  if (!page_bytes) return tl::unexpected(page_bytes.error());
  auto page = PhysicalMemory::allocate(m_driver, m_device, *page_bytes);
  if (!page) return tl::unexpected(page.error());
  m_page.emplace(std::move(*page));
  auto home = AddressRange::reserve(m_driver, *page_bytes, 0);
  if (!home) return tl::unexpected(home.error());
  m_home.emplace(std::move(*home));
  if (const auto result = m_page->map_at(m_home->address()); result != k_success)
    return tl::unexpected(
        driver_error(m_driver, result, fmt::format("cannot map a page of {}", format_bytes(*page_bytes))));
  m_home_is_mapped = true;
  m_space = {*page_bytes, 0, k_most_pages, "", true};
  return reserve_span();
}

// The larger the better, since TLBs are told apart by how far they reach.
Result<void> AliasMemory::reserve_span() {
  const auto reserve = [&](std::uint64_t bytes, std::uint64_t alignment) -> Result<void> {
    auto range = AddressRange::reserve(m_driver, bytes, alignment);
    if (!range) return tl::unexpected(range.error());
    m_span.emplace(std::move(*range));
    return {};
  };
  Error refusal;
  for (auto bytes = k_most_span_bytes; bytes >= k_least_span_bytes; bytes /= 2) {
    if (auto aligned = reserve(bytes, k_base_alignment); !aligned) {
      refusal = std::move(aligned.error());
      // A driver that does not align so far gets as much more to align in.
      if (!reserve(bytes + k_base_alignment, m_space.page_bytes)) continue;
    }
    m_base = (m_span->address() + k_base_alignment - 1) / k_base_alignment * k_base_alignment;
    const auto behind_base = m_span->address() + m_span->bytes() - m_base;
    m_space.span_bytes = std::min<std::uint64_t>(bytes, behind_base) / m_space.page_bytes * m_space.page_bytes;
    return {};
  }
  refusal.message += "; raise the limit on virtual memory (ulimit -v)";
  return tl::unexpected(std::move(refusal));
}

std::vector<std::uint64_t> AliasMemory::pages_of(const std::vector<std::uint64_t>& places) const {
  std::vector<std::uint64_t> pages(places.size());
  std::transform(places.begin(), places.end(), pages.begin(),
                 [&](std::uint64_t place) { return place / m_space.page_bytes; });
  std::sort(pages.begin(), pages.end());
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
  return pages;
}

Result<void> AliasMemory::map(const std::vector<std::uint64_t>& places) {
  const auto pages = pages_of(places);
  std::vector<std::uint64_t> missing;
  std::set_difference(pages.begin(), pages.end(), m_mapped.begin(), m_mapped.end(), std::back_inserter(missing));
  if (m_mapped.size() + missing.size() > m_space.max_pages) {
    unmap_all();
    missing = pages;
  }
  const auto before = static_cast<std::ptrdiff_t>(m_mapped.size());
  for (const auto page : missing) {
    if (const auto result = m_page->map_at(address_of_page(page)); result != k_success) {
      auto error =
          driver_error(m_driver, result, fmt::format("cannot map a page after {} were mapped", m_mapped.size()));
      error.message += "; free memory that other programs hold, or ask for fewer pages or a smaller stride";
      unmap_all();
      return tl::unexpected(std::move(error));
    }
    m_mapped.push_back(page);
  }
  std::inplace_merge(m_mapped.begin(), m_mapped.begin() + before, m_mapped.end());
  return {};
}

void AliasMemory::unmap_all() {
  if (m_mapped.empty()) return;
  m_driver.ctx_synchronize();  // nothing may walk there still
  for (const auto page : m_mapped) m_page->unmap_at(address_of_page(page));
  m_mapped.clear();
}

void AliasMemory::close() {
  unmap_all();
  m_span.reset();
  if (m_home_is_mapped) {
    m_driver.ctx_synchronize();  // an interrupted experiment leaves the linking under way
    m_page->unmap_at(m_home->address());
    m_home_is_mapped = false;
  }
  m_home.reset();
  m_page.reset();
}

}  // namespace gpusonde::cuda

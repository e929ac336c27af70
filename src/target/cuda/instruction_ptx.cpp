#include "target/cuda/instruction_ptx.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>

namespace gpusonde::cuda {
namespace {

/// How one link of a chain is written. `{x}` is the chain's register, `{n}` the link's number.
struct Form {
  unsigned bits;                          ///< of the chain's register
  std::array<std::string_view, 2> links;  ///< in turn
  bool shared = false;
};

// Two links that differ where one alone could be merged with the next: sums are not made of sums, nor tables of
// tables, when operands alternate.
Form form_of(Operation operation) {
  switch (operation) {
    case Operation::ffma: return {32, {"fma.rn.f32 {x}, {x}, a, b;", ""}};
    case Operation::imad: return {32, {"mad.lo.u32 {x}, {x}, a, b;", ""}};
    // The low half of the last result is a factor, and all of it the summand. In two parts, which ptxas makes one of:
    // of every other whole mad.wide it makes a product and additions.
    case Operation::imad_wide:
      return {64,
              {"{{ .reg .b32 l, h, f; mov.b64 {{l, h}}, {x}; mov.b32 f, l; mad.lo.cc.u32 l, f, narrow, l; "
               "madc.hi.u32 h, f, narrow, h; mov.b64 {x}, {{l, h}}; }}",
               ""}};
    case Operation::iadd3:
      return {32,
              {"{{ .reg .b32 t; add.u32 t, {x}, a; add.u32 {x}, t, b; }}",
               "{{ .reg .b32 t; sub.u32 t, c, {x}; add.u32 {x}, t, d; }}"}};
    case Operation::lop3: return {32, {"lop3.b32 {x}, {x}, a, b, 0x2D;", "lop3.b32 {x}, {x}, c, d, 0x87;"}};
    case Operation::mufu_ex2: return {32, {"ex2.approx.ftz.f32 {x}, {x};", ""}};
    case Operation::dadd: return {64, {"add.rn.f64 {x}, {x}, a;", ""}};
    case Operation::dfma: return {64, {"fma.rn.f64 {x}, {x}, a, b;", ""}};
    case Operation::hfma2: return {32, {"fma.rn.f16x2 {x}, {x}, a, b;", ""}};
    case Operation::shared_register: return {32, {"ld.volatile.shared.u32 {x}, [{x}];", ""}, true};
    case Operation::shared_immediate:
      return {32,
              {"{{ .reg .b32 t; setp.ne.u32 p, {x}, a; @p ld.volatile.shared.u32 t, [cells]; mov.b32 {x}, t; }}", ""},
              true};
    case Operation::shared_predicate: break;
  }
  return {
      32, {"{{ .reg .b32 t; setp.ne.u32 p, {x}, a; @p ld.volatile.shared.u32 t, [b]; mov.b32 {x}, t; }}", ""}, true};
}

class Writer {
 public:
  explicit Writer(const Form& form, std::uint32_t chains) : m_form(form), m_chains(chains) {
    m_text.reserve(1 << 15);
    line(".version 6.0");
    line(".target sm_70");
    line(".address_size 64");
  }

  void kernel(const std::string& name, std::uint32_t length) {
    fmt::format_to(out(), ".visible .entry {}(.param .align 8 .b8 p0[32])\n.maxntid 32, 1, 1\n{{\n", name);
    declare();
    operands();
    line("LOOP:");
    line(".pragma \"nounroll\";");
    line("mov.u64 before, %clock64;");
    begin_chains();
    for (std::uint32_t i = 0; i < length; ++i)
      for (std::uint32_t chain = 0; chain < m_chains; ++chain) link(i, chain);
    end_chains();
    line("mov.u64 after, %clock64;");
    line("sub.s64 after, after, before;");
    line("@first red.global.add.u64 [results], after;");
    line("add.s64 results, results, 8;");
    line("sub.u32 turns, turns, 1;");
    line("setp.ne.u32 more, turns, 0;");
    line("@more bra LOOP;");
    line("ret;\n}");
  }

  [[nodiscard]] std::string finish() && { return std::move(m_text); }

 private:
  std::back_insert_iterator<std::string> out() { return std::back_inserter(m_text); }
  void line(std::string_view text) { m_text.append(text).append("\n"); }

  void declare() {
    line(".reg .pred first, more, never, p;");
    line(".reg .b32 turns, lane, low, high, all, narrow;");
    line(".reg .b64 before, after, results, sink, at, wide;");
    fmt::format_to(out(), ".reg .b{0} zero, a, b, c, d, mixed;\n.reg .b{0} x<{1}>;\n", m_form.bits, m_chains);
    if (m_form.shared) line(".shared .align 16 .b8 cells[16];");
  }

  // Each lane loads its own, so that nothing is known of them and nothing runs on the uniform datapath.
  void operands() {
    line("ld.param.u64 results, [p0];");
    line("ld.param.u64 at, [p0+8];");
    line("ld.param.u64 sink, [p0+16];");
    line("ld.param.u32 turns, [p0+24];");
    line("mov.u32 lane, %laneid;");
    line("setp.eq.u32 first, lane, 0;");
    line("mul.wide.u32 wide, lane, 64;");
    line("add.s64 at, at, wide;");
    const std::array names{"zero", "a", "b", "c", "d"};
    for (std::size_t i = 0; i < names.size(); ++i)
      fmt::format_to(out(), "ld.global.b{} {}, [at+{}];\n", m_form.bits, names[i], 8 * i);
    if (m_form.bits == 64) line("cvt.u32.u64 narrow, a;");
    if (m_form.shared) {
      // The cell holds its own address, which is not known to be that.
      line("mov.u32 b, cells;");
      line("add.u32 b, b, zero;");
      line("st.volatile.shared.u32 [b], b;");
      line("bar.warp.sync 0xFFFFFFFF;");
    }
    for (std::uint32_t chain = 0; chain < m_chains; ++chain)
      fmt::format_to(out(), "mov.b{} x{}, {};\n", m_form.bits, chain, m_form.shared ? "b" : "a");
  }

  // No operation can begin before the clock is read.
  void begin_chains() {
    if (m_form.bits == 64) {
      line("and.b64 mixed, before, zero;");
    } else {
      line("cvt.u32.u64 low, before;");
      line("and.b32 mixed, low, zero;");
    }
    for (std::uint32_t chain = 0; chain < m_chains; ++chain)
      fmt::format_to(out(), "xor.b{0} x{1}, x{1}, mixed;\n", m_form.bits, chain);
  }

  void link(std::uint32_t i, std::uint32_t chain) {
    const auto& text = m_form.links[i % 2].empty() ? m_form.links[0] : m_form.links[i % 2];
    fmt::format_to(out(), fmt::runtime(text), fmt::arg("x", fmt::format("x{}", chain)));
    m_text += '\n';
  }

  // The second clock is read when a comparison with what all chains came to has been made.
  void end_chains() {
    fmt::format_to(out(), "mov.b{} mixed, x0;\n", m_form.bits);
    for (std::uint32_t chain = 1; chain < m_chains; ++chain)
      fmt::format_to(out(), "xor.b{} mixed, mixed, x{};\n", m_form.bits, chain);
    if (m_form.bits == 64) {
      line("mov.b64 {low, high}, mixed;");
      line("xor.b32 all, low, high;");
    } else {
      line("mov.b32 all, mixed;");
    }
    line("setp.eq.u32 never, all, 0x9E3779B9;");
    line("@never red.global.add.u64 [sink], 1;");
  }

  const Form m_form;
  std::uint32_t m_chains;
  std::string m_text;
};

constexpr std::uint64_t k_one_f32 = 0x3F800000;
constexpr std::uint64_t k_one_f64 = 0x3FF0000000000000;
constexpr std::uint64_t k_ones_f16 = 0x3C003C00;

}  // namespace

std::string instruction_module_name(Operation operation, std::uint32_t chains) {
  return fmt::format("{}_{}", to_string(operation), chains);
}

std::string instruction_ptx(Operation operation, std::uint32_t chains, std::uint32_t short_length,
                            std::uint32_t long_length) {
  const auto name = instruction_module_name(operation, chains);
  Writer writer(form_of(operation), chains);
  writer.kernel(name + "_short", short_length);
  writer.kernel(name + "_long", long_length);
  return std::move(writer).finish();
}

InstructionOperands instruction_operands(Operation operation) {
  switch (operation) {
    case Operation::ffma:
    case Operation::mufu_ex2: return {.a = k_one_f32, .b = k_one_f32};
    case Operation::dadd:
    case Operation::dfma: return {.a = k_one_f64, .b = k_one_f64};
    case Operation::hfma2: return {.a = k_ones_f16, .b = k_ones_f16};
    default: break;
  }
  return {.a = 0x2545F491, .b = 0x9E3779B1, .c = 0x85EBCA6B, .d = 0xC2B2AE35};
}

}  // namespace gpusonde::cuda

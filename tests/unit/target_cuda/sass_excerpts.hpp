// Machine code written by hand after what ptxas 13.0 makes for sm_90, shortened.
#pragma once

#include <fmt/format.h>

#include <string>

namespace gpusonde::cuda::test {

/// `count` dependent loads from `address` on, each 16 bytes; the last brings R12.
inline std::string loads(unsigned address, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += fmt::format("        /*{:04x}*/                   LDG.E.64.STRONG.SM R{}, desc[UR12][R{}.64] ;\n",
                        address + 16 * i, i + 1 == count ? 12 : 20 + 2 * (i % 4), i == 0 ? 12 : 20 + 2 * ((i - 1) % 4));
  return text;
}

/// nvdisasm, pointer chain, L1: turns of 64 hops, turns of 8, then the comparison that waits, then the clock.
inline const std::string k_chase_ca_pointer = R"sass(
	.headerflags	@"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)"
	.section	.text.chase_ca_pointer,"ax",@progbits
.text.chase_ca_pointer:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_1:
        /*0010*/                   LDG.E.64.STRONG.SM R4, desc[UR4][R4.64] ;
        /*0020*/               @P1 BRA `(.L_x_1) ;
        /*0030*/                   CS2R R4, SR_GLOBALTIMERLO ;
        /*0040*/                   CS2R R8, SR_CLOCKLO ;
        /*0050*/              @!P0 BRA `(.L_x_3) ;
.L_x_2:
)sass" + loads(0x60, 64) + R"sass(
        /*0460*/                   ISETP.NE.AND P0, PT, RZ, UR5, PT ;
        /*0470*/               @P0 BRA `(.L_x_2) ;
.L_x_3:
        /*0480*/              @!P0 BRA `(.L_x_5) ;
.L_x_4:
)sass" + loads(0x490, 8) + R"sass(
        /*0510*/                   ISETP.NE.AND P0, PT, RZ, UR5, PT ;
        /*0520*/               @P0 BRA `(.L_x_4) ;
.L_x_5:
        /*0530*/                   ISETP.NE.U32.AND P0, PT, R12, 0x1, PT ;
        /*0540*/               @P0 BRA `(.L_x_6) ;
        /*0550*/                   RED.E.ADD.64.STRONG.GPU desc[UR12][R6.64], R14 ;
.L_x_6:
        /*0560*/                   CS2R R14, SR_CLOCKLO ;
        /*0570*/                   CS2R R16, SR_GLOBALTIMERLO ;
        /*0580*/                   EXIT ;
)sass";

/// cuobjdump -sass, per hop: one load between two clock reads, inside a loop between two more.
inline const std::string k_chase_cg_index_timed = R"sass(
Fatbin elf code:
================
arch = sm_90
code version = [1,8]

	code for sm_90
		Function : chase_cg_index_timed
	.headerflags	@"EF_CUDA_SM90"
        /*0000*/                   CS2R R8, SR_CLOCKLO ;                     /* 0x0000000000087805 */
                                                                             /* 0x000fe20000015000 */
        /*0010*/                   CS2R.32 R15, SR_CLOCKLO ;                 /* 0x00000000000f7805 */
                                                                             /* 0x000fe20000005000 */
        /*0020*/                   IMAD.WIDE.U32 R14, R17, 0x4, R10 ;        /* 0x00000004110e7825 */
                                                                             /* 0x001fcc00078e000a */
        /*0030*/                   LDG.E.STRONG.GPU R17, desc[UR4][R14.64] ; /* 0x000000040e117981 */
                                                                             /* 0x000ea2000c1ef900 */
        /*0040*/                   ISETP.NE.AND P2, PT, R17, -0x1, PT ;      /* 0xffffffff1100780c */
                                                                             /* 0x004fda0003f45270 */
        /*0050*/               @P2 BRA 0x70 ;                                /* 0x0000000000042947 */
                                                                             /* 0x000fea0003800000 */
        /*0060*/                   RED.E.ADD.64.STRONG.GPU desc[UR4][R2.64], R18 ;
        /*0070*/                   CS2R.32 R16, SR_CLOCKLO ;
        /*0080*/                   STS.U16 [R12], R15 ;
        /*0090*/              @!P1 BRA 0x10 ;
        /*00a0*/                   CS2R R10, SR_CLOCKLO ;
        /*00b0*/                   EXIT ;
		..........
)sass";

/// nvdisasm, a sequence's timed loads: the place is read, then its load between two clock reads.
inline const std::string k_sequence_cg = R"sass(
.text.sequence_cg:
.L_x_1:
        /*0000*/                   LDG.E.64.STRONG.GPU R8, desc[UR4][R4.64] ;
        /*0010*/                   IADD3 R8, P0, R8, R6, RZ ;
        /*0020*/                   ISETP.NE.AND P0, PT, R8, -0x61c88647, PT ;
        /*0030*/                   CS2R.32 R14, SR_CLOCKLO ;
        /*0040*/                   LDG.E.64.STRONG.GPU R12, desc[UR4][R8.64] ;
        /*0050*/                   ISETP.NE.AND P1, PT, R12, -0x61c88647, PT ;
        /*0060*/              @!P1 RED.E.ADD.64.STRONG.GPU desc[UR4][R2.64], R18 ;
        /*0070*/                   CS2R.32 R15, SR_CLOCKLO ;
        /*0080*/                   IADD3 R15, R15, -R14, RZ ;
        /*0090*/                   RED.E.ADD.STRONG.GPU desc[UR4][R16.64], R15 ;
        /*00a0*/               @P2 BRA `(.L_x_1) ;
        /*00b0*/                   EXIT ;
)sass";

inline std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

}  // namespace gpusonde::cuda::test

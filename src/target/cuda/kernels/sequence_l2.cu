// Sequences past L1 with what PTX 7.4 and sm_80 added: lines dropped from L2, and loads that ask it to fetch more than
// they need.
#include "kernels/sequence.cuh"

#define GPUSONDE_PREFETCH_PATH(name, space_and_operator)                                               \
  struct name {                                                                                        \
    GPUSONDE_DEVICE u64 load64(u64 address) {                                                          \
      u64 value;                                                                                       \
      asm volatile("ld." space_and_operator ".u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory"); \
      return value;                                                                                    \
    }                                                                                                  \
  }
GPUSONDE_PREFETCH_PATH(Prefetch64, "global.cg.L2::64B");
GPUSONDE_PREFETCH_PATH(Prefetch128, "global.cg.L2::128B");
GPUSONDE_PREFETCH_PATH(Prefetch256, "global.cg.L2::256B");

GPUSONDE_SEQUENCE(cg_0, Cg, true)
GPUSONDE_SEQUENCE(cg_64, Prefetch64, true)
GPUSONDE_SEQUENCE(cg_128, Prefetch128, true)
GPUSONDE_SEQUENCE(cg_256, Prefetch256, true)

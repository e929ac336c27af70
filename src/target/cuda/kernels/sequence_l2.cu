// Sequences past L1 with what PTX 7.4 and sm_80 added: lines dropped from L2, and loads that ask it to fetch more than
// they need.
#include "kernels/sequence.cuh"

GPUSONDE_LOAD_PATH(Prefetch64, "global.cg.L2::64B");
GPUSONDE_LOAD_PATH(Prefetch128, "global.cg.L2::128B");
GPUSONDE_LOAD_PATH(Prefetch256, "global.cg.L2::256B");

GPUSONDE_SEQUENCE(cg_0, Cg, true)
GPUSONDE_SEQUENCE(cg_64, Prefetch64, true)
GPUSONDE_SEQUENCE(cg_128, Prefetch128, true)
GPUSONDE_SEQUENCE(cg_256, Prefetch256, true)

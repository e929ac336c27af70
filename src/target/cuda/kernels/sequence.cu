// Sequences by the plain load paths.
#include "kernels/sequence.cuh"

GPUSONDE_SEQUENCE(ca, Ca, false)
GPUSONDE_SEQUENCE(cg, Cg, false)
GPUSONDE_SEQUENCE(cv, Cv, false)
GPUSONDE_SEQUENCE(nc, Nc, false)

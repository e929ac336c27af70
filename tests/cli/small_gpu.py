"""Small models of a GPU, written for one test: two SMs, an L1 of 32 KiB, an L2 of 2 MiB; and one with four slices."""

SMALL_GPU = """name = "small"
sm_count = 2
memory_bytes = "{memory_mib} MiB"

[timing]
sm_mhz = 1000

[[cache]]
name = "l1"
ways = 4
sets = 64
index = "virtual"
tag = "virtual"
allocates_cg = false
hit = {{ sm_cycles = 30 }}

[[cache]]
name = "l2"
scope = "gpu"
ways = 16
sets = 1024
hit = {{ sm_cycles = 210 }}

{tlbs}
[dram]
rows = {rows}
latency = {{ sm_cycles = 500 }}
"""

TLB = """[[tlb]]
entries = {entries}
miss = {{ sm_cycles = {cycles} }}
"""


def write_small_gpu(folder, memory_mib=1024, tlbs=((8, 40),)):
    """The file's name; `tlbs` are entries and cycles of each, nearest first."""
    text = "\n".join(TLB.format(entries=entries, cycles=cycles) for entries, cycles in tlbs)
    (folder / "small.toml").write_text(SMALL_GPU.format(memory_mib=memory_mib, tlbs=text, rows=4 * memory_mib))
    return "small.toml"


# 16 SMs, so that lines of four slices look different from them. Two parities choose the slice.
SLICED_GPU = """name = "sliced"
sm_count = 16
memory_bytes = "64 MiB"

[timing]
sm_mhz = 1000

[[cache]]
name = "l1"
ways = 4
sets = 64
index = "virtual"
tag = "virtual"
allocates_cg = false
hit = { sm_cycles = 30 }

[[cache]]
name = "l2"
scope = "gpu"
ways = 8
sets = 64
slices = 4
slice_masks = [0x10880, 0x21100]
slice_spread_cycles = 40
fetch_bytes = 64
PARTITIONS
hit = { sm_cycles = 210 }

[[tlb]]
entries = 1024
miss = { sm_cycles = 40 }

[dram]
rows = 256
latency = { sm_cycles = 500 }
"""
PARTITIONS = """partitions = 2
home_masks = [0x2b000]
far_cycles = 180"""


def write_sliced_gpu(folder, partitions=False):
    """The file's name."""
    (folder / "sliced.toml").write_text(SLICED_GPU.replace("PARTITIONS", PARTITIONS if partitions else ""))
    return "sliced.toml"

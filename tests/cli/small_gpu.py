"""A small model of a GPU, written for one test: two SMs, an L1 of 32 KiB, an L2 of 2 MiB."""

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

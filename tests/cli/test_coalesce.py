"""What a warp's loads become: patterns by name and from files, bad files, counters."""

from small_gpu import write_small_gpu
from support import SIM, CommandTest, finding


class Coalesce(CommandTest):
    def lanes(self, *rows, name="lanes.csv"):
        (self.folder / name).write_text("\n".join(map(str, rows)) + "\n")
        return name

    def test_patterns_and_what_a_line_costs(self):
        run = self.document("coalesce", *SIM)
        self.assertEqual(run["probes_done"], ["clock", "coalesce"])
        entry = finding(run, "coalescer.sectors")
        self.assertEqual((entry["outcome"], entry["agrees"]), ("ok", True))
        self.assertIn("4 B, stride 1: 4 sectors in 1 line", entry["value"])
        self.assertIn("4 B, stride 2: 8 sectors in 2 lines", entry["value"])
        self.assertIn("4 B, stride 8: 32 sectors in 8 lines", entry["value"])
        self.assertIn("4 B, stride 32: 32 sectors in 32 lines", entry["value"])
        entry = finding(run, "coalescer.line_cycles")
        self.assertEqual((entry["outcome"], entry["agrees"]), ("ok", True))
        self.assertAlmostEqual(entry["value"], 1, delta=0.03)  # the model's L1 takes a line a cycle
        self.assertEqual(finding(run, "coalescer.wavefront_cycles")["outcome"], "inconclusive")
        self.assertFalse([f for f in run["findings"] if f["id"] == "coalescer.counters"])

    def test_lanes_of_a_file(self):
        name = self.lanes("offset_bytes", *[8 * (lane // 2) for lane in range(31)], "0x400")
        run = self.document("coalesce", "-d", "sim:" + write_small_gpu(self.folder), "--pattern", name, "--width", "8")
        table = run["measurements"]["derived.coalesce"]
        at = table["pattern"].index(name)
        # Sixteen words side by side fill a line, and one lane is elsewhere.
        self.assertEqual((table["width_bytes"][at], table["lines"][at], table["sectors"][at]), (8, 2, 5))
        # The findings are of the usual patterns, whatever else was asked.
        self.assertTrue(finding(run, "coalescer.lines")["agrees"])

    def test_strides_by_name(self):
        text = self.succeed("coalesce", *SIM, "--pattern", "stride=3", "--width", "4")
        row = next(line for line in text.splitlines() if line.strip().startswith("stride=3"))
        self.assertEqual(row.split()[1:4], ["4", "12", "3"])
        self.assertTrue(all(len(line) <= 100 for line in text.splitlines()))
        self.succeed("coalesce", *SIM, "--pattern", "random", "--width", "16")

    def test_bad_files(self):
        small = ("coalesce", *SIM, "--pattern")
        self.refuse(*small, self.lanes(*range(0, 120, 4)), says=("lanes.csv:30", "only 30 lanes", "give 32 rows"))
        self.refuse(*small, self.lanes(*range(0, 132, 4)), says=("lanes.csv:33", "a 33rd lane"))
        self.refuse(*small, self.lanes(0, 4, 6, *range(0, 116, 4)), says=("lanes.csv:3", "6 is no multiple of the 4 B"))
        self.refuse(*small, self.lanes(0, "four"), says=("lanes.csv:2", "'four' is no byte offset"))
        self.refuse(*small, self.lanes(-4, *range(0, 124, 4), 0), says=("lanes.csv:1", "'-4' is no byte offset"))
        self.refuse(*small, self.lanes(1 << 30, *range(0, 124, 4)), says=("lanes.csv:1", "beyond 1 GiB"))
        self.refuse(*small, "missing.csv", says=("missing.csv", "cannot be read"))

    def test_bad_options(self):
        self.refuse("coalesce", *SIM, "--pattern", "diagonal", says=("--pattern diagonal", "stride=N"))
        self.refuse("coalesce", *SIM, "--pattern", "stride=-1", says="stride=N")
        self.refuse("coalesce", *SIM, "--pattern", "stride=99999", says="from 0 to 4096")
        self.refuse("coalesce", *SIM, "--width", "12", says="{4,8,16}")

    def test_a_simulated_gpu_has_no_counters(self):
        run = self.document("coalesce", *SIM, "--counters")
        entry = finding(run, "coalescer.counters")
        self.assertEqual(entry["outcome"], "unsupported")
        self.assertIn("simulated", entry["reason"])
        self.assertEqual(finding(run, "coalescer.sectors")["outcome"], "ok")

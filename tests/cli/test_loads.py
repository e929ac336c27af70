"""Crossbar, bandwidth and loads that overlap, on a simulated RTX 4090."""

import csv
import io

from support import SIM, CommandTest, finding


class Loads(CommandTest):
    def test_crossbar(self):
        run = self.document("crossbar", *SIM)
        self.assertEqual(run["probes_done"], ["clock", "crossbar"])
        entry = finding(run, "crossbar.lines_per_cycle")
        self.assertEqual((entry["outcome"], entry["agrees"]), ("ok", True))
        self.assertAlmostEqual(entry["value"], 2, delta=0.04)
        text = self.succeed("crossbar", *SIM, "-q")
        self.assertIn("line requests a cycle, one SM", text)

    def test_bandwidth(self):
        rows = list(csv.DictReader(io.StringIO(self.succeed("bandwidth", *SIM, "--csv", "-o", "out"))))
        self.assertEqual({row["level"] for row in rows}, {"l1", "past_l1", "shared", "l2", "dram"})
        dram = [1e9 * int(row["bytes"]) / int(row["wall_ns"]) for row in rows if row["level"] == "dram"]
        self.assertTrue(all(0.85 * 1008.1e9 < rate < 1.001 * 1008.1e9 for rate in dram), dram)
        self.assertTrue((self.folder / "out/figures/bandwidth.svg").exists())
        self.assertIn("Bandwidth", (self.folder / "out/report.html").read_text())
        again = self.succeed("analyze", "out/run.json")
        self.assertIn("bandwidth.dram.read", again)

    def test_load(self):
        run = self.document("load", *SIM, "-o", "out")
        self.assertAlmostEqual(finding(run, "load.l1.completion_interval")["value"], 5, delta=0.05)
        curve = run["measurements"]["derived.load.curve"]
        self.assertEqual(set(curve["level"]), {"l2", "dram"})
        self.assertTrue(all(0.9 < part < 1.02 for part in curve["together"]), curve["together"])
        self.assertTrue((self.folder / "out/figures/load.curve.svg").exists())

"""Rows, banks and refresh of DRAM on the simulated RTX 4090, whose truth is known, and on a model that has none of them."""

from small_gpu import write_small_gpu
from support import SIM, CommandTest, finding


class Dram(CommandTest):
    def test_of_the_rtx4090(self):
        run = self.document("dram", *SIM, "-o", "out")
        truth = {"dram.row_size": 1024, "dram.banks": 16, "dram.row_miss_extra_ns": 51, "dram.column_ns": 3.4,
                 "dram.refresh_fraction": 0.02, "dram.refresh_stall_ns": 210, "dram.refresh_interval_ns": 3900}
        for name, value in truth.items():
            entry = finding(run, name)
            self.assertEqual((entry["outcome"], entry["agrees"]), ("ok", True), entry)
            self.assertAlmostEqual(entry["value"], value, delta=0.06 * value)
        hit = finding(run, "dram.latency_tlb_hit")["value"]
        self.assertAlmostEqual(hit, 641.7, delta=2)
        self.assertAlmostEqual(finding(run, "dram.latency_tlb_miss")["value"] - hit, 11.4, delta=2)
        self.assertAlmostEqual(finding(run, "dram.latency_cold")["value"] - hit, 11.4, delta=2)
        figures = {path.name for path in (self.folder / "out/figures").iterdir()}
        self.assertLessEqual({"dram.latency.svg", "dram.costs.svg"}, figures)
        # The same from the stored run.
        again = self.document("analyze", "out")
        self.assertEqual(again["findings"], run["findings"])

    def test_text_fits_a_terminal(self):
        text = self.succeed("dram", *SIM)
        self.assertTrue(all(len(line) <= 100 for line in text.splitlines()), text)
        for words in ("banks of a channel", "another row, on top", "refresh interval", "first level missed"):
            self.assertIn(words, text)

    def test_without_rows_that_cost_anything(self):
        run = self.document("dram", "-d", "sim:" + write_small_gpu(self.folder))
        for name in ("dram.row_size", "dram.row_miss_extra_ns", "dram.banks", "dram.refresh_fraction",
                     "dram.refresh_interval_ns"):
            entry = finding(run, name)
            self.assertEqual(entry["outcome"], "inconclusive", entry)
            self.assertTrue(entry["reason"])
        self.assertAlmostEqual(finding(run, "dram.latency_tlb_hit")["value"], 500, delta=1.5)
        self.assertTrue(finding(run, "dram.latency_tlb_miss")["agrees"])

"""Virtual or physical: the verdicts on simulated GPUs, and the sentences they rest on."""

import csv
import io
import json

from small_gpu import write_small_gpu
from support import SIM, CommandTest, finding


class Addressing(CommandTest):
    def joined(self, text):
        """Lines broken for the terminal in one."""
        return " ".join(text.split())

    def test_l1_is_virtual_and_l2_physical(self):
        text = self.succeed("addressing", *SIM)
        self.assertIn("\nL1  VIVT\n", text)
        self.assertIn("\nL2  PIPT\n", text)
        l1, l2 = map(self.joined, text.split("L2  PIPT"))
        self.assertIn("0 of 8192 loads hit through a second address of a line loaded before", l1)
        self.assertRegex(l1, r"With \d+ nodes \d+ MiB apart translation costs 1[01]\.\d cycles past L1 and 0\.0 on a hit\.")
        self.assertIn("So a hit takes the virtual address alone, index and tag, and no translation.", l1)
        self.assertIn("The model has VIVT.", l1)
        self.assertIn("512 of 512 loads hit through a second address of a line loaded before", l2)
        self.assertRegex(l2, r"With \d+ nodes \d+ MiB apart translation costs (1[01]\.\d) cycles past L1 and \1 on a hit\.")
        self.assertRegex(l2, r"Lines at one offset of many pages take 34\d\.\d cycles, spread over the pages 34\d\.\d, so the "
                             r"index has bits of the physical page\.")
        self.assertIn("So the address is translated before the cache is looked up, index and tag.", l2)
        self.assertIn("The model has PIPT.", l2)

    def test_json(self):
        run = self.document("addressing", *SIM)
        for name, value in (("l1.addressing", "VIVT"), ("l2.addressing", "PIPT")):
            entry = finding(run, name)
            self.assertEqual((entry["outcome"], entry["value"], entry["truth"], entry["agrees"]), ("ok", value, value, True))
            self.assertEqual(entry["evidence"], "#/measurements/addressing.alias")
        samples = finding(run, "l1.addressing")["samples"]
        self.assertEqual((samples["alias_hits"], samples["alias_tested"]), (0, 8192))
        self.assertAlmostEqual(samples["translation_cycles"], 11.44, delta=2)
        self.assertAlmostEqual(samples["translation_on_hit_cycles"], 0, delta=0.5)
        self.assertEqual(run["probes_done"], ["clock", "sweep", "addressing"])

    def test_csv_is_the_alias_test(self):
        rows = list(csv.DictReader(io.StringIO(self.succeed("addressing", *SIM, "--csv"))))
        self.assertEqual([row["policy"] for row in rows], ["ca"] * 1024 + ["cg"] * 64)
        for row in rows[:1024]:
            self.assertGreater(float(row["first_cycles"]), 5 * float(row["again_cycles"]))
            self.assertEqual(len(row["first_readings"].split()), 8)
        for row in rows[1024:]:
            self.assertAlmostEqual(float(row["first_cycles"]), float(row["again_cycles"]), delta=40)

    def test_a_physical_l1(self):
        name = write_small_gpu(self.folder)
        text = (self.folder / name).read_text().replace('"virtual"', '"physical"')
        (self.folder / name).write_text(text)
        entry = finding(self.document("addressing", "-d", f"sim:{name}"), "l1.addressing")
        # Its index is of offset bits alone, so that VIPT and PIPT are one.
        self.assertEqual((entry["outcome"], entry["truth"]), ("inconclusive", "PIPT"))
        self.assertIn("VIPT with an index of offset bits alone", entry["reason"])

    def test_a_reason_is_printed_where_there_is_no_verdict(self):
        text = self.succeed("addressing", "-d", "sim:" + write_small_gpu(self.folder))
        self.assertIn("\nL1  VIVT\n", text)
        l2 = self.joined(text.split("L2  inconclusive")[1])
        self.assertIn("PIPT, or VIPT with an index of offset bits alone, which translation does not change: lines at one "
                      "offset of many pages take 5", l2)

    def test_memory_too_small_for_a_sweep(self):
        text = self.succeed("addressing", "-d", "sim:" + write_small_gpu(self.folder, memory_mib=64))
        self.assertIn("L1  inconclusive", text)
        self.assertIn("The sweep says nothing", text)

    def test_o_writes_a_run_that_is_analysed_again(self):
        self.succeed("addressing", "-d", "sim:" + write_small_gpu(self.folder), "-o", "out")
        run = json.loads((self.folder / "out/run.json").read_text())
        self.assertEqual(self.document("analyze", "out/run.json")["findings"], run["findings"])

    def test_there_is_no_further_argument(self):
        self.refuse("addressing", "l1", *SIM, says="l1")

"""Geometry of L1 and L2, as the command tells it, on simulated GPUs whose truth is known."""

import csv
import io
import json

from small_gpu import write_sliced_gpu, write_small_gpu
from support import SIM, CommandTest, finding

# Of the model, in canonical form: the lowest masks of fewest bits that choose the same sets.
RTX4090_MASKS = ["0x8f000", "0x9c88300", "0xe224200", "0x119a8080", "0x47810400", "0x84111a00", "0xa0301580",
                 "0x1054a0480"]


class Cache(CommandTest):
    def small(self):
        return "-d", "sim:" + write_small_gpu(self.folder, memory_mib=256)

    def agreeing(self, run, wanted):
        for name, value in wanted.items():
            entry = finding(run, name)
            self.assertEqual((entry["outcome"], entry.get("value")), ("ok", value), entry)
            self.assertIs(entry["agrees"], True, entry)

    def test_l1_of_the_rtx4090(self):
        run = self.document("cache", "l1", *SIM)
        self.assertEqual(run["probes_done"], ["clock", "l1"])
        self.agreeing(run, {"l1.line_size": 128, "l1.sector_size": 32, "l1.ways": 4, "l1.sets": 256,
                            "l1.set_masks": RTX4090_MASKS, "l1.replacement": "lru"})
        self.assertEqual(finding(run, "l1.set_masks")["evidence"], "#/measurements/cache.l1.lines")
        self.assertEqual(finding(run, "l1.sets")["samples"]["sets_looked_at"], "256 of 256 hold 4")

    def test_text_and_a_run_that_is_analysed_again(self):
        text = self.succeed("cache", "l1", *self.small(), "-o", "out")
        self.assertIn("\nL1\n", text)
        for line in ("line size    128 B", "sector size  32 B", "ways         4 ", "sets         64", "replacement  lru"):
            self.assertRegex(text, rf"(?m)^  {line}.*✓$")
        self.assertRegex(text, r"set masks +6 masks +✓\n +0x80 +bits 7\n +0x100 +bits 8\n")
        self.assertIn("sets looked at 64 of 64 hold 4", text)
        run = json.loads((self.folder / "out/run.json").read_text())
        self.assertEqual(self.document("analyze", "out/run.json")["findings"], run["findings"])
        self.assertTrue((self.folder / "out/data/cache.l1.lines.csv").exists())

    def test_csv_is_the_lines(self):
        rows = list(csv.DictReader(io.StringIO(self.succeed("cache", "l1", *self.small(), "--csv"))))
        self.assertEqual(list(rows[0]), ["group", "role", "virtual_address"])
        victims = {row["group"]: int(row["virtual_address"]) for row in rows if row["role"] == "victim"}
        self.assertGreater(len(victims), 20)
        # Plain sets: bits 7 to 12 are the set.
        for row in rows:
            same = (int(row["virtual_address"]) ^ victims[row["group"]]) & 0x1F80 == 0
            self.assertEqual(same, row["role"] != "apart", row)
        self.assertEqual(sum(row["role"] == "set" for row in rows), 4 * len(victims))

    def test_l2_within_pages(self):
        run = self.document("cache", "l2", "-d", "sim:" + write_sliced_gpu(self.folder), "--timeout", "60")
        self.assertEqual(run["probes_done"], ["clock", "slices", "l2"])
        self.agreeing(run, {"l2.line_size": 128, "l2.sector_size": 32, "l2.fetch_granularity": 64, "l2.ways": 8,
                            "l2.slices": 4, "l2.sets_per_slice": 64, "l2.replacement": "lru"})
        self.assertNotEqual(finding(run, "l2.set_function")["outcome"], "failed")

    def test_an_l1_that_is_switched_off(self):
        name = write_small_gpu(self.folder, memory_mib=256)
        text = (self.folder / name).read_text().replace("allocates_cg = false", "allocates_cg = true")
        (self.folder / name).write_text(text)
        run = self.document("cache", "l1", "-d", f"sim:{name}")
        for quantity in ("line_size", "sector_size", "ways", "sets", "set_masks", "replacement"):
            entry = finding(run, f"l1.{quantity}")
            self.assertEqual(entry["outcome"], "inconclusive")
            self.assertNotIn("value", entry)
            self.assertIn("hits and misses read alike", entry["reason"])
            self.assertIn("L1 may be switched off", entry["reason"])

    def test_a_level_is_wanted(self):
        self.refuse("cache", *SIM)
        self.refuse("cache", "l3", *SIM)
        self.refuse("cache", "l1", "l3", *SIM, says="l3")

    def test_a_device_that_is_not_there(self):
        self.refuse("cache", "l1", "-d", "sim:nothing", says="nothing")
        self.refuse("cache", "l2", "-d", "GPU-00000000-0000-0000-0000-000000000000", code=3)

    def test_a_real_device_tells_no_physical_addresses(self):
        for device in ("0", "GPU-00000000-0000-0000-0000-000000000000"):
            self.refuse("cache", "l2", "--physical-addresses", "-d", device,
                        says=("--physical-addresses", "simulated device only"))

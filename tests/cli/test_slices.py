"""Slices and sides of L2 and the map of latencies, on a simulated GPU with four slices."""

import csv
import io
import re

from small_gpu import write_sliced_gpu, write_small_gpu
from support import SIM, CommandTest, finding

SLICE_MASKS = (0x10880, 0x21100)  # of the model


def parity(number):
    return bin(number).count("1") % 2


class Slices(CommandTest):
    def sliced(self, **options):
        return "-d", "sim:" + write_sliced_gpu(self.folder, **options)

    def masks(self, program):
        return {int(mask, 16) for mask in re.findall(r"parity\(a & (0x[0-9a-f]+)\)", program)}

    def test_slices_and_their_function(self):
        run = self.document("slices", *self.sliced())
        self.assertEqual(run["probes_done"], ["clock", "slices"])
        entry = finding(run, "l2.slices")
        self.assertEqual((entry["outcome"], entry["value"], entry["agrees"]), ("ok", 4, True))
        entry = finding(run, "l2.slice_function")
        self.assertEqual(entry["outcome"], "ok", entry)
        # The two masks, or one of them and their sum: the same four classes.
        span = {*SLICE_MASKS, SLICE_MASKS[0] ^ SLICE_MASKS[1]}
        masks = self.masks(entry["value"])
        self.assertEqual(len(masks), 2, entry["value"])
        self.assertLessEqual(masks, span)
        self.assertEqual(entry["samples"]["held_out_wrong"], 0)
        self.assertGreater(entry["samples"]["held_out_lines"], 500)
        self.assertIn("the offset in a page", entry["samples"]["of"])
        labels = run["measurements"]["slices.labels"]
        self.assertIn("page", labels)
        # Twice the classes, twice the lines a cycle.
        rate = run["measurements"]["slices.contention"]["lines_per_cycle"]
        self.assertEqual(run["measurements"]["slices.contention"]["slices"], [1, 2, 4])
        self.assertGreater(rate[2], 1.5 * rate[0])

    def test_with_physical_addresses(self):
        run = self.document("slices", *self.sliced(), "--physical-addresses")
        entry = finding(run, "l2.slice_function")
        self.assertEqual((entry["outcome"], entry["samples"]["of"]), ("ok", "the physical address"))
        table = run["measurements"]["slices.labels"]
        # Each label is of one pair of parities of the address itself.
        seen = {}
        for address, label in zip(table["physical_address"], table["slice"]):
            seen.setdefault(label, set()).add(tuple(parity(address & mask) for mask in SLICE_MASKS))
        self.assertEqual(len(seen), 4)
        self.assertTrue(all(len(pairs) == 1 for pairs in seen.values()), seen)
        self.assertEqual(run["options"]["values"]["physical-addresses"], "true")

    def test_map_of_few_lines(self):
        self.succeed("map", *self.sliced(partitions=True), "--lines", "256", "-o", "out")
        table = list(csv.DictReader(io.StringIO((self.folder / "out/data/slices.load.csv").read_text())))
        self.assertEqual(len(table), 256)
        self.assertEqual(len({row["place_bytes"] for row in table}), 256)
        self.assertEqual(len(table[0]), 1 + 16)
        for name in ("slices.map", "slices.atomic"):
            self.assertIn("<svg", (self.folder / f"out/figures/{name}.svg").read_text()[:500])
        self.assertFalse((self.folder / "out/data/slices.labels.csv").exists(), "a map puts no lines to classes")

    def test_csv_of_the_map_is_its_lines(self):
        rows = list(csv.DictReader(io.StringIO(self.succeed("map", *self.sliced(), "--lines", "300", "--csv"))))
        self.assertEqual(len(rows), 300)
        # 210 cycles, 20 nearer or farther.
        for row in rows:
            for sm in range(16):
                self.assertTrue(8 * 189 <= int(row[f"sm_{sm}_eighth_cycles"]) <= 8 * 231, row)
        # In one page, lines whose parities agree are of one slice and read alike from each SM; four slices do not.
        by_slice = {}
        for row in rows:
            place = int(row["place_bytes"])
            if place < 1 << 21:
                by_slice.setdefault(tuple(parity(place & mask) for mask in SLICE_MASKS), []).append(
                    [int(row[f"sm_{sm}_eighth_cycles"]) for sm in range(16)])
        self.assertEqual(len(by_slice), 4)
        for lines in by_slice.values():
            for readings in zip(*lines):
                self.assertLess(max(readings) - min(readings), 8)
        self.assertEqual(len({tuple(lines[0]) for lines in by_slice.values()}), 4)

    def test_sides(self):
        run = self.document("map", *self.sliced(partitions=True))
        entry = finding(run, "l2.partitions")
        self.assertEqual((entry["outcome"], entry.get("value"), entry["agrees"]), ("ok", 2, True), entry)
        self.assertEqual(entry["samples"]["sms"], "8 and 8")
        self.assertAlmostEqual(entry["samples"]["far_less_near_cycles"], 180, delta=1)
        entry = finding(run, "l2.home_mask")
        self.assertEqual((entry["outcome"], entry.get("value"), entry.get("agrees")), ("ok", "0x2b000", True), entry)
        sides = run["measurements"]["derived.slices.sms"]["side"]
        self.assertEqual(sides, [0.0] * 8 + [1.0] * 8)

    def test_text(self):
        text = self.succeed("slices", *self.sliced())
        self.assertRegex(text, r"(?m)^  slices +4 .*✓$")
        self.assertRegex(text, r"(?m)^ +p0 = parity\(a & 0x[0-9a-f]+\)$")
        self.assertIn("SMs by side", text)
        self.assertNotIn("nothing was measured", text)

    def test_one_slice_has_no_function(self):
        run = self.document("slices", "-d", "sim:" + write_small_gpu(self.folder, memory_mib=64), "--lines", "512")
        entry = finding(run, "l2.slice_function")
        self.assertNotEqual(entry["outcome"], "ok")
        self.assertNotIn("value", entry)
        self.assertNotIn("slices.labels", run["measurements"])

    def test_bad_numbers_of_lines(self):
        for command in ("slices", "map"):
            for lines in ("10", "65537", "-1", "many"):
                self.refuse(command, *SIM, "--lines", lines, says="--lines")

    def test_a_real_device_tells_no_physical_addresses(self):
        self.refuse("slices", "--physical-addresses", "-d", "0", says="simulated device only")
        self.refuse("slices", "-d", "GPU-00000000-0000-0000-0000-000000000000", code=3)

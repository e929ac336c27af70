"""Where addresses belong by a model's functions: against published vectors, and against closed forms."""

import csv
import io
import json
import subprocess

from small_gpu import write_small_gpu
from support import PROGRAM, SOURCE, CommandTest, environment

RTX4090 = ("--model", "rtx4090")


def vectors():
    with open(SOURCE / "tests/golden/hash-vectors.csv", encoding="ascii") as file:
        return list(csv.DictReader(file))


class Hash(CommandTest):
    def piped(self, text, *arguments):
        return subprocess.run([PROGRAM, "hash", "-", *arguments], cwd=self.folder, env=environment(), input=text,
                              capture_output=True, text=True, timeout=60, check=False)

    def rows(self, *arguments):
        return list(csv.DictReader(io.StringIO(self.succeed("hash", *arguments, "--csv"))))

    def test_csv_is_what_was_published(self):
        wanted = vectors()
        done = self.piped("\n".join(row["address_hex"] for row in wanted), *RTX4090, "--csv")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual(len(found), 2000)
        for row, want in zip(found, wanted):
            self.assertEqual((row["address"], row["l2_slice"], row["l2_set"], row["l1_set"]),
                             (want["address_hex"], want["l2_slice_36"], want["l2_set"], want["l1_set"]))
            # Three slices and two channels to a controller.
            self.assertEqual(int(row["controller"]), int(row["l2_slice"]) // 3)
            self.assertEqual(int(row["channel"]) // 2, int(row["controller"]))
            self.assertLess(int(row["bank"]), 16)
            self.assertEqual(int(row["row"]), int(row["line"], 16) // 393216 % 65536)

    def test_text_is_aligned_and_says_the_same(self):
        some = vectors()[:60]
        text = self.succeed("hash", *(row["address_hex"] for row in some), *RTX4090)
        title, blank, head, *rows = text.splitlines()
        self.assertTrue(title.startswith("NVIDIA GeForce RTX 4090 · 24 GiB · physical addresses; "), title)
        self.assertEqual(blank, "")
        for name in ("address", "line", "l1 set (virtual)", "l2 slice", "l2 set", "channel", "controller", "bank", "row"):
            self.assertIn(name, head)
        self.assertNotIn("l1 slice", head)
        self.assertEqual({len(row) for row in rows}, {len(head)})
        for row, want in zip(rows, some):
            cells = row.split()
            self.assertEqual(int(cells[0], 16), int(want["address_hex"], 16))
            self.assertEqual(cells[2:5], [want["l1_set"], want["l2_slice_36"], want["l2_set"]])

    def test_json(self):
        some = vectors()[:20]
        document = self.document("hash", *(row["address_hex"] for row in some), "--model", "l40s")
        self.assertEqual((document["model"], document["memory_bytes"]), ("l40s", 48 << 30))
        self.assertEqual([(each["name"], each["index"], each["slices"]) for each in document["caches"]],
                         [("l1", "virtual", 1), ("l2", "physical", 48)])
        for entry, want in zip(document["addresses"], some):
            self.assertEqual(entry["address"], want["address_hex"])
            self.assertEqual((entry["l2"]["slice"], entry["l1"]["set"]), (int(want["l2_slice_48"]), int(want["l1_set"])))
            self.assertEqual(entry["dram"]["controller"], int(want["l2_slice_48"]) // 4)

    def test_an_address_inside_a_line_is_that_of_the_line(self):
        first, inside, last = self.rows("0x8000", "0x8001", "0x807f", *RTX4090)
        self.assertEqual([row.pop("address") for row in (first, inside, last)], ["0x8000", "0x8001", "0x807f"])
        self.assertEqual(first["line"], "0x8000")
        self.assertEqual(inside, first)
        self.assertEqual(last, first)

    def test_addresses_in_every_notation(self):
        rows = self.rows("2MiB", "2097152", "0x200000", "0X200000", "2M", *RTX4090)
        self.assertEqual([row["address"] for row in rows], ["0x200000"] * 5)

    def test_a_model_file_without_functions_is_plain(self):
        name = write_small_gpu(self.folder)
        wanted = [0, 128, 128 * 63, 128 * 64, 128 * 1023, 128 * 1024 + 7, (1 << 30) - 1]
        for row, address in zip(self.rows(*map(hex, wanted), "--model", name), wanted):
            self.assertEqual((int(row["l1_set"]), int(row["l2_set"])), (address // 128 % 64, address // 128 % 1024))
            self.assertEqual((row["l1_slice"], row["l2_slice"]), ("0", "0"))

    def test_stdin_between_other_addresses(self):
        done = subprocess.run([PROGRAM, "hash", "1KiB", "-", "0x80", *RTX4090, "--csv"], cwd=self.folder,
                              env=environment(), input="\n  4KiB \r\n\n0x1000\n", capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([line.split(",")[0] for line in done.stdout.splitlines()],
                         ["address", "0x400", "0x1000", "0x1000", "0x80"])

    def test_a_bad_line_of_stdin_is_named(self):
        for text, says in (("0x80\n\nnine\n", "stdin:3: 'nine' is not an address"),
                           ("0x80\n24GiB\n", "stdin:2: address 0x600000000 lies beyond the 24 GiB of ")):
            done = self.piped(text, *RTX4090)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assert_one_sentence(done.stderr)
            self.assertIn(says, done.stderr)

    def test_what_is_refused(self):
        self.refuse("hash", "0x600000000", *RTX4090,
                    says="address 0x600000000 lies beyond the 24 GiB of NVIDIA GeForce RTX 4090; "
                         "give one below 0x600000000")
        self.succeed("hash", "0x5ffffffff", *RTX4090)
        for text in ("x", "0x", "0x1g", "12ab", "-5", "1.00001KiB", "0x10000000000000000", ""):
            self.refuse("hash", text, *RTX4090, says=f"'{text}' is not an address; write one such as 0x1f80")
        self.refuse("hash", *RTX4090, says="no address is given")
        self.refuse("hash", "-", *RTX4090, says="no address is given")
        self.refuse("hash", "-", "0x80", "-", *RTX4090, says="stdin can be read once")
        self.refuse("hash", "0x80", says="--model is missing; give one of rtx4090, ")
        self.refuse("hash", "0x80", "--model", "rtx9999", says=("no model is named 'rtx9999'", "rtx4090"))
        self.refuse("hash", "0x80", "--model", "none.toml", says="none.toml")

    def test_a_malformed_function_is_placed(self):
        name = write_small_gpu(self.folder)
        text = (self.folder / name).read_text().replace("sets = 1024\n", "sets = 1024\nset_function = 'return a + + b'\n")
        (self.folder / name).write_text(text)
        line = 1 + text.splitlines().index("set_function = 'return a + + b'")
        self.assertRegex(self.refuse("hash", "0x80", "--model", name), rf"small\.toml:{line}:\d+: ")

"""Pictures of TLB sweeps, from a CSV and from a run.json."""

import json
import re
import xml.etree.ElementTree

from support import SMALL, CommandTest

COLUMNS = "policy,stride_bytes,bytes,nodes,cycles_per_access,ns_per_access,sm_mhz"
MIB = 1 << 20


def rows(policy, stride, base):
    """16 entries of one stride each, then a step of 40 cycles."""
    for nodes in (1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32, 40, 48, 64):
        cycles = base + (40 if nodes > 16 else 0)
        yield f"{policy},{stride},{stride * nodes},{nodes},{cycles}.5,{cycles / 2},1980"


def sweep(*policies):
    lines = [COLUMNS]
    for policy in policies:
        for stride in (2 * MIB, 4 * MIB):
            lines += rows(policy, stride, 280)
    return "\n".join(lines) + "\n"


def numbers(column, text):
    """A column of the CSV, of the rows past the first line."""
    at = COLUMNS.split(",").index(column)
    return [line.split(",")[at] for line in text.splitlines()[1:]]


class Plot(CommandTest):
    def write(self, text, name="sweep.csv"):
        (self.folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return name

    def texts(self, name):
        """Every text of a picture, which must be an XML document with nothing from outside."""
        source = (self.folder / name).read_text(encoding="utf-8")
        self.assertNotRegex(source, r"(href|src)=|url\(|@import|<script")
        return [node.text for node in xml.etree.ElementTree.fromstring(source).iter("{http://www.w3.org/2000/svg}text")]

    def run_with_sweep(self):
        text = sweep("ca", "cg")
        run = self.document(*SMALL)
        run["measurements"]["tlb.sweep"] = {
            column: [cell if column == "policy" else json.loads(cell) for cell in numbers(column, text)]
            for column in COLUMNS.split(",")}
        return self.write(json.dumps(run), "run.json")

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())

    def test_one_picture_a_policy(self):
        out = self.succeed("plot", self.write(sweep("ca", "cg")), "-o", "tlb.svg")
        self.assertEqual(out, "tlb.ca.svg\ntlb.cg.svg\n")
        self.assertEqual(self.files(), ["sweep.csv", "tlb.ca.svg", "tlb.cg.svg"])
        for name in ("tlb.ca.svg", "tlb.cg.svg"):
            words = self.texts(name)
            for word in ("2 MiB", "4 MiB", "32 MiB", "64 MiB", "SM 1980 MHz", "last before a step"):
                self.assertIn(word, words, name)
            self.assertTrue(any("working set" in word for word in words))
        self.assertIn("TLB sweep, loads past L1 (.cg)", self.texts("tlb.cg.svg"))

    def test_one_policy_alone_keeps_its_name(self):
        self.assertEqual(self.succeed("plot", self.write(sweep("ca")), "-o", "tlb.svg"), "tlb.ca.svg\n")
        self.assertEqual(self.files(), ["sweep.csv", "tlb.ca.svg"])

    def test_the_name_comes_from_the_file(self):
        (self.folder / "deep").mkdir()
        self.assertEqual(self.succeed("plot", self.write(sweep("cg"), "deep/my.sweep.csv")), "my.sweep.cg.svg\n")

    def test_o_may_stand_before_the_command(self):
        self.assertEqual(self.succeed("-o", "a/b.svg", "plot", self.write(sweep("cg"))), "a/b.cg.svg\n")
        self.texts("a/b.cg.svg")

    def test_by_nodes_all_strides_step_at_one_place(self):
        self.succeed("plot", self.write(sweep("cg")), "-x", "nodes")
        words = self.texts("sweep.cg.svg")
        self.assertIn("nodes: working set / stride", words)
        self.assertEqual(words.count("16"), 2, "a tick, and one mark for both strides")
        source = (self.folder / "sweep.cg.svg").read_text()
        steps = re.findall(r'x1="([.0-9]+)"[^>]*class="step"', source)
        tick = re.search(r'<text x="([.0-9]+)" y="[.0-9]+" text-anchor="middle" class="soft">16<', source).group(1)
        self.assertEqual(steps, [tick])

    def test_json(self):
        document = self.document("plot", self.write(sweep("ca", "cg")))
        self.assertEqual(document, {"files": ["sweep.ca.svg", "sweep.cg.svg"]})

    def test_columns_in_any_order_with_others_between(self):
        text = sweep("cg")
        order = ("sm_mhz", "nodes", "note", "bytes", "cycles_per_access", "policy", "stride_bytes", "ns_per_access")
        cells = [numbers(column, text) if column != "note" else ['"a ""b"", c"'] * 36 for column in order]
        lines = [",".join(order), *map(",".join, zip(*cells))]
        self.succeed("plot", self.write(text, "plain.csv"))
        self.succeed("plot", self.write(b"\xef\xbb\xbf" + "\r\n".join(lines).encode(), "other.csv"))
        self.assertEqual((self.folder / "plain.cg.svg").read_bytes(), (self.folder / "other.cg.svg").read_bytes())

    def test_a_run(self):
        name = self.run_with_sweep()
        self.assertEqual(self.succeed("plot", name), "run.ca.svg\nrun.cg.svg\n")
        self.assertIn("simulated NVIDIA GeForce RTX 4090: TLB sweep, loads past L1 (.cg)", self.texts("run.cg.svg"))

    def test_the_folder_of_a_run(self):
        self.run_with_sweep()
        self.assertEqual(self.succeed("plot", self.folder, "-o", "x.svg"), "x.ca.svg\nx.cg.svg\n")

    def test_a_run_without_a_sweep(self):
        name = self.write(json.dumps(self.document(*SMALL)), "run.json")
        self.refuse("plot", name, says=("run.json", "gpusonde tlb"))

    def test_a_broken_run(self):
        self.refuse("plot", self.write("{"), says="sweep.csv:1:")
        self.refuse("plot", self.write("", "run.json"), says="run.json:1:1:")
        self.refuse("plot", self.write("[]", "run.json"), says="run.json")

    def test_malformed_csv(self):
        good = sweep("cg")
        first = good.splitlines()[1]
        for text, says in (
                ("", "sweep.csv:1:1: "),
                (COLUMNS + "\n", "sweep.csv:1:71: "),
                (good.replace("nodes", "hops"), "sweep.csv:1:1: column 'nodes' is missing"),
                (good.replace(first, first.replace("280.5", "fast")), "sweep.csv:2:22: cycles_per_access 'fast'"),
                (good.replace(first, first.replace(",1,", ",0,")), "sweep.csv:2:20: nodes '0'"),
                (good.replace(first, first.replace(",1,", ",-4,")), "sweep.csv:2:20: nodes '-4'"),
                (good.replace(first, first.replace("cg", "gc")), "sweep.csv:2:1: policy 'gc'"),
                (good + "cg,1,2\n", "sweep.csv:38:7: 3 cells in a row; give 7"),
                (good + '"cg,1,2\n', "sweep.csv:38:1: a quote opens here and never closes"),
                (good.encode() + b"cg,\0\n", "sweep.csv:38:4: byte 0x00"),
                (b"\x7fELF\x02\x01", "sweep.csv:1:5: byte 0x02"),
                (bytes(range(256)), "sweep.csv:1:1: byte 0x00")):
            self.refuse("plot", self.write(text), "-o", "x.svg", says=says)
            self.assertEqual(self.files(), ["sweep.csv"], "nothing is written")

    def test_no_such_file(self):
        self.refuse("plot", "absent.csv", says="absent.csv: No such file")
        self.refuse("plot", "absent.json", says="absent.json: No such file")

    def test_a_file_beyond_reason(self):
        with open(self.folder / "big.csv", "wb") as file:
            file.truncate((1 << 30) + 1)
        self.refuse("plot", "big.csv", says=("big.csv", "1 GiB"))

    def test_an_output_that_is_no_svg(self):
        name = self.write(sweep("cg"))
        for output in ("x.png", "folder/", "svg", ".svg"):
            self.refuse("plot", name, "-o", output, says=".svg")

    def test_an_output_that_cannot_be_written(self):
        name = self.write(sweep("cg"))
        self.refuse("plot", name, "-o", "sweep.csv/x.svg", says="sweep.csv")
        (self.folder / "x.cg.svg").mkdir()
        self.refuse("plot", name, "-o", "x.svg", says="x.cg.svg")

    def test_an_unknown_axis(self):
        self.refuse("plot", self.write(sweep("cg")), "-x", "pages", says="nodes")

    def test_no_file_named(self):
        self.refuse("plot", says="file")

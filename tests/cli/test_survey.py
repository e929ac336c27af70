"""One survey of the simulated RTX 4090, and what it must show: the published figures, and the files."""

import json
import os
import pathlib
import re
import shutil
import unittest

from support import SIM, SOURCE, CommandTest, finding

FOLDER = pathlib.Path(os.environ.get("GPUSONDE_SURVEY_FOLDER", "/nonexistent"))


class Survey(CommandTest):
    def test_measure(self):
        """Runs first; the others look at what it leaves."""
        shutil.rmtree(FOLDER, ignore_errors=True)
        printed = self.document("survey", *SIM, "-o", FOLDER)
        self.assertEqual(printed, json.loads((FOLDER / "run.json").read_text()))

    def run_document(self):
        return json.loads((FOLDER / "run.json").read_text())

    def assert_value(self, name, expected, tolerance):
        entry = finding(self.run_document(), name)
        self.assertEqual(entry["outcome"], "ok", entry)
        self.assertAlmostEqual(entry["value"], expected, delta=tolerance)
        self.assertTrue(entry["interval"][0] <= entry["value"] <= entry["interval"][1], entry)

    def test_l1_latency(self):
        self.assert_value("l1.hit_latency", 40, 1)

    def test_l2_latency(self):
        self.assert_value("l2.hit_latency", 330, 4)

    def test_dram_latency_and_its_tlb_state(self):
        self.assert_value("dram.latency", 660, 14)
        self.assertRegex(json.dumps(finding(self.run_document(), "dram.latency")["samples"]), "tlb")

    def test_l1_capacity_exactly(self):
        self.assert_value("l1.capacity", 128 * 1024, 0)

    def test_l2_capacity(self):
        self.assert_value("l2.capacity", 72 << 20, 0.03 * (72 << 20))

    def test_never_confidently_wrong(self):
        for entry in self.run_document()["findings"]:
            if entry["outcome"] == "ok":
                self.assertIsNot(entry.get("agrees"), False, entry)

    def test_only_ok_has_a_value(self):
        for entry in self.run_document()["findings"]:
            self.assertEqual("value" in entry, entry["outcome"] == "ok", entry)
            self.assertEqual("reason" in entry, entry["outcome"] != "ok", entry)

    def test_evidence_is_there(self):
        run = self.run_document()
        for entry in run["findings"]:
            if entry["outcome"] == "ok":
                self.assertIn(entry["evidence"].removeprefix("#/measurements/"), run["measurements"], entry)

    def test_no_findings_twice(self):
        ids = [entry["id"] for entry in self.run_document()["findings"]]
        self.assertEqual(sorted(set(ids)), sorted(ids))

    def test_every_finding_is_documented(self):
        text = (SOURCE / "docs/findings.md").read_text()
        for entry in self.run_document()["findings"]:
            base = entry["id"].removesuffix("_ns").removesuffix("_index")  # the twins are described once for all
            base = re.sub(r"^(tlb|constant)\.[0-9]\.", r"\1.N.", base)  # and so are the levels
            base = re.sub(r"^instr\.[a-z0-9_]+\.", "instr.OP.", base)  # and the operations
            base = re.sub(r"^(bandwidth|load)\.[a-z0-9]+\.", r"\1.LEVEL.", base)
            self.assertTrue(f"`{base}`" in text or f"`{entry['id']}`" in text, entry["id"])

    def test_document_follows_its_schema(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("no python3-jsonschema here")
        schema = json.loads((SOURCE / "docs/schema/run-1.0.json").read_text())
        jsonschema.validate(self.run_document(), schema)

    def test_files(self):
        names = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file()}
        self.assertIn("run.json", names)
        self.assertIn("report.html", names)
        self.assertTrue([name for name in names if name.endswith(".svg")])
        self.assertTrue([name for name in names if name.endswith(".csv")])

    def test_report_is_small_and_asks_nobody(self):
        page = FOLDER / "report.html"
        self.assertLess(page.stat().st_size, 1_500_000)
        fetched = re.findall(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//[^"'\s>]+|@import|url\(\s*["']?http""", page.read_text())
        self.assertEqual(fetched, [])

    def test_figures_are_well_formed(self):
        import xml.etree.ElementTree as tree
        for path in FOLDER.rglob("*.svg"):
            self.assertTrue(tree.parse(path).getroot().tag.endswith("svg"), path)


if __name__ == "__main__":
    unittest.main()

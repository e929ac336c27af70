"""run.json files that are broken, foreign or absent, and analysis of good ones."""

import json

from support import SMALL, CommandTest, finding


class RunFiles(CommandTest):
    def write(self, content, name="run.json"):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
        return path

    def refuse_everywhere(self, path, says=()):
        self.refuse("analyze", path, says=says)
        self.refuse("domains", path, path, says=says)

    def test_missing(self):
        self.refuse_everywhere("nowhere/run.json", says="nowhere/run.json")

    def test_a_folder(self):
        (self.folder / "run.json").mkdir()
        self.refuse_everywhere("run.json", says="run.json")

    def test_empty(self):
        self.refuse_everywhere(self.write(""), says="run.json")

    def test_not_json(self):
        self.refuse_everywhere(self.write('{\n "schema": gpusonde\n}\n'), says="run.json:2:")

    def test_cut_short(self):
        whole = self.succeed(*SMALL, "--json")
        for share in (0.1, 0.5, 0.99):
            self.refuse_everywhere(self.write(whole[: int(len(whole) * share)]), says="run.json:")

    def test_foreign_document(self):
        self.refuse_everywhere(self.write({"schema": "criterion/3", "results": []}), says=("criterion/3", "gpusonde-run/1"))

    def test_no_schema(self):
        self.refuse_everywhere(self.write({"findings": []}), says="schema")

    def test_newer_major_schema(self):
        run = self.document(*SMALL)
        run["schema"] = "gpusonde-run/2.0"
        self.refuse_everywhere(self.write(run), says="gpusonde-run/2.0")

    def test_wrong_shape(self):
        run = self.document(*SMALL)
        run["findings"] = {"l1": 40}
        self.refuse_everywhere(self.write(run), says="findings")

    def test_columns_of_unequal_length(self):
        run = self.document(*SMALL)
        next(iter(run["measurements"]["latency.curve"].values())).pop()
        self.refuse_everywhere(self.write(run), says="latency.curve")

    def test_not_an_object(self):
        for content in ("[]", "7", "null", '"text"'):
            self.refuse_everywhere(self.write(content), says="run.json")

    def test_nested_beyond_reason(self):
        self.refuse_everywhere(self.write("[" * 100_000), says="run.json")

    def test_analysis_gives_the_same_findings(self):
        run = self.document(*SMALL)
        again = self.document("analyze", self.write(run))
        self.assertEqual(run["findings"], again["findings"])
        self.assertEqual(run["measurements"], again["measurements"])

    def test_analysis_is_of_the_measurements_not_of_the_findings(self):
        run = self.document(*SMALL)
        before = finding(run, "l1.hit_latency")["value"]
        for name, table in run["measurements"].items():
            for column in ("latency_cycles", "low_cycles", "high_cycles", "latency_ns"):
                if not name.startswith("derived.") and column in table:
                    table[column] = [2 * value for value in table[column]]
        run["findings"] = []
        again = self.document("analyze", self.write(run))
        self.assertAlmostEqual(finding(again, "l1.hit_latency")["value"], 2 * before, delta=0.02 * before)

    def test_resume_of_nothing(self):
        self.refuse("survey", "--resume", "nowhere", says="nowhere")

    def test_resume_of_a_broken_run(self):
        self.write("{")
        self.refuse("survey", "--resume", self.folder, says="run.json")

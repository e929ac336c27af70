"""Operations and the memories that have instructions of their own, on the simulated RTX 4090."""

import csv
import io

from support import SIM, CommandTest, finding


class Instr(CommandTest):
    def test_operations(self):
        run = self.document("instr", *SIM)
        self.assertEqual(run["probes_done"], ["clock", "instr"])
        for name, value in {"instr.ffma.true_latency": 4, "instr.dfma.completion_interval": 16,
                            "operand.register_read": 1}.items():
            entry = finding(run, name)
            self.assertEqual((entry["outcome"], entry["value"], entry["agrees"]), ("ok", value, True), entry)
        text = self.succeed("instr", *SIM, "-q")
        self.assertRegex(text, r"ffma +4\.00 ✓ +1\.00 ✓ +2\.00 +1\.33 +1\.00")
        self.assertIn("true latency: cycles from issue to use", text)
        self.assertLessEqual(max(len(line) for line in text.splitlines()), 100)

    def test_intervals_as_csv(self):
        rows = list(csv.DictReader(io.StringIO(self.succeed("instr", *SIM, "--csv"))))
        self.assertLessEqual({"ffma", "lop3", "shared_load"}, {row["operation"] for row in rows})
        self.assertEqual([row["chains"] for row in rows if row["operation"] == "ffma"],
                         ["1", "2", "3", "4", "6", "8", "12", "16"])

    def test_memories(self):
        run = self.document("memories", *SIM)
        for name, value in {"constant.1.capacity": 2048, "constant.2.capacity": 32768, "constant.shares_l1": "no",
                            "texture.shares_l1": "yes"}.items():
            entry = finding(run, name)
            self.assertEqual((entry["outcome"], entry["value"], entry["agrees"]), ("ok", value, True), entry)
        self.assertEqual(finding(run, "dsmem.latency")["outcome"], "unsupported")
        self.succeed("memories", *SIM, "-o", "out")
        self.assertEqual(self.document("analyze", "out/run.json")["findings"], run["findings"])

    def test_clusters(self):
        text = self.succeed("memories", "-d", "sim:h200", "-q")
        self.assertRegex(text, r"dsmem\.latency +20\d\.\d cyc")
        self.assertIn("block   to 0   to 1", text)

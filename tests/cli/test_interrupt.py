"""Ctrl-C, SIGTERM and --timeout end a survey with exit code 130; what was measured is kept, and
--resume finishes it."""

import json
import signal

from support import SIM, CommandTest

# Long enough to be stopped on the way on any machine, cheap enough to be finished afterwards.
SURVEY = ("survey", *SIM, "--preset", "log", "--points-per-octave", "8", "--max", "256MiB", "-o", "out")


class Interrupt(CommandTest):
    def run_file(self):
        return self.folder / "out/run.json"

    def interrupt(self, number, *arguments):
        process = self.start(*SURVEY, *arguments)
        self.wait_for("the first probe is saved", self.run_file().exists, process)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertIn("gpusonde: error: interrupted", stderr)
        return stdout

    def kept(self):
        return json.loads(self.run_file().read_text())

    def check_partial(self):
        run = self.kept()
        self.assertTrue(run["measurements"], "what was measured is kept")
        for entry in run["findings"]:
            self.assertEqual(entry["outcome"] == "ok", "value" in entry, entry)
        self.assertLess(len(ok_ids(run)), 10, "the survey was over before it was interrupted")
        self.assertEqual([path.name for path in (self.folder / "out").iterdir() if path.name.endswith((".tmp", "~"))], [])
        return run

    def test_ctrl_c_keeps_results_and_resume_finishes(self):
        self.interrupt(signal.SIGINT)
        partial = self.check_partial()
        self.succeed("survey", "--resume", "out")
        run = self.kept()
        self.assertEqual(run["options"]["seed"], partial["options"]["seed"])
        self.assertTrue(set(partial["measurements"]) <= set(run["measurements"]))
        for name in ("l1.hit_latency", "l2.hit_latency", "dram.latency", "l1.capacity"):
            self.assertIn(name, ok_ids(run))
        self.assertTrue((self.folder / "out/report.html").exists())

    def test_a_resumed_survey_finds_what_one_in_one_go_finds(self):
        self.interrupt(signal.SIGINT)
        self.succeed("survey", "--resume", "out")
        resumed = self.kept()
        self.succeed(*SURVEY[:-1], "whole")
        whole = json.loads((self.folder / "whole/run.json").read_text())
        # Caches and refresh are in another state where the survey goes on, so latencies agree, not their last digit.
        self.assertEqual([(entry["id"], entry["outcome"]) for entry in resumed["findings"]],
                         [(entry["id"], entry["outcome"]) for entry in whole["findings"]])
        for one, other in zip(resumed["findings"], whole["findings"]):
            if isinstance(one.get("value"), (int, float)):
                # A share of loads is a matter of which came when: there the intervals meet.
                low, high = other["interval"]
                delta = max(0.01 * other["value"], high - low if one["id"] == "dram.refresh_fraction" else 0)
                self.assertAlmostEqual(one["value"], other["value"], delta=delta, msg=one["id"])
            else:
                self.assertEqual(one.get("value"), other.get("value"), one["id"])

    def test_sigterm(self):
        self.interrupt(signal.SIGTERM)
        self.check_partial()

    def test_json_is_one_document_or_nothing(self):
        stdout = self.interrupt(signal.SIGINT, "--json")
        if stdout:
            self.assertEqual(json.loads(stdout)["schema"], "gpusonde-run/1.0")

    def test_timeout(self):
        done = self.gpusonde(*SURVEY, "--timeout", "0.2")
        self.assertEqual(done.returncode, 130, done.stderr)
        self.assertIn("gpusonde: error: ", done.stderr)

    def test_resume_of_a_finished_survey_measures_nothing(self):
        self.succeed("survey", *SIM, "--quick", "-o", "out")
        before = self.kept()
        self.succeed("survey", "--resume", "out")
        after = self.kept()
        self.assertEqual(before["measurements"], after["measurements"])
        self.assertEqual(before["findings"], after["findings"])


def ok_ids(run):
    return [entry["id"] for entry in run["findings"] if entry["outcome"] == "ok"]

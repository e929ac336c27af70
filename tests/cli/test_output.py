"""Where results go: stdout carries the document and nothing else, files only where asked."""

import csv
import io
import json
import os
import pty
import subprocess
import sys

from support import PROGRAM, SIM, SMALL, CommandTest, environment

ESCAPE = "\x1b["


class Output(CommandTest):
    def test_json_is_what_json_tool_reads(self):
        text = self.succeed(*SMALL, "--json")
        done = subprocess.run([sys.executable, "-m", "json.tool"], input=text, text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(text.endswith("}\n"))

    def test_json_has_no_nan(self):
        def reject(name):
            self.fail(f"{name} is no JSON")
        json.loads(self.succeed(*SMALL, "--json"), parse_constant=reject)

    def test_json_of_the_listing_commands(self):
        for command in ("list", "models"):
            self.assertTrue(self.document(command), command)

    def test_csv(self):
        rows = list(csv.DictReader(io.StringIO(self.succeed(*SMALL, "--csv"))))
        self.assertGreater(len(rows), 5)
        self.assertTrue(all(float(row["latency_cycles"]) > 1 for row in rows))
        self.assertEqual(int(rows[0]["size_bytes"]), 16 * 1024)

    def test_equal_runs_measure_the_same(self):
        first, second = self.document(*SMALL), self.document(*SMALL)
        for run in (first, second):
            run["environment"].pop("started_at", None)
            run["environment"].pop("finished_at", None)
        self.assertEqual(first, second)

    def test_nothing_is_written_unasked(self):
        self.succeed(*SMALL)
        self.succeed("list")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_quiet_says_nothing_on_stderr(self):
        done = self.gpusonde(*SMALL, "--quiet")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_latency_writes_under_o(self):
        self.succeed(*SMALL, "-o", "new/folder")
        with open(self.folder / "new/folder/run.json", encoding="utf-8") as file:
            self.assertEqual(json.load(file)["schema"], "gpusonde-run/1.0")


class UnwritableOutput(CommandTest):
    """Found before measuring: nothing but the one sentence is printed."""

    def test_under_a_file(self):
        (self.folder / "file").write_text("")
        for command in (("survey", *SIM), SMALL):
            self.refuse(*command, "-o", "file/out", says="file/out")

    def test_is_a_file(self):
        (self.folder / "file").write_text("kept")
        self.refuse("survey", *SIM, "-o", "file", says="file")
        self.assertEqual((self.folder / "file").read_text(), "kept")

    def test_under_proc(self):
        self.refuse("survey", *SIM, "-o", "/proc/gpusonde", says="/proc/gpusonde")

    def test_full_stdout(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = self.gpusonde("list", stdout=full)
        self.assertEqual(done.returncode, 2)
        self.assert_one_sentence(done.stderr)


class ClosedPipe(CommandTest):
    def into_a_closed_pipe(self, *arguments):
        """As `gpusonde … | head -0`: the reader is gone before the first byte."""
        reader, writer = os.pipe()
        os.close(reader)
        try:
            return self.gpusonde(*arguments, stdout=writer)
        finally:
            os.close(writer)

    def test_ends_quietly(self):
        for arguments in (("list",), ("models",), ("--help",), ("completion", "bash"), (*SMALL, "--quiet", "--json")):
            done = self.into_a_closed_pipe(*arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)

    def test_head(self):
        done = subprocess.run(["bash", "-c", 'set -o pipefail; "$0" "$@" | head -n 1', PROGRAM, *SMALL, "--csv", "--quiet"],
                              capture_output=True, text=True, cwd=self.folder, env=environment(), check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(done.stdout.splitlines()), 1)


class Color(CommandTest):
    def on_a_terminal(self, *arguments, **changes):
        """What the command writes to a terminal."""
        leader, follower = pty.openpty()
        process = subprocess.Popen([PROGRAM, *SMALL, *arguments], stdout=follower, stderr=subprocess.DEVNULL,
                                   stdin=subprocess.DEVNULL, cwd=self.folder, env=environment(**changes))
        os.close(follower)
        written = b""
        while True:
            try:
                block = os.read(leader, 65536)
            except OSError:  # how Linux says that the other end is closed
                break
            if not block:
                break
            written += block
        os.close(leader)
        self.assertEqual(process.wait(), 0)
        return written.decode()

    def test_none_into_a_pipe(self):
        self.assertNotIn(ESCAPE, self.succeed(*SMALL))

    def test_asked_for(self):
        self.assertIn(ESCAPE, self.succeed(*SMALL, "--color", "always"))

    def test_on_a_terminal(self):
        self.assertIn(ESCAPE, self.on_a_terminal())

    def test_no_color(self):
        self.assertNotIn(ESCAPE, self.on_a_terminal(NO_COLOR="1"))

    def test_dumb_terminal(self):
        self.assertNotIn(ESCAPE, self.on_a_terminal(TERM="dumb"))

    def test_never(self):
        self.assertNotIn(ESCAPE, self.on_a_terminal("--color", "never"))

    def test_json_is_never_colored(self):
        self.assertNotIn(ESCAPE, self.succeed(*SMALL, "--json", "--color", "always"))

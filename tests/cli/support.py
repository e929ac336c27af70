"""Running the program and saying what is expected of it. GPUSONDE names the program."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("GPUSONDE", str(SOURCE / "build/release/bin/gpusonde"))
SIM = ("-d", "sim:rtx4090")
# A latency study that is over at once: L1 and a little beyond.
SMALL = ("latency", *SIM, "--min", "16KiB", "--max", "256KiB", "--points-per-octave", "2", "--policy", "ca")


def environment(**changes):
    """The caller's environment without what would change the output; None removes a variable."""
    env = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM", "CLICOLOR_FORCE")}
    env["TERM"] = "xterm"
    for key, value in changes.items():
        if value is None:
            env.pop(key, None)
        else:
            env[key] = value
    return env


class CommandTest(unittest.TestCase):
    """Each test has an empty folder of its own, self.folder, which is where commands run."""

    maxDiff = 4000

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gpusonde-cli-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def gpusonde(self, *arguments, env=None, timeout=240, **options):
        return subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, env=environment(**(env or {})),
                              stdin=subprocess.DEVNULL, stdout=options.pop("stdout", subprocess.PIPE),
                              stderr=subprocess.PIPE, text=True, timeout=timeout, check=False, **options)

    def succeed(self, *arguments, **options):
        done = self.gpusonde(*arguments, **options)
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stderr}")
        return done.stdout

    def document(self, *arguments, **options):
        """What --json prints, which must be one document and nothing else."""
        return json.loads(self.succeed(*arguments, "--json", **options))

    def refuse(self, *arguments, code=2, says=(), **options):
        """Refused before anything is measured: the exit code, one sentence, nothing on stdout."""
        done = self.gpusonde(*arguments, **options)
        self.assertEqual(done.returncode, code, f"{arguments}: stdout {done.stdout[:300]!r}, stderr {done.stderr!r}")
        self.assertEqual(done.stdout, "")
        self.assert_one_sentence(done.stderr)
        for word in [says] if isinstance(says, str) else says:
            self.assertIn(word, done.stderr)
        return done.stderr

    def assert_one_sentence(self, stderr):
        lines = stderr.splitlines()
        self.assertEqual(len(lines), 1, stderr)
        self.assertTrue(lines[0].startswith("gpusonde: error: "), stderr)
        sentence = lines[0][len("gpusonde: error: "):]
        self.assertGreater(len(sentence.split()), 3, "a sentence, not a number alone")
        for trace in ("terminate called", "what():", "std::", "tl::", "CLI::", "[json.exception"):
            self.assertNotIn(trace, sentence)

    def start(self, *arguments, **options):
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=self.folder, env=environment(),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   **options)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, what, condition, process, seconds=120):
        """Until the condition holds; a process that ends before is an error of the test."""
        end = time.monotonic() + seconds
        while not condition():
            self.assertIsNone(process.poll(), f"the program ended before {what}")
            self.assertLess(time.monotonic(), end, f"no {what} within {seconds} s")
            time.sleep(0.005)

    def has_nvidia_device(self):
        return self.gpusonde("devices").returncode == 0


def finding(run, name):
    matches = [entry for entry in run["findings"] if entry["id"] == name]
    assert len(matches) == 1, f"{name} occurs {len(matches)} times"
    return matches[0]

"""The commands that measure nothing, and the two small ones that do."""

import re
import shutil
import subprocess

from support import SOURCE, CommandTest, finding

COMMANDS = ("survey", "latency", "tlb", "addressing", "cache", "slices", "map", "instr", "memories", "hash", "analyze", "plot", "domains",
            "devices", "models", "list", "clocks", "sass", "completion")


class Commands(CommandTest):
    def test_help_names_every_command(self):
        text = self.succeed("--help")
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^\s+{command}\b")

    def test_every_command_has_help(self):
        for command in COMMANDS:
            done = self.gpusonde(command, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""), command)
            self.assertIn(command, done.stdout)

    def test_version(self):
        wanted = re.search(r"project\(gpusonde VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text()).group(1)
        for option in ("--version", "-V"):
            self.assertRegex(self.succeed(option), rf"^gpusonde {re.escape(wanted)}\b")

    def test_list_names_probes_findings_and_outputs(self):
        text = self.succeed("list")
        for word in ("latency", "l1.hit_latency", "l2.capacity", "dram.latency", "clock.sm"):
            self.assertIn(word, text)

    def test_models(self):
        text = self.succeed("models")
        for name in ("rtx4090", "rtx5080", "l40s", "h200"):
            self.assertIn(name, text)

    def test_every_number_of_a_model_has_its_source(self):
        # A figure's line, or a comment line above it in the same paragraph, says where it is from.
        for name in ("rtx4090", "rtx5080", "l40s", "h200"):
            sourced = False
            for line in self.succeed("models", name).splitlines():
                if not line.strip() or line.startswith("["):
                    sourced = False
                sourced = sourced or "#" in line
                if re.match(r"\s*[a-z_0-9.]+\s*=\s*[-+0-9]", line):
                    self.assertTrue(sourced, f"{name}: {line}")


class Completion(CommandTest):
    def bash_words(self, *words):
        script = self.succeed("completion", "bash")
        quoted = " ".join(f"'{word}'" for word in ("gpusonde", *words))
        script += f"\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _gpusonde; printf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
        done = subprocess.run(["bash", "--norc", "-u", "-c", script], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_bash_completes_commands(self):
        self.assertEqual(self.bash_words("lat"), ["latency"])

    def test_bash_completes_the_geometry_commands(self):
        self.assertEqual(self.bash_words("cac"), ["cache"])
        self.assertEqual(self.bash_words("sli"), ["slices"])
        self.assertEqual(self.bash_words("map"), ["map"])
        self.assertEqual(self.bash_words("cache", "l"), ["l1", "l2"])
        self.assertIn("--lines", self.bash_words("map", "--li"))
        self.assertIn("--physical-addresses", self.bash_words("slices", "--phys"))

    def test_bash_completes_options_of_a_command(self):
        self.assertIn("--preset", self.bash_words("latency", "--pre"))

    def test_zsh_and_fish_parse_their_own(self):
        for shell, check in (("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])):
            script = self.folder / shell
            script.write_text(self.succeed("completion", shell))
            self.assertIn("latency", script.read_text())
            if shutil.which(shell):
                done = subprocess.run([*check, str(script)], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))


class Kernels(CommandTest):
    def test_sass_writes_the_ptx_without_a_device(self):
        if self.has_nvidia_device():
            self.skipTest("there is an NVIDIA device here")
        self.succeed("sass", "-o", "code")
        text = "".join(path.read_text() for path in (self.folder / "code").glob("*.ptx"))
        for word in (".target sm_70", ".version 6.", "ld.global.ca.u64", "ld.global.cg.u64"):
            self.assertIn(word, text)

    def test_sass_info(self):
        self.assertIn("sm_70", self.succeed("sass", "--info"))

    def test_sass_of_no_such_kernel(self):
        self.refuse("sass", "--probe", "no_such_kernel", says="no_such_kernel")


class Domains(CommandTest):
    def test_rtx5080_clock_split(self):
        """The document's table: L1 43; L2 302 and 366; memory 520 and 922 cycles at 997 and 2932 MHz."""
        run = self.document("domains", "-d", "sim:rtx5080", "--sm-clocks", "997,2932", "--chain", "index")
        for level, low, high in (("l2_index", 302, 366), ("dram_index", 520, 922)):
            fixed_ns = (high - low) / (2.932 - 0.997)
            sm_cycles = low - fixed_ns * 0.997
            self.assertAlmostEqual(finding(run, f"domain.{level}.fixed_ns")["value"], fixed_ns, delta=0.03 * fixed_ns)
            self.assertAlmostEqual(finding(run, f"domain.{level}.sm_cycles")["value"], sm_cycles, delta=0.03 * sm_cycles)
        self.assertAlmostEqual(finding(run, "domain.l1_index.sm_cycles")["value"], 43, delta=1)

    def test_one_clock_is_not_enough(self):
        self.refuse("domains", "-d", "sim:rtx5080", "--sm-clocks", "997", says="clock")

"""`tlb sweep`: one node a stride over memory; its points, its files, and what it refuses before measuring."""

import csv
import io
import json
import os

from small_gpu import write_small_gpu
from support import SIM, CommandTest

MIB = 1 << 20
COLUMNS = ["policy", "stride_bytes", "bytes", "nodes", "cycles_per_access", "low_cycles", "high_cycles", "ns_per_access",
           "sm_mhz"]
SWEEP = ("tlb", "sweep", *SIM)
# Over at once: one stride, a few nodes.
QUICK = (*SWEEP, "--strides", "2MiB", "--policy", "cg", "--max-bytes", "64MiB")


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


class SweepTest(CommandTest):
    def rows(self, *arguments):
        return rows_of(self.succeed(*arguments, "--csv", "-"))

    def curve(self, rows, policy, stride):
        return {int(row["nodes"]): float(row["cycles_per_access"]) for row in rows
                if row["policy"] == policy and int(row["stride_bytes"]) == stride}

    def strides(self, *arguments):
        return list(dict.fromkeys(int(row["stride_bytes"]) for row in self.rows(*SWEEP, "--policy", "cg", *arguments)))

    def files(self):
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*"))


class Sweep(SweepTest):
    def test_columns_and_values(self):
        text = self.succeed(*SWEEP, "--strides", "2MiB,32MiB", "--csv", "-")
        self.assertEqual(text.splitlines()[0].split(","), COLUMNS)
        rows = rows_of(text)
        for row in rows:
            self.assertEqual(int(row["bytes"]), int(row["nodes"]) * int(row["stride_bytes"]))
            self.assertLessEqual(float(row["low_cycles"]), float(row["cycles_per_access"]))
            self.assertGreaterEqual(float(row["high_cycles"]), float(row["cycles_per_access"]))
            self.assertAlmostEqual(float(row["sm_mhz"]), 2600, delta=1)
            self.assertAlmostEqual(float(row["ns_per_access"]),
                                   1000 * float(row["cycles_per_access"]) / float(row["sm_mhz"]), places=3)
        for stride in (2 * MIB, 32 * MIB):
            cg = self.curve(rows, "cg", stride)
            # 16 entries: up to there translation is free. Slices differ by up to 30 cycles, so few lines scatter.
            self.assertAlmostEqual(cg[19] - cg[16], 11.44, delta=4)
            wide = [cycles for nodes, cycles in cg.items() if 19 <= nodes <= 128]
            narrow = [cycles for nodes, cycles in cg.items() if 6 <= nodes <= 16]
            self.assertAlmostEqual(sum(wide) / len(wide) - sum(narrow) / len(narrow), 11.44, delta=8)
            ca = self.curve(rows, "ca", stride)
            for nodes in (2, 8, 16, 19, 64, 128):
                self.assertAlmostEqual(ca[nodes], 40, delta=0.5, msg="an L1 hit is not translated")

    def test_nodes_go_up_to_what_memory_has(self):
        rows = self.rows(*SWEEP, "--strides", "64MiB", "--policy", "cg")
        nodes = [int(row["nodes"]) for row in rows]
        self.assertEqual(nodes[:11], [2, 3, 4, 5, 6, 7, 8, 10, 11, 13, 16])
        self.assertEqual(nodes, sorted(set(nodes)))
        self.assertEqual(nodes[-1], 24 * 1024 * 9 // 10 // 64)

    def test_default_strides(self):
        self.assertEqual(self.strides("--max-bytes", "256MiB"), [2 * MIB, 8 * MIB, 32 * MIB, 64 * MIB])

    def test_default_strides_that_do_not_fit_are_left_out(self):
        rows = self.rows("tlb", "sweep", "-d", "sim:" + write_small_gpu(self.folder, memory_mib=512), "--policy", "cg")
        self.assertEqual({int(row["stride_bytes"]) for row in rows}, {2 * MIB, 8 * MIB})

    def test_a_list_of_strides_in_its_order_and_without_repetition(self):
        self.assertEqual(self.strides("--strides", "8MiB,2MiB,8MiB,3145728", "--max-bytes", "32MiB"),
                         [8 * MIB, 2 * MIB, 3 * MIB])

    def test_a_range_of_strides(self):
        self.assertEqual(self.strides("--stride-min", "2MiB", "--stride-max", "32MiB", "--max-bytes", "64MiB"),
                         [2 * MIB, 4 * MIB, 8 * MIB, 16 * MIB, 32 * MIB])
        self.assertEqual(self.strides("--stride-min", "2MiB", "--stride-max", "33MiB", "--stride-factor", "4", "--max-bytes",
                                      "66MiB"), [2 * MIB, 8 * MIB, 32 * MIB])
        self.assertEqual(self.strides("--stride-min", "2MiB", "--stride-max", "8MiB", "--stride-factor", "1.5", "--max-bytes",
                                      "64MiB"), [2 * MIB, 3 * MIB, 4718592, 7077888])
        self.assertEqual(self.strides("--stride-min", "2MiB", "--stride-max", "2MiB", "--max-bytes", "8MiB"), [2 * MIB])

    def test_bounds_of_the_working_set(self):
        rows = self.rows(*SWEEP, "--strides", "2MiB,8MiB", "--policy", "cg", "--min-bytes", "40MiB", "--max-bytes", "100MiB")
        for stride, nodes in ((2 * MIB, [23, 27, 32, 38, 45, 50]), (8 * MIB, [5, 6, 7, 8, 10, 11, 12])):
            self.assertEqual(list(self.curve(rows, "cg", stride)), nodes)

    def test_a_share_of_memory(self):
        rows = self.rows(*SWEEP, "--strides", "64MiB", "--policy", "cg", "--max-mem-frac", "0.25")
        self.assertEqual(max(int(row["bytes"]) for row in rows), 6 << 30)

    def test_policies(self):
        self.assertEqual({row["policy"] for row in self.rows(*QUICK)}, {"cg"})
        rows = self.rows(*(word if word != "cg" else "cg,ca" for word in QUICK))
        self.assertEqual(list(dict.fromkeys(row["policy"] for row in rows)), ["cg", "ca"])

    def test_steps_and_the_random_order_find_the_same(self):
        shuffled = self.rows(*QUICK, "--shuffle")
        self.assertEqual(shuffled, self.rows(*QUICK), "which is the default")
        for step in (1, 5):
            rows = self.rows(*QUICK, "--step", step)
            self.assertEqual([row["nodes"] for row in rows], [row["nodes"] for row in shuffled])
            one, other = self.curve(rows, "cg", 2 * MIB), self.curve(shuffled, "cg", 2 * MIB)
            for nodes in one:
                # LRU forgets every page of a ring that is too long, in whichever order.
                self.assertAlmostEqual(one[nodes], other[nodes], delta=2, msg=f"{nodes} nodes, step {step}")

    def test_an_order_is_noted_in_the_run(self):
        values = self.document(*QUICK, "--step", "5", "--laps", "7")["options"]["values"]
        self.assertEqual((values["sweep-step"], values["sweep-laps"]), ("5", "7"))

    def test_laps(self):
        for laps in (1, 20):
            curve = self.curve(self.rows(*QUICK, "--laps", laps), "cg", 2 * MIB)
            self.assertAlmostEqual(curve[19] - curve[16], 11.44, delta=4)

    def test_text(self):
        text = self.succeed(*SWEEP, "--strides", "2MiB,32MiB")
        self.assertRegex(text, r"policy +stride +nodes +up to +first +last +steps, by nodes\n")
        self.assertRegex(text, r"ca +2 MiB +2 to 11059 +21\.6 GiB +40\.0 cyc +34\d\.\d cyc ")
        self.assertRegex(text, r"cg +2 MiB +2 to 11059 .* at 16 to 19 \(32 MiB\)\n")
        self.assertRegex(text, r"cg +32 MiB +2 to 691 .* at 16 to 19 \(512 MiB\)\n")

    def test_json(self):
        run = self.document(*QUICK)
        self.assertEqual(list(run["measurements"]["tlb.sweep"]), COLUMNS)
        self.assertEqual(run["probes_done"], ["clock", "sweep"])

    def test_a_stride_below_the_page_is_only_warned_of(self):
        arguments = (*SWEEP, "--strides", "1MiB", "--policy", "cg", "--max-bytes", "64MiB")
        done = self.gpusonde(*arguments, "--csv", "-")
        self.assertEqual(done.returncode, 0)
        self.assertIn("gpusonde: warning: a stride of 1 MiB puts several nodes on a page of 2 MiB: steps are not by pages\n",
                      done.stderr)
        curve = self.curve(rows_of(done.stdout), "cg", MIB)
        self.assertAlmostEqual(curve[45] - curve[32], 11.44, delta=6)
        self.assertEqual(self.gpusonde(*arguments, "--quiet").stderr, "")


class SweepFiles(SweepTest):
    def test_csv_into_a_file(self):
        text = self.succeed(*QUICK, "--csv", "sweep.csv")
        self.assertIn("steps, by nodes", text, "the terminal gets the text")
        self.assertEqual((self.folder / "sweep.csv").read_text(), self.succeed(*QUICK, "--csv", "-"))
        self.assertEqual(self.files(), ["sweep.csv"])

    def test_csv_alone_is_for_stdout(self):
        text = self.succeed(*QUICK, "--csv")
        self.assertEqual(text.splitlines()[0].split(","), COLUMNS)
        self.assertEqual(text, self.succeed("--csv", *QUICK))
        self.assertEqual(self.files(), [])

    def test_csv_replaces_the_file(self):
        (self.folder / "sweep.csv").write_text("what was there\n")
        self.succeed(*QUICK, "--csv", "sweep.csv")
        self.assertEqual((self.folder / "sweep.csv").read_text().splitlines()[0].split(","), COLUMNS)

    def test_json_and_a_csv_file(self):
        run = self.document(*QUICK, "--csv", "sweep.csv")
        rows = rows_of((self.folder / "sweep.csv").read_text())
        self.assertEqual([float(row["cycles_per_access"]) for row in rows],
                         run["measurements"]["tlb.sweep"]["cycles_per_access"])

    def test_append(self):
        self.succeed(*QUICK, "--csv", "sweep.csv", "--append")  # makes it
        first = (self.folder / "sweep.csv").read_text()
        other = [word if word != "2MiB" else "4MiB" for word in QUICK]
        self.succeed(*other, "--csv", "sweep.csv", "--append")
        both = (self.folder / "sweep.csv").read_text()
        self.assertTrue(both.startswith(first))
        self.assertEqual(both.count("policy,"), 1, "the names stand once")
        self.assertEqual({row["stride_bytes"] for row in rows_of(both)}, {str(2 * MIB), str(4 * MIB)})

    def test_append_to_other_columns_is_refused(self):
        for text in ("policy,nodes\ncg,2\n", ",".join(reversed(COLUMNS)) + "\n", "notes\n"):
            (self.folder / "sweep.csv").write_text(text)
            self.refuse(*QUICK, "--csv", "sweep.csv", "--append", says="sweep.csv:1:")
            self.assertEqual((self.folder / "sweep.csv").read_text(), text)
            self.assertEqual(self.files(), ["sweep.csv"])

    def test_several_devices_share_a_file(self):
        name = write_small_gpu(self.folder, memory_mib=256)
        self.succeed("tlb", "sweep", "-d", f"sim:{name},sim:rtx4090", "--strides", "2MiB", "--policy", "cg", "--max-bytes",
                     "64MiB", "--csv", "sweep.csv")
        self.assertEqual(sorted({round(float(row["sm_mhz"])) for row in rows_of((self.folder / "sweep.csv").read_text())}),
                         [1000, 2600])

    def test_o_writes_the_run_its_table_and_its_pictures(self):
        self.succeed(*SWEEP, "--strides", "2MiB", "--max-bytes", "256MiB", "-o", "out")
        run = json.loads((self.folder / "out/run.json").read_text())
        self.assertEqual(list(run["measurements"]["tlb.sweep"]), COLUMNS)
        for name in ("out/figures/tlb.sweep.ca.svg", "out/figures/tlb.sweep.cg.svg", "out/data/tlb.sweep.csv",
                     "out/report.html"):
            self.assertIn(name, self.files())

    def test_plot_of_the_csv(self):
        self.succeed(*SWEEP, "--strides", "2MiB,4MiB", "--max-bytes", "256MiB", "--csv", "sweep.csv")
        self.assertEqual(self.succeed("plot", "sweep.csv"), "sweep.ca.svg\nsweep.cg.svg\n")
        by_bytes = (self.folder / "sweep.cg.svg").read_text()
        self.assertIn("working set", by_bytes)
        self.succeed("plot", "sweep.csv", "-x", "nodes", "-o", "nodes.svg")
        by_nodes = (self.folder / "nodes.cg.svg").read_text()
        self.assertIn("nodes: working set / stride", by_nodes)
        self.assertIn("2 MiB", by_nodes)
        self.assertIn("4 MiB", by_nodes)

    def test_plot_of_a_survey(self):
        self.succeed("survey", "-d", "sim:" + write_small_gpu(self.folder, memory_mib=256), "--quick", "-o", "out")
        self.assertEqual(self.succeed("plot", "out/run.json"), "run.ca.svg\nrun.cg.svg\n")
        self.assertIn("simulated small: TLB sweep, loads past L1 (.cg)", (self.folder / "run.cg.svg").read_text())
        self.succeed("plot", "out/run.json", "-x", "nodes", "-o", "deep/er.svg")
        self.assertIn("deep/er.cg.svg", self.files())


class SweepRefused(SweepTest):
    """Said before anything is measured: one sentence, exit code 2, nothing on stdout and nothing written."""

    def refuse_sweep(self, *arguments, says=(), device=SIM):
        before = self.files()
        for more in ((), ("-o", "out"), ("--csv", "out.csv")):
            if not {"--csv", "--append"} & set(arguments) or not more:
                self.refuse("tlb", "sweep", *device, *arguments, *more, says=says)
                self.assertEqual(self.files(), before, "nothing is written")

    def test_wrong_strides(self):
        for strides, says in (("0", ("--strides 0", "128 B")), ("100", ("a stride of 100 B", "128 B")),
                              ("2MiB,100", "100 B"), ("16GiB", ("16 GiB", "two nodes", "21.6 GiB")), ("big", "big"),
                              ("-5", "-5"), ("2MiB,,4MiB", "empty entry"), (",", "empty entry"), ("2MiB,", "empty entry"),
                              ("4parsec", ("4parsec", "KiB")), ("18446744073709551616", "18446744073709551616"),
                              ("128", ("128 B", "nodes"))):
            self.refuse_sweep(f"--strides={strides}", says=says)

    def test_wrong_ranges_of_strides(self):
        both = ("--stride-min", "2MiB", "--stride-max", "8MiB")
        for arguments, says in ((both[:2], ("--stride-min", "--stride-max", "both")),
                                (both[2:], ("--stride-min", "--stride-max", "both")),
                                (("--strides", "2MiB", *both[:2]), ("--strides", "choose")),
                                (("--strides", "2MiB", *both[2:]), ("--strides", "choose")),
                                (("--strides", "2MiB", *both), ("--strides", "choose")),
                                (("--stride-min", "8MiB", "--stride-max", "2MiB"), ("8 MiB", "2 MiB")),
                                (("--stride-min", "100", "--stride-max", "2MiB"), ("--stride-min 100 B", "128 B")),
                                (("--stride-min", "2MiB", "--stride-max", "16GiB"), ("two nodes", "21.6 GiB")),
                                (("--stride-min", "0", "--stride-max", "2MiB"), "--stride-min 0"),
                                (("--stride-min", "lots", "--stride-max", "2MiB"), "lots")):
            self.refuse_sweep(*arguments, says=says)

    def test_wrong_factors(self):
        both = ("--stride-min", "2MiB", "--stride-max", "8MiB")
        for factor in ("1", "0", "-2", "0.5", "1.0000001", "nan", "inf"):
            self.refuse_sweep(*both, f"--stride-factor={factor}", says="--stride-factor")
        self.refuse_sweep("--stride-factor", "1", says="--stride-factor 1")
        self.refuse_sweep("--stride-factor", "2", says=("--stride-factor", "--stride-min", "--stride-max"))

    def test_wrong_bytes(self):
        for arguments, says in ((("--max-bytes", "lots"), "lots"), (("--min-bytes", "lots"), "lots"),
                                (("--max-bytes", "0"), "--max-bytes 0"), (("--min-bytes", "0"), "--min-bytes 0"),
                                (("--max-bytes=-1",), "-1"), (("--max-bytes", "1TiB"), ("--max-bytes 1 TiB", "24 GiB")),
                                (("--max-bytes", "23GiB"), ("23 GiB", "--max-mem-frac 0.9", "21.6 GiB")),
                                (("--min-bytes", "2GiB", "--max-bytes", "1GiB"), ("--min-bytes 2 GiB", "1 GiB")),
                                (("--min-bytes", "22GiB"), ("--min-bytes 22 GiB", "21.6 GiB")),
                                (("--strides", "32MiB", "--min-bytes", "66MiB", "--max-bytes", "66MiB"), "66 MiB")):
            self.refuse_sweep(*arguments, says=says)

    def test_wrong_share_of_memory(self):
        for share in ("0", "1.5", "-0.5", "nan"):
            self.refuse_sweep(f"--max-mem-frac={share}", says="--max-mem-frac")
        self.refuse_sweep("--max-mem-frac", "half", says=("--max-mem-frac", "half"))

    def test_wrong_laps_and_steps(self):
        for arguments, says in ((("--laps", "0"), "--laps 0"), (("--laps=-1",), "--laps"), (("--laps", "1001"), "1000"),
                                (("--laps", "many"), "many"), (("--step", "0"), "--step 0"), (("--step=-1",), "--step -1"),
                                (("--step", "18446744073709551615"), "--step"), (("--step", "1048577"), "--step 1048577"),
                                (("--step", "1", "--shuffle"), ("--step", "--shuffle"))):
            self.refuse_sweep(*arguments, says=says)

    def test_wrong_policies(self):
        for policy in ("xx", "ca,", "", ","):
            self.refuse_sweep(f"--policy={policy}" if policy else "--policy=,", says=("policy", "ca", "cg"))

    def test_append_without_a_file(self):
        for arguments in (("--append",), ("--append", "--csv"), ("--append", "--csv", "-")):
            self.refuse(*QUICK, *arguments, says=("--append", "--csv FILE"))

    def test_json_and_csv_on_stdout(self):
        self.refuse(*QUICK, "--json", "--csv", says=("--json", "--csv"))
        self.refuse(*QUICK, "--json", "--csv", "-", says=("--json", "--csv"))

    def test_a_csv_file_that_cannot_be_written(self):
        (self.folder / "folder").mkdir()
        os.mkfifo(self.folder / "pipe")
        before = self.files()
        for name, says in (("absent/sweep.csv", ("absent/sweep.csv", "no such folder")), ("folder", ("folder", "name a file")),
                           ("folder/", "folder"), ("pipe", "plain file"), ("/dev/null", "plain file"),
                           ("/proc/sweep.csv", "cannot be written")):
            for append in ((), ("--append",)):
                self.refuse(*QUICK, "--csv", name, *append, says=says)
                self.assertEqual(self.files(), before)
        self.assertTrue((self.folder / "pipe").is_fifo())

    def test_memory_too_small_for_any_default_stride(self):
        name = write_small_gpu(self.folder, memory_mib=64)
        self.refuse_sweep(says=("memory of 64 MiB", "default strides", "--strides"), device=("-d", f"sim:{name}"))
        rows = self.rows("tlb", "sweep", "-d", f"sim:{name}", "--strides", "2MiB", "--policy", "cg")
        self.assertAlmostEqual(self.curve(rows, "cg", 2 * MIB)[28], 250, delta=0.1, msg="210 and 40 for the page")
        self.assertIn("TLB 1", self.succeed("survey", "-d", f"sim:{name}", "--quick"), "a survey goes on without")

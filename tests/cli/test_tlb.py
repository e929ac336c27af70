"""Translation caches: what `tlb` finds of a simulated GPU, what --info says, and going on after an interrupt."""

import csv
import io
import json
import signal

from small_gpu import write_small_gpu
from support import SIM, CommandTest, finding

MIB = 1 << 20


class Tlb(CommandTest):
    def values(self, run, level=1):
        names = ("entries", "ways", "span", "reach", "replacement", "scope")
        entries = [finding(run, f"tlb.{level}.{name}") for name in names]
        for entry in entries:
            self.assertEqual(entry["outcome"], "ok", entry)
        return tuple(entry["value"] for entry in entries)

    def test_the_published_figures_of_the_rtx_4090(self):
        run = self.document("tlb", *SIM)
        self.assertEqual(self.values(run), (16, 16, 2 * MIB, 32 * MIB, "lru", "sm"))
        cost = finding(run, "tlb.1.miss_cost")
        self.assertAlmostEqual(cost["value"], 11.44, delta=0.5)
        self.assertTrue(cost["interval"][0] <= 11.44 <= cost["interval"][1], cost)
        self.assertFalse([entry for entry in run["findings"] if entry["id"].startswith("tlb.2.")], "there is one level")
        self.assertEqual({"clock", "tlb"}, set(run["probes_done"]))
        for table in ("tlb.space", "tlb.alias", "tlb.replacement", "tlb.scope", "derived.tlb.fit", "derived.tlb.tables"):
            self.assertIn(table, run["measurements"])

    def test_another_model_gives_other_figures(self):
        run = self.document("tlb", "-d", "sim:" + write_small_gpu(self.folder))
        self.assertEqual(self.values(run), (8, 8, 2 * MIB, 16 * MIB, "lru", "sm"))
        self.assertAlmostEqual(finding(run, "tlb.1.miss_cost")["value"], 40, delta=0.5)

    def test_what_a_second_level_costs_is_the_total(self):
        run = self.document("tlb", "-d", "sim:" + write_small_gpu(self.folder, tlbs=((8, 40), (64, 150))))
        self.assertAlmostEqual(finding(run, "tlb.1.miss_cost")["value"], 40, delta=1)
        cost = finding(run, "tlb.2.miss_cost")
        self.assertAlmostEqual(cost["value"], 150, delta=3, msg="not 150 more than level 1")
        self.assertEqual(cost["truth"], 150)
        self.assertEqual(finding(run, "tlb.2.entries")["value"], 64)

    def test_free_translation_is_inconclusive(self):
        run = self.document("tlb", "-d", "sim:" + write_small_gpu(self.folder, tlbs=()))
        entry = finding(run, "tlb.1.entries")
        self.assertEqual(entry["outcome"], "inconclusive")
        self.assertIn("no step of translation was seen", entry["reason"])
        self.assertNotIn("value", entry)

    def test_text(self):
        text = self.succeed("tlb", *SIM)
        self.assertRegex(text, r"TLB 1 +\+11\.\d cyc +32 MiB +16 entries × 2 MiB, 16 ways, lru, one a sm +✓ 7 of 7")

    def test_csv_is_the_curves(self):
        rows = list(csv.DictReader(io.StringIO(self.succeed("tlb", *SIM, "--csv"))))
        self.assertGreater(len(rows), 100)
        for row in rows:
            self.assertAlmostEqual(float(row["penalty_cycles"]),
                                   float(row["alias_cycles"]) - float(row["control_cycles"]), places=6)
        penalty = {int(row["nodes"]): float(row["penalty_cycles"]) for row in rows if row["stride_bytes"] == str(2 * MIB)}
        self.assertAlmostEqual(penalty[16], 0, delta=0.5)
        self.assertAlmostEqual(penalty[64], 11.44, delta=0.5)

    def test_o_writes_a_run_that_is_analysed_again(self):
        self.succeed("tlb", "-d", "sim:" + write_small_gpu(self.folder), "-o", "out")
        run = json.loads((self.folder / "out/run.json").read_text())
        again = self.document("analyze", "out/run.json")
        self.assertEqual(again["findings"], run["findings"])

    def test_there_is_no_further_argument(self):
        self.refuse("tlb", "swoop", *SIM, says="swoop")
        self.refuse("tlb", "--strides", "2MiB", *SIM, says="--strides")


class Info(CommandTest):
    def test_info_json(self):
        info = self.document("tlb", "--info", *SIM)
        self.assertEqual(info, {
            "device": "sim:rtx4090", "name": "NVIDIA GeForce RTX 4090",
            "memory_bytes": 24 << 30, "available_bytes": 24 << 30, "sweep_bytes": (24 << 30) * 9 // 10,
            "page_bytes": 2 * MIB, "alias_span_bytes": 16 << 40, "alias_max_pages": (16 << 40) // (2 * MIB),
            "why_not": ""})

    def test_info_text(self):
        lines = self.succeed("tlb", "--info", *SIM).splitlines()
        self.assertEqual(lines[0], "NVIDIA GeForce RTX 4090")
        self.assertRegex(lines[1], "^  memory +24 GiB, of which 24 GiB can be had and a sweep uses 21.6 GiB$")
        self.assertRegex(lines[2], "^  page +2 MiB, the smallest that is mapped$")
        self.assertRegex(lines[3], "^  aliases +one page of memory, at up to 8388608 of the 8388608 addresses of 16 TiB$")
        self.assertEqual(len(lines), 4)

    def test_info_of_several_devices(self):
        name = write_small_gpu(self.folder, memory_mib=512)
        infos = self.document("tlb", "--info", "-d", f"sim:{name},sim:rtx4090")
        self.assertEqual([info["memory_bytes"] for info in infos], [512 * MIB, 24 << 30])
        self.assertIn("\nNVIDIA GeForce RTX 4090\n", self.succeed("tlb", "--info", "-d", f"sim:{name},sim:rtx4090"))

    def test_nothing_is_measured(self):
        done = self.gpusonde("tlb", "--info", *SIM)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_info_of_a_device_that_is_not_there(self):
        self.refuse("tlb", "--info", "-d", "sim:rtx9999", says=("rtx9999", "rtx4090"))


class GoingOn(CommandTest):
    def kept(self):
        return json.loads((self.folder / "out/run.json").read_text())

    def change(self, edit):
        run = self.kept()
        edit(run)
        (self.folder / "out/run.json").write_text(json.dumps(run))

    def test_ctrl_c_keeps_results_and_resume_finishes(self):
        model = write_small_gpu(self.folder, tlbs=((8, 40), (64, 150)))
        process = self.start("tlb", "-d", f"sim:{model}", "-o", "out")
        self.wait_for("the first probe is saved", (self.folder / "out/run.json").exists, process)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertIn("gpusonde: error: interrupted; 'gpusonde survey --resume out' goes on", stderr)
        partial = self.kept()
        self.assertEqual(partial["probes_done"], ["clock"])
        for entry in partial["findings"]:
            self.assertEqual(entry["outcome"] == "ok", "value" in entry, entry)
        self.succeed("survey", "--resume", "out")
        run = self.kept()
        self.assertEqual(finding(run, "tlb.1.entries")["value"], 8)
        self.assertEqual(finding(run, "tlb.2.entries")["value"], 64)
        self.assertEqual(finding(run, "l1.addressing")["value"], "VIVT")
        self.assertEqual(run["options"]["seed"], partial["options"]["seed"])

    def sweep_then(self, edit):
        """A sweep with options of its own, as if it had been cut short after the clock, its run.json changed."""
        model = write_small_gpu(self.folder, memory_mib=256)
        self.succeed("tlb", "sweep", "-d", f"sim:{model}", "--strides", "2MiB,6MiB", "--min-bytes", "12MiB", "--max-bytes",
                     "96MiB", "--max-mem-frac", "0.5", "--policy", "cg", "--step", "3", "--laps", "5", "-o", "out")
        before = self.kept()
        self.change(edit)
        return before

    @staticmethod
    def cut_short(run):
        run["probes_done"].remove("sweep")
        del run["measurements"]["tlb.sweep"]

    def test_a_resumed_survey_measures_the_same_sweep(self):
        before = self.sweep_then(self.cut_short)
        self.assertEqual({name: value for name, value in before["options"]["values"].items() if name.startswith("sweep-")}, {
            "sweep-strides": f"{2 * MIB},{6 * MIB}", "sweep-min-bytes": str(12 * MIB), "sweep-max-bytes": str(96 * MIB),
            "sweep-max-mem-frac": "0.5", "sweep-policy": "cg", "sweep-step": "3", "sweep-laps": "5"})
        self.succeed("survey", "--resume", "out")
        run = self.kept()
        one, other = before["measurements"]["tlb.sweep"], run["measurements"]["tlb.sweep"]
        for column in ("policy", "stride_bytes", "bytes", "nodes"):
            self.assertEqual(one[column], other[column])
        for cycles, again in zip(one["cycles_per_access"], other["cycles_per_access"]):
            self.assertAlmostEqual(cycles, again, delta=0.02 * cycles)
        self.assertEqual(run["options"]["values"], before["options"]["values"])

    def test_sweep_options_edited_by_hand(self):
        for name, value, says in (("sweep-strides", "wide", "wide"), ("sweep-strides", "", "sweep-strides"),
                                  ("sweep-laps", "-1", "sweep-laps"), ("sweep-max-mem-frac", "all", "sweep-max-mem-frac"),
                                  ("sweep-laps", "0", "--laps 0"), ("sweep-strides", "100", "100 B")):
            def edit(run, name=name, value=value):
                self.cut_short(run)
                run["options"]["values"][name] = value
            self.sweep_then(edit)
            before = (self.folder / "out/run.json").read_bytes()
            self.refuse("survey", "--resume", "out", says=says)
            self.assertEqual((self.folder / "out/run.json").read_bytes(), before)

    def test_an_sm_clock_edited_by_hand(self):
        for clock in ("fast", "", "2600MHz", "-5", "0", "nan", "1e999"):
            def edit(run, clock=clock):
                self.cut_short(run)
                run["options"]["values"]["sm-clock"] = clock
            self.sweep_then(edit)
            self.refuse("survey", "--resume", "out", says=("out/run.json: option sm-clock", f"'{clock}'", "MHz"))

    def test_the_sm_clock_of_a_run_is_kept(self):
        model = write_small_gpu(self.folder, memory_mib=256)
        self.succeed("tlb", "sweep", "-d", f"sim:{model}", "--sm-clock", "750.5", "-o", "out")
        self.change(self.cut_short)
        self.succeed("survey", "--resume", "out")
        run = self.kept()
        for mhz in run["measurements"]["tlb.sweep"]["sm_mhz"]:
            self.assertAlmostEqual(mhz, 750.5, delta=0.5)
        self.assertAlmostEqual(finding(run, "clock.sm")["value"], 750.5, delta=0.5)

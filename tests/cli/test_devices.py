"""Devices that are not there (exit code 3) and model files with an error (file:line:col)."""

from support import SIM, SMALL, CommandTest, finding


class Devices(CommandTest):
    def test_no_such_index(self):
        self.refuse("latency", "-d", "4711", code=3)

    def test_no_such_uuid(self):
        self.refuse("survey", "-d", "GPU-00000000-dead-beef-0000-000000000000", code=3)

    def test_no_such_pci_id(self):
        self.refuse("survey", "-d", "ffff:ff:1f.0", code=3)

    def test_no_driver(self):
        if self.has_nvidia_device():
            self.skipTest("there is an NVIDIA device here")
        self.refuse("devices", "--json", code=3, says="driver")
        self.refuse("latency", "-d", "all", code=3, says="driver")
        self.refuse("clocks", "status", "-d", "0", code=3, says="driver")
        self.refuse("clocks", "lock", "-d", "0", "--sm", "1500", code=3, says="driver")

    def test_without_a_driver_the_simulated_card_is_named(self):
        if self.has_nvidia_device():
            self.skipTest("there is an NVIDIA device here")
        done = self.gpusonde("latency", *SMALL[3:])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("simulated RTX 4090", done.stderr)
        self.assertIn("-d", done.stderr)

    def test_no_such_simulated_device(self):
        self.refuse("latency", "-d", "sim:rtx9999", code=2, says=("rtx9999", "rtx4090"))

    def test_missing_model_file(self):
        self.refuse("latency", "-d", "sim:nowhere.toml", code=2, says="nowhere.toml")

    def test_several_simulated_devices(self):
        runs = self.document(*(word if word != SIM[1] else "sim:rtx4090,sim:l40s" for word in SMALL))
        self.assertEqual([run["device"]["name"] for run in runs], ["NVIDIA GeForce RTX 4090", "NVIDIA L40S"])


class Models(CommandTest):
    def model_with(self, old, new):
        """A model file that is the RTX 4090's but for one line; returns its path and that line's number."""
        lines = self.succeed("models", "rtx4090").splitlines()
        hits = [i for i, line in enumerate(lines) if line.split("#")[0].rstrip().startswith(old)]
        self.assertTrue(hits, f"no line '{old}' in the model file")
        lines[hits[0]] = new
        path = self.folder / "changed.toml"
        path.write_text("\n".join(lines) + "\n")
        return path, hits[0] + 1

    def refuse_model(self, old, new, says=()):
        path, line = self.model_with(old, new)
        message = self.refuse("latency", "-d", f"sim:{path}", code=2, says=says)
        self.assertRegex(message, rf"changed\.toml:{line}:[0-9]+: ")
        return message

    def test_a_copied_model_file_is_the_same_device(self):
        path = self.folder / "copy.toml"
        path.write_text(self.succeed("models", "rtx4090"))
        built_in = self.document(*SMALL)
        copied = self.document(*(word if word != SIM[1] else f"sim:{path}" for word in SMALL))
        self.assertEqual(built_in["measurements"], copied["measurements"])
        self.assertEqual(finding(built_in, "l1.hit_latency"), finding(copied, "l1.hit_latency"))

    def test_ways_of_zero(self):
        self.refuse_model("ways =", "ways = 0", says=("ways", "1"))

    def test_text_where_a_number_belongs(self):
        self.refuse_model("ways =", 'ways = "four"', says="ways")

    def test_negative_number(self):
        self.refuse_model("ways =", "ways = -4", says="ways")

    def test_misspelt_key(self):
        self.refuse_model("ways =", "wyas = 4", says=("wyas", "ways"))

    def test_broken_toml(self):
        path, line = self.model_with("ways =", "ways = [4")
        message = self.refuse("latency", "-d", f"sim:{path}", code=2)
        self.assertRegex(message, rf"changed\.toml:({line}|{line + 1}):[0-9]+: ")  # an array may go on in the next line

    def test_not_utf8(self):
        path = self.folder / "binary.toml"
        path.write_bytes(b"\xff\xfe\x00\x01" * 64)
        self.refuse("latency", "-d", f"sim:{path}", code=2, says="binary.toml")

    def test_empty_file(self):
        path = self.folder / "empty.toml"
        path.write_text("")
        self.refuse("latency", "-d", f"sim:{path}", code=2, says="empty.toml")

    def test_a_folder_instead_of_a_file(self):
        (self.folder / "folder.toml").mkdir()
        self.refuse("latency", "-d", f"sim:{self.folder}/folder.toml", code=2, says="folder.toml")

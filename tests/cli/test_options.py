"""Options and sizes that cannot be: each is one sentence and exit code 2, and nothing is measured."""

from support import SIM, SMALL, CommandTest

HUGE = "18446744073709551616"  # 2^64


class Options(CommandTest):
    def test_unknown_command(self):
        self.refuse("measure-everything", says="measure-everything")

    def test_unknown_option(self):
        self.refuse("latency", *SIM, "--sizes", "4KiB", says="--sizes")

    def test_option_without_its_value(self):
        self.refuse("latency", *SIM, "--min", says="--min")

    def test_unknown_preset(self):
        self.refuse("latency", *SIM, "--preset", "huge", says=("huge", "dense", "log", "quick"))

    def test_unknown_policy(self):
        self.refuse("latency", *SIM, "--policy", "ca,xx", says=("xx", "ca", "cg"))

    def test_unknown_chain(self):
        self.refuse("latency", *SIM, "--chain", "list", says=("list", "pointer", "index"))

    def test_unknown_warmup(self):
        self.refuse("latency", *SIM, "--warmup", "hot", says=("hot", "serial", "parallel", "auto"))

    def test_seed_that_is_no_number(self):
        self.refuse("survey", *SIM, "--seed", "dice", says="dice")

    def test_negative_timeout(self):
        self.refuse("survey", *SIM, "--timeout", "-1", says="timeout")

    def test_no_hops(self):
        self.refuse("latency", *SIM, "--hops", "0", says="hops")

    def test_hops_not_a_multiple_of_eight(self):
        self.refuse("latency", *SIM, "--hops", "9", says=("hops", "8"))

    def test_no_points_per_octave(self):
        self.refuse("latency", *SIM, "--points-per-octave", "0", says="points-per-octave")

    def test_sm_clock_of_a_real_device(self):
        self.refuse("latency", "-d", "0", "--sm-clock", "997", says=("--sm-clock", "clocks"))

    def test_sm_clock_of_zero_or_less(self):
        for clock in ("0", "-5"):
            self.refuse("latency", *SIM, "--sm-clock", clock, says=clock)

    def test_unknown_color_choice(self):
        self.refuse("list", "--color", "mauve", says=("mauve", "never"))

    def test_unknown_shell(self):
        self.refuse("completion", "tcsh", says=("tcsh", "bash", "zsh", "fish"))

    def test_json_and_csv_together(self):
        self.refuse(*SMALL, "--json", "--csv", says=("json", "csv"))

    def test_errors_stay_off_stdout_with_json(self):
        self.refuse("latency", *SIM, "--min", "0", "--json")


class Sizes(CommandTest):
    def test_size_of_zero(self):
        self.refuse("latency", *SIM, "--min", "0", says="--min")
        self.refuse("latency", *SIM, "--max", "0", says="--max")

    def test_size_not_a_multiple_of_eight(self):
        self.refuse("latency", *SIM, "--min", "4099", says=("4099", "8"))

    def test_size_beyond_memory(self):
        self.refuse("latency", *SIM, "--max", "1TiB", says=("1 TiB", "24 GiB"))

    def test_size_of_two_to_the_64(self):
        self.refuse("latency", *SIM, "--max", HUGE, says=HUGE)

    def test_size_that_overflows_with_its_unit(self):
        self.refuse("latency", *SIM, "--max", "17179869184GiB", says="17179869184GiB")

    def test_negative_size(self):
        self.refuse("latency", *SIM, "--min=-4096", says="-4096")

    def test_size_in_no_known_unit(self):
        self.refuse("latency", *SIM, "--max", "4parsec", says=("4parsec", "KiB"))

    def test_size_that_is_no_number(self):
        self.refuse("latency", *SIM, "--max", "big", says="big")

    def test_smallest_above_largest(self):
        self.refuse("latency", *SIM, "--min", "1MiB", "--max", "4KiB", says=("1 MiB", "4 KiB"))

    def test_index_chain_beyond_32_bits(self):
        self.refuse("latency", *SIM, "--chain", "index", "--min", "20GiB", "--max", "20GiB", says=("index", "pointer"))

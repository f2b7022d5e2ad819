# SPDX-License-Identifier: GPL-3.0-or-later
"""lectern-cli from outside: signals, terminals and readers that go away while something is made."""
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import tiny_gguf  # noqa: E402
from cli_case import CLI, CliTest, wait_until_it_handles  # noqa: E402

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
ENDLESS = "lectern"  # the tiny model gives no end token for tens of thousands of tokens


def wait_until_delivered(process, number):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines()
        if not int(next(line for line in status if line.startswith("ShdPnd")).split()[1], 16) >> (number - 1) & 1:
            return
    raise AssertionError(f"after a minute signal {number} still waits")


class Signals(CliTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.long = cls.folder / "long.gguf"
        cls.long.write_bytes(tiny_gguf.tiny_model(context=1 << 20))
        cls.prompt = cls.folder / "prompt.txt"
        cls.prompt.write_bytes(b"x" * 30000)  # many chunks of prefill, each slower than the one before
        cls.path = cls.folder / "run.lectern.json"

    def setUp(self):
        self.path.unlink(missing_ok=True)

    def command(self, *arguments):
        return [CLI, "generate", "--model", str(self.long), "--max-tokens", "1000000", "--context", "1000000", "--backend",
                "reference", "--json", "--record", str(self.path), *map(str, arguments)]

    def running(self, *arguments, **how):
        return subprocess.Popen(self.command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)

    def read_until(self, process, kind):
        for line in process.stdout:
            if json.loads(line)["event"] == kind:
                return
        self.fail(f"no {kind}: {process.stderr.read()}")

    def saved(self):
        run = json.loads(self.path.read_text())
        self.assertEqual((run["state"], run["finishReason"]), ("finished", "cancelled"))
        self.assertEqual([entry.name for entry in self.folder.iterdir() if entry.name.startswith(".lectern")], [])
        return run

    def test_a_signal_ends_a_run_as_cancelled_and_saves_what_was_made(self):
        for number in SIGNALS:
            for kind in ["queued", "tokenized", "prefillChunk", "token"]:
                prompt = ["--prompt", ENDLESS] if kind == "token" else ["--prompt-file", self.prompt]
                with self.subTest(number=number, kind=kind), self.running(*prompt) as process:
                    self.read_until(process, kind)
                    process.send_signal(number)
                    events = [json.loads(line) for line in process.stdout]
                    self.assertEqual(process.wait(timeout=60), 0)
                    run = self.saved()
                    self.assertEqual((events[-1]["event"], events[-1]["reason"]), ("finished", "cancelled"))
                    made = sum(event["event"] == "token" for event in events) + (kind == "token")
                    self.assertEqual(len(run["outputTokens"]), made)
                    self.assertEqual(process.stderr.read().decode(), "lectern-cli: stopped by a signal after "
                                     f"{made} token{'' if made == 1 else 's'}\n")
                    if kind == "prefillChunk":
                        self.assertEqual(len(run["promptTokens"]), 30000)
                        self.assertGreaterEqual(len(run["prefillChunks"]), 1)
                        self.assertEqual(made, 0)

    def test_a_signal_while_the_model_loads_leaves_no_run(self):
        for number in SIGNALS:
            with self.subTest(number), self.running("--prompt", ENDLESS) as process:
                wait_until_it_handles(process, number)  # which comes before loading
                process.send_signal(signal.SIGSTOP)
                process.send_signal(number)
                process.send_signal(signal.SIGCONT)
                output, errors = process.communicate(timeout=60)
                if b'"queued"' in output:  # it was loaded before it was stopped
                    self.assertEqual(process.returncode, 0)
                    self.saved()
                    self.path.unlink()
                    continue
                self.assertEqual((process.returncode, errors), (1, b"lectern-cli: stopped by a signal\n"))
                self.assertFalse(self.path.exists())

    def held_up(self):
        """A run that cannot go on: it is writing a line of megabytes that nobody reads on."""
        process = self.running("--prompt-file", self.prompt, bufsize=0)
        said = b""
        while b'"tokenized"' not in said:
            said += process.stdout.read(512)
        return process

    def test_the_second_signal_ends_the_program_at_once(self):
        for first, second in [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGINT),
                              (signal.SIGINT, signal.SIGTERM)]:
            with self.subTest((first, second)), self.held_up() as process:
                process.send_signal(first)
                wait_until_delivered(process, first)
                process.send_signal(second)
                self.assertEqual(process.wait(timeout=60), 128 + second)
                self.assertFalse(self.path.exists())

    def test_sighup_that_comes_twice_or_behind_another_is_one_wish_to_end(self):
        for first, second in [(signal.SIGHUP, signal.SIGHUP), (signal.SIGTERM, signal.SIGHUP),
                              (signal.SIGHUP, signal.SIGTERM)]:
            with self.subTest((first, second)), self.held_up() as process:
                for number in [first, second]:
                    process.send_signal(number)
                    wait_until_delivered(process, number)
                process.communicate(timeout=60)
                self.assertEqual(process.returncode, 0)
                self.saved()
            self.path.unlink()

    def test_a_signal_that_was_ignored_at_the_start_stays_ignored(self):  # nohup, "command &" in a script
        for number in SIGNALS:
            other = signal.SIGTERM if number != signal.SIGTERM else signal.SIGINT
            with self.subTest(number), self.running(
                    "--prompt", ENDLESS, preexec_fn=lambda: signal.signal(number, signal.SIG_IGN)) as process:
                self.read_until(process, "token")
                process.send_signal(number)
                for _ in range(100):
                    self.read_until(process, "token")
                process.send_signal(other)
                process.communicate(timeout=60)
                self.assertEqual(process.returncode, 0)
                self.assertGreaterEqual(len(self.saved()["outputTokens"]), 101)

    def test_a_reader_that_goes_ends_a_run_and_it_is_saved(self):
        for kind in ["loadProgress", "prefillChunk", "token"]:
            prompt = ["--prompt", ENDLESS] if kind == "token" else ["--prompt-file", self.prompt]
            with self.subTest(kind), self.running(*prompt) as process:
                self.read_until(process, kind)
                process.stdout.close()
                self.assertEqual(process.wait(timeout=60), 1)
                self.assertEqual(process.stderr.read(), b"lectern-cli: the output could not be written\n")
                if kind != "loadProgress":  # there it may have ended before there was a run
                    self.saved()

    def test_output_that_cannot_be_written_ends_a_run_and_it_is_saved(self):
        command = self.command("--prompt", ENDLESS)
        command.remove("--json")  # whose first line comes before the run
        with open("/dev/full", "wb") as full:
            result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual((result.returncode, result.stderr), (1, b"lectern-cli: the output could not be written\n"))
        self.assertIn(len(self.saved()["outputTokens"]), range(1, 9))  # the first ones may be parts of a character

    def test_a_closed_terminal_ends_a_run_and_it_is_saved(self):
        process, terminal = pty.fork()
        if process == 0:
            os.execv(CLI, self.command("--prompt", ENDLESS))
        said = b""
        while b'"token"' not in said:
            said += os.read(terminal, 65536)
        os.close(terminal)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        self.assertIn(code, [0, 1])  # 1 when it still had something to say
        self.assertGreaterEqual(len(self.saved()["outputTokens"]), 1)

    def test_signals_end_bench_and_logits_with_one_line(self):
        out = self.folder / "stopped.f32"
        ids = ",".join(["1"] * 8000)  # a second or more on the reference backend
        for number in SIGNALS:
            for arguments in [["bench", "-p", "1000000", "-d", "0"], ["logits", "--ids", ids, "--out", str(out)]]:
                command = [CLI, arguments[0], "--model", str(self.long), "--backend", "reference", *arguments[1:]]
                with self.subTest(command=arguments[0], number=number), subprocess.Popen(
                        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                    wait_until_it_handles(process, number)
                    process.send_signal(number)
                    output, errors = process.communicate(timeout=60)
                    self.assertEqual((process.returncode, output, errors), (1, b"", b"lectern-cli: stopped by a signal\n"))
            self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()

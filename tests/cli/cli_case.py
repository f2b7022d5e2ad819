# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of lectern-cli share. LECTERN_CLI names the executable."""
import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

import tiny_gguf

CLI = os.environ.get("LECTERN_CLI", "lectern-cli")
DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
REAL_MODEL_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"


def real_model():
    data_home = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    path = os.environ.get("LECTERN_TEST_MODEL") or os.path.join(data_home, "lectern", "models", REAL_MODEL_NAME)
    return path if os.path.isfile(path) else None


def wait_until_it_handles(process, number):
    """Until the program catches the signal."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        caught = int(next(line for line in status.splitlines() if line.startswith("SigCgt")).split()[1], 16)
        if caught >> (number - 1) & 1:
            return
        if process.poll() is not None:
            raise AssertionError(f"the program ended with {process.returncode} before it handled signal {number}")
    raise AssertionError(f"after a minute the program does not handle signal {number}")


class CliTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.model = str(cls.folder / "tiny ü 数 ' \".gguf")
        pathlib.Path(cls.model).write_bytes(tiny_gguf.tiny_model())

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def call(self, *arguments, stdin=b""):
        return subprocess.run([CLI, *map(str, arguments)], input=stdin, capture_output=True, timeout=120)

    def ok(self, *arguments, stdin=b""):
        result = self.call(*arguments, stdin=stdin)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def refused(self, code, *arguments, stdin=b""):
        """The one line of a failure."""
        result = self.call(*arguments, stdin=stdin)
        self.assertEqual(result.returncode, code, result.stderr)
        line = result.stderr.decode("utf-8")
        self.assertTrue(line.startswith("lectern-cli: "), line)
        self.assertEqual(line.count("\n"), 1, line)
        return line

    def events(self, *arguments):
        return [json.loads(line) for line in self.ok("generate", "--model", self.model, "--json", *arguments).splitlines()]

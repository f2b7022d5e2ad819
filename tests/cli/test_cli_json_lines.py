# SPDX-License-Identifier: GPL-3.0-or-later
"""lectern-cli tokenize --jsonl from outside: every line stands for itself."""
import json
import pathlib
import signal
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from cli_case import CLI, CliTest, wait_until_it_handles  # noqa: E402

GOOD = b'{"text": "a"}'
LONGEST = 16 << 20  # bytes of a line


def as_text(size):
    """A good line of so many bytes."""
    return b'{"text": "' + b"x" * (size - 12) + b'"}'


class JsonLines(CliTest):
    def tokenize(self, raw, source="-"):
        return self.call("tokenize", "--model", self.model, "--jsonl", source, stdin=raw)

    def outcome(self, raw):
        """Exit code, one object for each line, lines of standard error."""
        result = self.tokenize(raw)
        return (result.returncode, [json.loads(line) for line in result.stdout.splitlines()],
                result.stderr.decode().splitlines())

    def test_a_line_that_cannot_be_done_costs_itself_alone(self):
        for bad, words in [
                (b"{", "no JSON at byte 2"), (b"text", "no JSON at byte 2"), (GOOD + b" " + GOOD, "no JSON at byte 15"),
                (b'{"text": "a",}', "no JSON at byte 14"), (b'{"text": "\\ud800"}', "no JSON at byte 17"),
                (b"[]", "is array, expected an object"), (b"null", "is null, expected an object"),
                (b'"text"', "is string, expected an object"), (b"{}", "text: is missing"),
                (b'{"Text": "a"}', "text: is missing"), (b'{"text": 1}', "text: is number, expected text"),
                (b'{"text": {"hex": "e"}}', "text: is object, expected text"),
                (b'{"text": "a", "addSpecial": 1}', "addSpecial: is number, expected true or false"),
                (b'{"text": "a", "parseSpecial": null}', "parseSpecial: is null, expected true or false"),
                (b'{"text": "\xff"}', "no UTF-8 at byte 11"), (b'{"text": "\xed\xa0\x80"}', "no UTF-8 at byte 11"),
                (GOOD + b"\0", "there is a NUL at byte 14"), ('{"text": "a"}'.encode("utf-16-le"), "there is a NUL at byte 2"),
                (b'{"text": "a", "x": 1e999}', "a number is too large"),
                (b"[" * 100000, "nested more than 8 deep"), (b'{"a":' * 9000 + b"1" + b"}" * 9000, "nested more than 8 deep"),
                (as_text(LONGEST + 1), f"more than {LONGEST} bytes")]:
            with self.subTest(bad[:60]):
                code, objects, errors = self.outcome(GOOD + b"\n" + bad + b"\n" + GOOD + b"\n")
                self.assertEqual(code, 1)
                self.assertEqual(len(objects), 3, objects)
                self.assertEqual([objects[0]["ids"], objects[2]["ids"]], [[97], [97]])
                self.assertEqual(sorted(objects[1]), ["error", "line"])
                self.assertEqual(objects[1]["line"], 2)
                self.assertIn(words, objects[1]["error"])
                self.assertEqual(errors, ["lectern-cli: 1 of 3 lines could not be done"])

    def test_errors_stand_in_the_order_of_the_file_and_are_counted(self):
        code, objects, errors = self.outcome(b"\n".join([b"1", GOOD, b"", b"  \t", b"2", GOOD, b"3"]))
        self.assertEqual(code, 1)
        self.assertEqual([entry.get("line") for entry in objects], [1, None, 5, None, 7])  # blank lines count
        self.assertEqual(errors, ["lectern-cli: 3 of 5 lines could not be done"])

    def test_ends_of_lines_and_of_files_are_no_errors(self):
        for raw, count in [(b"", 0), (b"\n", 0), (b"\r\n \r\n", 0), (b"\xef\xbb\xbf", 0), (GOOD, 1), (GOOD + b"\r", 1),
                           (b"\xef\xbb\xbf" + GOOD + b"\r\n" + GOOD + b"\r\n", 2), (b" " + GOOD + b"\t\n\n" + GOOD, 2)]:
            with self.subTest(raw):
                code, objects, errors = self.outcome(raw)
                self.assertEqual((code, [entry["ids"] for entry in objects], errors), (0, [[97]] * count, []))

    def test_the_longest_line_is_done_and_one_across_pieces_of_the_file_is_whole(self):
        for size in [65535, 65536, 65537, 200000]:
            code, objects, _ = self.outcome(as_text(size) + b"\n" + GOOD)
            self.assertEqual((code, len(objects[0]["ids"]), objects[1]["ids"]), (0, size - 12, [97]))
        padded = GOOD + b" " * (LONGEST - len(GOOD))
        self.assertEqual(self.outcome(padded)[0], 0)
        self.assertEqual(self.outcome(padded + b" ")[0], 1)

    def test_a_text_may_be_any_bytes_as_hexadecimal(self):
        self.assertEqual(self.outcome(b'{"text": {"hex": "00ff"}}')[1][0]["ids"], [0, 255])

    def test_a_file_gives_the_same_as_standard_input(self):
        raw = b"\n".join([GOOD, b"{", GOOD])
        path = self.folder / "lines.jsonl"
        path.write_bytes(raw)
        result = self.tokenize(b"", path)
        self.assertEqual((result.returncode, result.stdout), (1, self.tokenize(raw).stdout))
        self.assertIn("there is no such file", self.refused(1, "tokenize", "--model", self.model, "--jsonl", self.folder / "x"))
        self.assertIn("this is a folder", self.refused(1, "tokenize", "--model", self.model, "--jsonl", self.folder))

    def running(self):
        return subprocess.Popen([CLI, "tokenize", "--model", self.model, "--jsonl", "-"], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)

    def test_a_line_is_answered_before_the_next_one_is_written(self):
        with self.running() as process:
            for number in range(3):
                process.stdin.write(b'{"text": "' + str(number).encode() + b'"}\n')
                self.assertEqual(json.loads(process.stdout.readline())["ids"], [48 + number])
            process.stdin.close()
            self.assertEqual(process.wait(timeout=60), 0)

    def test_a_signal_ends_it_after_the_lines_that_are_done(self):
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
            with self.subTest(number), self.running() as process:
                process.stdin.write(b"{\n" + GOOD + b"\n")
                self.assertEqual([sorted(json.loads(process.stdout.readline())) for _ in range(2)],
                                 [["error", "line"], ["ids", "pieces"]])
                process.send_signal(number)  # standard input stays open
                self.assertEqual(process.wait(timeout=60), 1)
                self.assertEqual((process.stdout.read(), process.stderr.read()), (b"", (
                    b"lectern-cli: stopped by a signal after 2 lines, 1 of which could not be done\n")))

    def test_a_reader_that_goes_ends_it(self):
        with self.running() as process:
            wait_until_it_handles(process, signal.SIGINT)
            process.stdout.close()
            process.stdin.write(GOOD + b"\n")  # and stays open
            self.assertEqual(process.wait(timeout=60), 1)
            self.assertEqual(process.stderr.read(), b"lectern-cli: the output could not be written\n")


if __name__ == "__main__":
    unittest.main()

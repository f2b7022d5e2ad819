# SPDX-License-Identifier: GPL-3.0-or-later
"""lectern-cli from outside: usage, files, tokenize, logits, bench, inspect; exit codes and error lines."""
import array
import hashlib
import json
import os
import pathlib
import pty
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import tiny_gguf  # noqa: E402
from cli_case import CLI, DATA, REAL_MODEL_NAME, CliTest, real_model  # noqa: E402


class Usage(CliTest):
    def test_help_of_every_command_names_its_options(self):
        self.assertIn(b"Exit codes", self.ok("--help"))
        for command, option in [("tokenize", b"--parse-special"), ("generate", b"--kv-budget"), ("logits", b"--out"),
                                ("bench", b"--rounds"), ("inspect", b"--context")]:
            self.assertIn(option, self.ok(command, "--help"))

    def test_version(self):
        self.assertRegex(self.ok("--version"), rb"^lectern-cli \d+\.\d+\.\d+\n$")

    def test_wrong_usage_is_exit_code_2(self):
        generate = ["generate", "--model", self.model]
        for arguments in [[], ["sing"], ["tokenize", "text"], ["tokenize", "--model", self.model],
                          ["tokenize", "--model", self.model, "a", "--file", "b"],
                          generate, [*generate, "--prompt", "a", "--ids", "1"], [*generate, "--prompt"],
                          [*generate, "--prompt", "a", "--temp", "-1"], [*generate, "--prompt", "a", "--top-p", "1.5"],
                          [*generate, "--prompt", "a", "--temp", "hot"], [*generate, "--prompt", "a", "--max-tokens", "0"],
                          [*generate, "--prompt", "a", "--top-logprobs", "21"],
                          [*generate, "--prompt", "a", "--threads", "-1"], [*generate, "--prompt", "a", "--kv-budget", "-1"],
                          [*generate, "--prompt", "a", "--backend", "abacus"], [*generate, "--prompt", "a", "--system", "b"],
                          [*generate, "--ids", "1", "--chat"], [*generate, "--ids", "one"],
                          ["logits", "--model", self.model, "--ids", "1"], ["bench", "--model", self.model, "-r", "0"]]:
            with self.subTest(arguments):
                self.refused(2, *arguments)


    def test_a_command_that_there_is_not_is_named_beside_those_that_there_are(self):
        for word in ["sing", "--loud", ""]:
            self.assertIn(f'"{word}" is no command, expected tokenize, generate, logits, bench or inspect',
                          self.refused(2, word))
        self.assertIn("no command is given, expected tokenize, generate", self.refused(2))

    def test_a_value_out_of_range_is_quoted_with_the_range_in_a_short_line(self):
        generate = ["generate", "--model", self.model, "--prompt", "a"]
        bench = ["bench", "--model", self.model]
        inspect = ["inspect", "--model", self.model]
        bits = "a whole number of at most 64 bits, 0 or more"
        threads = 4 * len(os.sched_getaffinity(0))
        for arguments, option, value, expected in [
                (generate, "--kv-budget", "-1", "from 0 to 1125899906842624"),
                (generate, "--kv-budget", "18446744073709551616", "from 0 to 1125899906842624"),
                (generate, "--kv-budget", "1e9", "from 0 to 1125899906842624"),
                (generate, "--seed", "-1", bits), (generate, "--seed", "18446744073709551616", bits),
                (generate, "--seed", "0x12", bits), (generate, "--seed", "1.5", bits), (generate, "--seed", "", bits),
                (generate, "--max-tokens", "0", "from 1 to 1000000"),
                (generate, "--max-tokens", "99999999999999999999", "from 1 to 1000000"),
                (generate, "--temp", "1e300", "a number from 0 to 100"), (generate, "--temp", "nan", "from 0 to 100"),
                (generate, "--top-p", "1.5", "from 0 to 1"), (generate, "--repetition-penalty", "0", "from 0.1 to 10"),
                (generate, "--top-k", "-1", "from 0 to 1000000"), (generate, "--context", "-1", "from 0 to 16777216"),
                (generate, "--top-logprobs", "21", "from 0 to 20"), (generate, "--threads", "many", f"from 0 to {threads}"),
                (bench, "--threads", str(threads + 1), f"from 0 to {threads}"),
                (generate, "--stop", "", "some text"), (generate, "--record", "", "some text"),
                (["generate", "--prompt", "a"], "--model", "", "some text"),
                (bench, "--depth", "-1", "from 0 to 1048576"), (bench, "--prompt-tokens", "0", "from 1 to 1048576"),
                (bench, "--decode-tokens", "0", "from 1 to 1048576"), (bench, "--rounds", "1001", "from 1 to 1000"),
                (inspect, "--context", "-3", "from 0 to 16777216"),
                (inspect, "--context", "99999999999", "from 0 to 16777216")]:
            with self.subTest(option=option, value=value):
                line = self.refused(2, *arguments, option, value)
                self.assertIn(f'{option}: "{value}" is given, expected ', line)
                self.assertIn(expected, line)
                self.assertLess(len(line), 140)
        self.ok(*generate, "--max-tokens", "1", "--seed", "18446744073709551615", "--context", "0",
                "--repetition-penalty", "0.1")

    def test_a_list_of_ids_has_no_gaps(self):
        for ids, word, position in [("1,,2", "", 1), (",1", "", 0), ("1,", "", 1), ("", "", 0), ("1,2,x", "x", 2),
                                    ("1,-2", "-2", 1), ("1, 2", " 2", 1), ("99999999999", "99999999999", 0)]:
            for command in [["generate"], ["logits", "--out", self.folder / "no.f32"]]:
                with self.subTest(ids=ids, command=command[0]):
                    line = self.refused(2, command[0], "--model", self.model, *command[1:], "--ids", ids)
                    self.assertIn(f'--ids: "{word}" at position {position} (counted from 0)', line)

    def test_an_option_given_twice_is_named_with_its_count(self):
        line = self.refused(2, "generate", "--model", self.model, "--prompt", "a", "--temp", "1", "--temp", "2", "--temp", "3")
        self.assertIn("--temp: given 3 times, expected once", line)

    def test_help_that_cannot_be_written_is_a_failure(self):
        for arguments in [["--help"], ["generate", "--help"], ["--version"]]:
            with open("/dev/full", "wb") as full:
                result = subprocess.run([CLI, *arguments], stdout=full, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual((result.returncode, result.stderr), (1, b"lectern-cli: the output could not be written\n"))


class BadFiles(CliTest):
    def test_files_that_are_no_model_are_exit_code_1(self):
        text = self.folder / "page.gguf"
        text.write_text("<html></html>")
        empty = self.folder / "empty.gguf"
        empty.write_bytes(b"")
        for path in [self.folder / "missing.gguf", self.folder, text, empty]:
            for command in [["generate", "--prompt", "a"], ["tokenize", "a"], ["inspect"], ["bench"],
                            ["logits", "--ids", "1", "--out", self.folder / "out.f32"]]:
                with self.subTest(path=path, command=command[0]):
                    self.assertIn(path.name, self.refused(1, command[0], "--model", path, *command[1:]))

    def test_a_file_without_read_permission_is_refused(self):
        path = self.folder / "locked.gguf"
        path.write_bytes(b"GGUF")
        path.chmod(0)
        if os.access(path, os.R_OK):
            self.skipTest("this user may read everything")
        self.refused(1, "generate", "--model", path, "--prompt", "a")

    def test_a_truncated_model_is_refused(self):
        whole = pathlib.Path(self.model).read_bytes()
        path = self.folder / "cut.gguf"
        for percent in range(0, 100, 9):
            path.write_bytes(whole[:len(whole) * percent // 100])
            with self.subTest(percent):
                self.refused(1, "generate", "--model", path, "--prompt", "a")

    def test_an_unknown_tensor_type_is_named_and_the_file_still_described(self):
        path = self.folder / "type250.gguf"
        path.write_bytes(tiny_gguf.tiny_model(tensor_type=250))
        self.assertIn("type 250", self.refused(1, "generate", "--model", path, "--prompt", "a"))
        described = json.loads(self.ok("inspect", "--model", path, "--json"))
        self.assertFalse(described["runs"])
        self.assertIn("type 250", described["problem"])
        self.assertEqual(described["metadata"]["general.name"], "Tiny")


    def test_what_is_odd_but_usable_is_a_warning(self):
        path = self.folder / "padding.gguf"
        path.write_bytes(tiny_gguf.tiny_model(padding=tiny_gguf.VOCABULARY))
        result = self.call("generate", "--model", path, "--prompt", "a", "--max-tokens", "1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, rb"^lectern-cli: warning: .*padding_token_id: token 259 is outside.*\n$")
        described = json.loads(self.ok("inspect", "--model", path, "--json"))
        self.assertTrue(described["runs"])
        self.assertEqual(len(described["warnings"]), 1)
        self.assertIn("padding_token_id", described["warnings"][0])
        self.assertIn(b"warnings\n  key tokenizer.ggml.padding_token_id", self.ok("inspect", "--model", path))
        self.assertEqual(json.loads(self.ok("inspect", "--model", self.model, "--json"))["warnings"], [])


class Tokenize(CliTest):
    def tokenize(self, *arguments, stdin=b""):
        return json.loads(self.ok("tokenize", "--model", self.model, "--json", *arguments, stdin=stdin))

    def test_json_gives_ids_bytes_and_ranges(self):
        self.assertEqual(self.tokenize("né"), {"ids": [0x6E, 0xC3, 0xA9], "pieces": [
            {"id": 0x6E, "text": "n", "bytes": "6e", "special": False, "begin": 0, "end": 1},
            {"id": 0xC3, "text": "\ufffd", "bytes": "c3", "special": False, "begin": 1, "end": 2},
            {"id": 0xA9, "text": "\ufffd", "bytes": "a9", "special": False, "begin": 2, "end": 3}]})
        self.assertEqual(self.tokenize(""), {"ids": [], "pieces": []})

    def test_control_tokens_are_text_unless_asked_for(self):
        self.assertEqual(len(self.tokenize("<|im_end|>")["ids"]), 10)
        parsed = self.tokenize("--parse-special", "a<|im_end|>")
        self.assertEqual(parsed["ids"], [97, tiny_gguf.END_TOKEN])
        self.assertEqual(parsed["pieces"][1], {"id": tiny_gguf.END_TOKEN, "text": "<|im_end|>", "special": True,
                                               "bytes": b"<|im_end|>".hex(), "begin": 1, "end": 11})

    def test_files_and_standard_input_may_hold_any_bytes(self):
        for raw in [b"\xe9\x91", b"\xff\xfe", b"\xc0\x80", b"\xed\xa0\x80", b"a\0b\r\n"]:
            path = self.folder / "bytes.txt"
            path.write_bytes(raw)
            self.assertEqual(self.tokenize("--file", path)["ids"], list(raw))
            self.assertEqual(self.tokenize("-", stdin=raw)["ids"], list(raw))

    def test_a_table_is_printed_without_json(self):
        self.assertEqual(self.ok("tokenize", "--model", self.model, "a\n").decode().split(), ["97", "0..1", '"a"', "10",
                                                                                             "1..2", '"\\n"'])

    def test_bytes_without_a_token_are_left_out_and_named(self):
        path = self.folder / "few bytes.gguf"
        path.write_bytes(tiny_gguf.tiny_model(missing_bytes=b"\x04\xff"))
        tokenize = ["tokenize", "--model", path]
        result = self.call(*tokenize, "-", stdin=b"\x03\x04\x05e\xff")
        self.assertEqual(result.returncode, 0)
        self.assertEqual([line.split()[:2] for line in result.stdout.splitlines()],
                         [[b"3", b"0..1"], [b"5", b"2..3"], [b"101", b"3..4"]])
        self.assertEqual(result.stderr, b"lectern-cli: warning: 2 bytes of the text are left out, since no token of the "
                                        b"vocabulary stands for them: 0x04 at byte 1, 0xFF at byte 4\n")
        left_out = [{"begin": 1, "end": 2, "bytes": "04"}, {"begin": 4, "end": 5, "bytes": "ff"}]
        found = json.loads(self.ok(*tokenize, "--json", "-", stdin=b"\x03\x04\x05e\xff"))
        self.assertEqual((found["ids"], found["leftOut"]), ([3, 5, 101], left_out))
        self.assertNotIn("leftOut", json.loads(self.ok(*tokenize, "--json", "abc")))
        lines = self.ok(*tokenize, "--jsonl", "-", stdin=b'{"text": "a\\u0004"}\n{"text": "a"}\n')
        self.assertEqual([json.loads(line).get("leftOut") for line in lines.splitlines()],
                         [[{"begin": 1, "end": 2, "bytes": "04"}], None])

    def test_json_lines_give_one_object_a_line(self):
        lines = '{"text": "a"}\n\n{"text": "<|im_end|>", "parseSpecial": true}\n{"text": "\\u0000", "addSpecial": false}\n'
        out = self.ok("tokenize", "--model", self.model, "--jsonl", "-", stdin=lines.encode())
        self.assertEqual([json.loads(line)["ids"] for line in out.splitlines()], [[97], [tiny_gguf.END_TOKEN], [0]])

    def test_golden_tokens_of_the_real_model(self):
        if not real_model():
            self.skipTest(REAL_MODEL_NAME)
        cases = json.loads((DATA / "tokens_smollm2.json").read_text())["cases"]
        lines = "".join(json.dumps({"text": case["text"], "addSpecial": case["add_special"],
                                    "parseSpecial": case["parse_special"]}) + "\n" for case in cases)
        out = self.ok("tokenize", "--model", real_model(), "--jsonl", "-", stdin=lines.encode()).splitlines()
        self.assertEqual(len(out), len(cases))
        for case, line in zip(cases, out):
            ids = json.loads(line)["ids"]
            if "ids" in case:
                self.assertEqual(ids, case["ids"], case["text"])
            else:
                joined = ",".join(map(str, ids)).encode()
                self.assertEqual(hashlib.sha256(joined).hexdigest(), case["ids_sha256"])


class Numbers(CliTest):
    def test_logits_are_raw_floats_of_the_whole_vocabulary(self):
        best = []
        for backend in ["reference", "cpu"]:
            path = self.folder / (backend + ".f32")
            self.ok("logits", "--model", self.model, "--ids", "72,105", "--backend", backend, "--out", path)
            logits = array.array("f", path.read_bytes())
            self.assertEqual(len(logits), tiny_gguf.VOCABULARY)
            best.append(logits.index(max(logits)))
        first = next(event for event in self.events("--ids", "72,105", "--max-tokens", "1") if event["event"] == "token")
        self.assertEqual(best, [first["id"]] * 2)

    def test_logits_check_their_input(self):
        out = self.folder / "no.f32"
        self.assertIn("259", self.refused(1, "logits", "--model", self.model, "--ids", "259", "--out", out))
        self.assertFalse(out.exists())
        self.refused(1, "logits", "--model", self.model, "--ids", "1", "--out", self.folder / "missing" / "no.f32")

    def test_bench_says_on_a_terminal_what_it_is_at(self):
        ours, theirs = pty.openpty()
        bench = [CLI, "bench", "--model", str(self.model), "-p", "8", "-n", "2", "-d", "0", "-r", "2"]
        done = subprocess.run(bench, stdout=subprocess.PIPE, stderr=theirs, check=True)
        os.close(theirs)
        said = os.read(ours, 65536)
        os.close(ours)
        for text in [b"round 1 of 2: prefill, 8 tokens", b"round 2 of 2: decode at 0, 2 tokens"]:
            self.assertIn(text, said)
        self.assertTrue(said.endswith(b"\r\x1b[K"))
        self.assertNotIn(b"round", done.stdout)

    def test_bench_measures_prefill_decode_and_bandwidth(self):
        report = json.loads(self.ok("bench", "--model", self.model, "-p", "8,70", "-n", "4", "-d", "0,64", "-r", "2", "--json"))
        self.assertEqual([entry["tokens"] for entry in report["prefill"]], [8, 70])
        self.assertEqual([(entry["tokens"], entry["depth"]) for entry in report["decode"]], [(4, 0), (4, 64)])
        for entry in report["prefill"] + report["decode"]:
            self.assertGreater(entry["tokensPerSecond"]["mean"], 0)
            self.assertGreaterEqual(entry["tokensPerSecond"]["stddev"], 0)
            self.assertGreater(entry["bytesPerSecond"], 0)
        self.assertGreater(report["readBandwidthGBs"], 0.1)
        self.assertEqual(report["model"]["quantisation"], "F32")
        self.assertIn("threads", report["build"])
        self.assertIn("129 tokens are asked for, the model's context holds 128",
                      self.refused(1, "bench", "--model", self.model, "-p", "129", "-n", "1"))
        many = ",".join(["1048576"] * 3000)  # more than 2^31 together
        self.assertIn("1048576 tokens", self.refused(1, "bench", "--model", self.model, "-p", many))
        self.assertIn(b"read bandwidth", self.ok("bench", "--model", self.model, "-p", "8", "-n", "2", "-r", "1"))

    def test_inspect_states_shape_and_memory(self):
        report = json.loads(self.ok("inspect", "--model", self.model, "--context", "100", "--json"))
        self.assertTrue(report["runs"])
        self.assertEqual(report["shape"]["architecture"], "llama")
        self.assertEqual(report["memory"]["kvBytesPerToken"], 2 * 16 * 2)
        self.assertEqual(report["memory"]["kvBytes"], 100 * 2 * 16 * 2)
        self.assertEqual(report["metadata"]["tokenizer.ggml.tokens"]["count"], tiny_gguf.VOCABULARY)
        self.assertEqual(len(report["tensors"]), 11)
        self.assertIn(b"kvBytesPerToken: 64", self.ok("inspect", "--model", self.model))
        line = self.refused(1, "inspect", "--model", self.model, "--context", "129")
        self.assertIn("is 129, the model was made for 1 to 128 tokens", line)

if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""lectern-cli from outside: output, exit codes and error lines. LECTERN_CLI names the executable."""
import array
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import tiny_gguf  # noqa: E402

CLI = os.environ.get("LECTERN_CLI", "lectern-cli")
DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
REAL_MODEL_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"


def real_model():
    data_home = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    path = os.environ.get("LECTERN_TEST_MODEL") or os.path.join(data_home, "lectern", "models", REAL_MODEL_NAME)
    return path if os.path.isfile(path) else None


def wait_until_it_handles(pid, number):
    """Until the program keeps the signal from ending it: it blocks it, and a thread of its own waits for it."""
    while True:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        blocked = int(next(line for line in status.splitlines() if line.startswith("SigBlk")).split()[1], 16)
        if blocked >> (number - 1) & 1:
            return


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
        for arguments, option, value, expected in [
                (generate, "--kv-budget", "-1", "from 0 to 1125899906842624"),
                (generate, "--kv-budget", "18446744073709551616", "from 0 to 1125899906842624"),
                (generate, "--kv-budget", "1e9", "from 0 to 1125899906842624"),
                (generate, "--seed", "-1", bits), (generate, "--seed", "18446744073709551616", bits),
                (generate, "--seed", "0x12", bits), (generate, "--seed", "1.5", bits), (generate, "--seed", "", bits),
                (generate, "--max-tokens", "0", "from 1 to 1073741824"),
                (generate, "--max-tokens", "99999999999999999999", "from 1 to 1073741824"),
                (generate, "--top-k", "-1", "from 0 to 1073741824"), (generate, "--context", "0", "from 1 to"),
                (generate, "--top-logprobs", "21", "from 0 to 20"), (generate, "--threads", "many", "from 0 to 1024"),
                (generate, "--stop", "", "some text"), (generate, "--record", "", "some text"),
                (generate, "--model", "", "some text"),
                (bench, "--depth", "-1", "from 0 to 1048576"), (bench, "--prompt-tokens", "0", "from 1 to 1048576"),
                (bench, "--decode-tokens", "0", "from 1 to 1048576"), (bench, "--rounds", "1001", "from 1 to 1000"),
                (inspect, "--context", "0", "from 1 to 1073741824"), (inspect, "--context", "-3", "from 1 to"),
                (inspect, "--context", "99999999999", "from 1 to 1073741824")]:
            with self.subTest(option=option, value=value):
                line = self.refused(2, *arguments, option, value)
                self.assertIn(f'{option}: "{value}" is given, expected ', line)
                self.assertIn(expected, line)
                self.assertLess(len(line), 140)
        self.ok(*generate, "--max-tokens", "1", "--seed", "18446744073709551615")


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

    def test_json_lines_give_one_object_a_line(self):
        lines = '{"text": "a"}\n\n{"text": "<|im_end|>", "parseSpecial": true}\n{"text": "\\u0000", "addSpecial": false}\n'
        out = self.ok("tokenize", "--model", self.model, "--jsonl", "-", stdin=lines.encode())
        self.assertEqual([json.loads(line)["ids"] for line in out.splitlines()], [[97], [tiny_gguf.END_TOKEN], [0]])

    def test_a_bad_json_line_is_named_by_its_number(self):
        for bad in ["[]", '{"txt": "a"}', '{"text": 1}', '{"text": "a", "addSpecial": 1}', "{"]:
            stdin = ('{"text": "a"}\n' + bad + "\n").encode()
            self.assertIn("line 2", self.refused(1, "tokenize", "--model", self.model, "--jsonl", "-", stdin=stdin))

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


class Generate(CliTest):
    def generate(self, *arguments, stdin=b""):
        return self.ok("generate", "--model", self.model, "--max-tokens", "12", *arguments, stdin=stdin)

    def test_events_come_in_order_and_join_to_the_answer(self):
        events = self.events("--prompt", "Hello", "--max-tokens", "12", "--top-logprobs", "3")
        kinds = [event["event"] for event in events]
        run = [kind for kind in kinds if kind not in ("loadProgress", "kvGrew")]
        self.assertEqual(run, ["queued", "tokenized", "prefillChunk"] + ["token"] * 12 + ["finished"])
        self.assertEqual(kinds[0], "loadProgress")
        tokens = [event for event in events if event["event"] == "token"]
        text = "".join(token["text"] for token in tokens) + events[-1]["tailText"]
        self.assertEqual(self.generate("--prompt", "Hello").decode(), text + "\n")
        self.assertEqual(events[-1]["reason"], "maxTokens")
        self.assertEqual(events[-1]["totals"]["promptTokens"], 5)
        self.assertEqual([event["ids"] for event in events if "ids" in event], [])
        for token in tokens:
            self.assertEqual(len(token["top"]), 3)
            self.assertEqual(token["top"][0], [token["id"], token["logprob"]])  # greedy: the best one
            self.assertGreater(token["stepNs"], 0)

    def test_ways_to_give_the_same_prompt_give_the_same_answer(self):
        answer = self.generate("--prompt", "Hi")
        path = self.folder / "prompt.txt"
        path.write_bytes(b"Hi")
        self.assertEqual(self.generate("--prompt-file", path), answer)
        self.assertEqual(self.generate("--prompt-file", "-", stdin=b"Hi"), answer)
        self.assertEqual(self.generate("--ids", "72,105"), answer)
        self.assertEqual(self.generate("--prompt", "Hi", "--no-kv-cache"), answer)
        self.assertEqual(self.generate("--prompt", "Hi", "--threads", "1"), answer)

    def test_any_bytes_are_a_prompt(self):
        for raw in [b"a\0b", b"\xff\xfe", b"\xe9\x91"]:
            path = self.folder / "bytes.txt"
            path.write_bytes(raw)
            events = self.events("--prompt-file", path, "--max-tokens", "1")
            tokenized = next(event for event in events if event["event"] == "tokenized")
            self.assertEqual([token["id"] for token in tokenized["tokens"]], list(raw))

    def test_a_seed_repeats_an_answer(self):
        sampled = ["--prompt", "Hi", "--temp", "1.5", "--top-k", "50", "--top-p", "0.99", "--min-p", "0.001", "--seed"]
        self.assertEqual(self.generate(*sampled, "7"), self.generate(*sampled, "7"))
        self.assertNotEqual(self.generate(*sampled, "7"), self.generate(*sampled, "8"))

    def test_a_chat_goes_through_the_template(self):
        events = self.events("--prompt", "Hi <|im_end|>", "--chat", "--system", "Be kind", "--max-tokens", "1")
        tokenized = next(event for event in events if event["event"] == "tokenized")
        self.assertEqual(tokenized["promptText"], "<|im_start|>system\nBe kind<|im_end|>\n<|im_start|>user\nHi <|im_end|>"
                                                  "<|im_end|>\n<|im_start|>assistant\n")
        self.assertEqual(sum(token["id"] == tiny_gguf.END_TOKEN for token in tokenized["tokens"]), 2)
        text = tokenized["promptText"].encode()
        self.assertEqual([text[begin:end] for begin, end in tokenized["userRanges"]], [b"Be kind", b"Hi <|im_end|>"])
        self.assertEqual([phase["phase"] for phase in tokenized["phases"]], ["template", "tokenize"])

    def test_a_failed_run_says_how_long_it_was_paused(self):
        result = self.call("generate", "--model", self.model, "--json", "--ids", "1,259")
        self.assertEqual(result.returncode, 1)
        last = json.loads(result.stdout.splitlines()[-1])
        self.assertEqual((last["event"], last["pausedNs"], last["tailText"]), ("failed", 0, ""))

    def test_a_stop_string_ends_the_answer_before_it(self):
        # Byte by byte the answer may not be text; its first whole character is.
        answer = self.generate("--prompt", "Hello").decode().rstrip("\n")
        stop = answer[3:5]
        events = self.events("--prompt", "Hello", "--max-tokens", "12", "--stop", "never", "--stop", stop)
        text = "".join(event["text"] for event in events if event["event"] == "token")
        self.assertEqual(events[-1]["reason"], "stopString")
        self.assertEqual(events[-1]["stopString"], stop)
        self.assertEqual(text, answer[:answer.index(stop)])

    def test_a_saved_run_holds_what_was_asked_and_what_came(self):
        path = self.folder / "run.lectern.json"
        self.generate("--prompt", "Hello", "--temp", "0.7", "--seed", "3", "--record", path)
        run = json.loads(path.read_text())
        self.assertEqual((run["schema"], run["schemaVersion"], run["state"]), ("lectern-run", 1, "finished"))
        self.assertEqual(run["request"]["sampling"]["temperature"], 0.7)
        self.assertEqual(len(run["outputTokens"]), 12)
        self.assertEqual(run["model"]["fileName"], pathlib.Path(self.model).name)
        self.assertEqual(run["model"]["sha256"], hashlib.sha256(pathlib.Path(self.model).read_bytes()).hexdigest())
        self.assertEqual(len(run["outputTokens"][0]["top"]), 20)

    def test_a_place_that_cannot_be_written_is_found_before_anything_is_computed(self):
        path = self.folder / "missing" / "run.json"
        result = self.call("generate", "--model", self.model, "--prompt", "a", "--record", path)
        self.assertEqual((result.returncode, result.stdout), (1, b""))
        self.assertIn(str(path).encode(), result.stderr)
        nothing = self.folder / "not there.gguf"  # not even looked at
        self.assertIn(str(path), self.refused(1, "generate", "--model", nothing, "--prompt", "a", "--record", path))
        self.assertIn(str(path), self.refused(1, "logits", "--model", nothing, "--ids", "1", "--out", path))
        self.assertIn(str(self.folder), self.refused(1, "logits", "--model", nothing, "--ids", "1", "--out", self.folder))

    def test_a_failure_leaves_no_file_behind(self):
        path = self.folder / "none.lectern.json"
        self.refused(1, "generate", "--model", self.folder / "not there.gguf", "--prompt", "a", "--record", path)
        self.assertFalse(path.exists())
        self.assertEqual([entry.name for entry in self.folder.iterdir() if entry.name.startswith(".lectern")], [])

    def test_a_template_that_cannot_be_used_is_explained_once(self):
        path = self.folder / "template.gguf"
        for template, words in [("{{ messages | frobnicate }}", "The filter 'frobnicate' is not supported"),
                                ("{% for m in messages %}", "'{% endfor %}' is missing")]:
            path.write_bytes(tiny_gguf.tiny_model(chat_template=template))
            line = self.refused(1, "generate", "--model", path, "--chat", "--prompt", "a")
            self.assertIn(words, line)
            self.assertEqual(line.lower().count("chat template"), 1, line)
            self.assertEqual(line.count("raw prompt"), 1, line)

    def test_a_model_whose_template_cannot_be_used_still_runs_raw(self):  # nomic-ai/gpt4all #3305
        path = self.folder / "raw.gguf"
        path.write_bytes(tiny_gguf.tiny_model(chat_template="{{ messages | frobnicate }}"))
        self.assertTrue(self.ok("generate", "--model", path, "--prompt", "a", "--max-tokens", "2"))

    def test_folders_of_any_letters_work_for_every_file(self):
        # ggml-org/llama.cpp #18571, lmstudio-ai/lmstudio-bug-tracker #2231
        folder = self.folder / "модели 模型 é" / "一時\u3000フォルダ"
        folder.mkdir(parents=True)
        model, prompt, record, out = [folder / name for name in ("тест-ü.gguf", "問.txt", "走.lectern.json", "ü.f32")]
        model.write_bytes(pathlib.Path(self.model).read_bytes())
        prompt.write_bytes(b"Hi")
        environment = {**os.environ, "TMPDIR": str(folder)}
        for arguments in [["generate", "--prompt-file", prompt, "--max-tokens", "1", "--record", record],
                          ["logits", "--ids", "1", "--out", out], ["tokenize", "--file", prompt], ["inspect"]]:
            result = subprocess.run([CLI, arguments[0], "--model", str(model), *map(str, arguments[1:])],
                                    capture_output=True, env=environment, timeout=120)
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(record.read_text())["model"]["fileName"], model.name)
        self.assertEqual(out.stat().st_size, 4 * tiny_gguf.VOCABULARY)
        missing = folder / "нет.gguf"
        self.assertIn(str(missing), self.refused(1, "inspect", "--model", missing))

    def test_a_zero_width_space_is_a_prompt_of_three_bytes(self):  # vllm-project/vllm #7283
        events = self.events("--prompt", "\u200b", "--max-tokens", "1")
        tokenized = next(event for event in events if event["event"] == "tokenized")
        self.assertEqual([token["id"] for token in tokenized["tokens"]], [0xE2, 0x80, 0x8B])

    def test_an_empty_system_message_is_still_a_message(self):
        def text(*arguments):
            events = self.events("--prompt", "a", "--chat", "--max-tokens", "1", *arguments)
            return next(event for event in events if event["event"] == "tokenized")["promptText"]
        self.assertTrue(text().startswith("<|im_start|>user"))
        self.assertTrue(text("--system", "").startswith("<|im_start|>system\n<|im_end|>\n<|im_start|>user"))

    def test_prompts_without_tokens_or_room_are_refused(self):
        generate = ["generate", "--model", self.model]
        self.assertIn("nothing to evaluate", self.refused(1, *generate, "--prompt", ""))
        self.assertIn("259", self.refused(1, *generate, "--ids", "1,259"))
        self.assertIn("the prompt has 1 token and the context holds 1:",
                      self.refused(1, *generate, "--prompt", "a", "--context", "1"))
        for count, words in [(64, ["64 tokens", "no room"]), (65, ["65 tokens", "64", "1 token too many"]),
                             (640, ["640 tokens", "64", "576"])]:
            line = self.refused(1, *generate, "--context", "64", "--prompt", "x" * count)
            for word in words:
                self.assertIn(word, line)
        result = self.call(*generate, "--context", "64", "--prompt", "x" * 63)
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"the context of 64 tokens is full", result.stderr)
        self.assertIn("129", self.refused(1, *generate, "--prompt", "a", "--context", "129"))

    def test_the_kv_budget_is_kept(self):
        block = 16 * 2 * 16 * 2  # tokens, K and V, one KV head of 16, F16
        generate = ["generate", "--model", self.model, "--prompt", "x" * 16]
        self.assertIn(str(block), self.refused(1, *generate, "--kv-budget", block - 1))
        result = self.call(*generate, "--kv-budget", block)
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"KV budget", result.stderr)
        line = self.refused(1, "generate", "--model", self.model, "--prompt", "x" * 17, "--kv-budget", block)
        self.assertIn("17 tokens", line)
        most = 1 << 50
        line = self.refused(1, *generate, "--kv-budget", most)
        self.assertIn(f"the budget of the KV cache is {most} bytes;", line)
        self.assertNotIn("per token", line)

    def test_ctrl_c_ends_a_run_cleanly(self):
        path = self.folder / "long.gguf"
        path.write_bytes(tiny_gguf.tiny_model(context=1 << 20))
        command = [CLI, "generate", "--model", str(path), "--prompt", "Hi", "--max-tokens", "1000000", "--context",
                   "1000000", "--backend", "reference", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            last = {}
            for line in process.stdout:
                last = json.loads(line)
                if last["event"] == "token" and last["kvTokens"] == 4:
                    process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=60), 0)
        self.assertEqual(last["event"], "finished")
        self.assertEqual(last["reason"], "cancelled")

    def test_ctrl_c_ends_bench_and_logits_with_one_line(self):
        path = self.folder / "long.gguf"
        path.write_bytes(tiny_gguf.tiny_model(context=1 << 20))
        out = self.folder / "stopped.f32"
        ids = ",".join(["1"] * 8000)  # a second or more on the reference backend
        for arguments in [["bench", "-p", "1000000", "-d", "0"], ["logits", "--ids", ids, "--out", str(out)]]:
            command = [CLI, arguments[0], "--model", str(path), "--backend", "reference", *arguments[1:]]
            with self.subTest(arguments[0]), subprocess.Popen(command, stdout=subprocess.PIPE,
                                                              stderr=subprocess.PIPE) as process:
                wait_until_it_handles(process.pid, signal.SIGINT)
                process.send_signal(signal.SIGINT)
                output, errors = process.communicate(timeout=60)
                self.assertEqual((process.returncode, output, errors), (1, b"", b"lectern-cli: stopped by a signal\n"))
        self.assertFalse(out.exists())

    def test_output_that_cannot_be_written_is_a_failure(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("/dev/full")
        with open("/dev/full", "wb") as full:
            result = subprocess.run([CLI, "inspect", "--model", self.model], stdout=full, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"could not be written", result.stderr)


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

# SPDX-License-Identifier: GPL-3.0-or-later
"""lectern-cli generate from outside: events, prompts, records, budgets."""
import hashlib
import json
import os
import pathlib
import resource
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import tiny_gguf  # noqa: E402
from cli_case import CLI, CliTest, real_model  # noqa: E402


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

    def test_loading_tells_each_tenth_of_a_phase_at_most_once(self):
        # The tiny model is read in few pieces.
        lines = [json.loads(line) for line in self.ok("generate", "--model", real_model() or self.model, "--json", "--ids",
                                                      "1", "--max-tokens", "1", "--record",
                                                      self.folder / "r.lectern.json").splitlines()]
        progress = [line for line in lines if line["event"] == "loadProgress"]
        told = [(line["phase"], line["doneBytes"], line["totalBytes"]) for line in progress]
        self.assertEqual(len(told), len(set(told)))
        for phase in {line["phase"] for line in progress}:
            self.assertLessEqual(sum(line["phase"] == phase for line in progress), 12)
        self.assertEqual(progress[-1]["phase"], "ready")

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

    def test_a_record_above_the_file_size_limit_is_refused_and_leaves_nothing(self):
        folder = self.folder / "limited"
        folder.mkdir()
        limit = (1000, resource.getrlimit(resource.RLIMIT_FSIZE)[1])
        result = subprocess.run([CLI, "generate", "--model", self.model, "--prompt", "Hi", "--max-tokens", "30",
                                 "--record", folder / "run.json"], capture_output=True, timeout=60,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn(b"File too large", result.stderr)
        self.assertEqual(list(folder.iterdir()), [])

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
        self.assertEqual((run["schema"], run["schemaVersion"], run["state"]), ("lectern-run", 2, "finished"))
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

    def test_a_prompt_runs_without_the_bytes_that_have_no_token(self):
        path = self.folder / "few bytes.gguf"
        path.write_bytes(tiny_gguf.tiny_model(missing_bytes=b"\x04"))
        generate = ["generate", "--model", path, "--max-tokens", "2"]
        result = self.call(*generate, "--prompt", "a\x04b", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        tokenized = next(event for event in map(json.loads, result.stdout.splitlines()) if event["event"] == "tokenized")
        self.assertEqual([(token["id"], token["begin"], token["end"]) for token in tokenized["tokens"]],
                         [(97, 0, 1), (98, 2, 3)])
        self.assertEqual(result.stderr, b"lectern-cli: warning: 1 byte of the text is left out, since no token of the "
                                        b"vocabulary stands for it: 0x04 at byte 1\n")
        self.assertEqual(self.call(*generate, "--prompt", "ab").stderr, b"")
        line = self.refused(1, *generate, "--prompt", "\x04")
        self.assertIn("nothing to evaluate: the prompt has no tokens: 1 byte of the text is left out", line)
        self.assertIn("0x04 at byte 0", line)

    def test_two_begin_tokens_are_warned_of(self):
        result = self.call("generate", "--model", self.model, "--ids", "257,257,97", "--max-tokens", "1")
        self.assertRegex(result.stderr, rb"^lectern-cli: warning: The prompt starts with two begin tokens [^\n]*\n$")

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

    def test_output_that_cannot_be_written_is_a_failure(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("/dev/full")
        with open("/dev/full", "wb") as full:
            result = subprocess.run([CLI, "inspect", "--model", self.model], stdout=full, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"could not be written", result.stderr)

if __name__ == "__main__":
    unittest.main()

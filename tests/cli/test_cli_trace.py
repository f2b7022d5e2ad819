# SPDX-License-Identifier: GPL-3.0-or-later
"""lectern-cli generate --trace: what every operation took, as a table, in events and in the saved run."""
import json
import re
import unittest

from cli_case import CliTest

ROW = re.compile(r"^([a-zA-Z]+|between them) +(-|\d.*)$")


class Trace(CliTest):
    def trace(self, *arguments):
        result = self.call("generate", "--model", self.model, "--prompt", "Hello", "--max-tokens", "5", "--trace",
                           *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout, result.stderr.decode()

    def test_the_table_shares_out_the_time_of_prefill_and_decode(self):
        plain = self.ok("generate", "--model", self.model, "--prompt", "Hello", "--max-tokens", "5")
        answer, table = self.trace()
        self.assertEqual(answer, plain)  # nothing is computed in another way
        self.assertIn("decode: 4 tokens in 4 passes", table)
        rows = [match.groups() for match in map(ROW.match, table.splitlines()) if match]
        names = [name for name, _ in rows]
        for name in ("attention", "logits", "between them"):
            self.assertIn(name, names)
        for phase in (0, 1):
            shares = [re.findall(r"([\d.]+) %|-  ", row) for _, row in rows]
            self.assertAlmostEqual(sum(float(share[phase] or 0) for share in shares), 100, delta=0.1 * len(rows))

    def test_events_and_the_saved_run_tell_the_same_passes(self):
        path = self.folder / "traced.lectern.json"
        output, _ = self.trace("--json", "--record", path)
        events = [json.loads(line) for line in output.splitlines()]
        told = [event for event in events if event["event"] == "passTraced"]
        run = json.loads(path.read_text())
        self.assertTrue(run["request"]["tracesOperations"])
        self.assertEqual([{key: event[key] for key in event if key not in ("event", "request")} for event in told],
                         run["passes"])
        self.assertEqual(len(run["passes"]), 5)  # the first token comes out of the prompt's pass
        self.assertEqual([entry["ownTokens"] for entry in run["passes"]], [len(run["promptTokens"]), 1, 1, 1, 1])
        for entry in run["passes"]:
            layers = {layer for _, layer, _, _ in entry["operations"]}
            self.assertEqual(layers, {-1, *range(run["model"]["layers"])})

    def test_without_it_nothing_is_traced(self):
        path = self.folder / "plain.lectern.json"
        result = self.call("generate", "--model", self.model, "--prompt", "Hello", "--max-tokens", "5", "--record", path)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        run = json.loads(path.read_text())
        self.assertEqual((run["request"]["tracesOperations"], run["passes"], run["preemptions"]), (False, [], []))


if __name__ == "__main__":
    unittest.main()

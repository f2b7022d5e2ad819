#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Computes the exact logits of the tiny models that the tests generate: tiny_llama_expected.json.

    make_expected.py --reference forward_reference.py --models FOLDER --out tiny_llama_expected.json

FOLDER holds the .gguf files written by the test program (see README.md). The reference is a module with a class
Model(path) whose methods new_sequence(), forward([sequence], [[ids]]) and logits(hidden) compute in float64 on
dequantised weights. For each model: two prompts of random ids, the logits of the last position, and greedy steps
from there (ties to the lower id) with the gap between first and second logit.
"""
import argparse
import hashlib
import importlib.util
import json
import os
import random

import numpy as np

PROMPT_LENGTHS = (5, 40)  # below and above one KV block of 16 tokens
GREEDY_STEPS = 12


def load_reference(path):
    spec = importlib.util.spec_from_file_location("forward_reference", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_prompt(model, ids):
    sequence = model.new_sequence()
    logits = model.logits(model.forward([sequence], [ids])[0])[-1]
    result = {"ids": ids, "logits": [float(f"{x:.7g}") for x in logits], "greedy": []}
    for _ in range(GREEDY_STEPS):
        first = int(np.argmax(logits))
        second = float(np.max(np.delete(logits, first)))
        result["greedy"].append({"id": first, "gap": round(float(logits[first]) - second, 6)})
        logits = model.logits(model.forward([sequence], [[first]])[0])[-1]
    return result


def main():
    parser = argparse.ArgumentParser(description="exact logits of the tiny models")
    parser.add_argument("--reference", required=True)
    parser.add_argument("--models", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    reference = load_reference(options.reference)

    models = {}
    for name in sorted(os.listdir(options.models)):
        if not name.endswith(".gguf"):
            continue
        path = os.path.join(options.models, name)
        model = reference.Model(path)
        with open(path, "rb") as file:
            entry = {"sha256": hashlib.sha256(file.read()).hexdigest(), "prompts": []}
        choose = random.Random(20240229)
        for length in PROMPT_LENGTHS:
            ids = [choose.randrange(model.n_vocab) for _ in range(length)]
            entry["prompts"].append(run_prompt(model, ids))
        models[name[: -len(".gguf")]] = entry

    about = "Exact logits (float64 arithmetic on dequantised weights) of the tiny models in tests/support/tiny_model.cpp"
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(entry, separators=(',', ':'))}" for name, entry in models.items())
    with open(options.out, "w", encoding="ascii") as out:
        out.write('{\n"about": ' + json.dumps(about) + ',\n"models": {\n' + lines + "\n}}\n")


if __name__ == "__main__":
    main()

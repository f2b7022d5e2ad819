#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes tokens_left_out.json: what the tokenizers library makes of texts with bytes that a vocabulary lacks.

    make_left_out.py --smollm2 SmolLM2-135M-Instruct.Q4_1.gguf --out tokens_left_out.json

"small" is a byte-level vocabulary made here, with its pieces and merges; "smollm2" the file's own. Cases hold the ids and
the offsets of the bytes without a piece.
"""
import argparse
import json
import random

from gguf import GGUFReader
from tokenizers import Tokenizer, models, pre_tokenizers

MISSING = {0x04, 0x05, 0x7F, ord("q"), 0xC3, 0xAC}  # 0xC3 begins é, 0xAC ends €
MERGES = ["! !", "!! !", "= =", "== ==", "t h", "th e", "\u0120 the", "a \u00a9", "\u00e2 \u0124", "1 1", "! ?"]
TEXTS = [
    "\x04", "\x03\x04\x05end", "!\x04!", "!\x04\x05!!", "\x04!\x04?\x04", "a\x04b", " \x04the", "t\x04he", "tqhqe", " qthe",
    "==\x04==", "a==\x04====\x04", "\u00e9", "a\u00e9", "\u20ac", "x\u20ac\u20acy", "1\x041", "\n\x04\n", "don\x04't",
    "\U000e0067", "\U00040000x", "a\U000e0001\x04b", "\U0001f3f4\U000e0067\U000e007f", "\x04" * 60 + "!" * 60 + "\x04",
    "!\x04" * 60,
]
ALPHABET = list("!?=the ab1q\n") * 2 + list("\x04\x05\x06\x7f") * 2 + ["\u00e9", "\u20ac", "\U0001f44d", "\U000e0067", "\U00040000"]


def byte_symbols():
    """GPT-2's printable character of every byte."""
    kept = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174]
    others = [b for b in range(256) if b not in kept]
    return {b: chr(b) if b in kept else chr(256 + others.index(b)) for b in range(256)}


def texts():
    rnd = random.Random(4)
    yield from TEXTS
    for _ in range(120):
        yield "".join(rnd.choice(ALPHABET) for _ in range(rnd.randint(2, 30)))


def cases(pieces, merges, pre):
    symbols = byte_symbols()
    ids = {piece: i for i, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(ids, [tuple(line.split(" ")) for line in merges]))
    tokenizer.pre_tokenizer = pre
    for text in texts():
        left_out = [i for i, byte in enumerate(text.encode()) if symbols[byte] not in ids]
        yield {"text": text, "ids": tokenizer.encode(text, add_special_tokens=False).ids, "left_out": left_out}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smollm2", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()

    gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    smollm = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), gpt2])
    pieces = [symbol for byte, symbol in byte_symbols().items() if byte not in MISSING]
    pieces += [merge.replace(" ", "") for merge in MERGES]
    fields = GGUFReader(args.smollm2).fields
    merges = fields["tokenizer.ggml.merges"].contents()
    result = {"pieces": pieces, "merges": MERGES, "small": list(cases(pieces, MERGES, gpt2)),
              "smollm2": list(cases(fields["tokenizer.ggml.tokens"].contents(), merges, smollm))}
    with open(args.out, "w", encoding="ascii") as out:
        out.write("{\n")
        for i, (key, rows) in enumerate(result.items()):
            lines = json.dumps(rows) if key in ("pieces", "merges") else "[\n" + ",\n".join(map(json.dumps, rows)) + "\n]"
            out.write(f'"{key}": {lines}{"," if i + 1 < len(result) else ""}\n')
        out.write("}\n")


if __name__ == "__main__":
    main()

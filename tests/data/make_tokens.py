#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes tokens_tiny.json: reference words and ids for the tokenizers of the tiny models.

    make_tokens.py --models FOLDER --llama-tokenize PROGRAM --out tokens_tiny.json

FOLDER holds llama_f32.gguf and llama_sentencepiece.gguf as the test program writes them (see README.md). "words" are
the borders that the pre-tokenizers of the tokenizers library set; "cases" are ids from llama.cpp's llama-tokenize, and
for byte-level BPE the tokenizers library must agree on those without special tokens.
"""
import argparse
import json
import os
import random
import subprocess
import tempfile

from gguf import GGUFReader
from tokenizers import Tokenizer, models, pre_tokenizers

TEXTS = [
    "", " ", "  ", "a", " a", "  a", "a ", "a  b", "\n", "\n\n", "\n\n\n\na", "a\n b", "a \n b", "\r\n", "\t\treturn",
    "it's we'll I'D you've 'tis ''s 'S 're", "don't ' t", "12345", "a1b22 c333", " 1", "  12", "3.14, 1,000", "½ ¼x Ⅷ ٣٤",
    "token tokens cache the each process", "The cache of tokens, and the prompt.", "!!! ... ?!", " !", "a,b;c", "$5 + €7 = ?",
    "naïve café cafe\u0301", "Đà Nẵng", "किताब", "ไทย ภาษา", "日本語 テスト。", "한국어 한글", "שלום עולם", "مرحبا بالعالم",
    "👩\u200d🚀 👍🏽 🇩🇪", "\u00a0\u00a0x", "\u3000全角\u3000", "\u2003em\u2003", "\u200bzero\u200c", "\u0085next\u2028line",
    "a\u0300\u0301\u0302", "\ue0b0", "𝒳𝒴 𠜎", "<0x0A>", "a\u0000b", "\u0001\u0004\u007f", "x" * 70, " " * 70, "the" * 60,
    "token " * 40, "<|im_start|>user\nHi<|im_end|>\n", "<tool_call>{}</tool_call>", "a<|endoftext|>b", "<s>x</s> y <unk>",
    "<|im_start", "<|im_start|><|im_end|>",
]
ALPHABET = (list("abcdehnorstwi") * 3 + list("    \n\t',.!?0123456789<|>") +
            list("éßçñøŁжДλΩאبकाกあ漢字한é½²Ⅳ٣\u0301\u200d\u00a0\u3000👍🏽🇩—“”€"))


def texts():
    rnd = random.Random(3)
    for text in TEXTS:
        yield text
    for _ in range(120):
        yield "".join(rnd.choice(ALPHABET) for _ in range(rnd.randint(3, 40)))


def words(pre, text):
    """Byte offsets at which words end."""
    ends = [len(text[:end].encode()) for _, (_, end) in pre.pre_tokenize_str(text)]
    return ends


def llama_ids(program, model, text, parse_special):
    with tempfile.NamedTemporaryFile() as prompt:
        prompt.write(text.encode())
        prompt.flush()
        options = [] if parse_special else ["--no-parse-special"]
        out = subprocess.run([program, "-m", model, "-f", prompt.name, "--ids", "--no-bos", "--no-escape", "--log-disable",
                              *options], capture_output=True, text=True, check=True).stdout
    return json.loads(out.strip().splitlines()[-1])


def library_bpe(model, pre):
    fields = GGUFReader(model).fields
    pieces = fields["tokenizer.ggml.tokens"].contents()
    merges = [tuple(line.split(" ")) for line in fields["tokenizer.ggml.merges"].contents()]
    tokenizer = Tokenizer(models.BPE({piece: i for i, piece in enumerate(pieces)}, merges))
    tokenizer.pre_tokenizer = pre
    return tokenizer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", required=True)
    parser.add_argument("--llama-tokenize", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()

    gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    smollm = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), gpt2])
    bpe = os.path.join(args.models, "llama_f32.gguf")
    library = library_bpe(bpe, smollm)
    result = {"words": [], "cases": []}
    for text in texts():
        for name, pre in (("gpt-2", gpt2), ("smollm", smollm)):
            result["words"].append({"pre": name, "text": text, "ends": words(pre, text)})
        models_by_name = {"byte_bpe": bpe, "sentencepiece": os.path.join(args.models, "llama_sentencepiece.gguf")}
        for name, model in models_by_name.items():
            if "\0" in text and name == "byte_bpe":
                ids = library.encode(text, add_special_tokens=False).ids  # the program stops at a zero byte
                result["cases"].append({"vocabulary": name, "text": text, "parse_special": False, "ids": ids})
            if "\0" in text:
                continue
            for parse_special in (False, True) if "<" in text else (False,):
                ids = llama_ids(args.llama_tokenize, model, text, parse_special)
                if name == "byte_bpe" and "<" not in text:
                    assert ids == library.encode(text, add_special_tokens=False).ids, text
                result["cases"].append(
                    {"vocabulary": name, "text": text, "parse_special": parse_special, "ids": ids})
    with open(args.out, "w", encoding="ascii") as out:
        out.write("{\n")
        for i, key in enumerate(("words", "cases")):
            rows = ",\n".join(json.dumps(row) for row in result[key])
            out.write(f'"{key}": [\n{rows}\n]{"," if i == 0 else ""}\n')
        out.write("}\n")


if __name__ == "__main__":
    main()

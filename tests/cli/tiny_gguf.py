# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes tiny llama models as GGUF files, with nothing but the standard library.

The vocabulary is byte-level: token id = byte, then three control tokens. Weights are random, the same every time.
"""
import random
import struct

U32, F32, STRING, ARRAY, I32 = 4, 6, 8, 9, 5
END_TOKEN = 258
VOCABULARY = 259
CHAT_TEMPLATE = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + "
                 "'<|im_end|>' + '\\n' }}{% endfor %}"
                 "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")


def byte_symbol(byte):
    """The printable character that GPT-2's vocabulary shows for a byte."""
    kept = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174]
    return chr(byte) if byte in kept else chr(256 + [b for b in range(256) if b not in kept].index(byte))


def _string(text):
    raw = text.encode("utf-8")
    return struct.pack("<Q", len(raw)) + raw


def _entry(key, kind, value):
    if kind == STRING:
        return _string(key) + struct.pack("<I", STRING) + _string(value)
    return _string(key) + struct.pack("<I", kind) + struct.pack("<I" if kind == U32 else "<f", value)


def _list(key, kind, values):
    head = _string(key) + struct.pack("<IIQ", ARRAY, kind, len(values))
    return head + b"".join(_string(v) if kind == STRING else struct.pack("<i", v) for v in values)


def tiny_model(context=128, tensor_type=0, layers=1, width=32, heads=2, kv_heads=1, feed_forward=64, padding=None,
               chat_template=CHAT_TEMPLATE, missing_bytes=b""):
    """The bytes of a model. A `tensor_type` other than 0 (F32) is written into the first tensor's entry only."""
    head_size = width // heads
    pieces = [f"<unused{b}>" if b in missing_bytes else byte_symbol(b) for b in range(256)]
    pieces += ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    entries = [
        _entry("general.architecture", STRING, "llama"),
        _entry("general.name", STRING, "Tiny"),
        _entry("llama.context_length", U32, context),
        _entry("llama.embedding_length", U32, width),
        _entry("llama.block_count", U32, layers),
        _entry("llama.feed_forward_length", U32, feed_forward),
        _entry("llama.attention.head_count", U32, heads),
        _entry("llama.attention.head_count_kv", U32, kv_heads),
        _entry("llama.attention.layer_norm_rms_epsilon", F32, 1e-5),
        _entry("tokenizer.ggml.model", STRING, "gpt2"),
        _entry("tokenizer.ggml.pre", STRING, "smollm"),
        _list("tokenizer.ggml.tokens", STRING, pieces),
        _list("tokenizer.ggml.token_type", I32, [1] * 256 + [3] * 3),
        _list("tokenizer.ggml.merges", STRING, []),
        _entry("tokenizer.ggml.bos_token_id", U32, 257),
        _entry("tokenizer.ggml.eos_token_id", U32, END_TOKEN),
        _entry("tokenizer.chat_template", STRING, chat_template),
    ]
    if padding is not None:
        entries.append(_entry("tokenizer.ggml.padding_token_id", U32, padding))
    shapes = [("token_embd.weight", (width, VOCABULARY)), ("output_norm.weight", (width,))]
    for layer in range(layers):
        shapes += [(f"blk.{layer}.{name}.weight", shape) for name, shape in [
            ("attn_norm", (width,)), ("attn_q", (width, heads * head_size)), ("attn_k", (width, kv_heads * head_size)),
            ("attn_v", (width, kv_heads * head_size)), ("attn_output", (heads * head_size, width)),
            ("ffn_norm", (width,)), ("ffn_gate", (width, feed_forward)), ("ffn_up", (width, feed_forward)),
            ("ffn_down", (feed_forward, width))]]
    numbers = random.Random(1)
    infos, data = [], b""
    for index, (name, shape) in enumerate(shapes):
        kind = tensor_type if index == 0 else 0
        infos.append(_string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, len(data)))
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        values = [1.0] * count if len(shape) == 1 else [numbers.uniform(-0.5, 0.5) for _ in range(count)]
        data += struct.pack(f"<{count}f", *values)
        data += b"\0" * (-len(data) % 32)
    header = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(entries)) + b"".join(entries) + b"".join(infos)
    return header + b"\0" * (-len(header) % 32) + data

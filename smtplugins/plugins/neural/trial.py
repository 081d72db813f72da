"""Tiny models for the conformance kit and for tests: ONNX files of a few kB, written without the library onnx.

They are sums of embeddings, so that numpy computes the same: `h` is tanh of a sum over the tokens that a position sees.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LETTERS = " .,'abcdefghijklmnopqrstuvwxyz"
WORDS = len(SPECIAL) + len(LETTERS)
DIMENSIONS = 6
_FLOAT, _INT64 = 1, 7


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def _field(number: int, value: int | str | bytes) -> bytes:
    """A field of a protocol buffer message."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _tensor(name: str, array: NDArray[Any]) -> bytes:
    kind = _FLOAT if array.dtype.kind == "f" else _INT64
    data = array.astype("<f4" if kind == _FLOAT else "<i8").tobytes()
    dims = b"".join(_field(1, size) for size in array.shape)
    return dims + _field(2, kind) + _field(8, name) + _field(9, data)


def _value(name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    dims = b"".join(_field(1, _field(1 if isinstance(size, int) else 2, size)) for size in shape)
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, dims)))


def _node(line: str) -> bytes:
    """A node, written as ``output = Operation(input, ..., attribute=number)``."""
    output, _, call = line.partition(" = ")
    operation, _, rest = call.rstrip(")").partition("(")
    parts = [part.strip() for part in rest.split(",")]
    found = b"".join(_field(1, part) for part in parts if "=" not in part) + _field(2, output) + _field(4, operation)
    for part in parts:
        name, equals, number = part.partition("=")
        if equals:
            found += _field(5, _field(1, name) + _field(3, int(number)) + _field(20, 2))
    return found


def write_onnx(
    path: Path,
    nodes: Sequence[str],
    weights: Mapping[str, NDArray[Any]],
    inputs: Mapping[str, Sequence[int | str]],
    outputs: Mapping[str, Sequence[int | str]],
) -> None:
    """Write an ONNX file. Inputs hold whole numbers, but for those whose shape has a number; outputs hold floats."""
    graph = b"".join(_field(1, _node(line)) for line in nodes) + _field(2, path.stem)
    graph += b"".join(_field(5, _tensor(name, array)) for name, array in weights.items())
    for name, shape in inputs.items():
        kind = _FLOAT if any(isinstance(size, int) for size in shape) else _INT64
        graph += _field(11, _value(name, kind, shape))
    graph += b"".join(_field(12, _value(name, _FLOAT, shape)) for name, shape in outputs.items())
    path.write_bytes(_field(1, 8) + _field(8, _field(1, "") + _field(2, 17)) + _field(7, graph))


def tiny_weights(seed: int = 1, kinds: int = 2) -> dict[str, NDArray[Any]]:
    """Embeddings of tokens and kinds of text, weights of words, a weight of each dimension, and the axis 1."""
    import numpy as np

    random = np.random.default_rng(seed)

    def draw(*shape: int) -> NDArray[Any]:
        return random.normal(size=shape).astype(np.float32)

    return {
        "E": draw(WORDS, DIMENSIONS) / 2,
        "K": draw(kinds, DIMENSIONS) / 2,
        "W": draw(DIMENSIONS, WORDS),
        "v": draw(DIMENSIONS, 1),
        "axis": np.array([1]),
        "last": np.array([2]),
    }


def tiny_tokenizer(folder: Path, framed: bool, limit: int = 512) -> None:
    """Write a tokenizer of characters, with [CLS] and [SEP] around texts if ``framed``, and the settings beside it."""
    words = {word: i for i, word in enumerate([*SPECIAL, *LETTERS])}
    a, b = ({"Sequence": {"id": "AB"[kind], "type_id": kind}} for kind in (0, 1))
    first, *ends = ({"SpecialToken": {"id": word, "type_id": kind}} for word, kind in
                    (("[CLS]", 0), ("[SEP]", 0), ("[SEP]", 1)))  # fmt: skip
    special = {word: {"id": word, "ids": [words[word]], "tokens": [word]} for word in ("[CLS]", "[SEP]")}
    frame = {
        "type": "TemplateProcessing",
        "single": [first, a, ends[0]],
        "pair": [first, a, ends[0], b, ends[1]],
        "special_tokens": special,
    }
    marks = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    tokenizer = {
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0},
        "padding": None,
        "added_tokens": [{"id": words[word], "content": word, **marks} for word in SPECIAL],
        "normalizer": None,
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "."}, "behavior": "Isolated", "invert": False},
        "post_processor": frame if framed else None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": words, "unk_token": "[UNK]"},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    settings = {"mask_token": "[MASK]", "pad_token": "[PAD]", "bos_token": "[CLS]", "eos_token": {"content": "[SEP]"}}
    (folder / "tokenizer_config.json").write_text(json.dumps({**settings, "model_max_length": limit}), encoding="utf-8")
    config = {"decoder_start_token_id": words["[PAD]"], "max_position_embeddings": limit}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")


_INPUTS = {"input_ids": ("batch", "length"), "attention_mask": ("batch", "length")}
_EMBEDDED = [
    "e = Gather(E, input_ids)",
    "f = Cast(attention_mask, to=1)",
    "m = Unsqueeze(f, last)",
    "em = Mul(e, m)",
]
_SUM = "s = ReduceSum(em, axis, keepdims=1)"


def tiny_lm(folder: Path) -> dict[str, Any]:
    """A causal language model: the sum over the tokens so far."""
    tiny_tokenizer(folder, framed=False)
    nodes = [*_EMBEDDED, "c = CumSum(em, one)", "h = Tanh(c)", "logits = MatMul(h, W)"]
    write_onnx(folder / "model.onnx", nodes, _with_one(), _INPUTS, {"logits": ("batch", "length", WORDS)})
    return {"path": folder}


def tiny_masked(folder: Path) -> dict[str, Any]:
    """A masked language model: the token and the sum over all tokens."""
    tiny_tokenizer(folder, framed=True)
    nodes = [*_EMBEDDED, _SUM, "a = Add(e, s)", "h = Tanh(a)", "logits = MatMul(h, W)"]
    write_onnx(folder / "model.onnx", nodes, tiny_weights(), _INPUTS, {"logits": ("batch", "length", WORDS)})
    return {"path": folder, "kind": "masked"}


def tiny_seq2seq(folder: Path) -> dict[str, Any]:
    """An encoder of single tokens; a decoder that adds the sum of its states to that of the tokens so far."""
    tiny_tokenizer(folder, framed=True)
    states = ("batch", "length", DIMENSIONS)
    embedded = ["last_hidden_state = Gather(E, input_ids)"]
    write_onnx(folder / "encoder_model.onnx", embedded, tiny_weights(), _INPUTS, {"last_hidden_state": states})
    nodes = [
        "f = Cast(encoder_attention_mask, to=1)",
        "m = Unsqueeze(f, last)",
        "em = Mul(encoder_hidden_states, m)",
        _SUM,
        "e = Gather(E, input_ids)",
        "c = CumSum(e, one)",
        "a = Add(c, s)",
        "h = Tanh(a)",
        "logits = MatMul(h, W)",
    ]
    inputs = {
        "encoder_attention_mask": ("batch", "source"),
        "input_ids": ("batch", "length"),
        "encoder_hidden_states": ("batch", "source", DIMENSIONS),
    }
    write_onnx(folder / "decoder_model.onnx", nodes, _with_one(), inputs, {"logits": ("batch", "length", WORDS)})
    return {"path": folder}


def tiny_encoder(folder: Path) -> dict[str, Any]:
    """A sentence encoder: each token and the sum over all."""
    tiny_tokenizer(folder, framed=True)
    nodes = [*_EMBEDDED, _SUM, "a = Add(e, s)", "last_hidden_state = Tanh(a)"]
    outputs = {"last_hidden_state": ("batch", "length", DIMENSIONS)}
    write_onnx(folder / "model.onnx", nodes, tiny_weights(), _INPUTS, outputs)
    return {"path": folder}


def tiny_quality(folder: Path) -> dict[str, Any]:
    """A regression head on the sum over tokens, each with the kind of its text."""
    tiny_tokenizer(folder, framed=True)
    nodes = [
        "w = Gather(E, input_ids)",
        "k = Gather(K, token_type_ids)",
        "p = Mul(w, k)",
        "f = Cast(attention_mask, to=1)",
        "m = Unsqueeze(f, last)",
        "em = Mul(p, m)",
        "s = ReduceSum(em, axis, keepdims=0)",
        "h = Tanh(s)",
        "logits = MatMul(h, v)",
    ]
    inputs = {**_INPUTS, "token_type_ids": ("batch", "length")}
    write_onnx(folder / "model.onnx", nodes, tiny_weights(), inputs, {"logits": ("batch", 1)})
    return {"path": folder}


def _with_one() -> dict[str, NDArray[Any]]:
    import numpy as np

    return {**tiny_weights(), "one": np.array(1)}


_WORKER = """
import os


def load():
    def one(hyp, refs):
        return max(len(os.path.commonprefix([ref, hyp])) / (1 + max(len(ref), len(hyp))) for ref in refs)

    return lambda items: [one(item["hyp"], item.get("refs") or [item["hyp"]]) for item in items]
"""


def tiny_worker(folder: Path) -> dict[str, Any]:
    """A worker: the share of the characters that hypothesis and reference have in common at their starts."""
    path = folder / "tiny_worker.py"
    path.write_text(_WORKER, encoding="utf-8")
    return {"worker": str(path)}

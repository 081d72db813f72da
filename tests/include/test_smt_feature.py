"""The header for native features: it compiles as C and as C++, and a table in C keeps the contract that the kit checks.

The table is called here through ctypes, as a decoder would call it: states in memory that is aligned and zeroed,
batches as arrays, a clone for each sentence.
"""

from __future__ import annotations

import ctypes
import itertools
import shutil
import subprocess
import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtplugins import Offer
from smtplugins.contracts.adapters import SimpleStateful
from smtplugins.contracts.data import Sentence
from smtplugins.core.grammar.rules import Edges, Rules
from smtplugins.core.vocabulary import Vocabulary
from smtplugins.include import get_include
from smtplugins.testing import run_checks, samples

SOURCE = Path(__file__).resolve().parents[2] / "examples/plugin-template/native/repetition.c"
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-I", get_include()]

pytestmark = pytest.mark.skipif(not (shutil.which("cc") and shutil.which("c++")), reason="needs a C and C++ compiler")


class Error(ctypes.Structure):
    _fields_ = (("message", ctypes.c_char * 512),)


class Words(ctypes.Structure):
    pass


WORD = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Words), ctypes.c_int32, ctypes.POINTER(ctypes.c_size_t))
FIND = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(Words), ctypes.c_char_p, ctypes.c_size_t)
Words._fields_ = (("self", ctypes.c_void_p), ("serial", ctypes.c_uint64), ("word", WORD), ("find", FIND))


class SentenceRecord(ctypes.Structure):
    _fields_ = (
        ("id", ctypes.c_char_p),
        ("tokens", ctypes.POINTER(ctypes.c_char_p)),
        ("token_count", ctypes.c_int64),
        ("annotation_names", ctypes.POINTER(ctypes.c_char_p)),
        ("annotation_values", ctypes.POINTER(ctypes.c_char_p)),
        ("annotation_count", ctypes.c_int64),
        ("words", ctypes.POINTER(Words)),
    )


class EdgesRecord(ctypes.Structure):
    _fields_ = (
        ("count", ctypes.c_int64),
        ("target", ctypes.c_void_p),
        ("target_offsets", ctypes.c_void_p),
        ("tails", ctypes.c_void_p),
        ("tail_offsets", ctypes.c_void_p),
    )


class Table(ctypes.Structure):
    pass


TABLE, ERROR, EDGES = ctypes.POINTER(Table), ctypes.POINTER(Error), ctypes.POINTER(EdgesRecord)
Table._fields_ = (
    ("version", ctypes.c_uint32),
    ("size", ctypes.c_uint32),
    ("self", ctypes.c_void_p),
    ("components", ctypes.c_int32),
    ("component_names", ctypes.c_void_p),
    ("state_size", ctypes.c_size_t),
    ("clone", ctypes.CFUNCTYPE(TABLE, TABLE, ERROR)),
    ("release", ctypes.CFUNCTYPE(None, TABLE)),
    ("start", ctypes.CFUNCTYPE(ctypes.c_int, TABLE, ctypes.POINTER(SentenceRecord), ERROR)),
    ("combine_batch", ctypes.CFUNCTYPE(ctypes.c_int, TABLE, EDGES, ctypes.c_void_p, ctypes.c_void_p, ERROR)),
    ("finish", ctypes.CFUNCTYPE(ctypes.c_int, TABLE, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ERROR)),
    ("estimate", ctypes.CFUNCTYPE(ctypes.c_int, TABLE, EDGES, ctypes.c_void_p, ERROR)),
)


class Native:
    """A table as a StatefulFeature."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def start(self, sentence: Sentence) -> NativeScorer:
        return NativeScorer(self.table, sentence)


class NativeScorer:
    """A clone at work on one sentence; a state is its bytes."""

    def __init__(self, prototype: Any, sentence: Sentence) -> None:
        self.vocabulary = Vocabulary()
        self.error = Error()
        self.clone = prototype.contents.clone(prototype, self.error)
        assert self.clone
        weakref.finalize(self, self.clone.contents.release, self.clone)
        self.texts: dict[int, Any] = {}
        self.words = Words(None, 1, WORD(self.word), FIND(lambda words, text, length: -1))
        tokens = (ctypes.c_char_p * len(sentence.tokens))(*(token.encode() for token in sentence.tokens))
        self.sentence = SentenceRecord(
            sentence.id.encode(), tokens, len(tokens), None, None, 0, ctypes.pointer(self.words)
        )
        self.call("start", self.sentence)

    def word(self, words: Any, number: int, length: Any) -> int | None:
        if not 0 <= number < len(self.vocabulary):
            return None
        text = self.vocabulary.word(number).encode()
        length[0] = len(text)
        self.texts.setdefault(number, ctypes.create_string_buffer(text))
        return ctypes.addressof(self.texts[number])

    def call(self, name: str, *given: Any) -> None:
        assert getattr(self.clone.contents, name)(self.clone, *given, self.error) == 0, self.error.message

    def batch(self, edges: Edges, tails: Sequence[Sequence[bytes]] | None) -> tuple[EdgesRecord, Any]:
        self.vocabulary = edges.rules.vocabulary
        rules = edges.rules
        target = np.ascontiguousarray(rules.target, dtype=np.int32)
        offsets = np.ascontiguousarray(rules.offsets, dtype=np.int64)
        record = EdgesRecord(len(edges), target.ctypes.data, offsets.ctypes.data, None, None)
        if tails is None:
            return record, (target, offsets)
        # uint64, so that every state is aligned.
        copies = [np.frombuffer(state, dtype=np.uint64).copy() for row in tails for state in row]
        pointers = np.array([copy.ctypes.data for copy in copies] or [0], dtype=np.uintp)
        first = np.concatenate([[0], np.cumsum([len(row) for row in tails])]).astype(np.int64)
        record.tails, record.tail_offsets = pointers.ctypes.data, first.ctypes.data
        return record, (target, offsets, copies, pointers, first)

    def combine(self, edges: Edges, tails: Sequence[Sequence[bytes]]) -> tuple[Any, list[bytes]]:
        record, kept = self.batch(edges, tails)
        width = self.clone.contents.state_size
        scores = np.full(len(edges), np.nan)
        states = np.zeros(len(edges) * width // 8, dtype=np.uint64)
        self.call("combine_batch", record, scores.ctypes.data, states.ctypes.data)
        assert kept
        return scores, [states.tobytes()[i * width : (i + 1) * width] for i in range(len(edges))]

    def finish(self, states: Sequence[bytes]) -> Any:
        assert not self.clone.contents.finish
        return np.zeros(len(states))

    def estimate(self, edges: Edges) -> Any:
        record, kept = self.batch(edges, None)
        scores = np.full(len(edges), np.nan)
        self.call("estimate", record, scores.ctypes.data)
        assert kept
        return scores


class Repetition(SimpleStateful):
    """The same feature in Python."""

    def combine_one(self, target: Sequence[str | int], tails: Sequence[Any]) -> tuple[float, Any]:
        parts = [tails[one] if isinstance(one, int) else (one, one) for one in target]
        parts = [part for part in parts if part]
        repeated = sum(
            left[1] == right[0] and not (len(right[0].encode()) == 1 and not right[0].isalnum())
            for left, right in itertools.pairwise(parts)
        )
        return float(repeated), (parts[0][0], parts[-1][1]) if parts else ()


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The prototype of the example."""
    path = tmp_path_factory.mktemp("native") / "repetition.so"
    subprocess.run(["cc", "-std=c99", *WARNINGS, "-shared", "-fPIC", SOURCE, "-o", path], check=True)
    library = ctypes.CDLL(str(path))
    library.example_repetition.restype = TABLE
    return library.example_repetition()


def total(feature: Any, words: Sequence[str], cut: int) -> tuple[float, Any]:
    """Score and state of a string put together from two edges and a child."""
    scorer = feature.start(Sentence("0", ("ja",)))
    vocabulary = Vocabulary()
    scores, states = scorer.combine(Edges(Rules.from_targets([words[cut:]], vocabulary)), [()])
    more, after = scorer.combine(Edges(Rules.from_targets([[*words[:cut], 0]], vocabulary)), [states])
    return float(scores[0] + more[0]), after[0]


def test_the_header_compiles_alone_as_c_and_as_cpp(tmp_path: Path) -> None:
    for command, name in ((["cc", "-std=c99"], "one.c"), (["c++", "-std=c++17"], "one.cpp")):
        (tmp_path / name).write_text('#include "smt_feature.h"\nsmt_feature_v1 *unused(void);\n')
        subprocess.run([*command, *WARNINGS, "-fsyntax-only", tmp_path / name], check=True)


def test_the_table_describes_itself(table: Any) -> None:
    one = table.contents
    assert (one.version, one.size, one.components) == (1, ctypes.sizeof(Table), 1)
    assert one.state_size % 8 == 0
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    name = b"smt_feature_v1"
    made = capsule(table, name, None)
    inside = ctypes.pythonapi.PyCapsule_GetPointer
    inside.restype, inside.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    assert inside(made, name) == ctypes.addressof(one)


def test_a_table_passes_the_kit(table: Any, tmp_path: Path) -> None:
    offer = Offer(name="repetition", make=lambda: Native(table), summary="in C", needs=frozenset({"target"}))
    results = run_checks("features", offer, tmp_path)
    assert [one for one in results if not one.ok] == []
    assert {"bracketing_does_not_matter", "equal_states_have_equal_futures"} <= {one.check for one in results}


def test_c_and_python_agree(table: Any) -> None:
    strings = [*samples.strings(count=60), ["a", "a", ".", ".", "é", "é", "a", "!", "!", "b", "b"], []]
    for words in strings:
        for cut in (0, len(words) // 2, len(words)):
            expected, _ = total(Repetition(), words, cut)
            assert total(Native(table), words, cut)[0] == expected
    assert total(Native(table), strings[-2], 3)[0] == 3
    assert total(Native(table), ["a", "b", "a"], 1)[1] == total(Native(table), ["a", "b", "b", "a"], 2)[1]


def test_clones_work_in_threads_of_their_own(table: Any) -> None:
    strings = samples.strings(seed=7, count=120)
    expected = [total(Repetition(), words, 1) for words in strings]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda words: total(Native(table), words, 1), strings))
    assert [score for score, _ in found] == [score for score, _ in expected]

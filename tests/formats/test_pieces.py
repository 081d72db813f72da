"""A stream of pieces has their content; compressed and corrupt files are tested in grammar/test_lines.py."""

from __future__ import annotations

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats.pieces import PIECE_BYTES, pieces, stream_of


@given(st.lists(st.binary(max_size=5), max_size=6))
def test_streams_join_pieces(parts: list[bytes]) -> None:
    whole = b"".join(parts)
    assert stream_of(iter(parts)).read() == whole
    assert list(stream_of(iter(parts))) == io.BytesIO(whole).readlines()


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "packed"])
def test_pieces_are_small_and_whole(pack: type[bytes]) -> None:
    data = bytes(range(256)) * 8192
    parts = list(pieces(io.BytesIO(pack(data))))
    assert b"".join(parts) == data
    assert max(map(len, parts)) <= PIECE_BYTES

"""The lines of a decoding."""

from __future__ import annotations

from pathlib import Path

import pytest

from smtplugins.contracts.decoders import Decoding
from smtplugins.host.decode.printing.lines import Printing


def test_what_no_file_is_for_is_not_computed(tmp_path: Path) -> None:
    def unknown() -> list[str]:
        raise AssertionError("asked")

    decoding = Decoding(id="0", best="a b", score=-1.0, features={}, unknown=unknown)
    line = Printing().line(decoding, None)
    assert (line.text, line.beside) == ("a b", {})
    with pytest.raises(AssertionError, match="asked"):
        Printing(files={"unknowns": tmp_path / "unknown"}).line(decoding, None)

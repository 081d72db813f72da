"""Weights that fit the features of a configuration, and such as do not."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.cli.systems.decode.systems import PHRASE_TABLE, PHRASES, Smt


class TestWeights:
    """Weights that fit the features of a configuration, and such as do not."""

    def test_names_of_no_feature(self, smt: Smt, tmp_path: Path) -> None:
        for name, text in (("m.ini", PHRASES), ("phrases", PHRASE_TABLE)):
            Path(name).write_text(text)
        Path("w").write_text("LM0 0.5\nTM0[0] 1\nlm0 2\nTM0[2] 1\n")
        for jobs in (1, 2):
            found = smt("decode", "-c", "m.ini", "-w", "w", "-j", jobs, "-o", "out", stdin="der koch\n")
            assert (found.code, Path("out").exists()) == (2, False)
            assert found.err.splitlines()[-1] == (
                "smt: w: weights of unknown features: 'lm0' (line 3, the nearest is 'LM0'), 'TM0[2]' (line 4, the "
                "nearest is 'TM0[1]'); correct or remove the names"
            )

    def test_what_has_none_is_named_component_by_component(self, smt: Smt) -> None:
        for name, text in (("m.ini", PHRASES), ("phrases", PHRASE_TABLE)):
            Path(name).write_text(text)
        Path("w").write_text("LM0 0.5\nTM0[0] 1\n")
        found = smt("decode", "-c", "m.ini", "-w", "w", stdin="der koch\n")
        assert (found.code, found.out) == (0, "the cook\n")
        assert found.err == (
            "smt: note: features without a weight count 0: UnknownWordPenalty0, WordPenalty0, PhrasePenalty0, TM0[1], "
            "Distortion0\n"
        )

    def test_too_large_a_weight(self, smt: Smt) -> None:
        for name, text in (("m.ini", PHRASES.replace("LM0= 0.5", "LM0= 1e39")), ("phrases", PHRASE_TABLE)):
            Path(name).write_text(text)
        found = smt("decode", "-c", "m.ini", stdin="der koch\n")
        assert (found.code, found.out) == (1, "")
        assert found.err.endswith("m.ini:18: expected a weight of LM0 that fits 32-bit floats, found 1e+39\n")

    def test_learning_begins_with_weights_of_features(self, smt: Smt) -> None:
        Path("w").write_text("LM 1\nWordPenalti 1\n")
        arguments = ("tune", "-c", "run.yaml", "-s", "source.de", "-r", "reference.en", "--dir", "out", "-w", "w")
        shutil.copy("source.de", "reference.en")
        found = smt(*arguments)
        assert (found.code, Path("out").exists()) == (2, False)
        assert "w: weights of unknown features: 'WordPenalti' (line 2, the nearest is 'WordPenalty')" in found.err

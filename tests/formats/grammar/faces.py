"""What the tests of grammars share: a format read by both its faces, which have to say the same."""

from __future__ import annotations

import io
import re
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from smtformats import FormatError
from smtformats.files import MAX_LINE_BYTES, Lines
from smtformats.format import Format, shortest
from smtformats.grammar.rules import Rule


def plain(rule: Rule) -> Rule:
    """What columns keep of a rule."""
    features = rule.features()
    values = tuple(float(np.float32(value)) for value in features.values())
    return Rule(rule.lhs, rule.source, rule.target, tuple(features), values, rule.alignment, level=rule.level)


class Faces:
    """A grammar format; what is read is read by records and into columns, and has to be the same."""

    def __init__(self, module: ModuleType) -> None:
        self.format: Format = module.FORMAT

    def read(self, text: str | bytes, max_bytes: int = MAX_LINE_BYTES, **options: Any) -> list[Rule]:
        data = text.encode() if isinstance(text, str) else text
        assert self.format.parse is not None
        assert self.format.load is not None
        error = None
        rules: list[Rule] = []
        try:
            rules.extend(self.format.parse(Lines(io.BytesIO(data), "x", max_bytes=max_bytes), **options))
        except FormatError as caught:
            error = caught
        if error is not None:
            with pytest.raises(FormatError, match=f"^{re.escape(str(error))}$"):
                self.format.load(io.BytesIO(data), "x", max_bytes=max_bytes, **options)
            raise error
        columns = self.format.load(io.BytesIO(data), "x", max_bytes=max_bytes, **options)
        actual = [columns.rule(i) for i in range(len(columns))]
        wanted = [plain(rule) for rule in rules]
        assert actual == wanted
        assert [list(map(repr, rule.values)) for rule in actual] == [list(map(repr, rule.values)) for rule in wanted]
        return rules

    def rule(self, text: str, **options: Any) -> Rule:
        (rule,) = self.read(text, **options)
        return rule

    def error(self, text: str | bytes, **options: Any) -> str:
        with pytest.raises(FormatError) as caught:
            self.read(text, **options)
        return str(caught.value)

    def written(self, rules: list[Rule], **options: Any) -> str:
        out = io.StringIO()
        assert self.format.write is not None
        assert self.format.write(rules, out, shortest, **options) == len(rules)
        return out.getvalue()

    def again(self, text: str, **options: Any) -> Rule:
        """A rule of a line, composed anew and read again."""
        rule = self.rule(text, **options)
        return self.rule(self.written([rule.with_features(rule.names, rule.values)]), **options)

"""The content of the formats' pages; tests/test_docs.py compares their texts."""

from __future__ import annotations

import inspect
import io

import pytest

from smtformats import Format, all_formats
from smtplugins.host.files.opening import format_options
from tests.formats.pages import documentation

PAGES = documentation()


@pytest.mark.parametrize("record", all_formats(), ids=lambda record: record.name)
def test_pages_tell_of_every_option(record: Format) -> None:
    text, _, options = PAGES[f"pages/{record.name}.md"].partition("\n## Options\n")
    listed = {line.split("`")[1] for line in options.split("\n## ")[0].split("\n") if line.startswith("| `")}
    assert listed == set(format_options(record))
    assert not {
        name for name in listed if f"`{name}`" not in text and f"`{name}=" not in text and f"{name}=" not in text
    }


def test_columns_are_loaded_with_the_options_of_records() -> None:
    for record in all_formats():
        if record.load is not None:
            assert record.parse is not None
            parameters = inspect.signature(record.parse).parameters.values()
            options = {option.name: option.default for option in parameters if option.kind is option.KEYWORD_ONLY}
            signature = inspect.signature(record.load)
            signature.bind(*["x"] * (1 if record.folder else 2), **options)
            taken = {option.name for option in signature.parameters.values() if option.kind is option.KEYWORD_ONLY}
            assert taken - {"max_bytes"} <= set(options), record.name
            if record.example:
                assert len(record.load(io.BytesIO(record.example.encode()), "x", **options))
                with pytest.raises(TypeError):
                    record.load(io.BytesIO(record.example.encode()), "x", **options, unknown=1)

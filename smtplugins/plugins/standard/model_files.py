"""Tell files of models by their contents, for new configurations: the options with which features use them."""

from __future__ import annotations

from pathlib import Path

from smtformats.files import head, open_bytes
from smtformats.reordering.models import ReorderingModel
from smtformats.reordering.moses import FORMAT
from smtformats.tokens import BadField
from smtplugins.contracts.tools.language_models import lm_format


def language_model(path: Path) -> dict[str, str] | None:
    """The options of ``lm`` for an ARPA or KenLM file."""
    return {"path": str(path)} if path.is_file() and lm_format(path) else None


def reordering_table(path: Path) -> dict[str, str] | None:
    """The options of ``lexical-reordering`` for a table; the name of its model is a part of the file's, as in Moses."""
    if not path.is_file() or not _is_reordering(path):
        return None
    models = [part for part in path.name.split(".") if _is_model(part)]
    return {"path": str(path), **({"model": models[0]} if models else {})}


def _is_reordering(path: Path) -> bool:
    with open_bytes(path) as stream:
        return FORMAT.matches(head(stream, str(path)))


def _is_model(name: str) -> bool:
    try:
        ReorderingModel.parse(name)
    except BadField:
        return False
    return True

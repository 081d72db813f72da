"""Read run.yaml files in which ``model.grammar`` lists the tables and a feature describes each of them.

``model.tables`` has both. The values are translated before they are bound, so nothing else knows the old spelling.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec, checked, convert

OLD_KEYS = {"grammar": "tables", "translation-model": "tables"}
"""Keys of ``model`` and names of its features that are read as another key of ``model``."""
_LIST, _FEATURE = OLD_KEYS

Key = tuple[str, ...]


class _Described(dict[str, Any]):
    """A table with the options of the feature that describes it; a later feature may replace them."""


def translate(
    model: dict[str, Any], folder: Path, error: Callable[[Key, str], Exception], *, replaced: bool = False
) -> tuple[dict[Key, Key], tuple[str, ...]]:
    """Replace the old keys of ``model`` by ``tables``; return the keys that entries had, and the old keys found.

    ``error`` makes an error at a key. Paths are relative to ``folder``. With ``replaced`` the list of tables is an
    override: tables that are in it keep their options, and a table that has a name must be in it.
    """
    features = _listed(model.get("features"))
    described = {i: spec for i, value in enumerate(features) if (spec := _describing(value)) is not None}
    if _LIST not in model and not described:
        return {}, ()
    places: dict[Key, Key] = {}
    found = []
    tables = _listed(model.get("tables"))
    if _LIST in model:
        if model[_LIST] is None:
            raise error(("model", _LIST), "expected a path, found None")
        if tables and not replaced:
            raise error(("model", _LIST), f"expected all tables in model.tables, found model.{_LIST} beside it")
        found.append(f"model.{_LIST}")
        known = {_path(entry, folder): entry for entry in tables}
        if len(known) < len(tables):
            raise error(("model", _LIST), "two tables of the model have one path: set model.tables instead")
        given = _listed(model.pop(_LIST))
        left_out = known.keys() - {_path(entry, folder) for entry in given}
        for path, table in known.items():
            if path is not None and path in left_out and isinstance(table, Mapping) and table.get("name"):
                text = f"expected {table['path']} too, which the model describes as {table['name']!r}; "
                raise error(("model", _LIST), text + "to leave it out, set model.tables")
        tables = [known.get(_path(entry, folder), entry) for entry in given]
        places = {("model", "tables", str(i)): ("model", _LIST, str(i)) for i in range(len(tables))}
    done: set[str] = set()
    for i, spec in described.items():
        try:
            _describe(tables, spec, i, folder, done)
        except UsageError as wrong:
            raise error(("model", "features", str(i)), str(wrong)) from None
    if described:
        found.append(_FEATURE)
        rest = [i for i in range(len(features)) if i not in described]
        model["features"] = [features[i] for i in rest]
        places |= {("model", "features", str(new)): ("model", "features", str(old)) for new, old in enumerate(rest)}
    model["tables"] = tables
    return places, tuple(found)


def old_key_notes(file: str, old: Iterable[str], plain: Any) -> tuple[str, ...]:
    """A note that has the new spelling of the old keys of a file, if there are any."""
    if not (found := list(old)):
        return ()
    import yaml

    tables = [dict(table) if isinstance(table, Mapping) else table for table in plain["model"]["tables"]]
    shown = yaml.safe_dump(tables, default_flow_style=True, sort_keys=False, allow_unicode=True, width=math.inf)
    return (f"{file}: {' and '.join(found)}: write model.tables: {shown.strip()}",)


def _describing(value: Any) -> Spec | None:
    """The feature that describes a table; ``None`` for anything else."""
    try:
        spec = Spec.of(value) if isinstance(value, (str, Mapping, Spec)) else None
    except UsageError:
        return None
    return spec if spec is not None and spec.name == _FEATURE else None


def _describe(tables: list[Any], spec: Spec, position: int, folder: Path, done: set[str]) -> None:
    """Move a feature's options, and its position among the features, to the table that it describes.

    ``done`` are the paths of the tables that features before it describe.
    """
    what = f"feature {spec.name!r}"
    options = dict(spec.options)
    name = str(options.pop("name", spec.name))
    tuneable = convert(options.pop("tuneable", True), bool, f"{what}: tuneable")
    fields = checked(what, _options, options)
    path = _path(fields.pop("path"), folder)
    for i, table in enumerate(tables):
        if path is not None and _path(table, folder) == path:
            if path in done:
                raise UsageError(f"feature {name!r} describes {path}, which a feature before it describes")
            if isinstance(table, Mapping) and not isinstance(table, _Described):
                raise UsageError(f"feature {name!r} describes {path}, which model.tables describes: change it there")
            done.add(path)
            spelt = table["path"] if isinstance(table, Mapping) else table
            tables[i] = _Described({"path": spelt, "name": name, **fields, "position": position})
            if not tuneable:
                tables[i]["tuneable"] = False
            return
    raise UsageError(f"feature {name!r} describes {path}, which is not among the grammars of the model")


def _options(
    path: Path, *, scores: int | None = None, limit: int = 0, max_span: int | None = None, owner: str = ""
) -> None:
    """The options of the feature that described a table."""


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]


def _path(entry: Any, folder: Path) -> str | None:
    """The absolute path of a table; ``None`` for an entry that has none."""
    path = entry.get("path") if isinstance(entry, Mapping) else entry
    return os.path.normpath(folder / path) if isinstance(path, (str, Path)) else None

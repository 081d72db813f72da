"""The files that a command is made of, whose contents tell one version of it from another."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

_MOST = 10_000
"""A folder with more files is not looked at."""


def command_files(arguments: Sequence[str], note: Callable[[str], None] = lambda text: None) -> list[str]:
    """The program, and the files and folders that its arguments name, also inside ``--option=FILE`` and ``sh -c``.

    A Python program, or a module after ``-m``, has all ``.py`` files of its folder, from where it may import them. A
    folder that contains the current one, or too many files, is left out; of the latter ``note`` is told.
    """
    program = shutil.which(arguments[0])
    files = [] if program is None else [os.path.realpath(program)]
    for path in dict.fromkeys(_named(arguments[1:] if program else arguments)):
        if os.path.isfile(path):
            folder = Path(path).parent
            files += map(os.fspath, sorted(folder.glob("*.py"))) if path.endswith(".py") else [path]
        elif os.path.isdir(path) and not Path.cwd().is_relative_to(os.path.realpath(path)):
            if _is_small(path):
                files.append(path)
            else:
                note(
                    f"command {arguments[0]!r}: {path} has more than {_MOST} files, whose contents are not looked at: "
                    "set version= to tell versions apart"
                )
    return list(dict.fromkeys(map(os.path.abspath, files)))


def module_files(name: str) -> list[str]:
    """The ``.py`` files beside a module of the current folder or of ``$PYTHONPATH``; none if it is elsewhere."""
    for place in ("", *os.environ.get("PYTHONPATH", "").split(os.pathsep)):
        path = Path(place, *name.split("."))
        if path.with_name(f"{path.name}.py").is_file():
            return sorted(map(os.fspath, path.parent.glob("*.py")))
        if path.is_dir() and (found := sorted(map(os.fspath, path.glob("*.py")))):
            return found
    return []


def _named(arguments: Sequence[str]) -> Iterator[str]:
    """What may be a path in the words of a command."""
    for before, argument in zip(("", *arguments), arguments, strict=False):
        yield argument
        if before == "-m":
            yield from module_files(argument)
        elif argument.startswith("-") and "=" in argument:
            yield argument.partition("=")[2]
        elif any(char.isspace() for char in argument):
            with contextlib.suppress(ValueError):
                yield from _named(shlex.split(argument))


def _is_small(folder: str) -> bool:
    count = 0
    for _, _, names in os.walk(folder):
        count += len(names)
        if count > _MOST:
            return False
    return True

"""Read YAML text into nodes, which know their lines; errors of a run.yaml."""

from __future__ import annotations

from typing import Any

from smtplugins.contracts.errors import SmtError


class ConfigError(SmtError):
    """An error in a run.yaml."""

    def __init__(self, file: str, line: int | None, key: str, text: str) -> None:
        place = file + (f":{line}" if line is not None else "")
        super().__init__(f"{place}: {key}: {text}" if key else f"{place}: {text}")


def compose(data: bytes, name: str) -> Any:
    """The YAML node of a file."""
    import yaml

    try:
        node = yaml.compose(data.decode("utf-8"), Loader=yaml.SafeLoader)
    except UnicodeDecodeError as error:
        raise ConfigError(name, data[: error.start].count(b"\n") + 1, "", "expected UTF-8 text") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise ConfigError(name, line, "", f"expected YAML, found: {error.problem}") from None
    except yaml.reader.ReaderError as error:
        line = data.decode("utf-8")[: error.position].count("\n") + 1
        raise ConfigError(name, line, "", f"expected YAML, found an invalid character: {error.reason}") from None
    except RecursionError:
        raise ConfigError(name, None, "", "expected a run configuration, found brackets nested too deep") from None
    if node is None:
        raise ConfigError(name, 1, "", "expected a run configuration, found an empty file")
    return node

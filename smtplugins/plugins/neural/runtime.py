"""ONNX files opened on first use, in each process anew, and the error where the extra `neural` is not installed."""

from __future__ import annotations

import functools
import importlib.util
import os
import weakref
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats import FormatError
from smtplugins.contracts.errors import PluginError, UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MODULES = ("onnxruntime", "tokenizers")
_TYPES = {
    "tensor(int64)": "int64",
    "tensor(int32)": "int32",
    "tensor(float)": "float32",
    "tensor(float16)": "float16",
    "tensor(double)": "float64",
}


def require_extra(who: str) -> None:
    """Raise PluginError if the libraries of the extra are missing; imports none of them."""
    missing = [name for name in _MODULES if importlib.util.find_spec(name) is None]
    if missing:
        raise PluginError(f"{who} needs {' and '.join(missing)}: pip install 'smtplugins[neural]'")


def bad_file(path: Path, expected: str, found: str) -> FormatError:
    """The error for a file of a model."""
    return FormatError(expected, found, file=str(path))


def check_at_least(who: str, option: str, value: int, least: int) -> None:
    """Raise UsageError for an option below its least value."""
    if value < least:
        raise UsageError(f"{who}: {option}: expected a whole number from {least} on, found {value}")


class OnnxModel:
    """An ONNX file. ``run`` takes arrays by input name, casts them to the types of the inputs and returns outputs.

    It is opened on first use, and again after a fork: a session has threads, which a fork does not copy. ``threads``
    is the number of CPU threads, 0 for as many as there are cores.
    """

    def __init__(self, path: Path, threads: int = 0) -> None:
        self.path = path
        self._threads = threads
        self._session: Any = None
        _models.add(self)

    def forget(self) -> None:
        """Leave the session to another process: its end here would wait for threads that are there alone."""
        _others.append(self._session)
        self._session = None

    def _opened(self) -> Any:
        if self._session is None:
            # What is translated here is nobody else's business, not even how often.
            os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
            import onnxruntime

            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = self._threads
            options.log_severity_level = 3  # errors are raised
            # Threads that spin while they wait take twice the CPU time, and on a busy machine longer, too.
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            try:
                self._session = onnxruntime.InferenceSession(
                    str(self.path), options, providers=["CPUExecutionProvider"]
                )
            except Exception as error:
                text = " ".join(str(error).split())
                raise bad_file(self.path, "an ONNX model that onnxruntime opens", text) from None
        return self._session

    @functools.cached_property
    def inputs(self) -> dict[str, tuple[str, list[Any]]]:
        """The inputs by name: type and shape."""
        return {one.name: (one.type, list(one.shape)) for one in self._opened().get_inputs()}

    @functools.cached_property
    def outputs(self) -> dict[str, list[Any]]:
        """The shapes of the outputs by name."""
        return {one.name: list(one.shape) for one in self._opened().get_outputs()}

    def check_inputs(self, needed: Collection[str], allowed: Collection[str] = (), remedy: str = "") -> None:
        """Raise FormatError if needed inputs are missing, or others are there than those needed and allowed."""
        found = [name for name in self.inputs if not name.startswith("past_key_values.")]
        if not set(needed) <= set(found) <= {*needed, *allowed}:
            expected = f"inputs {', '.join(sorted(needed))}"
            if allowed:
                expected += f" and perhaps {', '.join(sorted(allowed))}"
            raise bad_file(self.path, expected, ", ".join(self.inputs) + (f"; {remedy}" if remedy else ""))

    def output(self, names: Sequence[str], remedy: str = "") -> str:
        """The first of some names that is an output; FormatError if there is none."""
        for name in names:
            if name in self.outputs:
                return name
        expected = f"an output {' or '.join(names)}"
        raise bad_file(self.path, expected, ", ".join(self.outputs) + (f"; {remedy}" if remedy else ""))

    def run(self, arrays: Mapping[str, NDArray[Any]], output: str) -> NDArray[Any]:
        """Run the model; arrays that are no input are left out, empty caches of keys and values are added."""
        import numpy as np

        session = self._opened()
        feeds = {}
        count = len(next(iter(arrays.values())))
        for name, (typed, shape) in self.inputs.items():
            kind = _TYPES.get(typed)
            if kind is None:
                raise bad_file(self.path, f"input {name} of type {', '.join(_TYPES)}", typed)
            given = arrays.get(name)
            past = given is None
            feeds[name] = self._no_past(name, shape, count, kind) if past else np.ascontiguousarray(given, dtype=kind)
        try:
            (found,) = session.run([output], feeds)
        except Exception as error:
            text = " ".join(str(error).split())[:500]
            raise bad_file(self.path, "a model that runs on its inputs", text) from None
        result: NDArray[Any] = np.asarray(found)
        return result.astype(np.float32) if result.dtype == np.float16 else result

    def _no_past(self, name: str, shape: list[Any], count: int, kind: str) -> NDArray[Any]:
        """The keys or values of an empty past: batch x heads x 0 x dimensions."""
        import numpy as np

        if len(shape) != 4 or not isinstance(shape[1], int) or not isinstance(shape[3], int):
            expected = f"input {name} of shape batch x heads x length x dimensions, heads and dimensions fixed"
            raise bad_file(self.path, expected, str(shape))
        return np.zeros((count, shape[1], 0, shape[3]), dtype=kind)


_models: weakref.WeakSet[OnnxModel] = weakref.WeakSet()
_others: list[Any] = []
"""Sessions of the processes that this one was forked from."""


def _forget_sessions() -> None:
    for model in list(_models):
        model.forget()


os.register_at_fork(after_in_child=_forget_sessions)

"""A model's folder as Hugging Face's optimum writes it: ONNX files, tokenizer.json and the files of settings."""

from __future__ import annotations

import glob
import json
from pathlib import Path
from typing import Any

from smtplugins.contracts.errors import UsageError
from smtplugins.plugins.neural.runtime import OnnxModel, bad_file

_SETTINGS = ("config.json", "generation_config.json", "tokenizer_config.json", "special_tokens_map.json")
_SENTENCES = "sentence_bert_config.json"
_ENDLESS = 1_000_000
_SHIFTED = ("roberta", "camembert", "xmod")  # positions begin after the number of the padding token


class ModelFolder:
    """The files of a model; ``path`` is a folder, or one of the ONNX files in it. Nothing heavy is opened."""

    def __init__(self, who: str, path: Path, threads: int = 0, tokenizer: Path | None = None) -> None:
        self.who = who
        self._named = path if path.is_file() else None
        self.folder = path.parent if path.is_file() else path
        if not self.folder.is_dir():
            raise UsageError(f"{who}: path: expected a folder with a model, or an ONNX file in it, found no {path}")
        self._threads = threads
        if tokenizer is not None and not tokenizer.is_file():
            raise UsageError(f"{who}: tokenizer: expected a tokenizer.json, found no {tokenizer}")
        self._tokenizer = tokenizer
        self.settings = {name: self._read(name) for name in _SETTINGS}
        self._used: list[Path] = []

    def _places(self) -> list[Path]:
        # An ONNX file may lie in a folder `onnx` below the model's, or be named with the settings one folder above.
        return [self.folder, self.folder / "onnx", *([self.folder.parent] if self.folder.name == "onnx" else [])]

    def _find(self, name: str) -> Path | None:
        return next((place / name for place in self._places() if (place / name).is_file()), None)

    def _read(self, name: str) -> dict[str, Any]:
        path = self._find(name)
        if path is None:
            return {}
        try:
            value = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:
            raise bad_file(path, "a JSON object", str(error)) from None
        if not isinstance(value, dict):
            raise bad_file(path, "a JSON object", type(value).__name__)
        return value

    def setting(self, *keys: str) -> Any:
        """The first value of these keys in the model's files of settings, ``None`` if there is none."""
        for key in keys:
            for values in self.settings.values():
                if values.get(key) is not None:
                    return values[key]
        return None

    def number(self, *keys: str) -> int | None:
        """A whole number from 0 on of the settings; the first of a list of them."""
        value = self.setting(*keys)
        if isinstance(value, list) and value:
            value = value[0]
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise bad_file(self.folder / "config.json", f"a whole number as {' or '.join(keys)}", repr(value))
        return value

    def model(self, *names: str, named: bool = True) -> OnnxModel:
        """The first ONNX file of these names; a file that the user named takes precedence where ``named``."""
        chosen = [self._named] if named and self._named is not None else map(self._find, names)
        for path in chosen:
            if path is not None:
                self._used.append(path)
                return OnnxModel(path, self._threads)
        found = sorted(path.name for place in self._places() for path in place.glob("*.onnx"))
        there = ", ".join(found) if found else "no ONNX file; `optimum-cli export onnx` writes them"
        raise UsageError(f"{self.who}: {self.folder}: expected {' or '.join(names)}, found {there}")

    def uses(self, path: Path) -> None:
        """Add a file that scores depend on."""
        self._used.append(path)

    def files(self) -> list[Path]:
        """The files that scores depend on: those of the models asked for, the tokenizer and the settings."""
        # Weights beyond 2 GB are in a file beside the model: model.onnx_data or model.onnx.data.
        models = [path for used in self._used for path in sorted(used.parent.glob(f"{glob.escape(used.name)}*"))]
        named = [self._tokenizer or self._find("tokenizer.json"), *map(self._find, [*_SETTINGS, _SENTENCES])]
        return [*models, *(path for path in named if path is not None)]

    def tokenizer(self, max_length: int | None = None, path: Path | None = None) -> Any:
        """The tokenizer without padding; it cuts at ``max_length`` tokens if that is given."""
        from tokenizers import Tokenizer

        path = path or self._tokenizer or self._find("tokenizer.json")
        if path is None:
            raise UsageError(
                f"{self.who}: {self.folder}: expected a tokenizer.json, found none; save it with transformers: "
                "AutoTokenizer.from_pretrained(MODEL).save_pretrained(FOLDER), or name one with tokenizer=FILE"
            )
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:
            raise bad_file(path, "a tokenizer of the library tokenizers", str(error)) from None
        tokenizer.no_padding()
        tokenizer.no_truncation()
        if max_length is not None:
            tokenizer.enable_truncation(max_length)
        return tokenizer

    def token(self, tokenizer: Any, name: str) -> int | None:
        """The number of a special token such as ``mask_token``; ``None`` if the model has none."""
        value = self.setting(name)
        text = value.get("content") if isinstance(value, dict) else value
        if isinstance(text, str):
            return self.numbered(tokenizer, text)
        return self.number(f"{name}_id")

    def numbered(self, tokenizer: Any, text: str) -> int:
        """The number of a token; UsageError if the tokenizer does not have it."""
        found: int | None = tokenizer.token_to_id(text)
        if found is None:
            raise UsageError(f"{self.who}: the tokenizer of {self.folder} has no token {text!r}")
        return found

    def limit(self) -> int | None:
        """The most tokens that the model takes, as its settings say; ``None`` if they do not."""
        limits = [self.number(key) for key in ("max_position_embeddings", "n_positions", "n_ctx")]
        known = [limit for limit in limits if limit]
        kind = str(self.setting("model_type") or "")
        if known and any(name in kind for name in _SHIFTED):
            known[0] -= (self.number("pad_token_id") or 0) + 1
        sentences = self._read(_SENTENCES).get("max_seq_length")
        for value in (self.setting("model_max_length"), sentences):
            if isinstance(value, int) and 0 < value < _ENDLESS:
                known.append(value)
        return min(known) if known else None

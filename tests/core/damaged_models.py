"""Damaged KenLM files: each is refused with a FormatError, or its model can be used.

``python -m tests.core.damaged_models [--files 10000] [FILE ...]`` tries many, of the files or of the gold models.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import tempfile
from pathlib import Path

from smtformats.errors import FormatError
from smtplugins.core._core import LanguageModel
from smtplugins.core.lm.ngram_model import read_lm

GOLD = Path(__file__).parents[3] / "shared/gold/moses/binary/kenlm"
HEADER = 108


def damage(data: bytes, files: int, seed: int, folder: Path) -> int:
    """Change bytes anywhere, or cut the end; returns how many of the files were read and used all the same."""
    rng = random.Random(seed)
    file = folder / "damaged.klm"
    read = 0
    for _ in range(files):
        damaged = bytearray(data)
        # Every other file near its beginning: elsewhere the tables would take nearly all of it.
        last = len(data) if rng.random() < 0.5 else min(len(data), rng.choice([160, 4096]))
        for _ in range(rng.choice([1, 1, 4, 30, 1000])):
            damaged[rng.randrange(HEADER - 20, last)] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        if rng.random() < 0.1:
            del damaged[rng.randrange(len(damaged)) :]
        file.write_bytes(damaged)
        try:
            model = read_lm(file)
        except FormatError:
            continue
        use(model, rng)
        read += 1
    return read


def use(model: LanguageModel, rng: random.Random) -> None:
    """Look up, score and join words of a model, at most some of them."""
    model.score_sentences(["a b", "b a x a b", "a man in a hat .", ""], bos=False, eos=False)
    some = [rng.randrange(model.vocabulary_size) for _ in range(12)]
    try:
        words = [model.word(i) for i in some]
        model.ids([word for word in words if "\ufffd" not in word])
    except ValueError:
        pass
    states = [model.score_rule([i])[1] for i in {0, *some}]
    for state, other in itertools.product(states, repeat=2):
        joined = model.score_rule([-1, -2], [state, other])[1]
        model.score_rule([-1, 0, -1], [joined])


def main() -> None:
    """Damage each file as often as the others."""
    parser = argparse.ArgumentParser(prog="python -m tests.core.damaged_models", description=__doc__)
    parser.add_argument("models", nargs="*", type=Path, metavar="FILE", help="default: the gold models")
    parser.add_argument("--files", type=int, default=10_000, help="damaged files in all (default: 10000)")
    args = parser.parse_args()
    models = args.models or sorted(GOLD.glob("*.klm"))
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        for number, path in enumerate(models):
            files = args.files * (number + 1) // len(models) - args.files * number // len(models)
            read = damage(path.read_bytes(), files, number, Path(folder))
            sys.stdout.write(f"{path.name}: {files} damaged, {files - read} refused, {read} read and used\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()

"""A phrase table ready to decode with, from text and from the ProbingPT folder made of it: CPU seconds and memory.

The table is that of `phrase_loading`. The folder is written as ``CreateProbingPT`` writes it, with the 50,000 commonest
source sides in its cache and with none. Each is read in a process of its own; its peak is above that of the imports.
"""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from phrase_loading import FILES, _large

WRITER = Path(__file__).resolve().parents[1] / "formats/grammar/probing_folders.py"
FRESH = """
import json, pathlib, sys, time
path, kind = sys.argv[1:]
from smtplugins.host.files.opening import find_format, load_grammar
from smtplugins.core.grammar.tables import Grammar, Tables
import numpy, smtformats._scan, smtformats.grammar.shared.scanning, smtformats.grammar.shared.probing_table
find_format(kind)
peak = lambda: int(pathlib.Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
before, begun = peak(), time.process_time()
columns = load_grammar(path, format=kind, cache="off")
read = time.process_time() - begun
grammar = Grammar(columns, Tables())
print(json.dumps({"read": read, "ready": time.process_time() - begun, "peak_mb": (peak() - before) / 1024,
                  "columns_mb": columns.nbytes / 2**20, "rows": len(columns)}))
"""


def probing(shared: Path) -> dict[str, Any]:
    """Seconds, megabytes and rows of each, the best of five runs by CPU."""
    write = runpy.run_path(str(WRITER))["write_folder"]
    found = {}
    with tempfile.TemporaryDirectory() as name:
        text = Path(name) / "text"
        with text.open("wb") as out:
            out.writelines(_large(shared / "gold/moses/model" / FILES["phrases"]))
        lines = text.read_text(encoding="utf-8").splitlines()
        kinds = {"text": (text, "moses-phrases")}
        for shown, options in (("folder", {}), ("folder, no cache", {"cached": 0})):
            kinds[shown] = (write(Path(name) / shown.replace(", ", "-"), lines, **options), "moses-probing")
        for shown, (path, kind) in kinds.items():
            command = [sys.executable, "-c", FRESH, str(path), kind]
            runs = [json.loads(subprocess.check_output(command)) for _ in range(5)]
            found[shown] = min(runs, key=lambda run: float(run["ready"]))
    return found

"""Names in HTK lattices that the reader and the writer share."""

from __future__ import annotations

import re

NAME = "slf-lattice"
NULL = "!NULL"
SCALES = {"lmscale": "language", "acscale": "acoustic"}
SCALE = re.compile(r"(x[0-9]+)scale")
SCORE = re.compile(r"acoustic|language|ngram|x[0-9]+")

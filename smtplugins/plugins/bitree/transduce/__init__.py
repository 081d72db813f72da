"""Tree transduction: the decoder `bitree`, its search, the generative baseline, and `smt bitree train`."""

from __future__ import annotations

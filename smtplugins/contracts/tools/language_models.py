"""N-gram language models from ARPA and KenLM files."""

from __future__ import annotations

from smtplugins.core.lm.ngram_model import check_lm, lm_format, read_lm

__all__ = [
    "check_lm",
    "lm_format",
    "read_lm",
]

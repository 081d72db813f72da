"""Prepare text, and estimate models from it: word alignments, phrase tables, rule tables, language models.

Counting and estimation are in `smtplugins.core.extract` and `core.lm`; learning weights is in `host.learn`.
"""

from __future__ import annotations

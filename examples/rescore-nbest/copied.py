"""Words left untranslated: how many words of the hypothesis stand in the source, too."""

from __future__ import annotations

from smtplugins import feature


@feature("copied")
def copied(source: str, hyp: str) -> float:
    known = set(source.split())
    return float(sum(word in known for word in hyp.split() if word.isalpha()))

"""smtplugins: a host for discriminative statistical machine translation.

import smtplugins as smt

host = smt.load_plugins()
lists = host.score(smt.read("dev.nbest", source="dev.de"), ["length"])
print(smt.rescore(lists, {"LM0": 0.1, "length": 0.2}).best())
"""

from __future__ import annotations

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Command, Offer
from smtplugins.host.files.lists import ListStream, candidates, load, read, rescore
from smtplugins.host.files.opening import load_grammar
from smtplugins.host.loading.manager import load_plugins
from smtplugins.host.loading.shortcut import feature
from smtplugins.host.pooling.pools import merge

__all__ = [
    "Command",
    "ListStream",
    "Offer",
    "candidates",
    "feature",
    "hookimpl",
    "load",
    "load_grammar",
    "load_plugins",
    "merge",
    "read",
    "rescore",
]

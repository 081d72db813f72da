"""What was wished for and is there: the entries of the repository, and the offers of each plugin by name."""

from __future__ import annotations

from pathlib import Path

import pytest

import smtplugins as smt

ROOT = Path(__file__).resolve().parents[1]
TOP = ["pyproject.toml", "README.md", "smtplugins", "formats", "tests", "examples"]
OFFERS = {
    "standard": {
        "features": ["column", "external", "length", "lm", "word-penalty"],
        "metrics": ["bleu", "chrf", "ter"],
        "runners": ["processes", "serial"],
        "formats": [
            "cdec-mira-nbest",
            "cdec-nbest",
            "cdec-weights",
            "fairseq-nbest",
            "joshua-nbest",
            "jsonl-nbest",
            "lines-nbest",
            "marian-nbest",
            "moses-ini",
            "moses-nbest",
            "plain-nbest",
            "sockeye-nbest",
            "text",
        ],
    },
}


@pytest.mark.parametrize("name", TOP)
def test_repository_has(name: str) -> None:
    assert (ROOT / name).exists()


@pytest.mark.parametrize(("plugin", "kind"), [(plugin, kind) for plugin, kinds in OFFERS.items() for kind in kinds])
def test_plugin_offers(plugin: str, kind: str) -> None:
    registry = smt.load_plugins().registry
    for name in OFFERS[plugin][kind]:
        entry = registry.entry(kind, name)
        assert entry.plugin.name == plugin
        assert entry.plugin.distribution == "smtplugins"


@pytest.mark.parametrize("plugin", OFFERS)
def test_plugin_can_be_switched_off(plugin: str) -> None:
    registry = smt.load_plugins(disable=[plugin]).registry
    for kind, names in OFFERS[plugin].items():
        assert not set(names) & set(registry.names(kind))

"""What was wished for and is there: the entries of the repository, and the offers of each plugin by name."""

from __future__ import annotations

from pathlib import Path

import pytest

import smtplugins as smt

ROOT = Path(__file__).resolve().parents[1]
TOP = ["pyproject.toml", "README.md", "smtplugins", "formats", "tests", "examples"]
OFFERS = {
    "standard": {
        "features": [
            "column",
            "distortion",
            "external",
            "length",
            "lexical-reordering",
            "lm",
            "source-path",
            "word-penalty",
        ],
        "metrics": ["bleu", "chrf", "ter"],
        "runners": ["processes", "serial"],
        "formats": """
            bracketed-tree cdec-binary-hypergraph cdec-corpus cdec-derivations cdec-grammar
            cdec-json-hypergraph cdec-mira-nbest cdec-nbest cdec-settings cdec-target-graph cdec-weights
            conllu-tree fairseq-nbest giza-alignment homework-phrases joshua-config joshua-derivations
            joshua-grammar joshua-hypergraph joshua-nbest joshua-packed joshua-settings joshua-trees
            jsonl-nbest lines-nbest marian-nbest moses-chart-graph moses-features moses-hypergraph moses-ini
            moses-nbest moses-phrases moses-reordering moses-rules moses-scores moses-search-graph
            moses-settings moses-word-graph moses-xml nist-sgm pharaoh-alignment pipe-weights plain-nbest
            plf-lattice slf-lattice sockeye-nbest text tsv-corpus zmert-params""".split(),
    },
    "tuning": {"learners": ["mert", "minrisk", "mira", "perceptron", "pro"]},
    "hiero": {"decoders": ["hiero"]},
    "phrase": {"decoders": ["phrase"]},
    "reference": {"decoders": ["reference", "reference-phrase"]},
    "localized": {
        "features": ["block-bigram", "orientation"],
        "learners": ["local-maxent"],
        "decoders": ["swap"],
    },
    "bitree": {
        "features": ["bitree", "bitree-aligned", "boosted"],
        "learners": ["l1-boost"],
        "decoders": ["bag", "bitree"],
    },
    "cdlm": {"features": ["blm", "cdlm", "tsrb"]},
    "searn": {"features": ["itg-history"], "learners": ["searn"], "decoders": ["amasis"]},
    "umt": {"features": ["cff", "undirected-lm"], "learners": ["drl"], "decoders": ["umt"]},
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

"""Another decoder in a configuration: what it takes over of the old one's options."""

from __future__ import annotations

from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec, parameters
from smtplugins.host.config.override import PARSING, with_decoder, with_own
from smtplugins.host.config.run_yaml import RunConfig, load_config

TEXT = "decoder: {name: hiero, max_span: 7, glue: false, pop_limit: 9, beam: 0.5, joshua: true}\n"


@pytest.fixture
def config(tmp_path: Path) -> RunConfig:
    (tmp_path / "run.yaml").write_text(TEXT)
    return load_config(tmp_path / "run.yaml")


def test_another_parses_as_the_old_one_did(config: RunConfig) -> None:
    # `reference` has a pop limit, too, but its search is its own; it has no option `joshua`.
    made = with_decoder(smt.load_plugins(), config, "reference,search=full")
    assert made.decoder == Spec("reference", {"max_span": 7, "glue": False, "search": "full"})
    assert config.decoder is not None and config.decoder.name == "hiero"


def test_the_same_keeps_all_but_what_is_given(config: RunConfig) -> None:
    made = with_decoder(smt.load_plugins(), config, "hiero,pop_limit=3")
    assert config.decoder is not None and made.decoder is not None
    assert made.decoder.options == {**config.decoder.options, "pop_limit": "3"}


def test_one_that_is_not_there_is_an_error(config: RunConfig) -> None:
    with pytest.raises(UsageError, match="unknown decoder 'hiro'; did you mean 'hiero'"):
        with_decoder(smt.load_plugins(), config, "hiro")


def test_options_of_overrides_are_those_of_the_new_one() -> None:
    given = ["seed=2", "decoder.beam=5", ("decoder.max_span", 4), ("output.unique", True)]
    made = with_own(Spec("umt", {"glue": "false"}), given)
    assert made == (Spec("umt", {"glue": "false", "beam": 5, "max_span": 4}), [("seed", 2), ("output.unique", True)])
    with pytest.raises(UsageError, match="option 'glue' of 'umt' is given twice"):
        with_own(Spec("umt", {"glue": "false"}), ["decoder.glue=true"])
    with pytest.raises(UsageError, match="the decoder is given twice: 'umt' and "):
        with_own(Spec("umt"), ["decoder=hiero"])


def test_without_any_before(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("seed: 2\n")
    made = with_decoder(smt.load_plugins(), load_config(tmp_path / "run.yaml"), "hiero,max_span=3")
    assert made.decoder == Spec("hiero", {"max_span": "3"})


def test_options_of_parsing_are_those_of_hiero() -> None:
    registry = smt.load_plugins().registry
    known = parameters(registry.entry("decoders", "hiero").record.factory)
    assert known.keys() > PARSING
    assert not PARSING & {"search", "pop_limit", "pops", "beam", "adapt"}

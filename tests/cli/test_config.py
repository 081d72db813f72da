"""``smt config show`` on a run.yaml and on toolkits' configurations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

Smt = Callable[..., Any]
ARPA = "\\data\\\nngram 1=4\n\n\\1-grams:\n-1\t<unk>\n-1\t<s>\n-1\t</s>\n-1\ta\n\n\\end\\\n"


@pytest.fixture(autouse=True)
def model(tmp_path: Path) -> None:
    """A language model, which the configurations name."""
    (tmp_path / "en.klm").write_text(ARPA)


TEXT = "source: tune.de\ndecoder: hiero\nmodel:\n  features: [length, {name: lm, path: en.klm}]\n"


def test_shown_configuration_reads_back(smt: Smt, tmp_path: Path) -> None:
    Path("run.yaml").write_text(TEXT)
    shown = smt("config", "show", "-c", "run.yaml").ok()
    assert f"source: {tmp_path / 'tune.de'}\n" in shown
    assert f"path: {tmp_path / 'en.klm'}" in shown
    Path("below").mkdir()
    Path("below/again.yaml").write_text(shown)
    assert smt("config", "show", "-c", "below/again.yaml").ok() == shown
    assert smt("config", "show", "-c", "-", stdin=shown).ok() == shown


def test_the_configuration_is_an_argument_or_an_option(smt: Smt) -> None:
    Path("run.yaml").write_text(TEXT)
    assert smt("config", "show", "run.yaml").ok() == smt("config", "show", "-c", "run.yaml").ok()
    for given, found in (
        ((), "one of the arguments -c/--config FILE is required"),
        (("run.yaml", "-c", "run.yaml"), "not allowed with argument "),
        (("-c", "run.yaml", "run.yaml"), "not allowed with argument -c/--config"),
    ):
        result = smt("config", "show", *given)
        assert (result.code, result.out) == (2, "")
        assert found in result.err


def test_overrides(smt: Smt) -> None:
    Path("run.yaml").write_text(TEXT)
    shown = smt("config", "show", "-c", "run.yaml", "--set", "decoder.pop_limit=200", "--set", "seed=3").ok()
    assert "decoder: {name: hiero, pop_limit: 200}\n" in shown
    assert "seed: 3\n" in shown


def test_mistakes_have_file_line_and_key(smt: Smt) -> None:
    Path("run.yaml").write_text(TEXT.replace("features", "feature"))
    result = smt("config", "show", "-c", "run.yaml")
    assert (result.code, result.out) == (1, "")
    assert result.err == "smt: run.yaml:4: model.feature: unknown key; did you mean 'features'?\n"
    Path("run.yaml").write_text(TEXT)
    result = smt("config", "show", "-c", "run.yaml", "--set", "seed=x")
    assert (result.code, result.err) == (2, "smt: --set: seed: expected a whole number, found 'x'\n")
    result = smt("config", "show", "-c", "run.yaml", "--set", "seed")
    assert result.code == 2
    assert smt("config", "show", "-c", "absent").err == "smt: absent: No such file or directory\n"


INI = "[stack]\n100\n[verbose]\n2\n[feature]\nDistortion\nKENLM name=LM path=en.klm\n[weight]\nLM= 0.5\n"


def test_configuration_of_a_toolkit(smt: Smt, tmp_path: Path) -> None:
    Path("moses.ini").write_text(INI)
    shown = smt("config", "show", "-c", "moses.ini", "--set", "decoder.stack_size=7").ok()
    read = yaml.safe_load(shown)
    assert (read["decoder"]["name"], read["decoder"]["stack_size"]) == ("phrase", 7)
    assert read["model"]["features"] == ["distortion,name=Distortion0", f"lm,path={tmp_path}/en.klm,base=e,name=LM"]
    assert read["model"]["weights"] == str(tmp_path / "moses.ini")
    assert shown.endswith(
        "output: {unique: false, format: moses-nbest}\n# not used: line 4: verbose '2' (`--trace`, `--stats FILE`)\n"
    )


def test_weights_on_standard_input_are_refused(smt: Smt) -> None:
    """It cannot be named as the file of the weights."""
    for command in (("config", "show"), ("decode", "-i", "in")):
        found = smt(*command, "-c", "-", stdin=INI)
        assert (found.code, found.out) == (1, "")
        assert found.err == (
            "smt: <stdin>:9: weight: expected a configuration with weights in a file (standard input cannot be read "
            "again), found 'LM= 0.5': it changes translations and is not supported (--ignore weight continues "
            "without)\n"
        )
    piped = smt("config", "show", "-c", "-", "--ignore", "weight", stdin=INI).ok()
    assert "weights:" not in piped
    assert "# not used: line 9: weight 'LM= 0.5', which changes translations\n" in piped


def test_options_that_decoder_and_features_do_not_have(smt: Smt) -> None:
    for text, message in (
        ("decoder: {name: hiero, pop: 3}\n", "1: decoder.pop: decoder 'hiero' has no option 'pop'"),
        ("decoder:\n  name: hiero\n  pop_limit: x\n", "3: decoder.pop_limit: expected a whole number, found 'x'"),
        ("decoder: hieru\n", "1: decoder: unknown decoder 'hieru'; did you mean 'hiero'?"),
        ("model:\n  features:\n  - length\n  - lengths\n", "4: model.features.1: unknown feature 'lengths'"),
        (
            "model:\n  features:\n  - lm,path=x,base=3\n",
            "3: model.features.0: feature 'lm': base: expected one of e, 10",
        ),
    ):
        Path("run.yaml").write_text(text)
        found = smt("config", "show", "-c", "run.yaml")
        assert (found.code, found.out) == (1, "")
        assert found.err.startswith(f"smt: run.yaml:{message}"), found.err


REFUSED = "[disable-discarding]\ntrue\n[input-factors]\n0\n1\n[verbose]\n2\n" + INI


def test_settings_that_change_translations(smt: Smt) -> None:
    Path("moses.ini").write_text(REFUSED)
    message = (
        "smt: moses.ini:2: disable-discarding: expected false, found 'true': it changes translations and is not "
        "supported; line 5: input-factors: expected 0, words alone (factors are not supported), found '1' (--ignore "
        "disable-discarding --ignore input-factors continues without)\n"
    )
    commands: tuple[tuple[str, ...], ...] = (
        ("config", "show", "-c", "moses.ini"),
        ("decode", "-c", "moses.ini"),
        ("tune", "-c", "moses.ini", "--dir", "run"),
        ("convert", "moses.ini", "out.yaml"),
    )
    for command in commands:
        found = smt(*command, stdin="a\n")
        assert (found.code, found.out, found.err) == (1, "", message)
    assert not Path("out.yaml").exists()
    assert not Path("run").exists()
    ignoring = ("--ignore", "Disable_Discarding", "--ignore", "input-factors")
    shown = smt("config", "show", "-c", "moses.ini", *ignoring).ok()
    assert shown.splitlines()[-2:] == [
        "# not used: line 2: disable-discarding 'true', which changes translations",
        "# not used: line 5: input-factors '1', which changes translations",
    ]
    smt("convert", "moses.ini", "out.yaml", *ignoring).ok()
    assert Path("out.yaml").read_text() == shown


def test_what_may_be_ignored(smt: Smt) -> None:
    Path("moses.ini").write_text(REFUSED)
    found = smt("config", "show", "-c", "moses.ini", "--ignore", "disable-discard")
    assert (found.code, found.err) == (
        2,
        "smt: --ignore disable-discard: moses.ini has no such setting; did you mean 'disable-discarding'?\n",
    )
    # One that is not refused may stand there.
    found = smt("config", "show", "-c", "moses.ini", "--ignore", "verbose")
    assert "moses.ini:2: disable-discarding" in found.err
    Path("run.yaml").write_text(TEXT)
    found = smt("config", "show", "-c", "run.yaml", "--ignore", "x")
    assert (found.code, "run.yaml is a run.yaml" in found.err) == (2, True)
    for wrong in (("convert", "run.yaml", "--ignore", "x"), ("tune", "-i", "run.yaml", "--ignore", "x")):
        assert smt(*wrong).code == 2


def test_mistakes_of_a_toolkit(smt: Smt) -> None:
    Path("moses.ini").write_text(INI.replace("[verbose]", "[verbse]"))
    result = smt("config", "show", "-c", "moses.ini")
    assert (result.code, result.out) == (1, "")
    assert result.err == (
        "smt: moses.ini:3: field 1: expected a section that Moses knows (did you mean 'verbose' or 'version'?), "
        "found 'verbse'\n"
    )


def test_options_that_the_decoder_would_refuse(smt: Smt) -> None:
    """They are refused here, too, at their lines."""
    Path("cdec.ini").write_text("formalism=scfg\nbeam_prune=1\ndensity_prune=0.5\n")
    found = smt("config", "show", "-c", "cdec.ini")
    assert (found.code, found.out) == (1, "")
    assert found.err == "smt: cdec.ini:3: decoder.density_prune: expected 1 or more, found 0.5\n"
    Path("run.yaml").write_text("decoder:\n  name: hiero\n  pop_limit: 0\n")
    found = smt("config", "show", "-c", "run.yaml")
    assert found.err == "smt: run.yaml:3: decoder.pop_limit: expected 1 or more, found 0\n"


def test_what_is_shown_can_be_loaded(smt: Smt) -> None:
    """A file that is not there, a broken table, and weights of unknown features are errors as in decoding."""
    Path("rules").write_text("[X] ||| a ||| b ||| p=1\n")
    Path("cdec.ini").write_text("formalism=scfg\ngrammar=rules\nfeature_function=KLanguageModel en.klm\n")
    assert smt("config", "show", "-c", "cdec.ini").code == 0
    shown = smt("convert", "cdec.ini", "--to", "run-yaml").ok()
    Path("run.yaml").write_text(shown)
    Path("weights").write_text("p 1\nq 1\n")
    for change, message in (
        (lambda: Path("rules").write_text("[X] ||| a ||| b\n[X ||| a ||| b\n"), "rules:2: field 1: expected"),
        (lambda: Path("rules").unlink(), "run.yaml:4: model.tables.0: "),
        (lambda: Path("en.klm").write_text("\\data\\\n"), "en.klm"),
    ):
        Path("rules").write_text("[X] ||| a ||| b ||| p=1\n")
        assert smt("config", "show", "-c", "run.yaml").ok() == shown
        change()
        for command in (("config", "show"), ("decode", "-i", "rules.txt")):
            Path("rules.txt").write_text("a\n")
            found = smt(*command, "-c", "run.yaml")
            assert (found.code, found.out) == (1, "")
            assert message in found.err
    Path("rules").write_text("[X] ||| a ||| b ||| p=1\n")
    Path("en.klm").write_text(ARPA)
    found = smt("config", "show", "-c", "run.yaml", "--set", "model.weights=weights")
    assert (found.code, found.out) == (2, "")
    assert "weights of unknown features: 'q' (line 2, the nearest is 'p')" in found.err


def test_a_new_configuration_decodes(smt: Smt) -> None:
    Path("model").mkdir()
    Path("model/table").write_text("x ||| a ||| 0.5 0.5 0.5 0.5 ||| 0-0 ||| 1 1 1\n")
    Path("runs").mkdir()
    made = smt("config", "new", "--decoder", "phrase,pop_limit=7", "--from", "model", "--from", "en.klm", "--set",
               "metric=chrf", "-o", "runs/run.yaml")  # fmt: skip
    assert (made.code, made.out, made.err) == (0, "", "")
    decoded = smt("decode", "-c", "runs/run.yaml", "-i", "-", stdin="x new\n")
    assert (decoded.code, decoded.out) == (0, "a new\n")
    assert "those that tuning starts from are used" in decoded.err
    shown = smt("config", "show", "runs/run.yaml", "-q").ok()
    assert "decoder: {name: phrase, pop_limit: 7}\n" in shown
    assert "metric: chrf\n" in shown
    printed = smt("config", "new", "--decoder", "hiero")
    assert (printed.code, printed.err) == (0, "smt: note: fill in: model.tables\n")
    assert printed.out.startswith("# decoder hiero: ")
    wrong = smt("config", "new", "--decoder", "hierro")
    assert (wrong.code, "did you mean 'hiero'" in wrong.err) == (2, True)


def test_check_and_schema(smt: Smt) -> None:
    Path("table").write_text("x ||| a ||| 0.5 0.5 0.5 0.5 ||| 0-0 ||| 1 1 1\n")
    Path("runs").mkdir()
    new = ("config", "new", "--decoder", "phrase", "--from", "table", "--schema", "-q")
    smt(*new, "-o", "runs/run.yaml").ok()
    line, *rest = Path("runs/run.yaml").read_text().splitlines(keepends=True)
    assert line == "# yaml-language-server: $schema=run.schema.json\n"
    assert "  - path: ../table\n" in rest
    assert Path("runs/run.schema.json").read_text() == smt("config", "schema").ok()
    shown = smt("config", "show", "runs/run.yaml", "-q").ok()
    assert shown.startswith(f"# yaml-language-server: $schema={Path('runs').resolve()}/run.schema.json\ndecoder:")
    smt("convert", "runs/run.yaml", "runs/again.yaml").ok()
    assert Path("runs/again.yaml").read_text().startswith(line)
    smt("convert", "runs/run.yaml", "again.yaml").ok()
    assert Path("again.yaml").read_text().startswith("decoder:")
    checked = smt("config", "check", "runs/again.yaml", "-q", "-f", "tsv").ok().splitlines()
    assert checked[-2:] == ["sentence\tx", "translation\ta"]
    Path("none").write_text("decoder: phrase\nmodel: {tables: no-table}\n")
    wrong = smt("config", "check", "none")
    assert (wrong.code, wrong.out, "none:2: model.tables.0: " in wrong.err) == (1, "", True)
    beside = smt(*new)
    assert (beside.code, "--schema is written beside the run.yaml" in beside.err) == (2, True)

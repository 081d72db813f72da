"""run.yaml: the whole of it as a typed record, and every mistake with file, line and key."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.host.config.rule_tables import RuleTable
from smtplugins.host.config.run_yaml import ConfigError, ModelConfig, OutputConfig, RunConfig, load_config

WHOLE = """\
plugins: [own.py, a_module]
source: corpus/tune.de
references: [corpus/tune.en.a, /abs/tune.en.b]
decoder: {name: hiero, pop_limit: 50}
model:
  tables: [rules.gz, glue.gz]
  features: [{name: lm, path: lm.en.klm, name_path: x}, word-penalty]
  weights: start.txt
learner: {name: mert, runs: 4}
metric: {name: bleu, tokenize: none}
runner: "processes,jobs=2"
seed: 7
output: {dir: runs/tune, nbest: 200}
"""

Write = Callable[[str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def make(text: str | bytes) -> Path:
        path = tmp_path / "run.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return make


def refusal(path: Path, *overrides: str) -> str:
    with pytest.raises((ConfigError, UsageError)) as caught:
        load_config(path, overrides)
    return str(caught.value).replace(str(path), "run.yaml")


def test_whole_file_becomes_a_typed_record(write: Write, tmp_path: Path) -> None:
    assert load_config(write(WHOLE)) == RunConfig(
        plugins=(str(tmp_path / "own.py"), "a_module"),
        source=tmp_path / "corpus/tune.de",
        references=(tmp_path / "corpus/tune.en.a", Path("/abs/tune.en.b")),
        decoder=Spec("hiero", {"pop_limit": 50}),
        model=ModelConfig(
            tables=(RuleTable(tmp_path / "rules.gz"), RuleTable(tmp_path / "glue.gz")),
            features=(
                Spec("lm", {"path": str(tmp_path / "lm.en.klm"), "name_path": str(tmp_path / "x")}),
                Spec("word-penalty"),
            ),
            weights=tmp_path / "start.txt",
        ),
        learner=Spec("mert", {"runs": 4}),
        metric=Spec("bleu", {"tokenize": "none"}),
        runner=Spec("processes", {"jobs": "2"}),
        seed=7,
        output=OutputConfig(dir=tmp_path / "runs/tune", nbest=200),
    )


def test_paths_are_relative_to_the_file_not_to_where_one_stands(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("source: ../other/x.de\n")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert load_config("../run.yaml").source == tmp_path.parent / "other/x.de"
    assert load_config("../run.yaml", ["source=y.de"]).source == tmp_path / "y.de"


def test_defaults_and_single_values(write: Write) -> None:
    config = load_config(write("references: ref.en\nmodel: {features: length}\nsource:\n"))
    assert config == RunConfig(
        references=(config.references[0],), model=ModelConfig(features=(Spec("length"),)), source=None
    )
    assert config.references[0].name == "ref.en"
    assert (config.seed, config.output.nbest) == (1, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed: 1\nsede: 2\n", "run.yaml:2: sede: unknown key; did you mean 'seed'?"),
        ("model:\n  feature: []\n", "run.yaml:2: model.feature: unknown key; did you mean 'features'?"),
        ("zzz: 1\n", "run.yaml:1: zzz: unknown key; known: decoder, escape, learner, metric, model, output, plugins, "),
        ("\n\nseed: one\n", "run.yaml:3: seed: expected a whole number, found 'one'"),
        ("seed: 1.5\n", "run.yaml:1: seed: expected a whole number, found 1.5"),
        ("seed: yes\n", "run.yaml:1: seed: expected a whole number, found True"),
        ("output:\n  dir: d\n  nbest: many\n", "run.yaml:3: output.nbest: expected a whole number, found 'many'"),
        ("source: 3\n", "run.yaml:1: source: expected a path, found 3"),
        ("references:\n- a\n- [b]\n", "run.yaml:3: references.1: expected a path, found ['b']"),
        ("plugins: [3]\n", "run.yaml:1: plugins.0: expected text, found 3"),
        ("model: 3\n", "run.yaml:1: model: expected keys and values, found 3"),
        ("- a\n", "run.yaml:1: expected keys and values, found ['a']"),
        ("metric: 3\n", "run.yaml:1: metric: expected NAME or {name: NAME, option: value}, found 3"),
        ("metric: {tokenize: none}\n", "run.yaml:1: metric: expected a mapping with a `name`, found {'tokenize'"),
        ("metric: 'bleu,tokenize'\n", "run.yaml:1: metric: expected key=value after 'bleu', found 'tokenize'"),
        ("seed: 1\nmodel: {}\nseed: 2\n", "run.yaml:3: seed: the key is given twice"),
        ("metric:\n  name: a\n  name: b\n", "run.yaml:3: metric.name: the key is given twice"),
        ("? [a]\n: b\n", "run.yaml:1: expected a plain key"),
        ("source: 2001-99-99\n", "run.yaml:1: source: month must be in 1..12"),
    ],
)
def test_mistakes_are_named_by_file_line_and_key(write: Write, text: str, message: str) -> None:
    assert refusal(write(text)).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "run.yaml:1: expected a run configuration, found an empty file"),
        ("# nothing\n", "run.yaml:1: expected a run configuration, found an empty file"),
        (
            "model:\n\tweights: w\n",
            r"run.yaml:2: expected YAML, found: found character '\t' that cannot start any token",
        ),
        ("seed: 1\nmodel: {weights: w\n", "run.yaml:3: expected YAML, found: "),
        ("seed: 1\n---\nseed: 2\n", "run.yaml:2: expected YAML, found: but found another document"),
        ("seed: *x\n", "run.yaml:1: expected YAML, found: found undefined alias 'x'"),
        (b"seed: 1\nsource: \xff\n", "run.yaml:2: expected UTF-8 text"),
        ("seed: 1\nsource: a\x07b\n", "run.yaml:2: expected YAML, found an invalid character"),
        # A bracket to a line, as PyYAML takes each of a line for what may begin a key.
        ("[\n" * 3000, "run.yaml: expected a run configuration, found brackets nested too deep"),
    ],
)
def test_what_is_no_yaml_is_refused(write: Write, text: str | bytes, message: str) -> None:
    assert refusal(write(text)).startswith(message)


@pytest.mark.parametrize(
    "value",
    [
        "!!python/object:os.system {}",
        "!!python/object/apply:os.system [touch pwned]",
        "!!python/name:os.system",
        "!!python/tuple [a, b]",
        "!mine x",
        "!!set {a, b}",
    ],
)
def test_tags_are_refused(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.chdir(tmp_path)
    path = write(f"seed: 1\nsource: {value}\n")
    message = refusal(path)
    assert message.startswith("run.yaml:2: source: ")
    assert "tag" in message
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model: &m\n  weights: *m\n", "run.yaml:1: model.weights: expected values written out, found an alias"),
        ("references: &r [a]\nplugins: *r\n", "expected values written out, found an alias"),
    ],
)
def test_collections_are_written_out(write: Write, text: str, message: str) -> None:
    assert message in refusal(write(text))


def test_aliases_of_plain_values_are_fine(write: Write, tmp_path: Path) -> None:
    config = load_config(write("source: &s tune.de\nreferences: [*s]\n"))
    assert config.references == (config.source,) == (tmp_path / "tune.de",)


@pytest.mark.parametrize(
    ("override", "key", "value"),
    [
        ("seed=9", "seed", 9),
        ("decoder.pop_limit=200", "decoder", Spec("hiero", {"pop_limit": 200})),
        ("decoder=phrase", "decoder", Spec("phrase")),
        ("metric.lowercase=true", "metric", Spec("bleu", {"tokenize": "none", "lowercase": True})),
        ("runner.jobs=4", "runner", Spec("processes", {"jobs": 4})),
        ("output.nbest=5", "output", OutputConfig(nbest=5)),
        ("learner={name: pro, seed: 2}", "learner", Spec("pro", {"seed": 2})),
        ("source=", "source", None),
    ],
)
def test_any_key_can_be_overridden(write: Write, override: str, key: str, value: object) -> None:
    text = WHOLE.replace("dir: runs/tune, ", "")
    assert getattr(load_config(write(text), [override]), key) == value


def test_later_overrides_win(write: Write) -> None:
    assert load_config(write("seed: 1\n"), ["seed=2", "seed=3"]).seed == 3


def test_values_are_taken_as_they_are(write: Write) -> None:
    config = load_config(write("decoder: hiero\n"), [("decoder.goal", "on: [S, #1"), ("seed", 3)])
    assert (config.decoder, config.seed) == (Spec("hiero", {"goal": "on: [S, #1"}), 3)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("seed", "overrides: expected KEY=VALUE as decoder.pop_limit=200, found 'seed'"),
        ("=3", "overrides: expected KEY=VALUE as decoder.pop_limit=200, found '=3'"),
        ("a..b=3", "overrides: expected KEY=VALUE as decoder.pop_limit=200, found 'a..b=3'"),
        ("seed=[", "overrides seed: expected a YAML value, found '['"),
        ("seed=2001-99-99", "overrides seed: expected a YAML value, found '2001-99-99'"),
        ("seed=x", "overrides: seed: expected a whole number, found 'x'"),
        ("sede=3", "overrides: sede: unknown key; did you mean 'seed'?"),
        ("modell.weights=w", "overrides: modell: unknown key; did you mean 'model'?"),
        ("model.weight=w", "overrides: model.weight: unknown key; did you mean 'weights'?"),
        ("seed.x=3", "overrides seed.x: seed has no keys inside; give it as a whole"),
        ("model.features.0.path=x", "overrides model.features.0.path: features has no keys inside; give it as a whole"),
    ],
)
def test_wrong_overrides_are_named(write: Write, override: str, message: str) -> None:
    assert refusal(write(WHOLE), override).startswith(message)


def test_mistake_in_the_file_is_not_blamed_on_an_override(write: Write) -> None:
    assert (
        refusal(write("seed: x\nmodel: {weights: 3}\n"), "seed=2")
        == "run.yaml:2: model.weights: expected a path, found 3"
    )


@pytest.mark.parametrize("text", [WHOLE, "seed: 0\n", "model: {features: ['external,command=\"a, b\"']}\n"])
def test_what_is_shown_reads_back_as_the_same_record(write: Write, tmp_path: Path, text: str) -> None:
    config = load_config(write(text))
    again = tmp_path / "elsewhere" / "again.yaml"
    again.parent.mkdir()
    again.write_text(config.to_yaml(), encoding="utf-8")
    assert load_config(again) == config
    assert config.to_yaml() == load_config(again).to_yaml()


def test_example_of_the_docstring_works(write: Write) -> None:
    config = load_config(write("decoder: hiero\n"), ["decoder.pop_limit=200"])
    assert config.decoder == Spec("hiero", {"pop_limit": 200})


TOOLKITS = {
    "cdec.ini": "formalism=scfg\nfeature_function=WordPenalty\ncubepruning_pop_limit=30\nquiet=1\n",
    "moses.ini": "[search-algorithm]\n3\n[cube-pruning-pop-limit]\n30\n[feature]\nWordPenalty\n",
    "joshua.config": "tm = thrax pt 12 g.gz\npop-limit = 30\nfeature-function = WordPenalty\nWordPenalty -1\n",
}


class TestToolkits:
    @pytest.mark.parametrize("name", TOOLKITS)
    def test_told_by_shape_not_by_name(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        monkeypatch.chdir(tmp_path)
        Path("run.yaml").write_text(TOOLKITS[name])
        config = load_config("run.yaml")
        assert config.decoder is not None
        assert (config.decoder.name, config.decoder.options["pop_limit"]) == ("hiero", 30)
        assert any(one.name == "word-penalty" for one in config.model.features)
        Path("out.yaml").write_text(load_config("run.yaml").shown())
        assert load_config("out.yaml") == config
        (tmp_path / "elsewhere").mkdir()
        Path("out.yaml").rename("elsewhere/out.yaml")
        assert load_config("elsewhere/out.yaml") == config

    @pytest.mark.parametrize("name", TOOLKITS)
    def test_overrides(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        monkeypatch.chdir(tmp_path)
        Path("below").mkdir()
        Path("below/x").write_text(TOOLKITS[name])
        config = load_config("below/x", ["decoder.pop_limit=7", "model.weights=w", "seed=3", "metric=bleu"])
        assert config.decoder is not None
        assert (config.decoder.options["pop_limit"], config.seed, config.metric) == (7, 3, Spec("bleu"))
        assert config.model.weights == tmp_path / "w"
        with pytest.raises(UsageError, match="overrides: decoder: expected a mapping with a `name`"):
            load_config("below/x", ["decoder.name=[a]"])
        with pytest.raises(UsageError, match="overrides: seeed: unknown key; did you mean 'seed'"):
            load_config("below/x", ["seeed=1"])

    def test_one_that_is_named(self, write: Write) -> None:
        path = write("formalism=fst\n")
        assert load_config(path, format="cdec-settings").decoder is not None
        with pytest.raises(FormatError, match="expected a \\[section\\] before its values"):
            load_config(path, format="moses-settings")
        with pytest.raises(UsageError, match="format 'moses-ini' is of kind weights, expected config: cdec-settings"):
            load_config(path, format="moses-ini")

    def test_faults_have_file_and_line(self, write: Write) -> None:
        path = write("formalism=scfg\nk_bst=3\n")
        with pytest.raises(FormatError) as caught:
            load_config(path)
        assert str(caught.value) == (
            f"{path}:2: field 1: expected a key that cdec knows (did you mean 'k_best'?), found 'k_bst'"
        )

    @given(st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
    def test_any_value_comes_through(self, value: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cdec.ini"
            path.write_bytes(f"formalism=fst\ngrammar=a{value}\nfeature_function=F {value}\nquiet=1{value}\n".encode())
            try:
                config = load_config(path)
            except (FormatError, ConfigError):
                # With more lines that are no settings than settings, it has no toolkit's shape.
                assert set(value) & {"\n", "\0"}
                return
            (Path(folder) / "out.yaml").write_bytes(load_config(path).shown().encode())
            assert load_config(Path(folder) / "out.yaml") == config


CHANGING = {
    "cdec/system_tests/australia-align/cdec.ini": "aligner",
    "cdec/system_tests/hmm/cdec.ini": "aligner",
    "cdec/system_tests/unsup-align/cdec.ini": "aligner",
    "cdec/system_tests/mcle_gradient/cdec.ini": "cll_gradient",
}
"""Configurations whose toolkit does more than translate as we do."""


@pytest.mark.shared
def test_gold_configurations_come_through(shared: Path, tmp_path: Path) -> None:
    found = [*(shared / "gold").rglob("*.ini"), *(shared / "gold/joshua").rglob("joshua*.config")]
    found += [shared / "gold/joshua/phrase_decoder" / name for name in ("config", "config.packed")]
    seen, refused = 0, set()
    for path in found:
        if path.name in ("f2.ini", "f4.ini", "o3.ini"):
            continue
        ignore = CHANGING.get(path.relative_to(shared / "gold").as_posix(), "")
        if ignore:
            with pytest.raises(ConfigError, match=f": {ignore}: expected .* found .*ignore=.* continues"):
                load_config(path)
            refused.add(ignore)
        ignored = [ignore] if ignore else []
        config = load_config(path, ignore=ignored)
        assert config.decoder is not None
        shown = load_config(path, ignore=ignored).shown()
        (tmp_path / "out.yaml").write_text(shown)
        assert load_config(tmp_path / "out.yaml") == config
        again = load_config(tmp_path / "out.yaml").shown().splitlines()
        assert again == [line for line in shown.splitlines() if not line.startswith("# not used: ")]
        seen += 1
    assert (seen, len(refused)) == (len(found) - 3, 2)
    assert seen > 70


def test_path_of_a_column_with_a_name_stays_one() -> None:
    config = RunConfig(model=ModelConfig(features=(Spec("lm", {"path": "/a,b", "name": "LM"}),)))
    assert "features: ['lm,path=\"/a,b\",name=LM']" in config.to_yaml()


class TestPlaces:
    """Mistakes that only the use of a value shows."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "run.yaml"
        path.write_text("decoder:\n  name: hiero\n  pop_limit: 3\nmodel:\n  features:\n  - length\n  - lm,path=x\n")
        return path

    @pytest.mark.parametrize(
        ("key", "error", "message"),
        [
            (("decoder",), UsageError("what"), "run.yaml:1: decoder: what"),
            (("decoder",), UsageError("pop_limit: too few"), "run.yaml:3: decoder.pop_limit: too few"),
            (("decoder",), UsageError("hiero: pop_limit: few"), "run.yaml:3: decoder.pop_limit: few"),
            (("decoder",), UsageError("no 'pop_limit' here"), "run.yaml:3: decoder.pop_limit: no 'pop_limit' here"),
            (("decoder",), UsageError("pop_limits: few"), "run.yaml:1: decoder: pop_limits: few"),
            (("model", "features", "1"), UsageError("bad"), "run.yaml:7: model.features.1: bad"),
            (
                ("model", "features", "1"),
                OSError(2, "No such file", "x"),
                "run.yaml:7: model.features.1: x: No such file",
            ),
            (("seed",), UsageError("bad"), "run.yaml:1: seed: bad"),
        ],
    )
    def test_are_named_by_line_and_key(self, path: Path, key: tuple[str, ...], error: Exception, message: str) -> None:
        config = load_config(path)
        with pytest.raises(SmtError) as caught, config.at(*key):
            raise error
        assert str(caught.value) == f"{path.parent}/{message}"
        assert caught.value.exit_code == 1

    def test_of_overrides_are_those_of_the_call(self, path: Path) -> None:
        config = load_config(path, ["decoder.pop_limit=7", "decoder.beam=x"])
        for option in ("pop_limit", "beam"):
            with pytest.raises(UsageError, match=rf"^overrides: decoder\.{option}: bad$"), config.at("decoder"):
                raise UsageError(f"{option}: bad")

    def test_other_failures_and_other_configurations_are_left_alone(self, path: Path) -> None:
        with pytest.raises(ValueError, match="x"), load_config(path).at("decoder"):
            raise ValueError("x")
        with pytest.raises(UsageError, match="x"), RunConfig().at("decoder"):
            raise UsageError("x")

    def test_records_are_equal_whatever_file_they_came_from(self, path: Path, tmp_path: Path) -> None:
        other = tmp_path / "other.yaml"
        other.write_text("\n\n" + path.read_text())
        assert load_config(path) == load_config(other)
        assert load_config(path).to_yaml() == load_config(other).to_yaml()

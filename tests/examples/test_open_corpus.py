"""The steps of the corpus example on small packages made here; what fetches them is tried with clients made here.

The real packages need the registries of Debian and npm, so that the README is no part of tests/test_docs.py.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import itertools
import json
import random
import re
import shutil
import struct
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from tests.forked import client_environment
from tests.test_docs import INSTALL, fences

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/open-corpus"
MODULES = ("packages", "texts", "extract", "fetch", "split")

HELP = "usr/share/libreoffice/help"
ENGLISH_PAGE = """<html><title>Functions</title><h1 id="hd_id1">Database functions</h1>
<p id="par_id2" class="paragraph">Open the <span class="emph">file</span> in e.g. Writer.<br>Then press
<span class="switchinline"><span hidden="true" id="MAC1" class="MAC">Command</span>
<span hidden="true" id="default1">Ctrl</span></span>+F.</p>
<p id="par_id3" class="code">PRINT file</p><p>No id of its own</p>
<p id="par_id4">Only in English</p><p id="par_id5">12 &amp; 13</p></html>"""
GERMAN_PAGE = """<html><h1 id="hd_id1">Datenbankfunktionen</h1>
<p id="par_id2" class="paragraph">Öffnen Sie die <span class="emph">Datei</span> z. B. in Writer. Drücken Sie
<span class="switchinline"><span hidden="true" id="MAC1" class="MAC">Befehl</span>
<span hidden="true" id="default1">Strg</span></span>+F.</p>
<p id="par_id3" class="code">PRINT Datei</p><p>Ohne eigene Kennung</p><p id="par_id5">12 &amp; 13</p></html>"""
MESSAGES = {
    "": "Content-Type: text/plain; charset=UTF-8\n",
    "menu\x04_Open file": "Datei ö_ffnen",
    "%d page\0%d pages": "%d Seite\0%d Seiten",
    "Two lines.\nThe <b>second</b>.": "Zwei Zeilen.\nDie <b>zweite</b>.",
    "not translated at all": "not translated at all",
}
ENGLISH_INDEX = """Package: one
Description-md5: 0a
Description-en: small tool
 It reads a file. It writes
 another.
 .
  * a list
  * of two items,
    one of two lines

Package: two
Description-md5: 0b
Description-en: another tool
 Nobody translated this.
"""
GERMAN_INDEX = """Package: one
Description-md5: 0a
Description-de: kleines Werkzeug
 Es liest eine Datei. Es
 schreibt noch eine.
 .
  * eine Liste
  * aus zwei Teilen, einer
    davon zweizeilig
"""
PAIRS = """source\tdocument\tde\ten
descriptions\t0a\tkleines Werkzeug\tsmall tool
descriptions\t0a\tEs liest eine Datei.\tIt reads a file.
descriptions\t0a\tEs schreibt noch eine.\tIt writes another.
descriptions\t0a\teine Liste\ta list
descriptions\t0a\taus zwei Teilen, einer davon zweizeilig\tof two items, one of two lines
help\tscalc/01\tDatenbankfunktionen\tDatabase functions
help\tscalc/01\tÖffnen Sie die Datei z. B. in Writer.\tOpen the file in e.g. Writer.
help\tscalc/01\tDrücken Sie Strg+F.\tThen press Ctrl+F.
messages\tlibreoffice-l10n-de/cui/1\tDatei öffnen\tOpen file
messages\tlibreoffice-l10n-de/cui/2\t%d Seiten\t%d pages
messages\tlibreoffice-l10n-de/cui/3\tZwei Zeilen.\tTwo lines.
messages\tlibreoffice-l10n-de/cui/3\tDie zweite.\tThe second.
"""


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """The modules of the example, which import each other by name, as scripts of one folder do."""
    monkeypatch.syspath_prepend(EXAMPLE)
    try:
        yield SimpleNamespace(**{name: importlib.import_module(name) for name in MODULES})
    finally:
        for name in MODULES:
            sys.modules.pop(name, None)


def run(module: ModuleType, *arguments: object) -> None:
    """Call the ``main`` of a script."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [f"{module.__name__}.py", *map(str, arguments)])
        module.main()


def tar(files: Mapping[str, bytes], compression: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=f"w:{compression}") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def write_deb(folder: Path, name: str, files: Mapping[str, str | bytes], compression: str = "xz") -> Path:
    """A package as dpkg-deb writes it: an ``ar`` archive of a version and two tar files."""
    control = f"Package: {name}\nVersion: 4:1.0-1\nDescription: a package\n more: of it\n"
    contents = {f"./{path}": data if isinstance(data, bytes) else data.encode() for path, data in files.items()}
    parts = {
        "debian-binary": b"2.0\n",
        f"control.tar.{compression}": tar({"./control": control.encode()}, compression),
        f"data.tar.{compression}": tar(contents, compression),
    }
    out = b"!<arch>\n"
    for part, data in parts.items():
        out += f"{part:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) % 2)
    path = folder / f"{name}_1.0-1_all.deb"
    path.write_bytes(out)
    return path


def catalogue(messages: Mapping[str, str], order: str = "<") -> bytes:
    """A .mo file, with its two tables of lengths and offsets."""
    texts = [*(key.encode() for key in messages), *(value.encode() for value in messages.values())]
    head = struct.pack(f"{order}7I", 0x950412DE, 0, len(messages), 28, 28 + 8 * len(messages), 0, 0)
    start, table = 28 + 8 * len(texts), b""
    for text in texts:
        table += struct.pack(f"{order}2I", len(text), start)
        start += len(text) + 1
    return head + table + b"".join(text + b"\0" for text in texts)


def verses(*translations: str) -> bytes:
    return json.dumps(
        [{"id": 1, "verses": [{"id": n, "translation": one} for n, one in enumerate(translations)]}]
    ).encode()


def write_packages(folder: Path, order: str = "<") -> Path:
    folder.mkdir()
    write_deb(folder, "libreoffice-help-en-us", {f"{HELP}/en-US/text/scalc/01.html": ENGLISH_PAGE})
    write_deb(folder, "libreoffice-help-de", {f"{HELP}/de/text/scalc/01.html": GERMAN_PAGE}, "gz")
    file = "usr/lib/libreoffice/program/resource/de/LC_MESSAGES/cui.mo"
    write_deb(folder, "libreoffice-l10n-de", {file: catalogue(MESSAGES, order)})
    (folder / "debian_main_i18n_Translation-en").write_text(ENGLISH_INDEX, encoding="utf-8")
    (folder / "debian_main_i18n_Translation-de").write_text(GERMAN_INDEX, encoding="utf-8")
    return folder


@pytest.mark.parametrize("order", ["<", ">"])
def test_pairs_are_those_of_all_packages(example: SimpleNamespace, tmp_path: Path, order: str) -> None:
    folder = write_packages(tmp_path / "packages", order)
    run(example.extract, "--languages", "de", "en", "-i", folder, "-o", tmp_path / "pairs")
    assert (tmp_path / "pairs/pairs.tsv").read_text(encoding="utf-8") == PAIRS
    rows = [line.split("\t") for line in (tmp_path / "pairs/packages.tsv").read_text(encoding="utf-8").splitlines()]
    assert [row[0] for row in rows[1:]] == sorted(path.name for path in folder.iterdir())
    assert ["libreoffice-help-de", "4:1.0-1"] in [row[1:3] for row in rows]
    for name, _, _, digest, count in rows[1:]:
        assert digest == hashlib.sha256((folder / name).read_bytes()).hexdigest()
        assert int(count) > 0

    run(example.extract, "--languages", "en", "de", "-i", folder, "-o", tmp_path / "turned")
    turned = [line.split("\t") for line in (tmp_path / "turned/pairs.tsv").read_text(encoding="utf-8").splitlines()]
    assert [[*row[:2], row[3], row[2]] for row in turned] == [line.split("\t") for line in PAIRS.splitlines()]


def test_verses_of_an_npm_package_and_names_of_languages(example: SimpleNamespace, tmp_path: Path) -> None:
    package = {
        "package/package.json": b'{"name": "quran-json", "version": "3.1.2"}',
        "package/dist/quran_en.json": verses("In the name", "Praise be"),
        "package/dist/quran_zh.json": verses("奉至仁主之名", "一切赞颂。全归真主"),
    }
    (tmp_path / "in").mkdir()
    (tmp_path / "in/quran-json-3.1.2.tgz").write_bytes(tar(package, "gz"))
    run(example.extract, "--languages", "zh", "en", "-i", tmp_path / "in", "-o", tmp_path / "out")
    lines = (tmp_path / "out/pairs.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[1:] == ["verses\t1:0\t奉至仁主之名\tIn the name", "verses\t1:1\t一切赞颂。 全归真主\tPraise be"]

    (tmp_path / "in/Translation-en").write_text(ENGLISH_INDEX, encoding="utf-8")
    index = GERMAN_INDEX.replace("Description-de", "Description-zh_CN")
    (tmp_path / "in/Translation-zh%5fCN").write_text(index, encoding="utf-8")
    run(example.extract, "--languages", "zh-CN", "en", "-i", tmp_path / "in", "-o", tmp_path / "cn")
    assert "\tkleines Werkzeug\tsmall tool\n" in (tmp_path / "cn/pairs.tsv").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three? four. Five", ["One.", "Two!", "Three? four.", "Five"]),
        ("See e.g. Writer, z. B. Calc ... So.", ["See e.g. Writer, z. B. Calc ... So."]),
        ("一。「二。」三！ sed を使う。", ["一。", "「二。」三！", "sed を使う。"]),
        ("ایک۔ دو", ["ایک۔", "دو"]),
        ("", []),
    ],
)
def test_sentences(example: SimpleNamespace, text: str, parts: list[str]) -> None:
    assert example.extract.sentences(text) == parts


def test_sentences_of_other_lengths_stay_together(example: SimpleNamespace) -> None:
    long = "Of several sentences, one is split in its translation, which joins two others."
    english, german = (
        f"Short one. {long} Yes.",
        "Kurz, ja. Von mehreren ist einer geteilt. Dabei sind zwei verbunden, und so weiter.",
    )
    assert list(example.extract.sentence_pairs(english, german)) == [(english, german)]
    assert list(example.extract.sentence_pairs("Stop. Go on.", "Halt! Weiter geht es.")) == [
        ("Stop.", "Halt!"),
        ("Go on.", "Weiter geht es."),
    ]


def test_paragraphs_of_descriptions(example: SimpleNamespace) -> None:
    lines = [
        "Ein-",
        "und Ausgabe in ANSI-C-",
        "Texten",
        "  as typed",
        "  as typed",
        "- an item",
        "  of two",
        "日本",
        "語",
    ]
    (_, _, short), (_, _, long) = example.texts.description_texts("0a", "short", lines)
    assert short == "short"
    assert long.split("\n") == ["Ein- und Ausgabe in ANSI-C-Texten", "as typed", "as typed", "an item of two", "日本語"]


def made_rows(seed: int, documents: int) -> list[tuple[str, str, str, str]]:
    generator = random.Random(seed)
    words = [f"{first}{second}" for first, second in itertools.product("bdfgklmn", ("at", "en", "ir", "ol", "um"))]

    def sentence() -> str:
        return " ".join(generator.choices(words, k=generator.randint(3, 12)))

    rows = []
    for document in range(documents):
        for _ in range(generator.randint(1, 30)):
            common = "this is a line that all pages have"
            pair = (common, common.upper()) if generator.random() < 0.1 else (sentence(), sentence().upper())
            rows.append(("help", str(document), *pair))
    return rows


@pytest.mark.parametrize("english", [2, 3])
def test_held_out_sentences_are_new_and_their_documents_too(example: SimpleNamespace, english: int) -> None:
    rows = made_rows(7, 150)
    sets = example.split.split(rows, english, 0.1, 60)
    assert sets == example.split.split(rows, english, 0.1, 60)
    train, dev, test = (sets[name] for name in ("train", "dev", "test"))
    documents = [{row[1] for row in part} for part in (train, dev, test)]
    assert all(one.isdisjoint(other) for one, other in itertools.combinations(documents, 2))
    assert 0.7 * len(rows) < len(train) < len(rows)
    assert len(dev) == len(test) == 60
    text = "\n".join(row[english].lower() for row in train)
    trained = {side.lower() for row in train for side in row[2:]}
    for row in (*dev, *test):
        words = row[english].lower().split()
        assert 6 <= len(words) <= 40
        grams = [" ".join(words[k : k + 4]) for k in range(len(words) - 3)]
        assert sum(gram in text for gram in grams) <= 0.6 * len(grams)
        assert trained.isdisjoint(side.lower() for side in row[2:])
    assert len({row[english] for row in (*dev, *test)}) == 120


def test_blocks_end_with_a_document_or_a_source(example: SimpleNamespace) -> None:
    rows = [("help", str(n // 25), "a", "b") for n in range(110)] + [
        ("messages", "4", "a", "b"),
        ("help", "1", "a", "b"),
    ]
    assert [len(block) for block in example.split.make_blocks(rows)] == [51, 50, 10, 1]


def write_pairs(path: Path, language: str) -> Path:
    lines = ["\t".join(row) for row in made_rows(3, 60)]
    path.write_text("\n".join([f"source\tdocument\ten\t{language}", *lines, ""]), encoding="utf-8")
    return path


def test_words_of_japanese_are_found(example: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tagger = SimpleNamespace(parse=lambda text: f"{text[:2]} {text[2:]} \n")
    monkeypatch.setitem(sys.modules, "fugashi", SimpleNamespace(Tagger=lambda options: tagger))
    run(example.split, "-i", write_pairs(tmp_path / "pairs.tsv", "ja"), "-o", tmp_path / "text")
    for name in ("train", "dev", "test"):
        sides = [(tmp_path / f"text/{name}.{one}").read_text(encoding="utf-8").splitlines() for one in ("en", "ja")]
        assert len(sides[0]) == len(sides[1]) > 0
        assert all(re.match(r"[A-Z]{2} [A-Z]+", line) for line in sides[1])
        assert not any(re.match(r"[a-z]{2} ", line) for line in sides[0] if not line.startswith("this"))


def broken(folder: Path, how: str) -> None:
    """Put a package into a folder that cannot be read."""
    path = write_deb(folder, "wesnoth-data", {"usr/share/locale/de/LC_MESSAGES/wesnoth.mo": catalogue(MESSAGES)})
    data = path.read_bytes()
    if how == "cut":
        path.write_bytes(data[:-200])
    elif how == "npm":
        data = tar(
            {
                "package/package.json": b'{"name": "a", "version": "1"}',
                "package/noise": random.Random(1).randbytes(9000),
            },
            "gz",
        )
        (folder / "a.tgz").write_bytes(data[:-4000])
    elif how == "no archive":
        path.write_bytes(b"<html>not found</html>")
    elif how == "zstd":
        path.write_bytes(data.replace(b"data.tar.xz", b"data.tar.zs").replace(b"\xfd7zXZ", b"\x28\xb5\x2f\xfd "))
    elif how == "catalogue":
        write_deb(folder, "wesnoth-data", {"usr/share/locale/de/LC_MESSAGES/wesnoth.mo": catalogue(MESSAGES)[:60]})
    elif how == "other":
        (folder / "notes.txt").write_text("", encoding="utf-8")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("cut", r"wesnoth-data_1.0-1_all.deb: expected a whole package, .*: data.tar.xz is cut off"),
        ("npm", r"a.tgz: expected a whole package, .*: Compressed file ended"),
        ("no archive", r"wesnoth-data_1.0-1_all.deb: .*this is no ar archive"),
        ("zstd", r"wesnoth-data_1.0-1_all.deb: expected a whole package, compressed by xz or gzip"),
        ("catalogue", r"wesnoth-data_1.0-1_all.deb: usr/share/locale/de/LC_MESSAGES/wesnoth.mo: expected"),
        ("other", r"notes.txt: expected NAME.deb, NAME.tgz or an index NAME_Translation-XX"),
    ],
)
def test_packages_that_cannot_be_read(example: SimpleNamespace, tmp_path: Path, how: str, message: str) -> None:
    (tmp_path / "in").mkdir()
    broken(tmp_path / "in", how)
    with pytest.raises(SystemExit, match=message):
        run(example.extract, "--languages", "de", "en", "-i", tmp_path / "in", "-o", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_what_cannot_be_done_is_said(example: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, out = write_packages(tmp_path / "in"), tmp_path / "out"
    for languages, message in (
        (("de", "fr"), "expected en and another language, found de fr"),
        (("en", "en"), "expected en and another language, found en en"),
        (("fr", "en"), "expected texts in both fr and en, found none"),
    ):
        with pytest.raises(SystemExit, match=message):
            run(example.extract, "--languages", *languages, "-i", folder, "-o", out)
    with pytest.raises(SystemExit, match="exists: name another folder"):
        run(example.extract, "--languages", "de", "en", "-i", folder, "-o", folder)
    (tmp_path / "few.tsv").write_text(PAIRS, encoding="utf-8")
    with pytest.raises(SystemExit, match=r"few.tsv: no sentences left for test"):
        run(example.split, "-i", tmp_path / "few.tsv", "-o", out)
    (tmp_path / "none.tsv").write_text("", encoding="utf-8")
    with pytest.raises(SystemExit, match="expected the columns source, document"):
        run(example.split, "-i", tmp_path / "none.tsv", "-o", out)
    monkeypatch.setitem(sys.modules, "fugashi", None)
    for language, message in (("ja", "pip install fugashi unidic-lite"), ("zh", "finds words of Japanese")):
        with pytest.raises(SystemExit, match=message):
            run(example.split, "-i", write_pairs(tmp_path / "pairs.tsv", language), "-o", out)
    assert not out.exists()


# Clients that serve the packages of $SERVED, and note how they were called in $SERVED/../calls.
APT_GET = """#!/bin/sh
echo "$0 $*" >>"$SERVED/../calls"
case "$*" in
*" indextargets "*) ls "$SERVED"/*_Translation-* ;;
*" download "*) all=$*; for name in ${all#* download }; do cp "$SERVED/$name"_* . || exit 100; done ;;
esac
"""
APT_CACHE = """#!/bin/sh
(cd "$SERVED" && ls *.deb) | sed 's/_.*//'
"""
NPM = """#!/bin/sh
echo "$0 $*" >>"$SERVED/../calls"
for name; do :; done
cp "$SERVED/$name"-*.tgz . && ls *.tgz
"""


def write_clients(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in (("apt-get", APT_GET), ("apt-cache", APT_CACHE), ("npm", NPM)):
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


def test_packages_are_fetched_by_name(
    example: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    served = write_packages(tmp_path / "served")
    for version in ("1.8", "1.16", "1.14"):
        write_deb(served, f"wesnoth-{version}-data", {})
    (served / "quran-json-3.1.2.tgz").write_bytes(b"")
    monkeypatch.setenv("PATH", str(write_clients(tmp_path / "bin")), prepend=":")
    monkeypatch.setenv("SERVED", str(served))
    monkeypatch.chdir(tmp_path)

    run(example.fetch, "--languages", "de", "en", "-o", "all/packages")
    names = {path.name.partition("_")[0] for path in Path("all/packages").iterdir()}
    debian = {"debian", "libreoffice-help-de", "libreoffice-help-en-us", "libreoffice-l10n-de"}
    assert names == {*debian, "wesnoth-1.16-data"}
    assert "gimp-data: not in the indexes of apt, left out" in capfd.readouterr().out
    calls = (tmp_path / "calls").read_text(encoding="utf-8")
    assert "-o Acquire::Languages=en,de -o" in calls
    states = set(re.findall(r"Dir::(?:State|Cache)=(\S+)", calls))
    assert len(states) == 1
    assert not Path(states.pop()).exists()

    run(example.fetch, "--languages", "ur", "en", "-o", "some", "--packages", "npm:quran-json")
    assert [path.name for path in Path("some").iterdir()] == ["quran-json-3.1.2.tgz"]

    for name, message in (
        ("gimp-data", "gimp-data: not in the indexes of apt"),
        ("npm:no-such", "npm pack: failed with status 1"),
        ("descriptions", "descriptions in both languages: not in the indexes"),
    ):
        with pytest.raises(SystemExit, match=message):
            run(example.fetch, "--languages", "fr", "en", "-o", "none", "--packages", name)
    with pytest.raises(SystemExit, match="some: exists"):
        run(example.fetch, "--languages", "ur", "en", "-o", "some")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match="npm: not found; packages fetched elsewhere do as well"):
        run(example.fetch, "--languages", "ur", "en", "-o", "none", "--packages", "npm:quran-json")
    assert not Path("none").exists()


def write_corpus(folder: Path, language: str) -> None:
    """Packages with the help of the language, 20 pages of made-up sentences, and one package's description."""
    for code in ("en-US", language):
        pages: dict[str, list[str]] = {}
        for _, page, english, other in made_rows(5, 20):
            pages.setdefault(page, []).append(english if code == "en-US" else other)
        files = {
            f"{HELP}/{code}/text/{page}.html": "".join(f"<p id='par_id{n}'>{one}</p>" for n, one in enumerate(lines))
            for page, lines in pages.items()
        }
        write_deb(folder, f"libreoffice-help-{code.lower()}", files)
    write_deb(folder, f"libreoffice-l10n-{language}", {})
    (folder / "debian_main_i18n_Translation-en").write_text(ENGLISH_INDEX, encoding="utf-8")
    index = GERMAN_INDEX.replace("Description-de", f"Description-{language}")
    (folder / f"debian_main_i18n_Translation-{language}").write_text(index, encoding="utf-8")


def test_the_readme_runs_as_it_stands_with_made_up_packages(server: str, tmp_path: Path) -> None:
    """What ``smt train`` does is left to its tests: here, it says what it would do."""
    served = tmp_path / "served"
    served.mkdir()
    write_corpus(served, "de")
    write_corpus(served, "ja")
    (tmp_path / "smt").mkdir()
    environment = client_environment(tmp_path / "smt", server)
    clients = write_clients(tmp_path / "bin")
    (clients / "smt").write_text('#!/bin/sh\nexec "$SMT" "$@" --dry-run\n', encoding="utf-8")
    (clients / "smt").chmod(0o755)
    (clients / "fugashi.py").write_text("class Tagger:\n    def __init__(self, options): pass\n    parse = str\n")
    environment |= {
        "PATH": f"{clients}:{environment['PATH']}",
        "PYTHONPATH": str(clients),
        "SERVED": str(served),
        "SMT": str(tmp_path / "smt/bin/smt"),
    }
    # .ci/run sets it; the scripts import each other from their folder.
    environment.pop("PYTHONSAFEPATH", None)
    folder = shutil.copytree(EXAMPLE, tmp_path / "copy")
    for language, body in fences(EXAMPLE / "README.md"):
        if language == "sh":
            assert body.startswith(INSTALL)
            continue
        assert language == "console"
        for command in body.removeprefix("$ ").split("\n$ "):
            done = subprocess.run(
                command, cwd=folder, env=environment, shell=True, capture_output=True, text=True, timeout=600
            )
            assert done.returncode == 0, done.stderr
            assert "smt tune" in done.stdout or " train " not in command, done.stdout
    for work, suffix in (("work", "de"), ("small", "de"), ("japanese", "ja")):
        for part, side in itertools.product(("train", "dev", "test"), (suffix, "en")):
            assert (folder / work / f"text/{part}.{side}").stat().st_size > 0

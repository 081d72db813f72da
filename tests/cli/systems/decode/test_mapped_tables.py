"""Systems with tables that are filtered, or mapped from folders of our own: the same bytes as with the text tables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.systems.decode.systems import BAKER, Smt, phrases, toolkit

TABLES = {
    "moses.pb.ini": ["phrase-table.gz", "reordering-table.wbe-msd-bidirectional-fe.gz"],
    "moses.hiero.ini": ["rule-table.gz", "glue-grammar"],
}
TABLE = """\
der ||| the ||| 0.7 0.3 ||| 0-0 ||| 1 2 ||| s 2
der ||| of the ||| 0.3 0.3 ||| 0-0 0-1
der koch ||| the cook ||| 1 1
"""


def decoded(smt: Smt, config: str, text: Path) -> str:
    return str(smt("decode", "-c", config, "-i", str(text), "-k", "20", "-q", "--cache", "off").ok())


@pytest.mark.shared
@pytest.mark.parametrize("config", TABLES)
def test_gold_systems(shared: Path, smt: Smt, config: str) -> None:
    moses = shared / "gold/moses"
    text = Path("sentences")
    lines = (moses / "pb/t10.de").read_text(encoding="utf-8").splitlines(keepends=True)
    text.write_text("".join(lines[:2]), encoding="utf-8")
    whole = (moses / "model" / config).read_text().replace("../cdec", str(shared / "gold/cdec"))
    filtered, mapped = whole, whole
    for table in TABLES[config]:
        smt("filter", str(moses / "model" / table), "-i", str(text), "-o", table, "-q").ok()
        filtered = filtered.replace(f"model/{table}", table)
        mapped = mapped.replace(f"model/{table}", table if table.startswith("reordering") else f"{table}.smt")
        if not table.startswith("reordering"):
            smt("convert", table, f"{table}.smt", "-q").ok()
    Path("whole.ini").write_text(whole.replace("path=model", f"path={moses}/model"))
    Path("filtered.ini").write_text(filtered)
    Path("mapped.ini").write_text(mapped)
    wanted = decoded(smt, "whole.ini", text)
    assert wanted.count("\n") == 40
    assert decoded(smt, "filtered.ini", text) == wanted
    assert decoded(smt, "mapped.ini", text) == wanted


@pytest.mark.parametrize("name", ["phrases", "moses", "joshua", "cdec"])
def test_folders_have_their_formats_whatever_a_configuration_names(smt: Smt, name: str) -> None:
    config = Path(phrases() if name == "phrases" else toolkit(name))
    tables = {"phrases": ["phrases"], "cdec": ["rules.txt"]}.get(name, ["rules", "glue"])
    text = config.read_text()
    Path("input").write_text(BAKER)
    for table in tables:
        smt("convert", table, f"{table}.smt", "-q", *(("--from", "joshua-grammar") if name == "joshua" else ())).ok()
        text = re.sub(rf"\b{table}$|(?<==){table}\b", f"{table}.smt", text, flags=re.MULTILINE)
    assert all(f"{table}.smt" in text for table in tables)
    Path(f"mapped{config.suffix}").write_text(text)
    wanted = decoded(smt, str(config), Path("input"))
    assert wanted
    assert decoded(smt, f"mapped{config.suffix}", Path("input")) == wanted


def test_a_table_comes_back(smt: Smt) -> None:
    Path("text").write_text(TABLE)
    noted = smt("convert", "text", "table.smt")
    assert (noted.code, noted.err) == (0, "smt: note: smt-table cannot carry counts, properties: left out\n")
    assert smt("convert", "table.smt", "-", "--to", "moses-phrases").ok() == TABLE.replace("1 2", "")
    smt("convert", "table.smt", "small.smt", "--to", "smt-table,quantise=1").ok()
    assert "quantised" in smt("info", "small.smt").ok()
    assert "quantised" not in smt("info", "table.smt").ok()
    # With other words, scores keep what a system renames them by.
    smt("convert", "text", "escaped.smt", "--escape", "moses", "-q").ok()
    assert Path("escaped.smt/arrays").read_bytes() == Path("table.smt/arrays").read_bytes()
    assert Path("escaped.smt/smt-table.json").read_bytes() == Path("table.smt/smt-table.json").read_bytes()
    # Filtered, too, in place; a link stays one.
    Path("input").write_text("koch der\n")
    Path("link.smt").symlink_to("table.smt")
    assert smt("filter", "table.smt", "-i", "input", "-o", "link.smt").err == "smt: note: 2 of 3 rules kept\n"
    assert Path("link.smt").readlink() == Path("table.smt")
    assert smt("convert", "table.smt", "-", "--to", "moses-phrases").ok().count("\n") == 2
    assert "TM0[0]" in str(
        smt("convert", "table.smt", "-", "--to", "cdec-grammar", "--from", "smt-table,table=TM0").ok()
    )
    for arguments, text in (
        (("text", "table.smt", "--precision", "3"), "--precision is for text"),
        (("text", "table.smt", "-k", "3"), "-k: expected forests or lattices, found moses-phrases"),
        (
            ("table.smt", "new.gz"),
            "new.gz: expected a name that ends in .smt, for a folder of smt-table, or the format",
        ),
        (("text", "table.smt", "--to", "smt-table,quantise=17"), "expected quantise of 1 to 16 bits, found 17"),
        (("text", "input", "--to", "smt-table"), "expected a folder that is new"),
        (("text", "-", "--to", "smt-table"), "standard output cannot hold one"),
    ):
        assert text in smt("convert", *arguments).err


def test_phrases_are_extracted_into_a_folder(smt: Smt) -> None:
    for name, text in (("s", "a b\nc\n"), ("t", "A B\nC\n"), ("a", "0-0 1-1\n0-0\n")):
        Path(name).write_text(text)
    shown = []
    for options in ((), ("--to", "smt-table")):
        smt("extract", "--phrases", "-s", "s", "-t", "t", "-a", "a", "-o", "out", "-q", *options).ok()
        table = "out/phrase-table.smt" if options else "out/phrase-table.gz"
        shown.append(smt("convert", table, "-", "--to", "cdec-grammar", "--precision", "6", "-q").ok())
    assert shown[0] == shown[1]
    assert shown[0].count("\n") == 4

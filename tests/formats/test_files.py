"""Opening and writing files: lines, compression, pipes, atomic output."""

from __future__ import annotations

import bz2
import functools
import gzip
import io
import lzma
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from smtformats import FormatError, open_bytes, open_lines, open_write
from smtformats.files import HEAD_BYTES, Lines, head, open_binary_write

TEXT = "".join(f"{i} ||| zeile {i * 7919 % 1009} mit\u00a0umlaut ä\n" for i in range(20000))


def zst(data: bytes) -> bytes:
    from xopen import xopen

    out = io.BytesIO()
    with xopen(out, "wb", threads=0, format="zst") as stream:
        stream.write(data)
    return out.getvalue()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zst,
}


@functools.cache
def packed(kind: str) -> bytes:
    """The text, compressed once: xz takes longer than all that is tested."""
    return PACKERS[kind](TEXT.encode())


def run(code: str, *, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-X", "dev", "-c", code], input=stdin, capture_output=True, timeout=300)


@pytest.fixture
def fed(tmp_path: Path) -> Iterator[Callable[[bytes, int], Path]]:
    """A named pipe that delivers its data in small pieces."""
    writers: list[threading.Thread] = []

    def make(data: bytes, piece: int) -> Path:
        path = tmp_path / f"pipe{len(writers)}"
        os.mkfifo(path)

        def feed() -> None:
            with open(path, "wb", buffering=0) as pipe:
                for start in range(0, len(data), piece):
                    pipe.write(data[start : start + piece])

        writers.append(threading.Thread(target=feed))
        writers[-1].start()
        return path

    yield make
    for writer in writers:
        writer.join(30)
        assert not writer.is_alive()


# Lines


def lines_of(data: bytes, **options: int) -> Lines:
    return Lines(io.BytesIO(data), "x", **options)


def test_lines_end_at_newline_only() -> None:
    text = "a\u2028b\x85c\rd\x0be\x0cf\r\n\ng"
    lines = lines_of(text.encode())
    assert list(lines) == ["a\u2028b\x85c\rd\x0be\x0cf\r\n", "\n", "g"]
    assert lines.number == 3
    assert list(lines_of(b"")) == []


def test_invalid_utf8_names_line_field_and_column() -> None:
    lines = lines_of(b"0 ||| \xc3\xa4 ||| F=1 ||| 1\n0 ||| a ||| F\xff=1 ||| 1\n")
    with pytest.raises(FormatError) as caught:
        list(lines)
    assert str(caught.value) == "x:2: field 3: expected UTF-8 text, found byte 0xff at column 14"


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_line_limit(end: bytes) -> None:
    room = 10 - len(end)
    assert list(lines_of(b"ab\n" + b"c" * room + end, max_bytes=10)) == ["ab\n", "c" * room + end.decode()]
    with pytest.raises(FormatError) as caught:
        list(lines_of(b"ab\n" + b"c" * (room + 1) + end + b"d\n", max_bytes=10))
    assert str(caught.value) == "x:2: field 1: expected a line of at most 10 bytes, found a longer one"


def test_bytes_between_lines_count_their_line_breaks() -> None:
    lines = Lines(io.BytesIO(b"head\n\xff\n\x00\nEND\nnext\n"), "x")
    stream = iter(lines)
    assert (next(stream), lines.number) == ("head\n", 1)
    assert (lines.read(4), lines.number) == (b"\xff\n\x00\n", 3)
    assert (next(stream), lines.number) == ("END\n", 4)
    with pytest.raises(FormatError) as caught:
        lines.read(6)
    assert str(caught.value) == "x:5: field 1: expected 6 more bytes, found 5 at the end of the file"


def test_error_before_the_first_line_is_at_line_1() -> None:
    assert str(lines_of(b"").error("a", "b", 1)) == "x:1: field 1: expected a, found b"


# Reading


@pytest.mark.parametrize("kind", PACKERS)
@pytest.mark.parametrize("name", ["plain.txt", "no-suffix", "wrong.gz"])
def test_compression_is_told_by_content(tmp_path: Path, kind: str, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(packed(kind))
    with open_lines(path) as lines:
        assert "".join(lines) == TEXT
        assert lines.name == str(path)


def test_plain_file_named_gz(tmp_path: Path) -> None:
    path = tmp_path / "plain.gz"
    path.write_text("a\nb\n")
    with open_lines(path) as lines:
        assert list(lines) == ["a\n", "b\n"]


@pytest.mark.parametrize("kind", PACKERS)
@pytest.mark.parametrize("fault", ["cut", "cut short", "spoilt"])
def test_broken_compression_is_a_format_error(tmp_path: Path, kind: str, fault: str) -> None:
    data = packed(kind)
    third = len(data) // 3
    spoilt = data[:third] + bytes(byte ^ 0xFF for byte in data[third:])
    path = tmp_path / "broken"
    path.write_bytes({"cut": data[: len(data) // 2], "cut short": data[:7], "spoilt": spoilt}[fault])
    with pytest.raises(FormatError) as caught, open_lines(path) as lines:
        list(lines)
    assert (caught.value.file, caught.value.field) == (str(path), 1)
    # Corrupt gzip may decompress to garbage before its checksum is reached.
    assert caught.value.expected == "a complete compressed file" or (kind, fault) == ("gz", "spoilt")
    if fault == "cut short":
        with open_bytes(path) as stream, pytest.raises(FormatError) as caught:
            head(stream, "x")
        assert str(caught.value).startswith("x:1: field 1: expected a complete compressed file")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files through /proc")
@pytest.mark.parametrize("kind", PACKERS)
def test_compressed_files_are_closed(tmp_path: Path, kind: str) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    data = packed(kind)
    good.write_bytes(data)
    bad.write_bytes(data[: len(data) // 2])

    def opened() -> int:
        with open_lines(good) as lines:
            next(iter(lines))
        with pytest.raises(FormatError), open_lines(bad) as lines:
            list(lines)
        return len(os.listdir("/proc/self/fd"))

    assert opened() == opened()


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_bytes(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        open_bytes(tmp_path)


def test_head_is_left_in_place(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text(TEXT)
    with open_bytes(path) as stream:
        assert head(stream) == TEXT.encode()[:HEAD_BYTES]
        assert stream.read() == TEXT.encode()
    path.write_bytes(b"")
    with open_bytes(path) as stream:
        assert head(stream) == b""


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zst])
def test_pipe_of_few_bytes_shows_a_full_head(fed: Callable[[bytes, int], Path], pack: Callable[[bytes], bytes]) -> None:
    data = TEXT[:80000].encode()
    with open_bytes(fed(pack(data), 211)) as stream:
        assert head(stream) == data[:HEAD_BYTES]
        assert stream.read() == data


def test_standard_input() -> None:
    code = """
from smtformats import open_lines
with open_lines("-") as lines:
    print(lines.name, sum(map(len, lines)), lines.number)
"""
    for data in (TEXT.encode(), gzip.compress(TEXT.encode())):
        done = run(code, stdin=data)
        assert (done.stdout.decode(), done.stderr) == (f"<stdin> {len(TEXT)} 20000\n", b"")


# Writing


def test_standard_output() -> None:
    code = """
import sys
from smtformats import open_write
with open_write("-") as out:
    out.write("ä\\r\\n" * 3)
sys.stdout.write("still open")
"""
    done = run(code)
    assert (done.stdout.decode(), done.stderr) == ("ä\r\n" * 3 + "still open", b"")


@pytest.mark.parametrize("lines", [1, 100000])
def test_closed_pipe_is_one_quiet_exception(lines: int) -> None:
    code = f"""
import sys
from smtformats import open_write
try:
    with open_write("-") as out:
        sys.stdin.read()
        for _ in range({lines}):
            out.write("line\\n")
except BrokenPipeError:
    sys.exit(7)
"""
    reader, writer = os.pipe()
    started = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=writer, stderr=subprocess.PIPE
    )
    os.close(writer)
    os.close(reader)
    _, stderr = started.communicate(timeout=300)
    assert (started.returncode, stderr) == (7, b"")


def unpacked(path: Path) -> bytes:
    with open_bytes(path) as stream:
        return stream.read()


@pytest.mark.parametrize("suffix", ["", ".txt", ".gz", ".bz2", ".xz", ".zst"])
def test_output_is_compressed_by_suffix(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    with open_write(path) as out:
        out.write("ä\n" * 1000 + "no\rtranslation\r\n\u2028")
    assert unpacked(path).decode() == "ä\n" * 1000 + "no\rtranslation\r\n\u2028"
    assert (path.read_bytes()[:2] == "ä".encode()) == (suffix in ("", ".txt"))
    assert os.listdir(tmp_path) == [path.name]


def test_interrupted_as_its_file_is_made_it_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = os.open

    def interrupted(*arguments: Any, **options: Any) -> int:
        os.close(make(*arguments, **options))
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", interrupted)
        with pytest.raises(KeyboardInterrupt), open_binary_write(tmp_path / "out"):
            pass
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["out", "out.gz"])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("before", [None, b"old\n"])
def test_failed_output_leaves_what_was_there(
    tmp_path: Path, name: str, error: type[BaseException], before: bytes | None
) -> None:
    path = tmp_path / name
    if before is not None:
        path.write_bytes(before)

    def fail() -> None:
        with open_write(path) as out:
            out.write("new\n" * 100000)
            raise error

    with pytest.raises(error):
        fail()
    assert os.listdir(tmp_path) == ([] if before is None else [name])
    if before is not None:
        assert path.read_bytes() == before


def test_old_content_stays_until_the_end(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old\n")
    with open_write(path) as out:
        out.write("new\n")
        out.flush()
        assert path.read_text() == "old\n"
    assert path.read_text() == "new\n"


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_permissions_are_those_of_open(tmp_path: Path, umask: int, mode: int) -> None:
    path = tmp_path / "out"
    old = os.umask(umask)
    try:
        with open_write(path) as out:
            out.write("a\n")
        assert stat.S_IMODE(path.stat().st_mode) == mode
        path.chmod(0o640)
        with open_write(path) as out:
            out.write("b\n")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
    finally:
        os.umask(old)


def test_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target", tmp_path / "link.gz"
    link.symlink_to(target)
    for text in ("new\n", "newer\n"):
        with open_write(link) as out:
            out.write(text)
        assert link.is_symlink()
        assert gzip.decompress(target.read_bytes()).decode() == text
    assert os.listdir(tmp_path / "folder") == ["target"]


def test_named_pipe_and_device_are_written_to(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    with open_write(path) as out:
        out.write("through\n")
    reader.join(30)
    assert read == [b"through\n"]
    assert stat.S_ISFIFO(path.stat().st_mode)
    with open_write(os.devnull) as out:
        out.write("nowhere\n")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_missing_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none" / "out"
    with pytest.raises(FileNotFoundError) as caught, open_write(path):
        pass
    assert caught.value.filename == str(path)
    with pytest.raises(IsADirectoryError), open_write(tmp_path):
        pass


def test_bytes(tmp_path: Path) -> None:
    with open_binary_write(tmp_path / "out.gz") as out:
        out.write(b"\xff\x00")
    assert unpacked(tmp_path / "out.gz") == b"\xff\x00"


@pytest.mark.parametrize("name", ["out", "out.gz"])
def test_a_full_disk_is_named(tmp_path: Path, name: str) -> None:
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))
    try:
        with pytest.raises(OSError, match="File too large") as failed, open_binary_write(tmp_path / name) as out:
            out.write(os.urandom(1 << 20))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)
    assert failed.value.filename == str(tmp_path)
    assert os.listdir(tmp_path) == []

"""Files of a recipe: found and compared where folders are shared, else sent in parts and kept by their hash."""

from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.spec import Spec
from smtplugins.contracts.tools.running import digest, shipped_place, shipping
from smtplugins.host.spread.folders import OutputFolder
from smtplugins.host.spread.shipping import sent_spec

pytest.importorskip("distributed")
shipped = pytest.importorskip("smtplugins.plugins.cluster.shipping")


@pytest.fixture(autouse=True)
def _kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def arrived(spec: Spec) -> Spec:
    """A spec as a worker gets it."""
    there: Spec = pickle.loads(pickle.dumps(sent_spec(spec)))
    return there


class TestShared:
    def test_a_file_that_is_the_same_is_found(self, tmp_path: Path) -> None:
        (tmp_path / "lm").write_text("x" * 200_000)
        spec = Spec("lm", {"path": str(tmp_path / "lm"), "name": "lm2", "weight": 2})
        assert arrived(spec) == spec

    @pytest.mark.parametrize("changed", ["", "x" * 199_999 + "y", "y" + "x" * 199_999, "x" * 200_001])
    def test_another_one_is_an_error(self, tmp_path: Path, changed: str) -> None:
        (tmp_path / "lm").write_text("x" * 200_000)
        packed = pickle.dumps(sent_spec(Spec("lm", {"path": str(tmp_path / "lm")})))
        (tmp_path / "lm").write_text(changed)
        with pytest.raises(SmtError, match=r"lm: expected what the client has, found other contents"):
            pickle.loads(packed)

    def test_a_missing_one_is_an_error(self, tmp_path: Path) -> None:
        (tmp_path / "table.smt").mkdir()
        (tmp_path / "table.smt" / "rules.npy").write_bytes(b"1")
        packed = pickle.dumps(sent_spec(Spec("x", {"table_path": tmp_path / "table.smt"})))
        shutil.rmtree(tmp_path / "table.smt")
        with pytest.raises(SmtError, match=r"table.smt: missing: share its folder with workers, or send"):
            pickle.loads(packed)

    def test_a_file_of_a_folder_counts(self, tmp_path: Path) -> None:
        (tmp_path / "table.smt").mkdir()
        (tmp_path / "table.smt" / "rules.npy").write_bytes(b"1")
        packed = pickle.dumps(sent_spec(Spec("x", {"table_path": tmp_path / "table.smt"})))
        (tmp_path / "table.smt" / "more.npy").write_bytes(b"")
        with pytest.raises(SmtError, match="other contents"):
            pickle.loads(packed)

    def test_a_change_in_the_middle_makes_another_recipe(self, tmp_path: Path) -> None:
        spec = Spec("lm", {"path": str(tmp_path / "lm")})
        (tmp_path / "lm").write_text("x" * 200_000)
        before = pickle.dumps(sent_spec(spec))
        (tmp_path / "lm").write_text("x" * 100_000 + "y" + "x" * 99_999)
        os.utime(tmp_path / "lm", ns=(0, (tmp_path / "lm").stat().st_mtime_ns + 1))
        assert pickle.dumps(sent_spec(spec)) != before
        assert arrived(spec) == spec

    def test_a_value_that_names_no_file_stays(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "wbe").write_text("")
        spec = Spec("lexical-reordering", {"model": "wbe", "path": "absent"})
        assert sent_spec(spec) == spec


class TestParts:
    @pytest.mark.parametrize("size", [1, 3, 7, 1000])
    def test_they_are_put_together_in_any_order(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
    ) -> None:
        monkeypatch.setattr(shipped, "PART", size)
        folder = tmp_path / "table.smt"
        (folder / "inner").mkdir(parents=True)
        contents = {"a": b"12345", "b": b"", "inner/c": b"6789" * 3}
        for name, data in contents.items():
            (folder / name).write_bytes(data)
        with shipping(True) as shipment:
            packed = pickle.dumps(sent_spec(Spec("x", {"path": str(folder)})))
        ((named, files),) = shipment.contents.items()
        parts = list(shipped.parts_of(files, named))
        assert len(parts) == max(1, -(-17 // size))
        shutil.rmtree(folder)
        for part in reversed(parts):
            assert not shipped_place(named).exists()
            pickle.loads(pickle.dumps(part)).setup(None)
        # Again, as for a second worker of the machine.
        parts[0].setup(None)
        place = Path(pickle.loads(packed).options["path"])
        assert place == shipped_place(named) / "table.smt"
        assert {str(one.relative_to(place)): one.read_bytes() for one in place.rglob("*") if one.is_file()} == contents
        assert {one.name for one in shipped_place(named).parent.iterdir()} == {named, ".lock"}

    def test_workers_of_one_machine_may_get_them_at_once(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shipped, "PART", 10)
        (tmp_path / "lm").write_bytes(os.urandom(200))
        files = [("lm", tmp_path / "lm")]
        parts = list(shipped.parts_of(files, digest(files)))

        def work() -> None:
            for part in parts:
                part.setup(None)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (shipped_place(digest(files)) / "lm").read_bytes() == (tmp_path / "lm").read_bytes()

    def test_what_was_changed_on_its_way_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "lm").write_bytes(b"right")
        files = [("lm", tmp_path / "lm")]
        named = digest(files)
        (tmp_path / "lm").write_bytes(b"wrong")
        (part,) = shipped.parts_of(files, named)
        with pytest.raises(SmtError, match="lm: what arrived differs from what was sent"):
            part.setup(None)
        assert not shipped_place(named).exists()


class TestOutputFolders:
    def test_a_process_and_its_forks_write_in_them(self, tmp_path: Path) -> None:
        folder = OutputFolder(tmp_path)
        with folder.written() as (place, parcel):
            (place / "forest").write_bytes(b"1")
        assert (place, parcel) == (tmp_path, {})

    def test_others_send_what_they_write(self, tmp_path: Path) -> None:
        there = OutputFolder(tmp_path / "out", "another process")
        with there.written() as (place, parcel):
            (place / "run-1").mkdir()
            (place / "run-1" / "step").write_bytes(b"1")
        assert parcel == {"run-1/step": b"1"}
        assert not place.exists()
        there.unpack(parcel)
        assert (tmp_path / "out/run-1/step").read_bytes() == b"1"
        with pytest.raises(SmtError, match="outside"):
            there.unpack({"../x": b""})


@dataclass
class Node:
    """A network namespace with an address of its own, and processes that see no folder of the test."""

    name: str
    address: str
    home: Path

    def command(self, *words: str, hidden: Path | None = None) -> list[str]:
        """A command in the namespace; ``hidden`` is a folder that it sees empty."""
        inside = ["ip", "netns", "exec", self.name]
        if hidden is None:
            return [*inside, *words]
        script = f'mount -t tmpfs none {hidden} && mkdir -p {self.home} && cd {self.home} && exec "$@"'
        return [*inside, "unshare", "-m", "sh", "-c", script, "sh", *words]


def call(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[list[Node]]:
    """A client's node with a bridge, and two workers' nodes on it."""
    if os.geteuid() or not all(map(shutil.which, ("ip", "unshare"))):
        pytest.skip("network namespaces need root and iproute2")
    tag = f"smt{os.getpid()}"
    names = [f"{tag}n{number}" for number in range(3)]
    subnet = os.getpid() % 250
    made = [Node(name, f"10.78.{subnet}.{number + 1}", tmp_path / name) for number, name in enumerate(names)]
    try:
        for number, node in enumerate(made):
            call("ip", "netns", "add", node.name)
            call(*node.command("ip", "link", "set", "lo", "up"))
            if not number:
                call(*node.command("ip", "link", "add", "bridge", "type", "bridge"))
                call(*node.command("ip", "link", "set", "bridge", "up"))
                call(*node.command("ip", "addr", "add", f"{node.address}/24", "dev", "bridge"))
                continue
            end, far = f"v{number}{tag}"[:15], f"w{number}{tag}"[:15]
            call("ip", "link", "add", end, "type", "veth", "peer", "name", far)
            call("ip", "link", "set", end, "netns", made[0].name)
            call("ip", "link", "set", far, "netns", node.name)
            call(*made[0].command("ip", "link", "set", end, "master", "bridge", "up"))
            call(*node.command("ip", "addr", "add", f"{node.address}/24", "dev", far))
            call(*node.command("ip", "link", "set", far, "up"))
        yield made
    finally:
        for node in made:
            subprocess.run(["ip", "netns", "delete", node.name], capture_output=True, check=False)


@contextlib.contextmanager
def started(command: list[str], log: Path, **more: Any) -> Iterator[None]:
    with (
        log.open("wb") as out,
        subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True, **more) as one,
    ):
        try:
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(one.pid, signal.SIGKILL)


def test_nodes_that_share_no_folder_write_the_same(nodes: list[Node], tmp_path: Path) -> None:
    """Workers on two other addresses, which see neither the client's folder nor its cache, decode with what is sent."""
    here = tmp_path / "client"
    here.mkdir()
    (here / "table").write_text("a ||| b ||| 0.5 0.5 0.5 0.5\na ||| c ||| 0.6 0.1 0.2 0.9\nd ||| e f ||| 1 1 1 1\n")
    (here / "weights").write_text("TranslationModel0[0]=1\nTranslationModel0[1]=-1\nword-penalty=-1\n")
    (here / "text").write_text("a d a\nd\na a a d d a\nd a\n" * 5)
    (here / "run.yaml").write_text(
        "decoder: phrase\nmodel: {tables: [{path: table, format: moses-phrases, name: TranslationModel0}], "
        "features: [word-penalty], weights: weights}\n"
    )
    dask = [sys.executable, "-W", "ignore", "-m", "dask"]
    smt = [sys.executable, "-c", "import sys; from smtplugins.cli.main import main; sys.exit(main(sys.argv[1:]))"]
    head, *others = nodes
    address = f"tcp://{head.address}:8786"
    with contextlib.ExitStack() as stack:
        serve = head.command(*dask, "scheduler", "--host", head.address, "--port", "8786", "--no-dashboard")
        stack.enter_context(started(serve, tmp_path / "scheduler.log"))
        for node in others:
            own = {**os.environ, "HOME": str(node.home), "XDG_CACHE_HOME": str(node.home / "cache")}
            work = [*dask, "worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny"]
            work += ["--local-directory", str(node.home)]
            stack.enter_context(started(node.command(*work, hidden=here), tmp_path / f"{node.name}.log", env=own))

        def decoded(*options: str) -> subprocess.CompletedProcess[str]:
            command = [*smt, "decode", "-q", "-c", "run.yaml", "-i", "text", "-k", "3", *options]
            return subprocess.run(head.command(*command), cwd=here, capture_output=True, text=True, check=False)

        alone = decoded("--forests", "forests")
        sent = decoded("--forests", "sent", "--runner", f"dask,address={address},ship=true")
        unsent = decoded("--runner", f"dask,address={address}")
    assert (alone.returncode, sent.returncode, sent.stderr) == (0, 0, "")
    assert alone.stdout == sent.stdout
    assert alone.stdout.count("\n") > 20
    names = sorted(path.name for path in (here / "forests").iterdir())
    assert names == sorted(path.name for path in (here / "sent").iterdir())
    assert len(names) == 20
    assert all((here / "forests" / name).read_bytes() == (here / "sent" / name).read_bytes() for name in names)
    assert unsent.returncode == 1
    assert "worker tcp://10.78." in unsent.stderr
    assert "missing: share its folder with workers, or send files" in unsent.stderr

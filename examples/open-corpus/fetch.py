"""Fetch packages that hold texts in two languages, with apt-get and npm as they are set up on this machine.

usage: python3 fetch.py --languages de en -o packages [--packages NAME ...]
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from extract import foreign_language
from packages import INDEX, language_code, new_folder

# Languages of the npm package quran-json.
VERSES = ("bn", "es", "fr", "id", "ru", "sv", "tr", "ur", "zh")


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Fetch packages that hold texts in two languages.")
    parser.add_argument("--languages", nargs=2, required=True, metavar=("SOURCE", "TARGET"), help="one of them is en")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="folder for the packages")
    parser.add_argument(
        "--packages",
        nargs="+",
        metavar="NAME",
        help="Debian packages, npm:NAME, or `descriptions` for those of all Debian packages (default: LibreOffice's "
        "help and messages, descriptions, messages of Wesnoth and Gimp, and npm:quran-json for languages it has)",
    )
    args = parser.parse_args()
    foreign = foreign_language(args.languages)
    with new_folder(args.output) as folder, tempfile.TemporaryDirectory() as state:
        fetch(args.packages, foreign, folder, Path(state))
    print(f"{len(list(args.output.iterdir()))} packages: {args.output}")


def fetch(names: list[str] | None, foreign: str, folder: Path, state: Path) -> None:
    """Fetch packages into a folder; apt reads its indexes anew, into a folder of their own."""
    for part in ("lists/partial", "archives/partial"):
        (state / part).mkdir(parents=True)
    settings = [f"Dir::State={state.resolve()}", f"Dir::Cache={state.resolve()}", "APT::Sandbox::User=root"]
    settings += [f"Acquire::Languages=en,{foreign.replace('-', '_')}", "Acquire::GzipIndexes=false"]
    options = ["-q", *(word for setting in settings for word in ("-o", setting))]
    wanted = names or default_packages(foreign)
    npm = [name.removeprefix("npm:") for name in wanted if name.startswith("npm:")]
    debian = [name for name in wanted if not name.startswith("npm:")]
    if debian:
        run("apt-get", options, ["update"], folder)
    if "descriptions" in debian:
        debian.remove("descriptions")
        targets = run(
            "apt-get", options, ["indextargets", "--format", "$(FILENAME)", "Created-By: Translations"], folder
        )
        found = [Path(path) for path in targets.splitlines() if Path(path).is_file()]
        if not {"en", language_code(foreign)} <= {language_code(INDEX.fullmatch(path.name)[1]) for path in found}:
            missing("descriptions in both languages", required=names is not None)
            found = []
        for path in found:
            shutil.copy(path, folder)
    if debian:
        known = run("apt-cache", options, ["pkgnames"], folder).split()
        matches = {name: find_package(name, known) for name in debian}
        for name, match in matches.items():
            if match is None:
                missing(name, required=names is not None)
        run("apt-get", options, ["download", *filter(None, matches.values())], folder)
    for name in npm:
        run("npm", [], ["pack", "--silent", name], folder)


def find_package(name: str, known: list[str]) -> str | None:
    """The package of a name in which ``*`` stands for the highest version number there is."""
    pattern = re.escape(name).replace(r"\*", r"[\d.]+")
    matches = [one for one in known if re.fullmatch(pattern, one)]
    return max(matches, key=lambda one: list(map(int, re.findall(r"\d+", one))), default=None)


def missing(name: str, *, required: bool) -> None:
    """Say that there is no such package: an error if it was asked for."""
    if required:
        sys.exit(f"{name}: not in the indexes of apt: see --packages")
    print(f"{name}: not in the indexes of apt, left out")


def default_packages(foreign: str) -> list[str]:
    """What is fetched if nothing is named; ``*`` stands for the highest version number."""
    suffix = language_code(foreign)
    debian = ["libreoffice-help-en-us", f"libreoffice-help-{suffix}", f"libreoffice-l10n-{suffix}"]
    verses = ["npm:quran-json"] if foreign in VERSES else []
    return ["descriptions", *debian, "wesnoth-*-data", "gimp-data", *verses]


def run(program: str, options: list[str], arguments: list[str], folder: Path) -> str:
    """Run a client in a folder and return its output; it says itself what went wrong."""
    print("$", program, *arguments, flush=True)
    if shutil.which(program) is None:
        sys.exit(f"{program}: not found; packages fetched elsewhere do as well: begin with extract.py")
    done = subprocess.run([program, *options, *arguments], cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{program} {arguments[0]}: failed with status {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    main()

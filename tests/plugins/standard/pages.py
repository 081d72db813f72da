"""Pages in Debian's Chromium, driven by Playwright, which downloads no browser of its own here."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, Page, Request, expect, sync_playwright

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
# No sandbox for root in a container; and nothing that asks for a network on its own.
FLAGS = """--no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic --no-first-run
    --disable-background-networking --disable-component-update --disable-sync""".split()

expect.set_options(timeout=300_000)


@contextmanager
def headless() -> Iterator[Browser]:
    """A Chromium without windows."""
    with pytest.MonkeyPatch.context() as patch:
        # The sanitizers of our own modules are nothing for a browser.
        patch.delenv("LD_PRELOAD", raising=False)
        playwright = sync_playwright().start()
    try:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()
    finally:
        playwright.stop()


@contextmanager
def watched(tab: Page) -> Iterator[Page]:
    """The page wide and light; in the end it has logged, thrown, asked and requested from a network nothing."""
    complaints: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def local(request: Request) -> None:
        if not request.url.startswith(("file:", "blob:", "data:")):
            complaints.append(request.url)

    handlers: dict[Any, Any] = {
        "console": lambda message: complaints.append(f"{message.type}: {message.text}"),
        "pageerror": lambda error: complaints.append(str(error)),
        "dialog": dismiss,
        "request": local,
    }
    for event, handler in handlers.items():
        tab.on(event, handler)
    tab.set_default_timeout(300_000)
    tab.set_viewport_size({"width": 1280, "height": 900})
    tab.emulate_media(media="screen", color_scheme="light")
    yield tab
    for event, handler in handlers.items():
        tab.remove_listener(event, handler)
    assert complaints == []


def visit(tab: Page, path: Path, text: str, ready: str | None = None) -> Page:
    """Open a page of this text; if ``ready`` is given, wait until it has an element of this selector."""
    path.write_text(text, encoding="utf-8")
    tab.goto(path.resolve().as_uri())
    if ready is not None:
        tab.wait_for_selector(ready, state="attached")
    return tab


def every(tab: Page, selector: str, value: str = "one.textContent") -> list[Any]:
    """A value of each element."""
    found: list[Any] = tab.eval_on_selector_all(selector, f"(all) => all.map((one) => {value})")
    return found

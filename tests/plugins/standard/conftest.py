"""A browser for pages."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from pages import CHROMIUM, Browser, Page, headless, watched


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for all tests of a module, if there is a Chromium."""
    if CHROMIUM is None:
        pytest.skip("needs chromium")
    with headless() as browser:
        yield browser


@pytest.fixture(scope="module")
def window(browser: Browser) -> Page:
    """One page for all tests of a module: a new one takes longer than most of them."""
    return browser.new_page()


@pytest.fixture
def tab(window: Page) -> Iterator[Page]:
    """The page, which must not complain."""
    with watched(window) as tab:
        yield tab


@pytest.fixture
def still(browser: Browser) -> Iterator[Page]:
    """A page where scripts are switched off."""
    with watched(browser.new_page(java_script_enabled=False)) as tab:
        yield tab

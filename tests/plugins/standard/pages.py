"""A headless Chromium for tests: its debugging protocol over two pipes, with clicks and keys as a person's."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)

_MIDDLE = (
    "one.scrollIntoView({block: 'center'}); const box = one.getBoundingClientRect();"
    " return [box.x + box.width / 2, box.y + box.height / 2];"
)


class Browser:
    """One page. What the page logs as errors, throws, or asks the network for is noted in ``complaints``."""

    def __init__(self, folder: Path) -> None:
        assert CHROMIUM is not None
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()
        command = (
            f"exec {CHROMIUM} --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run "
            f"--disable-background-networking --user-data-dir={folder} --remote-debugging-pipe "
            f"3<&{to_read} 4>&{from_write}"
        )
        # Sanitizers of our own modules are nothing for a browser.
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        log = (folder.parent / "chromium.log").open("wb")
        self._process = subprocess.Popen(
            ["bash", "-c", command],
            pass_fds=(to_read, from_write),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
        )
        log.close()
        os.close(to_read)
        os.close(from_write)
        self._out, self._in = to_write, from_read
        self._buffer = b""
        self._count = 0
        self._session: str | None = None
        self._loaded = False
        self.complaints: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.size(1280, 900)

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        os.close(self._out)
        os.close(self._in)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the protocol."""
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next(30)
            if answer.get("id") == self._count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result

    def _next(self, seconds: float) -> dict[str, Any]:
        """The next message; events are noted on the way."""
        end = time.monotonic() + seconds
        while b"\0" not in self._buffer:
            if not select.select([self._in], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError("chromium does not answer")
            data = os.read(self._in, 1 << 20)
            if not data:
                raise RuntimeError("chromium has ended")
            self._buffer += data
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, method: str, what: dict[str, Any]) -> None:
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(what["exceptionDetails"].get("exception", what)))
        elif method == "Log.entryAdded":
            self.complaints.append(what["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning"):
            self.complaints.append(str(what["args"]))
        elif method == "Network.requestWillBeSent":
            url = what["request"]["url"]
            if not url.startswith(("file:", "blob:", "data:")):
                self.complaints.append(url)
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append("a dialogue: " + what["message"])

    def open(self, page: Path) -> None:
        """Load a file and wait until it is there."""
        self._loaded = False
        self.call("Page.navigate", url=page.resolve().as_uri())
        while not self._loaded:
            self._next(30)

    def size(self, width: int, height: int) -> None:
        """The size of the window."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, media: str = "", **features: str) -> None:
        """Print or screen, and what the reader prefers: ``prefers_color_scheme="dark"``."""
        pairs = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.call("Emulation.setEmulatedMedia", media=media, features=pairs)

    def evaluate(self, expression: str) -> Any:
        """The value of JavaScript, awaited."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(f"{expression}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def wait(self, expression: str, seconds: float = 10) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while not self.evaluate(f"Boolean({expression})"):
            if time.monotonic() > end:
                raise TimeoutError(f"never true: {expression}")
            time.sleep(0.02)

    def text(self, selector: str) -> str:
        """What a person reads there."""
        return str(self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText"))

    def click(self, selector: str) -> None:
        """Move the mouse to the middle of an element and click."""
        spot = self.evaluate(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)}); {_MIDDLE} }})()",
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=spot[0], y=spot[1], button="left", clickCount=1)

    def press(self, key: str, code: int) -> None:
        """Press a key where the focus is."""
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def write(self, text: str) -> None:
        """Type text where the focus is."""
        self.call("Input.insertText", text=text)

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """A screenshot."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def pdf(self, path: Path) -> None:
        """The page as it prints."""
        path.write_bytes(base64.b64decode(self.call("Page.printToPDF", printBackground=False)["data"]))


def shown(browser: Browser, path: Path, text: str, ready: str) -> Browser:
    """A page as it opens, wide and light, when the expression ``ready`` has become true."""
    path.write_text(text, encoding="utf-8")
    browser.size(1280, 900)
    browser.media()
    browser.open(path)
    browser.wait(ready)
    return browser


def every(browser: Browser, selector: str, value: str = "one.textContent") -> list[Any]:
    """A value of each element."""
    found: list[Any] = browser.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})].map((one) => {value})")
    return found

"""Open a page in a real browser without a screen."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest


def open_in_browser(address: str, net_log: Path, width: int = 400) -> SimpleNamespace:
    """The page as a browser made it: DOM, console lines, and URLs asked for; skips without one."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("no chromium on the path")
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         "--disable-background-networking", "--disable-component-update", "--no-first-run",
         f"--log-net-log={net_log}", "--virtual-time-budget=2000", f"--window-size={width},900",
         "--dump-dom", address],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    # What the browser asks for on its own account (its updates, say) is not of an origin.
    asked = re.findall(r'"initiator":"([^"]*)"[^{}]*(?:{[^{}]*}[^{}]*)*"url":"([^"]*)"',
                       net_log.read_text())  # fmt: skip
    urls = [url for initiator, url in asked if initiator != "not an origin"]
    return SimpleNamespace(dom=done.stdout, console=done.stderr, urls=urls)

"""The site builds without a warning, and its pages are sound in a browser."""

import functools
import http.server
import os
import re
import shutil
import subprocess
import sys
import threading

import pages
import pytest

pytestmark = pytest.mark.slow
WIDTHS = (390, 1280, 1920)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=pages.ROOT, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    assert "WARNING -" not in done.stderr
    return folder


@pytest.fixture(scope="module")
def address(site):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def browser():
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("needs chromium (apt) and playwright (pip)")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


def html_of(site):
    found = [path for path in sorted(site.rglob("*.html")) if path.name not in ("404.html", "report.html")]
    assert len(found) > 40
    return found


def test_no_markup_is_left_over(site):
    for path in html_of(site):
        text = path.read_text(encoding="utf-8")
        for raw in (":math:", ":class:", ":func:", ":meth:", ".. math::", "arithmatex", "<!-- fields", "<!-- commands"):
            assert raw not in text, (path.name, raw)
        assert not re.search(r"\|\s*:?---", text), f"{path.name} has a table that is not one"
        assert "&gt;&gt;&gt; " not in text.replace('<span class="gp">&gt;&gt;&gt; </span>', ""), path.name


def test_every_field_and_option_is_in_the_reference(site):
    from langevin_dqn.cli.main import COMMANDS
    from langevin_dqn.config import FIELD_TYPES

    configuration = (site / "reference/configuration.html").read_text(encoding="utf-8")
    assert [name for name in FIELD_TYPES if f"<code>{name}</code>" not in configuration] == []
    commands = (site / "reference/command_line.html").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f'id="{name}"' not in commands] == []
    assert commands.count("<code>--") > 50


#: How a request fails that was still under way when the next page was opened.
_LEFT_EARLY = "net::ERR_ABORTED"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_pages_in_a_browser(width, scheme, site, address, browser):
    """No horizontal scrolling, nothing in the console, no request to anywhere else, the chosen colours."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page, complaints = context.new_page(), []
    page.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda r: complaints.append(r.url) if r.failure != _LEFT_EARLY else None)
    page.on(
        "request",
        lambda r: complaints.append(r.url) if not r.url.startswith((address, "data:", "blob:")) else None,
    )
    for path in html_of(site):
        name = path.relative_to(site).as_posix()
        page.goto(f"{address}/{name}")
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{name} is {wide} wide"
        clipped = page.evaluate(CLIPPED)
        assert clipped == [], name
        dark = page.evaluate("document.body.getAttribute('data-md-color-scheme')") == "slate"
        assert dark == (scheme == "dark"), name
    context.close()
    assert complaints == []


#: Elements of the text that reach beyond it, and that no ancestor scrolls.
CLIPPED = """
() => {
  const content = document.querySelector("article");
  const right = content.getBoundingClientRect().right + 1;
  const scrolls = (element) => {
    for (let e = element; e && e !== content; e = e.parentElement)
      if (["auto", "scroll"].includes(getComputedStyle(e).overflowX)) return true;
    return false;
  };
  return [...content.querySelectorAll("*")]
    .filter((e) => e.getClientRects().length && e.getBoundingClientRect().right > right && !scrolls(e))
    .slice(0, 3).map((e) => e.outerHTML.slice(0, 120));
}
"""


def test_search_finds_a_setting(site, address, browser):
    page = browser.new_page()
    page.goto(f"{address}/index.html")
    page.locator("input.md-search__input").fill("noise_variance")
    page.locator(".md-search-result__item a").first.wait_for(timeout=20_000)
    page.close()

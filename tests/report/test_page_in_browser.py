"""The page in a browser: Debian's Chromium, driven by Playwright."""

import os
import shutil

import pytest

NARROW, WIDE = 390, 1280

# For every element that has text of its own: the contrast of that text with what is behind it, as WCAG defines it.
CONTRASTS = """
() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b]
    .map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = channels(getComputedStyle(e).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.body.querySelectorAll("*")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || element.closest("svg, script, style") || !element.getClientRects().length) continue;
    const pair = [getComputedStyle(element).color, behind(element)];
    const [low, high] = [luminance(channels(pair[0])), luminance(pair[1])].sort((a, b) => a - b);
    found.push([(high + 0.05) / (low + 0.05), element.outerHTML.slice(0, 80)]);
  }
  return found;
}
"""


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
        running = playwright.chromium.launch(executable_path=chromium)
        yield running
        running.close()


@pytest.fixture
def visit(browser, page_file):
    """Open the page; anything that it complains about or asks the network for fails the test."""
    opened, complaints = [], []

    def open_page(width=WIDE, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        opened.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda r: complaints.append(r.url) if not r.url.startswith(("file:", "data:")) else None)
        page.goto(page_file.as_uri())
        return page

    yield open_page
    for context in opened:
        context.close()
    assert complaints == []


def test_every_figure_is_seen(visit, every_report):
    pictures = visit().locator("section.figure img").all()
    assert len(pictures) == sum(bool(report.results) or not report.planned for report in every_report)
    for picture in pictures:
        assert picture.is_visible()
        assert picture.evaluate("image => image.complete && image.naturalWidth") > 1000


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_no_sideways_scrolling(visit, width):
    page = visit(width)
    wide, room = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert wide <= room == width
    # Wide tables scroll in a box of their own, which the keyboard reaches.
    boxes = page.locator(".scroll")
    assert boxes.count() == 3
    assert all(box.get_attribute("tabindex") == "0" for box in boxes.all())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(visit, scheme):
    page = visit(scheme=scheme)
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 100
    assert [(ratio, words) for ratio, words in contrasts if ratio < 4.5] == []
    brightness = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert (max(brightness) < 60) == (scheme == "dark")
    # Pictures are drawn for white paper.
    assert page.locator("img").first.evaluate("i => getComputedStyle(i).backgroundColor") == "rgb(255, 255, 255)"


def test_the_slider_moves_the_map_by_keyboard(visit, made_up_maps):
    page = visit(NARROW)
    slider, output, svg = (page.locator(f"#fig5 {name}") for name in ("input", "output", "svg"))
    frames = made_up_maps.frames()
    assert slider.is_visible()
    assert svg.locator(".cell").count() == 21
    assert svg.locator("rect[fill^=url]").count() == 15  # the upper right, hatched
    slider.focus()
    seen = []
    for i, frame in enumerate(frames):
        if i:
            before = svg.screenshot()
            page.keyboard.press("ArrowRight")
            assert svg.screenshot() != before
        fills = svg.locator(".cell").evaluate_all("cells => cells.map((cell) => cell.getAttribute('fill'))")
        assert fills == frame.fills
        assert output.inner_text() == slider.get_attribute("aria-valuetext") == frame.words
        assert frame.words in svg.get_attribute("aria-label")
        seen.append(output.inner_text())
    assert len(set(seen)) == 4
    page.keyboard.press("Home")
    assert output.inner_text() == frames[0].words


def test_without_scripts_the_first_map_is_there(browser, page_file, made_up_maps):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(page_file.as_uri())
    assert page.locator("#fig5 output").inner_text() == made_up_maps.frames()[0].words
    assert not page.locator("#fig5 input").is_visible()
    context.close()


def test_on_paper_nothing_is_cut_off(visit):
    page = visit(700)
    page.emulate_media(media="print")
    assert not page.locator("#fig5 input").is_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == "visible"
    assert len(page.pdf(format="A4")) > 100_000

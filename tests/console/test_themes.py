"""Themes, and what is drawn where colours or signs aren't to be had (C7)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from console_support import EXAMPLE, RISE, console
from rich.segment import Segment
from textual.color import Color
from textual.theme import Theme

from hitl_tui.config.starters import themes_folder
from hitl_tui.console.app import HitlApp
from hitl_tui.console.themes import fitting_theme, load_themes, rich_colour
from hitl_tui.core.safe_text import cell_width
from hitl_tui.supervisor.open_options import OpenOptions
from hitl_tui.terminal.textual_driver import Drawn, ascii_wanted

LEAST, MUCH, MARK = 4.5, 7.0, 3.0
"""What WCAG 2 wants of text, of text for eyes that need more, and of marks that aren't text."""
TEXTS = ("foreground", "text-muted", "text-primary", "text-success", "text-warning", "text-error")
GROUNDS = ("background", "surface", "panel")
PAIRS = (
    *((text, ground) for text in TEXTS for ground in GROUNDS),
    ("block-cursor-foreground", "block-cursor-background"),
    ("block-cursor-blurred-foreground", "block-cursor-blurred-background"),
    ("text-warning", "block-cursor-blurred-background"),
    ("footer-key-foreground", "surface"),
    ("foreground", "input-selection-background"),
)
MARKS = (
    *(("block-cursor-background", ground) for ground in ("background", "surface")),
    *((frame, ground) for frame in ("primary", "warning", "error") for ground in ("background", "surface")),
    *(("text-disabled", ground) for ground in ("background", "surface")),
    ("scrollbar", "scrollbar-background"),
    ("input-cursor-background", "background"),
)
THEMES = dict(load_themes([themes_folder()]).themes)
PAINTED = sorted(name for name, theme in THEMES.items() if not theme.ansi)


def luminance(colour: Color) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [value / 255 for value in colour.rgb]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Color, other: Color) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def drawn(value: str, ground: Color) -> Color:
    """Return the colour that a variable gives on a background; `auto 60%` is Textual's way to say "readable"."""
    name, _, share = value.partition(" ")
    opacity = float(share.rstrip("%")) / 100 if share else 1.0
    colour = ground.get_contrast_text(opacity) if name == "auto" else Color.parse(name).multiply_alpha(opacity)
    return ground.blend(colour, colour.a, 1)


@pytest.mark.parametrize("name", PAINTED)
@pytest.mark.parametrize(("text", "ground"), PAIRS, ids=lambda value: str(value))
def test_text_can_be_read(name: str, text: str, ground: str) -> None:
    variables = THEMES[name].to_color_system().generate()
    below = Color.parse(variables[ground])
    assert contrast(drawn(variables[text], below), below) >= least(name)


def least(name: str) -> float:
    """Return the contrast that a theme promises."""
    return MUCH if name == "contrast" else LEAST


@pytest.mark.parametrize("name", PAINTED)
@pytest.mark.parametrize(("mark", "ground"), MARKS, ids=lambda value: str(value))
def test_marks_can_be_seen(name: str, mark: str, ground: str) -> None:
    variables = THEMES[name].to_color_system().generate()
    below = Color.parse(variables[ground])
    assert contrast(drawn(variables[mark], below), below) >= MARK


def seen(colour: Color) -> tuple[float, float]:
    """Return what is left of a colour without red and green apart: yellow against blue, and brightness."""
    red, green, blue = colour.rgb
    return (red + green) / 2 - blue, luminance(colour)


@pytest.mark.parametrize(("one", "other"), [("text-error", "text-success"), ("text-warning", "text-success")])
def test_red_and_green_are_not_needed_in_the_colour_blind_theme(one: str, other: str) -> None:
    variables = THEMES["colourblind"].to_color_system().generate()
    hues = [seen(Color.parse(variables[name]))[0] for name in (one, other)]
    assert hues[0] > 20 and hues[1] < -20


def test_the_packaged_themes_are_whole() -> None:
    assert load_themes([themes_folder()]).problems == ()
    assert set(THEMES) == {"dark", "light", "contrast", "colourblind", "terminal", "terminal-light"}
    assert {name for name, theme in THEMES.items() if theme.ansi} == {"terminal", "terminal-light"}


def test_ones_own_folder_adds_and_replaces(tmp_path: Path) -> None:
    text = (themes_folder() / "dark.toml").read_text(encoding="utf-8")
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    (tmp_path / "dark.toml").write_text(text.replace("#14171b", "#000000"), encoding="utf-8")
    found = load_themes([themes_folder(), tmp_path])
    assert "mine" in found.themes
    assert found.themes["dark"].background == "#000000"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ('primary = "no colour"', '"primary" is "no colour", which isn\'t a colour'),
        ('[variables]\nborder = "loud"', '"border" is "loud", which isn\'t a colour'),
        ('[variables]\nborder = "red; width: 9"', "which isn't a colour"),
        ('[variables]\nblock-cursor-text-style = "huge"', "which isn't a text style"),
        ("size = 3", "it has unknown keys: size"),
        ('dark = "yes"', '"dark" and "ansi" true or false'),
        ('foreground = "#14171b"', '"foreground" can\'t be read on "background": their contrast is 1.0, and must be 3'),
        ('panel = "#c8ccd2"', '"foreground" can\'t be read on "panel"'),
        ("primary = ", "Theme broken.toml ignored"),
    ],
)
def test_a_broken_file_is_told_in_one_sentence_and_left_out(tmp_path: Path, change: str, said: str) -> None:
    good = (themes_folder() / "dark.toml").read_text(encoding="utf-8").split("[variables]")[0]
    key = change.split(" ")[0]
    kept = "\n".join(line for line in good.splitlines() if not line.startswith(f"{key} ="))
    top, table = ("", change) if change.startswith("[") else (change, "")
    (tmp_path / "broken.toml").write_text(f"{top}\n{kept}\n{table}\n", encoding="utf-8")
    (tmp_path / "fine.toml").write_text(good, encoding="utf-8")
    found = load_themes([tmp_path])
    assert set(found.themes) == {"fine"}
    assert len(found.problems) == 1 and said in found.problems[0] and found.problems[0].endswith(".")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# mine\nprimary = blue\n", 'line 2 can\'t be read; it is expected to read name = "value" or [table]'),
        ("primary #fff\n", "line 1 can't be read"),
        ('primary = "blue\nsurface = "red"\n', "line 1 can't be read"),
        ("dark = true\nprimary =\n", "line 2 can't be read"),
        ("dark = true\nprimary =", "it ends in line 2 before a value is complete"),
        ('dark = true\nprimary = """\n', "it ends in line 2 before a value is complete"),
        ("dark = true\n\ndark = false\n\n", "line 3 repeats a name; each may be given once"),
        ("[variables]\n[variables]\n", "line 2 repeats a name"),
        (f"primary = {'9' * 5000}\n", "it has a number that is too long"),
    ],
)
def test_what_is_no_toml_is_told_by_its_line_and_what_is_expected(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "broken.toml").write_text(text, encoding="utf-8")
    (problem,) = load_themes([tmp_path]).problems
    assert problem.startswith(f"Theme broken.toml ignored: {said}") and problem.endswith(".")
    assert "column" not in problem and "(at " not in problem


def test_a_mark_at_the_begin_of_a_file_is_no_fault(tmp_path: Path) -> None:
    text = (themes_folder() / "dark.toml").read_text(encoding="utf-8")
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8-sig")
    assert set(load_themes([tmp_path]).themes) == {"mine"}


def test_a_theme_that_is_no_text_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "folder.toml").mkdir()
    found = load_themes([tmp_path])
    assert not found.themes and len(found.problems) == 2


def test_colours_for_tables() -> None:
    assert rich_colour("#aabbcc") == "#aabbcc"
    assert rich_colour("ansi_red") == "red"
    assert rich_colour("ansi_bright_black 50%") == "bright_black"
    assert rich_colour("ansi_default") == "" == rich_colour("auto 60%")


@pytest.mark.sampled(3)
@pytest.mark.long
@pytest.mark.parametrize("name", sorted(THEMES))
async def test_every_theme_draws_every_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("HITL_THEME", name)
    async with console(tmp_path, EXAMPLE, query=RISE, size=(80, 24)) as c:
        await c.asked()
        assert c.app.theme == name
        for key in ("f1", "escape", "f3", "escape", "ctrl+p", "escape", "ctrl+o"):
            await c.press(key)
        assert c.app._exception is None


def test_who_wants_ascii() -> None:
    assert ascii_wanted({"HITL_ASCII": "1"}, "utf-8")
    assert not ascii_wanted({"HITL_ASCII": "0"}, "latin-1")
    assert not ascii_wanted({}, "UTF8")
    assert ascii_wanted({}, "iso8859-1")
    assert ascii_wanted({}, "euc_kr")


def apply(text: str, *, plain: bool = True, encoding: str = "utf-8") -> str:
    segments = Drawn(plain=plain, encoding=encoding).apply([Segment(text)], Color.parse("black"))
    return "".join(segment.text for segment in segments)


def test_signs_become_ascii_of_the_same_width() -> None:
    text = "╭─┬╮ │ ✓ done ✗ ● ○ ▸ ← ×2 … › █░ ■ − · ⠋ ␛[2J ▏▆ 🔎"
    plain = apply(text)
    assert plain.isascii()
    assert cell_width(plain) == cell_width(text)


def test_letters_of_all_scripts_stay() -> None:
    assert apply("보증금 5 % ä 日本") == "보증금 5 % ä 日本"


def test_what_the_terminal_has_no_form_for_keeps_its_width() -> None:
    assert apply("보 ä ✓", encoding="latin-1") == "?? ä +"
    assert apply("보 ä", encoding="euc_kr") == "보 ?"


@pytest.mark.parametrize("plain", [False, True])
def test_nothing_moves_the_cursor(plain: bool) -> None:
    hostile = "a\x1b[2Jb\x9bc\x07d\u202ee\u200bf\U000e0041g\rh\ti\u2028"
    assert not re.search("[\x00-\x1f\x7f-\x9f\u200b\u2028\u202e\U000e0041]", apply(hostile, plain=plain))


def test_what_is_ours_passes_untouched() -> None:
    control = Segment("\x1b[2J", None, [(2,)])  # type: ignore[list-item]
    assert Drawn(plain=True).apply([control], Color.parse("black")) == [control]
    assert apply("✓ ─", plain=False) == "✓ ─"


async def screen_text(app: HitlApp) -> str:
    """What is drawn, after all filters."""
    width, height = app.size
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text for strip in strips[:height])[: (width + 1) * height]


@pytest.mark.long
async def test_no_sign_is_left_with_ascii(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HITL_ASCII", "1")
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "cap.md").write_text("# Cap\n\nThe deposit cap is 5 percent.\n", encoding="utf-8")
    async with console(tmp_path / "data", tmp_path / "ws", query="What is the deposit cap?", size=(120, 40)) as c:
        await c.asked()
        for key in ("", "f1", "escape", "ctrl+p", "escape", "ctrl+g", "6", "escape", "f3"):
            if key:
                await c.press(key)
            text = await screen_text(c.app)
            assert text.isascii(), sorted(set(re.findall(r"[^\x00-\x7f]", text)))
            assert "+-" in text or "|" in text


async def test_states_are_words_without_colour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with console(tmp_path, EXAMPLE, query=RISE) as c:
        await c.asked()
        assert c.app.no_color
        text = await screen_text(c.app)
        assert "? asks" in text and "· waits" in text and "1 needs you" in text
        for strip in c.app.screen._compositor.render_strips():
            for segment in strip:
                for colour in (segment.style.color, segment.style.bgcolor) if segment.style else ():
                    if colour is not None and colour.triplet is not None:
                        red, green, blue = colour.triplet
                        assert red == green == blue


async def test_without_colour_the_terminals_own_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("HITL_THEME", "terminal")
    async with console(tmp_path) as c:
        await c.pilot.pause()
        for strip in c.app.screen._compositor.render_strips():
            for segment in strip:
                for colour in (segment.style.color, segment.style.bgcolor) if segment.style else ():
                    assert colour is None or colour.is_default, segment


def test_an_ansi_theme_needs_no_variables_of_textual(tmp_path: Path) -> None:
    text = (themes_folder() / "terminal.toml").read_text(encoding="utf-8").split("[variables]")[0]
    (tmp_path / "own.toml").write_text(text, encoding="utf-8")
    theme: Theme = load_themes([tmp_path]).themes["own"]
    assert {"ansi-background", "ansi-foreground"} <= theme.to_color_system().generate().keys()


def test_a_theme_is_chosen_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HITL_THEME", "light")
    assert HitlApp(OpenOptions(tmp_path)).theme == "light"


def test_a_theme_file_that_is_nested_too_deeply_or_no_file_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "deep.toml").write_text("a = " + "[" * 5_000)
    (tmp_path / "huge.toml").write_text("#" * 60_000)
    (tmp_path / "folder.toml").mkdir()
    found = load_themes([tmp_path])
    assert found.themes == {}
    assert [said.split(": ")[1] for said in found.problems] == [
        "it is nested too deeply.",
        "it isn't a file.",
        "it is larger than 50,000 bytes.",
    ]


@pytest.mark.parametrize(
    ("told", "fits"),
    [("0;15", "light"), ("0;default;15", "light"), ("15;0", "dark"), ("7;8", "dark"), ("0;7", "light"), ("", "")],
)
def test_without_a_choice_the_theme_fits_the_background_that_the_terminal_names(told: str, fits: str) -> None:
    assert fitting_theme({"COLORFGBG": told} if told else {}) == fits
    assert fitting_theme({"COLORFGBG": "0;default"}) == ""

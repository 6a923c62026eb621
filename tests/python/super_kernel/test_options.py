# SPDX-License-Identifier: Apache-2.0
"""Option strings: what is accepted, what is refused, and what is skipped."""

import warnings

import pytest

from super_kernel import SuperKernelError
from super_kernel.options import DEFAULTS, option_texts, parse_options

ACCEPTED = [
    ("func-align", "0", 0), ("func-align", "2", 2), ("func-align", "256", 256), ("func-align", "65536", 65536),
    ("preload-code", "max", "max"), ("preload-code", "none", "none"), ("preload-code", "per-func", "per-func"),
    ("early-start", "0", 0), ("early-start", "1", 1), ("early-start", "2", 2),
    ("stream-fusion", "0", 0), ("stream-fusion", "1", 1),
    ("split-mode", "1", 1), ("split-mode", "64", 64),
    ("feed-sync-all", "0", 0), ("feed-sync-all", "1", 1),
    ("debug-dcci-all", "0", 0), ("debug-dcci-all", "1", 1),
    ("debug-sync-all", "0", 0), ("debug-sync-all", "1", 1),
    ("profiling", "0", 0), ("profiling", "1", 1),
    ("compile-options", "-g", ["-g"]), ("compile-options", "-g,-DX=1", ["-g", "-DX=1"]),
    ("dcci-before-kernel-start", "IsInf,Pow", ["IsInf", "Pow"]),
    ("dcci-after-kernel-end", "IsInf", ["IsInf"]), ("dcci-disable-on-kernel", "IsInf", ["IsInf"]),
    ("debug-aic-num", "0", 0), ("debug-aic-num", "24", 24), ("debug-aiv-num", "48", 48),
    ("strict-scope-check", "anything", "anything"), ("link-mode", "x", "x"), ("preload-data", "1", "1"),
]

REFUSED = [
    "func-align=1", "func-align=3", "func-align=-2", "func-align=abc", "func-align=2.0", "func-align=",
    "preload-code=all", "preload-code=MAX", "preload-code=",
    "early-start=3", "early-start=-1", "early-start=yes", "early-start=",
    "stream-fusion=2", "stream-fusion=true", "stream-fusion=",
    "split-mode=0", "split-mode=65", "split-mode=four", "split-mode=",
    "feed-sync-all=2", "feed-sync-all=", "debug-dcci-all=2", "debug-dcci-all=", "debug-sync-all=x", "debug-sync-all=",
    "profiling=2", "profiling=", "compile-options=", "compile-options=-g,,-O0",
    "dcci-before-kernel-start=", "dcci-after-kernel-end=", "dcci-disable-on-kernel=", "dcci-before-kernel-start=,",
    "debug-aic-num=-1", "debug-aic-num=x", "debug-aic-num=", "debug-aiv-num=-1", "debug-aiv-num=",
    "strict-scope-check=", "link-mode=", "preload-data=",
    "unknown=1", "Early-Start=1", "=1", "early_start=1",
    "early-start=0:early-start=0", "early-start=0:early-start=1", "split-mode=4:profiling=1:split-mode=4",
]


@pytest.mark.parametrize("name, text, value", ACCEPTED)
def test_a_legal_value_is_taken(name, text, value):
    options = parse_options(f"{name}={text}:")
    assert options[name] == value
    assert {key: options[key] for key in options if key != name} == {key: DEFAULTS[key] for key in DEFAULTS if key != name}


@pytest.mark.parametrize("text", REFUSED)
def test_an_illegal_string_is_refused_with_the_code(text):
    with pytest.raises(SuperKernelError) as problem:
        parse_options(text)
    assert str(problem.value).startswith("EB0500")
    assert text.split("=")[0].split(":")[0] in str(problem.value)


def test_every_option_is_tried():
    assert {name for name, _, _ in ACCEPTED} == set(DEFAULTS)


@pytest.mark.parametrize("text", [None, "", ":", "::", " : "])
def test_nothing_said_means_the_defaults(text):
    assert parse_options(text) == DEFAULTS


def test_defaults_are_the_known_ones():
    options = parse_options("")
    assert options["func-align"] == 512 and options["preload-code"] == "per-func"
    assert options["early-start"] == 1 and options["stream-fusion"] == 0
    assert options["split-mode"] == 4 and options["feed-sync-all"] == 0
    assert options["debug-dcci-all"] == options["debug-sync-all"] == options["profiling"] == 0


def test_a_piece_without_a_value_is_skipped_with_a_warning():
    with pytest.warns(UserWarning, match="early-start"):
        options = parse_options("early-start:split-mode=8:")
    assert options["early-start"] == 1 and options["split-mode"] == 8


def test_several_options_and_blanks_around_them():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        options = parse_options(" early-start = 0 : feed-sync-all=1:stream-fusion=1")
    assert (options["early-start"], options["feed-sync-all"], options["stream-fusion"]) == (0, 1, 1)


def test_something_else_than_a_text_is_refused():
    with pytest.raises(SuperKernelError, match="^EB0500"):
        parse_options({"early-start": 1})


def test_options_go_into_the_image_as_texts():
    texts = option_texts(parse_options("compile-options=-g,-O0:debug-aic-num=2"))
    assert texts["compile-options"] == "-g,-O0" and texts["debug-aic-num"] == "2" and texts["func-align"] == "512"
    assert "strict-scope-check" not in texts and all(isinstance(text, str) for text in texts.values())

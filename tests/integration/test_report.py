"""A report: what stands on the page, as a person meets it in a browser, and how the command behaves."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from graphstore.demo import TRACES
from graphstore.errors import UsageError
from graphstore.export.report import write_report
from graphstore.queries import check, get, write_findings
from graphstore.store import Store
from graphstore.store.base import Statement
from tests.chromium import Chromium
from tests.integration.test_cli import Archive
from tests.integration.test_cli import archive as archive  # a fixture
from tests.integration.test_cli import demo as demo  # a fixture
from tests.integration.test_export import RUN, chakra_run, two_ranks
from tests.queries.graphs import GraphBuilder

PHONE = {"width": 390, "height": 844}
HOSTILE = "<script>document.title='pwned'</script><img src=x onerror=alert(1)>\"'&{{ 7*7 }}"
SECTIONS = ["Summary", "Ledger", "Findings", "Timeline", "Communication: wait and transfer"]
SECTIONS += ["Exposed communication", "Top ops", "Repairs made"]


@pytest.fixture(scope="module")
def page_of_demo(demo: Archive, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of the demo run, written by the command."""
    out = tmp_path_factory.mktemp("report") / "demo.html"
    demo.run("report", "demo", "-o", out)
    return out


def opened(chromium: Chromium, path: Path, **options: Any) -> Any:
    """Return the page in a browser; it must have asked for nothing but itself, and met no error."""
    page = chromium.page(**options)
    told: list[str] = []
    page.on("console", lambda message: told.append(message.text))
    page.goto(path.as_uri())
    assert set(chromium.asked) == {path.as_uri()}
    assert told == []
    assert chromium.errors == []
    return page


def section(page: Any, name: str) -> str:
    """Return the text of a section."""
    text: str = page.locator(f"#{name}").inner_text()
    return text


def test_the_page_is_one_file_that_asks_nobody(chromium: Chromium, page_of_demo: Path) -> None:
    """Every section is there; no script, image, link or font would be loaded; the policy allows none."""
    page = opened(chromium, page_of_demo)

    assert page.locator("h2").all_inner_texts() == SECTIONS
    assert page.evaluate("document.scripts.length + document.images.length + document.fonts.size") == 0
    assert page.locator("link, iframe, object, embed, [style]").count() == 0
    policy = page.locator("meta[http-equiv='Content-Security-Policy']").get_attribute("content")
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'none'", policy
    )
    assert page.locator("body").evaluate("e => getComputedStyle(e).margin") == "0px", "the style is let in"


def test_what_the_demo_run_shows(chromium: Chromium, page_of_demo: Path) -> None:
    """Figures as `check`, `runs show` and the folder tell them: 4 ranks, 4 errors, 12 files."""
    page = opened(chromium, page_of_demo)

    assert "4 ranks (0-3)" in section(page, "summary")
    assert "12 files: 4 et, 4 flight_recorder, 4 kineto" in section(page, "summary")
    ledger = section(page, "ledger").replace(",", "")
    read, kept, left = map(int, re.findall(r"(\d+) read = (\d+) kept \+ (\d+) left", ledger)[0])
    assert read == kept + left > 0
    findings = section(page, "findings")
    assert "rank 0: 11 ops name parent 267, which is absent" in findings
    assert page.locator("#findings article.error h3").all_inner_texts() == [
        "✖ error missing_parent 4 findings"
    ]
    assert page.locator("#timeline h3").all_inner_texts() == [f"Rank {rank}" for rank in range(4)]
    assert "21 collectives in the order in which they began" in section(page, "communication")
    assert "None: the graph is as the files were recorded." in section(page, "repairs")


def test_the_timeline_shows_communication_that_only_an_annotation_times(
    chromium: Chromium, page_of_demo: Path
) -> None:
    """Kineto has gloo's calls as annotations. Counted in kineto_rank1.json.gz: 330 cpu_op, and 4 gloo:send
    and 4 gloo:recv (up to 17.2 ms), on the main thread; 4, 4, 3 and 2 gloo:… on four threads of gloo.
    """
    page = opened(chromium, page_of_demo)
    page.locator("#timeline summary").click()

    rows = [row.split("\t") for row in page.locator("#timeline tbody tr").all_inner_texts()]

    spans = {track: int(number) for rank, track, number, *_ in rows if rank == "1"}
    assert spans.pop("thread 21602 (python)") == 330 + 8
    assert {track.split("(")[1] for track in spans} == {"pt_gloo_runloop)"}
    assert sorted(spans.values()) == [2, 3, 4, 4]


def test_a_finding_has_its_evidence_and_a_picture(chromium: Chromium, page_of_demo: Path) -> None:
    """The absent parent, the ops that name it, what these call; the same in words beside."""
    page = opened(chromium, page_of_demo)
    article = page.locator("#findings article.error")
    evidence = article.locator("details").first

    evidence.locator("summary").click()
    picture = article.locator("svg.graph")

    assert "absent_id" in evidence.inner_text()
    assert picture.locator("text.facts").first.text_content() == "absent from the trace"
    assert picture.locator(".subject .title").all_text_contents() == [
        "aten::zeros",
        "forward mb0",
        "forward mb1",
    ]
    assert "op 267 is named as parent by aten::zeros" in picture.get_attribute("aria-label")
    assert "aten::zeros calls aten::empty" in picture.get_attribute("aria-label")


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_it_never_scrolls_sideways(chromium: Chromium, page_of_demo: Path, width: int) -> None:
    """What is wider than the screen scrolls in its own box, which the keyboard reaches."""
    page = opened(chromium, page_of_demo, viewport={"width": width, "height": 800})

    assert page.evaluate("document.documentElement.scrollWidth") <= width
    boxes = page.locator(".scroll")
    assert boxes.count() > 8
    assert boxes.evaluate_all("all => all.every(e => e.tabIndex === 0 && e.ariaLabel && e.role)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_light_and_dark(chromium: Chromium, page_of_demo: Path, scheme: str) -> None:
    """Contrast of each colour of text on each ground is at least 4.5 to 1 (WCAG 2.1, 1.4.3, level AA)."""
    page = opened(chromium, page_of_demo, color_scheme=scheme)

    def colour(name: str) -> str:
        found: str = page.evaluate(f"getComputedStyle(document.documentElement).getPropertyValue('--{name}')")
        return found.strip()

    for text in ("ink", "muted", "link", "error", "warning", "note"):
        for ground in ("paper", "panel"):
            assert contrast(colour(text), colour(ground)) >= 4.5, (text, ground)
    for mark in ("host", "runtime", "kernel", "copy", "comm") if scheme == "dark" else ():
        assert contrast(colour(mark), colour("paper")) >= 3, mark
    assert (luminance(colour("paper")) < 0.1) == (scheme == "dark")


def luminance(colour: str) -> float:
    """Return the relative luminance of #rrggbb, as WCAG 2.1 defines it."""
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, as WCAG 2.1 defines it."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_headings_go_down_step_by_step_and_links_lead_somewhere(
    chromium: Chromium, page_of_demo: Path
) -> None:
    """One h1, no level is left out; every link of the page names a part of it; the language is told."""
    page = opened(chromium, page_of_demo)

    levels = page.locator("h1, h2, h3, h4").evaluate_all("all => all.map(e => +e.tagName[1])")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    links = page.locator("a").evaluate_all("all => all.map(e => e.getAttribute('href'))")
    assert len(links) == 9
    assert all(page.locator(link).count() == 1 for link in links)
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.locator("svg.graph:not([aria-label])").count() == 0


def test_on_paper_nothing_is_folded_away(chromium: Chromium, page_of_demo: Path) -> None:
    """The tables under a fold are printed, black on white even in dark mode, and the page prints as PDF."""
    page = opened(chromium, page_of_demo, color_scheme="dark")
    table = page.locator("#timeline details table")
    assert not table.is_visible()

    page.emulate_media(media="print")

    assert table.bounding_box()["height"] > 100
    assert page.locator("body").evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf()[:5] == b"%PDF-"


def hostile_run() -> GraphBuilder:
    """Return a run whose every name is markup, and longer than a screen without a space."""
    long = "very_long_name_" * 30
    graph = two_ranks()
    for rows in graph.rows.values():
        for row in rows:
            row["name"] = f"{HOSTILE}{long}"
    graph.properties |= {"name": HOSTILE, "tags": [HOSTILE]}
    for rank in (0, 1):
        name = {"rank": rank, "process": 1, "thread": 7}
        graph.node("Thread", HOSTILE, **name)
        graph.op(HOSTILE, node_id=9, rank=rank, parent_id=77, process=1, thread=7, start_ns=0, duration_ns=90)
        file = {"kind": "kineto", "records_read": 3, "kept": 2, "left_out": '{"<b>bold</b>": 1}'}
        graph.node("TraceFile", f"{HOSTILE}{long}", path="x", rank=rank, **file)
    return graph


def write_hostile(store: Store) -> None:
    """Write that run, with a repair whose rule and reason are markup."""
    store.write_run(hostile_run().build())
    told = {"rule": "<i>rule</i>", "reason": HOSTILE, "rank": 0, "safe": True, "changes": 1}
    row = {"rid": f"{RUN}:r", "properties": told}
    store.change_run(RUN, [Statement(get("structure/repair_keep").text, {"rows": [row]})])


def test_names_from_traces_are_inert(store: Store, chromium: Chromium, tmp_path: Path) -> None:
    """Markup in any name, reason or tag is text on the page, in its pictures, and breaks no layout."""
    write_hostile(store)
    write_findings(store, RUN, check(store, RUN))
    out = tmp_path / "page.html"

    write_report(store, RUN, out)
    page = opened(chromium, out, viewport=PHONE)

    assert page.title() == f"{HOSTILE}: graphstore report"
    assert page.evaluate("document.scripts.length + document.images.length") == 0
    assert page.locator("b, i").count() == 0
    assert HOSTILE in page.locator("h1").inner_text()
    for part in ("ledger", "findings", "top", "repairs"):
        assert "<script>document.title='pwned'</script>" in page.locator(f"#{part}").text_content(), part
    assert "<script>" in page.locator("#timeline .chart svg").first.text_content()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_the_numbers_are_those_of_the_graph(store: Store, chromium: Chromium, tmp_path: Path) -> None:
    """Two kernels of 90 µs a rank, from 10.5 and 50.5 µs, overlap: their stream is busy for 130 µs."""
    store.write_run(two_ranks().build())
    out = tmp_path / "page.html"

    write_report(store, RUN, out)
    page = opened(chromium, out)
    page.locator("#timeline summary").click()

    rows = page.locator("#timeline tbody tr").all_inner_texts()
    stream = ["GPU 0 stream 7", "2", "130 µs", "10.5 µs", "140.5 µs"]
    assert [row.split("\t") for row in rows if "stream" in row] == [["0", *stream], ["1", *stream]]
    top = page.locator("#top tbody").last.locator("tr").all_inner_texts()
    assert [row.split("\t")[0] for row in top] == ["gemm", "ncclDevKernel_AllReduce"]
    assert [row.split("\t")[2:] for row in top] == [["180 µs", "2", "90 µs"]] * 2
    assert "hatch" in page.locator("#timeline figure").first.inner_html(), "the all-reduce is communication"


def test_a_section_without_data_says_why(store: Store, chromium: Chromium, tmp_path: Path) -> None:
    """A run of a Chakra file holds no times, no calls, no repairs: a sentence each, and no empty table."""
    store.write_run(chakra_run([(5, 6)]).build())
    out = tmp_path / "page.html"

    write_report(store, RUN, out)
    page = opened(chromium, out)

    assert page.locator("h2").all_inner_texts() == SECTIONS
    assert "unknown: nothing has a time" in section(page, "summary")
    for part in ("timeline", "communication", "exposed", "top", "repairs"):
        assert page.locator(f"#{part} .none").count() >= 1, part
        assert page.locator(f"#{part} table").count() == 0, part


def test_what_is_not_drawn_is_counted(store: Store, tmp_path: Path) -> None:
    """Of 18 ranks 16 have a picture, of 14 streams 12 and of 70 files 60; the page says so each time."""
    graph = GraphBuilder(RUN, world_size=18, ranks=list(range(18)))
    for rank in range(18):
        for stream in range(14 if rank == 0 else 1):
            times = {"start_ns": 0, "duration_ns": 1000 + stream}
            graph.node("Kernel", "k", rank=rank, device=0, stream=stream, device_kind="kernel", **times)
    for number in range(70):
        told = {"kind": "kineto", "rank": number % 18, "records_read": 1, "kept": 1, "left_out": "{}"}
        graph.node("TraceFile", f"f{number}", path=f"f{number}", **told)
    store.write_run(graph.build())

    write_report(store, RUN, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")

    assert text.count("Timeline of rank") == 16
    assert "The first 16 of 18 ranks are drawn" in text
    assert "2 tracks with less to do are in the table only" in text
    assert "70 files, the first 60 shown" in text


def test_every_file_is_counted_by_its_kind(store: Store, tmp_path: Path) -> None:
    """A trace without a record is a trace, and what is none stands beside: the kinds add up to the files."""
    graph = GraphBuilder(RUN)
    for name, kind in (("a", "kineto"), ("b", "et"), ("c", "not_a_trace")):
        told = {"kind": kind, "records_read": 0, "kept": 0, "left_out": "{}"}
        graph.node("TraceFile", name, path=name, **told)
    store.write_run(graph.build())

    write_report(store, RUN, tmp_path / "page.html")

    assert "3 files: 1 et, 1 kineto, 1 not_a_trace" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_threads_of_one_number_are_two_tracks_and_no_length_is_drawn(store: Store, tmp_path: Path) -> None:
    """Thread 1 of the execution trace is not Kineto's thread 1; ops that last no time have a bar each."""
    graph = GraphBuilder(RUN)
    graph.op("by trace", tid=1, start_ns=0, duration_ns=0)
    graph.op("by Kineto", process=1, thread=1, tid=1, start_ns=0, duration_ns=0)
    store.write_run(graph.build())

    write_report(store, RUN, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")

    assert re.findall(r'<td class="name">((?:ET )?thread[^<]*)</td>', text) == ["ET thread 1", "thread 1"]
    assert "2 spans are 2 bars" in text
    assert "NaN" not in text


def test_findings_that_were_kept_are_told_as_kept(store: Store, tmp_path: Path) -> None:
    """Without kept findings the checks are asked, the page says so, and the run is left as it was."""
    store.write_run(hostile_run().build())
    out = tmp_path / "page.html"

    write_report(store, RUN, out)
    asked = out.read_text(encoding="utf-8")
    before = store.query(RUN, "MATCH (f:Finding) WHERE f.run = $run RETURN count(*) AS n")["n"].to_list()
    write_findings(store, RUN, check(store, RUN))
    write_report(store, RUN, out)
    kept = out.read_text(encoding="utf-8")

    assert before == [0]
    assert "No findings were kept" in asked
    assert "No findings were kept" not in kept
    assert [page.count("<article") for page in (asked, kept)] == [asked.count("<article")] * 2
    assert asked.count("<article") >= 1


def test_repairs_are_told_with_their_reason(archive: Archive, chromium: Chromium, tmp_path: Path) -> None:
    """A row a rule and rank, as `repair --apply` tells them; the findings they answer are `repaired`."""
    archive.run("import", TRACES, "--run", "demo")
    archive.run("check", "demo")
    applied = archive.json("repair", "demo", "--apply")
    out = tmp_path / "page.html"

    archive.run("report", "-o", out)
    page = opened(chromium, out)

    rows = [row.split("\t") for row in page.locator("#repairs tbody tr").all_inner_texts()]
    assert sorted((row[0], int(row[1]), int(row[2].replace(",", "")), row[4]) for row in rows) == sorted(
        (repair["rule"], repair["rank"], repair["changes"], repair["reason"]) for repair in applied
    )
    assert "(repaired, confidence high)" in section(page, "findings")
    picture = page.locator("#findings article.error svg.graph")
    assert "absent" not in picture.text_content(), "the repair brought the absent op back"
    assert "ProfilerStep#2 calls forward mb0" in picture.get_attribute("aria-label")


def test_the_command_writes_run_html_and_tells_of_it(
    demo: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without -o the file is RUN.html in the current folder; one that is there is replaced."""
    monkeypatch.chdir(tmp_path)
    Path("demo.html").write_text("old")

    told = demo.json("report", "demo", "--quiet")

    text = Path("demo.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert told["files"]["demo.html"]["size_bytes"] == len(text.encode())
    assert [path.name for path in tmp_path.iterdir()] == ["demo.html"], "nothing is left beside it"


def test_mistakes_are_one_line(demo: Archive, tmp_path: Path) -> None:
    """An unknown run, a folder for a file, a place that can't be written: exit 2, and nothing is there."""
    blocked = tmp_path / "file"
    blocked.write_text("no folder")

    assert "no run nosuch" in demo.fails("report", "nosuch", "-o", tmp_path / "x.html", code=2)
    assert "can't be written" in demo.fails("report", "-q", "-o", blocked / "x.html", code=2)
    demo.fails("report", "-o", tmp_path, code=2)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_file_that_can_not_be_replaced_stays(store: Store, tmp_path: Path) -> None:
    """A folder of the report's name is a mistake, and is still there afterwards."""
    store.write_run(chakra_run([]).build())
    taken = tmp_path / "out" / "page.html"
    taken.mkdir(parents=True)

    with pytest.raises(UsageError, match="is a folder"):
        write_report(store, RUN, taken)

    assert list(taken.parent.iterdir()) == [taken]


@pytest.mark.data
def test_a_hang_shows_who_waits_for_whom(
    archive: Archive, chromium: Chromium, data_dir: Path, tmp_path: Path
) -> None:
    """Dumps alone, of a run whose rank 3 skips the sixth all-reduce: the finding and a picture."""
    archive.run("import", data_dir / "fr" / "gloo" / "skip", "--run", "hang")
    out = tmp_path / "page.html"

    archive.run("report", "hang", "-o", out)
    page = opened(chromium, out)

    assert "rank 3 never called all_reduce #6" in section(page, "findings")
    label = page.locator("svg.graph").first.get_attribute("aria-label")
    assert "ranks 0-2 wait in all_reduce #6; all_reduce #6 which lacks rank 3" in label


@pytest.mark.data
def test_a_run_with_gpus(archive: Archive, chromium: Chromium, data_dir: Path, tmp_path: Path) -> None:
    """dlrm_8r: 8 timelines with streams, 19,461 spans in far fewer bars, on a page below half a megabyte."""
    archive.run("import", data_dir / "public" / "dlrm_8r", "--run", "dlrm")
    out = tmp_path / "page.html"

    told = archive.json("report", "dlrm", "-o", out)["files"]["page.html"]
    page = opened(chromium, out, viewport=PHONE)

    assert told["spans"] == 19_461
    assert told["size_bytes"] < 500_000
    assert page.locator("#timeline figure").count() == 8
    assert "GPU 7 stream 84" in page.locator("#timeline figure").last.text_content()
    assert "ncclKernel_SendRecv" in section(page, "top")
    assert page.locator("#exposed figure svg").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]

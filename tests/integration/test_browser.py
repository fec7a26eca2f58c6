"""Neo4j Browser for a run: in real Chromium, on a real server, with what `graphstore browser` serves."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from graphstore import api, demo, queries
from graphstore.api import ImportOptions
from graphstore.export.browser import style
from graphstore.model.schema import SEVERITY_LABELS
from graphstore.store import open_store
from tests.chromium import Chromium
from tests.engines import Server, alone
from tests.neo4j_browser import BrowserPage

pytestmark = pytest.mark.neo4j
RUN = "demo"
CLI = [sys.executable, "-c", "import sys; from graphstore.cli.app import main; sys.exit(main())"]
PICTURES = (
    "A graph: run",
    "A graph: findings",
    "A graph: call tree",
    "A graph: group members",
    "A graph: calls of collective",
)


@pytest.fixture(scope="module")
def server(neo4j_with_kit: Server) -> Iterator[Server]:
    """Return the server with the demo run and its findings, this module's alone."""
    with alone(neo4j_with_kit):
        settings = neo4j_with_kit.settings()
        api.import_runs([str(demo.TRACES)], ImportOptions(RUN), settings)
        api.check_run(RUN, settings)
        yield neo4j_with_kit


def environment(server: Server) -> dict[str, str]:
    """Return the environment of a command that asks the server; no web browser is started."""
    named = {"GRAPHSTORE_URI": server.uri, "NEO4J_USERNAME": server.username}
    return {**os.environ, **named, "NEO4J_PASSWORD": server.password, "BROWSER": "true"}


def graphstore(server: Server, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [*CLI, *words], env=environment(server), capture_output=True, text=True, timeout=120
    )


@pytest.fixture(scope="module")
def opening(server: Server) -> Iterator[dict[str, Any]]:
    """Return what `graphstore browser` prints, while it serves; in the end Ctrl-C has to stop it."""
    words = [*CLI, "browser", RUN, "--format", "json"]
    process = subprocess.Popen(words, env=environment(server), stdout=-1, stderr=-1, text=True)
    assert process.stdout is not None
    printed = "".join(iter(process.stdout.readline, "}\n")) + "}"
    try:
        yield json.loads(printed) | {"printed": printed, "pid": process.pid}
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    assert (process.returncode, said.splitlines()[-1]) == (0, "stopped serving; what Browser shows stays")
    assert server.password not in said


@pytest.fixture(scope="module")
def chrome(chromium_browser: Browser) -> Iterator[Chromium]:
    """Return the browser of this module; in the end nothing it showed may have asked another machine."""
    mine = Chromium(chromium_browser)
    yield mine
    mine.close_pages()
    assert mine.asked_elsewhere() == []


@pytest.fixture(scope="module")
def at_home(chrome: Chromium, opening: dict[str, Any], server: Server) -> BrowserPage:
    """Return the page that the printed link leads to, connected."""
    shown = BrowserPage(chrome.page(viewport={"width": 1400, "height": 900}))
    shown.open(opening["link"], server.password)
    return shown


def scripts(at_home: BrowserPage) -> dict[str, str]:
    """Return the saved scripts by name, as Browser keeps them."""
    texts = [item["content"] for item in at_home.kept("documents") if not item.get("isStatic")]
    return {text.splitlines()[0].removeprefix("// "): text for text in texts}


def in_picture(server: Server, query: str) -> tuple[set[str], set[str], Counter[str]]:
    """Return the nodes and edges of the paths a query gives, and how many nodes have each label."""
    rows = api.query_run(RUN, query, {}, server.settings()).rows["path"]
    paths = [json.loads(text) for text in rows]
    nodes = {json.dumps(node, sort_keys=True): node["labels"] for path in paths for node in path["nodes"]}
    edges = {json.dumps(edge, sort_keys=True) for path in paths for edge in path["relationships"]}
    return set(nodes), edges, Counter(label for labels in nodes.values() for label in labels)


def test_the_start_page_makes_browser_ours(at_home: BrowserPage) -> None:
    """Colours, the catalogue in a folder a topic, and reading only: kept by Browser without a click."""
    assert at_home.kept("grass").items() >= style.rules().items()
    folders = {item["name"] for item in at_home.kept("folders")}
    assert {f"Trace store {topic}" for topic in ("health", "structure", "communication")} <= folders
    assert set(PICTURES) <= set(scripts(at_home))
    assert at_home.kept("settings")["useReadTransactions"] is True


def test_the_guide_tells_the_run_s_own_findings(at_home: BrowserPage, server: Server) -> None:
    """The drawer shows the guide to this run, and its second slide the message of the first finding."""
    drawer = at_home.page.locator("[data-testid=guidesDrawer]")
    drawer.get_by_text("4 ranks, imported").wait_for()
    first = api.check_run(RUN, server.settings())[0]

    drawer.get_by_text("Next", exact=True).click()

    drawer.get_by_text(first.message).wait_for()


@pytest.mark.parametrize("name", PICTURES)
def test_a_saved_script_draws_its_picture(name: str, at_home: BrowserPage, server: Server) -> None:
    """As many nodes and relationships are drawn, and counted by label, as the query's paths hold."""
    query = scripts(at_home)[name]
    nodes, edges, labels = in_picture(server, query)

    frame = at_home.ask(query)

    drawn_nodes, drawn_edges = at_home.drawn(frame, len(nodes))
    assert nodes
    assert drawn_nodes == len(nodes)
    assert drawn_edges >= len(edges)  # Browser adds those between the nodes it shows
    assert at_home.label_counts(frame) == dict(labels)


def test_findings_are_coloured_by_severity(at_home: BrowserPage) -> None:
    """Of the 12 findings of the demo 4 are errors, 8 warnings (as `check` prints): each in its colour."""
    query = f"MATCH (f:Finding) WHERE f.run = '{RUN}' RETURN f ORDER BY f.fid"

    frame = at_home.ask(query)

    assert at_home.drawn(frame, 12) == (12, 0)
    colours = frame.locator("svg g.node circle.b-outline").evaluate_all(
        "circles => circles.map((circle) => circle.getAttribute('fill').toUpperCase())"
    )
    wanted = {SEVERITY_LABELS["error"].colour: 4, SEVERITY_LABELS["warning"].colour: 8}
    assert Counter(colours) == {colour.upper(): count for colour, count in wanted.items()}


def test_browser_reads_only(at_home: BrowserPage, server: Server) -> None:
    """CREATE is refused by the server, and nothing is there afterwards."""
    frame = at_home.ask("CREATE (n:MadeByAccident {name: 'no'}) RETURN n")

    frame.get_by_text("Neo.ClientError.Statement.AccessMode").first.wait_for()
    with server.driver() as driver:
        made = driver.execute_query("MATCH (n) WHERE n.name = 'no' RETURN count(n) AS n").records[0]["n"]
    assert made == 0


def test_browser_opened_by_itself_has_guide_and_colours(chrome: Chromium, server: Server) -> None:
    """Who knows nothing of us but opens /browser/ finds the guide for any run, the colours, reading only."""
    at = api.browser_at(server.settings())
    assert at is not None
    shown = BrowserPage(chrome.page())

    shown.open(at.ask("RETURN 1").split("&cmd=")[0], server.password)

    shown.page.locator("[data-testid=guidesDrawer]").get_by_text("Choose a run").wait_for()
    shown.wait_kept("grass", "node.Collective")
    shown.wait_kept("settings", '"useReadTransactions": true')


def test_a_server_of_others_gets_guide_colours_and_scripts(
    chrome: Chromium, server: Server, opening: dict[str, Any], tmp_path: Path
) -> None:
    """The link alone shows the guide from our process, a click the colours, the zip the scripts."""
    at = api.browser_at(server.settings())
    assert at is not None
    _, names = api.write_browser_kit(RUN, tmp_path, server.settings())
    shown = BrowserPage(chrome.page())

    shown.open(at.guide(opening["guide"]), server.password)
    drawer = shown.page.locator("[data-testid=guidesDrawer]")
    drawer.get_by_text("4 ranks, imported").wait_for()
    assert shown.kept("grass") is None
    drawer.get_by_text("colours of the trace store").click()
    shown.wait_kept("grass", "node.Collective")
    shown.drop(tmp_path / "graphstore-scripts.zip", "application/zip")
    shown.wait_kept("documents", "// A graph: run")

    assert names == ["graphstore.grass", "graphstore-scripts.zip", "guide.html", "guide.adoc"]
    assert shown.kept("grass")["node.Kernel"] == style.rules()["node.Kernel"]


def test_the_kit_is_for_that_browser_alone(opening: dict[str, Any], chrome: Chromium) -> None:
    """A page of another origin may not read what the guide says of the run."""
    page = chrome.page()
    page.goto(opening["guide"])
    asked = (
        f"fetch('{opening['guide'].replace('localhost', '127.0.0.1')}').then(() => 'read', () => 'refused')"
    )

    assert page.evaluate(asked) == "refused"


def test_no_password_in_link_or_process_list(opening: dict[str, Any], server: Server) -> None:
    """Whoever sees the link or the processes of the machine does not learn the password."""
    command = Path(f"/proc/{opening['pid']}/cmdline")

    assert server.password not in opening["printed"]
    assert not command.exists() or server.password not in command.read_text()


def test_import_and_check_print_links(server: Server, chrome: Chromium, tmp_path: Path) -> None:
    """After an import and with each finding stands a link that puts the question into Browser's editor."""
    checked = graphstore(server, "check", RUN)
    as_json = json.loads(graphstore(server, "check", RUN, "--format", "json").stdout)
    imported = graphstore(server, "import", str(demo.TRACES), "--run", RUN)

    links = re.findall(r"open in Browser: (\S+)", checked.stderr)
    assert links == [finding["browser"] for finding in as_json]
    assert len(links) == 12
    assert "open in Browser" not in checked.stdout
    assert len(re.findall(r"open in Browser: (\S+)", imported.stderr)) == 1
    shown = BrowserPage(chrome.page())
    shown.open(links[0], server.password)
    editor = shown.page.locator("#monaco-main-editor")
    editor.get_by_text(as_json[0]["fid"]).first.wait_for()


def test_only_the_link_is_printed(server: Server) -> None:
    """With --no-open the link is for our start page, with the run; nothing stays behind."""
    done = graphstore(server, "browser", "--no-open", "--format", "json")

    assert done.returncode == 0
    said = json.loads(done.stdout)
    assert set(said) == {"run", "link"}
    assert "/browser/graphstore/start.html?" in said["link"]
    assert said["link"].endswith(f"run={RUN}")


def test_a_page_that_guesses_a_run_or_a_kit_changes_nothing(chrome: Chromium, server: Server) -> None:
    """The start page takes no text for a run and no files of another machine: it says so, keeping nothing."""
    at = api.browser_at(server.settings())
    assert at is not None
    for link in (at.start("x' RETURN 1 //"), at.start("demo", "https://example.org/")):
        page = chrome.page()
        page.goto(link)
        page.get_by_text("Not set up").wait_for()
        assert page.evaluate("localStorage.getItem('neo4j.settings')") is None


def test_every_saved_script_is_answered(server: Server, at_home: BrowserPage) -> None:
    """No script of the folder fails on the server: values and text fit together."""
    asked = scripts(at_home)

    with closing(open_store(server.settings())) as store:
        for name, text in asked.items():
            assert store.query(RUN, text).columns, name
    assert len(asked) > 80


@pytest.fixture
def embedded(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a command on an embedded archive."""
    return {**os.environ, "GRAPHSTORE_URI": "", "GRAPHSTORE_HOME": str(tmp_path)}


def test_the_embedded_store_says_how_a_run_gets_there(embedded: dict[str, str]) -> None:
    """One line, exit 2: Browser is the server's, and import takes a run there."""
    done = subprocess.run([*CLI, "browser"], env=embedded, capture_output=True, text=True, timeout=60)

    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "graphstore import FILES --store bolt://localhost:7687" in done.stderr


def test_findings_of_a_run_are_those_that_the_guide_quotes(server: Server, opening: dict[str, Any]) -> None:
    """The guide in AsciiDoc, for newer Browsers, quotes each of the first ten messages and a query for it."""
    with urllib.request.urlopen(opening["guide"].replace("guide.html", "guide.adoc")) as answer:
        text = answer.read().decode()
    found = api.check_run(RUN, server.settings())[:10]

    assert all(f"....\n{finding.message}\n....\n" in text for finding in found)
    assert all(f'f.fid = "{finding.fid}"' in text for finding in found)
    assert queries.get("archive/show_ledger").text.splitlines()[-1] in text

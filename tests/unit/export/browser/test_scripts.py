from __future__ import annotations

import io
import zipfile

from graphstore.export.browser.examples import Examples, no_run
from graphstore.export.browser.scripts import bundle, scripts, statement, title
from graphstore.queries import get


def test_a_script_is_a_question_with_its_values() -> None:
    """The meaning as a comment, then the text; of the header's keys nothing, of the parameters none left."""
    found = {script.name: script for script in scripts(no_run(), "night & day#1")}

    script = found["A graph: components"]
    assert script.folder == "Trace store structure"
    assert script.text.startswith("// The tops of the call trees of a rank")
    assert "column" not in script.text
    assert "$" not in script.text
    assert 'top.run = "night \\u0026 day\\u00231" AND top.rank = 0' in script.text


def test_without_a_run_only_that_stays_open() -> None:
    """The kit for any run leaves $run to be set; what needs an op of the run is left out."""
    found = {script.name: script.text for script in scripts(no_run(), None)}

    assert "top.run = $run AND top.rank = 0" in found["A graph: components"]
    assert "A graph: call tree" not in found


def test_what_only_exports_read_is_no_script() -> None:
    """Whole columns and pages are for machines, writing statements for repair."""
    names = {script.name for script in scripts(no_run(), None)}

    assert not {name for name in names if name.endswith((" columns", " spans", " table"))}
    assert not {name for name in names if name.startswith(("Repair", "Write"))}


def test_pictures_come_first_in_their_folder() -> None:
    """A graph is what Browser is opened for."""
    of_health = [script.name for script in scripts(no_run(), None) if script.folder == "Trace store health"]

    assert of_health[0] == "A graph: findings"
    assert sorted(of_health) == of_health


def test_a_query_takes_the_values_that_belong_together() -> None:
    """A group and a number of one collective; never the group of one and the number of another."""
    channel, one = {"group": "a", "src": 0, "dst": 1}, {"group": "b", "collective_seq_id": 7}
    text = statement(get("communication/show_calls_of_collective"), Examples((channel, one), {}), None)

    assert text is not None
    assert 'c.group = "b" AND c.collective_seq_id = 7' in text
    assert statement(get("linking/show_kernel_path"), Examples((channel, one), {}), None) is None


def test_a_parameter_with_a_default_has_it() -> None:
    """What narrows a question stays open, what limits it has its number."""
    text = statement(get("memory/show_tensor_flow"), no_run(), "r")

    assert text is not None
    assert "null IS NULL OR a.rank = null" in text
    assert text.rstrip().endswith("LIMIT 50")


def test_the_bundle_is_what_browser_takes() -> None:
    """A file a script, its first line the name; the same kit is the same bytes."""
    found = scripts(no_run(), None)
    packed = bundle(found)

    with zipfile.ZipFile(io.BytesIO(packed)) as opened:
        text = opened.read("Trace store health/A graph findings.cypher").decode()
        assert len(opened.namelist()) == len(found)
    assert text.startswith("// A graph: findings\n// The findings of a run")
    assert bundle(found) == packed


def test_titles_read_as_words() -> None:
    """As a person says them."""
    assert title(get("structure/show_call_tree.graph")) == "A graph: call tree"
    assert title(get("time/show_top_ops")) == "Show top ops"

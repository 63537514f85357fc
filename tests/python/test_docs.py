"""The documentation is correct: its Python runs, its tables are complete."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest
import typer

import weft
from weft import _weft
from weft.catalogue import controller_settings
from weft.cli import app
from weft.cli.controller import Forwarding, Pick, Reverse
from weft.cli.fabric import Order

DOCS = Path(__file__).parents[2] / "docs"


def test_the_python_example_runs_from_top_to_bottom(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", (DOCS / "python.md").read_text(), re.S | re.M)
    assert len(blocks) > 8
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "9 runs" in printed
    assert "did you mean `load`" in printed
    assert names["table"].height == 6
    assert (tmp_path / "results" / "first-look" / "report.html").is_file()


def properties(schema):
    """The names of all keys of a JSON Schema."""
    if isinstance(schema, dict):
        found = set(schema.get("properties", {}))
        return found.union(*(properties(value) for value in schema.values()))
    if isinstance(schema, list):
        return set().union(*(properties(value) for value in schema))
    return set()


def test_the_scenario_reference_names_every_key_of_the_schema():
    # Parameters of protocols are on a page of their own.
    text = (DOCS / "scenario.md").read_text() + (DOCS / "transport.md").read_text()
    schema = weft.schema()
    transport = {name for profile in weft.profiles() for name in keys(profile)}
    schemes = {p["name"] for scheme in weft.schemes() for p in scheme["params"]}
    missing = {name for name in properties(schema) - transport - schemes if not re.search(rf"\b{name}\b", text)}
    assert missing == set()


def table(head, rows):
    """A table of a page."""
    return "".join(f"| {' | '.join(row)} |\n" if row else f"|{'---|' * len(head)}\n" for row in (head, (), *rows))


def test_the_results_page_lists_every_column_and_metric():
    """`WEFT_UPDATE_SNAPSHOTS=1` writes these lists."""
    tables, page = json.loads(_weft.result_tables()), DOCS / "results.md"

    def columns(name):
        kinds = (f"{column['kind']}{' or null' * column['or_null']}" for column in tables[name])
        rows = zip(tables[name], kinds, strict=True)
        return table(("column", "type", "meaning"), [(f"`{c['name']}`", kind, c["doc"]) for c, kind in rows])

    metrics = [(f"`{metric['name']}`", metric["entity"], metric["doc"]) for metric in tables["metrics"]]
    wanted = [columns("flows"), columns("series"), table(("metric", "entity", "meaning"), metrics)]
    wanted += [columns(name) for name in ("work", "ranks", "ring_steps", "critical_path")]
    lists = re.compile(r"^\| (?:column|metric) \|.*\n(?:\|.*\n)+", re.M)
    if os.environ.get("WEFT_UPDATE_SNAPSHOTS"):
        rest = iter(wanted)
        page.write_text(lists.sub(lambda _: next(rest), page.read_text()))
    assert lists.findall(page.read_text()) == wanted


def defaults(schema):
    """The keys of a JSON Schema with their defaults or None; nested keys if no outer one has their name."""
    if not isinstance(schema, dict | list):
        return {}
    found = {}
    for part in schema if isinstance(schema, list) else schema.values():
        found |= defaults(part)
    own = schema.get("properties", {}) if isinstance(schema, dict) else {}
    texts = {name: key.get("description", "") for name, key in own.items()}
    return found | {name: re.search(r"(?:\(default: (.*)\))?$", text)[1] for name, text in texts.items()}


@pytest.mark.parametrize("section", ["fabric", "traffic", "run", "measure"])
def test_the_scenario_page_has_the_defaults_of_the_schema(section):
    (text,) = re.findall(rf"^## \[{section}\]\n(.*?)(?=^## )", (DOCS / "scenario.md").read_text(), re.S | re.M)
    listed = re.findall(r"(?:^ *\* (?:`\w+`, )*|, )`(\w+)` \(((?:[^()]|\(.*?\))+)\)", text, re.M)
    declared = defaults(weft.schema()["properties"][section])
    found = {name: default for name, default in listed if declared.get(name) is not None}
    assert found == {name: declared[name] for name in found} != {}


def keys(value, named=frozenset()):
    """All keys of JSON, including nested ones, except those below the keys in `named`, which are names."""
    if isinstance(value, list):
        return set().union(*(keys(part, named) for part in value))
    if not isinstance(value, dict):
        return set()
    return set(value).union(*(keys(part, named) for name, part in value.items() if name not in named))


def test_the_results_page_names_every_key_of_the_json_files(engine_results):
    text = (DOCS / "results.md").read_text()
    summary = json.loads((engine_results.finished[0].path / "summary.json").read_text())
    sweep = json.loads((engine_results.path / "sweep.json").read_text())
    named = {"overrides", "params", "parameters", "classes", "packets_dropped"}
    of_classes = keys(list(summary["classes"].values()))
    assert {"links", "marks", "mean_fct_s"} <= keys(summary, named) | of_classes
    for name, found in (("summary.json", keys(summary, named) | of_classes), ("sweep.json", keys(sweep, named))):
        section = text.split(f"## {name}")[1].split("\n## ")[0]
        assert {key for key in found if not re.search(rf"[`{{ ]{key}[`,}}]", section)} == set(), name


ROOT = DOCS.parent
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.glob("*.md")])


def rows(page, first):
    """The cells of the table with the header `first`, without backticks."""
    tables = re.findall(r"^\|.*\n\|[-|]+\|\n(?:\|.*\n)+", (DOCS / page).read_text(), re.M)
    table = next(t for t in tables if [c.strip() for c in t.splitlines()[0].strip("|").split("|")] == first)
    return [tuple(c.strip().strip("`") for c in line.strip("|").split("|")) for line in table.splitlines()[2:]]


def meaning(param):
    """A parameter's text on the page: its description, and its choices if it has any."""
    choices = param["kind"].split(" | ")
    return f"{param['doc']} ({', '.join(choices)})" if len(choices) > 1 else param["doc"]


def test_the_schemes_page_is_the_registry():
    schemes = weft.schemes()
    words = {"new-switch": "switches", "new-host": "hosts", "multipath-host": "MPTCP", "controller": "controller"}
    facts = [
        (s["name"], s["summary"], s["decides"], s["observes"], ", ".join(words[need] for need in s["needs"]))
        for s in schemes
    ]
    assert rows("schemes.md", ["scheme", "summary", "decides", "observes", "needs new"]) == facts
    params = {(s["name"], p["name"], p["default"], meaning(p)) for s in schemes for p in s["params"]}
    documented = [
        (scheme, *row)
        for name, *row in rows("schemes.md", ["scheme", "parameter", "default", "meaning"])
        for scheme in ([s["name"] for s in schemes if s["explores"]] if name == "exploring" else [name])
    ]
    assert len(documented) == len(set(documented))
    assert set(documented) == params


def test_the_plugins_on_the_page_are_the_examples_that_cargo_compiles_and_tests():
    page = (ROOT / "docs" / "own-scheme.md").read_text()
    examples = [ROOT / "python/weft/starters" / kind / "src/lib.rs" for kind in ("scheme", "congestion")]
    code = "".join(example.read_text() for example in examples)
    blocks = re.findall(r"^```rust\n(.*?)^```$", page, re.S | re.M)
    assert len(blocks) == 3
    assert [block for block in blocks if block not in code] == []
    declared = (ROOT / "crates/plugin/Cargo.toml").read_text().split("[[example]]")
    for example in examples:
        assert "#[test]" in example.read_text()
        (own,) = (one for one in declared if example.relative_to(ROOT).as_posix() in one)
        assert "test = true" in own


def test_the_transport_page_names_every_profile():
    profiles = [(p["name"], p["summary"]) for p in weft.profiles()]
    assert rows("transport.md", ["profile", "summary"]) == profiles


def test_the_controllers_pages_have_its_options_and_limits_with_their_defaults():
    core = {name: setting["default"] for name, setting in controller_settings().items()}
    (limits,) = re.findall(r"^Limits, their defaults.*?(?=^`)", (DOCS / "smoc.md").read_text(), re.S | re.M)
    documented = {}
    for names, defaults in re.findall(r"((?:`[a-z_.]+`, )*`[a-z_.]+`) \((\d[\d ]*(?:, \d[\d ]*)*)", limits):
        keys = [name.strip("`").removeprefix("limits.") for name in names.split(", ")]
        documented |= zip(keys, (int(number.replace(" ", "")) for number in defaults.split(", ")), strict=True)
    named = {name.removeprefix("limits."): value for name, value in core.items() if name.startswith("limits.")}
    assert documented == named
    section = (DOCS / "controller.md").read_text().split("\n## Options\n")[1].split("\n## ")[0]
    options = dict(re.findall(r"^\* .*?`--([a-z-]+)[^`]*`[^(\n]* \((.*?)\)", section, re.M))
    controller = typer.main.get_command(app).commands["controller"]
    for option in controller.params:
        if option.default is not None and option.default is not False:
            assert options[option.opts[0][2:]].strip("`") == str(option.default), option.opts
    assert options["proactive"].startswith(f"{core['proactive_paths']}, ")
    words = {"controller": Forwarding, "order": Order, "reverse": Reverse, "pick": Pick}
    for name, choices in words.items():
        assert list(choices) == controller_settings()[name]["kind"]["choice"]


def test_the_traffic_page_has_every_distribution_with_its_mean():
    published = [(d["name"], f"{d['mean_bytes'] / 1e6:.4g} MB", d["summary"]) for d in weft.distributions()]
    assert rows("traffic.md", ["name", "mean", "source"]) == published


def command_lines():
    """Every `weft ...` of the pages, in blocks for a shell and in running text, with its page."""
    for page in PAGES:
        text = page.read_text()
        blocks = "\n".join(re.findall(r"^```sh\n(.*?)^```$", text, re.S | re.M))
        lines = re.findall(r"^weft .*$", blocks, re.M) + re.findall(r"`(weft [^`]+)`", text)
        for line in dict.fromkeys(lines):
            yield page.name, re.split(r"\s[|>]\s|\s#|;|&&", line)[0].replace("...", "").strip()


@pytest.mark.parametrize(("page", "line"), list(command_lines()))
def test_every_command_line_of_the_pages_is_one(page, line):
    group = typer.main.get_command(app)
    name, *arguments = shlex.split(line)[1:]
    if name.startswith("-"):
        options = {"--help", *(option for parameter in group.params for option in parameter.opts)}
        assert name in options, f"{page}: {line}"
        return
    assert name in group.commands, f"{page}: {line}"
    # A name in capitals is a placeholder; a bare command or option only names itself.
    if len(arguments) > 1 or (arguments and not arguments[0].startswith("-")):
        given = ["packet-spraying" if argument == "STUDY" else argument for argument in arguments]
        if given[0].startswith("-"):
            given.insert(0, "SCENARIO")
        group.commands[name].make_context(name, given)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_pages_link_to_what_is_there(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.S | re.M)
    for link in re.findall(r"\]\(([^)]+)\)", text):
        path, _, anchor = link.partition("#")
        if path.startswith("http"):
            continue
        target = page.parent / path if path else page
        assert target.exists(), link
        if anchor:
            titles = re.findall(r"^#+ (.*)$", target.read_text(), re.M)
            assert anchor in {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}, link


def test_every_make_target_that_a_page_names_exists():
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.M))
    for page in PAGES:
        text = page.read_text()
        named = re.findall(r"^make ([a-z0-9-]+)", text, re.M) + re.findall(r"`make ([a-z0-9-]+)`", text)
        assert set(named) <= targets, page.name


def test_the_first_scenario_of_the_readme_has_ten_lines_and_runs(tmp_path):
    block = re.search(r"^```toml\n(.*?)^```$", (ROOT / "README.md").read_text(), re.S | re.M)[1]
    assert len(list(filter(None, block.splitlines()))) == 10
    scenario = weft.Scenario.from_text(block).set("run.duration", "20 ms")
    assert [point.label for point in scenario.points()] == ["single_path", "ecmp", "spray"]
    assert len(scenario.run(tmp_path / "results", jobs=1).finished) == 3


def test_the_fabric_file_of_the_pages_is_read(tmp_path):
    text = (DOCS / "fabrics.md").read_text()
    own = re.search(r"^```toml\n(.*?)^```$", text.split("## From a file")[1], re.S | re.M)[1]
    (tmp_path / "own.toml").write_text(own)
    assert len(weft.fabric(tmp_path / "own.toml").hosts) == 2
    made = re.search(r"^```python\n(.*?)^```$", text, re.S | re.M)[1]
    exec(made.replace('"campus.graphml"', "path"), {"path": str(tmp_path / "campus.graphml")})
    assert len(weft.fabric(tmp_path / "campus.graphml").hosts) == 2


@pytest.mark.parametrize("table", ["", "[defaults]", "[[node]]", "[[link]]"])
def test_the_fabrics_page_names_every_key_of_a_fabric_file(table, tmp_path):
    (tmp_path / "own.toml").write_text(f"{table}\nqqqqqqqqqq = 1\n")
    with pytest.raises(weft.ScenarioError, match="unknown key `qqqqqqqqqq`, expected one of") as refused:
        weft.fabric(tmp_path / "own.toml")
    known = re.findall(r"`(\w+)`", str(refused.value).split("expected one of")[1])
    section = (DOCS / "fabrics.md").read_text().split("## From a file")[1].split("\n## ")[0]
    assert {key for key in known if not re.search(rf"^\W*{key}\b| {key}[,\n]", section, re.M)} == set()


def test_the_scenario_page_says_that_a_fabric_of_a_file_has_no_kind():
    lines = (DOCS / "scenario.md").read_text().splitlines()
    meaning = next(line for line in lines if line.startswith("* `kind`"))
    assert "leave it out where `file` names a fabric" in meaning
    scenario = weft.Scenario.from_text((ROOT / "scenarios" / "quickstart.toml").read_text())
    with pytest.raises(weft.ScenarioError, match="file"):
        scenario.set("fabric.kind", "file").points()

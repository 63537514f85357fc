"""What is compared: variants, values of a swept key, directories; and that looking never makes another experiment."""

from __future__ import annotations

import json

import pytest

import sample
from tiny import TINY
from weft import Results, paths
from weft.difference import NOT_SIGNIFICANT, SIGNIFICANT, corrected, difference
from weft.results import Results as Directory
from weft.summary import summarise
from weft.variants import compared_key, label_of, scheme_label

PLAIN = TINY.partition("[sweep]")[0]
PROFILES = PLAIN + '[sweep]\n"transport.profile" = ["linux", "ns3-3.37"]\n'
VARIANTS = (
    PLAIN.replace('name = "tiny"', 'name = "variants"')
    + '[variant.tcp]\ntransport.profile = "linux"\n[variant.uec]\ntransport.protocol = "uec"\nscheme.name = "spray"\n'
)
REDUCE = (
    PLAIN.replace('sizes = { fixed = "30 kB" }\nload = 0.3', 'collective = "ring-all-reduce"\nbytes = "40 kB"')
    + '[sweep]\n"scheme.name" = ["ecmp", "spray"]\n'
)


def printed(result):
    return " ".join((result.stdout + result.stderr).split())


@pytest.fixture
def written(tmp_path):
    def write(text, name="mine.toml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize(
    ("points", "baseline", "key"),
    [
        ([{"transport.profile": "linux"}, {"transport.profile": "dctcp"}], None, "transport.profile"),
        ([{"traffic.load": 0.2}, {"traffic.load": 0.4}], None, None),
        ([{"traffic.load": 0.2}, {"traffic.load": 0.4}], "0.2", "traffic.load"),
        ([{"traffic.load": 0.2}, {"traffic.load": 0.4}], "ecmp load=0.4", "traffic.load"),
        ([{"traffic.load": 0.2}, {"traffic.load": 0.4}], "0.3", None),
        ([{"fabric.queue": "9 kB"}, {"fabric.queue": "99 kB"}], None, "fabric.queue"),
        ([{"transport.profile": p, "traffic.load": q} for p in "ab" for q in (1, 2)], "load=2", "traffic.load"),
        ([{"variant": "a", "traffic.load": 1}, {"variant": "b", "traffic.load": 2}], None, None),
        ([{"variant": "a", "traffic.load": 1}, {"variant": "b", "traffic.load": 2}], "load=1", "traffic.load"),
        ([{"variant": "a", "traffic.load": 1}, {"variant": "b", "traffic.load": 2}], "a", None),
        ([{"scheme.name": s, "transport.protocol": p} for s in "ab" for p in "cd"], "c", "transport.protocol"),
        ([{"scheme.name": s, "transport.protocol": p} for s in "ab" for p in "cd"], "a", None),
        ([{"scheme.name": s, "transport.protocol": p} for s in "ab" for p in "ad"], "a", None),
    ],
)
def test_the_key_that_is_compared(points, baseline, key):
    assert compared_key(points, baseline) == key


def test_variants_are_labels_with_the_scheme_only_where_schemes_are_swept():
    assert scheme_label({"variant": "uec", "traffic.load": 0.2}, "ecmp") == "uec"
    assert scheme_label({"variant": "uec", "scheme.name": "spray"}, "") == "uec spray"


@pytest.mark.parametrize(
    ("baseline", "label"),
    [
        ("load=0.5", "ecmp load=0.5"),
        ("traffic.load=0.5", "ecmp load=0.5"),
        ("ecmp load=0.5", "ecmp load=0.5"),
        ("1", "ecmp load=1"),
        ("1.0", "ecmp load=1"),
        ("load=1.0", "ecmp load=1"),
        ("ecmp load=1.0", "ecmp load=1"),
        ("ecmp", "ecmp load=0.5"),
        ("spray load=0.5", None),
        ("spray", None),
        ("true", None),
        ("oad=0.5", None),
    ],
)
def test_a_value_is_named_in_several_ways(baseline, label):
    assert label_of(baseline, {"ecmp load=0.5": 0.5, "ecmp load=1": 1.0}, "traffic.load") == label


def test_a_label_may_be_shortened_to_its_first_words():
    labels = dict.fromkeys(["ecmp", "letflow gap=1 us", "conga gap=1 us", "conga gap=2 us"])
    found = [label_of(name, labels, None) for name in ("ecmp", "letflow", "let", "conga", "conga gap=2 us")]
    assert found == ["ecmp", "letflow gap=1 us", None, "conga gap=1 us", "conga gap=2 us"]


def test_one_value_of_several_keys_is_stored_with_its_key(weft, written, tmp_path):
    sweep = '[sweep]\n"fabric.queue" = ["90 kB", "99 kB"]\n"fabric.ecn_threshold" = ["90 kB", "80 kB"]\n'
    out = tmp_path / "r"
    done = weft("run", written(PLAIN + sweep), "-o", out, "--baseline", "queue=90 kB")
    assert done.exit_code == 0, done.stderr
    assert json.loads((out / "sweep.json").read_text())["baseline"] == "fabric.queue=90 kB"
    assert "difference from ecmp queue=90 kB" in printed(done)
    assert "difference from ecmp queue=90 kB" in printed(weft("summary", out))


@pytest.mark.parametrize(
    ("sweep", "baseline", "label"),
    [
        ('"traffic.load" = [0.2, 1.0]', "1", "ecmp load=1"),
        ('"traffic.load" = [0.2, 1.0]', "1.0", "ecmp load=1"),
        (
            '"traffic.sizes" = [{ fixed = "20 kB" }, { fixed = "30 kB" }]',
            '{"fixed": "30 kB"}',
            'ecmp sizes={"fixed": "30 kB"}',
        ),
    ],
)
def test_numbers_and_tables_are_baselines(weft, written, tmp_path, sweep, baseline, label):
    out = tmp_path / "r"
    done = weft("run", written(f"{PLAIN}[sweep]\n{sweep}\n"), "-o", out, "--baseline", baseline)
    assert done.exit_code == 0, done.stderr
    assert Results(out).baseline == summarise(Results(out)).baseline == label


@pytest.mark.parametrize(
    ("text", "sets", "baseline", "label"),
    [
        ('[sweep]\n"transport.profile" = ["linux", "ns3-3.37"]', ["variant=a"], "linux", "a profile=linux"),
        ('[sweep]\n"transport.profile" = ["linux", "ns3-3.37"]', ["variant=a"], "a", "a profile=linux"),
        (
            '[sweep]\nscheme = [{ name = "ecmp" }, { name = "letflow", gap = "100 us" }]',
            [],
            "a letflow gap=100 us",
            "a letflow gap=100 us",
        ),
        ('[sweep]\n"scheme.gap" = ["100 us", "200 us"]', ["scheme.name=letflow"], "b gap=200 us", "b gap=200 us"),
        ('[sweep]\n"scheme.gap" = ["100 us", "200 us"]', ["scheme.name=letflow"], "b", "b gap=100 us"),
    ],
)
def test_variants_with_a_sweep_have_the_baselines_that_tables_show(
    weft, written, tmp_path, text, sets, baseline, label
):
    both = '[variant.a]\nfabric.delay = "5 us"\n[variant.b]\nfabric.delay = "6 us"\n'
    out, options = tmp_path / "r", [option for change in sets for option in ("--set", change)]
    done = weft("run", written(f"{PLAIN}{both}{text}\n"), "-o", out, *options, "--baseline", baseline)
    assert done.exit_code == 0, done.stderr
    assert f"difference from {label}," in printed(done)
    assert Results(out).baseline == label
    refused = weft("run", written(f"{PLAIN}{both}{text}\n"), "-o", out, *options, "--baseline", "c")
    assert refused.exit_code == 2 and "`c`" in printed(refused) and label.partition("=")[2] in printed(refused)


def test_a_stored_baseline_without_runs_is_a_warning(weft, tmp_path):
    directory = sample.write_results(tmp_path / "r", seeds=2, flows=60, samples=4, baseline="conga")
    for command in ("summary", "report", "plot"):
        done = weft(command, directory, *(["--format", "svg", "--only", "fct-mean"] if command == "plot" else []))
        assert done.exit_code == 0, done.stderr
        assert "the baseline `conga` is ignored: no finished run" in printed(done), command
    assert summarise(Results(directory)).baseline is None
    assert "ignored" not in printed(weft("summary", directory, "--baseline", "ecmp"))
    assert weft("summary", directory, "--baseline", "conga").exit_code != 0


@pytest.mark.parametrize("baseline", ["ns3-3.37", "profile=ns3-3.37", "ecmp profile=ns3-3.37"])
def test_a_sweep_over_one_key_is_compared_like_schemes(weft, written, tmp_path, baseline):
    out = tmp_path / "r"
    done = weft("run", written(PROFILES), "-o", out, "--baseline", baseline)
    assert done.exit_code == 0, done.stderr
    assert "difference from ecmp profile=ns3-3.37, same flows" in printed(done)
    assert "difference from ecmp profile=ns3-3.37" in printed(weft("summary", out))
    assert "difference from ecmp profile=linux" in printed(weft("summary", out, "--baseline", "linux"))
    assert weft("report", out, "--baseline", "linux").exit_code == 0
    page = (out / "report.html").read_text()
    assert "difference from <b>ecmp profile=linux</b>" in page
    assert "2 values of profile" in page
    assert weft("plot", out, "--format", "svg", "--only", "fct-mean").exit_code == 0


def test_looking_with_another_baseline_is_no_other_experiment(weft, written, tmp_path):
    out, file = tmp_path / "r", written(PROFILES)
    assert weft("run", file, "-o", out).exit_code == 0
    before = {run.id: (run.path / "summary.json").stat().st_mtime_ns for run in Results(out).runs}
    for baseline in ("linux", "ns3-3.37"):
        again = weft("run", file, "-o", out, "--baseline", baseline)
        assert again.exit_code == 0, again.stderr
        assert f"difference from ecmp profile={baseline}" in printed(again)
    file.write_text(f'# a comment\n{PROFILES}[measure]\nbaseline = "linux"\n')
    assert weft("run", file, "-o", out).exit_code == 0
    assert Results(out).baseline == "ecmp profile=linux"
    assert {run.id: (run.path / "summary.json").stat().st_mtime_ns for run in Results(out).runs} == before
    refused = weft("run", file, "-o", out, "--set", "traffic.load=0.2")
    assert refused.exit_code != 0
    assert "traffic.load (0.3 -> 0.2)" in printed(refused)


def test_a_numeric_key_is_compared_where_a_value_is_the_baseline(weft, tmp_path):
    directory = sample.write_results(tmp_path / "r", {"traffic.load": [0.2, 0.4]}, seeds=2, flows=60, samples=4)
    assert Results(directory).compared is None
    assert "Signed" not in weft("summary", directory).stdout
    text = printed(weft("summary", directory, "--baseline", "0.2"))
    assert "difference from ecmp load=0.2, same seed" in text
    assert weft("report", directory, "--baseline", "load=0.4").exit_code == 0
    refused = weft("summary", directory, "--baseline", "0.3")
    assert refused.exit_code != 0


def test_all_tables_compare_the_key_of_the_baseline(weft, tmp_path):
    directory = sample.write_results(tmp_path / "r", {"traffic.load": [0.2, 0.4]}, seeds=2, flows=60, samples=4)
    sample.add_event(directory, sample.failure(300 * 10**9, "e0", "a1", frames_lost=3))
    whole = json.loads(weft("summary", directory, "--json", "--baseline", "0.2").stdout)
    for table in ("rows", "events"):
        assert {row["scheme"] for row in whole[table]} == {"ecmp load=0.2", "ecmp load=0.4"}, table


def test_variants_are_compared_like_schemes(weft, written, tmp_path):
    out, file = tmp_path / "r", written(VARIANTS)
    listed = weft("check", file).stdout
    assert "tcp  (2 seeds)" in listed and "uec  (2 seeds)" in listed
    done = weft("run", file, "-o", out, "--baseline", "tcp")
    assert done.exit_code == 0, done.stderr
    assert "difference from tcp, same flows" in printed(done)
    found = Results(out)
    assert found.schemes == ["tcp", "uec"]
    assert {run.overrides["variant"] for run in found.runs} == {"tcp", "uec"}
    assert [head["scheme"]["name"] for head in found.summaries()] == ["ecmp", "ecmp", "spray", "spray"]
    assert summarise(found).baseline == "tcp"
    assert weft("report", out).exit_code == 0
    assert weft("query", out, "select distinct scheme from runs order by 1").exit_code == 0
    refused = weft("run", file, "-o", out, "--baseline", "rose")
    assert "no variant `rose` in this scenario" in printed(refused)
    one = weft("run", file, "-o", tmp_path / "one", "--set", "variant=uec")
    assert one.exit_code == 0, one.stderr
    assert Results(tmp_path / "one").schemes == ["uec"]


def test_collectives_come_first_with_paired_differences(weft, written, tmp_path):
    out = tmp_path / "r"
    done = weft("run", written(REDUCE), "-o", out, "--baseline", "ecmp")
    assert done.exit_code == 0, done.stderr
    for text in (done.stdout, weft("summary", out).stdout):
        assert text.index("Times the bound") < text.index("Mean FCT")
        assert "Signed: difference from ecmp, same seed" in " ".join(text.split())
    rows = {row.scheme: row for row in paths.collectives(Results(out), "ecmp")}
    assert rows["ecmp"].differences == {}
    values = {
        scheme: [head["collectives"][0]["completion_ps"] / 1e12 for head in heads]
        for scheme, heads in {
            name: [run.summary() for run in Results(out).runs if run.scheme == name] for name in rows
        }.items()
    }
    mean = sum(a - b for a, b in zip(values["spray"], values["ecmp"], strict=True)) / 2
    assert rows["spray"].differences["completion_s"].absolute.mean == pytest.approx(mean)
    printed = json.loads(weft("summary", out, "--json").stdout)["collectives"]
    assert [set(row.get("differences", ())) for row in printed] == [set(), set(paths.COMPARED_COLUMNS)]
    assert weft("report", out).exit_code == 0
    page = (out / "report.html").read_text()
    assert page.index('id="collectives-section"') < page.index('id="completion-section"')
    assert weft("plot", out, "--format", "svg", "--only", "collective-ratio").exit_code == 0


@pytest.mark.parametrize(
    ("spray", "signs"),
    [
        ({1: 2.0}, []),
        ({1: 2.0, 2: 2.1}, [SIGNIFICANT]),
        ({1: 0.9, 2: 1.1}, [NOT_SIGNIFICANT, SIGNIFICANT]),
    ],
)
def test_the_note_of_collectives_explains_the_signs_that_can_stand_there(spray, signs):
    found = {"completion_s": difference(spray, dict.fromkeys(spray, 1.0))}
    corrected([found])
    text = paths.note([paths.Row("", "spray", "", {}, differences=found)], "ecmp")
    assert text.startswith("Signed: difference from ecmp, same seed.")
    assert [sign for sign in (NOT_SIGNIFICANT, SIGNIFICANT) if f" {sign}: " in text] == signs


def test_a_round_that_does_not_finish_is_left_out_on_both_sides(tmp_path):
    directory = sample.write_results(tmp_path / "r", {"scheme.name": ["ecmp", "spray"]}, seeds=3, flows=40, samples=2)
    for at, run in enumerate(Results(directory).runs):
        ends = None if (run.scheme, run.seed) == ("spray", 2) else 10**12 * (10 if run.seed == 2 else 1) + at
        job = {"group": 0, "class": "x", "kind": "x", "completion_ps": ends, "bound_ps": 10**11}
        job["ratio"] = None if ends is None else ends / 10**11
        file = run.path / "summary.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"collectives": [job]}))
    rows = {row.scheme: row for row in paths.collectives(Results(directory), "ecmp")}
    found = rows["spray"].differences["completion_s"]
    assert found.absolute.n == 2
    assert found.unfinished == (1, 0)
    assert abs(found.change.mean) < 1e-6
    assert rows["spray"].estimates["unfinished"].mean == pytest.approx(1 / 3)


@pytest.fixture
def two(tmp_path):
    """Two directories with the same flows, as of two versions of a scenario."""
    for name, scheme in (("before", "ecmp"), ("after", "spray")):
        directory = sample.write_results(tmp_path / name, {"scheme.name": [scheme]}, seeds=3, flows=60, samples=4)
        index = json.loads((directory / "sweep.json").read_text())
        (directory / "sweep.json").write_text(json.dumps(index | {"scenario_sha": name}))
    return tmp_path / "before", tmp_path / "after"


def test_directories_are_compared_side_by_side(weft, two):
    text = printed(weft("summary", *two))
    assert "difference from before, same flows" in text
    table = json.loads(weft("summary", *two, "--json", "--baseline", "after").stdout)
    assert table["baseline"] == "after" and table["same_flows"]
    assert {row["scheme"] for row in table["rows"]} == {"before", "after"}
    together = sample.write_results(
        two[0].parent / "both", {"scheme.name": ["ecmp", "spray"]}, seeds=3, flows=60, samples=4, baseline="ecmp"
    )
    wanted = {row.group["class"]: row for row in summarise(Directory(together)).rows if row.differences}
    for row in json.loads(weft("summary", *two, "--json").stdout)["rows"]:
        if row["scheme"] == "after":
            one = wanted[row["class"]].differences["mean_fct_s"]
            assert row["metrics"]["mean_fct_s"]["difference"]["mean"] == pytest.approx(one.absolute.mean)


def test_directories_with_other_flows_say_so(weft, two):
    other = sample.write_results(two[0].parent / "other", {"scheme.name": ["ecmp"]}, seeds=3, flows=50, samples=4)
    assert "difference from before, same seed" in printed(weft("summary", two[0], other))


def test_directories_without_a_common_point_say_so(weft, tmp_path):
    one = sample.write_results(tmp_path / "A", {"traffic.load": [0.2, 0.4]}, seeds=2, flows=60, samples=4)
    other = sample.write_results(tmp_path / "B", {}, seeds=2, flows=60, samples=4)
    index = json.loads((other / "sweep.json").read_text())
    (other / "sweep.json").write_text(json.dumps(index | {"scenario_sha": "B"}))
    text = printed(weft("summary", one, other))
    assert "no point in common, so no differences: A has load 0.2, load 0.4; B has one point without swept keys" in text
    for run in index["runs"]:
        run["overrides"], run["seed"] = {"traffic.load": 0.4}, run["seed"] + 10
    (other / "sweep.json").write_text(json.dumps(index | {"scenario_sha": "B"}))
    assert "no seed in common, so no differences: A and B" in printed(weft("summary", one, other))
    index["runs"][0]["seed"] = 1
    (other / "sweep.json").write_text(json.dumps(index | {"scenario_sha": "B"}))
    assert "in common" not in printed(weft("summary", one, other))


def test_the_name_of_a_scheme_is_that_of_the_first_directory(weft, tmp_path):
    sweep = {"scheme.name": ["single_path", "ecmp"]}
    for name, schemes in (("A", sweep), ("B", sweep), ("C", {"scheme.name": ["spray"]})):
        sample.write_results(tmp_path / name, schemes, seeds=2, flows=60, samples=4)
    both = tmp_path / "A", tmp_path / "B"
    for baseline, label in (("ecmp", "A ecmp"), ("B ecmp", "B ecmp"), ("single_path", "A single_path")):
        table = json.loads(weft("summary", *both, "--json", "--baseline", baseline).stdout)
        assert table["baseline"] == label
        assert {row["scheme"] for row in table["rows"]} == {"A single_path", "A ecmp", "B single_path", "B ecmp"}
    alone = json.loads(weft("summary", tmp_path / "C", *both, "--json", "--baseline", "spray").stdout)
    assert alone["baseline"] == "C"
    refused = weft("summary", *both, "--baseline", "conga")
    assert refused.exit_code != 0
    text = printed(refused)
    assert f"no scheme `conga` in {both[0]}, {both[1]}: choose from A single_path, A ecmp, B single_path" in text


def test_directories_of_one_scenario_are_merged(weft, tmp_path):
    for name in ("a", "b"):
        sample.write_results(tmp_path / name, seeds=2, flows=60, samples=4)
    index = json.loads((tmp_path / "b/sweep.json").read_text())
    for run in index["runs"]:
        run["id"], run["seed"] = f"b{run['id']}", run["seed"] + 10
    (tmp_path / "b/sweep.json").write_text(json.dumps(index))
    table = json.loads(weft("summary", tmp_path / "a", tmp_path / "b", "--json").stdout)
    assert {row["scheme"] for row in table["rows"]} == {"single_path", "ecmp", "spray"}
    assert all(row["seeds"] == [1, 2, 11, 12] for row in table["rows"])
    assert "given twice" in printed(weft("summary", tmp_path / "a", tmp_path / "a"))


def test_directories_with_equal_runs_of_one_scenario_are_compared(weft, tmp_path):
    for name, flows in (("before", 60), ("after", 50)):
        sample.write_results(
            tmp_path / name, {"transport.profile": ["linux", "dctcp"]}, seeds=2, flows=flows, samples=4
        )
    done = weft("summary", tmp_path / "before", tmp_path / "after", "--json")
    table = json.loads(done.stdout)
    assert table["baseline"] == "before"
    found = {(row["scheme"], row["transport.profile"], row["class"]): row for row in table["rows"]}
    for profile in ("linux", "dctcp"):
        assert found["before", profile, "mouse"]["flows"] != found["after", profile, "mouse"]["flows"]
        assert "compared" in found["after", profile, "mouse"]
    assert {scheme for scheme, _, _ in found} == {"before", "after"}


def test_merged_directories_have_labels_of_one_kind_whatever_their_baselines(weft, tmp_path):
    sweep = {"transport.profile": ["linux", "dctcp"], "traffic.load": [0.2, 0.4]}
    for name, seed, baseline in (("a", 0, "linux"), ("b", 10, "load=0.2")):
        sample.write_results(tmp_path / name, sweep, seeds=2, flows=60, samples=4, baseline=baseline)
        index = json.loads((tmp_path / name / "sweep.json").read_text())
        index["runs"] = [run | {"seed": run["seed"] + seed} for run in index["runs"]]
        (tmp_path / name / "sweep.json").write_text(json.dumps(index))
    both = tmp_path / "a", tmp_path / "b"
    table = json.loads(weft("summary", *both, "--json").stdout)
    assert table["baseline"] == "ecmp profile=linux"
    assert {row["scheme"] for row in table["rows"]} == {"ecmp profile=linux", "ecmp profile=dctcp"}
    assert all(row["seeds"] == [1, 2, 11, 12] for row in table["rows"])
    other = json.loads(weft("summary", *both, "--json", "--baseline", "load=0.4").stdout)
    assert {row["scheme"] for row in other["rows"]} == {"ecmp load=0.2", "ecmp load=0.4"}
    assert {row["transport.profile"] for row in other["rows"]} == {"linux", "dctcp"}

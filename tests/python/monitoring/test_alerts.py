"""Alert rules and the example configuration, checked by promtool."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter

import pytest

from alert_cases import CASES, QUIET
from prometheus import FILES, ROOT, alerts, promtool

RULES = {rule["alert"]: rule for rule in alerts()}
PAGE = (ROOT / "docs" / "monitoring.md").read_text(encoding="utf-8")


def test_every_alert_fires_on_its_case_with_its_words_and_stays_quiet_otherwise(tmp_path):
    tests = [case.as_test(RULES[case.alert]) for case in CASES]
    file = tmp_path / "tests.json"
    rules = {"rule_files": [str(FILES / "alerts.yml")], "evaluation_interval": "15s", "tests": tests}
    file.write_text(json.dumps(rules))
    assert "SUCCESS" in promtool("test", "rules", file)


@pytest.mark.parametrize("fires", [True, False])
def test_every_alert_has_a_case_where_it_fires_and_one_where_it_does_not(fires):
    counts = Counter(case.alert for case in CASES if (case.labels is not QUIET) == fires)
    assert set(counts) == set(RULES)


def test_the_rules_and_the_example_configuration_are_valid():
    assert f"{len(RULES)} rules found" in promtool("check", "rules", FILES / "alerts.yml")
    assert "SUCCESS" in promtool("check", "config", FILES / "prometheus.yml")


def test_the_configuration_of_the_documentation_is_valid(tmp_path):
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
    (tmp_path / "prometheus.yml").write_text(example)
    shutil.copy(FILES / "alerts.yml", tmp_path / "alerts.yml")
    assert "1 rule files found" in promtool("check", "config", tmp_path / "prometheus.yml")


@pytest.mark.parametrize("name", RULES)
def test_an_alert_has_a_severity_and_says_what_to_do_and_the_documentation_lists_it(name):
    rule = RULES[name]
    assert rule["labels"]["severity"] in ("critical", "warning")
    assert set(rule["annotations"]) == {"summary", "description"}
    # It names the target, unless it is about a job.
    assert re.search(r"\$labels\.(instance|job) ", rule["annotations"]["summary"])
    assert len(rule["annotations"]["description"]) > 80
    assert f"| `{name}` | {rule['labels']['severity']} |" in PAGE

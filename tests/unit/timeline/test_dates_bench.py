import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]


def run(data: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "bench/dates.py", "--data", str(data), "--no-dateparser", "--failures", "9"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def case(sentence: str, *results: dict[str, Any]) -> dict[str, Any]:
    return {
        "Input": sentence,
        "Context": {"ReferenceDateTime": "2024-05-15T00:00:00"},
        "Results": [
            {
                "Text": sentence,
                "Start": 0,
                "End": len(sentence) - 1,
                "TypeName": f"datetimeV2.{result['type']}",
            }
            | {"Resolution": {"values": [result]}}
            for result in results
        ],
    }


@pytest.fixture
def specification(tmp_path: Path) -> Path:
    day = {"type": "date", "value": "2024-05-14"}
    month = {"type": "daterange", "start": "2024-04-01", "end": "2024-05-01"}
    for folder, yesterday, last_month in (
        ("English", "yesterday", "last month"),
        ("Spanish", "ayer", "el mes pasado"),
        ("Chinese", "昨天", "上个月"),
    ):
        (tmp_path / folder).mkdir()
        cases = {
            "DateParser": [],
            "DatePeriodParser": [],
            "DateTimeModel": [case(yesterday, day), case(last_month, month)],
        }
        cases["DateTimeModel"].append(case("42"))
        for name, content in cases.items():
            (tmp_path / folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8-sig")
    return tmp_path


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    done = run(tmp_path / "nowhere")
    assert done.returncode == 1
    assert f"no folder {tmp_path / 'nowhere'}" in done.stderr


def test_all_right_reaches_the_targets(specification: Path) -> None:
    done = run(specification)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 of 3 = 0.00%" in done.stdout


def test_a_wrong_day_and_a_date_out_of_nothing_are_counted(specification: Path) -> None:
    path = specification / "English" / "DateTimeModel.json"
    wrong = [case("tomorrow", {"type": "date", "value": "2024-05-17"}), case("today")]
    path.write_text(
        json.dumps([*json.loads(path.read_text(encoding="utf-8-sig")), *wrong]), encoding="utf-8-sig"
    )
    done = run(specification)
    assert done.returncode == 1
    assert "expected 'tomorrow'" in done.stdout
    assert "1 of 4 = 25.00%" in done.stdout

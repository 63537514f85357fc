"""Options and arguments: plain values are those of Typer, all others are left to it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

import pytest
import typer

from weft.cli.help_pages import Commands
from weft.cli.plain_values import _Converter, prefer

app = Commands()


@app.command()
def command(
    path: Path,
    paths: Annotated[list[Path] | None, typer.Option()] = None,
    text: Annotated[str | None, typer.Option()] = None,
    texts: Annotated[list[str] | None, typer.Option()] = None,
    count: Annotated[int, typer.Option(min=1, max=9)] = 1,
    share: Annotated[float, typer.Option(min=0.0)] = 0.5,
    directory: Annotated[Path, typer.Option(exists=True, file_okay=False)] = Path(),
    flag: Annotated[bool, typer.Option("--flag")] = False,
) -> None:
    """Take a value of each kind."""


VALUES = {
    "path": ["a.toml", "", "-", "a/../b", "/"],
    "paths": [None, (), ("a", "b")],
    "text": [None, "", "a b", "7"],
    "texts": [None, (), ("a=1", "b")],
    "count": [None, "1", "9", "0", "10", "007", "-1", "+3", "1.0", "1_0", " 2", "x", "", "９", "9" * 30, 4, 12],
    "share": ["0.25", "-1", "x", 0.5],
    "directory": ["/", "/nonexistent"],
    "flag": [True, False],
}


@pytest.mark.parametrize("name", VALUES)
def test_values_are_those_of_typer_and_errors_about_numbers_name_the_bounds(name):
    built = typer.main.get_command(app)
    context = built.make_context("command", ["x"], resilient_parsing=True)
    (parameter,) = (one for one in built.get_params(context) if one.name == name)
    if not isinstance(getattr(parameter, "get_runtime_param", None), _Converter):
        pytest.skip("this version of Typer converts values without Pydantic")

    def converted(how, value):
        try:
            found = how.coerce(value, param=parameter, ctx=context)
            return type(found), found
        except typer.BadParameter as error:
            return error.format_message()

    for value in VALUES[name]:
        expected = converted(type(parameter).get_runtime_param(parameter), value)
        if name == "count" and isinstance(expected, str):
            expected = f"Invalid value: is `{value}`: give a whole number from 1 to 9"
        assert converted(parameter.get_runtime_param(), value) == expected, value


def test_a_file_that_cannot_be_read_is_left_to_typer(monkeypatch, tmp_path):
    monkeypatch.setattr("os.access", lambda *_: False)
    there = tmp_path / "there"
    there.touch()
    off = dict.fromkeys(("exists", "writable", "resolve_path", "allow_dash", "path_type", "parser", "clamp"))
    info = SimpleNamespace(**off, file_okay=True, dir_okay=True, readable=True)
    own = SimpleNamespace(coerce=lambda value, param, ctx: "of Typer")
    parameter = SimpleNamespace(
        get_runtime_param=lambda: own,
        type_descriptor=SimpleNamespace(annotation=Path, parameter_info=info),
        multiple=False,
        nargs=1,
    )
    converter = _Converter(parameter)
    assert converter.coerce(str(there), parameter, None) == "of Typer"
    assert converter.coerce(str(tmp_path / "missing"), parameter, None) == tmp_path / "missing"


@pytest.mark.parametrize("descriptor", [None, SimpleNamespace(annotation=str), SimpleNamespace(parameter_info=None)])
def test_a_parameter_of_another_typer_remains_as_it_is(descriptor):
    def of_typer():
        """Return its converter."""

    parameter = SimpleNamespace(get_runtime_param=of_typer, type_descriptor=descriptor)
    prefer(parameter)
    assert parameter.get_runtime_param is of_typer
    prefer(without := SimpleNamespace())
    assert vars(without) == {}

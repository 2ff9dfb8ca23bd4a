"""The rules of the house (see docs/developers.md), kept by reading the code."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import call_command

from apps.work.models import Work
from config import celery_app

ROOT = Path(__file__).resolve().parents[1]
CODE = [
    path
    for folder in ("apps", "workers", "platform")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "migrations" not in path.parts
]
TESTS = sorted((ROOT / "tests").rglob("*.py"))
FLOORS = {"access": 1, "work": 1, "metrics": 1, "answers": 2, "inference": 2, "segments": 2}
FORBIDDEN = {"utils", "helpers", "managers", "selectors", "signals", "constants", "misc", "common"}
LONGEST_FILE, LONGEST_FUNCTION = 300, 40
# What stands in an app: core, models, services, doors (with what they need), and registration.
KINDS = {
    *("core", "models", "services"),
    *("api", "admin", "consumers", "views", "urls", "management", "templatetags", "bench", "sample"),
    *("__init__", "apps", "migrations"),
}
# What may be imported late: heavy things that the web process must not load, and a peer that few have installed.
LATE = {"torch", "onnx", "onnxruntime", "tokenizers", "gptcache", "rapidocr_onnxruntime"}
LATE_IN = {"ready", "main"}  # Django's hook after loading, and manage.py
Function = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def app_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "apps" and len(parts) > 1 and parts[1] in FLOORS else None


@pytest.mark.parametrize("path", CODE, ids=name_of)
def test_imports_run_one_way(path: Path) -> None:
    parts = path.relative_to(ROOT).parts
    for module in imports(parse(path)):
        top, other = module.split(".")[0], app_of(module)
        if parts[0] == "apps" and len(parts) > 2:
            assert top not in {"workers", "config", "tests"}, f"{module} lies above"
            assert other is None or other == parts[1] or FLOORS[other] < FLOORS[parts[1]] or FLOORS[other] == 1
            if FLOORS[parts[1]] == 1 and other:
                assert FLOORS[other] == 1, f"{module} lies above"
        if parts[0] == "platform":
            assert top != "tests"


def test_the_ground_floor_has_no_circle() -> None:
    order = {"access": 0, "work": 1, "metrics": 2}
    for app, place in order.items():
        for path in (ROOT / "apps" / app).rglob("*.py"):
            for module in imports(parse(path)):
                other = app_of(module)
                if other in order and other != app:
                    assert order[other] < place, f"{name_of(path)} imports {module}"


@pytest.mark.parametrize("path", [path for path in CODE if "core" in path.parts], ids=name_of)
def test_core_knows_no_django_and_no_celery(path: Path) -> None:
    own = ".".join(path.relative_to(ROOT).parts[:3])
    for module in imports(parse(path)):
        assert module.split(".")[0] not in {"django", "celery", "rest_framework", "channels"}
        assert app_of(module) is None or module.startswith(own), f"{module} is not core"


def run_fresh(code: str) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def test_core_runs_without_django() -> None:
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in CODE
        if "core" in path.parts
    ]
    assert len(modules) > 20
    code = f"import sys, {', '.join(modules)}; print({{'django', 'celery'}} & set(sys.modules))"
    assert run_fresh(code) == "set()"


def test_the_web_process_never_loads_torch() -> None:
    code = "import sys; sys.path.insert(0, 'platform'); import config.asgi; print('torch' in sys.modules)"
    assert run_fresh(code) == "False"


def test_platform_is_no_package_and_hides_no_module() -> None:
    assert not (ROOT / "platform" / "__init__.py").exists()
    for path in (ROOT / "platform").iterdir():
        assert path.stem not in sys.stdlib_module_names, f"{path.name} hides a module of the standard library"
    assert run_fresh("import platform; print(platform.python_implementation())") == "CPython"


@pytest.mark.parametrize("path", [*CODE, *TESTS], ids=name_of)
def test_files_and_functions_are_short(path: Path) -> None:
    assert not FORBIDDEN & {*path.parts, path.stem}
    assert len(path.read_text().splitlines()) <= LONGEST_FILE
    for node in ast.walk(parse(path)):
        if isinstance(node, Function):
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= LONGEST_FUNCTION, f"{node.name} has {length} lines"


def test_apps_hold_the_kinds_of_files_that_all_know() -> None:
    for app in FLOORS:
        names = {path.stem for path in (ROOT / "apps" / app).iterdir() if path.name != "__pycache__"}
        assert names <= KINDS, f"apps/{app} holds {sorted(names - KINDS)}"


@pytest.mark.parametrize("path", CODE, ids=name_of)
def test_everything_public_says_what_it_is(path: Path) -> None:
    tree = parse(path)
    assert ast.get_docstring(tree), "the module has no docstring"
    for node in tree.body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{node.name} has no docstring"


@pytest.mark.parametrize("path", CODE, ids=name_of)
def test_imports_stand_at_the_top(path: Path) -> None:
    for function in (node for node in ast.walk(parse(path)) if isinstance(node, Function)):
        if function.name in LATE_IN:
            continue
        for module in imports(function):
            parts = path.relative_to(ROOT).parts
            heavy = module.split(".")[0] in LATE or ("core" in parts and "apps" in module)
            assert heavy, f"{function.name} imports {module} late"


@pytest.mark.django_db
def test_every_kind_of_work_names_a_registered_task() -> None:
    celery_app.loader.import_default_modules()
    kinds = [model for model in apps.get_models() if issubclass(model, Work)]
    assert kinds
    for kind in kinds:
        assert kind.task in celery_app.tasks, f"{kind.__name__} names {kind.task}"


@pytest.mark.django_db
def test_every_change_of_a_model_has_its_migration() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=1)


def tracked() -> list[Path]:
    """List the files of the repository; of an unpacked archive, those that Git would take."""
    if not (ROOT / ".git").exists():
        return [path for path in ROOT.rglob("*") if path.is_file() and not {".venv", "var"} & set(path.parts)]
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_nothing_names_this_machine_or_a_registry() -> None:
    forbidden = re.compile(
        rb"/work/(?:main|shared|\.library)|pypi\.org|pythonhosted|npmjs|download\.pytorch|anaconda\.org"
    )
    for path in tracked():
        if path.name != "test_house.py" and path.suffix not in {".png", ".onnx"}:
            assert not forbidden.search(path.read_bytes()), f"{name_of(path)} names a machine or a registry"


def test_weights_never_come_pickled() -> None:
    for path in CODE:
        modules = {module.split(".")[0] for module in imports(parse(path))}
        assert "pickle" not in modules, f"{name_of(path)} reads pickles"

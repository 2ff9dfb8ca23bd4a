"""`manage.py register_model module:factory`: export a torch module to ONNX and register it."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import torch
from django.core.management.base import BaseCommand, CommandError
from django.utils.module_loading import import_string

from apps.access import services as access
from apps.access.core.callers import SCOPES, Caller
from apps.access.models import Workspace
from apps.inference import services
from apps.inference.core.models import export
from apps.inference.models import Network


class Command(BaseCommand):
    """Call a factory of the operator's own, export what it makes, check and register it like an upload."""

    help = "Register a torch module, made by a factory without arguments, as a model of a workspace."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the factory and what the engine must know."""
        parser.add_argument("factory", help="module:factory, found from the current folder")
        parser.add_argument("--workspace", default="demo")
        parser.add_argument("--name", help="the factory's name by default")
        parser.add_argument("--task", choices=Network.Task.values, default=Network.Task.CLASSIFICATION.value)
        parser.add_argument("--size", default="224x224", help="WIDTHxHEIGHT of the input")
        parser.add_argument("--mean", type=numbers, default=(0.0, 0.0, 0.0), help="red,green,blue of 0..1")
        parser.add_argument("--std", type=numbers, default=(1.0, 1.0, 1.0), help="red,green,blue of 0..1")
        parser.add_argument("--labels", type=Path, help="a text file with one label a line")

    def handle(self, *args: Any, **options: Any) -> None:
        """Export and register."""
        workspace = Workspace.objects.filter(slug=options["workspace"]).first()
        if workspace is None:
            raise CommandError(f"there is no workspace {options['workspace']!r}")
        width, height = size(options["size"])
        module = made(options["factory"])
        labels = options["labels"].read_text().splitlines() if options["labels"] else []
        facts = services.Facts(
            options["name"] or options["factory"].rpartition(":")[2], purpose=options["task"], input_width=width,
            input_height=height, mean=options["mean"], std=options["std"], labels=labels,
        )  # fmt: skip
        try:
            row = services.register(
                Caller(workspace.pk, frozenset(SCOPES)), facts, [export.to_onnx(module, 3, height, width)]
            )
        except access.ProblemError as problem:
            raise CommandError(problem.detail) from problem
        self.stdout.write(f"registered {row.name} ({row.pk})\n{row.analysis['verdict']}")


def numbers(text: str) -> tuple[float, ...]:
    """Read three numbers between commas."""
    values = tuple(float(part) for part in text.split(","))
    if len(values) != 3:
        raise ValueError(text)
    return values


def size(text: str) -> tuple[int, int]:
    """Read WIDTHxHEIGHT.

    Raises:
        CommandError: it is something else.
    """
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit()):
        raise CommandError("--size is WIDTHxHEIGHT, as 224x224")
    return int(width), int(height)


def made(named: str) -> torch.nn.Module:
    """Call a factory by its name.

    Raises:
        CommandError: there is none, or it makes something else.
    """
    sys.path.insert(0, str(Path.cwd()))
    try:
        module = import_string(named.replace(":", "."))()
    except ImportError as problem:
        raise CommandError(str(problem)) from problem
    if not isinstance(module, torch.nn.Module):
        raise CommandError(f"{named} makes a {type(module).__name__}, not a torch module")
    return module

"""The process that looks at an uploaded network: `python -m apps.inference.core.checking PATH HEIGHT WIDTH`.

Prints one line of JSON: the analysis, or why the file is refused. A crash or a bomb here hurts nobody else.
"""

import json
import resource
import sys
from pathlib import Path
from typing import Any

from apps.inference.core import graph

MAX_MEMORY = 8 * 2**30


def look(path: Path, height: int, width: int) -> dict[str, Any]:
    """Read, check and analyse a network; a size of 0 is taken from the file."""
    loaded = graph.load(path.read_bytes())  # as bytes: what it keeps in other files is refused
    if loaded.channels != 3:
        raise graph.GraphError(f"the network takes {loaded.channels} channels; pictures have three (RGB)")
    found = []
    for name, asked, own in (("height", height, loaded.height), ("width", width, loaded.width)):
        if own is not None and asked not in (0, own):
            raise graph.GraphError(f"the network's input {name} is fixed to {own}, not {asked}")
        if own is None and not asked:
            raise graph.GraphError(f"the network takes any input {name}; say which with input_{name}")
        found.append(asked or own or 0)
    analysis = graph.analyse(loaded, *found)
    return {"height": found[0], "width": found[1], "outputs": loaded.output_names, "analysis": analysis.as_json()}


def main(arguments: list[str]) -> None:
    """Print what was found."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    try:
        told = look(Path(arguments[0]), int(arguments[1]), int(arguments[2]))
    except graph.GraphError as error:
        told = {"error": str(error)}
    except MemoryError:
        told = {"error": "the network needs more memory than is given to a check"}
    except Exception as error:
        told = {"error": f"the network cannot be analysed: {str(error)[:300] or type(error).__name__}"}
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])

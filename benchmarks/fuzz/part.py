"""Part of an attack in a process of its own: `python -m benchmarks.fuzz.part NAME COUNT SEED`.

Its last line is what was found, as JSON: whatever else is printed comes before.
"""

import json
import sys
from importlib import import_module

if __name__ == "__main__":
    name, count, seed = sys.argv[1:]
    found = import_module(f"benchmarks.fuzz.{name}").attack(int(count), int(seed))
    print("\n" + json.dumps(found))

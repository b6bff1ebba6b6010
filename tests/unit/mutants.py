# SPDX-License-Identifier: BSD-3-Clause
"""A mutation is not caught by a test or a model that fails with nothing broken, or does not end."""
import os
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "model"))  # has a mutations, too

import broken
import mutations
from tap import Tap

# The tests are scripts here. The second run of "busy" does not end.
SCRIPTS = {
    "passes": "",
    "fails": "print('not ok 1 - x'); sys.exit(1)",
    # Hangs.
    "busy": "f = __file__ + '.ran'\nif os.path.exists(f): time.sleep(60)\nopen(f, 'w').close()",
}
ENDLESS = [sys.executable, "-c", "import time; time.sleep(60)"]  # hangs
FAILING = [sys.executable, "-c", "print('not ok 3 - it shows'); raise SystemExit(1)"]
PASSING = [sys.executable, "-c", ""]

# Models: a shell script each, told the memory.
FINDS = "echo 'not ok 2 - ring TSO: 2 threads'; echo '# violation: twice'; exit 3"
MODELS = {"holds": "exit 0", "breaks": FINDS, "crashes": "exit 1",
          "breaks under weak": f'[ $0 = TSO ] || {{ {FINDS}; }}'}


def mutations_of_tests(tap, root):
    os.makedirs(os.path.join(root, "tests", "unit"))
    for name, text in SCRIPTS.items():
        with open(os.path.join(root, "tests", "unit", name + ".py"), "w", encoding="utf-8") as f:
            f.write("import os, sys, time\n" + text)
    tests = mutations.Tests(root, ["cc"], root, root)
    tests.LONGEST = 3
    for name, command, caught, why in (
            ("passes", FAILING, True, "not ok 3 - it shows"),
            ("passes", ENDLESS, True, "does not end"),
            ("passes", PASSING, False, "the test passes"),
            ("fails", FAILING, False, "the test fails with nothing broken: not ok 1 - x"),
            ("busy", ENDLESS, False, "the test does not end with nothing broken")):
        said = tests.is_caught("unit/" + name, command)
        tap.ok(said[0] == caught and said[1].startswith(why), f"a test that {name}: {why}", said)


class Models(broken.Models):
    def build(self, work, model, broken):
        return ["sh", "-c", MODELS[model]]


def mutations_of_models(tap, root):
    models = Models(root, ["cc"], "", {}, root)
    for name, shown, caught, why in (
            ("holds", "breaks", True, "violation: twice"),
            ("holds", "holds", False, "the search found nothing"),
            ("holds", "crashes", False, "it did not complete"),
            ("breaks under weak", "breaks", True, "violation: twice"),
            ("breaks", "breaks", False, "with nothing broken TSO shows: violation: twice"),
            ("crashes", "breaks", False, "it did not complete")):
        said = models.verdict(name, models.build(root, shown, ""), [])
        tap.ok(said == (caught, why), f"a model that {name}: {why}", said)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as root:
        mutations_of_tests(tap, root)
        mutations_of_models(tap, root)
    tap.done()


main()

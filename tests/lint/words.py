# SPDX-License-Identifier: BSD-3-Clause
"""Words: names that haul has replaced by the field's (docs/glossary.md) do not come back, in code,
comments and pages. A word counts if it is a part of an identifier, or stands alone."""
import re

import tree

INSTEAD = {
    "settle": "quiesce, barrier or recompute", "berth": "cluster_idx", "seat": "group_idx",
    "plainly": "fast", "with_care": "slow", "and_tell": "notify", "lie_down": "set_idle",
    "get_up": "clear_idle", "intake": "injector", "loot": "stolen", "rob": "steal",
    "robbed": "stolen", "stash": "detached mail", "relay": "tx proxy", "fronted": "lifo_pushes",
    "hauli_mark": "u8_owned or u8_shared", "hauli_stamp": "u64_owned",
    "hauli_tally": "u64_shared", "hauli_slot": "trylock", "hauli_link": "ptr_published",
    "hauli_turn": "ticket", "hauli_sight": "hauli_policy_view",
    "hauli_acts": "hauli_policy_ops", "hauli_rules": "hauli_policy_params",
    "hauli_event_init": "hauli_completion_init", "hauli_event_set": "hauli_completion_set",
    "hauli_frame_enter": "hauli_extent_enter", "hauli_frame_of": "hauli_extent_of",
    "hauli_start_init": "hauli_prototype_init",
    "start_msg": "spawn_msg", "hauli_batch": "hauli_bulk",
    "hauli_policy_snapshot": "hauli_policy_view",
    "hauli_clock_go_on": "hauli_clock_resume", "hauli_crowd_go_on": "hauli_crowd_serve_rest",
    "hauli_wait_source": "hauli_io_wait_source", "hauli_wait_wake": "hauli_io_wait_wake",
    "hauli_idle_nap": "hauli_idle_sleep_until", "load_see": "load_count",
}
FOUND = re.compile(r"(?<![a-z])(%s)(?![a-z])" % "|".join(INSTEAD), re.IGNORECASE)
KEPT = ("tests/lint/words.py", "tests/lint/selftest.py", "docs/glossary.md")


def findings(root):
    for path in tree.files(root, ".c", ".h", ".cc", ".S", ".py", ".md", ".pml", ".build"):
        if path in KEPT:
            continue
        source = tree.text(root, path)
        for m in FOUND.finditer(source):
            yield (f"{path}:{tree.line_of(source, m.start())}: {m[1]}: say "
                   f"{INSTEAD[m[1].lower()]} (docs/glossary.md)")


if __name__ == "__main__":
    tree.main(findings)

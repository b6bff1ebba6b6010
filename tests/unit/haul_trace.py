# SPDX-License-Identifier: BSD-3-Clause
"""haul-trace: what it makes of the raw trace of trace_story.c, by protoc and the fields of
trace.proto; and the queries of docs/guide/timeline.md, over tables like those of trace_processor.

Usage: haul_trace.py HAUL_TRACE STORY GUIDE
"""
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile

import tap

HERE = os.path.dirname(os.path.abspath(__file__))
TRACE, STORY, GUIDE = sys.argv[1:4]


def run(*command, ok=True):
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode == 0) == ok, f"{command}: {done.returncode} {done.stderr}"
    return done


def parse(lines):
    """protoc's text: a message as a list of (field, value)."""
    message = []
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith("{"):
            message.append((line[:-1].strip(), parse(lines)))
        else:
            field, value = line.split(": ", 1)
            message.append((field, value))
    return message


def get(message, field, default=None):
    return next((value for name, value in message if name == field), default)


def text(value):
    return value[1:-1].encode().decode("unicode_escape") if value else None


def decode(path):
    with open(path, "rb") as trace:
        done = subprocess.run(
            ["protoc", f"--proto_path={HERE}", "--decode=perfetto.protos.Trace", "trace.proto"],
            stdin=trace, capture_output=True, text=True, check=True)
    assert not re.search(r"(?m)^\s*\d+: ", done.stdout), "fields that trace.proto lacks"
    return [packet for _, packet in parse(iter(done.stdout.splitlines()))]


class Tables:
    """Those of trace_processor that the queries use."""
    def __init__(self):
        self.db = sqlite3.connect(":memory:")
        self.db.executescript("""
            CREATE TABLE thread(utid, tid, name);
            CREATE TABLE track(id, name, parent_id);
            CREATE TABLE thread_track(id, utid);
            CREATE TABLE counter(id INTEGER PRIMARY KEY, ts, track_id, value);
            CREATE TABLE slice(id INTEGER PRIMARY KEY, ts, dur, track_id, name, parent_id,
                               arg_set_id);
            CREATE TABLE flow(slice_out, slice_in);""")
        self.args = {}
        self.db.create_function("EXTRACT_ARG", 2, lambda n, key: self.args.get(n, {}).get(key))

    def query(self, sql):
        return self.db.execute(sql).fetchall()


class Import:
    """Fills the tables as trace_processor does: events in the order of their times; a slice ends
    the innermost one of its track; an instant is a child of another one of its time; tracks of one
    name and parent are one."""
    def __init__(self, packets):
        self.names, self.notes, self.tables = {}, {}, Tables()
        self.open, self.flows, self.wrong = {}, {}, []
        self.tracks, self.merged, self.instants = {}, {}, {}
        events = []
        for packet in packets:
            self.intern(get(packet, "interned_data", []))
            track, event = get(packet, "track_descriptor"), get(packet, "track_event")
            if track:
                self.add_track(track)
            if event:
                events.append((int(get(packet, "timestamp")), event))
        for ts, event in sorted(events, key=lambda e: e[0]):
            self.add_event(ts, event)
        self.unfinished = sum(map(len, self.open.values()))

    def intern(self, data):
        for field, entry in data:
            to = self.names if field == "event_names" else self.notes
            to[get(entry, "iid")] = text(get(entry, "name"))

    def add_track(self, track):
        uuid, thread = int(get(track, "uuid")), get(track, "thread")
        run = self.tables.db.execute
        name = text(get(track, "name"))
        self.tracks[uuid] = uuid
        if name and get(track, "counter") is None:
            self.tracks[uuid] = self.merged.setdefault((get(track, "parent_uuid"), name), uuid)
            if self.tracks[uuid] != uuid:
                return
        run("INSERT INTO track VALUES(?, ?, ?)", (uuid, name, get(track, "parent_uuid")))
        if thread:
            run("INSERT INTO thread_track VALUES(?, ?)", (uuid, uuid))
            run("INSERT INTO thread VALUES(?, ?, ?)",
                (uuid, int(get(thread, "tid")), text(get(thread, "thread_name"))))

    def arguments(self, event):
        args = {}
        for field, note in event:
            if field == "debug_annotations":
                key = "debug." + self.notes[get(note, "name_iid")]
                number = get(note, "uint_value", get(note, "pointer_value"))
                args[key] = text(get(note, "string_value")) if number is None else int(number)
        return args

    def add_slice(self, ts, dur, track, event):
        stack = self.open.setdefault(track, [])
        parent = stack[-1] if stack else None
        last, instant = self.instants.pop(track, (None, None))
        if dur == 0 and last == ts:
            parent = instant
        row = self.tables.db.execute(
            "INSERT INTO slice VALUES(NULL, ?, ?, ?, ?, ?, NULL)",
            (ts, dur, track, self.names[get(event, "name_iid")], parent))
        number = row.lastrowid
        if dur == 0:
            self.instants[track] = ts, number
        self.tables.db.execute("UPDATE slice SET arg_set_id = id WHERE id = ?", (number,))
        self.tables.args[number] = self.arguments(event)
        for field, flow in event:
            if field in ("flow_ids", "terminating_flow_ids"):
                if flow in self.flows:
                    self.tables.db.execute(
                        "INSERT INTO flow VALUES(?, ?)", (self.flows[flow], number))
                self.flows[flow] = number
                if field == "terminating_flow_ids":
                    del self.flows[flow]
        return number

    def add_event(self, ts, event):
        kind, track = get(event, "type"), self.tracks[int(get(event, "track_uuid"))]
        if kind == "TYPE_COUNTER":
            self.tables.db.execute("INSERT INTO counter VALUES(NULL, ?, ?, ?)",
                                   (ts, track, float(get(event, "counter_value"))))
        elif kind == "TYPE_INSTANT":
            self.add_slice(ts, 0, track, event)
        elif kind == "TYPE_SLICE_BEGIN":
            self.open.setdefault(track, []).append(self.add_slice(ts, -1, track, event))
        elif not self.open.get(track):
            self.wrong.append((ts, track))
        else:
            number = self.open[track].pop()
            self.instants.pop(track, None)
            self.tables.db.execute("UPDATE slice SET dur = ? - ts WHERE id = ?", (ts, number))
            self.tables.args[number].update(self.arguments(event))


def queries():
    with open(GUIDE, encoding="utf-8") as guide:
        return re.findall(r"(?s)```sql\n(.*?)```", guide.read())


def test_slices(trace):
    assert not trace.wrong, f"slices end that have not begun: {trace.wrong[:3]}"
    stops = dict(trace.tables.query(
        "SELECT name, EXTRACT_ARG(arg_set_id, 'debug.stop') FROM slice WHERE dur >= 0 "
        "AND name IN ('client', 'server', 'writer') ORDER BY ts"))
    assert stops == {"client": "ended", "server": "ended", "writer": "ended"}, stops


def test_longest(trace):
    rows = trace.tables.query(queries()[0])
    # Others may be as long if their carrier loses its CPU.
    assert any(row[0] == "writer" and row[1] >= 2000 and row[2] == "carrier 1" and
               row[3] == "sleeps" for row in rows), rows


def test_waits(trace):
    rows = trace.tables.query(queries()[1])
    ends = {(row[0].split()[0], row[1]): row[4] for row in rows}
    assert ends == {("server", "parked"): "woken", ("client", "parked"): "woken",
                    ("server", "mutex"): "woken", ("writer", "sleeps"): "timer"}, rows
    waits = {(row[0].split()[0], row[1]): row[3] for row in rows}
    # How long they are depends on when a carrier gets a CPU.
    assert waits["server", "mutex"] > 0 and waits["writer", "sleeps"] > 0, rows
    assert waits["client", "parked"] >= waits["server", "mutex"], rows


def test_who_woke_whom(trace):
    rows = {(row[0], row[1]): row[2] for row in trace.tables.query(queries()[2])}
    assert rows["client", "server"] == 3, rows
    assert rows["server", "client"] == 3, rows
    assert rows["writer", "server"] == 1, rows


def test_from_wake_to_run(trace):
    rows = {row[0]: row for row in trace.tables.query(queries()[3])}
    assert {"client", "server", "writer"} <= set(rows), rows
    assert all(row[1] >= 0 for row in rows.values()), rows


def test_asleep(trace):
    rows = {row[0]: row for row in trace.tables.query(queries()[4])}
    assert rows["carrier 0"][1] > 0, rows


def test_spans(trace):
    rows = dict(trace.tables.query("SELECT name, COUNT(*) FROM slice GROUP BY name"))
    assert rows["ask"] == rows["request"] == rows["has the table"] == 3, rows
    inside = trace.tables.query(
        "SELECT COUNT(*) FROM slice AS a JOIN slice AS b ON a.parent_id = b.id "
        "WHERE a.name = 'mutex' AND b.name = 'request'")
    assert inside == [(1,)], inside


def test_counter(trace):
    rows = trace.tables.query(
        "SELECT value FROM counter JOIN track ON track.id = track_id WHERE name = 'asked'")
    assert rows == [(1,), (2,), (3,)], rows


def test_threads(trace):
    rows = dict(trace.tables.query("SELECT name, tid FROM thread"))
    assert set(rows) == {"carrier 0", "carrier 1"}, rows
    assert rows["carrier 0"] and rows["carrier 1"], rows


def test_wrong_files(_):
    with tempfile.TemporaryDirectory() as work:
        raw, out = os.path.join(work, "raw"), os.path.join(work, "out")
        run(STORY, raw)
        with open(raw, "rb") as file:
            whole = file.read()
        events = int(re.search(r": (\d+) events", run(TRACE, "--in", raw, "--out", out).stdout)[1])
        for cut in (0, 10, 71):
            with open(raw, "wb") as file:
                file.write(whole[:cut])
            done = run(TRACE, "--in", raw, "--out", out, ok=False)
            assert "it is no raw trace" in done.stderr, done.stderr
        for cut in (72, 100, len(whole) // 2, len(whole) - 1):
            with open(raw, "wb") as file:
                file.write(whole[:cut])
            done = run(TRACE, "--in", raw, "--out", out)
            got = int(re.search(r": (\d+) events", done.stdout)[1])
            assert ("its end is missing" in done.stderr) == (cut > 72), done.stderr
            assert got <= events and (got == 0) == (cut <= 100), (cut, got, events)
            assert cut < len(whole) - 1 or got == events, (got, events)
            assert not Import(decode(out)).wrong
        for i in range(0, len(whole), max(97, len(whole) // 50)):  # anything may be in it
            with open(raw, "wb") as file:
                file.write(whole[:i] + b"\xff" * 64 + whole[i + 64:])
            subprocess.run([TRACE, "--in", raw, "--out", out], capture_output=True)
        done = run(TRACE, "--in", os.path.join(work, "none"), "--out", out, ok=False)
        assert "No such file" in done.stderr, done.stderr
        assert run(TRACE, ok=False).returncode == 2


BEGAN, PARKED, BLOCKED, ORDERED, ENDED = 0, 2, 5, 6, 8  # enum haul_trace_how
NAME, TEXT, RUN, BLOCK, READY, SPAWN = 1, 2, 3, 4, 5, 7  # enum haul_trace_kind


def raw_trace(events, tail=0):
    """A raw trace of one ring: events are (kind, sub, ticks, value, extra), or a name's text."""
    body, n = b"", 0
    for slot, event in enumerate(events):
        if isinstance(event, str):
            body += struct.pack("<QQ", NAME | 1 << 6, slot)
            body += struct.pack("<B15s", TEXT, event.encode())
            n += 2
            continue
        kind, sub, ticks, value, extra = event
        body += struct.pack("<QQ", kind | sub << 6 | ticks << 12, value << 16 | extra)
        n += 1
    return (struct.pack("<QIIQQQQI20s", 0x3143525448554c48, 1, 0, 1000, 1000, 1000, 1 << 32, 1,
                        b"made") +
            struct.pack("<IIIIQQQ", 0, 0, 2, 0, 1024, 0, n) + body + struct.pack("<Q", tail))


def converted(raw):
    with tempfile.TemporaryDirectory() as work:
        paths = os.path.join(work, "raw"), os.path.join(work, "out")
        with open(paths[0], "wb") as file:
            file.write(raw)
        run(TRACE, "--in", paths[0], "--out", paths[1])
        return Import(decode(paths[1]))


def test_how_waits_end(_):
    """Those of files of before it was told, and numbers to come, have none."""
    lives = [event for i in range(5) for event in life(100 + 100 * i, 0, end=i)]
    made = converted(raw_trace(["one", *lives]))
    rows = made.tables.query("SELECT EXTRACT_ARG(arg_set_id, 'debug.end') FROM slice "
                             "WHERE name = 'parked' ORDER BY ts")
    assert [row[0] for row in rows] == [None, "woken", "timer", "cancelled", None], rows
    assert not made.wrong and not made.unfinished


def life(ticks, slot, co=0x1000, end=0):
    return [(SPAWN, 0, ticks, co, 1), (RUN, BEGAN, ticks + 1, co, slot),
            (RUN, PARKED, ticks + 2, 0, 0), (READY, end, ticks + 3, co, 0),
            (RUN, BEGAN, ticks + 4, co, slot), (RUN, ENDED, ticks + 5, 0, 0)]


def test_coroutines_of_one_address(_):
    made = converted(raw_trace(["one", "two", *life(100, 0), *life(200, 1), *life(300, 1),
                                *life(400, 0)]))
    rows = made.tables.query("SELECT EXTRACT_ARG(arg_set_id, 'debug.name') FROM slice "
                             "WHERE name IN ('spawn', 'wake') ORDER BY ts")
    assert [row[0] for row in rows] == ["one"] * 2 + ["two"] * 4 + ["one"] * 2, rows
    rows = made.tables.query("SELECT track.name FROM slice JOIN track ON track_id = track.id "
                             "WHERE slice.name = 'parked' ORDER BY ts")
    assert [row[0].split()[0] for row in rows] == ["one", "two", "two", "one"], rows
    assert not made.wrong and not made.unfinished


def test_waits_for_all_things(_):
    made = converted(raw_trace([
        "one", "the call", (RUN, BEGAN, 100, 0x1000, 0), (BLOCK, 0, 101, 0, 1),
        (RUN, BLOCKED, 102, 0, 0), (READY, 1, 103, 0x1000, 0), (RUN, BEGAN, 104, 0x1000, 0),
        (RUN, ORDERED, 105, 0, 0), (READY, 1, 106, 0x1000, 0), (RUN, BEGAN, 107, 0x1000, 0),
        (RUN, ENDED, 108, 0, 0)]))
    rows = {row[1:3] for row in made.tables.query(queries()[1])}
    assert rows == {("the call", 1), ("waits for its order", 1)}, rows


def test_a_coroutine_has_a_track_for_each_name(_):
    """Not for each life."""
    made = converted(raw_trace(["one", "two", *(event for i in range(20)
                                                for event in life(100 + 10 * i, i % 2))]))
    assert len(made.tracks) == 3 + 2, made.tracks  # of the process, and two of the carrier
    rows = made.tables.query("SELECT track.name, COUNT(*) FROM slice JOIN track "
                             "ON track_id = track.id WHERE slice.name = 'parked' GROUP BY 1")
    assert rows == [("one 0x1000", 10), ("two 0x1000", 10)], rows
    assert not made.wrong and not made.unfinished


def test_events_of_one_time(_):
    """Wake-ups are children of what the carrier runs, and not of each other."""
    made = converted(raw_trace(["one", "two", (RUN, BEGAN, 100, 0x1000, 0),
                                (RUN, PARKED, 101, 0x2000, 1), *[(READY, 0, 102, 0x1000, 0)] * 3,
                                (RUN, ENDED, 102, 0x1000, 0), (RUN, ENDED, 103, 0, 0)]))
    rows = made.tables.query(queries()[2])
    assert rows == [("two", "one", 3)], rows
    assert not made.wrong and not made.unfinished


def test_many_coroutines(_):
    """As many as make the table of coroutines grow, while some names are known."""
    lives = [event for i in range(3000)
             for event in life(100 + 10 * i, i % 2, 0x1000 + 0x40 * (i % 1500))]
    made = converted(raw_trace(["one", "two", *lives]))
    rows = made.tables.query("SELECT EXTRACT_ARG(arg_set_id, 'debug.name'), COUNT(*) FROM slice "
                             "WHERE name = 'wake' GROUP BY 1 ORDER BY 1")
    assert rows == [("one", 1500), ("two", 1500)], rows
    assert not made.wrong and not made.unfinished


def test_a_cut_ring(_):
    """Without its tail, what was overwritten meanwhile is told by its times."""
    raw = raw_trace(["one", (READY, 0, 900, 0x2000, 0), *life(100, 0)])
    made = converted(raw[:-8])
    assert made.tables.query("SELECT COUNT(*) FROM slice WHERE name = 'wake'") == [(1,)]


def test_a_program_without_a_timeline_lives_on(_):
    with tempfile.TemporaryDirectory() as work, subprocess.Popen(["sleep", "60"]) as program:
        try:
            done = run(TRACE, "--pid", str(program.pid), "--in", os.path.join(work, "raw"),
                       "--out", os.path.join(work, "out"), ok=False)
            assert "no timeline" in done.stderr and done.stderr.count("\n") == 1, done.stderr
            assert program.poll() is None
        finally:
            program.kill()


def main():
    tests = [test for name, test in globals().items() if name.startswith("test_")]
    if not shutil.which("protoc"):
        print("1..0 # SKIP protoc is not installed (protobuf-compiler)")
        return
    with tempfile.TemporaryDirectory() as work:
        raw, out = os.path.join(work, "raw"), os.path.join(work, "out")
        run(STORY, raw)
        run(TRACE, "--in", raw, "--out", out)
        trace = Import(decode(out))
    results = tap.Tap()
    for test in tests:
        try:
            test(trace)
            results.ok(True, test.__name__[5:].replace("_", " "))
        except (AssertionError, KeyError, IndexError) as why:
            results.ok(False, test.__name__[5:].replace("_", " "), repr(why))
    results.done()


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: BSD-3-Clause
"""The alert rules of docs/monitoring: they name what running programs export, each alert fires when
it should and clears, and no other one fires then. The same names in the dashboard.
Usage: monitoring.py HAUL_FWD HAUL_DNS SOURCE_DIR; promtool: of Debian's package prometheus."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request

import fwd
import netns

_, FWD, DNS, ROOT = sys.argv
ALERTS = f"{ROOT}/docs/monitoring/alerts.yaml"
DASHBOARD = f"{ROOT}/docs/monitoring/dashboard.json"
PORT = 9100
LABELS = {"job", "instance"}  # the scraper's
# Selectors: a name, and what is in braces; a label, how it is compared, and with what.
SELECTOR = re.compile(r'(?<!")\b(haul_\w+)(?:\{([^}]*)\})?')
MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"')
netns.enter()
tap = netns.Tap()
os.environ["RUNTIME_DIRECTORY"] = tempfile.mkdtemp()


def scrape():
    """{name: [{label: value}, ...]} of the program that runs."""
    found = {}
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/metrics", timeout=60) as page:
        for line in page.read().decode().splitlines():
            m = re.fullmatch(r"(\w+)(?:\{(.*)\})? \S+", line)
            if m:
                found.setdefault(m[1], []).append(
                    {label: value for label, _, value in MATCHER.findall(m[2] or "")})
    return found


def listens():
    try:
        return scrape()
    except OSError:
        return False


def exported():
    """What programs with ports, with latencies, with servers that they ask have."""
    found = {}
    for program, args in (
            (FWD, ["--port", "null:", "--port", "null:", "--carriers", "2", "--times"]),
            (DNS, ["--port", "ring:", "--address", "10.9.9.2/24", "--upstream", "10.9.9.1"])):
        with subprocess.Popen([program, *args, "--period", "0", "--metrics", str(PORT)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as p:
            for name, labels in netns.wait_for(listens, "metrics").items():
                found.setdefault(name, []).extend(labels)
            p.send_signal(signal.SIGTERM)
            assert p.wait(60) == 0
    return found


def unknown(expression, metrics):
    """Selectors that select nothing, whatever the program does, and labels that nothing has."""
    made = set(re.findall(r', "(\w+)", "', expression))  # by label_replace()
    expression = re.sub(r'"[^"]*"(?=[^{}]*(?:\{|$))', '""', expression)  # its other arguments
    for name, text in SELECTOR.findall(expression):
        if name not in metrics:
            yield name
            continue
        for label, how, value in MATCHER.findall(text):
            values = {labels.get(label) for labels in metrics[name]}
            wanted = value.split("|") if how == "=~" else [value]
            if label not in LABELS and (None in values or how[0] == "=" and any(
                    not any(re.fullmatch(w, v) for v in values) for w in wanted)):
                yield f"{name}{{{label}{how}{value}}}"
    for labels in re.findall(r"\b(?:by|on|without) \(([^)]*)\)", expression):
        for label in re.split(r",\s*", labels):
            if label not in LABELS | made and not any(
                    label in have for all_of in metrics.values() for have in all_of):
                yield label


def text_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def rules():
    """{name: expression} of the alerts, without a parser for YAML: one that is folded ends where
    the lines are less indented."""
    return {m[1]: " ".join(m[2].split()) for m in re.finditer(
        r"- alert: (\w+)\n +expr:(?: >-)?((?:\s+.*\n)+?)(?= {8}\w+:)", text_of(ALERTS))}


def test_names(metrics):
    text = re.sub(r"(?m)#.*", "", text_of(ALERTS))
    wrong = list(unknown(text, metrics))
    tap.ok(len(rules()) >= 13 and not wrong, "alerts name what programs export", wrong)


def panels():
    board = json.loads(text_of(DASHBOARD))
    assert board["schemaVersion"] == 37  # Grafana 9
    return board["panels"]


def expressions():
    """Of the dashboard: (the panel, an expression as Grafana sends it, its legend)."""
    given = {"$job": ".*", "$instance": ".*", "$__rate_interval": "1m"}
    found = [(p["title"], t["expr"], t["legendFormat"]) for p in panels()
             for t in p.get("targets", ())]
    found += [("", a["expr"], "") for a in json.loads(text_of(DASHBOARD))["annotations"]["list"]]
    for title, expression, legend in found:
        for name, value in given.items():
            expression = expression.replace(name, value)
        assert "$" not in expression.replace('"$1"', ""), expression
        yield title, expression, legend


def test_dashboard(metrics, folder):
    wrong, labels = [], LABELS.union(*(have for rows in metrics.values() for have in rows))
    for title, expression, legend in expressions():
        wrong += [(title, what) for what in unknown(expression, metrics)]
        wrong += [(title, label) for label in re.findall(r"\{\{(\w+)\}\}", legend)
                  if label not in labels and f', "{label}", ' not in expression]
    tap.ok(not wrong, "the dashboard names what programs export", wrong)
    taken, ids = [], [p["id"] for p in panels()]
    for at in (p["gridPos"] for p in panels()):
        taken += [(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])]
    tap.ok(len(set(taken)) == len(taken) and max(x for x, _ in taken) < 24 and
           len(set(ids)) == len(ids), "its panels have places and numbers of their own")
    if not shutil.which("promtool"):
        tap.skip("promtool parses its expressions", "it is not installed")
        return
    path = os.path.join(folder, "board.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"groups": [{"name": "board", "rules": [
            {"record": f"board:{i}", "expr": expression}
            for i, (_, expression, _) in enumerate(expressions())]}]}, f)
    r = promtool("check", "rules", path)
    tap.ok(r.returncode == 0 and "FAILED" not in r.stdout, "promtool parses its expressions",
           r.stdout)


def series(metric, values, **labels):
    labels = {"job": "haul", "instance": "a:1", **labels}
    inside = ",".join(f'{k}="{v}"' for k, v in labels.items())
    return {"series": f"{metric}{{{inside}}}", "values": values}


def work(*of_carriers):
    """Per mille of the time, minute by minute, for each carrier."""
    return [series("haul_carrier_seconds_total", total([n * 15 / 1000 for n in minutes]),
                   carrier=i, state="work") for i, minutes in enumerate(of_carriers)]


def polls(*of_carriers):
    return [series("haul_carrier_polls_total", total([n * 15 for n in minutes]), carrier=i)
            for i, minutes in enumerate(of_carriers)]


def total(steps):
    """A counter that grows by a number in each 15 seconds of a minute, in the next by another."""
    values, n = ["0"], 0
    for step in steps:
        for _ in range(4):
            n += step
            values.append(f"{n:g}")
    return " ".join(values)


def gauge(*of_minutes):
    return " ".join(f"{n:g}" for n in [of_minutes[0]] + [n for n in of_minutes for _ in range(4)])


def drops(steps, reason):
    return series("haul_port_dropped_packets_total", total(steps), port=0, reason=reason)


def packets(n, minutes):
    return series("haul_port_received_packets_total", total([n] * minutes), port=0)


# What happens; the series; {minute: which alerts fire}, at its end.
SICK = [0] * 3 + [100] * 5 + [0] * 8
CASES = [
    ("a program ends, and comes back", [series("up", gauge(1, 1, 0, 0, 0, 1, 1))],
     {2: [], 5: ["HaulDown"], 6: []}),
    ("a coroutine keeps a carrier",
     work([500] * 3 + [1000] * 5 + [300] * 4, [500] * 12) +
     polls([9] * 3 + [0] * 5 + [9] * 4, [9] * 12) +
     [series("haul_carrier_long_slices_total", total([0] * 4 + [0.25] + [0] * 12), carrier=0)],
     {3: [], 5: ["HaulCarrierStuck", "HaulLongSlices"],
      8: ["HaulCarrierFull", "HaulCarrierStuck", "HaulLongSlices"], 9: ["HaulLongSlices"],
      12: []}),
    ("a program is paused, or sleeps", work([0] * 9) + polls([0] * 9), {9: []}),
    ("all carriers are full", work([300] * 3 + [990] * 5 + [300] * 4, [990] * 8 + [900] * 4) +
     polls([9] * 12, [9] * 12), {1: [], 8: ["HaulCarrierFull"] * 2, 12: []}),
    ("one queue is full", work([300] * 3 + [990] * 5 + [300] * 4, [100] * 12) +
     polls([9] * 12, [9] * 12) +
     [series("haul_queue_received_packets_total", total([9] * 12), port=0, queue=q, carrier=q)
      for q in (0, 1)], {3: [], 8: ["HaulCarrierFull", "HaulQueueHot"], 12: []}),
    ("handlers wait for what does not come",
     polls([9] * 12, [9] * 12) + [series("haul_carrier_held_polls_total", total(
         [0] * 3 + [90] * 4 + [30] * 5), carrier=0)], {2: [], 6: ["HaulHandlersFull"], 9: []}),
    ("some packets are lost", [packets(1e6, 16), drops(SICK, "rx_missed"), drops(SICK, "tx_full")],
     {3: [], 6: ["HaulPacketsLost"] * 2, 12: []}),
    ("many packets are lost", [packets(5000, 16), drops(SICK, "rx_nombuf")],
     {3: [], 6: ["HaulManyPacketsLost", "HaulPacketsLost"], 12: []}),
    ("a port is lost, beside one that is empty",
     [series("haul_port_attached", gauge(1, 1, 0, 0, 0, 1, 1), port=0),
      series("haul_port_attached", gauge(*[0] * 7), port=1),
      series("haul_port_info", gauge(*[1] * 7), port=0, spec="tap:t0"),
      series("haul_port_info", gauge(*[1] * 7), port=1, spec="empty:queues=2")],
     {1: [], 4: ["HaulPortLost"], 6: []}),
    ("packets are used, and are for others", [packets(100, 16), drops(SICK, "consumed"),
                                              drops(SICK, "not_for_us")], {6: [], 12: []}),
    ("buffers are kept", [series("haul_buffers", gauge(*[1000] * 9)),
                          series("haul_buffers_in_use", gauge(10, 10, 950, 950, 950, 950, 10, 10))],
     {2: [], 5: ["HaulBuffersLow"], 8: []}),
    ("coroutines leak", [series("haul_named_coroutines", f"{'10+5x360'} {gauge(*[9] * 60)}",
                                name="query", state="waiting")],
     {20: [], 60: ["HaulCoroutinesGrow"], 120: []}),
    ("they end, and nobody joins them", [series("haul_coroutines", "10+5x360", state="unjoined")],
     {20: [], 60: ["HaulCoroutinesGrow"]}),
    ("their number varies", [series("haul_named_coroutines", " ".join(
        str(5000 if i // 30 % 2 else 200) for i in range(480)), name="query", state="ready")],
     {m: [] for m in range(50, 119, 7)}),
    ("a coroutine waits", [series("haul_named_longest_wait_seconds", gauge(0, 60, 120, 3, 3),
                                  name="query"),
                           series("haul_named_longest_wait_seconds", gauge(*[9000] * 5),
                                  name="tcp acceptor")], {1: [], 3: ["HaulLongWait"], 5: []}),
    ("a mutex is held", [series("haul_longest_mutex_wait_seconds", gauge(0, 20, 20, 0, 0))],
     {1: [], 3: ["HaulMutexHeld"], 5: []}),
    ("a server is lost, then both", [
        series("haul_program_upstreams", gauge(*[2] * 9), carrier=0),
        series("haul_program_upstreams_resting", gauge(0, 0, 1, 1, 2, 2, 0, 0, 0), carrier=0)],
     {2: [], 4: ["HaulUpstreamsSilent"], 6: ["HaulUpstreamsLost", "HaulUpstreamsSilent"], 8: []}),
]


def firing(names):
    return [{"labels": f'{{alertname="{name}"}}', "value": names.count(name)}
            for name in sorted(set(names))]


def case_of(what, given, expected):
    """For promtool, which reads YAML, and so JSON."""
    return {"name": what, "interval": "15s", "input_series": given, "promql_expr_test": [
        {"expr": 'sum by (alertname) (ALERTS{alertstate="firing"})',
         "eval_time": f"{minute}m", "exp_samples": firing(names)}
        for minute, names in expected.items()]}


ANNOTATIONS = {"interval": "15s", "input_series": [
    drops([0] * 2 + [150] * 8, "rx_missed"), packets(1e6, 10)], "alert_rule_test": [
        {"eval_time": "8m", "alertname": "HaulPacketsLost", "exp_alerts": [
            {"exp_labels": {"severity": "warning", "job": "haul", "instance": "a:1", "port": "0",
                            "reason": "rx_missed"},
             "exp_annotations": {"summary": "Port 0 of a:1 loses packets: rx_missed",
                                 "description": "10 a second."}}]}]}


def promtool(*args):
    return subprocess.run(["promtool", *args], text=True, timeout=120, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)


def test_rules(folder):
    missing = set(rules()) - {name for _, _, minutes in CASES for names in minutes.values()
                              for name in names}
    tap.ok(not missing, "each alert has a case", missing)
    if not shutil.which("promtool"):
        tap.skip("promtool", "it is not installed: apt install prometheus, 320 MB with a server")
        return
    r = promtool("check", "rules", ALERTS)
    tap.ok(r.returncode == 0 and "FAILED" not in r.stdout, "promtool check rules", r.stdout)
    path = os.path.join(folder, "tests.json")
    for what, test in [(what, case_of(what, *more)) for what, *more in CASES] + [
            ("what an alert says", ANNOTATIONS)]:
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"rule_files": [ALERTS], "evaluation_interval": "15s", "tests": [test]}, f)
        r = promtool("test", "rules", path)
        tap.ok(r.returncode == 0, what, r.stdout)


with tempfile.TemporaryDirectory() as d:
    programs = exported()
    test_names(programs)
    test_rules(d)
    test_dashboard(programs, d)
shutil.rmtree(os.environ["RUNTIME_DIRECTORY"])
tap.done()

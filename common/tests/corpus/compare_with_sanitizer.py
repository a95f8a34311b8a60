#!/usr/bin/env python3
"""The corpus under NVIDIA's compute-sanitizer and on the CPU device, side by side.

    compare_with_sanitizer.py run build/bin/cuda/tests/corpus FOLDER      on a machine with a GPU
    compare_with_sanitizer.py table FOLDER/verdicts.json build/bin/cpu/tests/corpus > table.md

`run` lets each case run plainly and under memcheck, racecheck, initcheck and synccheck, a process each, and writes
FOLDER/verdicts.json and everything the tools said to FOLDER/raw.log. Cases that never end on a GPU are left out, and
with --but those that a table has already. `table` runs every case on the CPU device and prints both verdicts as
Markdown. With --add-to it takes what the tools said of the other cases from an earlier table.
"""
import argparse
import collections
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOOLS = {
    "plain": None,
    "memcheck": ["--tool", "memcheck", "--leak-check", "full"],
    "racecheck": ["--tool", "racecheck", "--racecheck-report", "all"],
    "initcheck": ["--tool", "initcheck"],
    "synccheck": ["--tool", "synccheck"],
}
SANITIZER_TOOLS = [tool for tool in TOOLS if tool != "plain"]
TIMEOUT_SECONDS = 20
TIMED_OUT = 124
ONE_GPU = "one GPU"
SILENT = "Nobody says anything about "

Case = collections.namedtuple("Case", "name list hangs file what")


def output_of(command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def list_of(program):
    return [Case(*line.split("\t")) for line in output_of([program, "--list"]).splitlines()]


def run_limited(command, environment=None):
    """Runs the command and everything it starts for at most TIMEOUT_SECONDS: exit status, output, seconds."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, errors="replace", start_new_session=True, env=environment)
    try:
        text, _ = process.communicate(timeout=TIMEOUT_SECONDS)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        text, _ = process.communicate()
        status = TIMED_OUT
    return status, text, round(time.monotonic() - begin, 2)


# ---- compute-sanitizer ----------------------------------------------------------------------------------------

def without_folders(text):
    return re.sub(r"(?:/[^\s:/]+)+/([^\s:/]+)", r"\1", text)


def is_report(line):
    """The first line of a report: not the banner, a summary, or what the program's own failure says."""
    if not re.match(r"=========\s\S", line) or line.startswith("=========     "):
        return False
    return not re.search(r"COMPUTE-SANITIZER|SUMMARY|Target application|No CUDA-GDB|Process finished", line)


def verdict_of(tool, status, text, seconds, source):
    """Errors that the tool counted, its first report, and the lines of the case's source file that it named."""
    verdict = {"status": status, "seconds": seconds, "errors": 0, "first": "", "line": None, "lines": []}
    if tool == "plain":
        lines = [line for line in text.splitlines() if line.strip()]
        verdict["first"] = without_folders(lines[-1]) if lines else ""
        return verdict
    summary = re.findall(r"(?:ERROR SUMMARY: |RACECHECK SUMMARY: )(\d+)", text)
    verdict["errors"] = max(map(int, summary), default=0)
    reports = [line for line in text.splitlines() if is_report(line)]
    if reports:
        verdict["first"] = without_folders(reports[0].removeprefix("=========").strip())
    named = re.findall(r"\b" + re.escape(os.path.basename(source)) + r":(\d+)", "\n".join(
        line for line in text.splitlines() if line.startswith("=========")))
    verdict["lines"] = list(dict.fromkeys(int(line) for line in named))
    verdict["line"] = verdict["lines"][0] if verdict["lines"] else None
    return verdict


def sanitizer_program():
    found = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not os.path.exists(found):
        sys.exit("no compute-sanitizer here: it comes with the CUDA Toolkit")
    return found


def describe_machine(sanitizer):
    gpu = output_of(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader", "--id=0"])
    name, driver = [part.strip() for part in gpu.strip().split(",")]
    version = re.search(r"Version (\S+)", output_of([sanitizer, "--version"]))
    return {
        "machine": name,
        "driver": driver,
        "gpus": len(output_of(["nvidia-smi", "--list-gpus"]).splitlines()),
        "cuda": version.group(1) if version else "",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "command": f"compute-sanitizer {' | '.join(' '.join(TOOLS[tool]) for tool in SANITIZER_TOOLS)} corpus NAME",
    }


def cells_of(table_file):
    """What an earlier table says of the tools, by case."""
    known = {}
    for line in pathlib.Path(table_file).read_text().splitlines():
        cells = [cell.strip() for cell in line.split(" | ")]
        if line.startswith("| `") and len(cells) >= 3 + len(SANITIZER_TOOLS):
            last = [cell.rstrip(" |") for cell in cells[-len(SANITIZER_TOOLS):]]
            known[cells[0].strip("| `")] = dict(zip(SANITIZER_TOOLS, last))
        if line.startswith(SILENT):
            for name in re.findall(r"`(\w+)`", line):
                known[name] = {tool: "-" for tool in SANITIZER_TOOLS}
    return known


def run(program, folder, jobs, minutes, but):
    sanitizer = sanitizer_program()
    known = cells_of(but) if but else {}
    cases = [case for case in list_of(program) if case.hangs != "hangs" and case.name not in known]
    work = [(case, tool) for case in cases for tool in TOOLS]
    begin = time.monotonic()

    def measure(item):
        case, tool = item
        if time.monotonic() - begin > 60 * minutes:
            return None
        before = [] if tool == "plain" else [sanitizer, *TOOLS[tool]]
        return run_limited([*before, program, case.name])

    result = describe_machine(sanitizer) | {"cases": {case.name: {} for case in cases}}
    folder.mkdir(parents=True, exist_ok=True)
    left_out = 0
    with open(folder / "raw.log", "w") as raw, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for (case, tool), measured in zip(work, pool.map(measure, work)):
            if measured is None:
                left_out += 1
                continue
            status, text, seconds = measured
            raw.write(f"#### {case.name} {tool}: status {status}, {seconds} s\n{text}\n")
            result["cases"][case.name][tool] = verdict_of(tool, status, text, seconds, case.file)
    (folder / "verdicts.json").write_text(json.dumps(result, indent=1) + "\n")
    print(f"{len(cases)} cases, {len(work) - left_out} runs, {left_out} left out, {time.monotonic() - begin:.0f} s")


# ---- the CPU device -------------------------------------------------------------------------------------------

def lines_of(case, names):
    """Lines with a MISTAKE or OTHER comment, and lines with a launch, between the case before this one and the end of
    this one's function."""
    marked, launches, current = set(), set(), None
    for number, line in enumerate(pathlib.Path(case.file).read_text().splitlines(), 1):
        if "// MISTAKE(" in line or "// OTHER:" in line:
            marked.add(number)
        if "<<<" in line:
            launches.add(number)
        start = re.match(r"void (\w+)\(\)", line)
        if start and start.group(1) in names:
            current = start.group(1)
        if current and (line == "}" or (start and line.endswith("}"))):
            if current == case.name:
                return marked, launches
            marked, launches, current = set(), set(), None
    return set(), set()


def diagnostics_of(program, case):
    with tempfile.NamedTemporaryFile(mode="r", suffix=".json") as file:
        environment = os.environ | {"CPU_DEVICE_INSTRUMENT": "diagnostics", "CPU_DEVICE_DIAGNOSTICS": file.name}
        if case.hangs == "hangs":
            environment["CPU_DEVICE_TIMEOUT"] = "1"
        if case.file.endswith("several_devices.cu"):
            environment["CPU_DEVICE_COUNT"] = "4"
        run_limited([program, case.name], environment)
        text = file.read()
    return json.loads(text) if text else []


def cpu_cell(diagnostics, marked, launches):
    cells = []
    for diagnostic in diagnostics:
        sides = [diagnostic, diagnostic["other"]] if diagnostic["kind"] == "data_race" else [diagnostic]
        lines = {side["site"]["line"] if side and side["site"] else 0 for side in sides}
        where = "at the line" if lines <= marked else "at the launch" if lines <= launches else "elsewhere"
        cells.append(f"{diagnostic['name']}, {where}")
    return "; ".join(dict.fromkeys(cells)) or "-"


def tool_cell(verdict, marked):
    if verdict is None:
        return "not run"
    if verdict["errors"] == 0:
        return "no end" if verdict["status"] == TIMED_OUT else "-"
    return "at the line" if marked & set(verdict["lines"]) else "reported"


def print_table(cases, rows):
    print("| case | what it is about | CPU device | " + " | ".join(SANITIZER_TOOLS) + " |")
    print("|" + "---|" * (3 + len(SANITIZER_TOOLS)))
    for case in cases:
        cpu, tools = rows[case.name]
        what = case.what.replace("|", "\\|")
        print(f"| `{case.name}` | {what} | {cpu} | " + " | ".join(tools[tool] for tool in SANITIZER_TOOLS) + " |")


def print_counts(cases, rows):
    """How many of the cases each column says something about."""
    says = lambda cell: cell not in ("-", "not run", "no end", ONE_GPU)
    counts = [f"CPU device {sum(says(rows[case.name][0]) for case in cases)}"]
    for tool in SANITIZER_TOOLS:
        counts.append(f"{tool} {sum(says(rows[case.name][1][tool]) for case in cases)}")
    any_tool = sum(any(says(cell) for cell in rows[case.name][1].values()) for case in cases)
    print(", ".join(counts) + f"; at least one of the four tools {any_tool}.")


def table(verdicts_file, program, add_to):
    verdicts = json.loads(pathlib.Path(verdicts_file).read_text())
    known = cells_of(add_to) if add_to else {}
    cases = list_of(program)
    names = {case.name for case in cases}
    rows = {}
    for case in cases:
        marked, launches = lines_of(case, names)
        measured = verdicts["cases"].get(case.name, {})
        cells = {tool: tool_cell(measured.get(tool), marked) for tool in SANITIZER_TOOLS}
        if case.file.endswith("several_devices.cu") and verdicts.get("gpus", 1) == 1:
            cells = {tool: ONE_GPU for tool in SANITIZER_TOOLS}
        elif not measured:
            cells = known.get(case.name, cells)
        rows[case.name] = (cpu_cell(diagnostics_of(program, case), marked, launches), cells)
    mistakes = [case for case in cases if case.list == "error"]
    correct = [case for case in cases if case.list == "correct"]
    print(f"compute-sanitizer {verdicts['cuda']} on one {verdicts['machine']}, driver {verdicts['driver']}, "
          f"{verdicts['date']}. \"at the line\": the report names the line of the mistake; \"reported\": something was "
          f"reported without it; \"-\": silent; \"no end\": stopped after {TIMEOUT_SECONDS} s; \"not run\": would not "
          f"end on a GPU; \"one GPU\": needs several.\n")
    print(f"## {len(mistakes)} kernels and programs with one mistake\n\nReported: ", end="")
    print_counts(mistakes, rows)
    print()
    print_table(mistakes, rows)
    alarmed = [case for case in correct
               if rows[case.name][0] != "-" or any(cell not in ("-", ONE_GPU) for cell in rows[case.name][1].values())]
    print(f"\n## {len(correct)} correct ones that look suspicious\n\nFalse alarms: ", end="")
    print_counts(correct, rows)
    if alarmed:
        print("The cases about which somebody says something:\n")
        print_table(alarmed, rows)
    silent = [f"`{case.name}`" for case in correct if case not in alarmed]
    print(f"\n{SILENT}{', '.join(silent)}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    run_parser = commands.add_parser("run")
    run_parser.add_argument("program", type=os.path.abspath, help="corpus, built for CUDA with -lineinfo")
    run_parser.add_argument("folder", type=pathlib.Path)
    run_parser.add_argument("--jobs", type=int, default=6, help="processes at a time (default: 6)")
    run_parser.add_argument("--minutes", type=float, default=8, help="start no run after that (default: 8)")
    run_parser.add_argument("--but", help="a table: leave out the cases that it has")
    table_parser = commands.add_parser("table")
    table_parser.add_argument("verdicts")
    table_parser.add_argument("program", type=os.path.abspath, help="corpus, built for the CPU device")
    table_parser.add_argument("--add-to", help="an earlier table, which has what the tools said of other cases")
    arguments = parser.parse_args()
    if arguments.command == "run":
        run(arguments.program, arguments.folder, arguments.jobs, arguments.minutes, arguments.but)
    else:
        table(arguments.verdicts, arguments.program, arguments.add_to)


if __name__ == "__main__":
    main()

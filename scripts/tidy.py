#!/usr/bin/env python3
"""usage: tidy.py BUILD_FOLDER [REGEX]

clang-tidy 14 over the sources of src/ whose path matches REGEX; any finding fails. What is checked, and why the rest
is not: .clang-tidy.

Nearly all of the time goes into headers, so the sources of a folder are looked at several at once, as one source that
includes them. A group in which anything is found, be it only a name that two of them have, is looked at again one
by one, and only that counts.
"""

import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GROUP = 8
# Precompiled headers are GCC's.
PRECOMPILED = re.compile(r" -Winvalid-pch| -fpch-preprocess| -include \S*cmake_pch\.hxx")


def sources(regex):
    listed = subprocess.run(["git", "ls-files", "--", "src/*.cpp"], cwd=ROOT, check=True, capture_output=True, text=True)
    return [path for path in listed.stdout.split() if re.search(regex, path)]


def commands_of(build):
    """Of every source: the entry of compile_commands.json, without precompiled headers."""
    entries = json.loads((build / "compile_commands.json").read_text())
    for entry in entries:
        entry["command"] = PRECOMPILED.sub("", entry["command"])
    return {entry["file"]: entry for entry in entries}


def names_of(path):
    """What a source defines outside of classes and functions: clang-format puts that at the start of a line."""
    names = set()
    for line in (ROOT / path).read_text().splitlines():
        if re.match(r"\w", line) and not re.match(r"(using )?namespace", line):
            named = re.match(r"(?:class|struct|enum class|using) (\w+)", line) or re.search(r"(\w+)(?:\(| = |\{)", line)
            names.update(named.groups() if named else ())
    return names


def groups_of(paths, commands):
    """Sources of one folder whose commands differ in their names alone, and that do not define the same names."""

    def alike(path):
        entry = commands[str(ROOT / path)]
        return os.path.dirname(path), re.sub(r" -o .*", "", entry["command"])

    for _, same in itertools.groupby(sorted(paths, key=alike), key=alike):
        groups = []
        for path in same:
            names = names_of(path)
            group = next((g for g in groups if len(g[0]) < GROUP and not g[1] & names), None)
            if group is None:
                groups.append(group := ([], set()))
            group[0].append(path)
            group[1].update(names)
        yield from (group[0] for group in groups)


def tidy(folder, paths):
    """Findings, one a line, and whether there were none."""
    run = subprocess.run(
        ["clang-tidy-14", "-p", folder, "--quiet", "--extra-arg=-Wno-unknown-warning-option",
         r"--header-filter=(include/gpusonde|rooms|src)/.*\.[ch]pp$", *paths],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    found = [line for line in run.stdout.splitlines() if re.search(r"error:|warning:", line)]
    return found, run.returncode == 0 and not found


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    paths = sources(sys.argv[2] if len(sys.argv) > 2 else ".")
    commands = commands_of(build)
    unknown = [path for path in paths if str(ROOT / path) not in commands]
    if unknown or not paths:
        sys.exit(f"tidy: {build}/compile_commands.json does not have {' '.join(unknown) or 'any source'}")
    folder = build / "tidy"
    folder.mkdir(exist_ok=True)
    groups = {}
    for i, group in enumerate(groups_of(paths, commands)):
        whole = folder / f"group_{i}.cpp"
        whole.write_text("".join(f'#include "{ROOT / path}"\n' for path in group))
        first = commands[str(ROOT / group[0])]
        commands[str(whole)] = {**first, "command": first["command"].replace(first["file"], str(whole)),
                                "file": str(whole)}
        groups[whole] = group
    (folder / "compile_commands.json").write_text(json.dumps(list(commands.values())))

    found = set()
    clean = True
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wholes = {pool.submit(tidy, folder, [whole]): group for whole, group in groups.items()}
        singles = []
        for done in concurrent.futures.as_completed(wholes):
            if not done.result()[1]:
                singles += [pool.submit(tidy, folder, [path]) for path in wholes[done]]
        for single in singles:
            lines, good = single.result()
            found.update(lines)
            clean = clean and good
    print("\n".join(sorted(found)), end="\n" if found else "")
    print(f"tidy: {len(paths)} sources, {len(singles)} of them one by one", file=sys.stderr)
    sys.exit(0 if clean else 1)


if __name__ == "__main__":
    main()

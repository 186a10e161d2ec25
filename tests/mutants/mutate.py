#!/usr/bin/env python3
"""Writes a copy of the core in which a test can switch each rule of rules.txt off.

    mutate.py RULES CORE OUT

Every source of CORE goes to OUT, and rules.hh with the switches.  A rule whose place is not there
any more, or is there twice, is an error that names it.
"""

import pathlib
import re
import sys

HEADER = """\
// Generated from {table}: the rules of the core, and the one that this program breaks.
#pragma once

#include <cstdint>

namespace bellwether {{

enum class Rule : uint8_t {{
  kNone,
{rules}
}};

inline Rule broken_rule = Rule::kNone;
inline bool is_broken(Rule rule) {{ return broken_rule == rule; }}

// All nodes of this program break the rule for as long as this lives.
class Breaking {{
 public:
  explicit Breaking(Rule rule) {{ broken_rule = rule; }}
  ~Breaking() {{ broken_rule = Rule::kNone; }}
  Breaking(const Breaking&) = delete;
  Breaking& operator=(const Breaking&) = delete;
}};

}}  // namespace bellwether
"""


class Flaw(Exception):
    """The table and the core do not fit together."""


class Place:
    def __init__(self, rule, file):
        self.rule, self.file = rule, file
        self.old, self.new = [], []

    def change(self, text):
        """The text of the file with the rule's switch."""
        words = r"\s+".join(re.escape(word) for word in " ".join(self.old).split())
        found = len(re.findall(words, text))
        if not words or not self.new or found != 1:
            raise Flaw(f"rule {self.rule}: {self.file} has {found} times, not once: "
                       + " ".join(self.old))
        new = "\n".join(self.new).replace("BROKEN", f"is_broken(Rule::{self.rule})")
        return re.sub(words, lambda _: new, text)


def read(table):
    """The rules, name to sentence, and the places in their order."""
    rules, places, file = {}, [], None
    for number, line in enumerate(table.splitlines(), 1):
        rule = re.fullmatch(r"(k\w+): (.+)", line)
        side = re.fullmatch(r"  ([-+]) (.+)", line)
        if rule:
            if rule[1] in rules:
                raise Flaw(f"rule {rule[1]} is there twice")
            rules[rule[1]], file = rule[2], None
        elif side and file and (side[1] == "-" or places):
            if side[1] == "-" and (not places or places[-1].new or places[-1].file != file
                                   or places[-1].rule != list(rules)[-1]):
                places.append(Place(list(rules)[-1], file))
            (places[-1].old if side[1] == "-" else places[-1].new).append(side[2])
        elif rules and re.fullmatch(r"  \w+\.cc", line):
            file = line.strip()
        elif line and not line.startswith("#"):
            raise Flaw(f"line {number} is not understood: {line}")
    unbroken = set(rules) - {place.rule for place in places}
    if unbroken:
        raise Flaw("no place for rule " + ", ".join(sorted(unbroken)))
    return rules, places


def mutate(table, sources):
    """File to text, of the whole copy."""
    rules, places = read(table)
    copy = dict(sources)
    for place in places:
        if place.file not in copy:
            raise Flaw(f"rule {place.rule}: there is no {place.file}")
        copy[place.file] = place.change(copy[place.file])
    for file in {place.file for place in places}:
        copy[file] = '#include "rules.hh"\n' + copy[file]
    names = "\n".join(f"  {name},  // {says}" for name, says in rules.items())
    copy["rules.hh"] = HEADER.format(table="tests/mutants/rules.txt", rules=names)
    return copy


def main():
    table, core, out = map(pathlib.Path, sys.argv[1:])
    sources = {path.name: path.read_text() for path in sorted(core.glob("*.cc"))}
    try:
        copy = mutate(table.read_text(), sources)
    except Flaw as flaw:
        sys.exit(f"{table}: {flaw}")
    out.mkdir(parents=True, exist_ok=True)
    for name, text in copy.items():
        path = out / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A rule is broken where it stands, or the table says that it stands there no longer."""

import unittest

import mutate

CORE = {"node.cc": "void f() {\n  if (a &&\n      b) return;\n  g();\n}\n", "other.cc": "int x;\n"}


def table(old, new="if (BROKEN) h();", file="node.cc"):
    return f"# A remark.\n\nkRule: what it says\n  {file}\n  - {old}\n  + {new}\n"


class Mutate(unittest.TestCase):
    def flaw_of(self, text):
        with self.assertRaises(mutate.Flaw) as caught:
            mutate.mutate(text, CORE)
        return str(caught.exception)

    def test_the_copy_has_the_switch_in_the_place(self):
        copy = mutate.mutate(table("g();", "if (!BROKEN) g();"), CORE)
        self.assertIn("  if (!is_broken(Rule::kRule)) g();\n", copy["node.cc"])
        self.assertTrue(copy["node.cc"].startswith('#include "rules.hh"\n'))
        self.assertIn("  kRule,  // what it says\n", copy["rules.hh"])
        self.assertEqual(copy["other.cc"], CORE["other.cc"])

    def test_lines_may_be_broken_elsewhere(self):
        copy = mutate.mutate(table("if (a && b) return;"), CORE)
        self.assertNotIn("return", copy["node.cc"])

    def test_a_place_may_have_several_lines_and_a_rule_several_places(self):
        text = table("if (a && b)\n  - return;") + "  - g();\n  + g(BROKEN);\n"
        self.assertIn("g(is_broken(Rule::kRule));", mutate.mutate(text, CORE)["node.cc"])

    def test_a_place_that_is_gone_is_named_with_its_rule(self):
        self.assertIn("rule kRule: node.cc has 0 times, not once: if (c)",
                      self.flaw_of(table("if (c)")))

    def test_a_place_that_is_there_twice_is_refused(self):
        self.assertIn("rule kRule: node.cc has 3 times", self.flaw_of(table("(")))

    def test_a_place_in_no_file_of_the_core_is_refused(self):
        self.assertIn("rule kRule: there is no gone.cc", self.flaw_of(table("x", file="gone.cc")))

    def test_a_rule_without_a_place_is_refused(self):
        self.assertEqual(self.flaw_of("kRule: what it says\n"), "no place for rule kRule")

    def test_nothing_else_is_understood(self):
        self.assertIn("line 2 is not understood", self.flaw_of("kRule: what it says\nrubbish\n"))
        self.assertIn("line 2 is not understood", self.flaw_of("kRule: says\n  + before a file\n"))
        self.assertIn("there twice", self.flaw_of(table("g();") * 2))


if __name__ == "__main__":
    unittest.main()

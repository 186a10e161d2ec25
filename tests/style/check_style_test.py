#!/usr/bin/env python3
"""Shows that every style rule can fail, and that it is silent where it should be."""

import pathlib
import tempfile
import unittest

import check_style
from project import Project

# The words a rule looks for are split where this file would break the rule itself.
PRIVATE = "shared" "/"

# rule: a file (path, content) that breaks it, and one that does not.
EXAMPLES = {
    "top_level_is_as_agreed": [
        (("scripts/run.sh", ""), (".gitignore", "")),
        (("notes.md", ""), ("README.md", "")),
    ],
    "suffixes_tell_c_from_cxx": [
        (("plugin/a.h", ""), ("plugin/a.hh", "")),
        (("include/bellwether/a.hh", ""), ("include/bellwether/a.h", "")),
        (("sidecar/a.cpp", ""), ("sidecar/a.cc", "")),
        (("sidecar/a.c", ""), ("tests/abi/a.c", "")),
    ],
    "files_are_snake_case": [
        (("sidecar/FrameCodec.cc", ""), ("sidecar/frame_codec.cc", "")),
        (("tests/unit/frame-codec.cc", ""), ("tests/unit/CMakeLists.txt", "")),
    ],
    "names_say_something": [
        (("sidecar/utils/a.cc", ""), ("sidecar/core/a.cc", "")),
        (("sidecar/loop_manager.cc", ""), ("sidecar/management.cc", "")),
        (("tests/common.hh", ""), ("tests/commonplace.hh", "")),
    ],
    "sources_are_short": [
        (("sidecar/a.cc", "//\n" * 451), ("sidecar/a.cc", "//\n" * 450)),
    ],
    "plugin_knows_only_the_interface": [
        (("plugin/a.cc", "#include <uv.h>"), ("plugin/a.cc", "#include <vector>")),
        (("plugin/a.cc", '#include "core/node.hh"'), ("plugin/a.cc", '#include "a.cc"')),
        (("plugin/a.cc", '#include "../sidecar/a.hh"'),
         ("plugin/a.cc", "#include <bellwether/election_plugin.h>")),
    ],
    "sidecar_does_not_know_the_plugin": [
        (("sidecar/a.cc", '#include "plugin/classic.hh"'),
         ("sidecar/a.cc", '#include "plugin_loader.hh"')),
        (("sidecar/cli/a.cc", 'if (variant == "classic") return 1;'),
         ("sidecar/cli/a.cc", 'help("classic, or another that the plugin has");')),
        (("sidecar/core/a.cc", '#include "../../plugin/classic.hh"'),
         ("sidecar/core/a.cc", "#include <bellwether/election_plugin.h>")),
    ],
    "core_and_simulator_are_pure": [
        (("sidecar/core/a.cc", "#include <uv.h>"), ("sidecar/io/a.cc", "#include <uv.h>")),
        (("sidecar/core/a.cc", "#include <sys/socket.h>"), ("sidecar/core/a.cc", "#include <map>")),
        (("sidecar/core/a.cc", '#include "io/loop/loop.hh"'),
         ("sidecar/core/a.cc", '#include "a.cc"')),
        (("sidecar/simulator/a.cc", "#include <mutex>"),
         ("sidecar/simulator/a.cc", "#include <random>")),
        (("sidecar/simulator/a.cc", "std::random_device seed;"),
         ("sidecar/simulator/a.cc", "std::mt19937_64 random(seed);  // no random_device")),
        (("sidecar/core/a.cc", "auto now = std::chrono::steady_clock::now();"),
         ("sidecar/core/a.cc", "std::chrono::milliseconds wait{5};")),
    ],
    "floors_stand_on_lower_ones": [
        (("sidecar/core/a.cc", '#include "config/config.hh"'),
         ("sidecar/daemon/a.cc", '#include "config/config.hh"')),
        (("sidecar/base/a.hh", '#include "core/node.hh"'),
         ("sidecar/core/a.hh", '#include "b.hh"')),
        (("sidecar/config/a.cc", '#include "io/loop/loop.hh"'),
         ("sidecar/config/a.cc", '#include "io/flag/flag_default.hh"')),
        (("sidecar/daemon/a.cc", '#include "simulator/cluster.hh"'),
         ("sidecar/daemon/a.cc", '#include "io/loop/loop.hh"')),
    ],
    "names_are_included": [
        (("plugin/a.cc", "Chair chair;"), ("plugin/a.cc", '#include "classic.hh"\nChair chair;')),
        (("plugin/a.cc", '#include "b.hh"\nChair chair;'),
         ("plugin/a.cc", '#include "plugin/classic.hh"\nChair chair;')),
        (("sidecar/a.hh", "void rest(Chair& chair);"),
         ("sidecar/a.hh", "class Chair;\nvoid rest(Chair& chair);")),
        (("sidecar/a.cc", "sit_down(1);"), ("sidecar/a.cc", "chair.sit_down(1);  // Chair")),
        (("sidecar/a.cc", "int n = sit_down(1);"),
         ("sidecar/a.cc", "int sit_down(int on);\nint n = sit_down(1);")),
        (("sidecar/a.cc", "void f(Chair chair);"), ("sidecar/a.cc", "void f(other::Chair chair);")),
        (("sidecar/a.cc", "namespace bellwether {}\nbellwether::Chair chair;"),
         ("sidecar/a.cc", "const auto sit_down = [] {};\nvoid f() { sit_down(); }")),
    ],
    "files_open_with_a_comment": [
        (("sidecar/a.cc", "int a;"), ("sidecar/a.cc", "// A.\nint a;")),
        (("sidecar/a.cc", "\n// A."), ("include/bellwether/a.h", "/* A. */")),
        (("tests/a.sh", "#!/bin/sh\nls"), ("tests/a.sh", "#!/bin/sh\n# Lists.\nls")),
        (("plugin/CMakeLists.txt", "add_library(a a.cc)"), ("LICENSE", "Apache")),
        (("tests/scenarios/papers/a.txt", "nodes 1..5"),
         ("tests/scenarios/papers/a.txt", "# A.\nnodes 1..5")),
        (("examples/elects.txt", "nodes 1..5"), ("examples/notes.md", "Notes")),
    ],
    "private_folders_are_not_mentioned": [
        (("README.md", f"see {PRIVATE}design"), ("README.md", "see std::shared_ptr")),
        (("sidecar/a.cc", f"// ../{PRIVATE}data"), ("tests/a.cc", f"// ../{PRIVATE}data/a.csv")),
        (("tests/a.cc", f"// ../{PRIVATE}model"), ("tests/a.cc", "// share/doc")),
    ],
    "nothing_is_left_to_do": [
        (("sidecar/a.cc", "// TO" "DO: more"), ("sidecar/a.cc", "// mkdtemp(nameXX" "XX)")),
        (("README.md", "FIX" "ME"), ("README.md", "TO" "DOS")),
    ],
    "words_are_full": [
        (("sidecar/a.cc", "int loop_mgr;"), ("sidecar/a.cc", "int manager;  // mgr")),
        (("sidecar/a.cc", "struct CfgReader {};"), ("sidecar/a.cc", '#include "cfg.hh"')),
        (("sidecar/a.cc", "void f(void* ctx);"), ("tests/a.c", "void f(void* ctx);")),
        (("sidecar/a.cc", "int tmp = 1;"), ("sidecar/a.cc", 'open("/tmp/file");')),
    ],
    "lines_are_short": [
        (("tests/a.py", "#" * 101), ("tests/a.py", "#" * 100)),
    ],
    "code_is_in_our_namespace": [
        (("plugin/a.hh", "#pragma once\nint a;"),
         ("plugin/a.hh", "#pragma once\nnamespace bellwether::bully {}")),
        (("sidecar/a.hh", "namespace bellwether {}"),
         ("sidecar/a.hh", "#pragma once\nnamespace bellwether {}")),
        (("sidecar/io/a.hh", "#pragma once\nnamespace bellwether {}"),
         ("sidecar/io/loop/a.hh", "#pragma once\nnamespace bellwether::io {}")),
    ],
    "checks_stay_on_in_release": [
        (("sidecar/a.cc", "assert(true);"), ("sidecar/a.cc", "static_assert(true);")),
    ],
    "sharing_is_explained": [
        (("sidecar/a.hh", "std::shared_ptr<int> a;"),
         ("sidecar/a.hh", "// All frames share it.\nstd::shared_ptr<int> a;")),
    ],
    "silenced_warnings_have_a_reason": [
        (("sidecar/a.cc", "f();  // NOLINT"),
         ("sidecar/a.cc", "f();  // NOLINT(bugprone-x): the C interface wants it")),
        (("sidecar/a.cc", "f();  // NOLINT(bugprone-x)"),
         ("sidecar/a.cc", "// NOLINTNEXTLINE(bugprone-x): freed by the host\nf();")),
    ],
}


class StyleRules(unittest.TestCase):
    def complaints(self, rule, file):
        path, content = file
        with tempfile.TemporaryDirectory() as root:
            # A header of the plugin is there in any case: others must not include it.
            header = "// Classic.\nclass Chair {};\nint sit_down(int on);\n"
            for name, text in [("plugin/classic.hh", header), file]:
                target = pathlib.Path(root, name)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, "utf-8")
            found = rule(Project(root))
            return [complaint for where, _, complaint in found if str(where) == path]

    def test_every_rule_has_examples(self):
        self.assertEqual({rule.__name__ for rule in check_style.RULES}, set(EXAMPLES))

    def test_a_rule_complains_about_the_bad_and_not_about_the_good(self):
        for rule in check_style.RULES:
            for bad, good in EXAMPLES[rule.__name__]:
                with self.subTest(rule=rule.__name__, bad=bad):
                    self.assertEqual(len(self.complaints(rule, bad)), 1)
                with self.subTest(rule=rule.__name__, good=good):
                    self.assertEqual(self.complaints(rule, good), [])

    def test_the_program_fails_when_a_rule_complains(self):
        with tempfile.TemporaryDirectory() as root:
            pathlib.Path(root, "README.md").write_text("# Fine\n", "utf-8")
            self.assertEqual(check_style.main(root), 0)
            pathlib.Path(root, "notes.md").write_text("# Not agreed\n", "utf-8")
            self.assertEqual(check_style.main(root), 1)


if __name__ == "__main__":
    unittest.main()

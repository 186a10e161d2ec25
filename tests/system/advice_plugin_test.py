#!/usr/bin/env python3
"""Plugins that are refused, and what the error tells the operator, or the plugin's author, to do:
it is done to the plugin of examples/minimal_plugin, by which a group of three elects.

usage: advice_plugin_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import pathlib
import shutil
import subprocess

from advice_case import AdviceCase
from system_case import CALM, main

PLUGIN_REFUSED = 5
ROOT = pathlib.Path(__file__).resolve().parents[2]
RIGHT = (ROOT / "examples/minimal_plugin/lowest.c").read_text()
FLAWED = ROOT / "tests/abi/plugins"
MACHINE_BYTE = 18  # of an ELF file

AS_DATA = r"define it as .const election_plugin bellwether_election_plugin = {...}"
SIZE = r"set it to sizeof\(election_plugin\)"
SIZED, VARIANTS = ".size = sizeof(election_plugin)", '{"lowest", NULL}'
# (what is right, what its author has instead; error with its remedy)
FLAWS = (
    (SIZED, ".size = 8", f"its size as 8 bytes, this host needs .*; {SIZE}"),
    (SIZED, ".size = 4096", f"its size as 4096 bytes, but has only .*; {SIZE}"),
    ('.name = "lowest",', "", "has no name .NULL.; set .name."),
    ('.name = "lowest"', '.name = ""', "has an empty name; set .name."),
    ('.version = "1.0.0",', "", "has no version .NULL.; set .version."),
    (".variants = variants,", "", "has no list of variants .NULL.; set .variants."),
    (VARIANTS, "{NULL}", "has an empty list of variants; name at least one"),
    (VARIANTS, '{"lowest", "", NULL}', "has a variant with an empty name; give it one"),
    (VARIANTS, '{"lowest", "lowest", NULL}', "two variants called lowest; rename one of them"),
    *((f".{name} = {name},", "", f"has no function .{name}. .NULL.; define it, even if it does "
       "nothing") for name in ("create", "destroy", "step", "extension")))


class Plugins(AdviceCase):
    """Exit status 5."""

    def build(self, file, text, *options):
        source = file.with_suffix(".c")
        source.write_text(text)
        subprocess.run(["cc", "-shared", "-fPIC", f"-I{ROOT}/include", "-o", file, source,
                        *options], check=True)

    @contextlib.contextmanager
    def elected_by_lowest(self):
        """The group, a follower that is stopped, and its own copy of the plugin."""
        if shutil.which("cc") is None:
            self.skipTest("there is no compiler")
        with self.group(3, extra=CALM) as group:
            self.build(group.folder / "lowest.so", RIGHT)
            for sidecar in group.sidecars:
                plugin = group.folder / f"{sidecar.name}.so"
                shutil.copy(group.folder / "lowest.so", plugin)
                self.edit(sidecar, ("[election]", f'[election]\nplugin = "{plugin}"'))
            leader, _, odd = group.sidecars
            leader.start()
            group.await_leader(leader)
            for sidecar in group.sidecars[1:]:
                sidecar.start()
            self.await_whole(group, leader)
            self.assertEqual(odd.stop(), 0)
            yield group, odd, plugin

    def repaired(self, group, odd):
        odd.start()
        self.await_whole(group, group.sidecars[0])
        self.assertEqual(odd.stop(), 0)

    def test_its_author_does_what_is_said(self):
        with self.elected_by_lowest() as (group, odd, plugin):
            rows = [(RIGHT.replace(right, wrong), words) for right, wrong, words in FLAWS]
            rows += [((FLAWED / f"{name}.c").read_text(), words) for name, words in (
                ("no_symbol", "define that symbol as election_plugin.h declares it"),
                ("symbol_is_function", f"as something other than data; {AS_DATA}"),
                ("symbol_is_pointer", f"perhaps a pointer; {AS_DATA}"),
                ("other_major", "build it against the election_plugin.h of this host"))]
            for text, words in rows:
                with self.subTest(words):
                    self.assertNotEqual(text, RIGHT)
                    self.build(plugin, text)
                    self.refused_start(odd, PLUGIN_REFUSED, words)
                    self.build(plugin, RIGHT)
                    self.repaired(group, odd)

    def test_it_is_built_for_this_machine_and_what_it_links_to_installed(self):
        words = "cannot be loaded: .*; build it for this machine, with all it links to installed"
        with self.elected_by_lowest() as (group, odd, plugin):
            library, away = group.folder / "libclock.so", group.folder / "away"
            self.build(library, "int tick(void) { return 0; }")
            self.build(plugin, f"int tick(void);\nint tock(void);\n{RIGHT}"
                       "int tock(void) { return tick(); }\n",
                       f"-L{group.folder}", "-lclock", f"-Wl,-rpath,{group.folder}")
            library.rename(away)
            self.refused_start(odd, PLUGIN_REFUSED, words, "libclock.so: ")
            away.rename(library)
            self.repaired(group, odd)
            content = bytearray(plugin.read_bytes())
            content[MACHINE_BYTE] ^= 0xFF
            plugin.write_bytes(content)
            self.refused_start(odd, PLUGIN_REFUSED, words)
            self.build(plugin, RIGHT)
            self.repaired(group, odd)

    def test_it_is_installed_or_another_is_named(self):
        with self.elected_by_lowest() as (group, odd, plugin):
            home, loop = group.folder / "home.so", group.folder / "loop.so"
            with self.subTest("install it there"):
                plugin.rename(home)
                self.refused_start(odd, PLUGIN_REFUSED, "does not exist; install it there, or name "
                                   "another .a name without '/' is looked up in the plugin folder, "
                                   "anything else is a path.")
                home.rename(plugin)
                self.repaired(group, odd)
            loop.symlink_to(loop)
            for wrong, words in (
                    (group.folder / "nowhere.so", "does not exist; .*or name another"),
                    (group.folder, "is not a regular file; name the .so itself"),
                    (loop, "cannot be examined: .*; name a file that this user can read")):
                with self.subTest(words):
                    good = self.edit(odd, (str(plugin), str(wrong)))
                    self.refused_start(odd, PLUGIN_REFUSED, words)
                    odd.write_config(good)
                    self.repaired(group, odd)


if __name__ == "__main__":
    main()

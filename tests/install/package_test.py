#!/usr/bin/env python3
"""The Debian packages: makes them from a build tree, and looks at them as an installation would.

usage: package_test.py BUILD_FOLDER [CASE...]; a case is Packages.test_name
"""

import configparser
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path()
SKIPPED = 77
TOOLS = ("cpack", "dpkg-deb", "dpkg-shlibdeps", "dpkg-parsechangelog", "lintian")
RIGHT, HAS_WARNINGS = 0, 4
# It asks for the number of a bug in Debian's own tracker.
ACCEPTED_WARNINGS = {"initial-upload-closes-no-bugs"}
# What lintian only mentions, and is a mistake all the same: -D_FORTIFY_SOURCE without effect.
MISTAKES = {"hardening-no-fortify-functions"}


def run(*command, **options):
    return subprocess.run([*map(str, command)], text=True, capture_output=True, check=False,
                          **options)


def must(*command, **options):
    """Runs it, demands success, and returns what it printed."""
    result = run(*command, **options)
    if result.returncode != 0:
        raise AssertionError(f"{command}: {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        must("cpack", "--config", BUILD / "CPackConfig.cmake", "-G", "DEB", "-B", cls.scratch,
             cwd=cls.scratch)
        cls.sidecar, = cls.scratch.glob("bellwether_*.deb")
        cls.development, = cls.scratch.glob("libbellwether-dev_*.deb")
        cls.root = cls.scratch / "root"
        cls.development_root = cls.scratch / "development"
        must("dpkg-deb", "--extract", cls.sidecar, cls.root)
        must("dpkg-deb", "--extract", cls.development, cls.development_root)
        must("dpkg-deb", "--control", cls.sidecar, cls.scratch / "control")

    def bellwether(self, *arguments):
        return must(self.root / "usr/bin/bellwether", *arguments)

    def field(self, package, name):
        return must("dpkg-deb", "--field", package, name).strip()

    def test_lintian_finds_nothing_new(self):
        result = run("lintian", "--allow-root", "--display-info", "--tag-display-limit", "0",
                     self.sidecar, self.development)
        complaints = re.findall(r"^([EWI]): \S+: (\S+).*", result.stdout, re.MULTILINE)
        self.assertTrue(complaints or result.returncode == 0, result.stdout + result.stderr)
        unexpected = [tag for severity, tag in complaints if tag in MISTAKES or severity == "E" or
                      (severity == "W" and tag not in ACCEPTED_WARNINGS)]
        self.assertEqual(unexpected, [], result.stdout)

    def test_the_program_runs_and_finds_its_plugin(self):
        version = must(BUILD / "bin/bellwether", "version")
        self.assertEqual(self.bellwether("version"), version)
        self.assertIn("Every total is its closed form.",
                      self.bellwether("simulate", "--processes", "4"))

    def test_the_sidecar_has_all_that_belongs_to_it(self):
        for name in ("usr/lib/bellwether/bellwether-bully.so",
                     "usr/lib/systemd/system/bellwether.service",
                     "usr/lib/sysusers.d/bellwether.conf",
                     "usr/share/bash-completion/completions/bellwether",
                     "usr/share/zsh/vendor-completions/_bellwether",
                     "usr/share/fish/vendor_completions.d/bellwether.fish",
                     "usr/share/man/man1/bellwether.1.gz",
                     "usr/share/man/man5/bellwether.toml.5.gz",
                     "usr/share/doc/bellwether/README.md",
                     "usr/share/doc/bellwether/include/COMPATIBILITY.md",
                     "usr/share/doc/bellwether/sidecar/OPERATIONS.md",
                     "usr/share/doc/bellwether/metrics/runbook.md",
                     "usr/share/doc/bellwether/metrics/grafana/group.json",
                     "usr/share/doc/bellwether/examples/grafana/README.md"):
            self.assertTrue((self.root / name).is_file(), name)
        self.assertFalse(list(self.root.rglob("*.h")) + list(self.root.rglob("*.pc")))

    def test_what_lies_in_etc_is_a_conffile(self):
        listed = (self.scratch / "control/conffiles").read_text().split()
        self.assertEqual(listed, ["/" + str(path.relative_to(self.root))
                                  for path in (self.root / "etc").rglob("*") if path.is_file()])

    def test_the_example_is_right_and_fits_the_unit(self):
        example = self.root / "etc/bellwether/bellwether.toml.example"
        result = run(self.root / "usr/bin/bellwether", "check", example)
        self.assertIn(result.returncode, (RIGHT, HAS_WARNINGS), result.stderr)
        config = tomllib.loads(result.stdout)
        unit = configparser.RawConfigParser(strict=False)
        unit.optionxform = str
        unit.read(self.root / "usr/lib/systemd/system/bellwether.service")
        service = unit["Service"]
        self.assertEqual(str(pathlib.Path(config["flag"]["path"]).parent),
                         "/run/" + service["RuntimeDirectory"])
        self.assertEqual(config["node"]["state_dir"], "/var/lib/" + service["StateDirectory"])
        program, *_, config_file = service["ExecStart"].split()
        self.assertTrue((self.root / program.lstrip("/")).is_file())
        self.assertEqual(config_file + ".example", "/" + str(example.relative_to(self.root)))
        self.assertEqual(unit["Unit"]["ConditionPathExists"], config_file)

    def calls_of(self, script, *arguments):
        """What a script of the package does on a machine with systemd, whose tools only write down
        how they were called."""
        with tempfile.TemporaryDirectory(dir=self.scratch) as name:
            folder = pathlib.Path(name)
            for tool in ("systemctl", "systemd-sysusers", "deb-systemd-invoke", "rm"):
                path = folder / tool
                path.write_text(f'#!/bin/sh\necho "{tool} $*" >> "{folder}/calls"\n')
                path.chmod(0o755)
            text = (self.scratch / "control" / script).read_text()
            self.assertIn(" /run/systemd/system ", text)
            path = folder / script
            path.write_text(text.replace("/run/systemd/system", name))
            must("sh", path, *arguments, env={"PATH": f"{name}:/usr/bin:/bin"})
            return (folder / "calls").read_text().splitlines()

    def test_an_installation_makes_the_user_and_starts_nothing(self):
        self.assertEqual(self.calls_of("postinst", "configure", ""),
                         ["systemd-sysusers bellwether.conf", "systemctl --system daemon-reload"])

    def test_an_upgrade_restarts_what_runs(self):
        self.assertEqual(self.calls_of("postinst", "configure", "0.0.9-1")[-1],
                         "deb-systemd-invoke try-restart bellwether.service")

    def test_a_removal_stops_what_runs_and_keeps_the_state(self):
        self.assertEqual(self.calls_of("prerm", "remove"),
                         ["deb-systemd-invoke stop bellwether.service"])
        self.assertEqual(self.calls_of("postrm", "remove"), ["systemctl --system daemon-reload"])

    def test_a_purge_removes_the_state_and_the_flags(self):
        self.assertIn("rm -rf /var/lib/bellwether /run/bellwether",
                      self.calls_of("postrm", "purge"))

    def test_it_depends_on_the_libraries_that_it_needs(self):
        depends = self.field(self.sidecar, "Depends")
        for library in ("libc6", "libstdc++6", "libuv1", "libc-ares2"):
            self.assertIn(library, depends)
        self.assertIn("systemd-sysusers", depends)

    def test_the_changelog_is_that_of_this_version(self):
        changelog = must("dpkg-parsechangelog", "--file", ROOT / "sidecar/debian/changelog",
                         "--show-field", "Version").strip()
        for package in (self.sidecar, self.development):
            self.assertEqual(self.field(package, "Version"), changelog)

    def test_the_example_plugin_builds_against_the_development_package_alone(self):
        example = ROOT / "examples/minimal_plugin"
        plugin = self.scratch / "plugin"
        must("cmake", "-S", example, "-B", plugin, "-G", "Ninja",
             f"-DCMAKE_PREFIX_PATH={self.development_root}/usr",
             "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF")
        must("cmake", "--build", plugin)
        self.bellwether("simulate", "--plugin", plugin / "bellwether-lowest.so",
                        example / "elects.txt")

    def test_the_development_package_is_found_by_pkg_config(self):
        flags = must("pkg-config", "--cflags", "bellwether", env={
            "PATH": "/usr/bin:/bin",
            "PKG_CONFIG_LIBDIR": self.development_root / "usr/share/pkgconfig"})
        folder = pathlib.Path(flags.strip().removeprefix("-I"))
        self.assertTrue((folder / "bellwether/leader_flag.h").is_file(), flags)


def main():
    global BUILD
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        print("skipped: there is no " + ", no ".join(missing))
        sys.exit(SKIPPED)
    BUILD = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])


if __name__ == "__main__":
    main()

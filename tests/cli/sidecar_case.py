"""A case about subcommands that ask a running sidecar: it has one that says what the test wants."""

from command_line import CommandLine
from fake_sidecar import TcpFake


class Sidecar(CommandLine):
    def setUp(self):
        super().setUp()
        self.sidecar = TcpFake().start()
        self.addCleanup(self.sidecar.stop)

    def ask(self, *arguments):
        return self.succeed(*arguments, "--api", self.sidecar.url)

    def refused(self, code, *arguments):
        return self.fail_with(code, *arguments, "--api", self.sidecar.url)

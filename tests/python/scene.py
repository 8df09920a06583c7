"""A home, a repository in it, and the program that STIGMERGATE_BIN names."""

import json
import os
import pathlib
import subprocess
import tempfile

PROGRAM = os.environ["STIGMERGATE_BIN"]


class Scene:
    """A place of its own for each test class; `close` removes it."""

    def __init__(self, settings=""):
        self._base = tempfile.TemporaryDirectory()
        self.home = pathlib.Path(self._base.name).resolve() / "home"
        self.root = self.home / "loom"
        self.root.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", self.root], check=True)
        self.write_settings(settings)

    def close(self):
        self._base.cleanup()

    def write_settings(self, settings):
        folder = self.home / ".config/stigmergate"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "stigmergate.toml").write_text(settings)

    def run(self, *arguments, given=None, code=0):
        """What the program prints; it has to end with `code`."""
        environment = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "TZ": "UTC"}
        command = [PROGRAM, *map(str, arguments)]
        ran = subprocess.run(command, input=given or "", capture_output=True, text=True, cwd=self.root, env=environment)
        if ran.returncode != code:
            raise AssertionError(f"{arguments} ended with {ran.returncode}: {ran.stdout}{ran.stderr}")
        return ran.stdout if code == 0 else ran.stderr

    def json(self, *arguments, **how):
        return json.loads(self.run(*arguments, "--json", **how))

    def propose(self, name):
        """A proposal that executes in a fresh store."""
        proposal = {
            "proposal_id": name,
            "agent_id": "ag-1",
            "action_type": "patch_file",
            "target": "core.parser",
            "rationale": "fix the off-by-one in the tokenizer",
            "rollback_plan": "git revert the one commit on the branch",
            "evidence": {"test": "test_tokenizer"},
            "expected_outcome": "test_tokenizer passes",
            "tests": "pytest tests/test_tokenizer.py",
            "metrics": "0 failing tests",
        }
        return self.json("propose", given=json.dumps(proposal))

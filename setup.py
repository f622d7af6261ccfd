"""The build puts the workflow, which a checkout has at its top, into the wheel as psp/workflow/."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

FILES = ("Snakefile", "rules/*.smk", "workflow_scripts/*.py", "phrasebook/*.py", "config/**/*", "profiles/**/*")


class BuildWithWorkflow(build_py):
    """Packages are copied as ever; an editable install, a line in a .pth file, is the checkout and needs no copy."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        for file in (file for pattern in FILES for file in sorted(Path().glob(pattern)) if file.is_file()):
            target = Path(self.build_lib, "psp/workflow", file)
            self.mkpath(str(target.parent))
            self.copy_file(str(file), str(target))


setup(cmdclass={"build_py": BuildWithWorkflow})

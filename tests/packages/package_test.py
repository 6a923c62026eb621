#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the .deb and the wheel, installs both into a bare root in which neither the sources nor the build folder exist,
and uses them there as a user would: compiles and runs an example, runs a Python program, removes the package.

    package_test.py <build folder> <source folder> <folder to work in>

Where the system allows no mount namespaces, the installed tree is used from outside of the root; the test says so.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from bare_root import Database, add_packages, alternatives, make_database, make_root, parse_fields, register  # noqa: E402

INSIDE = "CANOPY_TEST_IN_NAMESPACE"
CLEAN = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}


def fail(message):
    sys.exit(f"package_test: {message}")


def expect(condition, message):
    if not condition:
        fail(message)


def run(*command, good=True, **options):
    """Runs a command and returns its output; `good` says how it must end, None: either way."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False, **options)
    if good is not None and (done.returncode == 0) != good:
        fail(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


class Root:
    """A bare root with the package in it, and commands run there."""

    def __init__(self, folder, isolated):
        self.folder = folder
        self.isolated = isolated
        self.tree = pathlib.Path("/opt/canopy") if isolated else folder / "opt/canopy"
        self.home = pathlib.Path("/root") if isolated else folder / "root"

    def open(self):
        """Mounts what programs need of the kernel. Nothing of it outlives the namespace."""
        if not self.isolated:
            return
        run("mount", "--rbind", "/proc", self.folder / "proc")
        for name in ("null", "zero", "urandom"):
            (self.folder / "dev" / name).touch()
            run("mount", "--bind", f"/dev/{name}", self.folder / "dev" / name)

    def dpkg(self, *arguments, good=True):
        return run("dpkg", f"--root={self.folder}", "--force-not-root", *arguments, good=good)

    def shell(self, script, good=True):
        """Runs a script in the root, or with the tree of the root."""
        script = f"set -e; cd {self.home}; {script}"
        if self.isolated:
            return run("chroot", self.folder, "/bin/bash", "-c", script, good=good, env=CLEAN)
        environment = {**CLEAN, "HOME": str(self.home), "PATH": f"{self.tree}/bin:{CLEAN['PATH']}"}
        return run("/bin/bash", "-c", script, good=good, env=environment)


def make_packages(build, source, work):
    """The .deb, what it holds, and the wheel of the same tree."""
    run("cpack", "--config", build / "packaging/CPackConfig.cmake", "-B", work / "packages")
    shutil.rmtree(work / "packages/_CPack_Packages")
    (deb,) = (work / "packages").glob("*.deb")
    run("dpkg-deb", "-x", deb, work / "contents")
    if not (work / "contents/opt/canopy/python/site-packages/acl").is_dir():
        return deb, None
    wheel = run("/usr/bin/python3", source / "python/make_wheel.py", "--tree", work / "contents/opt/canopy", "--output",
                work / "packages").strip()
    return deb, pathlib.Path(wheel)


def check_contents(deb, work):
    """What a package must have, and must not."""
    fields = parse_fields(run("dpkg-deb", "-f", deb))
    for name in ("package", "version", "architecture", "maintainer", "section", "description", "installed-size"):
        expect(fields.get(name), f"the package has no field {name}")
    depends = list(alternatives(fields["depends"]))
    for name in ("libc6", "libstdc++6", "binutils"):
        expect([name] in depends, f"the package does not depend on {name}: {fields['depends']}")
    expect(int(fields["installed-size"]) < 100_000, f"Installed-Size is {fields['installed-size']} KiB")
    contents = work / "contents"
    tops = {path.relative_to(contents).as_posix() for pattern in ("*", "usr/*") for path in contents.glob(pattern)}
    expect(tops == {"opt", "usr", "usr/bin", "usr/share"}, f"the package has unexpected folders: {sorted(tops)}")
    expect((contents / "usr/share/doc/canopy/copyright").is_file(), "the package has no copyright file")
    version = re.search(r"\(([^)]+)\)", run("gzip", "-dc", contents / "usr/share/doc/canopy/changelog.gz"))[1]
    expect(version == fields["version"], f"the changelog ends at {version}, the package is {fields['version']}")
    for path in contents.rglob("*"):
        if path.is_symlink():
            target = os.readlink(path)
            target = f"{contents}{target}" if target.startswith("/") else path.parent / target
            expect(os.path.exists(target), f"{path.relative_to(contents)} leads nowhere")
        elif path.is_file() and b"\x7fELF" == path.read_bytes()[:4] and path.suffix != ".o":
            expect(".debug_info" not in run("readelf", "-SW", path), f"{path.name} is not stripped")
    return fields


def check_refusals(deb, work):
    """On a system without the compiler, dpkg names what is missing."""
    database, system = Database(), work / "without_compiler"
    make_database(system)
    register(system, database, database.closure(database.essential()))
    said = run("dpkg", f"--root={system}", "--force-not-root", "--install", deb, good=False)
    expect(re.search(r"canopy depends on clang-\d+", said), f"dpkg does not miss the compiler:\n{said}")
    if shutil.which("apt-get"):
        said = run("apt-get", "install", "--simulate", "--no-install-recommends", deb)
        expect("Inst canopy" in said, f"apt-get would not install the package:\n{said}")


def use_package(root, source):
    """The commands of the package, an example in both languages' compilers, and the environment."""
    shutil.copytree(source / "examples/vector_add", root.folder / "root/vector_add")
    if root.isolated:
        for place in (source, pathlib.Path(sys.argv[1])):
            expect(not (root.folder / str(place).lstrip("/")).exists(), f"{place} is visible in the root")
        expect(root.shell("readlink -f /usr/bin/canopy-cc").strip() == "/opt/canopy/bin/canopy-cc", "canopy-cc is elsewhere")
        # Without the environment too: the commands find their tree.
        root.shell("canopy --version; canopy-graph --version; canopy-runtimes --help; canopy info")
    said = root.shell(f". {root.tree}/set_env.sh; canopy-cc -O2 vector_add/vector_add.asc -o vector_add/run; vector_add/run")
    expect(re.search(r"vector_add on \S+: .* 0 wrong$", said, re.MULTILINE), f"the example is wrong:\n{said}")
    said = root.shell(f". {root.tree}/set_env.sh; canopy info --json")
    expect('"devices"' in said and root.shell(f". {root.tree}/set_env.sh; echo $ASCEND_HOME_PATH").strip() == str(root.tree),
           "set_env.sh is wrong")


def use_python(root, wheel, source, with_venv):
    """The modules of the package through set_env.sh, then those of the wheel in a virtual environment."""
    ask = "import acl, canopy, super_kernel; print(acl.get_soc_name(), acl.__file__)"
    said = root.shell(f'. {root.tree}/set_env.sh; /usr/bin/python3 -c "{ask}"')
    expect(f"{root.tree}/python/site-packages/acl/__init__.py" in said, f"the package's modules are not found:\n{said}")

    shutil.copytree(source / "examples/python_arrays", root.folder / "root/python_arrays")
    shutil.copy(wheel, root.folder / "root")
    if with_venv:
        install = f"/usr/bin/python3 -m venv --system-site-packages venv; venv/bin/pip install --quiet --no-index {wheel.name}"
    else:
        install = ("/usr/bin/python3 -m venv --system-site-packages --without-pip venv; "
                   f"/usr/bin/python3 -m zipfile -e {wheel.name} $(echo venv/lib/python3*/site-packages)")
    root.shell(install)
    said = root.shell(f'venv/bin/python3 -c "{ask}"')
    expect(f"{root.home}/venv/lib/" in said, f"the wheel's modules are not found:\n{said}")
    # The program compiles its kernel: the wheel finds the compiler of the package on the PATH.
    said = root.shell("venv/bin/python3 python_arrays/main.py")
    expect(" 0 wrong" in said, f"the Python example is wrong:\n{said}")


def remove_package(root):
    root.dpkg("--remove", "canopy")
    left = [path for path in (root.folder / "opt/canopy", root.folder / "usr/bin/canopy") if os.path.lexists(path)]
    expect(not left, f"removing the package leaves {left}")
    if (root.folder / "root/venv").is_dir():
        # The wheel without the package has no compiler.
        said = root.shell("venv/bin/python3 python_arrays/main.py", good=False).splitlines()
        expect("canopy-cc was not found: install the canopy package" in said[-1], f"a missing package is not explained: {said}")


def test_in_root(build, source, work, isolated):
    deb, wheel = make_packages(build, source, work)
    fields = check_contents(deb, work)
    check_refusals(deb, work)

    database = Database()
    depends = [database.find(names) for names in alternatives(fields["depends"])]
    expect(None not in depends, f"not installed here: one of {fields['depends']}")
    bare = database.closure([*database.essential(), *depends])
    root = Root(work / "root", isolated)
    make_root(root.folder, database, bare)
    root.open()
    root.dpkg("--install", deb)
    use_package(root, source)
    if wheel is not None and "python3-numpy" in database.fields:
        with_venv = "python3-venv" in database.fields
        more = database.closure(["python3", "python3-numpy", *(["python3-venv"] if with_venv else [])])
        add_packages(root.folder, database, [name for name in more if name not in bare])
        use_python(root, wheel, source, with_venv)
    remove_package(root)
    print(f"package_test: {deb.name} works in a root of {len(bare)} packages"
          + (f", and {wheel.name} in one of {len({*bare, *more})}" if wheel else "")
          + ("" if isolated else "; no mount namespaces here, so the tree was used from outside of the root"))


def main():
    build, source, work = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    if INSIDE in os.environ:
        test_in_root(build, source, work, isolated=os.environ[INSIDE] == "1")
        return 0
    if shutil.which("dpkg-shlibdeps") is None:
        print("skipped: dpkg-shlibdeps is missing; scripts/setup.sh test installs it")
        return 77
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    namespace = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    probe = subprocess.run([*namespace, "mount", "--rbind", "/proc", "/proc"], capture_output=True, check=False)
    isolated = probe.returncode == 0
    # A child does the work: its mounts end with it, so that the folder can be removed from here.
    done = subprocess.run([*(namespace if isolated else []), sys.executable, *sys.argv], check=False,
                          env={**os.environ, INSIDE: "1" if isolated else "0"})
    for name in ("root", "without_compiler", "contents"):
        shutil.rmtree(work / name, ignore_errors=True)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())

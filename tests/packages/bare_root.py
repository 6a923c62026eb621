# SPDX-License-Identifier: Apache-2.0
"""A bare Debian root, made without a network: the essential packages of this system and those that given packages
depend on, copied file by file, with a dpkg database that knows these and nothing else.

What a program needs and its package does not declare is missing there, as on a fresh machine.
"""
import os
import pathlib
import re
import shutil
import subprocess

DATABASE = pathlib.Path("/var/lib/dpkg")
# What no test needs and takes time to copy.
SKIPPED = ("/usr/share/doc/", "/usr/share/man/", "/usr/share/locale/", "/usr/share/info/", "/usr/share/icons/")


def parse_fields(paragraph):
    """The fields of a paragraph of control data."""
    return {name.lower(): " ".join(value.split())
            for name, value in re.findall(r"^([A-Za-z-]+):((?:.*\n?)(?:[ \t].*\n?)*)", paragraph, re.MULTILINE)}


def alternatives(relations):
    """Each relation of a field like Depends, as the names that satisfy it."""
    for relation in filter(None, relations.split(",")):
        yield [re.match(r"\s*([a-z0-9.+-]+)", name)[1] for name in relation.split("|")]


class Database:
    """The packages that are installed on this system."""

    def __init__(self):
        self.paragraphs = {}
        self.fields = {}
        self.providers = {}
        for paragraph in (DATABASE / "status").read_text(encoding="utf-8").split("\n\n"):
            fields = parse_fields(paragraph + "\n")
            if fields.get("status") != "install ok installed":
                continue
            name = fields["package"]
            self.paragraphs[name] = paragraph.strip("\n")
            self.fields[name] = fields
            for (provided,) in alternatives(fields.get("provides", "")):
                self.providers.setdefault(provided, []).append(name)

    def essential(self):
        return [name for name, fields in self.fields.items()
                if fields.get("essential") == "yes" or fields.get("priority") == "required"]

    def find(self, names):
        """The installed package that satisfies one of these names, or None."""
        for name in names:
            if name in self.fields:
                return name
            if name in self.providers:
                return self.providers[name][0]
        return None

    def closure(self, wanted):
        """The packages and everything they depend on; LookupError names a relation that nothing here satisfies."""
        found, ahead = set(), list(wanted)
        while ahead:
            name = ahead.pop()
            if name in found:
                continue
            found.add(name)
            for field in ("depends", "pre-depends"):
                for names in alternatives(self.fields[name].get(field, "")):
                    package = self.find(names)
                    if package is None:
                        raise LookupError(f"{name} needs {' or '.join(names)}, which is not installed here")
                    ahead.append(package)
        return sorted(found)


def listings(package):
    """dpkg's lists of the files of an installed package."""
    return (*DATABASE.glob(f"info/{package}.list"), *DATABASE.glob(f"info/{package}:*.list"))


def copy_files(paths, root):
    """Copies those that can be read; some documents may have been left out here."""
    present = set()
    for path in paths:
        # Where /lib is a link into /usr, packages may still list its files there.
        top, _, rest = path.lstrip("/").partition("/")
        if os.path.islink(f"/{top}"):
            path = f"/{os.readlink(f'/{top}')}/{rest}"
        readable = os.path.islink(path) or os.access(path, os.R_OK)
        if readable and path.strip("/.") and not path.startswith(SKIPPED):
            present.add(path.lstrip("/"))
    pack = subprocess.Popen(["tar", "--null", "--verbatim-files-from", "--no-recursion", "--files-from=-", "-cf", "-"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/")
    unpack = subprocess.Popen(["tar", "-C", str(root), "--keep-directory-symlink", "--no-same-owner", "-xpf", "-"],
                              stdin=pack.stdout)
    pack.stdout.close()
    pack.stdin.write("\0".join(sorted(present)).encode())
    pack.stdin.close()
    # 1: a folder like /tmp changed meanwhile.
    if pack.wait() > 1 or unpack.wait() != 0:
        raise OSError("cannot copy the packages of this system")


def copy_alternatives(root):
    """Makes the links of update-alternatives, like that of /usr/bin/awk, as they would be with the copied files alone:
    this system may have chosen a package that is not among them."""
    for record in (DATABASE / "alternatives").iterdir():
        # The mode and the link of the alternative itself, then name and link of each that follows it, then a blank line.
        # Then every choice: its path, its priority, and the path of each follower.
        header, _, rest = record.read_text(encoding="utf-8").partition("\n\n")
        lines, rest = header.split("\n"), rest.split("\n")
        links = {record.name: lines[1], **dict(zip(lines[2::2], lines[3::2]))}
        choices = [rest[at:at + len(links) + 1] for at in range(0, len(rest) - len(links), len(links) + 1)]
        there = [choice for choice in choices if choice[0] and os.path.lexists(f"{root}{choice[0]}")]
        if not there:
            continue
        path, _, *followers = max(there, key=lambda choice: int(choice[1]))
        for (name, link), target in zip(links.items(), [path, *followers]):
            if target and os.path.lexists(f"{root}{target}") and os.path.isdir(os.path.dirname(f"{root}{link}")):
                for place, leads_to in ((f"/etc/alternatives/{name}", target), (link, f"/etc/alternatives/{name}")):
                    if not os.path.lexists(f"{root}{place}"):
                        os.symlink(leads_to, f"{root}{place}")


def make_database(root):
    """The dpkg database of a root without packages."""
    state = root / "var/lib/dpkg"
    for folder in ("info", "updates", "triggers"):
        (state / folder).mkdir(parents=True)
    for name in ("available", "status"):
        (state / name).touch()


def register(root, database, packages):
    """Lists packages as installed in a root."""
    state = root / "var/lib/dpkg"
    with open(state / "status", "a", encoding="utf-8") as status:
        status.writelines(database.paragraphs[name] + "\n\n" for name in packages)
    for name in packages:
        for listing in listings(name):
            shutil.copy(listing, state / "info")


def add_packages(root, database, packages):
    """Installs packages of this system into a root; their dependencies must be among them, or there."""
    copy_files((path for name in packages for listing in listings(name)
                for path in listing.read_text(encoding="utf-8").split("\n")), root)
    copy_alternatives(root)
    register(root, database, packages)


def make_root(root, database, packages):
    """Makes a root with these packages."""
    make_database(root)
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        if os.path.islink(f"/{name}"):
            target = os.readlink(f"/{name}")
            (root / target).mkdir(parents=True, exist_ok=True)
            os.symlink(target, root / name)
    for folder in ("dev", "proc", "tmp", "root", "etc/alternatives"):
        (root / folder).mkdir(parents=True)
    add_packages(root, database, packages)
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/bash\n", encoding="utf-8")
    (root / "etc/group").write_text("root:x:0:\n", encoding="utf-8")

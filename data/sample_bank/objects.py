"""Git objects made in memory, so that their ids are known while the story is told, and one pack written at the end.

Does not know what a checkpoint is. The pack holds whole objects; git repacks it with deltas.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import zlib
from datetime import datetime
from pathlib import Path

ENVIRONMENT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
KINDS = {"commit": 1, "tree": 2, "blob": 3}


def git(*args: str, cwd: Path, data: bytes | None = None) -> bytes:
    """Run git with no configuration but the repository's own."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | ENVIRONMENT
    return subprocess.run(
        ["git", *args], cwd=cwd, input=data, env=env, check=True, capture_output=True
    ).stdout


class Objects:
    """A store of objects and refs."""

    def __init__(self) -> None:
        self.data: dict[str, tuple[str, bytes]] = {}
        self.refs: dict[str, str] = {}
        self.trees: dict[str, dict[str, bytes]] = {}  # commit id -> its files

    def put(self, kind: str, body: bytes) -> str:
        """Keep one object and return its id."""
        oid = hashlib.sha1(f"{kind} {len(body)}\0".encode() + body).hexdigest()
        self.data[oid] = (kind, body)
        return oid

    def tree(self, files: dict[str, bytes]) -> str:
        """The tree of a set of files, by path."""
        here: dict[str, bytes] = {}
        below: dict[str, dict[str, bytes]] = {}
        for path, body in files.items():
            head, _, rest = path.partition("/")
            if rest:
                below.setdefault(head, {})[rest] = body
            else:
                here[head] = body
        entries = [(name, "100644", self.put("blob", body)) for name, body in here.items()]
        entries += [(name, "40000", self.tree(part)) for name, part in below.items()]
        # git sorts a folder as if its name ended in a slash
        entries.sort(key=lambda e: e[0] + ("/" if e[1] == "40000" else ""))
        return self.put("tree", b"".join(f"{m} {n}\0".encode() + bytes.fromhex(o) for n, m, o in entries))

    def commit(
        self,
        files: dict[str, bytes],
        *,
        parents: list[str],
        who: tuple[str, str],
        when: datetime,
        message: str,
        zone: str = "+0000",
    ) -> str:
        """One commit; author and committer are the same person at the same time."""
        line = f"{who[0]} <{who[1]}> {int(when.timestamp())} {zone}"
        head = f"tree {self.tree(files)}\n" + "".join(f"parent {p}\n" for p in parents)
        body = f"{head}author {line}\ncommitter {line}\n\n{message.rstrip()}\n"
        oid = self.put("commit", body.encode())
        self.trees[oid] = dict(files)
        return oid

    def write(self, repository: Path) -> None:
        """Write everything into a new bare repository, packed tightly."""
        repository.mkdir(parents=True)
        git("init", "-q", "--bare", "--initial-branch=main", ".", cwd=repository)
        body = b"PACK" + (2).to_bytes(4, "big") + len(self.data).to_bytes(4, "big")
        parts = [body]
        for kind, data in self.data.values():
            size, code = len(data), KINDS[kind]
            byte, size = (code << 4) | (size & 15), size >> 4
            header = bytearray()
            while size:
                header.append(byte | 128)
                byte, size = size & 127, size >> 7
            header.append(byte)
            parts += [bytes(header), zlib.compress(data, 1)]
        pack = b"".join(parts)
        pack += hashlib.sha1(pack).digest()
        git("index-pack", "--stdin", cwd=repository, data=pack)
        lines = "".join(f"create {ref} {oid}\n" for ref, oid in sorted(self.refs.items()))
        git("update-ref", "--stdin", cwd=repository, data=lines.encode())
        git("repack", "-adfq", "--window=250", "--depth=50", "--threads=1", cwd=repository)

"""Packs a folder as a tar archive with equal bytes for equal files: sorted, without owners and times.

pack.py FOLDER FILE.tar.gz
"""

import gzip
import sys
import tarfile
from pathlib import Path


def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Removes the owner and the time of an entry; its mode becomes 755 (folders and executables) or 644."""
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
    return entry


folder, archive = Path(sys.argv[1]), Path(sys.argv[2])
with archive.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path in [folder, *sorted(folder.rglob("*"))]:
            tar.add(path, arcname=str(path.relative_to(folder.parent)), recursive=False, filter=plain)
print(archive)

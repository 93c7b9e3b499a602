"""An HTTP server with byte ranges and a delay before each reply. The path `/ANY/NAME` is the file NAME in FOLDER.

Usage: python server.py FOLDER DELAY. The server prints its port. `/statistics` returns the number of requests and of
sent bytes.
"""

import asyncio
import os
import sys


class Server:
    def __init__(self, folder: str, delay: float) -> None:
        self.folder, self.delay = folder, delay
        self.requests = self.sent = 0
        self.files: dict[str, tuple[int, int]] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode("latin-1").split("\r\n")
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
                status, extra, body = self.reply(lines[0].split(" ")[1], headers)
                if self.delay:
                    await asyncio.sleep(self.delay)
                writer.write(f"HTTP/1.1 {status} Reply\r\n{extra}Content-Length: {len(body)}\r\n\r\n".encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def reply(self, path: str, headers: dict[str, str]) -> tuple[int, str, bytes]:
        if path == "/statistics":
            return 200, "", f"{self.requests} {self.sent}".encode()
        self.requests += 1
        name = path.rsplit("/", 1)[-1]
        if name not in self.files:
            full = os.path.join(self.folder, name)
            if not os.path.isfile(full):
                return 404, "", b""
            self.files[name] = os.open(full, os.O_RDONLY), os.path.getsize(full)
        file, size = self.files[name]
        etag = f'ETag: "{name}-{size}"\r\n'
        if headers.get("if-none-match") == f'"{name}-{size}"':
            return 304, etag, b""
        first, _, last = headers.get("range", "bytes=0-").removeprefix("bytes=").partition("-")
        start, end = int(first), min(int(last or size - 1), size - 1)
        body = os.pread(file, end - start + 1, start)
        self.sent += len(body)
        if "range" not in headers:
            return 200, etag, body
        return 206, f"{etag}Content-Range: bytes {start}-{end}/{size}\r\n", body


async def main() -> None:
    server = Server(sys.argv[1], float(sys.argv[2]))
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    print(listening.sockets[0].getsockname()[1], flush=True)
    await listening.serve_forever()


asyncio.run(main())

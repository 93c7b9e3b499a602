"""A bucket of 300 models in a local S3 server, and the rows that a scan of the bucket must yield."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import boto3
import onnx_lint
from moto.server import ThreadedMotoServer

COUNT = 300
PITFALLS = Path(__file__).parent.parent / "pitfalls" / "exported"


@contextmanager
def bucket() -> Iterator[list[str]]:
    """Fills the bucket, and yields the URIs. Sets the credentials of the server in this process and its children."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    os.environ.update(
        AWS_ENDPOINT_URL=f"http://{host}:{port}",
        AWS_ACCESS_KEY_ID="key",
        AWS_SECRET_ACCESS_KEY="secret",
        AWS_REGION="us-east-1",
    )
    client = boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"], region_name="us-east-1")
    client.create_bucket(Bucket="models")
    models = sorted(PITFALLS.glob("*.onnx"))
    for number in range(COUNT):
        # One in a hundred is no model.
        content = b"no model" if number % 100 == 7 else models[number % len(models)].read_bytes()
        client.put_object(Bucket="models", Key=f"{number}/model.onnx", Body=content)
    try:
        yield [f"s3://models/{number}/model.onnx" for number in range(COUNT)]
    finally:
        server.stop()


def expected(uris: list[str]) -> Counter:
    return counted(onnx_lint.scan(uris, isolated=True).read_all().to_pylist())


def counted(rows: list[dict]) -> Counter:
    """Counts equal rows, so that a lost or a repeated row is a difference."""
    return Counter((row["uri"], row["etag"], row["code"], row["fingerprint"], row["node"]) for row in rows)


def check(rows: list[dict], uris: list[str], engine: str) -> None:
    found, known = counted(rows), expected(uris)
    assert found == known, ((found - known).most_common(3), (known - found).most_common(3))
    assert len({row["uri"] for row in rows}) == COUNT
    print(f"{engine}: {len(rows)} rows of {COUNT} models, none lost or repeated after a worker was killed")

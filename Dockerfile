# The three commands, and nothing else.
FROM rust:1.95-slim-bookworm AS build
WORKDIR /source
COPY . .
# A C compiler comes with the image; protobuf needs none of its own.
RUN cargo install --locked --path . --root /built

FROM debian:bookworm-slim
COPY --from=build /built/bin/ /usr/local/bin/
WORKDIR /work
CMD ["onnx-lint"]

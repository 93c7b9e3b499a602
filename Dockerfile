# Image with the three commands.
FROM rust:1.95-slim-bookworm AS build
WORKDIR /source
COPY . .
# The image has a C compiler; protoc is not needed.
RUN cargo install --locked --features remote,tables --path . --root /built

FROM debian:bookworm-slim
COPY --from=build /built/bin/ /usr/local/bin/
WORKDIR /work
CMD ["onnx-lint"]

# syntax=docker/dockerfile:1
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS TARGETARCH
# Without .git, as in a worktree, the program would have no version.
RUN mkdir -p /out/data && GOOS=$TARGETOS GOARCH=$TARGETARCH sh .ci/release/build /out/almanac && \
    test "$(go version -m /out/almanac | awk '$1 == "mod" { print $3 }')" != "(devel)"

# Certificates and a user without rights; no shell. Time zones are in the program.
FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/almanac /usr/local/bin/almanac
# A new volume takes over the owner of the folder it covers.
COPY --from=build --chown=nonroot:nonroot /out/data /data
WORKDIR /data
VOLUME /data
ENV ALMANAC_LISTEN=0.0.0.0:8080
EXPOSE 8080
# By number, for those who refuse root without reading the image's users. Only /data is written to: run it read-only.
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/almanac"]
CMD ["serve"]

# Gatehouse in a container. Beside this file lie SHA256SUMS and gatehouse-@VERSION@-linux-x64 (or -linux-arm64), as downloaded:
#
#   gatehouse print dockerfile > Dockerfile
#   docker build --tag gatehouse:@VERSION@ .
#   docker run --read-only --cap-drop ALL --volume gatehouse:/data --publish 127.0.0.1:8080:8080 \
#     --env GATEHOUSE_BASE_URL=https://auth.example.com gatehouse:@VERSION@
#
# With --build-arg RELEASE=ADDRESS both are fetched from there. The data outlives the container in the volume; a folder of
# the host in its place belongs to 65532: chown 65532:65532 FOLDER && chmod 700 FOLDER.

FROM debian:13-slim AS release-amd64
ENV PLATFORM=linux-x64

FROM debian:13-slim AS release-arm64
ENV PLATFORM=linux-arm64

FROM release-${TARGETARCH:-amd64} AS release
ARG VERSION=@VERSION@
ARG RELEASE=.
WORKDIR /release
ADD ${RELEASE}/SHA256SUMS ${RELEASE}/gatehouse-${VERSION}-${PLATFORM} ./
RUN sha256sum --check --strict --ignore-missing SHA256SUMS \
    && install -D -m 755 "gatehouse-${VERSION}-${PLATFORM}" /out/usr/local/bin/gatehouse \
    && install -d -m 700 -o 65532 -g 65532 /out/data

# The C library that the binary needs, and no shell.
FROM gcr.io/distroless/base-nossl-debian13:nonroot
COPY --from=release /out /
ENV GATEHOUSE_HOST=0.0.0.0 GATEHOUSE_DATA=/data
USER 65532:65532
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["/usr/local/bin/gatehouse", "healthcheck"]
ENTRYPOINT ["/usr/local/bin/gatehouse"]
CMD ["serve"]

# volley, built from its sources: docker build --build-arg REVISION="$(git rev-parse HEAD)" -t volley:1.0.0 .
# The same base each time, whatever its tag comes to mean: --build-arg BASE=node:24.21.0-slim@sha256:…
ARG BASE=node:24.21.0-slim

FROM ${BASE} AS build
WORKDIR /app
# Dependencies first: they change less often than the sources. Without scripts, as `prepare` would build what is not here yet.
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json .rolldown.cjs .build.mjs .image.mjs ./
COPY src ./src
COPY jobs/reference ./jobs/reference
# There is no .git here.
ARG REVISION=unknown
# The list of parts names what is in the bundle too; then goes what only building needs, and what the bundle holds already.
RUN VOLLEY_REVISION="$REVISION" npm run build \
 && npm sbom --omit=dev --sbom-format=cyclonedx --sbom-type=application > sbom.cdx.json \
 && node .image.mjs \
 && npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
 && find node_modules -type d -empty -delete \
 && chmod -R a+rX,go-w /app

FROM ${BASE}
ARG BASE
ARG REVISION=unknown
LABEL org.opencontainers.image.title="volley" \
      org.opencontainers.image.description="Bulk messaging job runner: files of contacts and recipients in, one result per row out, nothing sent twice." \
      org.opencontainers.image.version="1.0.0" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.base.name="$BASE"
ENV NODE_ENV=production
# Owned by root: who runs in the container cannot change the program.
COPY --from=build /app/package.json /app/package.json
COPY --from=build /app/node_modules /app/node_modules
COPY --from=build /app/dist /app/dist
# The pages of `volley help`.
COPY --from=build /app/jobs /app/jobs
# Every package that is in the image, in the bundle or beside it, with its version and licence.
COPY --from=build /app/sbom.cdx.json /app/sbom.cdx.json
# For people in the container; its entry point is node itself.
RUN install -d -o 10001 -g 10001 -m 0700 /data && ln -s /app/dist/cli.js /usr/local/bin/volley
# Not declared as VOLUME: an anonymous volume would be lost with the container, and with it the record of what was sent.
WORKDIR /data
USER 10001:10001
# node is process 1, so SIGTERM reaches it; `sh -c` or `npm` in its place would swallow the signal.
ENTRYPOINT ["node", "/app/dist/cli.js"]
CMD ["--help"]

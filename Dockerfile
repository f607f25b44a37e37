# volley, built from its sources: docker build -t volley:0.1.0 .

FROM node:24-slim AS build
WORKDIR /app
# Dependencies first: they change less often than the sources. Without scripts, as `prepare` would build what is not here yet.
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json .rolldown.cjs .build.mjs ./
COPY src ./src
COPY jobs/reference ./jobs/reference
RUN npm run build \
 && npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
 && chmod -R a+rX,go-w /app

FROM node:24-slim
LABEL org.opencontainers.image.title="volley" \
      org.opencontainers.image.description="Bulk messaging job runner: files of contacts and recipients in, one result per row out, nothing sent twice." \
      org.opencontainers.image.version="0.1.0"
ENV NODE_ENV=production
# Owned by root: who runs in the container cannot change the program.
COPY --from=build /app/package.json /app/package.json
COPY --from=build /app/node_modules /app/node_modules
COPY --from=build /app/dist /app/dist
# The pages of `volley help`.
COPY --from=build /app/jobs /app/jobs
RUN install -d -o 10001 -g 10001 -m 0700 /data
# Not declared as VOLUME: an anonymous volume would be lost with the container, and with it the record of what was sent.
WORKDIR /data
USER 10001:10001
# node is process 1, so SIGTERM reaches it; `sh -c` or `npm` in its place would swallow the signal.
ENTRYPOINT ["node", "/app/dist/cli.js"]
CMD ["--help"]

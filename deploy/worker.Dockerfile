# The image of the Python worker. It contains the SDK and what it needs, no workflow: workers receive those from
# the server. Packages that your workflows import come in an image of your own:
#
#   DOCKER_BUILDKIT=1 docker build --file deploy/worker.Dockerfile --tag windlass-worker:0.1.0 .
#
#   FROM windlass-worker:0.1.0
#   USER root
#   RUN pip install pandas
#   USER 10002:10002
#
# PYTHON_IMAGE is any image with Python 3.11 or newer as `python3`, also one without a shell; pin it by its digest.
# The stage that builds needs a shell, so it may have another base, with the same Python at the same path.
ARG PYTHON_IMAGE=python:3.13-slim-trixie
ARG BUILD_IMAGE=${PYTHON_IMAGE}

FROM ${BUILD_IMAGE} AS build
WORKDIR /src
# An index or a proxy with an authority of its own: `--secret id=ca,src=…`; an index that needs a password:
# `--secret id=pip,src=pip.conf`. Neither is written to a layer.
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_NO_CACHE_DIR=1 PIP_PROGRESS_BAR=off \
  PIP_CONFIG_FILE=/run/secrets/pip
COPY sdk/python/requirements.txt ./
RUN --mount=type=secret,id=ca --mount=type=secret,id=pip \
  python3 -m venv /opt/windlass \
  && if [ -e /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
  && /opt/windlass/bin/pip install --require-hashes --requirement requirements.txt
COPY sdk/python/pyproject.toml sdk/python/README.md sdk/python/LICENSE ./
COPY sdk/python/src src
# What only builds the package leaves again.
RUN /opt/windlass/bin/pip install --no-index --no-build-isolation '.[worker]' \
  && /opt/windlass/bin/pip uninstall --yes --quiet \
  hatchling editables packaging pathspec pluggy tomlkit trove-classifiers

FROM build AS sbom
ARG CYCLONEDX_VERSION=7.1.0
RUN --mount=type=secret,id=ca --mount=type=secret,id=pip \
  python3 -m venv /tools \
  && if [ -e /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
  && /tools/bin/pip install "cyclonedx-bom==${CYCLONEDX_VERSION}" \
  && /tools/bin/cyclonedx-py environment --output-file /sbom.cdx.json /opt/windlass/bin/python

FROM ${PYTHON_IMAGE}
ARG PYTHON_IMAGE
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Windlass worker" \
  org.opencontainers.image.description="The Python worker of Windlass" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.base.name="${PYTHON_IMAGE}"
COPY --from=build /opt/windlass /opt/windlass
COPY --from=sbom /sbom.cdx.json /opt/windlass/sbom.cdx.json
COPY deploy/image/worker_health.py /opt/windlass/health.py
# `svc.toml` is read from here. The root file system may be read-only; /tmp must not be.
WORKDIR /etc/windlass
ENV PATH=/opt/windlass/bin:${PATH} PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HOME=/tmp \
  SVC_WORKER__LOG_FORMAT=json \
  SVC_WORKER__HEALTH_HOST=0.0.0.0 SVC_WORKER__HEALTH_PORT=9100
USER 10002:10002
EXPOSE 9100
# Unhealthy while the worker takes no work, which includes that no gateway answers.
HEALTHCHECK --interval=10s --timeout=10s --start-period=60s --retries=6 \
  CMD ["/opt/windlass/bin/python", "-IS", "/opt/windlass/health.py"]
ENTRYPOINT ["/opt/windlass/bin/python", "-P", "-m", "windlass.worker"]
CMD ["start"]

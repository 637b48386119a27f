"""The health check of the worker's image: asks for /ready of the health port."""

import http.client
import os
import sys

TIMEOUT_S = 5

host = os.environ.get("SVC_WORKER__HEALTH_HOST", "127.0.0.1")
port = os.environ.get("SVC_WORKER__HEALTH_PORT", "")
if host in ("", "0.0.0.0", "::"):
    host = "127.0.0.1"
try:
    connection = http.client.HTTPConnection(host, int(port), timeout=TIMEOUT_S)
    connection.request("GET", "/ready")
    response = connection.getresponse()
    answer = response.read().decode()
except (OSError, ValueError, http.client.HTTPException) as error:
    sys.exit(f"port {port or '(none)'}: {error}")
if response.status != 200:
    sys.exit(answer)

import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dataDir, npmStart } from './npm-start.ts'

const TEST_LIMIT_MS = 300_000
const isRoot = process.getuid?.() === 0

/** Tries to obtain rights beyond its own execution, with everything that its process can reach. */
const SOURCE = String.raw`
import base64
import json
import os
import re
import socket
import urllib.error
import urllib.request

from windlass import ExecutionContext, workflow


def readable(path):
    try:
        with open(path, "rb") as file:
            return len(file.read(1)) > 0
    except OSError:
        return False


def other_processes():
    """Files of processes of other users that can be read."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.stat(f"/proc/{pid}").st_uid == os.getuid():
                continue
        except OSError:
            continue
        for name in ("environ", "mem", "maps"):
            if readable(f"/proc/{pid}/{name}"):
                found.append(name)
        try:
            found += os.listdir(f"/proc/{pid}/fd")
        except OSError:
            pass
    return found


def neighbours():
    found = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            found += b"windlass.worker" in open(f"/proc/{pid}/cmdline", "rb").read()
        except OSError:
            pass  # it has ended since it was listed
    return found


def own_memory():
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as memory:
        for line in maps:
            area, rights = line.split()[:2]
            first, last = (int(end, 16) for end in area.split("-"))
            if rights.startswith("rw") and "[v" not in line:
                memory.seek(first)
                try:
                    yield memory.read(last - first)
                except OSError:
                    continue


def listening_ports():
    ports = set()
    for name in ("tcp", "tcp6"):
        with open(f"/proc/net/{name}") as table:
            for line in list(table)[1:]:
                _, local, _, state = line.split()[:4]
                if state == "0A":
                    ports.add(int(local.rsplit(":", 1)[1], 16))
    return sorted(ports)


def talk(port, first):
    with socket.create_connection(("127.0.0.1", port), 3) as connection:
        connection.settimeout(1)
        connection.sendall(first)
        text = b""
        try:
            while chunk := connection.recv(65536):
                text += chunk
        except OSError:
            pass
        return text


POSTGRES = b"user\0postgres\0database\0postgres\0\0"
GREETINGS = {
    "redis": (b"KEYS *\r\n", lambda answer: answer.startswith(b"*")),
    "nats": (b'CONNECT {"verbose":true}\r\nSUB > 1\r\nPING\r\n', lambda answer: b"+OK" in answer),
    "postgres": (
        (8 + len(POSTGRES)).to_bytes(4, "big") + b"\0\3\0\0" + POSTGRES,
        lambda answer: answer[:9] == b"R\0\0\0\x08\0\0\0\0",
    ),
    "http": (
        b"GET /workflows HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        # Other systems of this machine may be open on purpose; this one lists this workflow.
        lambda answer: re.match(rb"HTTP/1\.1 2", answer) and b'"hostile"' in answer,
    ),
}


def open_services(ports):
    found, answered = [], 0
    for port in ports:
        for kind, (first, is_open) in GREETINGS.items():
            try:
                answer = talk(port, first)
            except OSError:
                continue
            answered += len(answer) > 0
            if is_open(answer):
                found.append(f"{kind} on {port}")
    return found, answered


def request(url, token, method="GET", body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    asked = urllib.request.Request(url, data, headers, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def claims(token):
    part = token.split(b".")[1]
    return json.loads(base64.urlsafe_b64decode(part + b"=" * (-len(part) % 4)))


@workflow
async def hostile(ctx: ExecutionContext[dict]):
    given = ctx.input
    url, other, mine = given["url"], given["other_execution"], ctx.execution_id
    # In pieces: the whole token must not get into memory by this search.
    backwards = given["reversed_token"]
    begin, rest = backwards[-16:][::-1].encode(), backwards[-32:-16][::-1].encode()
    sessions, keys, executions, has_token = set(), set(), set(), False
    for text in own_memory():
        at = text.find(begin)
        while at >= 0:
            has_token |= text[at + 16 : at + 32] == rest
            at = text.find(begin, at + 1)
        sessions |= set(re.findall(rb"ws_[0-9a-f]{16}\.[\w-]{43}", text))
        keys |= set(re.findall(rb"w[kt]_[0-9a-f]{16}\.[\w-]{43}", text))
        for one in re.findall(rb"eyJ[\w-]+\.eyJ[\w-]+\.[\w-]{43}", text):
            try:
                executions.add(claims(one)["exec_id"])
            except (ValueError, KeyError):
                continue
    me = ctx.current_worker
    another = "worker-2" if me == "worker-1" else "worker-1"
    allowed = []
    attempts = [
        ("GET", "/workflows", None),
        ("GET", "/executions", None),
        ("GET", "/admin/secrets", None),
        ("GET", "/admin/principals", None),
        ("POST", "/admin/worker-tokens", {"name": "x"}),
        ("POST", "/workflows/default/hostile/run/async", {}),
        ("POST", f"/workers/{another}/pong", {}),
        ("POST", f"/workers/{another}/claim/{other}", None),
        ("POST", f"/workers/{me}/claim/{other}", None),
        ("POST", f"/workers/{me}/release/{other}", None),
        ("POST", f"/workers/{me}/secrets/batch", {"execution_id": mine, "names": ["canary"]}),
        ("POST", f"/workers/{me}/secrets/batch", {"execution_id": other, "names": ["canary"]}),
        ("DELETE", f"/workers/{another}/session", None),
    ]
    for session in sessions:
        for method, path, body in attempts:
            status = request(f"{url}{path}", session.decode(), method, body)
            if status < 400:
                allowed.append(f"{method} {path}: {status}")
    ports = listening_ports()
    found, answered = open_services(given["ports"] or ports)
    return {
        "bootstrap_token": has_token,
        "keys": len(keys),
        "sessions": len(sessions),
        "other_executions": sorted(executions - {mine}),
        "allowed": allowed,
        "other_processes": other_processes(),
        "neighbours": neighbours(),
        "open_services": found,
        "answered": answered,
        "ports": len(ports),
    }
`

test.runIf(isRoot)(
  'N159: a hostile workflow: has the rights of its execution, and finds no credential',
  async () => {
    const dir = await dataDir({})
    const token = randomBytes(24).toString('hex')
    mkdirSync(join(dir, 'home'), { mode: 0o700 })
    writeFileSync(join(dir, 'home/bootstrap-token'), token, { mode: 0o600 })
    const { url, printed } = await npmStart(dir, {}, ['--auth', '--workers', '2'])
    await expect.poll(printed).toContain('creates another')
    const [key = ''] = printed().match(/wk_[0-9a-f]{16}\.[\w-]{43}/g) ?? []
    const headers = { authorization: `Bearer ${key}` }
    const json = { ...headers, 'content-type': 'application/json' }
    const post = (path: string, body: unknown) =>
      fetch(url + path, { method: 'POST', headers: json, body: JSON.stringify(body) })
    await post('/admin/secrets', { name: 'canary', value: 'secret' })
    const upload = async (source: string) => {
      const form = new FormData()
      form.set('file', new Blob([source]), 'w.py')
      const uploaded = await fetch(`${url}/workflows`, { method: 'POST', headers, body: form })
      expect(uploaded.status, await uploaded.text()).toBeLessThan(300)
    }
    await upload(WAITING)
    await upload(SOURCE)
    const waiting = await post('/workflows/default/waiting/run/async', null)
    const { execution_id: other_execution } = (await waiting.json()) as { execution_id: string }

    const reversed_token = [...token].reverse().join('')
    const input = { url, other_execution, reversed_token, ports: [] }
    const response = await post('/workflows/default/hostile/run/sync', input)
    const execution = (await response.json()) as { state: string; output: Record<string, unknown> }
    expect(execution.state, JSON.stringify(execution.output)).toBe('COMPLETED')
    expect(execution.output).toMatchObject({
      ...{ bootstrap_token: false, keys: 0, sessions: 0, other_executions: [] },
      ...{ allowed: [], other_processes: [], open_services: [] },
    })
    expect(execution.output.neighbours).toBeGreaterThan(1)
    expect(execution.output.answered).toBeGreaterThan(3)
  },
  TEST_LIMIT_MS,
)

/** Work of another worker, since an idle one is preferred. */
const WAITING = `
import asyncio
from windlass import ExecutionContext, workflow

@workflow
async def waiting(ctx: ExecutionContext):
    await asyncio.sleep(600)
`

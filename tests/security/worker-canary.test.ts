import { randomBytes } from 'node:crypto'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keysOf, RPC_SERVICES } from '@windlass/rpc/pair-keys'
import { expect, test } from 'vitest'
import { dataDir, npmStart } from './npm-start.ts'

const TEST_LIMIT_MS = 300_000
const isRoot = process.getuid?.() === 0

/** A hostile workflow: searches what its process can read, and returns where it found which secret. */
const SEARCH = `
import os
from pathlib import Path

from windlass import ExecutionContext, workflow


def contents():
    yield "environment", repr(dict(os.environ)).encode()
    for process in ["self", str(os.getppid())] + [one for one in os.listdir("/proc") if one.isdigit()]:
        for name in ("environ", "cmdline", "cwd", "root"):
            yield f"/proc/{process}/{name}", read(f"/proc/{process}/{name}")
        try:
            descriptors = os.listdir(f"/proc/{process}/fd")
        except OSError:
            continue
        for number in descriptors:
            link = f"/proc/{process}/fd/{number}"
            if os.path.isfile(link):
                yield link, read(link)


def files(folders):
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in names:
                yield f"{place}/{name}", read(f"{place}/{name}")
        # What cannot be listed may still be opened by a name that is known.
        for name in (
            "home/bootstrap-token", "home/rpc-secret", "secrets/encryption-key",
            "secrets/execution-token-secret", "secrets/postgres-url", "secrets/postgres-password",
            "secrets/rpc-secret", "nats/nats.conf", "redis/redis.conf", "processes.json", "lock",
            "logs/identity.log", "logs/gateway.log", "logs/worker-1.log", "postgres/data/pg_hba.conf",
        ):
            yield f"{folder}/{name}", read(f"{folder}/{name}")


def read(path):
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


@workflow
async def search(ctx: ExecutionContext[dict]):
    given = ctx.input
    found = set()
    looked_at = 0
    for places in (contents(), files(given["folders"])):
        for place, text in places:
            looked_at += len(text) > 0
            for name, reversed_secret in given["reversed"].items():
                if reversed_secret[::-1].encode() in text:
                    found.add(f"{name} in {place}")
    return {
        "found": sorted(found),
        "looked_at": looked_at,
        "uid": os.getuid(),
        "groups": os.getgroups(),
        "variables": sorted(os.environ),
        "workers": sorted(os.listdir(".")),
    }
`

const canary = () => randomBytes(32).toString('hex')
/** Reversed: the workflow's own input must not be what it finds. */
const reversed = (secrets: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(secrets).map(([name, value]) => [name, [...value].reverse().join('')]),
  )

/** Uploads the hostile workflow and runs it. */
async function search(url: string, input: unknown) {
  const form = new FormData()
  form.set('file', new Blob([SEARCH]), 'search.py')
  const uploaded = await fetch(`${url}/workflows`, { method: 'POST', body: form })
  expect(uploaded.status).toBeLessThan(300)
  const response = await fetch(`${url}/workflows/default/search/run/sync`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input),
  })
  const execution = (await response.json()) as { state: string; output: unknown }
  expect(execution).toMatchObject({ state: 'COMPLETED' })
  return execution.output as {
    found: string[]
    looked_at: number
    uid: number
    groups: number[]
    variables: string[]
  }
}

const MADE = {
  'postgres-password': canary(),
  'nats-password': canary(),
  'redis-password': canary(),
  'rpc-secret': canary(),
  ...Object.fromEntries(
    ['identity', 'catalog', 'executions', 'dispatcher', 'scheduler'].map((service) => [
      `postgres-password-${service}`,
      canary(),
    ]),
  ),
}
const RPC_KEYS = Object.fromEntries(
  RPC_SERVICES.flatMap((service) =>
    keysOf(MADE['rpc-secret'], service).map((key) => [
      `rpc key ${key.slice(0, -65)}`,
      key.slice(-64),
    ]),
  ),
)
const SET = {
  SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: canary(),
  SVC_SECURITY__EXECUTION_TOKEN_SECRET: canary(),
  SVC_WORKERS__BOOTSTRAP_TOKEN: canary(),
  SVC_AUTH_TOKEN: canary(),
  A_VARIABLE_OF_THE_MACHINE: canary(),
}

test.runIf(isRoot)(
  'N159: a hostile workflow in a worker of npm start: finds no secret of the server',
  async () => {
    const dir = await dataDir(MADE)
    const { url, printed } = await npmStart(dir, SET, ['--worker-env', 'GIVEN'])
    const folders = [dir]
    const seen = await search(url, {
      reversed: reversed({ ...MADE, ...RPC_KEYS, ...SET }),
      folders,
    })
    expect(seen.found).toEqual([])
    expect(seen.looked_at).toBeGreaterThan(10)
    expect(seen.uid).toBeGreaterThanOrEqual(64_000)
    expect(seen.groups).toEqual([])
    expect(seen.variables.filter((name) => name.startsWith('SVC_'))).toEqual([])
    expect(printed()).not.toContain('SAME USER')
  },
  TEST_LIMIT_MS,
)

test.runIf(isRoot)(
  'secrets made by npm start itself: a hostile workflow finds none of them',
  async () => {
    const secrets = { ...MADE, 'encryption-key': canary(), 'execution-token-secret': canary() }
    const dir = await dataDir(secrets)
    const token = canary()
    mkdirSync(join(dir, 'home'), { mode: 0o700 })
    writeFileSync(join(dir, 'home/bootstrap-token'), token, { mode: 0o600 })
    const { url } = await npmStart(dir, { GIVEN: 'yes' }, ['--worker-env', 'GIVEN'])
    const input = { reversed: reversed({ ...secrets, ...RPC_KEYS, token }), folders: [dir] }
    const seen = await search(url, input)
    expect(seen.found).toEqual([])
    expect(seen.variables).toContain('GIVEN')
  },
  TEST_LIMIT_MS,
)

test.runIf(!isRoot)(
  'npm start without root: warns that workers share the user of the server',
  async () => {
    const dir = await dataDir(MADE)
    const { url, printed } = await npmStart(dir, SET)
    expect(printed()).toContain('WORKERS RUN AS THE SAME USER AS THE SERVER')
    const seen = await search(url, { reversed: reversed(SET), folders: [] })
    expect(seen.variables.filter((name) => name.startsWith('SVC_'))).toEqual([])
  },
  TEST_LIMIT_MS,
)

test(
  'npm start --auth: refuses anonymous callers, prints one key and starts no worker',
  async () => {
    const dir = await dataDir({})
    const { url, printed } = await npmStart(dir, {}, ['--auth'])
    await expect.poll(printed).toContain('creates another')
    const [key, ...more] = printed().match(/wk_[0-9a-f]{16}\.[\w-]{43}/g) ?? []
    expect(more).toEqual([])
    expect((await fetch(`${url}/workers`)).status).toBe(401)
    const response = await fetch(`${url}/workers`, { headers: { authorization: `Bearer ${key}` } })
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual([])
    for (const name of ['encryption-key', 'execution-token-secret'])
      expect(statSync(join(dir, 'secrets', name)).mode & 0o777).toBe(0o600)
  },
  TEST_LIMIT_MS,
)

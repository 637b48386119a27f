import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { signalIfRunning } from '@windlass/runtime/process/pids'
import type { Process } from '@windlass/testkit/process'
import { startSystem } from '@windlass/testkit/system'
import { expect, test } from 'vitest'
import { client } from './api.ts'

const HANG_MS = 60_000
/** Starts a system and two workers, and waits several times. */
const TEST_HANG_MS = 5 * HANG_MS

/** Each effect is a line. The second compensation waits until the file `go` exists. */
const SOURCE = `
import asyncio, os
from windlass import ExecutionContext, saga, task, workflow

def write(folder, line):
    file = os.open(os.path.join(folder, "effects"), os.O_APPEND | os.O_CREAT | os.O_WRONLY)
    os.write(file, (line + "\\n").encode())
    os.close(file)

@task.with_options(durability="strict")
async def book(folder, name):
    write(folder, f"book {name}")
    return name

@task.with_options(durability="strict")
async def undo_booking(folder, name):
    write(folder, f"undo {name}")
    while name == "b" and not os.path.exists(os.path.join(folder, "go")):
        await asyncio.sleep(0.02)
    return f"undo {name}"

@task
async def wait():
    await asyncio.sleep(3600)

@workflow
async def travel(ctx: ExecutionContext[str]):
    async with saga() as undo:
        for name in ("a", "b", "c"):
            undo.add(undo_booking, ctx.input, name)
            await book(ctx.input, name)
        await wait()
        await book(ctx.input, "too late")
`

type System = Awaited<ReturnType<typeof startSystem>>

/** A cancelled execution whose second compensation runs on the only worker. */
async function compensating(system: System) {
  const api = client(system.url)
  const worker = await system.startWorker({ name: 'first', args: ['--children', '1'] })
  await api.upload(SOURCE)
  const effects = async () =>
    (await readFile(join(system.home, 'effects'), 'utf8').catch(() => '')).trim().split('\n')
  const { execution_id } = await api.run('travel', 'async', system.home)
  await expect.poll(effects, { timeout: HANG_MS }).toEqual(['book a', 'book b', 'book c'])
  await expect
    .poll(async () => (await api.status(execution_id)).events.at(-1).name, { timeout: HANG_MS })
    .toBe('wait')
  await api.json('GET', `/workflows/default/travel/cancel/${execution_id}`)
  await expect.poll(async () => (await effects()).at(-1), { timeout: HANG_MS }).toBe('undo b')
  // A record may be stored after the next step has begun: until then, a crash repeats its step.
  await expect
    .poll(async () => (await api.status(execution_id)).events.filter(isUndone), {
      timeout: HANG_MS,
    })
    .toHaveLength(1)
  return { api, worker, execution_id, effects }
}

interface Event {
  type: string
  name: string
}

const isUndone = ({ type, name }: Event) => type === 'TASK_COMPLETED' && name === 'undo_booking'

const letGo = (system: System) => writeFile(join(system.home, 'go'), '')

/**
 * The compensation that was interrupted has run again, and every other step once. On a busy machine the next worker may
 * lose its claim too, and the compensation then runs a third time.
 */
async function expectCompensated({
  api,
  execution_id,
  effects,
}: Awaited<ReturnType<typeof compensating>>) {
  const { events } = await api.until(execution_id, 'CANCELLED')
  const lines = await effects()
  const interrupted = lines.filter((line) => line === 'undo b')
  expect(interrupted.length).toBeGreaterThan(1)
  expect(lines).toEqual(['book a', 'book b', 'book c', 'undo c', ...interrupted, 'undo a'])
  expect(events.filter(isUndone)).toHaveLength(3)
  expect(events.filter(({ type }: Event) => type === 'WORKFLOW_CANCELLED')).toHaveLength(1)
}

test('a worker is killed while it compensates a cancelled execution: another one continues', {
  timeout: TEST_HANG_MS,
}, async () => {
  const system = await startSystem({ workers: 0, replicas: { executions: 2, dispatcher: 2 } })
  const run = await compensating(system)
  await system.startWorker({ name: 'second' })
  process.kill(run.worker.pid ?? expect.unreachable(), 'SIGKILL')
  await letGo(system)
  await expectCompensated(run)
})

test('a child is killed while it compensates a cancelled execution: its worker continues', {
  timeout: TEST_HANG_MS,
}, async () => {
  const system = await startSystem({ singleProcess: true, workers: 0 })
  const run = await compensating(system)
  await killChildren(run.worker)
  await letGo(system)
  await expectCompensated(run)
})

test('the last worker is killed while it compensates: CANCELLED after cancel_timeout, explained, and not continued', {
  timeout: TEST_HANG_MS,
}, async () => {
  const env = { SVC_EXECUTIONS__CANCEL_TIMEOUT: '10' }
  const system = await startSystem({ singleProcess: true, workers: 0, env })
  const { api, worker, execution_id, effects } = await compensating(system)
  process.kill(worker.pid ?? expect.unreachable(), 'SIGKILL')
  await letGo(system)
  const { events } = await api.until(execution_id, 'CANCELLED')
  expect(events.at(-1)).toMatchObject({ value: { reason: 'cancel_timeout' } })
  const { undone, reason } = await api.json('GET', `/executions/${execution_id}/explain`)
  expect(undone).toHaveLength(2)
  expect(reason).toContain('compensations have no outcome')
  await system.startWorker({ name: 'second' })

  expect((await effects()).slice(3)).toEqual(['undo c', 'undo b'])
})

/** Kills all processes below a worker, among them those in which it runs its executions. */
async function killChildren(worker: Process): Promise<void> {
  const ps = await promisify(execFile)('ps', ['-e', '-o', 'pid=,ppid='])
  const processes = ps.stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
  const below = new Set([worker.pid])
  // A process is listed after its parent only as long as pids do not wrap around.
  for (let size = 0; size < below.size; ) {
    size = below.size
    for (const [pid, ppid] of processes) if (below.has(ppid)) below.add(pid)
  }
  below.delete(worker.pid)
  for (const pid of below) signalIfRunning(pid ?? expect.unreachable(), 'SIGKILL')
}

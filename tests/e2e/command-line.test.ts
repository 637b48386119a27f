import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { startSystem } from '@windlass/testkit/system'
import { expect, test } from 'vitest'
import { client } from './api.ts'

const WINDLASS = fileURLToPath(new URL('../../packages/cli/bin/windlass.mjs', import.meta.url))

const SOURCE = `
from windlass import ExecutionContext, task, workflow


@task.with_options(requires_approval=True)
async def pay(amount: int):
    return amount


@workflow
async def spend(context: ExecutionContext):
    return await pay(context.input)
`

const EXACT = '{"n": 9007199254740993, "x": 1.0}'

test('command line with a system: configs stay exact, an approved run is followed to its end', async () => {
  const system = await startSystem({ singleProcess: true })
  const api = client(system.url)
  await api.upload(SOURCE)
  const windlass = async (argv: string[], input = '') => {
    const env = { ...process.env, SVC_CONFIG: '/dev/null', SVC_WORKERS__SERVER_URL: system.url }
    const child = spawn(process.execPath, [WINDLASS, ...argv], { env })
    child.stdin.end(input)
    const exited = once(child, 'exit')
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
    const [status] = await exited
    return { status, out, err }
  }

  const scope = ['--namespaces', 'default', '--workflows', 'spend']
  expect(await windlass(['config', 'set', 'limits', '--json', ...scope], EXACT)).toMatchObject({
    status: 0,
    err: '',
  })
  expect((await windlass(['config', 'get', 'limits'])).out).toBe(`${EXACT}\n`)
  expect((await windlass(['config', 'list', '--detailed'])).out).toMatch(
    /^limits\tnamespaces default\tworkflows spend\trevision [0-9a-f]{32}\n$/,
  )
  expect((await windlass(['config', 'delete', 'limits'])).status).toBe(0)

  const key = ['--async', '--idempotency-key', 'order-7']
  const first = await windlass(['workflow', 'run', 'spend', '9007199254740993', ...key])
  const again = await windlass(['workflow', 'run', 'spend', '9007199254740993', ...key])
  const id: string = JSON.parse(first.out).execution_id
  expect(JSON.parse(again.out).execution_id).toBe(id)
  await api.until(id, 'PAUSED')
  const { approvals } = JSON.parse((await windlass(['approval', 'list', '--json'])).out)
  expect(approvals).toMatchObject([{ execution_id: id, task_name: 'pay', status: 'pending' }])
  const call: string = approvals[0].task_call_id
  expect((await windlass(['approval', 'list'])).out).toContain(call)

  const followed = windlass(['execution', 'follow', id, '--json'])
  const approved = await windlass(['approval', 'approve', id, call, '--reason', 'fine'])
  expect(JSON.parse(approved.out)).toMatchObject({ status: 'approved', reason: 'fine' })
  const { status, out } = await followed
  expect(status).toBe(0)
  expect(out.trimEnd().split('\n').at(-1)).toContain('"output":9007199254740993')
  expect(await windlass(['approval', 'reject', id, call])).toMatchObject({
    status: 1,
    err: expect.stringContaining('it is approved'),
  })
  expect((await windlass(['workflow', 'versions', 'spend'])).out).toMatch(/1 +spend/)
  expect((await windlass(['workflow', 'delete', 'spend', '--all'])).status).toBe(0)
  expect((await windlass(['workflow', 'show', 'spend'])).err).toContain('(404)')
})

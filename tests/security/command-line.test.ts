import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { withTest } from '@windlass/testkit/defer'
import { expect, test } from 'vitest'
import { startAuthSystem } from './auth-system.ts'

const WINDLASS = fileURLToPath(new URL('../../packages/cli/bin/windlass.mjs', import.meta.url))

const SOURCE = `
from windlass import ExecutionContext, task, workflow


@task
async def double(numbers: dict):
    return {"n": numbers["n"] * 2, "x": numbers["x"]}


@task
async def refuse(numbers: dict):
    raise ValueError("no")


@workflow.with_options(namespace="team", secret_requests=["declared"])
async def count(context: ExecutionContext[dict]):
    await double(context.input)
    return await double(context.input)


@workflow.with_options(namespace="team")
async def fail(context: ExecutionContext[dict]):
    return await refuse(context.input)
`

const EXACT = '{"n": 9007199254740993, "x": 1.0}'
const TEAM = 'workflow:team:*,execution:team:*,schedule:team:*'

test('command line of an administrator: accounts, keys, roles, rights, exact payloads, schedules', async () => {
  const { system, admin, upload } = await startAuthSystem(withTest, { workers: 1 })
  expect((await upload(SOURCE)).status).toBeLessThan(300)
  const run = async (token: string, argv: string[], input = '') => {
    const settings = { SVC_CONFIG: '/dev/null', SVC_WORKERS__SERVER_URL: system.url }
    const env = { ...process.env, ...settings, SVC_AUTH_TOKEN: token }
    const child = spawn(process.execPath, [WINDLASS, ...argv], { env })
    child.stdin.end(input)
    const exited = once(child, 'exit')
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
    return { status: (await exited)[0] as number, out, err }
  }
  const windlass = async (...argv: string[]) => {
    const { status, out, err } = await run(admin, argv)
    expect(status, err).toBe(0)
    return out
  }

  await windlass('role', 'create', 'team', '--permissions', TEAM)
  await windlass('principal', 'create', 'ci', '--roles', 'team', '--display-name', '日本')
  expect(await windlass('principal', 'list')).toMatch(/ci +service_account +true +team +日本/)
  const key = (await windlass('key', 'create', 'ci', 'deploy', '--days', '30')).trim()
  expect(await windlass('key', 'list', 'ci')).toMatch(/deploy +[0-9a-f]{16}|deploy +wk_/)
  expect((await run(admin, ['auth', 'test-token'], `${key}\n`)).status).toBe(0)

  const ci = (...argv: string[]) => run(key, argv)
  expect((await ci('me')).out).toMatch(/subject {2}ci\n.*team +workflow:team:\*\n/s)
  const needed = ['auth', 'check', '--workflow', 'team/count']
  expect(await ci(...needed)).toMatchObject({ status: 0, out: expect.not.stringContaining(' no') })
  expect((await ci('auth', 'check', 'admin:audit:read')).status).toBe(1)
  await windlass(...needed, '--principal', 'ci')
  expect((await ci('principal', 'list')).err).toContain("requires 'admin:principals:read'")

  const started = await ci('workflow', 'run', 'team/count', EXACT)
  expect(started.status, started.err).toBe(0)
  const id: string = JSON.parse(started.out).execution_id
  expect((await ci('execution', 'show', id, '--input')).out).toBe(EXACT)
  const output = (await ci('execution', 'show', id, '--output')).out
  expect(output.replaceAll(' ', '')).toBe('{"n":18014398509481986,"x":1.0}')
  expect((await ci('execution', 'step', id, 'double', '--output')).err).toContain('has 2 calls')
  const log = JSON.parse((await ci('execution', 'log', id, '--json')).out)
  const call = log.entries.find(({ type }: { type: string }) => type === 'TASK_COMPLETED').source_id
  const step = async (payload: string) => (await ci('execution', 'step', id, call, payload)).out
  expect(await step('--output')).toBe(output)
  expect(await step('--input')).toContain('9007199254740993')
  const failed = await ci('workflow', 'run', 'team/fail', EXACT)
  const failure: string = JSON.parse(failed.out).execution_id
  expect(failed.status).toBe(1)
  expect((await ci('execution', 'show', failure, '--error')).out).toContain('ValueError')
  expect((await ci('execution', 'step', failure, 'refuse', '--error')).out).toContain('no')
  expect(await ci('execution', 'show', id, '--error')).toMatchObject({ status: 1, out: '' })

  const at = '{"type":"cron","cron_expression":"0 3 * * *"}'
  await ci('schedule', 'create', 'nightly', 'team/count', at, EXACT)
  const later = at.replace('3', '4')
  const changed = await ci('schedule', 'update', 'nightly', '--config', later, '--overlap', 'skip')
  expect(changed.out, changed.err).toContain(`"input_data":${EXACT}`)
  expect(JSON.parse(changed.out)).toMatchObject({
    overlap: 'skip',
    schedule_config: { cron_expression: '0 4 * * *' },
  })

  expect(await windlass('role', 'simulate', 'team', '--remove', 'workflow:team:*')).toMatch(
    /ci +service_account +true +workflow:team:\*/,
  )
  await windlass('role', 'update', 'team', '--remove', 'workflow:team:*')
  expect((await ci(...needed)).status).toBe(1)
  await windlass('principal', 'revoke-role', 'ci', 'team')
  await windlass('principal', 'grant-role', 'ci', 'viewer')
  expect((await ci('me')).out).toContain('roles    viewer')
  await windlass('principal', 'disable', 'ci')
  expect((await ci('me')).err).toContain('(401)')
  await windlass('principal', 'enable', 'ci')
  expect((await ci('me')).status).toBe(0)
  await windlass('key', 'revoke', 'ci', 'deploy')
  expect((await ci('me')).err).toContain('set SVC_AUTH_TOKEN')
  await windlass('role', 'delete', 'team')
  await windlass('principal', 'delete', 'ci', '--force')
  expect((await run(admin, ['principal', 'show', 'ci'])).err).toContain('(404)')
  expect((await run(admin, ['session', 'list'])).err).toBe('none found\n')
})

import { openDb } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { certificates } from '@windlass/testkit/certificates'
import { withTest } from '@windlass/testkit/defer'
import { expect, onTestFinished, test } from 'vitest'
import { startAuthSystem } from '../security/auth-system.ts'

const SOURCE = `
from windlass import ExecutionContext, task, workflow
from windlass.tasks import call, sleep


@task
async def greet(name: str):
    return f"hello {name}"


@task.with_options(secret_requests=["gate code"])
async def open_gate(secrets):
    return len(secrets["gate code"])


async def dig():
    return "dug"


@workflow
async def child(ctx: ExecutionContext):
    await sleep(0)
    return await greet(ctx.input)


@workflow
async def parent(ctx: ExecutionContext):
    return [await call("default/child", ctx.input), await open_gate()]


@workflow
async def reaches(ctx: ExecutionContext):
    return await call("/".join(["default", "child"]), ctx.input)


@workflow
async def digs(ctx: ExecutionContext):
    options = {"name": "dig"}
    return await task.with_options(**options)(dig)()
`

const of = (workflow: string, ...tasks: string[]) => [
  `workflow:default:${workflow}:run`,
  ...tasks.map((name) => `workflow:default:${workflow}:task:${name}:execute`),
]

const LIMIT_MS = 120_000

test(
  'authentication on: a worker acts with the permissions of the account that started the execution',
  async () => {
    const { env } = await certificates()
    const { system, requestOk, request, keyWith, upload } = await startAuthSystem(withTest, {
      // The certificates are those of calls between processes.
      singleProcess: false,
      workers: 1,
      env,
    })
    await requestOk('POST /admin/secrets', { body: { name: 'gate code', value: '1234' } })
    expect((await upload(SOURCE)).status).toBe(200)
    const run = async (name: string, token: string) =>
      (await request(`POST /workflows/default/${name}/run/sync`, { token, body: 'ada' }))
        .body as object

    const child = of('child', 'greet')
    const full = await keyWith([...child, ...of('parent', 'open_gate')])
    expect(await run('parent', full)).toMatchObject({
      state: 'COMPLETED',
      output: ['hello ada', 4],
    })

    const db = openDb(system.database, 'executions')
    onTestFinished(() => db.close())
    const starters = await db.rows(
      sql`select workflow_name, created_by, created_by_issuer from executions order by created_at`,
    )
    const [first, second] = starters as { created_by: string }[]
    expect(starters).toMatchObject([{ workflow_name: 'parent' }, { workflow_name: 'child' }])
    expect(second?.created_by).toBe(first?.created_by)
    expect(first?.created_by).not.toBe('')

    // Calls that only the running workflow determines are authorized when they happen.
    expect(await run('reaches', await keyWith(of('reaches')))).toMatchObject({
      state: 'FAILED',
      output: { message: expect.stringContaining('workflow:default:child:run') },
    })
    expect(await run('digs', await keyWith(of('digs')))).toMatchObject({
      state: 'FAILED',
      output: { message: expect.stringContaining('workflow:default:digs:task:dig:execute') },
    })
    expect(await run('digs', await keyWith(of('digs', 'dig')))).toMatchObject({
      state: 'COMPLETED',
      output: 'dug',
    })
  },
  LIMIT_MS,
)

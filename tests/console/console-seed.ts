import { expect, vi } from 'vitest'
import type { AuthSystem } from '../security/auth-system.ts'

/** A number that JavaScript would round, a repeated member, and an order of its own. */
export const INPUT = '{"z":9007199254740993,"a":1.10,"a":2}'
const SOURCE = `import logging

from windlass import ExecutionContext, task, workflow


@task
async def reserve(order):
    print("\\x1b[31mreserves <b>one</b>\\x1b[0m \\u202etxt.exe")
    logging.getLogger("stock").warning("one is left")
    return "reserved"


@task.with_options(requires_approval=True)
async def refund(order):
    return "refunded"


@workflow.with_options(name="checkout")
async def checkout(ctx: ExecutionContext):
    await reserve(ctx.input)
    raise ValueError("card declined <script>alert(1)</script>")


@workflow.with_options(name="give_back")
async def give_back(ctx: ExecutionContext):
    return await refund(ctx.input)


@workflow.with_options(name="greet", affinity={"zone": "nowhere"})
async def greet(ctx: ExecutionContext[str]):
    return ctx.input
`

const WAIT = { timeout: 60_000, interval: 100 }

/** Objects of the administration, with names that a page could take for markup. */
async function seedAdministration({ requestOk, createAccount }: AuthSystem): Promise<void> {
  for (const kind of ['secrets', 'configs']) {
    const body = { name: 'token <b>', value: 'x', namespaces: ['default'] }
    await requestOk(`POST /admin/${kind}`, { body })
  }
  const permissions = ['workflow:*:*:read', 'workflow:team:*:run']
  await requestOk('POST /admin/roles', { body: { name: 'runners', permissions } })
  await createAccount(['runners'], 'robot')
}

/** Uploads workflows and starts each once; returns the ids of the executions by workflow, of a schedule and of a rerun, and the worker. */
export async function seed(system: AuthSystem): Promise<Record<string, string>> {
  const { upload, requestOk } = system
  expect((await upload(SOURCE)).status).toBe(200)
  const ids: Record<string, string> = {}
  for (const name of ['checkout', 'give_back', 'greet']) {
    const raw = name === 'greet' ? '"Ada"' : INPUT
    const headers = { 'content-type': 'application/json' }
    const started = await requestOk(`POST /workflows/default/${name}/run/async`, { raw, headers })
    ids[name] = started.execution_id ?? ''
  }
  for (const [name, state] of [
    ['checkout', 'FAILED'],
    ['give_back', 'PAUSED'],
  ] as const)
    await vi.waitFor(
      async () => expect((await requestOk(`GET /executions/${ids[name]}`)).state).toBe(state),
      WAIT,
    )
  await seedAdministration(system)
  const nightly = await requestOk('POST /schedules', {
    body: {
      ...{ workflow_name: 'greet', name: 'nightly <i>', input_data: 'Ada' },
      schedule_config: { type: 'cron', cron_expression: '30 3 * * *', timezone: 'Europe/Berlin' },
    },
  })
  const again = await requestOk(`POST /executions/${ids.checkout}/rerun`)
  const [worker] = (await requestOk('GET /workers')) as unknown as { name: string }[]
  return {
    ...{ ...ids, nightly: nightly.id ?? '', again: again.execution_id ?? '' },
    worker: worker?.name ?? '',
  }
}

/** Every screen with its heading. */
export const screensOf = (ids: Record<string, string>): [path: string, heading: string][] => [
  ['', 'Home'],
  ['executions', 'Executions'],
  [`executions?group=workflow&selected=${ids.checkout}`, 'Executions'],
  ['executions?counts=1&workflow_name=checkout&namespace=default', 'Executions'],
  [`executions/${ids.checkout}`, 'checkout'],
  [`executions/${ids.checkout}?tab=log`, 'checkout'],
  [`executions/${ids.checkout}?tab=data`, 'checkout'],
  [`executions/${ids.checkout}?tab=lines`, 'checkout'],
  [`executions/${ids.checkout}?tab=source&line=20`, 'checkout'],
  [`executions/${ids.greet}`, 'greet'],
  [`executions/${ids.give_back}`, 'give_back'],
  [`compare/${ids.checkout}`, 'Compare'],
  [`compare/${ids.checkout}/${ids.again}`, 'Compare'],
  [`fork/${ids.checkout}`, 'Fork'],
  ['workflows', 'Workflows'],
  ['workflows/default/checkout', 'checkout'],
  ['workflows/default/checkout?tab=source', 'checkout'],
  ['workflows/default/checkout?tab=declared', 'checkout'],
  ['workflows/default/checkout?tab=statistics', 'checkout'],
  ['workflows/default/greet?tab=uses', 'greet'],
  ['start/default/greet', 'Run greet'],
  [`start/default/checkout?from=${ids.checkout}`, 'Run checkout'],
  ['approvals', 'Approvals'],
  ['schedules', 'Schedules'],
  ['schedules?tab=forecast', 'Schedules'],
  [`schedules/${ids.nightly}`, 'nightly <i>'],
  ['workers', 'Workers'],
  [`workers/${ids.worker}`, ids.worker ?? ''],
  ['queue', 'Queue'],
  ['access', 'Access'],
  ['access/robot', 'robot'],
  ['roles', 'Access'],
  ['roles/admin', 'admin'],
  ['roles/runners', 'runners'],
  ['secrets', 'Secrets'],
  ['secrets/token%20%3Cb%3E', 'token <b>'],
  ['configs', 'Configs'],
  ['configs/token%20%3Cb%3E', 'token <b>'],
  ['audit', 'Audit'],
  ['settings', 'Settings'],
]

/** Screens that a caller without rights may open, and the text that names the missing permission. */
export const FORBIDDEN: [path: string, permission: string][] = [
  ['access', 'admin:principals:read'],
  ['roles', 'admin:roles:read'],
  ['secrets', 'admin:secrets:read'],
  ['configs', 'config:*:read'],
  ['audit', 'admin:audit:read'],
]

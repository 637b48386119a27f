import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { startSystem } from '@windlass/testkit/system'
import { expect, onTestFinished, test } from 'vitest'

const SOURCE = `
from windlass import ExecutionContext, task, workflow
from windlass.tasks import pause, sleep


@task
async def check(order: dict):
    if "amount" not in order:
        raise ValueError("the order has no amount")
    return order["amount"]


@task.with_options(requires_approval=True)
async def pay(amount: int):
    return f"paid {amount}"


@workflow
async def settle(context: ExecutionContext[dict]):
    print("settling")
    return await pay(await check(context.input))


@workflow
async def wait(context: ExecutionContext[int]):
    await sleep(context.input)


@workflow
async def ask(context: ExecutionContext):
    return [await pause("first"), await pause("second")]
`

/** A client of the MCP server of a new system, which checks each result against the output schema of its tool. */
async function startAgent() {
  const { mcpUrl } = await startSystem({ singleProcess: true })
  const client = new Client({ name: 'agent', version: '1' })
  onTestFinished(() => client.close())
  await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl)))
  const { tools } = await client.listTools()
  const called = new Set<string>()
  const call = async (name: string, args: object = {}): Promise<Record<string, unknown>> => {
    called.add(name)
    const result = await client.callTool({ name, arguments: args as Record<string, unknown> })
    expect(result.isError, JSON.stringify(result)).not.toBe(true)
    const { success, ...members } = result.structuredContent as Record<string, unknown>
    expect(success, JSON.stringify(members)).not.toBe(false)
    return members
  }
  return { call, names: tools.map(({ name }) => name), called }
}

const wait = { workflow_name: 'wait' }
const workflow = { workflow_name: 'settle' }

test('an agent runs, repairs, approves, cancels and schedules: each tool returns what its schema says', async () => {
  const { call, names, called } = await startAgent()
  const uploaded = await call('upload_workflow', { file_content: SOURCE })
  expect(uploaded.workflows).toEqual(['settle', 'wait', 'ask'])
  for (const name of ['list_workflows', 'list_namespaces', 'health_check', 'get_queue'])
    await call(name)
  for (const name of ['get_workflow_details', 'list_workflow_versions', 'get_workflow_configs'])
    await call(name, workflow)
  await call('get_workflow_version', { ...workflow, version: 1 })

  const failed = await call('execute_workflow_sync', { ...workflow, input_data: '{}' })
  expect(failed).toMatchObject({ state: 'FAILED', output: { message: 'the order has no amount' } })
  const { execution_id } = failed
  for (const tool of ['get_execution', 'get_execution_log', 'get_execution_timeline'])
    await call(tool, { execution_id })
  await call('get_execution', { execution_id, detailed: true })
  await call('explain_execution', { execution_id })
  await call('get_execution_status', { ...workflow, execution_id })
  const { lines } = await call('get_execution_output_lines', { execution_id })
  expect(lines).toMatchObject([{ message: 'settling' }])

  const again = await call('rerun_execution', { execution_id, input_data: '{"amount":5}' })
  const repaired = { execution_id: again.execution_id }
  const pending = async () => (await call('list_approvals', repaired)).approvals as object[]
  await expect.poll(pending, { timeout: 60_000 }).toHaveLength(1)
  const [approval] = (await pending()) as [{ task_call_id: string }]
  const asked = { ...repaired, task_call_id: approval.task_call_id }
  expect(await call('get_approval', asked)).toMatchObject({ approval: { status: 'pending' } })
  const approved = await call('approve_call', { ...asked, reason: 'fine' })
  expect(approved).toMatchObject({ approval: { status: 'approved', reason: 'fine' } })
  const output = async () => (await call('get_execution', repaired)).output
  await expect.poll(output, { timeout: 60_000 }).toBe('paid 5')
  await call('diff_executions', { execution_id, other_execution_id: again.execution_id })
  await call('fork_execution', { ...repaired, after_seq: 3, dry_run: true })

  const second = await call('execute_workflow_sync', { ...workflow, input_data: '{"amount":6}' })
  const paused = { execution_id: second.execution_id }
  expect(second).toMatchObject({ state: 'PAUSED', output: { type: 'approval_required' } })
  const { task_call_id } = second.output as { task_call_id: string }
  const rejected = await call('reject_call', { ...paused, task_call_id, reason: 'no' })
  expect(rejected).toMatchObject({ approval: { status: 'rejected' } })

  const ask = { workflow_name: 'ask', input_data: '' }
  const asking = await call('execute_workflow_sync', ask)
  const answer = { ...ask, execution_id: asking.execution_id, input_data: '1' }
  expect(await call('resume_workflow_sync', answer)).toMatchObject({ state: 'PAUSED' })
  await call('resume_workflow_async', answer)

  const run = { ...wait, input_data: '600', idempotency_key: 'one' }
  const started = await call('execute_workflow_async', run)
  expect(await call('execute_workflow_async', run)).toMatchObject({
    execution_id: started.execution_id,
  })
  const running = { ...wait, execution_id: started.execution_id }
  expect(await call('cancel_execution', { ...running, mode: 'sync' })).toMatchObject({
    status: { state: 'CANCELLED' },
  })
  for (const tool of ['list_executions', 'search_executions', 'get_execution_stats'])
    await call(tool)
  await call('list_workflow_executions', workflow)
  const failures = { action: 'rerun', ...workflow, state: 'failed', input_data: '{}' }
  const { count } = await call('change_executions', failures)
  const act = await call('change_executions', { ...failures, dry_run: false, expect: count })
  expect(await call('get_bulk_progress', { bulk_id: act.id })).toMatchObject({ done: count })

  const schedule_config = '{"type":"interval","interval_seconds":86400}'
  await call('create_schedule', { ...wait, name: 'daily', schedule_config, input_data: '1' })
  const schedule = { schedule_id: 'daily' }
  await call('list_schedules')
  await call('update_schedule', { ...schedule, description: 'x' })
  for (const verb of ['get', 'pause', 'resume']) await call(`${verb}_schedule`, schedule)
  await call('get_schedule_history', schedule)
  await call('delete_schedule', schedule)

  const { workers } = (await call('list_workers')) as { workers: [{ name: string }] }
  const worker = { worker_name: workers[0].name }
  await call('get_worker', worker)
  await call('get_worker_history', worker)
  await call('create_worker_token', { name: 'agent' })
  await call('list_worker_tokens')
  await call('revoke_worker_token', { name: 'agent' })
  await call('save_view', { view_name: 'mine', screen: 'executions' })
  await call('list_views')
  await call('delete_view', { view_name: 'mine' })
  await call('get_secret_uses', { secret_name: 'none' })
  await call('get_config_uses', { config_name: 'none' })
  expect(await call('verify_audit_log')).toMatchObject({ whole: true })
  await call('delete_workflow', wait)

  expect(names.filter((name) => !called.has(name))).toEqual([])
})

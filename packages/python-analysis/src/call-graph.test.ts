import { expect, test } from 'vitest'
import { analyseSource } from '../test/analysis-fixture.ts'

const TASKS = `from windlass import workflow, task, parallel, pipeline
@task.with_options(secret_requests=["FETCH"])
async def fetch(x): return x
@task.with_options(name="store_{x}", secret_requests=["STORE"], required_permissions=["db:write"])
def store(x): return x
@task.with_options(auth_exempt=True)
async def log(x): pass
@task.with_options(secret_requests=["UNUSED"])
async def unused(x): pass
`

/** Metadata of the workflow `job` with this body. */
function reached(body: string, around = '') {
  const source = `${TASKS}${around}\n@workflow.with_options(namespace="ns")\nasync def job(ctx):\n${body.replace(/^/gm, '    ')}\n`
  const workflows = analyseSource(source)
  return JSON.parse(workflows.find(({ name }) => name === 'job')?.metadata_json ?? '')
}

test.each([
  ['a call', 'return await fetch(1)', ['fetch']],
  ['calls of several tasks, sorted', 'store(1)\nlog(2)\nfetch(3)', ['fetch', 'log', 'store_{x}']],
  ['a task passed on', 'return await pipeline(fetch, store, input=1)', ['fetch', 'store_{x}']],
  ['calls passed on', 'return await parallel(*[fetch(i) for i in range(3)])', ['fetch']],
  ['a map', 'return await fetch.map([1])', ['fetch']],
  ['a call in an f-string', 'return f"{await fetch(1)}"', ['fetch']],
  [
    'a call in a nested function',
    'async def inner(): return await fetch(1)\nreturn await inner()',
    ['fetch'],
  ],
  ['a local alias', 'go = fetch\nreturn await go(1)', ['fetch']],
  ['a task as a default', 'def f(t=fetch): pass', ['fetch']],
  ['none', 'return 1', []],
  ['a name in a string or comment', 'return "fetch(1)"  # store(2)', []],
  ['an argument of the same name', 'return print(fetch=1)', []],
  ['an attribute of the same name', 'return ctx.fetch', []],
  ['a variable of the same name', 'fetch = 1\nreturn fetch', []],
])('%s in the body: tasks are found', (_, body, tasks) => {
  expect(reached(body).task_names).toEqual(tasks)
})

test.each([
  ['a function', 'def help(): return fetch(1)', 'help()', ['fetch']],
  ['functions that call each other', 'def a(): b()\ndef b(): a(); store(1)', 'a()', ['store_{x}']],
  ['a task that calls a task', '@task\ndef both(): fetch(1)', 'both()', ['both', 'fetch']],
  ['a list', 'STEPS = [fetch, store]', 'for s in STEPS: await s(1)', ['fetch', 'store_{x}']],
  ['a dictionary', 'BY = {"a": fetch}', 'await BY[ctx.input](1)', ['fetch']],
  ['a class', 'class Api:\n  def get(self): return fetch(1)', 'Api().get()', ['fetch']],
  [
    'a method',
    'class Api:\n  @task\n  async def get(self): pass\napi = Api()',
    'await api.get()',
    ['get'],
  ],
  ['a lambda', 'go = lambda: fetch(1)', 'go()', ['fetch']],
  [
    'a variant of a task',
    'fast = fetch.with_options(name="fast", secret_requests=["FAST"])',
    'fast(1)',
    ['fast'],
  ],
  ['a definition further down', 'x = 1', 'late(1)', ['late']],
])('%s outside the body: tasks are found', (_, around, body, tasks) => {
  const late = body.includes('late') ? '\n@task\nasync def late(x): pass\n' : ''
  const source = `${TASKS}${around}\n@workflow\nasync def job(ctx):\n    ${body}\n${late}`
  const [workflow] = analyseSource(source)
  expect(JSON.parse(workflow?.metadata_json ?? '').task_names).toEqual(tasks)
})

test('secrets and permissions: of the workflow and its reachable tasks only', () => {
  const metadata = reached('store(1)\nlog(1)', 'def nobody(): unused(1)')
  expect(metadata).toMatchObject({
    secret_requests: ['STORE'],
    required_permissions: ['db:write'],
    auth_exempt_tasks: ['log'],
  })
})

test('task.with_options: options of the variant count', () => {
  const body = 'await fetch.with_options(secret_requests=["OTHER"], timeout=1)(2)'
  expect(reached(body)).toMatchObject({ task_names: ['fetch'], secret_requests: ['OTHER'] })
})

test('separate_approver: the reachable tasks that declare it, absent for none', () => {
  const tasks = '@task.with_options(name="pay_{x}", separate_approver=True)\ndef pay(x): pass\n'
  expect(reached('await pay(1)\nlog(1)', tasks)).toMatchObject({
    separate_approver_tasks: ['pay_{x}'],
  })
  expect(reached('log(1)', tasks)).not.toHaveProperty('separate_approver_tasks')
  const computed = tasks.replace('=True', '=FLAG')
  expect(() => reached('await pay(1)', computed)).toThrow('separate_approver')
})

test('nested workflow: listed, its tasks are not', () => {
  const other = '@workflow\nasync def other(ctx):\n    await fetch(1)\n'
  expect(reached('await other(ctx)', other)).toMatchObject({
    nested_workflows: [['default', 'other']],
    task_names: [],
    secret_requests: [],
  })
})

test('recursive workflow: not listed as nested', () => {
  expect(reached('await job(ctx)').nested_workflows).toEqual([])
})

test('task with computed secrets: refused', () => {
  const around = '@task.with_options(secret_requests=secrets())\nasync def odd(): pass\n'
  expect(() => reached('odd()', around)).toThrow("secret_requests of task 'odd' in line 11")
})

import { expect, test } from 'vitest'
import { z } from 'zod'
import { routes } from '../routes/index.ts'
import { searchOf } from '../routes/search-query.ts'
import { accessTable } from './access-table.ts'
import { openapi } from './openapi.ts'

type Content = Record<string, { schema: Record<string, unknown> }>

interface Operation {
  operationId: string
  responses: Record<string, { content: Content }>
  parameters: { name: string; in: string; required: boolean; schema: Record<string, unknown> }[]
  requestBody?: { required: boolean; content: Record<string, unknown> }
  security: unknown[]
}

const document = openapi(routes) as {
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, unknown> }
}

test('OpenAPI document: contains every route but pages, and every reference resolves', () => {
  const operations = Object.values(document.paths).flatMap((path) => Object.keys(path))
  expect(operations).toHaveLength(routes.filter(({ isPage }) => !isPage).length)
  const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)
  for (const [, name = ''] of references) expect(document.components.schemas).toHaveProperty(name)
  expect(JSON.stringify(document)).not.toContain('$defs')
  for (const schema of Object.values(document.components.schemas))
    expect(schema).not.toHaveProperty('$ref')
})

test('OpenAPI parameters: the type that their text represents, with limits', () => {
  const list = document.paths['/executions']?.get
  expect(list?.parameters.find(({ name }) => name === 'limit')).toEqual({
    name: 'limit',
    in: 'query',
    required: false,
    schema: { type: 'integer', minimum: 1, maximum: 1000, default: 50 },
  })
  const run = document.paths['/workflows/{namespace}/{workflow_name}/run/{mode}']?.post
  expect(run?.parameters.find(({ name }) => name === 'mode')?.schema).toMatchObject({
    enum: ['sync', 'async', 'stream'],
  })
  expect(run?.parameters.find(({ name }) => name === 'detailed')?.schema).toMatchObject({
    type: 'boolean',
  })
  expect(run?.requestBody?.required).toBe(false)
  expect(document.paths['/health']?.get?.security).toEqual([])
})

const operations = Object.values(document.paths).flatMap((path) => Object.values(path))

test('OpenAPI operations: each has an id of its own; the document names its server', () => {
  const ids = operations.map(({ operationId }) => operationId)
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z0-9]+$/)
  expect(document.paths['/executions/{execution_id}']?.get?.operationId).toBe('getExecution')
  expect(document.servers).toEqual([{ url: '/', description: 'The server of this document' }])
})

test('OpenAPI answers: pages and streams have their media types', () => {
  const typesOf = (path: string, method: string) =>
    Object.keys(document.paths[path]?.[method]?.responses['200']?.content ?? {})
  expect(typesOf('/docs', 'get')).toEqual(['text/html'])
  for (const [path, method] of [
    ['/workflows/{namespace}/{workflow_name}/run/{mode}', 'post'],
    ['/workflows/{namespace}/{workflow_name}/resume/{execution_id}/{mode}', 'post'],
    ['/executions/{execution_id}', 'get'],
  ] as const)
    expect(typesOf(path, method)).toEqual(['application/json', 'text/event-stream'])
  expect(typesOf('/executions/{execution_id}/events', 'get')).toEqual(['text/event-stream'])
})

test('OpenAPI refusals of approvals: their own formats', () => {
  const path = '/executions/{execution_id}/approvals/{task_call_id}/approve'
  const { responses } = document.paths[path]?.post ?? {}
  const schemaAt = (status: string) => JSON.stringify(responses?.[status]?.content)
  expect(schemaAt('409')).toContain('AlreadyDecided')
  expect(schemaAt('404')).toContain('ApprovalNotFound')
})

test('OpenAPI names: path parameters and members have the patterns of their grammars', () => {
  for (const operation of operations)
    for (const { name, in: where, schema } of operation.parameters)
      if (where === 'path')
        expect(schema.pattern ?? schema.enum ?? schema.minimum, name).toBeDefined()
  const patterns = JSON.stringify(document.components.schemas).match(/"pattern":/g) ?? []
  expect(patterns.length).toBeGreaterThan(10)
})

test('routes: unique by method and path, each with an access', () => {
  const keys = routes.map(({ method, path }) => `${method} ${path}`)
  expect(new Set(keys).size).toBe(keys.length)
  const table = accessTable(routes)
  for (const { path } of routes) expect(table).toContain(`\`${path}\``)
  expect(table).toContain(
    '| GET | `/workflows/{namespace}/{workflow_name}/cancel/{execution_id}` | · | · | · | yes | · | yes | · | · | `workflow:{namespace}:{workflow_name}:run` |',
  )
})

/** Routes that the console was given. Answers of `input` and so on are any JSON, and streams and messages have no example. */
const WITH_EXAMPLES = [
  ...['getMe', 'checkPermissions', 'listExecutions', 'listWorkflowExecutions', 'readLog'],
  ...['readTimeline', 'getStats', 'getQueue', 'listWorkerExecutions', 'getWorkerHistory'],
  ...['rerunExecution', 'forkExecution', 'diffExecutions', 'bulkExecutions', 'getBulkProgress'],
  ...['getSecretUses', 'getConfigUses', 'getAuditHead', 'listViews', 'putView', 'crashWorker'],
  'listSessions',
]

/** The alternatives of a schema, itself if there are none. */
const alternatives = (type: z.ZodType): z.ZodType[] =>
  type instanceof z.ZodUnion ? (type.options as z.ZodType[]) : [type]

test.each(WITH_EXAMPLES)(
  '%s: its body and its answers have examples that match their schemas',
  (id) => {
    const { body, returns } = routes.find(({ operationId }) => operationId === id) ?? {}
    if (!returns) throw new Error(`no route ${id}`)
    for (const type of [...(body?.schema ? [body.schema] : []), ...alternatives(returns)]) {
      const { id: name = '', examples = [] } = type.meta() ?? {}
      expect(document.components.schemas[name], name).toHaveProperty('examples', examples)
      expect((examples as unknown[]).length, name).toBeGreaterThan(0)
      for (const example of examples as unknown[])
        expect(type.safeParse(example).error, name).toBeUndefined()
    }
  },
)

test('filters of GET /executions: each has an example, and all of them together are a valid search', () => {
  const filters = document.paths['/executions']?.get?.parameters ?? []
  const given = filters.filter(({ name }) => !['sort', 'cursor', 'limit', 'offset'].includes(name))
  expect(given.length).toBeGreaterThan(15)
  const query = new URLSearchParams(
    given.map(({ name, schema }): [string, string] => [
      name,
      String((schema.examples as unknown[])?.[0]),
    ]),
  )
  const list = routes.find(({ operationId }) => operationId === 'listExecutions')
  const read = list?.readQuery(`?${query}`) as Parameters<typeof searchOf>[0]
  expect(searchOf(read)).toMatchObject({ states: ['FAILED', 'PAUSED'], workflow_version: 3 })
})

import { expect, test } from 'vitest'
import { routes } from '../routes/index.ts'
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

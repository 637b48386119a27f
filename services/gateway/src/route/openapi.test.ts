import { expect, test } from 'vitest'
import { routes } from '../routes/index.ts'
import { accessTable } from './access-table.ts'
import { openapi } from './openapi.ts'

interface Operation {
  parameters: { name: string; in: string; required: boolean; schema: Record<string, unknown> }[]
  requestBody?: { required: boolean; content: Record<string, unknown> }
  security: unknown[]
}

const document = openapi(routes) as {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, unknown> }
}

test('OpenAPI document: contains every route, and every reference resolves', () => {
  const operations = Object.values(document.paths).flatMap((path) => Object.keys(path))
  expect(operations).toHaveLength(routes.length)
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

test('routes: unique by method and path, each with an access', () => {
  const keys = routes.map(({ method, path }) => `${method} ${path}`)
  expect(new Set(keys).size).toBe(keys.length)
  const table = accessTable(routes)
  for (const { path } of routes) expect(table).toContain(`\`${path}\``)
  expect(table).toContain(
    '| GET | `/workflows/{namespace}/{workflow_name}/cancel/{execution_id}` | · | · | · | yes | · | yes | · | · | `workflow:{namespace}:{workflow_name}:run` |',
  )
})

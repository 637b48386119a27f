import { connect } from 'node:net'
import { invalid } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { startGateway, workflow } from './gateway-fixture.ts'

const LIMIT = 10_000

interface Declared {
  imports?: string[]
  runner?: string
  lacking?: string[]
}

/**
 * Starts a gateway whose catalog finds one workflow, named by the first word of the source, with the given
 * imports and runner; its only worker lacks what is named.
 */
async function withCatalog({ imports = [], runner = '', lacking = [] }: Declared = {}) {
  const sources: string[] = []
  const reconciled: string[] = []
  const find = (source: Buffer) => {
    const name = source.toString().split(' ')[0] ?? ''
    if (name === '') throw invalid('No workflow found in the provided code.')
    const requirement = { packages: [], affinity: {}, runner }
    return { workflows: [workflow({ name, namespace: 'n1', version: 4, imports, requirement })] }
  }
  const made = await startGateway(
    {
      catalog: {
        analyze: async ({ source }) => find(source),
        async register({ source, if_changed }) {
          sources.push(`${source}${if_changed ? ' if changed' : ''}`)
          return find(source)
        },
      },
      fleet: {
        async explain({ requirement }) {
          const asked = [
            `runner '${requirement?.runner}'`,
            ...(requirement?.packages ?? []).map((name) => `package '${name}'`),
          ]
          const lacks = lacking.filter((part) => asked.includes(part))
          const one = { name: 'w', status: 'online', lacking: lacks, capacity: 0 }
          return { verdicts: [{ ...one, namespaces: undefined }], needs: [] }
        },
      },
      scheduler: {
        async reconcile({ workflow_namespace, workflow_name }) {
          reconciled.push(`${workflow_namespace}/${workflow_name}`)
          return {}
        },
      },
    },
    { MAX_WORKFLOW_UPLOAD_BYTES: String(LIMIT) },
  )
  const send = (form: FormData, query = '') =>
    fetch(`${made.url}/workflows${query}`, { method: 'POST', body: form })
  return { ...made, send, sources, reconciled }
}

const form = (...fields: [name: string, content: string | Blob][]) => {
  const form = new FormData()
  for (const [name, content] of fields) form.append(name, content)
  return form
}

const file = (text: string) => new Blob([text], { type: 'text/x-python' })

test('an upload: its workflows are answered and their schedules reconciled', async () => {
  const { send, sources, reconciled } = await withCatalog()
  const response = await send(form(['file', file('hello # grüße')]))
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual([{ namespace: 'n1', name: 'hello', version: 4 }])
  expect(sources).toEqual(['hello # grüße'])
  expect(reconciled).toEqual(['n1/hello'])
})

test('a dry run: the declarations of the source, nothing is stored', async () => {
  const { send, sources, reconciled } = await withCatalog()
  const response = await send(form(['file', file('hello')]), '?dry_run=true')
  expect(response.status).toBe(200)
  const draft = { imports: [], requests: {}, affinity: null, metadata: { task_names: [] } }
  expect(await response.json()).toEqual([
    { namespace: 'n1', name: 'hello', version: null, ...draft },
  ])
  expect((await send(form(['file', file(' x')]), '?dry_run=1')).status).toBe(400)
  expect((await send(form(['file', file('hello')]), '?dry_run=perhaps')).status).toBe(422)
  expect([sources, reconciled]).toEqual([[], []])
})

test('an import and a runner that the worker lacks: warnings in the answer', async () => {
  const { send } = await withCatalog({
    imports: ['yaml', 'httpx.get', 'json'],
    runner: 'docker',
    lacking: ["runner 'docker'", "package 'pyyaml'"],
  })
  const warnings = [
    expect.stringContaining("offers the runner 'docker'"),
    expect.stringContaining("reports the import 'yaml' (package 'pyyaml')"),
  ]
  const stored = await send(form(['file', file('hello')]))
  expect(await stored.json()).toEqual([{ namespace: 'n1', name: 'hello', version: 4, warnings }])
  const draft = await send(form(['file', file('hello')]), '?dry_run=true')
  expect(await draft.json()).toEqual([expect.objectContaining({ version: null, warnings })])
})

test('if_changed=true: passed on to the catalog', async () => {
  const { send, sources } = await withCatalog()
  expect((await send(form(['file', file('hello')]), '?if_changed=true')).status).toBe(200)
  expect(sources).toEqual(['hello if changed'])
})

test('N114: a source of exactly the limit: 200; one byte more: 413', async () => {
  const { send, sources } = await withCatalog()
  const sized = (size: number) => send(form(['file', file('w '.padEnd(size, 'x'))]))
  expect((await sized(LIMIT)).status).toBe(200)
  for (const size of [LIMIT + 1, LIMIT * 2, 3_000_000]) {
    const response = await sized(size)
    expect(response.status).toBe(413)
    expect(await response.json()).toEqual({
      detail: 'Workflow source too large: more than 10000 bytes',
    })
  }
  expect(sources).toHaveLength(1)
  expect((await sized(100)).status).toBe(200)
})

const forms: Record<string, [form: FormData, status: number]> = {
  'without a field': [form(['x', '1']), 422],
  'with another field name': [form(['File', file('a')]), 422],
  'with text instead of a file': [form(['file', 'a']), 422],
  'with two files': [form(['file', file('a')], ['file', file('b')]), 400],
  'with three files': [form(...['a', 'b', 'c'].map((n): [string, Blob] => [n, file(n)])), 400],
  'with 500 fields': [
    form(...Array.from({ length: 500 }, (_, i): [string, string] => [`f${i}`, 'x'])),
    400,
  ],
  'with fields longer than the source limit': [
    form(...Array.from({ length: 10_000 }, (_, i): [string, string] => [`f${i}`, 'x'])),
    413,
  ],
  'with an empty file': [form(['file', file('')]), 400],
  'with another field next to the file': [form(['note', 'x'], ['file', file('a')]), 200],
}

test.each(Object.entries(forms).map(([what, [body, status]]) => [what, status, body] as const))(
  'N115: a form %s: %i',
  async (_, status, body) => {
    const { send, sources } = await withCatalog()
    const response = await send(body)
    expect(response.status).toBe(status)
    if (status !== 200) {
      expect(await response.json()).toHaveProperty('detail')
      expect(sources).toEqual([])
    }
  },
)

const types: Record<string, [body: string, type: string, status: number]> = {
  JSON: ['{}', 'application/json', 422],
  nothing: ['', '', 422],
  'no boundary': ['--x', 'multipart/form-data', 400],
  'an empty boundary': ['--x', 'multipart/form-data; boundary=', 400],
  'another boundary': ['--aaa\r\nbroken', 'multipart/form-data; boundary=bbb', 400],
  'a boundary of 10 kB': ['--x', `multipart/form-data; boundary=${'x'.repeat(10_000)}`, 400],
  'a truncated file': [
    '--x\r\nContent-Disposition: form-data; name="file"; filename="../../x"\r\n\r\nabc',
    'multipart/form-data; boundary=x',
    400,
  ],
  'a name with a line end': [
    '--x\r\nContent-Disposition: form-data; name="fi\r\nle"; filename="x"\r\n\r\nabc\r\n--x--\r\n',
    'multipart/form-data; boundary=x',
    400,
  ],
  'a form in a form': [
    '--x\r\nContent-Disposition: form-data; name="file"\r\nContent-Type: multipart/mixed; boundary=y\r\n\r\n--y\r\n\r\na\r\n--y--\r\n--x--\r\n',
    'multipart/form-data; boundary=x',
    422,
  ],
}

test.each(
  Object.entries(types).map(([what, [body, type, status]]) => [what, status, body, type] as const),
)('N115: an upload of %s: %i', async (_, status, body, type) => {
  const { call, sources } = await withCatalog()
  const headers: Record<string, string> = type === '' ? {} : { 'content-type': type }
  const response = await call('POST', '/workflows', { body: Buffer.from(body), headers })
  expect(response.status).toBe(status)
  expect(await response.json()).toHaveProperty('detail')
  expect(sources).toEqual([])
})

test('an upload that breaks off: nothing is registered, the next one succeeds', async () => {
  const { url, send, sources } = await withCatalog()
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket
    .resume()
    .write(
      'POST /workflows HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n' +
        'Content-Type: multipart/form-data; boundary=x\r\n\r\n' +
        '--x\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nabc',
    )
  socket.end()
  await new Promise((resolve) => socket.once('close', resolve))
  expect((await send(form(['file', file('hello')]))).status).toBe(200)
  expect(sources).toEqual(['hello'])
})

test('a source that cannot be analysed: 400 with the reason', async () => {
  const { send } = await withCatalog()
  const response = await send(form(['file', file(' x = 1')]))
  expect(response.status).toBe(400)
  expect(await response.json()).toEqual({ detail: 'No workflow found in the provided code.' })
})

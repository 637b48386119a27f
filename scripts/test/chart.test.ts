import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { parseKeys, RPC_SERVICES } from '../../packages/rpc/src/pair-keys.ts'

// What needs no helm; `npm run test:deploy` renders the chart.
const CHART = new URL('../../deploy/helm/windlass/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, CHART), 'utf8')

type Values = { [key: string]: unknown }
const values = parse(read('values.yaml')) as Values
const isValid = new Ajv().compile(JSON.parse(read('values.schema.json')))
const sets = readdirSync(new URL('value-sets/', CHART))

test.each(['values.yaml', ...sets.map((name) => `value-sets/${name}`)])(
  'the values of %s: are accepted by the schema',
  (name) => {
    isValid(parse(read(name)))
    expect(isValid.errors).toBeNull()
  },
)

test('a misspelt value: is refused by the schema', () => {
  expect(isValid({ services: { gateway: { replica: 2 } } })).toBe(false)
  expect(isValid.errors?.[0]).toMatchObject({ params: { additionalProperty: 'replica' } })
})

test('each value that a template reads: has a default', () => {
  const templates = readdirSync(new URL('templates/', CHART)).map((name) =>
    read(`templates/${name}`),
  )
  const paths = templates.flatMap((text) =>
    [...text.matchAll(/(?:\.Values|\$values)((?:\.\w+)+)/g)].map(([, path = '']) => path.slice(1)),
  )
  expect(paths.length).toBeGreaterThan(30)
  const missing = paths.filter((path) => valueAt(path) === undefined && !ofOneService(path))
  expect(missing).toEqual([])
})

const valueAt = (path: string) =>
  path.split('.').reduce<unknown>((value, key) => (value as Values | undefined)?.[key], values)

/** `$values` is one of `services` in a part of the templates. */
const ofOneService = (path: string) =>
  (path.split('.')[0] as string) in ((values.services as Values).gateway as Values)

test('secret.sh: prints each key that the chart refers to, with the pair keys of each service', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'windlass-secret-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'windlass.env')
  const deploy = fileURLToPath(new URL('../../', CHART))
  execFileSync('sh', [path.join(deploy, 'secrets.sh'), file])
  const stores = {
    POSTGRES: 'pg:5432/w',
    NATS: 'tls://n1:4222,tls://n2:4222',
    REDIS: 'redis://r',
  }
  const text = execFileSync('sh', [path.join(deploy, 'helm/secret.sh'), file], {
    encoding: 'utf8',
    env: { ...process.env, ...stores },
  })
  const { stringData } = parse(text) as { stringData: Record<string, string> }
  for (const service of RPC_SERVICES)
    parseKeys(service, stringData[`rpc-keys-${service}`]?.split(',') ?? [])
  expect(stringData['nats-url-gateway']).toMatch(/^tls:\/\/gateway:\w+@n1:4222,tls:\/\/n2:4222$/)
  const helpers = read('templates/_helpers.tpl')
  const kinds = [...helpers.matchAll(/"key" (?:\(printf )?"([\w-]+?)(?:-%s)?"/g)].map(
    ([, key]) => key,
  )
  expect(kinds.length).toBeGreaterThan(5)
  for (const kind of kinds)
    expect(
      Object.keys(stringData).some((key) => key === kind || key.startsWith(`${kind}-`)),
      kind,
    ).toBe(true)
})

import { expect, test } from 'vitest'
import { importedPackages } from './imported-packages.ts'
import { importWarnings, runnerWarnings } from './upload-warnings.ts'

const worker = (...lacking: string[]) => ({ status: 'online', lacking, namespaces: undefined })
const offline = { ...worker(), status: 'offline' }
const restricted = (...names: string[]) => ({ ...worker(), namespaces: { names } })

test.each([
  ['the standard library, the SDK, no ASCII', ['os.path', 'windlass.task', 'größe', ''], {}],
  ['a namespace of several distributions', ['google.cloud.storage'], {}],
  ['a module of the same name', ['httpx', 'httpx.AsyncClient'], { httpx: ['httpx'] }],
  ['a module of another name', ['yaml'], { yaml: ['pyyaml'] }],
  [
    'a module of several distributions',
    ['psycopg2.extras'],
    { psycopg2: ['psycopg2', 'psycopg2-binary'] },
  ],
])('imports, %s: their distributions', (_, imports, packages) => {
  expect(Object.fromEntries(importedPackages(imports))).toEqual(packages)
})

test('imports of 1,000 modules: 50 are compared', () => {
  const imports = Array.from({ length: 1_000 }, (_, i) => `module${i}`)
  expect(importedPackages(imports).size).toBe(50)
})

const PACKAGES = importedPackages(['yaml', 'psycopg2', 'httpx'])
const LACKS_YAML = "package 'pyyaml'"
const LACKS_ALL = [LACKS_YAML, "package 'psycopg2'", "package 'psycopg2-binary'", "package 'httpx'"]

test.each([
  ['no worker', [], []],
  ['an offline worker that lacks one', [{ ...offline, lacking: [LACKS_YAML] }], []],
  ['a worker that lacks one', [worker(LACKS_YAML)], ['yaml']],
  ['a worker with one of two distributions', [worker("package 'psycopg2'")], []],
  ['workers of which one has it', [worker(LACKS_YAML), worker()], []],
  ['an offline worker that has it', [worker(LACKS_YAML), offline], ['yaml']],
  ['a worker of another namespace that has it', [worker(LACKS_YAML), restricted('b')], ['yaml']],
  ['a worker of this namespace that has it', [worker(LACKS_YAML), restricted('a')], []],
  ['a worker that lacks all', [worker(...LACKS_ALL)], ['yaml', 'psycopg2', 'httpx']],
])('fleet with %s: a warning for each import that none has', (_, fleet, modules) => {
  const warnings = importWarnings('a', PACKAGES, fleet)
  expect(warnings.map((text) => /the import '(.*?)'/.exec(text)?.[1])).toEqual(modules)
})

test('an import of another name than its package: the warning names both', () => {
  const [warning] = importWarnings('a', importedPackages(['yaml']), [worker(LACKS_YAML)])
  expect(warning).toContain("reports the import 'yaml' (package 'pyyaml')")
})

test.each([
  ['no worker', 'none', []],
  ['a worker without it', 'one', [worker("runner 'docker'")]],
  ['a worker with it', 'none', [worker("runner 'docker'"), worker()]],
  ['an offline worker with it', 'one', [worker("runner 'docker'"), offline]],
])('a runner, fleet with %s: %s of the warnings', (_, expected, verdicts) => {
  const warnings = runnerWarnings('a', { runner: 'docker', verdicts })
  expect(warnings).toHaveLength(expected === 'one' ? 1 : 0)
})

import { describe, expect, test } from 'vitest'
import { cyclesOf, levelsOf } from '../lint/lib/graph.ts'
import { pythonImports, scriptImports } from '../lint/lib/import-graph.ts'
import { refuseImport } from '../lint/lib/layers.ts'
import { findRepeatedNames } from '../lint/lib/repeated-names.ts'

/** Graph of `{ a: 'b c' }`: a imports b and c. */
const graphOf = (edges: Record<string, string>) =>
  new Map(
    Object.entries(edges).map(([file, targets]) => [
      file,
      new Set(targets.split(' ').filter(Boolean)),
    ]),
  )

describe('imports of TypeScript', () => {
  test('every form of import: found', () => {
    const source = `
      import './effect.ts'
      import a, { type B } from './static.ts'
      import type { C } from './type.ts'
      export { d } from './export.ts'
      const e = await import('./dynamic.ts')
      let f: import('./inline-type.ts').F`
    expect(scriptImports(source)).toEqual([
      './effect.ts',
      './static.ts',
      './type.ts',
      './export.ts',
      './dynamic.ts',
      './inline-type.ts',
    ])
  })

  test('comments, strings and other calls: not found', () => {
    const source = `
      // import './comment.ts'
      const text = "import './text.ts'"
      load('./call.ts')
      const path = Array.from('./array.ts')`
    expect(scriptImports(source)).toEqual([])
  })
})

describe('imports of Python', () => {
  test('every form of import: found, a module before the package that may define the name', () => {
    const source = `"""import doc"""
import a.b, c  # import d
from e import (
    f as g,
    h,
)
if TYPE_CHECKING:
    from ._i import j
from . import k
`
    expect(pythonImports(source)).toEqual([
      ['a.b'],
      ['c'],
      ['e.f', 'e'],
      ['e.h', 'e'],
      ['._i.j', '._i'],
      ['.k', '.'],
    ])
  })
})

describe('graph', () => {
  test('files that import each other over any number of steps: one cycle', () => {
    const graph = graphOf({ a: 'b', b: 'c', c: 'a d', d: 'e', e: 'd', f: 'a' })
    const cycles = cyclesOf(graph).sort((one, other) => other.length - one.length)
    expect(cycles).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e'],
    ])
  })

  test('files that are reached on two paths: no cycle', () => {
    expect(cyclesOf(graphOf({ a: 'b c', b: 'd', c: 'd', d: '' }))).toEqual([])
  })

  test('levels: files on the longest path, a cycle counted as one', () => {
    const all = () => true
    expect(levelsOf(graphOf({ a: 'b d', b: 'c', c: 'd', d: '' }), all)).toBe(4)
    expect(levelsOf(graphOf({ a: 'b', b: 'a c', c: '' }), all)).toBe(2)
    expect(levelsOf(graphOf({ a: 'b', b: 'c', c: '' }), (file) => file !== 'b')).toBe(1)
  })
})

describe('direction of imports', () => {
  test.each([
    ['services/executions/src/store/a.ts', 'services/executions/src/handlers/b.ts'],
    ['services/executions/src/engine/a.ts', 'services/executions/src/loops/b.ts'],
    ['services/executions/src/domain/a.ts', 'services/executions/src/store/b.ts'],
    ['services/executions/src/requirement.ts', 'services/executions/src/handlers/b.ts'],
    ['services/executions/src/handlers/a.ts', 'services/executions/src/server.ts'],
    ['services/executions/src/a.ts', 'services/catalog/src/b.ts'],
    ['services/executions/src/a.ts', 'packages/testkit/src/b.ts'],
    ['services/executions/src/a.ts', 'tests/e2e/b.ts'],
    ['services/gateway/src/routes/a.ts', 'services/gateway/src/http/start-server.ts'],
    ['services/gateway/src/access/a.ts', 'services/gateway/src/routes/b.ts'],
    ['services/gateway/src/clients/a.ts', 'services/gateway/src/access/b.ts'],
    ['packages/runtime/src/a.ts', 'packages/domain/src/b.ts'],
    ['packages/domain/src/a.ts', 'services/catalog/src/b.ts'],
  ])('%s imports %s: refused', (file, target) => {
    expect(refuseImport(file, target)).toMatch(/ must not import /)
  })

  test.each([
    ['services/executions/src/handlers/a.ts', 'services/executions/src/engine/b.ts'],
    ['services/executions/src/engine/a.ts', 'services/executions/src/engine/cache/b.ts'],
    ['services/executions/src/engine/a.ts', 'packages/domain/src/b.ts'],
    ['services/executions/src/store/a.test.ts', 'services/executions/src/handlers/b.ts'],
    ['services/executions/test/a.ts', 'packages/testkit/src/b.ts'],
    ['services/gateway/src/routes/a.ts', 'services/gateway/src/http/request-context.ts'],
    ['services/gateway/src/http/start-server.ts', 'services/gateway/src/routes/index.ts'],
    ['packages/rpc/src/a.ts', 'packages/domain/src/b.ts'],
    ['packages/domain/src/a.ts', 'proto/gen/b.ts'],
  ])('%s imports %s: allowed', (file, target) => {
    expect(refuseImport(file, target)).toBeUndefined()
  })
})

test('two files of one service with the same name: found', () => {
  const files = [
    'services/a/src/store/rows.ts',
    'services/a/src/engine/rows.ts',
    'services/b/src/store/rows.ts',
    'services/a/test/rows.ts',
  ]
  expect(findRepeatedNames(files)).toEqual([
    'services/a/src/store/rows.ts and services/a/src/engine/rows.ts have the same name',
  ])
})

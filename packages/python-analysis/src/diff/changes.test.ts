import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findDeclaredChanges } from './declared-changes.ts'
import { diffSources } from './source-change.ts'

const lines = (...of: string[]) => of.map((line) => `${line}\n`).join('')

test('changed line: shown with three lines of context', () => {
  const older = lines('1', '2', '3', '4', '5', '6', '7', '8', '9')
  expect(diffSources(older, older.replace('5\n', 'five\nmore\n'))).toEqual({
    added: 2,
    removed: 1,
    patch: lines('@@ -2,7 +2,8 @@', ' 2', ' 3', ' 4', '-5', '+five', '+more', ' 6', ' 7', ' 8'),
  })
})

test('equal texts: no patch; missing last line end: a change', () => {
  expect(diffSources('a\n', 'a\n')).toEqual({ added: 0, removed: 0, patch: '' })
  expect(diffSources('a', 'a\n').patch).toContain('\\ No newline at end of file')
})

test('texts with too many differences: one hunk, in bounded time', () => {
  const text = (word: string) =>
    lines('head', ...Array.from({ length: 40_000 }, (_, i) => `${word} ${i}`), 'tail')
  const begun = performance.now()
  const found = diffSources(text('a'), text('b'))
  expect(performance.now() - begun).toBeLessThan(10_000)
  expect([found.added, found.removed]).toEqual([40_000, 40_000])
  expect(found.patch.split('\n', 2)).toEqual(['@@ -2,40000 +2,40000 @@', '-a 0'])
})

/** Applies a patch to a text. */
function patched(text: string, patch: string): string[] {
  const result = text.split('\n')
  let shift = 0
  for (const hunk of patch.split(/^(?=@@ )/m).filter(Boolean)) {
    const [head = '', ...body] = hunk.split('\n')
    const [, start = '', count = ''] = /^@@ -(\d+),(\d+)/.exec(head) ?? []
    const kept = body.filter((line) => line[0] === ' ' || line[0] === '+').map((l) => l.slice(1))
    const at = Number(start) - (Number(count) === 0 ? 0 : 1) + shift
    result.splice(at, Number(count), ...kept)
    shift += kept.length - Number(count)
  }
  return result
}

test('patch applied to the older text: yields the newer text', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', '', '  d', '-e', '+f', '@@'), { maxLength: 40 })
    .map((all) => lines(...all, 'end'))
  fc.assert(
    fc.property(text, text, (older, newer) => {
      expect(patched(older, diffSources(older, newer).patch)).toEqual(newer.split('\n'))
    }),
  )
})

test('changed declarations: listed, without the input schema', () => {
  const version = (metadata: object, requests = 'null') => ({
    metadata_json: JSON.stringify(metadata),
    requests_json: requests,
    affinity_json: 'null',
    imports: ['windlass.workflow'],
  })
  const older = version({
    task_names: ['a'],
    durability: 'durable',
    input_schema: { type: 'null' },
  })
  const newer = version({ task_names: ['a', 'b'], runner: 'docker' }, '{"cpu":1}')
  expect(findDeclaredChanges(older, newer)).toEqual([
    { member: 'metadata.task_names', from_json: '["a"]', to_json: '["a","b"]' },
    { member: 'metadata.durability', from_json: '"durable"', to_json: '' },
    { member: 'requests', from_json: '', to_json: '{"cpu":1}' },
    { member: 'metadata.runner', from_json: '', to_json: '"docker"' },
  ])
  expect(findDeclaredChanges(older, older)).toEqual([])
})

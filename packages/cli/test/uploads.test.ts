import { expect, test } from 'vitest'
import { cliFixture, writeSource } from './cli-fixture.ts'

test('workflow upload --dry-run and --if-changed, workflow diff: their requests and output', async () => {
  const { api, windlass } = await cliFixture()
  const draft = '[{"namespace":"default","name":"a","version":null}]'
  api.answers.set('POST /workflows?dry_run=true', { body: draft })
  api.answers.set('POST /workflows?if_changed=true', { body: draft.replace('null', '7') })
  api.answers.set('GET /workflows/default/a/versions/1/diff/7', { body: '{"declared":[]}' })
  const file = await writeSource('# source\n')
  const tried = await windlass('workflow', 'upload', '--dry-run', file)
  expect(tried).toMatchObject({ status: 0, out: `${draft}\n` })
  const kept = await windlass('workflow', 'upload', '--if-changed', file)
  expect(kept.out).toBe('  NAMESPACE  NAME  VERSION\n  default    a     7\n')
  const warned = draft.replace('null', '7,"warnings":["no worker"]')
  api.answers.set('POST /workflows?if_changed=true', { body: warned })
  const other = await windlass('workflow', 'upload', '--if-changed', file)
  expect(other).toMatchObject({ status: 0, out: kept.out, err: 'warning: no worker\n' })
  const compared = await windlass('workflow', 'diff', 'a', '1', '7')
  expect(compared).toMatchObject({ status: 0, out: '{"declared":[]}\n' })
})

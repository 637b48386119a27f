import { expect, test } from 'vitest'
import { cliFixture } from './cli-fixture.ts'

const READS: [argv: string[], route: string, answer: string, out: RegExp][] = [
  [['workflow', 'show', 't/a'], '/workflows/t/a', '{"id": 1.0}', /^\{"id": 1\.0\}\n$/],
  [['workflow', 'show', 'a', '2'], '/workflows/default/a/versions/2', '{"id":"x"}', /"x"/],
  [
    ['workflow', 'versions', 'a'],
    '/workflows/default/a/versions',
    '[{"id":"i","name":"a","version":3}]',
    /3 +a +i\n$/,
  ],
  [['namespace', 'list'], '/namespaces', '[{"namespace":"t","workflow_count":4}]', /t +4\n$/],
]

test.each(READS)('%j: reads its route and prints the answer', async (argv, route, body, out) => {
  const { api, windlass } = await cliFixture()
  api.answers.set(`GET ${route}`, { body })
  const shown = await windlass(...argv)
  expect(shown.status).toBe(0)
  expect(shown.out).toMatch(out)
})

test('workflow delete: deletes one version or all, and nothing without an option', async () => {
  const { api, windlass } = await cliFixture()
  api.answers.set('DELETE /workflows/default/a?version=2', { body: '{"message":"one"}' })
  api.answers.set('DELETE /workflows/default/a', { body: '{"message":"all"}' })
  expect((await windlass('workflow', 'delete', 'a', '--version', '2')).out).toBe('one\n')
  expect((await windlass('workflow', 'delete', 'a', '--all')).out).toBe('all\n')
  for (const wrong of [[], ['--all', '--version', '2'], ['--version', '0']])
    expect((await windlass('workflow', 'delete', 'a', ...wrong)).status).toBe(2)
  expect(api.seen).toHaveLength(2)
})

import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT } from '../bootstrap/data-dir.mjs'

interface Case {
  name: string
  filters: string[]
  path: string
  query(): Record<string, string>
}

interface Operation {
  parameters: { name: string; in: string }[]
}

const { SEARCHES, STATISTICS } = (await import('../../bench/search/cases.mjs' as string)) as {
  SEARCHES: Case[]
  STATISTICS: Case[]
}

const documented = (route: string): string[] => {
  const { paths } = JSON.parse(readFileSync(path.join(PROJECT, 'docs/openapi.json'), 'utf8')) as {
    paths: Record<string, { get: Operation }>
  }
  return (paths[route]?.get.parameters ?? [])
    .filter((one) => one.in === 'query')
    .map(({ name }) => name)
    .sort()
}

const measured = (cases: Case[]) => [...new Set(cases.flatMap(({ filters }) => filters))].sort()

test('the benchmark of searches: each documented parameter of the list and of the statistics is measured', () => {
  expect(measured(SEARCHES)).toEqual(documented('/executions'))
  expect(measured(STATISTICS)).toEqual(documented('/executions/stats'))
})

test('the benchmark of searches: each filter is measured alone, or with one filter that accompanies it', () => {
  const pages = ['sort', 'cursor', 'limit', 'offset']
  for (const name of documented('/executions').filter((one) => !pages.includes(one))) {
    const single = SEARCHES.filter(
      ({ filters }) =>
        filters[0] === name && filters.length <= 2 && !pages.includes(filters[1] ?? ''),
    )
    expect(single.length, name).toBeGreaterThan(0)
  }
})

test('the benchmark of searches: names of cases are unique', () => {
  const names = [...SEARCHES, ...STATISTICS].map(({ name }) => name)
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
})

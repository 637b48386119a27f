import { expect, test } from 'vitest'
import { textOf } from './rows.ts'

const row = {
  execution_id: '01',
  workflow_namespace: 'default',
  workflow_name: '=cmd()',
  state: 'FAILED',
  worker_name: '',
  created_at: '2026-11-23T08:00:00Z',
  updated_at: '2026-11-23T08:00:01Z',
  finished_at: null,
  error: 'said "no",\nthen stopped',
}

test('CSV: quoted cells, and no text that a spreadsheet would compute', () => {
  expect(textOf([row], 'csv')).toBe(
    'execution_id,workflow_namespace,workflow_name,state,worker_name,created_at,updated_at,finished_at,error\r\n' +
      '"01","default","\'=cmd()","FAILED","","2026-11-23T08:00:00Z","2026-11-23T08:00:01Z","","said ""no"",\nthen stopped"\r\n',
  )
})

test('NDJSON: one object in each line, as it was read', () => {
  const lines = textOf([row, row], 'ndjson').trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toEqual([row, row])
})

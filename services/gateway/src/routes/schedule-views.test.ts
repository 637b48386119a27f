import { expect, test } from 'vitest'
import { z } from 'zod'
import { NewSchedule } from './schedule-views.ts'
import { workflowQuery } from './search-query.ts'

const DECOMPOSED = 'e\u0301'
const COMPOSED = '\u00e9'

test('a name of a schedule with combining characters: accepted in NFC', () => {
  const body = { workflow_name: 'w', name: DECOMPOSED, schedule_config: { text: '{}' } }
  expect(NewSchedule.parse(body).name).toBe(COMPOSED)
})

test('a filter by a name with combining characters: finds the name in NFC', () => {
  const query = z.object(workflowQuery).parse({ workflow_name: DECOMPOSED })
  expect(query).toEqual({ workflow_name: COMPOSED, namespace: '' })
})

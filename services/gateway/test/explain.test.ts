import { notFound } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { ID } from './assert-response.ts'
import { startGateway } from './gateway-fixture.ts'

const requirement = { packages: [], affinity: { zone: 'eu' }, runner: '', cpu: 2 }
const QUEUED_AT = new Date('2026-01-02T03:04:05Z')

test('a queued execution: explain combines queue, requirement and worker verdicts', async () => {
  const requests: unknown[] = []
  const { call } = await startGateway({
    queue: {
      explain: async ({ execution_id }) => {
        requests.push(execution_id)
        return {
          state: 'SCHEDULED',
          requirement,
          queue_position: 3,
          queued_at: QUEUED_AT,
          held_by: '',
          deadline_at: undefined,
          parked: false,
          wakes_on: [],
          handed_over_by: '',
          undone: [],
        }
      },
      loads: async ({ worker_names }) => {
        requests.push(worker_names)
        return { loads: [{ worker_name: 'w2', used: 2 }] }
      },
    },
    fleet: {
      explain: async (request) => {
        requests.push(request)
        return {
          needs: ["label 'zone' = 'eu'", 'cpu 2'],
          verdicts: [
            {
              name: 'w1',
              status: 'online',
              lacking: ["label 'zone' = 'eu'", 'cpu 2'],
              capacity: 0,
            },
            { name: 'w2', status: 'online', lacking: [], capacity: 2 },
          ],
        }
      },
    },
  })
  const response = await call('GET', `/executions/${ID}/explain`)
  expect(await response.json()).toEqual({
    execution_id: ID,
    state: 'SCHEDULED',
    reason: 'it is number 3 in the queue, and every worker that can run it is full',
    queue_position: 3,
    queued_at: '2026-01-02T03:04:05.000Z',
    held_by: null,
    handed_over_by: null,
    undone: [],
    deadline_at: null,
    requirement: {
      ...requirement,
      memory: null,
      disk: null,
      gpu: null,
      runner: null,
    },
    needs: ["label 'zone' = 'eu'", 'cpu 2'],
    workers: [
      {
        name: 'w1',
        status: 'online',
        eligible: false,
        unmet: "label 'zone' = 'eu'",
        lacking: ["label 'zone' = 'eu'", 'cpu 2'],
        used: 0,
        capacity: null,
      },
      {
        name: 'w2',
        status: 'online',
        eligible: true,
        unmet: 'a free slot: it holds 2 of 2',
        lacking: [],
        used: 2,
        capacity: 2,
      },
    ],
    other_workers: 0,
    suggestion: "3 more free slots on 'w2', which holds 2 of 2",
  })
  expect(requests).toMatchObject([ID, { requirement }, ['w1', 'w2']])
})

test('an unknown execution: explain answers 404', async () => {
  const { call } = await startGateway({
    queue: {
      explain: async ({ execution_id }) => {
        throw notFound('Execution', execution_id)
      },
    },
  })
  const response = await call('GET', `/executions/${ID}/explain`)
  expect(response.status).toBe(404)
  expect(await response.json()).toEqual({ detail: `Execution '${ID}' not found` })
})

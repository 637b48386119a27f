import { z } from 'zod'
import { path, workerName } from '../domain/path.ts'
import { tool } from '../tool.ts'
import { counted, wrapped } from './shared.ts'

export const listWorkers = tool({
  name: 'list_workers',
  description: 'List the connected workers with their status and metrics.',
  args: {},
  request: () => ({ method: 'GET', path: path`/workers` }),
  result: counted('workers'),
  doing: 'listing workers',
  tellsConnection: true,
  effect: 'reads',
})

export const getWorker = tool({
  name: 'get_worker',
  description: 'Show one worker, connected or not.',
  args: { worker_name: z.string().describe('Name of the worker') },
  request: ({ worker_name }) => ({
    method: 'GET',
    path: path`/workers/${workerName(worker_name)}`,
  }),
  result: wrapped('worker'),
  errors: { 404: ({ worker_name }) => `Worker '${worker_name}' not found` },
  doing: 'retrieving worker',
  effect: 'reads',
})

export const healthCheck = tool({
  name: 'health_check',
  description: 'Ask whether the server is healthy.',
  args: {},
  request: () => ({ method: 'GET', path: path`/health` }),
  result: wrapped('health'),
  doing: 'checking health',
  tellsConnection: true,
  effect: 'reads',
})

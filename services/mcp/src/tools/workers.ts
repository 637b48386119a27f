import { path, toWorkerName } from '@windlass/api-client/path'
import { z } from 'zod'
import { defineTool } from '../tool.ts'
import { wrapAs, wrapListAs } from './shared.ts'

export const listWorkers = defineTool({
  name: 'list_workers',
  title: 'List workers',
  description: 'List the connected workers with their status and metrics.',
  args: {},
  request: () => ({ method: 'GET', path: path`/workers` }),
  ...wrapListAs('workers'),
  doing: 'listing workers',
  reportsConnectionError: true,
  effect: 'reads',
})

export const getWorker = defineTool({
  name: 'get_worker',
  title: 'Get worker',
  description: 'Show one worker, connected or not.',
  args: { worker_name: z.string().describe('Name of the worker') },
  request: ({ worker_name }) => ({
    method: 'GET',
    path: path`/workers/${toWorkerName(worker_name)}`,
  }),
  ...wrapAs('worker'),
  errors: { 404: ({ worker_name }) => `Worker '${worker_name}' not found` },
  doing: 'retrieving worker',
  effect: 'reads',
})

export const healthCheck = defineTool({
  name: 'health_check',
  title: 'Check health',
  description: 'Show if the server and its dependencies are healthy.',
  args: {},
  request: () => ({ method: 'GET', path: path`/health`, retryForMs: 0 }),
  ...wrapAs('health'),
  doing: 'checking health',
  isPublic: true,
  reportsConnectionError: true,
  effect: 'reads',
})

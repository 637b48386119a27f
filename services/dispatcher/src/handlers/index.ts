import type { DispatcherService } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import type { Handlers } from '@windlass/rpc/call'
import { notFound, unprocessable } from '@windlass/runtime/faults'
import * as records from '../store/records.ts'
import { endSession } from './end-session.ts'
import { handlePong, type PongDeps } from './pong.ts'
import { type RegisterDeps, register } from './register.ts'

const STATUSES = ['', 'online', 'offline', 'unhealthy']

export const handlers = (service: RegisterDeps & PongDeps): Handlers<DispatcherService> => ({
  register: (request) => register(service, request),

  async pong(request) {
    await handlePong(service, request)
    return {}
  },

  async endSession({ name }) {
    await endSession(service, name)
    return {}
  },

  async list({ status }) {
    if (!STATUSES.includes(status))
      throw unprocessable({
        loc: ['query', 'status'],
        msg: "Input should be 'online', 'offline' or 'unhealthy'",
        type: 'enum',
      })
    return { workers: await records.list(service.db, status) }
  },

  async get({ name }) {
    const worker = await records.find(service.db, name)
    if (!worker) throw notFound('Worker', name)
    return worker
  },
})

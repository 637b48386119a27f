import path from 'node:path'
import { onFreePort } from '../process/ports.ts'
import { succeeds } from '../setup/run.ts'
import { keepSecret, secret } from '../setup/secrets.ts'
import { cluster } from './postgres-cluster.ts'
import type { StartStore } from './store.ts'

const READY_LIMIT_MS = 60_000 // recovery after a crash is part of it
const NAME = 'windlass' // of the database and of its owner

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '', // TCP only: a socket folder would have to be open to two users
  max_connections: 300, // seven services with a pool each, twice over in the tests
  shared_buffers: '128MB',
  jit: 'off', // our statements are short; compiling them costs more than it saves
  random_page_cost: 1.1,
}
// PostgreSQL is the source of truth, so it is durable; the database of a test is removed with its folder
const DURABLE = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' }
const FORGETFUL = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

/** Starts the private PostgreSQL of a data directory, creating it at the first start; returns its URL. */
export const startPostgres: StartStore<{ durable?: boolean }> = async (
  processes,
  dir,
  { durable = true } = {},
) => {
  const password = secret(dir, 'postgres-password')
  const { home, data, bin, user } = await cluster(dir, { name: NAME, password, durable })
  return onFreePort(async (port) => {
    const settings = { ...SETTINGS, ...(durable ? DURABLE : FORGETFUL), port }
    const child = processes.start({
      name: 'postgres',
      command: path.join(bin, 'postgres'),
      args: [
        '-D',
        data,
        ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
      ],
      cwd: home,
      ...(user && { user }),
      stopWith: 'SIGINT', // the fast stop; SIGTERM would wait until every client has disconnected
    })
    const probe = ['-q', '-h', '127.0.0.1', '-p', `${port}`, '-U', NAME, '-d', NAME]
    const ready = () => succeeds(path.join(bin, 'pg_isready'), probe)
    await processes.untilReady(child, ready, READY_LIMIT_MS)
    const url = (name: string, password: string) =>
      `postgres://${name}:${password}@127.0.0.1:${port}/${NAME}`
    const admin = url(NAME, password)
    keepSecret(dir, 'postgres-url', admin) // for `windlass admin create-key`
    return {
      child,
      url: admin,
      urlOf: (service) => url(`${NAME}_${service}`, secret(dir, `postgres-password-${service}`)),
    }
  })
}

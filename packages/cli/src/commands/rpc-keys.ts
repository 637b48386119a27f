import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keysOf, RPC_SERVICES } from '@windlass/rpc/pair-keys'
import { loadSettings } from '@windlass/runtime/config/load-settings'
import type { Command } from '../command.ts'

const SECRET_BYTES = 32

export const serverRpcKeys: Command = {
  words: 'server rpc-keys',
  args: ['dir'],
  about:
    'Write the keys of each service to DIR/SERVICE.env, derived from [svc.rpc].secret, or new ones without it',
  async run({ args: [dir = ''] }, { env, out }) {
    const secret = loadSettings(env).rpc.secret ?? randomBytes(SECRET_BYTES).toString('hex')
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    for (const service of RPC_SERVICES) {
      const path = join(dir, `${service}.env`)
      const line = `SVC_RPC__KEYS=${keysOf(secret, service).join(',')}\n`
      writeFileSync(path, line, { mode: 0o600 })
      out(`${path}\n`)
    }
    return 0
  },
}

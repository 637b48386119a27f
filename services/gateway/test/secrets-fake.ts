import type { SecretsService } from '@windlass/proto/windlass/identity/v1/secrets'
import type { Handlers } from '@windlass/rpc/call'
import { Fault } from '@windlass/runtime/faults'

/** Secrets or configs in memory. */
export function fakeSecrets(what: 'Secret' | 'Config') {
  const values = new Map<string, string>()
  const entryOf = (name: string) => {
    const value_json = values.get(name)
    return value_json === undefined ? [] : [{ name, value_json }]
  }
  const handlers: Omit<Handlers<typeof SecretsService>, 'putIf' | 'rotateKey'> = {
    list: async () => ({ names: [...values.keys()], entries: [] }),
    async put({ entry }) {
      if (entry) values.set(entry.name, entry.value_json)
      return {}
    },
    async get({ name }) {
      const [entry] = entryOf(name)
      if (!entry) throw new Fault('not_found', `${what} not found: ${name}`)
      return entry
    },
    getMany: async ({ names }) => ({
      entries: names.flatMap((name) => entryOf(name.normalize('NFC'))),
    }),
    use: async ({ names }) => ({
      entries: names.flatMap((name) => entryOf(name.normalize('NFC'))),
    }),
    async delete({ name }) {
      values.delete(name)
      return {}
    },
  }
  return { values, handlers }
}

import { path, toSecretName } from '@windlass/api-client/path'
import { type ApiCall, createApiCall, serverOptions } from '../api-call.ts'
import { type Command, Failure } from '../command.ts'
import { entryCommands } from './entry.ts'

export const {
  set: secretSet,
  get: secretGet,
  list: secretList,
  remove: secretDelete,
} = entryCommands({
  word: 'secret',
  isSecret: true,
  root: path`/admin/secrets`,
  toName: toSecretName,
})

interface Batch {
  key_id: string
  rotated: number
  remaining: number
  unreadable: string[]
  next: string | null
}

/** Repeats until no secret is left under an earlier key: other processes may still write under that key. */
export const secretsRotateKey: Command = {
  words: 'secrets rotate-key',
  args: [],
  about: 'Re-encrypt every secret that is under an earlier key; can be interrupted and repeated',
  options: serverOptions,
  async run(parsed, context) {
    const call = createApiCall(parsed, context)
    for (let done = 0; ; ) {
      const { rotated, remaining, key_id, unreadable } = await rotateAllOnce(call, (batch) => {
        done += batch.rotated
        context.err(`${done} done, ${batch.remaining} to go\n`)
      })
      if (remaining === 0) {
        context.out(`all secrets are encrypted under the key ${key_id}\n`)
        return 0
      }
      if (rotated === 0)
        throw new Failure(
          `no configured key decrypts these secrets: ${unreadable.join(', ')}; configure their key, or set them again`,
        )
    }
  },
}

/** Re-encrypts all names once, batch by batch. */
async function rotateAllOnce(call: ApiCall, onBatch: (batch: Batch) => void): Promise<Batch> {
  let rotated = 0
  const unreadable: string[] = []
  for (let after: string | undefined; ; ) {
    const route = path`/admin/secrets/rotate-key`
    const batch = JSON.parse(await call({ method: 'POST', path: route, query: { after } })) as Batch
    onBatch(batch)
    rotated += batch.rotated
    unreadable.push(...batch.unreadable)
    if (batch.next === null) return { ...batch, rotated, unreadable }
    after = batch.next
  }
}

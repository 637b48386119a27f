import { path, Segment } from '@windlass/mcp/domain/path'
import { objectOf } from '@windlass/mcp/domain/payload'
import { checkJson, elementsOf, membersOf, quote, stringOf } from '@windlass/runtime/json/json'
import { type Call, client, serverOptions } from '../client.ts'
import { type Command, Failure, UsageError } from '../command.ts'
import { textOf } from '../input.ts'
import { jsonOption, print } from '../output.ts'

const secretName = (text: string) => Segment.of('secret name', /^[^/\p{C}]{1,255}$/u, text)

const MAX_DEPTH = 512

/** What is wrong with it is not told: it is a secret. */
function checked(json: string): string {
  try {
    checkJson(json, MAX_DEPTH)
  } catch {
    throw new UsageError('the value is not JSON')
  }
  return json
}

export const secretSet: Command = {
  words: 'secret set',
  args: ['name', 'value?'],
  about: 'Create or replace a secret; its value is text, @file, or standard input',
  options: {
    json: { type: 'boolean', about: 'the value is JSON: a number, an object, …' },
    ...serverOptions,
  },
  async run(given, world) {
    const [name = '', value = '-'] = given.args
    secretName(name)
    const text = await textOf(value)
    const body = objectOf({
      name: quote(name),
      value: given.options.json ? checked(text) : quote(text),
    })
    const answer = await client(given, world)({ method: 'POST', path: path`/admin/secrets`, body })
    world.out(`${stringOf(membersOf(answer)?.get('message'))}\n`)
    return 0
  },
}

export const secretGet: Command = {
  words: 'secret get',
  args: ['name'],
  about: 'Print the value of a secret: text as it is, anything else as JSON',
  options: { ...serverOptions, ...jsonOption },
  async run(given, world) {
    const answer = await client(
      given,
      world,
    )({ method: 'GET', path: path`/admin/secrets/${secretName(given.args[0] ?? '')}` })
    const value = membersOf(answer)?.get('value') ?? ''
    print(world, given.options.json ? answer : (stringOf(value) ?? value))
    return 0
  },
}

export const secretList: Command = {
  words: 'secret list',
  args: [],
  about: 'List the names of the secrets',
  options: { ...serverOptions, ...jsonOption },
  async run(given, world) {
    const answer = await client(given, world)({ method: 'GET', path: path`/admin/secrets` })
    if (given.options.json) print(world, answer)
    else for (const name of elementsOf(answer) ?? []) world.out(`${stringOf(name)}\n`)
    return 0
  },
}

export const secretDelete: Command = {
  words: 'secret delete',
  args: ['name'],
  about: 'Delete a secret',
  options: serverOptions,
  async run(given, world) {
    const answer = await client(
      given,
      world,
    )({ method: 'DELETE', path: path`/admin/secrets/${secretName(given.args[0] ?? '')}` })
    world.out(`${stringOf(membersOf(answer)?.get('message'))}\n`)
    return 0
  },
}

interface Batch {
  key_id: string
  rotated: number
  remaining: number
  unreadable: string[]
  next: string | null
}

/** Passes over all of them as long as that helps: others may write under the earlier key meanwhile. */
export const secretsRotateKey: Command = {
  words: 'secrets rotate-key',
  args: [],
  about: 'Encrypt every secret that is under an earlier key anew; may be repeated or broken off',
  options: serverOptions,
  async run(given, world) {
    const call = client(given, world)
    for (let done = 0; ; ) {
      const { rotated, remaining, key_id, unreadable } = await pass(call, (batch) => {
        done += batch.rotated
        world.err(`${done} done, ${batch.remaining} to go\n`)
      })
      if (remaining === 0) {
        world.out(`all secrets are encrypted under the key ${key_id}\n`)
        return 0
      }
      if (rotated === 0)
        throw new Failure(`no key that is configured opens: ${unreadable.join(', ')}`)
    }
  },
}

/** Goes over all names once. */
async function pass(call: Call, tell: (batch: Batch) => void): Promise<Batch> {
  let rotated = 0
  const unreadable: string[] = []
  for (let after: string | undefined; ; ) {
    const route = path`/admin/secrets/rotate-key`
    const batch = JSON.parse(await call({ method: 'POST', path: route, query: { after } })) as Batch
    tell(batch)
    rotated += batch.rotated
    unreadable.push(...batch.unreadable)
    if (batch.next === null) return { ...batch, rotated, unreadable }
    after = batch.next
  }
}

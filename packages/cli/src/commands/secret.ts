import { path, Segment } from '@windlass/mcp/domain/path'
import { objectOf } from '@windlass/mcp/domain/payload'
import { checkJson, elementsOf, membersOf, quote, stringOf } from '@windlass/runtime/json'
import { client, serverOptions } from '../client.ts'
import { type Command, UsageError } from '../command.ts'
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

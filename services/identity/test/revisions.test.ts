import { expect, test } from 'vitest'
import { startIdentity } from './identity-fixture.ts'

const KEY = { SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'correct horse battery staple' }
const NEVER = { revisions: [], any: false, absent: false }
const failed = (name: string) => ({
  kind: 'precondition_failed',
  details: { problems: [{ loc: ['header', name] }] },
})

async function setup() {
  const { replica } = await startIdentity()
  return { ...(await replica(KEY)), other: await replica(KEY) }
}

const permissionsOf = (add: string[]) => ({
  name: 'r',
  add_permissions: add,
  remove_permissions: [],
})

test('a role with a precondition: refused for another revision, and changed once', async () => {
  const { roles } = await setup()
  const { revision = '' } = await roles.create({ name: 'r', permissions: ['a'] })
  expect(revision).toMatch(/^[0-9a-f]{32}$/)
  const precondition = { ...NEVER, revisions: [revision] }
  const updateIf = (add: string[]) => roles.updateIf({ update: permissionsOf(add), precondition })
  const changed = await updateIf(['b'])
  expect(await updateIf(['b'])).toEqual(changed)
  await expect(updateIf(['c'])).rejects.toMatchObject(failed('If-Match'))
  expect(await roles.get({ name: 'r' })).toEqual(changed)
  expect((await roles.list({})).roles).toContainEqual(changed)
})

const services = ['secrets', 'configs'] as const

test.each(services)(
  '%s with a precondition: refused for another revision, for an existing one and for none',
  async (service) => {
    const { [service]: client } = await setup()
    const putIf = async (value_json: string, precondition: object, namespaces?: string[]) => {
      const scope = namespaces && { namespaces: { items: namespaces, all: false } }
      const put = { entry: { name: 'a', value_json, ...scope } }
      return (await client.putIf({ put, precondition: { ...NEVER, ...precondition } })).entry
    }
    await expect(putIf('1', { any: true })).rejects.toMatchObject(failed('If-Match'))
    const first = await putIf('1', { absent: true })
    await expect(putIf('2', { absent: true })).rejects.toMatchObject(failed('If-None-Match'))
    const second = await putIf('2', { revisions: [first?.revision] })
    await expect(putIf('3', { revisions: [first?.revision] })).rejects.toMatchObject(
      failed('If-Match'),
    )
    const third = await putIf('2', { revisions: [second?.revision] }, ['team'])
    expect(new Set([first, second, third].map((one) => one?.revision)).size).toBe(3)
    expect(await client.get({ name: 'a' })).toMatchObject({
      value_json: '2',
      revision: third?.revision,
    })
    expect((await client.list({})).entries).toMatchObject([{ revision: third?.revision }])
  },
)

test.each(services)('ten new %s of one name at two replicas: one is made', async (service) => {
  const { [service]: one, other } = await setup()
  const puts = Array.from({ length: 10 }, (_, i) =>
    (i % 2 ? one : other[service]).putIf({
      put: { entry: { name: 'a', value_json: `${i}` } },
      precondition: { ...NEVER, absent: true },
    }),
  )
  const made = (await Promise.allSettled(puts)).filter(({ status }) => status === 'fulfilled')
  expect(made).toHaveLength(1)
})

test('a config that is put again because the answer was lost: the stored one', async () => {
  const { configs } = await setup()
  const put = { entry: { name: 'a', value_json: '1' } }
  const precondition = { ...NEVER, absent: true }
  const first = await configs.putIf({ put, precondition })
  expect(await configs.putIf({ put, precondition })).toEqual(first)
})

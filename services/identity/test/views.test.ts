import { expect, test } from 'vitest'
import { startIdentity } from './identity-fixture.ts'

const as = (subject: string, issuer = 'svc') => ({ caller: { subject, issuer } })
const view = (name: string, query = 'state=failed') => ({ name, screen: 'executions', query })

async function setup() {
  const { replica } = await startIdentity()
  const { views } = await replica()
  const namesOf = async (caller: ReturnType<typeof as>) =>
    (await views.list({}, caller)).views.map(({ name }) => name)
  return { views, namesOf }
}

test('saved views: those of a principal by name, which others neither see, change nor delete', async () => {
  const { views, namesOf } = await setup()
  const [ann, bob, other] = [as('ann'), as('bob'), as('ann', 'https://issuer.example')]
  await views.put(view('b'), ann)
  await views.put(view('a'), ann)
  await views.put(view('a', 'state=running'), bob)
  expect([await namesOf(ann), await namesOf(bob), await namesOf(other)]).toEqual([
    ['a', 'b'],
    ['a'],
    [],
  ])
  const { view: replaced } = await views.put(view('b', ''), ann)
  expect(replaced).toMatchObject({ name: 'b', query: '' })
  expect(await views.delete({ name: 'b' }, bob)).toEqual({ was_there: false })
  expect(await views.delete({ name: 'a' }, ann)).toEqual({ was_there: true })
  expect([await namesOf(ann), await namesOf(bob)]).toEqual([['b'], ['a']])
})

test('saved views above 100: a new one is refused, and another is replaced', async () => {
  const { views, namesOf } = await setup()
  const ann = as('ann')
  const names = Array.from({ length: 105 }, (_, i) => `v${i}`)
  const put = await Promise.allSettled(names.map((name) => views.put(view(name), ann)))
  expect(put.filter(({ status }) => status === 'fulfilled')).toHaveLength(100)
  const [known = ''] = await namesOf(ann)
  await views.put(view(known, 'x=1'), ann)
  await expect(views.put(view('new'), ann)).rejects.toMatchObject({ kind: 'conflict' })
  await views.put(view('new'), as('bob'))
})

test('a view with a precondition: refused for another revision, for an existing one and for none', async () => {
  const { views } = await setup()
  const ann = as('ann')
  const never = { revisions: [], any: false, absent: false }
  const putIf = async (query: string, precondition: object) =>
    (
      await views.putIf(
        { view: view('a', query), precondition: { ...never, ...precondition } },
        ann,
      )
    ).view
  const failed = (name: string) => ({
    kind: 'precondition_failed',
    details: { problems: [{ loc: ['header', name] }] },
  })
  await expect(putIf('x=1', { any: true })).rejects.toMatchObject(failed('If-Match'))
  const first = await putIf('x=1', { absent: true })
  expect(first).toMatchObject({ query: 'x=1', revision: expect.stringMatching(/^[0-9a-f]{32}$/) })
  await expect(putIf('x=2', { absent: true })).rejects.toMatchObject(failed('If-None-Match'))
  expect(await putIf('x=1', { absent: true })).toEqual(first)
  const second = await putIf('x=2', { revisions: [first?.revision] })
  await expect(putIf('x=3', { revisions: [first?.revision] })).rejects.toMatchObject(
    failed('If-Match'),
  )
  expect(await putIf('x=2', { revisions: [first?.revision] })).toEqual(second)
  expect(await views.list({}, ann)).toEqual({ views: [second] })
  await views.delete({ name: 'a' }, ann)
  await expect(putIf('x=4', { revisions: [second?.revision] })).rejects.toMatchObject(
    failed('If-Match'),
  )
})

test('ten saves of a view for one revision at once: one is made', async () => {
  const { views } = await setup()
  const ann = as('ann')
  const { view: known } = await views.put(view('a', ''), ann)
  const precondition = { revisions: [known?.revision ?? ''], any: false, absent: false }
  const saves = Array.from({ length: 10 }, (_, i) =>
    views.putIf({ view: view('a', `x=${i}`), precondition }, ann),
  )
  const saved = (await Promise.allSettled(saves)).filter(({ status }) => status === 'fulfilled')
  expect(saved).toHaveLength(1)
})

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

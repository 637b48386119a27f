import { expect, test } from 'vitest'
import { callAs, request, schedulerFixture } from './scheduler-fixture.ts'

test('schedules of a principal above its quota: unavailable; another principal may create', async () => {
  const { replica } = await schedulerFixture({ SVC_QUOTAS__PRINCIPAL_SCHEDULES: '2' })
  const client = await replica()
  const first = await client.create(request())
  await client.create(request())
  await expect(client.create(request())).rejects.toMatchObject({
    kind: 'unavailable',
    message: 'The principal has reached its quota of 2 schedules; delete some, then retry.',
  })
  await client.create(request(), callAs('bob'))
  await client.delete({ ref: first.id })
  await client.create(request())
})

test('schedules of a namespace above its quota: unavailable for every principal', async () => {
  const { replica, catalog } = await schedulerFixture({ SVC_QUOTAS__NAMESPACE_SCHEDULES: '1' })
  const client = await replica()
  catalog.put('default', 'plain')
  await client.create(request())
  await expect(client.create(request(), callAs('bob'))).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining("The namespace 'team' has reached its quota of 1 schedules"),
  })
  await client.create({ ...request(), workflow_namespace: 'default', workflow_name: 'plain' })
})

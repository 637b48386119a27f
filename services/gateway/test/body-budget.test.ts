import { once } from 'node:events'
import { connect } from 'node:net'
import { BodyBudget } from '@windlass/runtime/http/body-budget'
import { expect, onTestFinished, test } from 'vitest'
import { RUN } from './assert-response.ts'
import { startGateway } from './gateway-fixture.ts'
import { serviceAccount } from './service-account.ts'

const keyOf = (digit: string) => `Bearer wk_${digit.repeat(16)}.${'A'.repeat(43)}`

test('bodies of a principal beyond its budget: 503 with Retry-After, others are served', async () => {
  const { url, call } = await startGateway(
    {
      keys: {
        async find({ prefix }) {
          const principal = serviceAccount({ subject: prefix })
          return { account: { principal, permissions: ['*'] }, expires_at: undefined }
        },
      },
    },
    {
      SVC_SECURITY__AUTH__ENABLED: 'true',
      SVC_SERVER__MAX_PRINCIPAL_BODY_BYTES_IN_FLIGHT: '1000',
    },
  )
  const run = (digit: string) =>
    call('POST', RUN, {
      body: `"${'x'.repeat(600)}"`,
      headers: { authorization: keyOf(digit), 'content-type': 'application/json' },
    })
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.write(
    `POST ${RUN} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${keyOf('0')}\r\nContent-Length: 602\r\n\r\n"`,
  )
  await expect.poll(async () => (await run('0')).status).toBe(503)
  expect((await run('0')).headers.get('retry-after')).toBe('1')
  expect((await run('1')).status).toBe(200)
  socket.write(`${'x'.repeat(600)}"`)
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1.1 200 /)
  expect((await run('0')).status).toBe(200)
})

const limits = { maxBytes: 100, maxBytesPerPrincipal: 60 }

test('a single body above the budget: accepted while no other is in flight', () => {
  const budget = new BodyBudget(limits)
  const large = budget.open('a')
  large.growTo(500)
  expect(() => budget.open('b').growTo(1)).toThrow('in flight')
  large.release()
  expect(budget.bytesInFlight).toBe(0)
  budget.open('b').growTo(1)
})

test('bodies without a principal: bounded in total only', () => {
  const budget = new BodyBudget(limits)
  budget.open(undefined).growTo(90)
  expect(() => budget.open(undefined).growTo(11)).toThrow('in flight')
  budget.open(undefined).growTo(10)
})

test('a body without a declared length: counted as it arrives, and once', () => {
  const budget = new BodyBudget(limits)
  const body = budget.open('a')
  for (const size of [10, 20, 60]) body.growTo(size)
  expect(budget.bytesInFlight).toBe(60)
  expect(() => body.growTo(61)).toThrow('of this principal')
  body.release()
  body.release()
  expect(budget.bytesInFlight).toBe(0)
})

import { expect, test } from 'vitest'
import { clusterOf } from './cluster.ts'

const ours = clusterOf('one secret of the cluster', 'gateway')
const replica = clusterOf('one secret of the cluster', 'executions')
const stranger = clusterOf('another secret altogether', 'gateway')

test('a credential counts for who has the same secret, and for nobody else', () => {
  expect(replica.admits(ours.credential())).toBe(true)
  expect(replica.admits(stranger.credential())).toBe(false)
  expect(replica.admits('')).toBe(false)
})

test('a statement names the principal, by subject and issuer', () => {
  const ada = { subject: 'ada', issuer: 'https://issuer' }
  expect(replica.believe(ours.vouch(ada))).toEqual(ada)
  expect(replica.believe(ours.vouch({ ...ada, issuer: 'svc' }))).toEqual({ ...ada, issuer: 'svc' })
})

test('nobody is nobody, and a statement of a stranger is of nobody', () => {
  expect(replica.believe(ours.vouch(undefined))).toBeUndefined()
  expect(replica.believe(stranger.vouch({ subject: 'root', issuer: 'svc' }))).toBeUndefined()
  expect(replica.believe('{"sub":"root"}')).toBeUndefined()
})

test('a credential is no statement, and a statement no credential', () => {
  const statement = ours.vouch({ subject: 'ada', issuer: 'svc' })
  expect(replica.admits(statement)).toBe(false)
  expect(replica.believe(ours.credential())).toBeUndefined()
})

import { expect, test } from 'vitest'
import { entriesFor } from './palette-entries.ts'

const KNOWN = {
  workflows: [
    { namespace: 'default', name: 'checkout' },
    { namespace: 'team', name: 'audit_report' },
  ],
  now: Date.parse('2026-11-23T12:00:00Z'),
  actions: [{ kind: 'action', label: 'Sign out', to: () => {} }],
}
const labels = (text: string) => entriesFor(text, KNOWN).map(({ label }) => label)

test('no text: all screens, actions and workflows', () => {
  expect(labels('')).toContain('Audit')
  expect(labels('')).toContain('Sign out')
  expect(labels('')).toContain('Run default/checkout')
})

test('a text: those that begin with it first, then those that have it, then a search', () => {
  expect(labels('audit')).toEqual([
    'Audit',
    'team/audit_report',
    'Run team/audit_report',
    'Executions of seven days whose error has “audit”',
  ])
  expect(entriesFor('declined', KNOWN)[0]).toMatchObject({
    to: 'executions?error=declined&created_after=2026-11-16T12%3A00%3A00.000Z',
  })
  expect(labels('check run')[0]).toBe('Run default/checkout')
})

test('an id or its beginning: the execution or a search', () => {
  const id = '0123456789abcdef0123456789abcdef'
  expect(entriesFor(id.toUpperCase(), KNOWN)[0]).toMatchObject({ to: `executions/${id}` })
  expect(entriesFor('01ab', KNOWN)[0]).toMatchObject({ to: 'executions?id=01ab' })
})

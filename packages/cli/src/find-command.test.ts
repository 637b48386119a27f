import { expect, test } from 'vitest'
import { commands } from './commands.ts'
import { findCommand } from './find-command.ts'

const find = (line: string) => {
  const found = findCommand(commands, line.split(' '))
  return found && [found.command.words, ...found.rest].join(' | ')
}

test.each([
  ['server', 'server start'],
  ['server --single-process', 'server start | --single-process'],
  ['server --port 0 --help', 'server start | --port | 0 | --help'],
  ['server start --single-process', 'server start | --single-process'],
  ['server start --help', 'server start | --help'],
  ['server bootstrap-token', 'server bootstrap-token'],
  ['me --json', 'me | --json'],
])('%s: finds %s', (line, expected) => {
  expect(find(line)).toBe(expected)
})

test.each(['server --help', 'server -h', 'server starts', 'workflow', 'workflow --json', '--port'])(
  '%s: finds no command',
  (line) => {
    expect(find(line)).toBeUndefined()
  },
)

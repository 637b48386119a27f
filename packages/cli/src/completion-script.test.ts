import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { commands } from './commands.ts'
import { completionScript } from './completion-script.ts'

const hasShell = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0

/** Returns what bash offers for these words, of which the last one is incomplete. */
function completionsOf(...words: string[]): string[] {
  const list = ['windlass', ...words].map((word) => `'${word}'`).join(' ')
  const script = `${completionScript('bash', commands)}
COMP_WORDS=(${list}); COMP_CWORD=${words.length}
_windlass; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' })
  expect(stderr).toBe('')
  return stdout.split('\n').filter(Boolean)
}

test('the first word: the beginnings of all commands', () => {
  const found = completionsOf('')
  for (const { words } of commands) expect(found).toContain(words.split(' ')[0])
  expect(completionsOf('princ')).toEqual(['principal'])
})

test('the second word: the commands of a group only', () => {
  expect(completionsOf('key', '')).toEqual(['list', 'create', 'revoke'])
  expect(completionsOf('execution', 'fol')).toEqual(['follow'])
})

test('a word that begins with a hyphen: the options of the command, wherever it is', () => {
  expect(completionsOf('key', 'create', 'ci', 'deploy', '--d')).toEqual(['--days'])
  expect(completionsOf('execution', 'logs', '--le')).toEqual(['--level'])
  expect(completionsOf('execution', 'log', '--le')).toEqual([])
  expect(completionsOf('me', '--js')).toEqual(['--json'])
})

test('an argument: left to the completion of files', () => {
  expect(completionsOf('workflow', 'upload', '')).toEqual([])
})

test.each([
  ['zsh', ['-n', '-c']],
  ['fish', ['--no-execute', '-c']],
] as const)('the script for %s: the shell, where it is installed, accepts it', (shell, flags) => {
  const script = completionScript(shell, commands)
  for (const word of ['principal', 'revoke-role', 'server-url']) expect(script).toContain(word)
  if (!hasShell(shell)) return
  const { status, stderr } = spawnSync(shell, [...flags, script], { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})

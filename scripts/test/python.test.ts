import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../packages/testkit/src/folder.ts'
import type { Progress } from '../setup/progress.ts'
import { ensurePython } from '../setup/python.ts'

const PROJECT = fileURLToPath(new URL('../../', import.meta.url))
const MODULE = new URL('../setup/python.ts', import.meta.url).href

/** Progress that shows nothing. */
const progress = { step: (_: string, work: (report: () => void) => unknown) => work(() => {}) }

/**
 * A data directory, and a program in place of Python that records what it is asked for. It waits within the
 * installation of packages while the file `hang` exists.
 */
function openDataDir() {
  const dir = temporaryFolder('python')
  const [from, record, hang] = ['python', 'record', 'hang'].map((name) => path.join(dir, name))
  const lines = [
    '#!/bin/sh',
    'case "$*" in',
    `  "-m venv "*) echo venv >>${record}; mkdir -p "$3/bin"; cp ${from} "$3/bin/python" ;;`,
    `  *" -r "*) echo begin >>${record}; while [ -e ${hang} ]; do sleep 0.1; done; sleep 0.2; echo end >>${record} ;;`,
    'esac',
  ]
  writeFileSync(from as string, `${lines.join('\n')}\n`)
  chmodSync(from as string, 0o755)
  writeFileSync(record as string, '')
  return {
    dir,
    from: from as string,
    hang: hang as string,
    recorded: () =>
      readFileSync(record as string, 'utf8')
        .trim()
        .split('\n'),
    ensure: () =>
      ensurePython({ dir, progress: progress as unknown as Progress }, { from: from as string }),
  }
}

test('two set-ups of one environment at once: the second one waits and finds it complete', async () => {
  const { ensure, recorded } = openDataDir()
  const [first, second] = await Promise.all([ensure(), ensure()])
  expect(second).toBe(first)
  expect(recorded()).toEqual(['venv', 'begin', 'end'])
})

test('a set-up that was killed while packages were installed: the next one makes the environment again', async () => {
  const { dir, from, hang, ensure, recorded } = openDataDir()
  writeFileSync(hang, '')
  const code = `
    import { ensurePython } from ${JSON.stringify(MODULE)}
    const progress = { step: (_, work) => work(() => {}) }
    await ensurePython({ dir: ${JSON.stringify(dir)}, progress }, { from: ${JSON.stringify(from)} })`
  const args = ['--conditions=windlass', '--import', 'tsx', '--input-type=module', '-e', code]
  const child = spawn(process.execPath, args, { cwd: PROJECT, detached: true, stdio: 'ignore' })
  const killAll = () => child.exitCode === null && child.signalCode === null && killGroup(child.pid)
  onTestFinished(() => void killAll())
  const exited = once(child, 'exit')
  await expect.poll(recorded).toEqual(['venv', 'begin'])
  killGroup(child.pid)
  await exited
  rmSync(hang)
  const partial = path.join(dir, 'venv/partial')
  writeFileSync(partial, '')
  await ensure()
  expect(recorded()).toEqual(['venv', 'begin', 'venv', 'begin', 'end'])
  expect(existsSync(partial)).toBe(false)
})

test('packages of an environment that change: installed into it', async () => {
  const { dir, ensure, recorded } = openDataDir()
  await ensure()
  writeFileSync(path.join(dir, 'venv/.windlass-stamp'), 'of other packages')
  await ensure()
  expect(recorded()).toEqual(['venv', 'begin', 'end', 'begin', 'end'])
})

const killGroup = (pid = 0): void => void process.kill(-pid, 'SIGKILL')

import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { runCommandLine } from '../../packages/cli/src/command-line.ts'
import { commands } from '../../packages/cli/src/commands.ts'
import { findCommand } from '../../packages/cli/src/find-command.ts'
import { temporaryFolder } from '../../packages/testkit/src/folder.ts'
import { PROGRAMS } from '../setup/bundled-programs.ts'

// The commands of docs/operations.md. Blocks run as written, by a shell, in a copy of what they use; programs that
// need an engine, a cluster or a server are replaced by one that records its arguments, and these are checked
// against the files and programs that they name. `npm run test:deploy` builds and starts the images.
const PROJECT = fileURLToPath(new URL('../../', import.meta.url))
const page = readFileSync(path.join(PROJECT, 'docs/operations.md'), 'utf8')

/** Programs that cannot run here, and what checks their arguments. */
const RECORDED: Record<string, (args: string[]) => unknown> = {
  docker: checkDocker,
  helm: checkHelm,
  kubectl: checkKubectl,
  npx: ([program, ...args]) => {
    expect(program).toBe('windlass')
    return checkWindlass(args)
  },
}

const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = '']) => text)
const inline = [...page.matchAll(/`((?:docker|npm|windlass)\s[^`…]+)`/g)].map(([, text = '']) =>
  text.replace(/\s+/g, ' '),
)

/** Runs a block in a copy of what it uses; answers the recorded commands, and the folder. */
function runBlock(text: string) {
  const folder = temporaryFolder('operations')
  for (const name of ['deploy', 'examples'])
    cpSync(path.join(PROJECT, name), path.join(folder, name), { recursive: true })
  const bin = path.join(folder, 'bin')
  mkdirSync(bin)
  const record = path.join(folder, 'record')
  for (const program of Object.keys(RECORDED)) {
    const file = path.join(bin, program)
    const lines = [
      '#!/bin/sh',
      `{ printf '%s\\037' ${program} "$@"; echo; } >>"${record}"`,
      // What is piped into it must be YAML.
      `case "$*" in *"--filename -"*) cat >"${folder}/piped.yaml" ;; esac`,
    ]
    writeFileSync(file, `${lines.join('\n')}\n`)
    chmodSync(file, 0o755)
  }
  const { status, stderr } = spawnSync('sh', ['-eu', '-c', text], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: `${bin}:${process.env.PATH}` },
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  const recorded = existsSync(record) ? readFileSync(record, 'utf8').trimEnd().split('\n') : []
  return { folder, recorded: recorded.map((line) => line.split('\u001f').slice(0, -1)) }
}

test('the page: has the blocks and the commands that this file expects', () => {
  expect(blocks.length).toBeGreaterThan(3)
  expect(inline.length).toBeGreaterThan(8)
})

test.each(blocks)('block %#: runs as written, and its commands name what exists', async (text) => {
  const { folder, recorded } = runBlock(text)
  for (const [program = '', ...args] of recorded) await RECORDED[program]?.(args)
  const piped = path.join(folder, 'piped.yaml')
  if (existsSync(piped))
    expect(parse(readFileSync(piped, 'utf8'))).toMatchObject({ kind: 'Secret' })
})

test.each(inline)('%s: names what exists', async (text) => {
  const [program = '', ...args] = text.split(' ')
  if (program === 'npm') checkNpm(args)
  else if (program === 'windlass') await checkWindlass(args)
  else checkDocker(args)
})

/** Options of docker with their number of values; others are unknown to this page. */
const DOCKER_OPTIONS: Record<string, number> = {
  '--all': 0,
  '--detach': 0,
  '--env': 1,
  '--env-file': 1,
  '--file': 1,
  '--follow': 0,
  '--no-deps': 0,
  '--profile': 1,
  '--rm': 0,
  '--scale': 1,
  '--signal': 1,
  '--tag': 1,
  '--volume': 1,
  '--wait': 0,
  '-f': 1,
}

/** Separates options, as [name, value], from the words before the first word that is not docker's. */
function split(args: readonly string[], words: number) {
  const options: [string, string][] = []
  const rest = [...args]
  const found: string[] = []
  while (rest.length > 0 && found.length < words) {
    const next = rest.shift() as string
    if (!next.startsWith('-')) {
      found.push(next)
      continue
    }
    expect(Object.keys(DOCKER_OPTIONS)).toContain(next)
    options.push([next, DOCKER_OPTIONS[next] ? (rest.shift() as string) : ''])
  }
  return { options, found, rest }
}

function checkDocker([kind, ...args]: string[]): unknown {
  if (kind === 'compose') return checkCompose(args)
  if (kind === 'build') return checkBuild(args)
  expect(kind).toBe('run')
  const { found, rest } = split(args, 1)
  expect(imagesOfCompose()).toContain(found[0])
  return checkWindlass(rest.slice(1))
}

const readCompose = (file: string) =>
  parse(readFileSync(path.join(PROJECT, file), 'utf8'), { merge: true }) as {
    services: Record<string, { image?: string; profiles?: string[] }>
  }

const imagesOfCompose = () =>
  Object.values(readCompose('deploy/compose.yml').services).map(({ image = '' }) =>
    image.replace(/^\$\{\w+:-(.*)\}$/, '$1'),
  )

function checkBuild(args: string[]): void {
  const { options, found } = split(args, 1)
  const { '--file': file = '', '--tag': tag = '' } = Object.fromEntries(options)
  expect(existsSync(path.join(PROJECT, file)), file).toBe(true)
  expect(imagesOfCompose()).toContain(tag)
  expect(found).toEqual(['.'])
}

/** The service that `run` names, or those that `--scale` does, the files, and the profiles. */
function checkCompose(args: string[]): unknown {
  const { options, found, rest } = split(args, args.includes('run') ? 2 : args.length)
  const valuesOf = (name: string) =>
    options.filter(([option]) => option === name).map(([, value]) => value)
  const services: Record<string, { profiles?: string[] }> = {}
  for (const file of valuesOf('-f')) Object.assign(services, readCompose(file).services)
  const [command = '', service, ...inside] = found
  expect(['build', 'config', 'down', 'exec', 'kill', 'logs', 'ps', 'run', 'up']).toContain(command)
  const profiles = Object.values(services).flatMap(({ profiles = [] }) => profiles)
  for (const profile of valuesOf('--profile')) expect(profiles).toContain(profile)
  for (const scale of valuesOf('--scale'))
    expect(Object.keys(services)).toContain(scale.split('=')[0])
  if (!['exec', 'kill', 'logs', 'run'].includes(command)) return expect(found).toEqual([command])
  expect(Object.keys(services)).toContain(service)
  if (command === 'run') return checkEntry(rest)
  if (command !== 'exec') return expect(inside).toEqual([])
  const [node, file = ''] = inside
  expect([node, path.dirname(file)]).toEqual(['node', '/app'])
  return expect(readdirSync(path.join(PROJECT, 'deploy/image'))).toContain(path.basename(file))
}

/** Arguments of the image: `windlass` with a command, or a service. */
function checkEntry([program = '', ...args]: string[]): unknown {
  expect([...Object.keys(PROGRAMS).map((place) => path.basename(place)), 'windlass']).toContain(
    program,
  )
  return program === 'windlass' ? checkWindlass(args) : undefined
}

/** The command exists and has these options. Files that it names exist. */
async function checkWindlass(args: string[]): Promise<void> {
  const words = args.filter((word) => !word.startsWith('-'))
  const command = findCommand(commands, args)?.command
  expect(command?.words ?? args, words.join(' ')).toEqual(command ? command.words : ['--help'])
  // Also one that is mounted at the same place of a container.
  for (const file of words.filter((word) => word.includes('/')))
    expect(existsSync(path.join(PROJECT, file)), file).toBe(true)
  if (!command || command.isPassThrough) return
  let help = ''
  const out = (text: string) => {
    help += text
  }
  const context = { env: {}, findRunningServer: async () => undefined, out, err: out }
  expect(await runCommandLine([...command.words.split(' '), '--help'], context as never)).toBe(0)
  for (const option of args.filter((word) => word.startsWith('--'))) expect(help).toContain(option)
}

function checkNpm([command = '', script = '']: string[]): void {
  const { scripts } = JSON.parse(readFileSync(path.join(PROJECT, 'package.json'), 'utf8'))
  expect(Object.keys(scripts)).toContain(command === 'run' ? script : command)
}

function checkHelm(args: string[]): void {
  const [command, , release, chart = ''] = args
  expect([command, release]).toEqual(['upgrade', 'windlass'])
  expect(existsSync(path.join(PROJECT, chart, 'Chart.yaml'))).toBe(true)
}

function checkKubectl(args: string[]): unknown {
  if (args[0] === 'apply') return undefined
  if (args[0] === 'create') return expect(args).toEqual(['create', 'namespace', 'windlass'])
  const [, , , deployment = '', , node, entry = '', ...command] = args
  const [, service] = /^deploy\/windlass-(\w+)$/.exec(deployment) ?? []
  expect(readdirSync(path.join(PROJECT, 'services'))).toContain(service)
  expect([node, entry]).toEqual(['node', '/app/entry.mjs'])
  return checkEntry(command)
}

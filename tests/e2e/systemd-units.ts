import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'

/** The lines of a unit file by their keys, in order; `%i` is replaced. */
type Lines = Map<string, string[]>

const SECOND_MS = 1_000
const KEPT_CHARACTERS = 5_000

/** Reads the file of a unit in a folder: that of its template if it is an instance. */
export function readUnit(folder: string, name: string): Lines {
  const [, kind = '', instance = '', suffix = ''] =
    /^([\w-]+@?)([\w-]*)\.(service|target)$/.exec(name) ?? []
  const lines: Lines = new Map()
  const content = readFileSync(path.join(folder, `${kind}.${suffix}`), 'utf8')
  for (const line of content.replaceAll('%i', instance).split('\n')) {
    const [, key, value = ''] = /^(\w+)=(.*)$/.exec(line) ?? []
    if (key !== undefined) lines.set(key, [...(lines.get(key) ?? []), value])
    else if (!/^(\[\w+\]|#.*|)$/.test(line)) throw new Error(`${name}: cannot read ${line}`)
  }
  return lines
}

const lastOf = (unit: Lines, key: string): string => unit.get(key)?.at(-1) ?? ''

/** Seconds of `30`, `6min` or `infinity`. */
function secondsOf(value: string): number {
  if (value === 'infinity') return Number.POSITIVE_INFINITY
  const [, number, unit] = /^(\d+)(min)?$/.exec(value) ?? []
  if (number === undefined) throw new Error(`unknown time: ${value}`)
  return Number(number) * (unit ? 60 : 1)
}

/** Variables of a file for EnvironmentFile=. */
export const readVariables = (file: string): Record<string, string> =>
  Object.fromEntries(
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )

/** Returns the variables that systemd gives to the processes of a unit, and none of the test. */
function environmentOf(unit: Lines): Record<string, string> {
  const set = (unit.get('Environment') ?? []).join(' ').split(' ').filter(Boolean)
  return {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    ...Object.fromEntries(set.map((one) => one.split('=', 2))),
    ...Object.assign({}, ...(unit.get('EnvironmentFile') ?? []).map(readVariables)),
  }
}

/** Runs a command to its end; returns its output and throws if it fails. */
export async function runCommand(command: string, env: Record<string, string>): Promise<string> {
  const [program = '', ...args] = command.split(' ')
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, errors] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  if (child.exitCode !== 0)
    throw new Error(`${command} ended with ${child.exitCode}: ${errors}${out}`)
  return out
}

/**
 * Runs the units of a folder as systemd does, as far as that needs no right: their command lines with their
 * environments, the command after the start, and their signal and time limit of the stop.
 */
export class Units {
  readonly #folder: string
  readonly #running = new Map<string, ChildProcess>()
  readonly #output = new Map<string, string>()

  constructor(folder: string) {
    this.#folder = folder
  }

  get names(): string[] {
    return [...this.#running.keys()]
  }

  /** Names as systemctl takes them, and whether systemd can enable them. */
  async control(verb: string, names: string[]): Promise<void> {
    const units = names.map((name) => (/\.\w+$/.test(name) ? name : `${name}.service`))
    if (verb === 'stop' || verb === 'restart') await each(units, (name) => this.#stop(name))
    if (verb !== 'stop') await each(units, (name) => this.#start(name))
  }

  isInstallable(name: string): boolean {
    const file = /\.\w+$/.test(name) ? name : `${name}.service`
    return readUnit(this.#folder, file).has('WantedBy')
  }

  stopAll = () => this.control('stop', this.names)

  killAll(): void {
    for (const child of this.#running.values()) child.kill('SIGKILL')
  }

  async #start(name: string): Promise<void> {
    const unit = readUnit(this.#folder, name)
    const command = lastOf(unit, 'ExecStart')
    if (command === '') return
    const env = environmentOf(unit)
    if (lastOf(unit, 'Type') === 'oneshot') return void (await runCommand(command, env))
    const [program = '', ...args] = command.split(' ')
    const cwd = lastOf(unit, 'WorkingDirectory') || '/'
    if (!existsSync(cwd)) throw new Error(`${name}: no folder ${cwd}`)
    const child = spawn(program, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#running.set(name, child)
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) =>
        this.#output.set(name, `${this.#output.get(name) ?? ''}${chunk}`.slice(-KEPT_CHARACTERS)),
      )
    for (const after of unit.get('ExecStartPost') ?? [])
      await runCommand(after, { ...env, MAINPID: String(child.pid) }).catch((error: Error) => {
        throw new Error(`${name}: ${error.message}\n${this.#output.get(name)}`)
      })
  }

  /** Throws if systemd would have to kill it, or if it fails. */
  async #stop(name: string): Promise<void> {
    const child = this.#running.get(name)
    if (child === undefined) throw new Error(`${name} does not run`)
    const unit = readUnit(this.#folder, name)
    const seconds = secondsOf(lastOf(unit, 'TimeoutStopSec'))
    const ended = once(child, 'exit')
    child.kill(lastOf(unit, 'KillSignal') as NodeJS.Signals)
    const late = setTimeout(() => child.kill('SIGKILL'), seconds * SECOND_MS)
    const [code, signal] = await ended
    clearTimeout(late)
    this.#running.delete(name)
    if (code !== 0)
      throw new Error(`${name} ended with ${code ?? signal}:\n${this.#output.get(name)}`)
  }
}

const each = (names: string[], act: (name: string) => Promise<void>) => Promise.all(names.map(act))

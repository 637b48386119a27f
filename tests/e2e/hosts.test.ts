import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { openHost, startStores } from './hosts-fixture.ts'
import { readUnit, readVariables, runCommand, Units } from './systemd-units.ts'

// The commands of docs/hosts.md, in order, with the folders of the system below one of the test. systemctl and
// systemd-run are replaced by what they do with the installed units.
const PROJECT = fileURLToPath(new URL('../../', import.meta.url))
const HANG_MS = 600_000
const SERVICES = readdirSync(path.join(PROJECT, 'services')).sort()

const page = readFileSync(path.join(PROJECT, 'docs/hosts.md'), 'utf8')
const blocksOf = (kind: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${kind}\\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, text = '']) => text,
  )
const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0

test('the commands of docs/hosts.md: install, start, upgrade and stop a system that runs workflows', {
  timeout: HANG_MS,
}, async (context) => {
  const host = await openHost()
  const stores = await startStores(host)
  const folder = path.join(host.root, 'etc/systemd/system')
  const units = new Units(folder)
  onTestFinished(() => units.killAll())
  const printed: string[] = []
  const acts: Record<string, (args: string[]) => unknown> = {
    systemctl: (args) => control(units, args),
    'systemd-run': async (args) => printed.push(await runTransient(args)),
    pip: checkFiles,
    npm: (args) => expect(args).toEqual(['run', 'build']),
  }
  for (const text of blocksOf('sh')) {
    const recorded = host.runBlock(stores.replaceIn(text))
    await host.adapt()
    await stores.startWhenConfigured(blocksOf('sql').join(''))
    for (const [program = '', ...args] of recorded) await acts[program]?.(args)
  }
  const names = [...SERVICES.map((name) => `windlass@${name}.service`), 'windlass-worker.service']
  expect(units.names.sort()).toEqual(names.sort())
  const key = printed.at(-1)?.trim() ?? ''
  expect(key).toMatch(/^wk_\w{16}\.[\w-]{43}$/)
  expect(await runHello(`http://127.0.0.1:${host.portOf(8000)}`, key)).toBe('Hello, World')
  await units.control('stop', units.names)
  if (!hasAnalyze) context.skip('systemd-analyze is not installed: the units were not verified')
  const all = [...names, 'windlass-migrate@executions.service', 'windlass.target']
  expect(verify(all.map((name) => path.join(folder, name)))).toBe('')
})

/** Returns the output of systemd about units that it cannot run; empty if there are none. */
function verify(files: string[]): string {
  const args = ['verify', '--man=no', ...files]
  const { stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
  return stdout + stderr
}

/** systemctl with the verbs of the page. */
async function control(units: Units, [verb = '', ...args]: string[]): Promise<void> {
  if (verb === 'daemon-reload') return expect(args).toEqual([])
  const names = args.filter((arg) => arg !== '--now')
  expect(['enable', 'restart', 'start', 'stop']).toContain(verb)
  if (verb === 'enable') {
    expect(args).toContain('--now')
    for (const name of names) expect(units.isInstallable(name), name).toBe(true)
  }
  await units.control(verb, names)
}

/** systemd-run: the options give the environment of the command. */
function runTransient(args: string[]): Promise<string> {
  const valuesOf = (option: string) =>
    args.filter((arg) => arg.startsWith(option)).map((arg) => arg.slice(option.length))
  const files = valuesOf('--property=EnvironmentFile=').map(readVariables)
  const set = valuesOf('--setenv=').map((one) => one.split('=', 2))
  const command = args.filter((arg) => !arg.startsWith('--')).join(' ')
  return runCommand(command, Object.assign({}, ...files, Object.fromEntries(set)))
}

/** Files and extras that pip installs. */
function checkFiles(args: string[]): void {
  const [file = ''] = args.filter((arg) => arg.includes('/'))
  const [, folder = '', extra = ''] = /^\.\/(.*)\[(\w+)\]$/.exec(file) ?? []
  const read = (name: string) => readFileSync(path.join(PROJECT, name), 'utf8')
  if (extra === '') expect(read(file)).toMatch(/--hash/)
  else expect(read(`${folder}/pyproject.toml`)).toMatch(new RegExp(`^${extra} = \\[`, 'm'))
}

async function runHello(url: string, key: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}` }
  const body = new FormData()
  const source = readFileSync(path.join(PROJECT, 'examples/hello_world.py'))
  body.append('file', new Blob([source]), 'hello_world.py')
  const uploaded = await fetch(`${url}/workflows`, { method: 'POST', headers, body })
  expect(uploaded.ok, await uploaded.text()).toBe(true)
  const ran = await fetch(`${url}/workflows/default/hello_world/run/sync`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: '"World"',
  })
  const { output } = (await ran.json()) as { output: unknown }
  return output
}

const folder = path.join(PROJECT, 'deploy/systemd')
const UNITS = readdirSync(folder).filter((name) => name.endsWith('.service'))

test.each(UNITS)('%s: has no rights, and its processes cannot get any', (name) => {
  const unit = readUnit(folder, name.replace('@.', '@gateway.'))
  expect(Object.fromEntries(unit)).toMatchObject({
    NoNewPrivileges: ['yes'],
    CapabilityBoundingSet: [''],
    ProtectSystem: ['strict'],
    UMask: ['0077'],
  })
  const users = readFileSync(path.join(folder, 'sysusers.conf'), 'utf8')
  expect(users).toMatch(new RegExp(`^u ${unit.get('User')} `, 'm'))
  expect(users).toMatch(new RegExp(`^[gu] ${unit.get('Group')} `, 'm'))
})

test('users of the units: one for each service', () => {
  const users = readFileSync(path.join(folder, 'sysusers.conf'), 'utf8')
  const found = [...users.matchAll(/^u windlass-(\w+)/gm)].map(([, name]) => name)
  expect(found.sort()).toEqual([...SERVICES, 'worker'].sort())
})

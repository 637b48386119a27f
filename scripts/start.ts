// `npm start`: runs the whole system on this machine, from a fresh clone. See --help.
import path from 'node:path'
import { lock } from '../packages/runtime/src/process/lock-file.ts'
import { publishServer, withdrawServer } from '../packages/runtime/src/process/server-file.ts'
import { prepare, projectDataDir } from './bootstrap/data-dir.mjs'
import { Processes } from './process/processes.ts'
import { catchSignals, requestStop, stopSignal, untilStopped } from './process/signals.ts'
import { Progress } from './setup/progress.ts'
import { createFirstAdminKey } from './system/admin-key.ts'
import { bringUp, type RunningSystem, type StartContext } from './system/bring-up.ts'
import { authenticationIsOff, EXAMPLE, runDemo } from './system/demo.ts'
import { keepAlive } from './system/keep-alive.ts'
import {
  adminKeyText,
  demoText,
  NO_BROWSER_TEXT,
  NO_WORKER_TEXT,
  openText,
  SHARED_USER_TEXT,
  servingText,
} from './system/messages.ts'
import { publishTargets, withdrawTargets } from './system/metrics-targets.ts'
import { openInBrowser } from './system/open-in-browser.ts'
import { START_HELP, type StartOptions, startOptions } from './system/options.ts'
import { adminOf } from './system/topology.ts'

const INTERRUPTED = 130

try {
  const options = startOptions(process.argv.slice(2))
  if (options.help) process.stdout.write(START_HELP)
  else await serve(options)
} catch (error) {
  process.stderr.write(`\n${(error as Error).message}\n`)
  process.exitCode = 1
}

/** Runs the system until a signal arrives; throws if it cannot be started or does not stay up. */
async function serve(options: StartOptions): Promise<void> {
  catchSignals()
  const dir = options.dataDir ? prepare(path.resolve(options.dataDir)) : projectDataDir()
  const unlock = lock(dir)
  withdrawServer(dir)
  withdrawTargets(dir)
  const context = { dir, progress: new Progress(process.stdout), processes: new Processes(dir) }
  try {
    const system = await bringUp(context, options)
    publishServer(dir, system.url)
    const living = system.children.map((child) => keepAlive(context, child))
    await Promise.race([introduce(context, options, system), ...living])
    await Promise.race([untilStopped(), ...living])
  } catch (error) {
    if (!stopSignal.aborted) throw error
    process.exitCode = INTERRUPTED // before it was up
  } finally {
    requestStop('its end')
    withdrawServer(dir)
    withdrawTargets(dir)
    await stopAll(context)
    unlock()
  }
}

async function stopAll({ processes, progress }: StartContext): Promise<void> {
  if (processes.count > 0) await progress.step('Stopping', () => processes.stopAll())
}

/** Runs the demonstration and prints the addresses and next steps. */
async function introduce(
  context: StartContext,
  { auth, demo, open: opensConsole, singleProcess }: StartOptions,
  { url, mcpUrl, workers, isolated, ...system }: RunningSystem,
): Promise<void> {
  const { dir, progress } = context
  const open = await authenticationIsOff(url)
  if (demo && open && workers > 0) {
    const result = await progress.step(`Running ${EXAMPLE}`, () => runDemo(url))
    process.stdout.write(demoText(result))
  }
  const targets = publishTargets(dir, system.ports, singleProcess)
  const metricsUrl = `http://127.0.0.1:${system.ports[adminOf('gateway')]}/metrics`
  const logs = path.join(dir, 'logs')
  const consoleUrl = `${url}/console/`
  const addresses = { consoleUrl, url, mcpUrl, metricsUrl, targets, logs, example: EXAMPLE }
  process.stdout.write(servingText(addresses, !open))
  if (opensConsole && !openInBrowser(consoleUrl)) process.stdout.write(NO_BROWSER_TEXT)
  if (open) process.stdout.write(openText(system.settings))
  if (!isolated) process.stdout.write(SHARED_USER_TEXT)
  if (!open && workers === 0) process.stdout.write(NO_WORKER_TEXT)
  const key = auth && (await createFirstAdminKey({ ...context, ...system }))
  if (key) process.stdout.write(adminKeyText(key))
}

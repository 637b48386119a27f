// `npm start`: the whole system on this machine, from what a fresh clone has. See --help.
import path from 'node:path'
import { createFirstAdminKey } from './lib/admin-key.mjs'
import { bringUp } from './lib/bring-up.mjs'
import { prepare, projectDataDir } from './lib/data-dir.mjs'
import { authenticationIsOff, EXAMPLE, runDemo } from './lib/demo.mjs'
import { keepAlive } from './lib/keep-alive.mjs'
import { lock } from './lib/lock.mjs'
import {
  adminKeyText,
  demoText,
  NO_WORKER_TEXT,
  openText,
  SHARED_USER_TEXT,
  servingText,
} from './lib/messages.mjs'
import { START_HELP, startOptions } from './lib/options.mjs'
import { Processes } from './lib/processes.mjs'
import { Progress } from './lib/progress.mjs'
import { publishServer, withdrawServer } from './lib/server-file.mjs'
import { catchSignals, requestStop, stopSignal, untilStopped } from './lib/signals.mjs'

const INTERRUPTED = 130

try {
  const options = startOptions(process.argv.slice(2))
  if (options.help) process.stdout.write(START_HELP)
  else await serve(options)
} catch (error) {
  process.stderr.write(`\n${error.message}\n`)
  process.exitCode = 1
}

/** Runs the system until a signal comes; throws when it cannot be started or does not stay up. */
async function serve(options) {
  catchSignals()
  const dir = options.dataDir ? prepare(path.resolve(options.dataDir)) : projectDataDir()
  const unlock = lock(dir)
  withdrawServer(dir)
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
    await stopAll(context)
    unlock()
  }
}

async function stopAll({ processes, progress }) {
  if (processes.count > 0) await progress.step('Stopping', () => processes.stopAll())
}

/** Shows that it works, and how to go on. */
async function introduce(context, { auth, demo }, { url, mcpUrl, workers, isolated, ...system }) {
  const { dir, progress } = context
  const open = await authenticationIsOff(url)
  if (demo && open && workers > 0) {
    const result = await progress.step(`Running ${EXAMPLE}`, () => runDemo(url))
    process.stdout.write(demoText(result))
  }
  process.stdout.write(servingText({ url, mcpUrl, logs: path.join(dir, 'logs'), example: EXAMPLE }))
  if (open) process.stdout.write(openText(system.settings))
  if (!isolated) process.stdout.write(SHARED_USER_TEXT)
  if (!open && workers === 0) process.stdout.write(NO_WORKER_TEXT)
  const key = auth && (await createFirstAdminKey({ ...context, ...system }))
  if (key) process.stdout.write(adminKeyText(key, url))
}

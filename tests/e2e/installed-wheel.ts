import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Defer } from '@windlass/testkit/defer'
import { temporaryFolder } from '@windlass/testkit/folder'

const run = promisify(execFile)
const SDK = fileURLToPath(new URL('../../sdk/python/', import.meta.url))
const TIMEOUT_MS = 120_000

const BUILD = 'import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))'
const PACKAGES = 'import sysconfig; print(sysconfig.get_path("purelib"))'

/**
 * Returns the python of a new virtual environment in which the wheel of the SDK is installed. The packages that it
 * needs are those of the tests' environment, so nothing is downloaded.
 */
export async function installedWheel(defer: Defer): Promise<string> {
  const folder = temporaryFolder('wheel', defer)
  const python = process.env.TEST_PYTHON ?? 'python3'
  const of = async (program: string, ...args: string[]) => {
    const { stdout } = await run(program, args, { cwd: SDK, timeout: TIMEOUT_MS })
    return stdout.trim()
  }
  const home = join(folder, 'venv')
  const own = join(home, 'bin/python')
  const [wheel] = await Promise.all([
    of(python, '-c', BUILD, folder),
    of(python, '-m', 'venv', '--without-pip', home),
  ])
  // A path in a .pth file is searched last, and the .pth files in it, such as that of the editable SDK, are not read.
  const packages = join(await of(own, '-c', PACKAGES), 'tests.pth')
  await writeFile(packages, `${await of(python, '-c', PACKAGES)}\n`)
  const install = ['install', '--quiet', '--no-index', '--no-deps', '--disable-pip-version-check']
  await of(python, '-m', 'pip', '--python', own, ...install, join(folder, wheel))
  return own
}

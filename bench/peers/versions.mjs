import { execFileSync } from 'node:child_process'

/** Returns the version of an installed Python package. */
export function versionOf(python, name) {
  const program = `from importlib.metadata import version; print(version('${name}'))`
  return execFileSync(python, ['-c', program], { encoding: 'utf8' }).trim()
}

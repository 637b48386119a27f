import { execFileSync } from 'node:child_process'

/** Lists what git knows below `paths` (all without any), with new files, without ignored and deleted ones. */
export function listFiles(paths: string[] = []): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', ['ls-files', '-z', ...args, '--', ...paths], { encoding: 'utf8' })
      .split('\0')
      .filter(Boolean)
  const deleted = new Set(git('--deleted'))
  return [...new Set(git('--cached', '--others', '--exclude-standard'))].filter(
    (path) => !deleted.has(path),
  )
}

import { basename } from 'node:path/posix'

const SOURCE = /^((?:services|packages)\/[\w-]+)\/src\/.*\.ts$/

/** Names that two source files of one package or service have, with both paths. */
export function findRepeatedNames(files: readonly string[]): string[] {
  const first = new Map<string, string>()
  return files.flatMap((file) => {
    const part = SOURCE.exec(file)?.[1]
    if (part === undefined) return []
    const key = `${part} ${basename(file)}`
    const other = first.get(key)
    first.set(key, file)
    return other === undefined ? [] : [`${other} and ${file} have the same name`]
  })
}

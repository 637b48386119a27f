import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { filesBelow } from '../setup/files-below.ts'

export interface BundledPackage {
  /** Folder of the package. */
  folder: string
  /** Bytes of its code in all scripts, with gzip. */
  gzipBytes: number
}

const INSTALLED = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//

/**
 * Finds the packages from the registry whose code is in the scripts below `folder`, which were built with source
 * maps: each character of a script belongs to the file that its map names.
 */
export function findBundledPackages(folder: string): BundledPackage[] {
  const code = new Map<string, string>()
  for (const script of filesBelow(folder).filter((file) => file.endsWith('.js')))
    for (const [source, text] of partsOf(script)) {
      const [, packageFolder] = INSTALLED.exec(source) ?? []
      if (packageFolder) code.set(packageFolder, (code.get(packageFolder) ?? '') + text)
    }
  return [...code].map(([packageFolder, text]) => ({
    folder: packageFolder,
    gzipBytes: gzipSync(text, { level: 9 }).length,
  }))
}

/** The text of each source in a script. */
function partsOf(script: string): Map<string, string> {
  const map = new SourceMap(JSON.parse(readFileSync(`${script}.map`, 'utf8')))
  const parts = new Map<string, string>()
  for (const [line, text] of readFileSync(script, 'utf8').split('\n').entries())
    for (let column = 0; column < text.length; column++) {
      // Code that the bundler has added belongs to no file.
      const { originalSource } = map.findEntry(line, column) as { originalSource?: string }
      if (originalSource === undefined) continue
      const source = path.resolve(path.dirname(script), originalSource)
      parts.set(source, (parts.get(source) ?? '') + text[column])
    }
  return parts
}

import { readFileSync } from 'node:fs'
import type { Logger } from '@windlass/runtime/process/log'

/** A file of the console in the forms in which it is sent, one for each encoding. */
export interface ConsoleFile {
  type: string
  /** Quoted, as in the header; identifies the content and not the encoding. */
  etag: string
  /** The name contains a hash of the content, so browsers may keep the file forever. */
  isImmutable: boolean
  plain: Buffer
  br: Buffer | undefined
  gzip: Buffer | undefined
}

/** Files by their path below /console/. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>

interface ManifestEntry {
  path: string
  type: string
  etag: string
  isImmutable: boolean
  encodings: ('br' | 'gzip')[]
}

const INDEX = 'index.html'
/** The start of the base element in index.html, to which the page's relative addresses refer. */
const BUILT_BASE = '<base href="/console/"'

/**
 * Reads all files of the console that the manifest of its build names. Requests are answered from these
 * buffers: no path of a request reaches the file system. Empty if the console was not built; the gateway
 * then answers 404 for it.
 */
export function readConsoleFiles(folder: URL, log: Logger, publicUrl?: string): ConsoleFiles {
  const manifest = readManifest(folder)
  if (!manifest) log.warn('the console was not built: run `npm run build`')
  const files = new Map((manifest ?? []).map((entry) => [entry.path, readEntry(folder, entry)]))
  const index = files.get(INDEX)
  const prefix = publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '')
  if (index && prefix !== '') files.set(INDEX, rebase(index, prefix))
  return files
}

function readManifest(folder: URL): ManifestEntry[] | undefined {
  try {
    return JSON.parse(readFileSync(new URL('manifest.json', folder), 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function readEntry(folder: URL, { path, encodings, ...entry }: ManifestEntry): ConsoleFile {
  const read = (suffix: string) => readFileSync(new URL(`${path}${suffix}`, folder))
  return {
    ...entry,
    plain: read(''),
    br: encodings.includes('br') ? read('.br') : undefined,
    gzip: encodings.includes('gzip') ? read('.gz') : undefined,
  }
}

/** The index page for a gateway that browsers reach below a path; the page is small and sent as it is. */
function rebase(index: ConsoleFile, prefix: string): ConsoleFile {
  const html = index.plain.toString().replace(BUILT_BASE, `<base href="${prefix}/console/"`)
  return { ...index, plain: Buffer.from(html), br: undefined, gzip: undefined }
}

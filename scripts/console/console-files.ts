// Builds the web console and puts its files next to the gateway's program: each as it is, compressed, and
// listed in a manifest, which the gateway reads at its start (services/gateway/src/http/console-files.ts).
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { PROJECT } from '../bootstrap/data-dir.mjs'
import { Stamp } from '../bootstrap/stamp.mjs'
import { filesBelow } from '../setup/files-below.ts'

const CONSOLE = path.join(PROJECT, 'packages/console')
const TARGET = path.join(PROJECT, 'services/gateway/dist/console')
/** Packages whose sources are part of the console. */
const SOURCES = ['console', 'api-client', 'domain', 'runtime'].map((name) => `packages/${name}/src`)
const OTHERS = [
  ...['index.html', 'vite.config.ts', 'package.json'].map((name) => `packages/console/${name}`),
  ...['pnpm-lock.yaml', 'scripts/console/console-files.ts'],
]

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Matches if the console was built from its present sources. */
export function consoleStamp(): Stamp {
  const sources = SOURCES.flatMap((folder) => filesBelow(path.join(PROJECT, folder)))
  const files = [...sources, ...OTHERS.map((name) => path.join(PROJECT, name))]
  return new Stamp(path.join(TARGET, '.built'), { files, facts: [files] })
}

/** Builds the console if its sources have changed since the last time. */
export async function buildConsole(): Promise<void> {
  const stamp = consoleStamp()
  if (stamp.matches()) return
  const vite = path.join(CONSOLE, 'node_modules/vite/bin/vite.js')
  const args = [vite, 'build', '--logLevel', 'error']
  await promisify(execFile)(process.execPath, args, { cwd: CONSOLE })
  rmSync(TARGET, { recursive: true, force: true })
  const built = path.join(CONSOLE, 'dist')
  const entries = filesBelow(built).map((file) => store(path.relative(built, file), file))
  writeFileSync(path.join(TARGET, 'manifest.json'), JSON.stringify(entries, undefined, 2))
  stamp.set()
}

/** Writes a file and its compressed forms, where they are smaller; returns its entry of the manifest. */
function store(name: string, file: string) {
  const content = readFileSync(file)
  const target = path.join(TARGET, name)
  mkdirSync(path.dirname(target), { recursive: true })
  writeFileSync(target, content)
  const br = brotliCompressSync(content, {
    params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length },
  })
  const forms = { br: ['.br', br], gzip: ['.gz', gzipSync(content, { level: 9 })] } as const
  const encodings = Object.entries(forms).flatMap(([encoding, [suffix, bytes]]) => {
    if (bytes.length >= content.length) return []
    writeFileSync(target + suffix, bytes)
    return [encoding]
  })
  return {
    path: name.split(path.sep).join('/'),
    type: TYPES[path.extname(name)] ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`,
    // Vite puts a hash of the content into the names of these.
    isImmutable: name.startsWith('assets'),
    encodings,
  }
}

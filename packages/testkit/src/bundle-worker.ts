import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** Bundles the program of a worker thread into a data: URL: a worker thread loads no TypeScript. */
export async function bundleWorker(entry: URL): Promise<URL> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    conditions: ['windlass'],
    define: { 'import.meta.url': JSON.stringify(entry.href) },
  })
  const program = outputFiles.map(({ text }) => text).join('')
  return new URL(`data:text/javascript,${encodeURIComponent(program)}`)
}

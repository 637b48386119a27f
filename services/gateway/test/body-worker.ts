import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const entry = new URL('../src/route/body.worker.ts', import.meta.url)

/** The program of a body thread as a data: URL: a worker thread loads no TypeScript. */
export const workerUrl = new URL(`data:text/javascript,${encodeURIComponent(await bundleWorker())}`)

async function bundleWorker(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    conditions: ['windlass'],
  })
  return outputFiles.map(({ text }) => text).join('')
}

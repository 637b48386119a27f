import { fileURLToPath } from 'node:url'
import { createLog } from '@windlass/runtime/process/log'
import { build } from 'esbuild'
import { onTestFinished } from 'vitest'
import { AnalysisPool, type AnalysisPoolOptions } from '../src/analysis/analysis-pool.ts'

const entry = new URL('../src/analysis/analysis.worker.ts', import.meta.url)

/** The program of an analysis thread as a data: URL: a worker thread loads no TypeScript. */
export const workerUrl = new URL(`data:text/javascript,${encodeURIComponent(await bundleWorker())}`)

async function bundleWorker(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    conditions: ['windlass'],
    define: { 'import.meta.url': JSON.stringify(entry.href) },
  })
  return outputFiles.map(({ text }) => text).join('')
}

/** A pool with the memory limits of production, and no limits on time but those given. */
export function openPool(options: Partial<AnalysisPoolOptions> = {}): AnalysisPool {
  const limits = { maxCpuMs: 60_000, maxWallMs: 60_000, ...options }
  const log = createLog('test', 'silent')
  return new AnalysisPool({ sdkModules: ['windlass'], workerUrl, log, ...limits })
}

/** A pool that stops with the current test. */
export function startPool(options?: Partial<AnalysisPoolOptions>): AnalysisPool {
  const pool = openPool(options)
  onTestFinished(() => pool.stop())
  return pool
}
